// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Tokens a second that the generator writes on the CPU with and without a grammar's masks, and what
// the masks themselves cost: of states that were not met before, and of states that were. Few turns
// should end before TOKENS, and without masks none does, so that as many rows are written. One
// thread, and seconds of its own, so that what else runs here hardly counts.
//
// usage: learn_grammar_bench WEIGHTS [ROWS [TOKENS]] (default 16 120)

#include "core/learn/rollout/model_conversation.h"

#include <ATen/Parallel.h>

#include <chrono>
#include <cstdio>
#include <ctime>
#include <thread>

using namespace cuda_agent;
using namespace cuda_agent::learn;

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Setting {
    std::int64_t rows, tokens;
};

struct Round {
    double written = 0, steps = 0, seconds = 0;
    std::vector<TokenRecord> records;
};

Round write(const Transformer &actor, const Tokenizer &tokenizer, const Setting &setting,
            std::shared_ptr<const TokenMasks> masks, std::uint64_t seed) {
    Generator::Options options;
    options.rows = setting.rows;
    options.guessed = 0; // what a model without a meaning writes repeats itself
    options.context = std::min(actor.config().positions, setting.tokens + 200);
    options.endToken = masks ? tokenizer.id(chat::imEnd).value_or(0) : -1; // never comes
    options.sampling = {1, 1};
    options.masks = std::move(masks);
    Generator generator(actor, options);
    const auto begin = std::clock();
    Round round;
    round.records.resize(static_cast<std::size_t>(setting.rows));
    {
        std::vector<std::jthread> threads;
        for (std::int64_t row = 0; row < setting.rows; ++row)
            threads.emplace_back([&, row] {
                ModelConversation::Options how;
                how.longestTurn = setting.tokens;
                how.record = std::make_shared<TokenRecord>();
                auto conversation = ModelConversation::open(generator, tokenizer, how, {});
                const auto written =
                    (*conversation)
                        ->write({{chat::Author::context,
                                  fmt::format("Task: relu\nDevice: cpu, {} threads\n<|im_start|>"
                                              "assistant\n",
                                              row)}},
                                {seed + static_cast<std::uint64_t>(row)}, {});
                if (!written)
                    std::fprintf(stderr, "%s\n", written.error().message.c_str());
                round.records[static_cast<std::size_t>(row)] = *how.record;
            });
    }
    round.written = static_cast<double>(generator.counts().written);
    round.steps = static_cast<double>(generator.counts().steps);
    round.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    return round;
}

/// Microseconds a token to find the masks of what was written.
double maskCost(const std::vector<TokenRecord> &records, const TurnMasks &masks) {
    const auto begin = Clock::now();
    std::size_t tokens = 0;
    for (const auto &record : records)
        tokens += masksOf(record, masks).size();
    return 1e6 * secondsSince(begin) / static_cast<double>(tokens);
}

Result<void> measure(const char *weights, const Setting &setting) {
    at::set_num_threads(1);
    CUDA_AGENT_ASSIGN(tokenizer,
                      Tokenizer::load(std::filesystem::path(weights) / "tokenizer.json"));
    CUDA_AGENT_ASSIGN(actor,
                      Transformer::load(weights, Transformer::Head::logits, at::kCPU, at::kFloat));
    const auto vocabulary = actor.config().vocabulary;
    CUDA_AGENT_ASSIGN(masks, TokenMasks::ofTools(tokenizer, vocabulary));
    std::printf("%ld rows, turns of at most %ld tokens, vocabulary %ld\n",
                static_cast<long>(setting.rows), static_cast<long>(setting.tokens),
                static_cast<long>(vocabulary));
    Round with, without, last;
    for (std::uint64_t round = 0; round < 9; ++round)
        for (const auto &[sum, by] :
             {std::pair{&without, std::shared_ptr<const TokenMasks>()}, std::pair{&with, masks}}) {
            last = write(actor, tokenizer, setting, by, 1000 * round);
            if (round == 0)
                continue; // memory and the commonest masks are had once
            sum->written += last.written;
            sum->steps += last.steps;
            sum->seconds += last.seconds;
        }
    const double plain = without.written / without.seconds, masked = with.written / with.seconds;
    std::printf("without %8.0f tokens/s, %.1f rows a step; with %8.0f tokens/s, %.1f rows: %.3f of "
                "it\n",
                plain, without.written / without.steps, masked, with.written / with.steps,
                masked / plain);
    CUDA_AGENT_ASSIGN(fresh, TokenMasks::ofTools(tokenizer, vocabulary));
    const TurnMasks by{fresh, setting.tokens, setting.tokens + 200};
    const double first = maskCost(last.records, by), again = maskCost(last.records, by);
    std::printf("masks of %zu turns: %.2f us a token the first time, %.2f us then\n",
                last.records.size(), first, again);
    return {};
}

} // namespace

int main(int argc, char **argv) {
    const auto number = [&](int at, std::int64_t otherwise) {
        return argc > at ? std::atoll(argv[at]) : otherwise;
    };
    const Setting setting{number(2, 16), number(3, 120)};
    if (argc < 2 || setting.rows < 1 || setting.tokens < 1) {
        std::fprintf(stderr, "usage: learn_grammar_bench WEIGHTS [ROWS [TOKENS]]\n");
        return 2;
    }
    if (const auto done = measure(argv[1], setting); !done) {
        std::fprintf(stderr, "%s\n", done.error().message.c_str());
        return exitCode(done.error().kind);
    }
    return 0;
}
