// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/model/config.h"

namespace cuda_agent::learn {

namespace {

constexpr std::int64_t largest = 1ll << 24; ///< of any size: more is no model that fits a machine

/// Reads fields and keeps the first problem.
class Fields {
  public:
    explicit Fields(const Json &json) : json_(json) {}

    void size(const char *name, std::int64_t &value, bool needed = true) {
        const auto found = json_.find(name);
        if (found == json_.end() || found->is_null()) {
            if (needed)
                say(fmt::format("{} is missing", name));
            return;
        }
        if (!found->is_number_integer() || *found < 0 || *found > largest)
            return say(fmt::format("{} must be a whole number from 0 to {}", name, largest));
        value = found->get<std::int64_t>();
    }
    void number(const Json &from, const char *name, double &value) {
        const auto found = from.find(name);
        if (found == from.end() || found->is_null())
            return;
        if (!found->is_number() || !(found->get<double>() > 0))
            return say(fmt::format("{} must be a number above 0", name));
        value = found->get<double>();
    }
    /// Anything else than `wanted`, where it is there at all, is a model of another kind.
    void only(const char *name, const Json &wanted) {
        const auto found = json_.find(name);
        if (found != json_.end() && !found->is_null() && *found != wanted)
            say(fmt::format("{} is {}, but only {} is supported", name, found->dump(),
                            wanted.dump()));
    }
    void say(std::string problem) {
        if (problem_.empty())
            problem_ = std::move(problem);
    }
    const std::string &problem() const { return problem_; }

  private:
    const Json &json_;
    std::string problem_;
};

} // namespace

std::int64_t ModelConfig::parameters() const {
    const auto attention = hidden * headSize * (2 * heads + 2 * kvHeads) + 2 * headSize;
    const auto layer = attention + 3 * hidden * inner + 2 * hidden;
    return vocabulary * hidden * (tied ? 1 : 2) + layers * layer + hidden;
}

Result<ModelConfig> modelConfigFrom(const Json &json) {
    if (!json.is_object())
        return requestError("config.json: not a JSON object");
    ModelConfig config;
    Fields fields(json);
    if (json.value("model_type", Json()) != "qwen3")
        fields.say("model_type must be \"qwen3\": only dense models of that family are supported");
    fields.only("hidden_act", "silu");
    fields.only("attention_bias", false);
    fields.only("use_sliding_window", false);
    fields.only("rope_scaling", Json());
    fields.size("vocab_size", config.vocabulary);
    fields.size("hidden_size", config.hidden);
    fields.size("num_hidden_layers", config.layers);
    fields.size("num_attention_heads", config.heads);
    config.kvHeads = config.heads;
    fields.size("num_key_value_heads", config.kvHeads, false);
    config.headSize = config.heads > 0 ? config.hidden / config.heads : 0;
    fields.size("head_dim", config.headSize, false);
    fields.size("intermediate_size", config.inner);
    fields.size("max_position_embeddings", config.positions, false);
    fields.number(json, "rope_theta", config.ropeTheta);
    if (const auto rope = json.find("rope_parameters"); rope != json.end() && rope->is_object()) {
        if (rope->value("rope_type", Json("default")) != "default")
            fields.say("rope_parameters: rope_type must be \"default\"");
        fields.number(*rope, "rope_theta", config.ropeTheta);
    }
    fields.number(json, "rms_norm_eps", config.epsilon);
    fields.number(json, "initializer_range", config.initialRange);
    if (const auto tied = json.find("tie_word_embeddings"); tied != json.end()) {
        if (!tied->is_boolean())
            fields.say("tie_word_embeddings must be true or false");
        else
            config.tied = tied->get<bool>();
    } else {
        config.tied = false; // the default of Qwen3Config
    }
    if (const auto how = json.find("quantization_config");
        how != json.end() && how->is_object() &&
        (how->value("quant_method", Json()) != "compressed-tensors" ||
         how->value("format", Json()) != "int-quantized"))
        fields.say("quantization_config: only compressed-tensors' \"int-quantized\" is supported");
    if (const auto end = json.find("eos_token_id"); end != json.end() && !end->is_null()) {
        const auto &first = end->is_array() && !end->empty() ? end->front() : *end;
        if (!first.is_number_integer())
            fields.say("eos_token_id must be a whole number, or a list of them");
        else
            config.endOfText = first.get<std::int64_t>();
    }
    if (!fields.problem().empty())
        return requestError("config.json: {}", fields.problem());
    CUDA_AGENT_TRY(check(config));
    return config;
}

Json toJson(const ModelConfig &config) {
    return {{"architectures", {"Qwen3ForCausalLM"}},
            {"model_type", "qwen3"},
            {"vocab_size", config.vocabulary},
            {"hidden_size", config.hidden},
            {"num_hidden_layers", config.layers},
            {"num_attention_heads", config.heads},
            {"num_key_value_heads", config.kvHeads},
            {"head_dim", config.headSize},
            {"intermediate_size", config.inner},
            {"max_position_embeddings", config.positions},
            {"rope_theta", config.ropeTheta},
            {"rms_norm_eps", config.epsilon},
            {"initializer_range", config.initialRange},
            {"tie_word_embeddings", config.tied},
            {"hidden_act", "silu"},
            {"attention_bias", false},
            {"use_sliding_window", false},
            {"eos_token_id", config.endOfText}};
}

Result<void> check(const ModelConfig &config) {
    if (config.vocabulary < 1 || config.hidden < 1 || config.layers < 1 || config.inner < 1 ||
        config.positions < 1)
        return requestError("a model needs a vocabulary, a hidden size, layers, an inner size and "
                            "positions of at least 1");
    if (config.heads < 1 || config.kvHeads < 1 || config.heads % config.kvHeads != 0)
        return requestError("{} heads do not share {} key and value heads evenly", config.heads,
                            config.kvHeads);
    if (config.headSize < 2 || config.headSize % 2 != 0)
        return requestError("a head's size must be even, not {}", config.headSize);
    if (config.endOfText < 0 || config.endOfText >= config.vocabulary)
        return requestError("the end-of-text token {} is not one of {}", config.endOfText,
                            config.vocabulary);
    return {};
}

} // namespace cuda_agent::learn
