// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/rollout/collection.h"

#include "core/base/elapsed.h"
#include "core/base/parallel.h"

#include <chrono>

namespace cuda_agent::learn {

using Clock = std::chrono::steady_clock;

namespace {

/// Those of the asked for, in their order, that leave enough of the context free.
std::vector<chat::Exemplar> fitting(const Ask &ask, const policy::Context &context,
                                    const std::string &source, const Tokenizer &tokenizer,
                                    std::int64_t longestTurn, std::int64_t most) {
    const auto room = std::max(longestTurn, std::min(longestTurn * ask.turns, most / 2));
    std::vector<chat::Exemplar> chosen;
    for (const auto &each : ask.exemplars) {
        chosen.push_back(each);
        const auto prompt = chat::promptOf(context, source, {}, chosen).text;
        const auto tokens = static_cast<std::int64_t>(tokenizer.encode(prompt).size()) + 1;
        if (tokens + room > most)
            chosen.pop_back();
    }
    return chosen;
}

} // namespace

Result<Collected> collect(Generator &generator, const Tokenizer &tokenizer, JudgePool &judges,
                          const std::vector<Ask> &asks, const CollectOptions &options,
                          const std::stop_token &stop) {
    const auto begin = Clock::now();
    const auto before = generator.counts();
    const auto preparedBefore = judges.counts().seconds;
    struct One {
        std::optional<Trajectory> trajectory;
        std::optional<Error> unusable;
    };
    const auto play = [&](std::size_t i) -> Result<One> {
        const auto &ask = asks[i];
        const auto record = std::make_shared<TokenRecord>();
        std::int64_t shown = 0;
        const auto make =
            [&](const policy::Context &context, const std::string &source,
                const std::stop_token &token) -> Result<std::unique_ptr<policy::Policy>> {
            ModelConversation::Options own;
            own.longestTurn = options.longestTurn;
            own.endOfText = tokenizer.id(chat::endOfText).value_or(0);
            own.record = record;
            CUDA_AGENT_ASSIGN(conversation,
                              ModelConversation::open(generator, tokenizer, own, token));
            policy::TransformerOptions told;
            told.seed = ask.seed;
            told.exemplars = fitting(ask, context, source, tokenizer, options.longestTurn,
                                     generator.options().context);
            shown = static_cast<std::int64_t>(told.exemplars.size());
            return policy::makeTransformer(context, source, std::move(conversation),
                                           std::move(told));
        };
        EpisodeRequest request;
        request.spec = ask.spec;
        request.turns = ask.turns;
        request.seconds = options.seconds;
        request.session = ask.session;
        auto episode = runEpisode(judges, request, make, stop);
        One one;
        if (!episode && episode.error().kind == ErrorKind::stopped)
            return tl::unexpected(episode.error());
        if (!episode) {
            one.unusable = episode.error();
            return one;
        }
        one.trajectory.emplace();
        auto &made = *one.trajectory;
        made.task = ask.task;
        made.level = ask.level;
        made.group = ask.group;
        made.exemplars = shown;
        made.session = ask.session.filename().string();
        made.record = std::move(*record);
        made.reward = rewardOf(*episode, options.reward);
        made.episode = std::move(*episode);
        return one;
    };
    CUDA_AGENT_ASSIGN(
        all, parallelResults<One>(asks.size(), static_cast<unsigned>(options.environments), play));
    Collected collected;
    collected.asked = static_cast<std::int64_t>(asks.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
        auto &one = all[i];
        if (one.unusable) {
            ++collected.unusable;
            collected.problem = one.unusable->message;
            continue;
        }
        const auto &episode = one.trajectory->episode;
        collected.judging += episode.judgeSeconds;
        collected.waiting += episode.waitSeconds;
        for (const auto &[phase, seconds] : episode.phases)
            collected.phases[phase] += seconds;
        if (episode.end == Episode::End::done) {
            collected.trajectories.push_back(std::move(*one.trajectory));
            collected.places.push_back(static_cast<std::int64_t>(i));
            continue;
        }
        ++(episode.end == Episode::End::machine ? collected.machineFailures : collected.stragglers);
        collected.problem = episode.reason;
    }
    collected.seconds = secondsSince(begin);
    collected.preparing = judges.counts().seconds - preparedBefore;
    const auto after = generator.counts();
    collected.writing = after.seconds - before.seconds;
    collected.written = after.written - before.written;
    collected.guessed = after.right - before.right;
    collected.heldUp = after.waited - before.waited;
    return collected;
}

} // namespace cuda_agent::learn
