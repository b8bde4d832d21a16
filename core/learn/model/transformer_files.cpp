// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/model/transformer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <set>

namespace cuda_agent::learn {

namespace fs = std::filesystem;

namespace {

/// A part of one of our parameters under the name that it has in files: rows from `first`.
struct Part {
    std::string name;
    at::Tensor rows;
};

std::vector<Part> partsOf(const ModelConfig &config, const Parameter &parameter) {
    const auto &value = parameter.value;
    const auto queries = config.heads * config.headSize, keys = config.kvHeads * config.headSize;
    if (parameter.name == "embedding")
        return {{"model.embed_tokens.weight", value}};
    if (parameter.name == "lastNorm")
        return {{"model.norm.weight", value}};
    if (parameter.name == "unembedding")
        return {{"lm_head.weight", value}};
    if (parameter.name == "valueWeight")
        return {{"value_head.weight", value}};
    if (parameter.name == "valueBias")
        return {{"value_head.bias", value}};
    const auto dot = parameter.name.rfind('.');
    const auto prefix = "model." + parameter.name.substr(0, dot + 1);
    const auto name = parameter.name.substr(dot + 1);
    const auto in = [&](const char *where) { return prefix + where + ".weight"; };
    if (name == "qkv")
        return {{in("self_attn.q_proj"), value.narrow(0, 0, queries)},
                {in("self_attn.k_proj"), value.narrow(0, queries, keys)},
                {in("self_attn.v_proj"), value.narrow(0, queries + keys, keys)}};
    if (name == "gateUp")
        return {{in("mlp.gate_proj"), value.narrow(0, 0, config.inner)},
                {in("mlp.up_proj"), value.narrow(0, config.inner, config.inner)}};
    static const std::map<std::string, const char *> single{
        {"inputNorm", "input_layernorm"},  {"innerNorm", "post_attention_layernorm"},
        {"queryNorm", "self_attn.q_norm"}, {"keyNorm", "self_attn.k_norm"},
        {"out", "self_attn.o_proj"},       {"down", "mlp.down_proj"}};
    return {{in(single.at(name)), value}};
}

/// The files of a checkpoint: one, or those that its index names, all in the folder itself.
Result<std::vector<fs::path>> filesOf(const fs::path &folder) {
    const auto single = folder / "model.safetensors",
               index = folder / "model.safetensors.index.json";
    if (fs::exists(single))
        return std::vector{single};
    if (!fs::exists(index))
        return requestError("{}: holds neither model.safetensors nor its index", folder.string());
    CUDA_AGENT_ASSIGN(json, readJsonFile(index));
    const auto map = json.find("weight_map");
    if (map == json.end() || !map->is_object())
        return requestError("{}: needs a weight_map", index.string());
    std::set<fs::path> files;
    for (const auto &[name, file] : map->items()) {
        if (!file.is_string() ||
            fs::path(file.get<std::string>()).filename() != file.get<std::string>())
            return requestError("{}: {} does not lie in a file beside it", index.string(), name);
        files.insert(folder / file.get<std::string>());
    }
    return std::vector<fs::path>(files.begin(), files.end());
}

/// A weight as a file has it: itself, or, of integers of eight bits, each row times its scale, as
/// compressed-tensors writes them ("int-quantized", one scale a channel: `name` and `name`_scale).
/// Undefined: it is none of these, or not of that shape.
at::Tensor weightOf(const NamedTensors &tensors, const std::string &name, const at::Tensor &stored,
                    at::IntArrayRef shape) {
    if (stored.sizes() != shape)
        return {};
    if (stored.is_floating_point())
        return stored;
    const auto scale = tensors.find(name + "_scale");
    if (stored.scalar_type() != at::kChar || stored.dim() != 2 || scale == tensors.end() ||
        !scale->second.is_floating_point() ||
        scale->second.sizes() != at::IntArrayRef{stored.size(0), 1})
        return {};
    return stored.to(at::kFloat) * scale->second.to(at::kFloat);
}

} // namespace

Result<Transformer> Transformer::load(const fs::path &folder, Head head, at::Device device,
                                      at::ScalarType type) {
    CUDA_AGENT_ASSIGN(json, readJsonFile(folder / "config.json"));
    const auto config = modelConfigFrom(json);
    if (!config)
        return requestError("{}: {}", folder.string(), config.error().message);
    CUDA_AGENT_ASSIGN(files, filesOf(folder));
    NamedTensors tensors;
    for (const auto &file : files) {
        CUDA_AGENT_ASSIGN(content, readSafetensors(file));
        tensors.merge(content.tensors);
    }
    Transformer model(*config, head, device, type);
    const at::NoGradGuard noGradients;
    for (const auto &parameter : model.parameters_.all())
        for (const auto &part : partsOf(*config, parameter)) {
            const auto found = tensors.find(part.name);
            if (found == tensors.end()) {
                if (parameter.name.starts_with("value"))
                    continue; // an actor's weights, from which a critic starts
                return requestError("{}: {} is missing", folder.string(), part.name);
            }
            const auto weight = weightOf(tensors, part.name, found->second, part.rows.sizes());
            if (!weight.defined())
                return requestError("{}: {} does not have the shape or type that config.json says",
                                    folder.string(), part.name);
            part.rows.detach().copy_(weight);
        }
    return model;
}

Result<void> Transformer::save(const fs::path &folder, at::ScalarType type) const {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error)
        return machineError("{}: {}", folder.string(), error.message());
    Safetensors content;
    content.metadata["format"] = "pt"; // which transformers asks for
    for (const auto &parameter : parameters_.all())
        for (const auto &part : partsOf(config_, parameter))
            content.tensors[part.name] = part.rows.detach().to(type);
    auto json = toJson(config_);
    json["dtype"] = type == at::kBFloat16 ? "bfloat16" : type == at::kHalf ? "float16" : "float32";
    CUDA_AGENT_TRY(writeFileAtomically(folder / "config.json", json.dump(2) + "\n"));
    return writeSafetensors(folder / "model.safetensors", content);
}

} // namespace cuda_agent::learn
