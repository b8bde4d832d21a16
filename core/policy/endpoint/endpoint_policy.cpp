// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/untrusted_json.h"
#include "core/policy/endpoint/chat_client.h"
#include "core/policy/endpoint/messages.h"
#include "core/tools/toolbox.h"

#include <algorithm>

namespace cuda_agent::policy {

namespace {

using Clock = std::chrono::steady_clock;
using session::Turn;

constexpr int mostRepeats = 10;     ///< of the same call, in turns
constexpr int mostWordsOnly = 3;    ///< turns in a row without a call
constexpr int mostOverflows = 4;    ///< requests that the endpoint finds too long, for one answer
constexpr double streamEvery = 0.2; ///< seconds between pieces in the log
constexpr std::size_t longestThought = 64u << 10;

/// Gathers pieces so that the log gets a few events a second, not one a token.
class Pieces {
  public:
    explicit Pieces(std::function<Result<void>(const std::string &)> say) : say_(std::move(say)) {}

    Result<void> add(const std::string &text) {
        waiting_ += text;
        const auto now = Clock::now();
        if (waiting_.size() < 2048 &&
            std::chrono::duration<double>(now - last_).count() < streamEvery)
            return {};
        last_ = now;
        return flush();
    }
    Result<void> flush() {
        said_ += waiting_.size();
        if (waiting_.empty() || said_ > longestThought) {
            waiting_.clear();
            return {};
        }
        return say_(std::exchange(waiting_, {}));
    }

  private:
    std::function<Result<void>(const std::string &)> say_;
    std::string waiting_;
    std::size_t said_ = 0;
    Clock::time_point last_ = Clock::now();
};

class Endpoint : public Policy {
  public:
    Endpoint(EndpointConfig config, EndpointVoice voice, std::string system, std::string task)
        : config_(std::move(config)), voice_(std::move(voice)), system_(std::move(system)),
          task_(std::move(task)),
          pieces_([this](const std::string &text) { return voice_.streamed(text); }),
          client_(
              config_, [this](const std::string &text) { return pieces_.add(text); },
              [this](const std::string &text) { return voice_.note(text); }),
          tools_(tools::toolSchemas()),
          promptTokens_(config_.contextTokens - config_.answerTokens) {}

    std::string name() const override { return "endpoint"; }

    Result<Step> next(const std::vector<Turn> &turns, std::stop_token stop) override {
        if (const int equal = repeatedTurns(turns); equal >= mostRepeats)
            return Step{
                "", {}, true, fmt::format("the model made the same call {} turns in a row", equal)};
        CUDA_AGENT_ASSIGN(asked, ask(turns, stop));
        CUDA_AGENT_TRY(pieces_.flush());
        CUDA_AGENT_TRY(voice_.answered(account(asked)));
        return stepOf(asked, turns);
    }

  private:
    Result<Asked> ask(const std::vector<Turn> &turns, const std::stop_token &stop) {
        std::string last;
        for (int tries = 0; tries < mostOverflows; ++tries) {
            CUDA_AGENT_ASSIGN(built, buildMessages(system_, task_, voice_.state(), turns,
                                                   {promptTokens_, bytesPerToken_}, voice_.blob));
            if (built.shortTurns != shortTurns_ && built.shortTurns > 0)
                CUDA_AGENT_TRY(voice_.note(fmt::format(
                    "the conversation is long: turns up to {} are told to the model in short",
                    built.shortTurns)));
            shortTurns_ = built.shortTurns;
            sentBytes_ = built.bytes;
            CUDA_AGENT_ASSIGN(outcome, client_.ask(built.messages, tools_, stop));
            if (auto *asked = std::get_if<Asked>(&outcome))
                return std::move(*asked);
            last = std::get<ContextOverflow>(outcome).message;
            promptTokens_ = std::min(promptTokens_, built.tokens) * 6 / 10;
            CUDA_AGENT_TRY(voice_.note(
                fmt::format("the endpoint takes less than {} tokens ({}); older turns are told in "
                            "short",
                            built.tokens, last)));
        }
        return requestError("the model's context is too small for this task even in short: {}; "
                            "choose another model or set context_tokens",
                            last);
    }

    /// Payload of modelAnswered.
    Json account(const Asked &asked) {
        const auto &answer = asked.answer;
        std::int64_t prompt = answer.promptTokens;
        std::int64_t answered = answer.answerTokens;
        Json json{{"model", answer.model.empty() ? config_.model : answer.model},
                  {"seconds", asked.seconds},
                  {"first_token_seconds", answer.firstSeconds},
                  {"finish", answer.finish},
                  {"attempts", asked.attempts}};
        if (answer.counted && prompt > 0) {
            bytesPerToken_ =
                std::clamp(static_cast<double>(sentBytes_) / static_cast<double>(prompt), 1.5, 6.0);
        } else {
            std::size_t bytes = answer.text.size() + answer.reasoning.size();
            for (const auto &call : answer.calls)
                bytes += call.tool.size() + call.arguments.size();
            prompt = static_cast<std::int64_t>(static_cast<double>(sentBytes_) / bytesPerToken_);
            answered = static_cast<std::int64_t>(static_cast<double>(bytes) / bytesPerToken_);
            json["estimated"] = true;
        }
        json["prompt_tokens"] = prompt;
        json["cached_tokens"] = answer.cachedTokens;
        json["answer_tokens"] = answered;
        const auto fresh =
            static_cast<double>(std::max<std::int64_t>(0, prompt - answer.cachedTokens));
        const double cost = (fresh * config_.promptPrice +
                             static_cast<double>(answer.cachedTokens) * config_.cachedPrice +
                             static_cast<double>(answered) * config_.answerPrice) /
                            1e6;
        if (cost > 0)
            json["cost"] = cost;
        if (!answer.reasoning.empty())
            json["reasoning"] = tools::clipped(answer.reasoning, longestThought);
        if (!asked.cut.empty())
            json["cut"] = asked.cut;
        return json;
    }

    Step stepOf(const Asked &asked, const std::vector<Turn> &turns) const {
        const auto &answer = asked.answer;
        Step step;
        step.thought = tools::clipped(answer.text, longestThought);
        const bool refused = !answer.refusal.empty() || answer.finish == "content_filter";
        if (!answer.refusal.empty())
            step.thought += (step.thought.empty() ? "" : "\n") + answer.refusal;
        const int number = turns.empty() ? 1 : turns.back().number + 1;
        const bool cut = answer.finish == "length" || !asked.cut.empty();
        for (std::size_t i = 0; i < answer.calls.size(); ++i) {
            const auto &written = answer.calls[i];
            session::ToolCall call;
            call.id = fmt::format("call-{}-{}", number, i + 1);
            call.tool = written.tool.substr(0, 100);
            call.arguments = parseUntrusted(written.arguments.empty() ? "{}" : written.arguments);
            if (!call.arguments.is_object())
                call.arguments = {
                    {tools::unparsedArguments, tools::clipped(written.arguments, 2000)},
                    {"cut", cut}};
            step.calls.push_back(std::move(call));
        }
        if (!step.calls.empty())
            return step;
        if (cut && !refused)
            step.thought +=
                fmt::format("{}[the answer was cut: {}]", step.thought.empty() ? "" : "\n",
                            asked.cut.empty() ? "longest answer reached" : asked.cut);
        int wordsOnly = 1;
        for (auto turn = turns.rbegin();
             turn != turns.rend() && turn->author == "policy" && turn->calls.empty(); ++turn)
            ++wordsOnly;
        if (!refused && !cut && voice_.state().bestTurn > 0) {
            step.finished = true;
            step.reason = "the model is done";
        } else if (wordsOnly >= mostWordsOnly) {
            step.finished = true;
            step.reason = refused ? "the model refuses: " + tools::clipped(step.thought, 200)
                                  : fmt::format("the model called no tool in {} turns", wordsOnly);
        }
        return step;
    }

    EndpointConfig config_;
    EndpointVoice voice_;
    std::string system_;
    std::string task_;
    Pieces pieces_;
    ChatClient client_;
    Json tools_;
    std::int64_t promptTokens_;
    double bytesPerToken_ = 3.2;
    std::size_t sentBytes_ = 0;
    int shortTurns_ = 0;
};

} // namespace

Result<std::unique_ptr<Policy>> makeEndpoint(EndpointConfig config, const Context &context,
                                             const skills::SkillSet &skills, EndpointVoice voice) {
    CUDA_AGENT_TRY(checkEndpoint(config));
    const std::string blob =
        voice.state().start.value("task", Json::object()).value("blob", std::string());
    CUDA_AGENT_ASSIGN(source, voice.blob(blob));
    auto system = systemPrompt(context, skills);
    auto task = taskMessage(context, source);
    return std::make_unique<Endpoint>(std::move(config), std::move(voice), std::move(system),
                                      std::move(task));
}

} // namespace cuda_agent::policy
