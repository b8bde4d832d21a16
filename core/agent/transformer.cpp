// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/transformer.h"

#include "core/policy/transformer/weights.h"

#include <chrono>

namespace cuda_agent::agent {

namespace {

using Clock = std::chrono::steady_clock;

/// Tells the log what each turn took.
class ToldConversation : public policy::Conversation {
  public:
    ToldConversation(std::shared_ptr<policy::ModelProcess> process,
                     std::unique_ptr<policy::Conversation> inner,
                     std::function<Result<void>(Json)> answered)
        : process_(std::move(process)), inner_(std::move(inner)), answered_(std::move(answered)) {}

    Result<policy::Written> write(const std::vector<chat::Segment> &segments, std::uint64_t seed,
                                  std::stop_token stop) override {
        const auto begin = Clock::now();
        CUDA_AGENT_ASSIGN(written, inner_->write(segments, seed, std::move(stop)));
        if (written.writtenTokens > 0)
            CUDA_AGENT_TRY(
                answered_({{"model", process_->facts().name},
                           {"prompt_tokens", kept_ + written.readTokens},
                           {"cached_tokens", kept_},
                           {"answer_tokens", written.writtenTokens},
                           {"seconds", std::chrono::duration<double>(Clock::now() - begin).count()},
                           {"finish", finishOf(written.end)},
                           {"attempts", 1}}));
        kept_ += written.readTokens + written.writtenTokens;
        return written;
    }

  private:
    /// In the words of chat endpoints, where they have one.
    static const char *finishOf(policy::Written::End end) {
        switch (end) {
        case policy::Written::End::turn:
            return "stop";
        case policy::Written::End::length:
            return "length";
        case policy::Written::End::full:
            return "context full";
        }
        return "";
    }

    std::shared_ptr<policy::ModelProcess> process_;
    std::unique_ptr<policy::Conversation> inner_;
    std::function<Result<void>(Json)> answered_;
    std::int64_t kept_ = 0; ///< tokens that the model has
};

std::filesystem::path folderOf(const TransformerConfig &config) {
    return config.weights.empty() ? policy::defaultWeights() : config.weights;
}

/// As readWeights(), with words of how to get some where nobody named any.
Result<policy::Weights> weightsOf(const TransformerConfig &config) {
    const auto folder = folderOf(config);
    std::error_code error;
    if (config.weights.empty() && !std::filesystem::exists(folder, error))
        return requestError("no trained weights at {}; name a folder with --weights or "
                            "CUDA_AGENT_WEIGHTS, such as a checkpoint's actor/ that 'cuda-agent "
                            "train' made",
                            folder.string());
    return policy::readWeights(folder);
}

} // namespace

Result<void> startModel(TransformerConfig &config, const std::string &device, int sessions) {
    if (config.process)
        return {};
    CUDA_AGENT_ASSIGN(weights, weightsOf(config));
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
        CUDA_AGENT_ASSIGN(weights, weightsOf(config));
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
    return drawing;
}

Result<std::unique_ptr<policy::Conversation>>
openConversation(const TransformerConfig &config, const policy::Drawing &drawing,
                 std::function<Result<void>(Json answer)> answered, const std::stop_token &stop) {
    CUDA_AGENT_ASSIGN(inner, config.process->open(drawing, stop));
    return std::make_unique<ToldConversation>(config.process, std::move(inner),
                                              std::move(answered));
}

} // namespace cuda_agent::agent
