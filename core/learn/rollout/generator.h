// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/learn/model/decoder.h"
#include "core/learn/model/sampler.h"
#include "core/learn/rollout/turn_masks.h"
#include "core/policy/transformer/deviations.h"

#include <functional>
#include <memory>
#include <stop_token>

namespace cuda_agent::learn {

/// A stretch that the model is to write.
struct StretchRequest {
    std::int64_t most = 1;  ///< tokens, those that it begins with counted in
    std::uint64_t seed = 1; ///< of what is drawn
    /// Tokens that it begins with, fewer than `most`, as if the model had written them.
    std::vector<std::int32_t> begin = {};
    /// Where nothing is drawn: the stretch ends where the grammar leaves less than this share of
    /// the model's probability, for there the model would write what cannot be. Not where that is
    /// for want of room.
    double leastAllowed = 0;
};

/// A stretch that the model wrote.
struct Generated {
    std::vector<std::int32_t> tokens; ///< with the one that ended it, where one did
    /// Of each token under the distribution that it was drawn from, and that one's entropy in nats;
    /// 0 of those that it was begun with.
    std::vector<float> logProbabilities, entropy;
    bool likeliest = false; ///< nothing was drawn: each token is the likeliest
    /// Where that is so, others behind its beginning that nearly came, up to
    /// `alternativesOfAPlace` of a place, in the order of places; without their offsets. A stretch
    /// can begin with each, so none ends it or leaves no room.
    std::vector<policy::Alternative> alternatives;
    enum class End {
        token,  ///< the end token came
        length, ///< as much as was asked for
        full,   ///< the conversation is as long as the context
        refused ///< the grammar leaves too little (StretchRequest::leastAllowed)
    } end = End::token;
};

/// Writes many conversations at once with one model: whoever asks joins the batch between two
/// tokens and leaves it when its stretch has ended, so that nobody waits for the slowest
/// (continuous batching). Tokens go in and tokens come out: a conversation's earlier turns are
/// never encoded anew, and one that begins as one before it did, as a turn that begins anew does,
/// reads only what is behind that, if its row is still as it was left. What is drawn depends on the
/// stretch's seed and the logits alone, not on who else is writing.
///
/// A pass reads guesses of what comes next, too (TokenGuesses), and draws behind each as if it were
/// the only one; what it drew stands as far as it is what was guessed. So guesses save passes and
/// change nothing but the logits' last bits.
///
/// One thread of its own computes; any thread may call, each conversation from one at a time.
class Generator {
  public:
    struct Options {
        std::int64_t rows = 64;      ///< conversations at once, and places for their keys
        std::int64_t context = 2048; ///< tokens of one, at most the model's positions
        std::int32_t endToken = 0;
        Sampling sampling;
        std::int64_t guessed = 16; ///< tokens ahead of a conversation, at most; 0: none
        std::vector<std::int32_t> history = {}; ///< texts to guess by until there are others
        /// Of the model's vocabulary; null: any token may come. With masks a stretch is a turn of
        /// their grammar, whose end is the end token, and it comes within `most` and the context.
        std::shared_ptr<const TokenMasks> masks = {};
        /// Called by the computing thread before each token of the batch, and when nobody writes:
        /// the way to let go of the device for those who time. An error is that of all who write.
        std::function<Result<void>()> enter = {};
        std::function<void()> leave = {};
    };

    /// Borrows the model (an actor) until it is destroyed.
    Generator(const Transformer &model, Options options);
    /// No conversation may be left.
    ~Generator();
    Generator(const Generator &) = delete;
    Generator &operator=(const Generator &) = delete;

    /// One of the rows; gives it back when it goes.
    class Conversation {
      public:
        Conversation(Conversation &&other) noexcept;
        Conversation &operator=(Conversation &&) = delete;
        ~Conversation();
        /// All tokens read and written so far.
        const std::vector<std::int32_t> &tokens() const;

      private:
        friend class Generator;
        struct State;
        explicit Conversation(std::unique_ptr<State> state);
        std::unique_ptr<State> state_;
    };

    /// Waits for a free row. With `likeliest` no token is drawn, whatever the temperature: each is
    /// the likeliest. Errors: stopped.
    Result<Conversation> open(const std::stop_token &stop, bool likeliest = false);

    /// What counts as nearly come: as many tokens of a place, at most so much less likely, in nats,
    /// than the one that came.
    static constexpr std::int64_t alternativesOfAPlace = 2;
    static constexpr double mostDeficit = 12;

    /// Reads `tokens`, at least one, and writes a stretch behind them. Blocks. Errors: stopped (the
    /// conversation is then of no more use), request (the tokens do not fit into the context, or
    /// the grammar refuses what the stretch begins with), machine (the model's computation failed).
    Result<Generated> generate(Conversation &conversation, std::vector<std::int32_t> tokens,
                               const StretchRequest &stretch, const std::stop_token &stop);

    const Options &options() const;

    /// Calls `change` while nothing is computed, as an update of the weights or the device's lease
    /// needs it. With `forget`, what conversations keep of before is computed anew from their
    /// tokens when they go on, for other weights made it. Blocks; may be called by any thread.
    void betweenTokens(const std::function<void()> &change, bool forget);

    struct Counts {
        std::int64_t read = 0, written = 0;  ///< tokens
        std::int64_t held = 0;               ///< tokens that a row had from a conversation before
        std::int64_t steps = 0;              ///< passes that wrote for each row in them
        std::int64_t guessed = 0, right = 0; ///< tokens that were guessed, and drawn then
        double seconds = 0;                  ///< of computing
        double waited = 0;                   ///< seconds in `enter`, before passes
    };
    Counts counts() const;

  private:
    struct Engine;
    std::unique_ptr<Engine> engine_;
};

} // namespace cuda_agent::learn
