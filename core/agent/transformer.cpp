// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/transformer.h"

#include "core/base/elapsed.h"
#include "core/policy/transformer/streamed_turn.h"

#include <chrono>

namespace cuda_agent::agent {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t mostStreamed = 64u << 10; ///< bytes of a turn

/// Behind what was given up.
constexpr std::string_view begunAnew = "\n\n(given up; the turn is begun anew)\n\n";

/// Tells the log what is written, and what each turn took.
class ToldConversation : public policy::Conversation {
  public:
    ToldConversation(std::shared_ptr<policy::ModelProcess> process, TransformerVoice voice)
        : process_(std::move(process)), voice_(std::move(voice)) {}

    /// Before anything is written. Errors: as ModelProcess::open().
    Result<void> open(const policy::Drawing &drawing, const std::stop_token &stop) {
        policy::ModelProcess::Streamed streamed;
        if (voice_.streamed)
            streamed = [this](const std::string &piece) { return stream(piece); };
        CUDA_AGENT_ASSIGN(inner, process_->open(drawing, stop, std::move(streamed)));
        inner_ = std::move(inner);
        return {};
    }

    Result<policy::Written> write(const std::vector<chat::Segment> &segments,
                                  const policy::TurnRequest &turn, std::stop_token stop) override {
        const auto begin = Clock::now();
        turn_ = {};
        streamed_ = 0;
        if (turn.again && voice_.streamed)
            CUDA_AGENT_TRY(voice_.streamed(std::string(begunAnew)));
        CUDA_AGENT_ASSIGN(written, inner_->write(segments, turn, std::move(stop)));
        const auto given = static_cast<std::int64_t>(turn.begin.size());
        if (voice_.answered && written.writtenTokens > 0) {
            Json answer{{"model", process_->facts().name},
                        {"prompt_tokens", kept_ + written.readTokens},
                        {"cached_tokens", kept_},
                        {"answer_tokens", written.writtenTokens},
                        {"seconds", secondsSince(begin)},
                        {"finish", finishOf(written.end)},
                        {"attempts", 1}};
            if (given > 0)
                answer["given_tokens"] = given;
            CUDA_AGENT_TRY(voice_.answered(std::move(answer)));
        }
        kept_ += written.readTokens + given + written.writtenTokens;
        return written;
    }

  private:
    Result<void> stream(const std::string &piece) {
        const auto text = turn_.take(piece);
        streamed_ += text.size();
        if (text.empty() || streamed_ > mostStreamed)
            return {};
        return voice_.streamed(text);
    }

    /// In the words of chat endpoints, where they have one.
    static const char *finishOf(policy::Written::End end) {
        switch (end) {
        case policy::Written::End::turn:
            return "stop";
        case policy::Written::End::length:
            return "length";
        case policy::Written::End::full:
            return "context full";
        case policy::Written::End::refused:
            return "refused by the grammar";
        }
        return "";
    }

    std::shared_ptr<policy::ModelProcess> process_;
    TransformerVoice voice_;
    std::unique_ptr<policy::Conversation> inner_;
    policy::StreamedTurn turn_; ///< that is being written
    std::size_t streamed_ = 0;  ///< bytes of it
    std::int64_t kept_ = 0;     ///< tokens that the model has
};

std::filesystem::path folderOf(const TransformerConfig &config) {
    return config.weights.empty() ? policy::defaultWeights() : config.weights;
}

/// Says how to get some where nobody named any.
Result<void> checkThere(const TransformerConfig &config) {
    std::error_code error;
    if (config.weights.empty() && !std::filesystem::exists(folderOf(config), error))
        return requestError("no trained weights at {}; name a folder with --weights or "
                            "CUDA_AGENT_WEIGHTS, such as a checkpoint's actor/ that 'cuda-agent "
                            "train' made",
                            folderOf(config).string());
    return {};
}

Result<policy::Weights> readWeights(const TransformerConfig &config) {
    CUDA_AGENT_TRY(checkThere(config));
    return policy::readWeights(folderOf(config));
}

} // namespace

Result<policy::Weights> findWeights(const TransformerConfig &config) {
    CUDA_AGENT_TRY(checkThere(config));
    return policy::findWeights(folderOf(config));
}

Result<void> startModel(TransformerConfig &config, const std::string &device, int sessions) {
    if (config.process)
        return {};
    CUDA_AGENT_ASSIGN(weights, readWeights(config));
    policy::ModelOptions options;
    options.weights = weights.folder;
    options.device = device;
    options.rows = sessions;
    options.threads = config.threads;
    CUDA_AGENT_ASSIGN(process, policy::ModelProcess::start(options, {}));
    if (process->facts().sha256 != weights.sha256)
        return machineError("the weights in {} changed while they were loaded; start again",
                            weights.folder.string());
    config.process = std::move(process);
    return {};
}

Result<Json> describeModel(const TransformerConfig &config) {
    if (!config.process) {
        CUDA_AGENT_ASSIGN(weights, readWeights(config));
        return Json{{"name", weights.name}, {"sha256", weights.sha256}};
    }
    const auto &facts = config.process->facts();
    return Json{{"name", facts.name},
                {"sha256", facts.sha256},
                {"parameters", facts.parameters},
                {"context", facts.context},
                {"device", facts.device}};
}

policy::Drawing drawingOf(const TransformerConfig &config, int attempt) {
    policy::Drawing drawing;
    drawing.temperature = config.temperature.value_or(attempt > 1 ? 1.0 : 0.0);
    drawing.topP = config.topP.value_or(drawing.topP);
    drawing.longestTurn = config.longestTurn.value_or(drawing.longestTurn);
    drawing.grammar =
        config.grammar.value_or(config.process != nullptr && config.process->facts().grammar);
    return drawing;
}

policy::FreshStarts freshStartsOf(const TransformerConfig &config) {
    return config.freshStarts.value_or(policy::TransformerOptions().freshStarts);
}

policy::OpenConversation conversationOpener(const TransformerConfig &config,
                                            const policy::Drawing &drawing,
                                            TransformerVoice voice) {
    return [process = config.process, drawing, voice = std::move(voice)](
               bool drawn,
               const std::stop_token &stop) -> Result<std::unique_ptr<policy::Conversation>> {
        auto own = drawing;
        if (drawn && own.temperature == 0)
            own.temperature = 1;
        auto conversation = std::make_unique<ToldConversation>(process, voice);
        CUDA_AGENT_TRY(conversation->open(own, stop));
        return conversation;
    };
}

} // namespace cuda_agent::agent
