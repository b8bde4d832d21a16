// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/rollout/collection.h"

#include "core/base/elapsed.h"
#include "core/base/parallel.h"

#include <algorithm>
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
        Episode episode;
        std::vector<Trajectory> trajectories; ///< of its conversations
        std::optional<Error> unusable;
    };
    const auto play = [&](std::size_t i) -> Result<One> {
        const auto &ask = asks[i];
        std::vector<std::shared_ptr<TokenRecord>> records;
        std::int64_t shown = 0;
        const auto make = [&](const policy::Context &context, const std::string &source,
                              const std::stop_token &) -> Result<std::unique_ptr<policy::Policy>> {
            policy::TransformerOptions told;
            told.seed = ask.seed;
            told.freshStarts = options.freshStarts;
            told.deviates = options.deviates;
            told.exemplars = fitting(ask, context, source, tokenizer, options.longestTurn,
                                     generator.options().context);
            shown = static_cast<std::int64_t>(told.exemplars.size());
            const auto open = [&](bool drawn, const std::stop_token &token) {
                records.push_back(std::make_shared<TokenRecord>());
                ModelConversation::Options own;
                own.longestTurn = options.longestTurn;
                own.endOfText = tokenizer.id(chat::endOfText).value_or(0);
                own.record = records.back();
                own.likeliest = options.likeliest && !drawn;
                return ModelConversation::open(generator, tokenizer, own, token);
            };
            return policy::makeTransformer(context, source, open, std::move(told));
        };
        EpisodeRequest request;
        request.spec = ask.spec;
        request.turns = ask.turns;
        request.enough = options.enough;
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
        one.episode = std::move(*episode);
        auto parts = std::exchange(one.episode.conversations, {});
        if (parts.empty())
            parts.push_back(one.episode);
        for (std::size_t part = records.size();
             part-- > 1;) // those that were given up are no parts
            if (records[part]->again)
                records.erase(records.begin() + static_cast<std::ptrdiff_t>(part) - 1);
        // The last conversation may have ended before its first turn.
        parts.resize(std::max(parts.size(), records.size()));
        records.resize(parts.size(), std::make_shared<TokenRecord>());
        for (std::size_t part = 0; part < parts.size(); ++part) {
            Trajectory made;
            made.task = ask.task;
            made.level = ask.level;
            made.place = static_cast<std::int64_t>(i);
            made.group = ask.group;
            made.exemplars = shown;
            made.session = ask.session.filename().string();
            made.record = std::move(*records[part]);
            made.reward = rewardOf(parts[part], options.reward);
            made.episode = std::move(parts[part]);
            made.episode.reason = one.episode.reason;
            one.trajectories.push_back(std::move(made));
        }
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
        const auto &episode = one.episode;
        collected.judging += episode.judgeSeconds;
        collected.waiting += episode.waitSeconds;
        for (const auto &[phase, seconds] : episode.phases)
            collected.phases[phase] += seconds;
        if (episode.end == Episode::End::done) {
            std::ranges::move(one.trajectories, std::back_inserter(collected.trajectories));
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
