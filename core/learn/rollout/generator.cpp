// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/rollout/generator.h"

#include "core/base/elapsed.h"
#include "core/learn/model/device.h"
#include "core/learn/rollout/token_lookup.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <c10/core/DeviceGuard.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <random>
#include <thread>

namespace cuda_agent::learn {

using Clock = std::chrono::steady_clock;

namespace {

/// Tokens of a pass up to which guesses cost little beside the weights that it reads.
std::int64_t cheapTokens(const at::Device &device) {
    return device.is_cuda() ? 1024 : 64;
}

/// Room of a stretch, in tokens, in which the grammar may leave little for it has to end.
constexpr std::int64_t roomToEnd = 64;

/// Tokens of ended stretches, some hundred; then they are forgotten.
constexpr std::size_t mostRemembered = std::size_t{1} << 20;

} // namespace

struct Generator::Conversation::State {
    Engine *engine = nullptr;
    std::int64_t row = 0;
    std::vector<std::int32_t> tokens; ///< all, the ones to be read included
    std::size_t kept = 0;             ///< of them, how many the row's keys are of
    std::int64_t age = 0;             ///< of the weights that made these keys
    std::mt19937_64 random;
    bool likeliest = false; ///< nothing is drawn by it
    Writing turn;           ///< where there is a grammar
    TokenGuesses guesses;
    std::size_t remembered = 0; ///< of the tokens, those that others may guess by
    // Of the present request:
    std::int64_t most = 0;
    std::size_t given = 0; ///< tokens that the stretch was begun with
    double leastAllowed = 0;
    Generated written;
    bool waiting = false, stopped = false;
    std::optional<Error> failure;
    std::condition_variable_any done; ///< of its own: hundreds need not wake for one
};

/// What the threads share, and the one that computes.
struct Generator::Engine {
    using State = Conversation::State;

    Engine(const Transformer &actor, Options given)
        : options(given), vocabulary(actor.config().vocabulary), cheap(cheapTokens(actor.device())),
          decoder(actor, given.rows, given.context), left(static_cast<std::size_t>(given.rows)) {
        others.add(given.history);
        for (std::int64_t row = 0; row < given.rows; ++row)
            free.push_back(row);
        giveBackMemory(actor.device()); // what training kept; judges want it meanwhile
        worker = std::jthread([this, device = actor.device()](const std::stop_token &ended) {
            const c10::DeviceGuard here(device); // what is current is each thread's own
            work(ended);
        });
    }

    void work(const std::stop_token &ended) {
        const at::NoGradGuard noGradients;
        std::unique_lock lock(mutex);
        const auto mayGo = [&] { return !writing.empty() && changing == 0; };
        for (;;) {
            if (!mayGo() && options.leave)
                options.leave();
            if (!wakes.wait(lock, ended, mayGo))
                break;
            std::erase_if(writing, [&](State *state) {
                if (state->stopped)
                    finish(*state);
                return state->stopped;
            });
            if (writing.empty())
                continue;
            const auto batch = writing; // others may join meanwhile
            busy = true;
            lock.unlock();
            const auto asked = Clock::now();
            const auto entered = options.enter ? options.enter() : Result<void>();
            const auto begin = Clock::now();
            auto failure = entered ? advance(batch) : std::optional(entered.error());
            lock.lock();
            busy = false;
            counted.waited += std::chrono::duration<double>(begin - asked).count();
            counted.seconds += secondsSince(begin);
            for (auto *state : batch)
                if (failure)
                    state->failure = failure;
            std::erase_if(writing, [&](State *state) {
                const bool over = state->failure || hasEnded(*state);
                if (over)
                    finish(*state);
                return over;
            });
            idle.notify_all();
        }
    }

    bool hasEnded(State &state) const {
        auto &written = state.written;
        if (written.end == Generated::End::refused)
            return true;
        if (written.tokens.size() == state.given)
            return false; // it has joined just now
        if (written.tokens.back() == options.endToken)
            written.end = Generated::End::token;
        else if (static_cast<std::int64_t>(written.tokens.size()) >= state.most)
            written.end = Generated::End::length;
        else if (static_cast<std::int64_t>(state.tokens.size()) >= options.context)
            written.end = Generated::End::full;
        else
            return false;
        return true;
    }

    void finish(State &state) {
        if (options.guessed > 0 && !state.stopped) {
            if (others.size() > mostRemembered)
                others = {};
            others.add(std::span(state.tokens).subspan(state.remembered));
            state.remembered = state.tokens.size();
        }
        state.waiting = false;
        state.done.notify_all();
    }

    /// What a row holds that nobody has: keys of `tokens`, made by weights of that age.
    struct Left {
        std::vector<std::int32_t> tokens;
        std::int64_t age = 0;
    };

    /// How many of the conversation's tokens, but for the last, a row holds from its beginning on.
    std::size_t held(std::int64_t row, const std::vector<std::int32_t> &tokens) const {
        const auto &rest = left[static_cast<std::size_t>(row)];
        if (rest.age != age)
            return 0;
        const auto differs = std::ranges::mismatch(rest.tokens, tokens).in2 - tokens.begin();
        return std::min(static_cast<std::size_t>(differs), tokens.size() - 1);
    }

    /// A conversation that was only opened gets the free row, or keeps its own, that holds the most
    /// of its beginning, and reads what is behind that. Called with the lock.
    void settle(State &state) {
        free.push_front(state.row); // the first of equals, and again the first to be taken
        const auto best = std::ranges::max_element(
            free, {}, [&](std::int64_t row) { return held(row, state.tokens); });
        state.row = *best;
        free.erase(best);
        state.kept = held(state.row, state.tokens);
        state.age = age;
        decoder.cut(state.row, static_cast<std::int64_t>(state.kept));
        counted.held += static_cast<std::int64_t>(state.kept);
        left[static_cast<std::size_t>(state.row)] = {};
    }

    /// Called with the lock, when the conversation goes.
    void giveBack(State &state) {
        if (!state.tokens.empty()) {
            state.tokens.resize(state.kept);
            left[static_cast<std::size_t>(state.row)] = {std::move(state.tokens), state.age};
        }
        free.push_back(state.row);
        freed.notify_one();
    }

    /// A turn of the conversation that begins with these tokens, its prompt among them.
    Writing turnBehind(const std::vector<std::int32_t> &tokens) const {
        return options.masks ? options.masks->behind(tokens) : Writing();
    }

    /// What a pass does for one conversation: it draws a token behind its text, and one behind each
    /// guess of what comes next.
    struct Lane {
        State *state;
        std::vector<std::int32_t> guess;
        std::vector<TokenMasks::Mask> masks; ///< of each token to draw; empty without a grammar
    };

    Lane laneOf(State &state, std::int64_t mostGuessed) const {
        Lane lane{&state, {}, {}};
        const auto place = state.tokens.size(), written = state.written.tokens.size();
        const auto room = roomOf(state.most, options.context, place, written);
        if (const auto most = std::min(mostGuessed, room - 1); most > 0)
            lane.guess = state.guesses.behind(state.tokens, others, static_cast<std::size_t>(most));
        lane.guess.erase(std::ranges::find(lane.guess, options.endToken), lane.guess.end());
        if (!options.masks)
            return lane;
        auto turn = state.turn;
        for (std::size_t i = 0;; ++i) {
            lane.masks.push_back(options.masks->allowed(
                turn, roomOf(state.most, options.context, place + i, written + i)));
            if (i < lane.guess.size() && refuses(lane.masks.back(), lane.guess[i]))
                lane.guess.resize(i);
            if (i == lane.guess.size())
                return lane;
            options.masks->take(turn, lane.guess[i]);
        }
    }

    /// A token for each of the batch, or some. The lock is not held: nobody else touches what these
    /// own.
    std::optional<Error> advance(const std::vector<State *> &batch) {
        try {
            std::vector<at::Tensor> logits;
            std::vector<Lane> lanes;
            std::vector<State *> step;
            for (auto *state : batch) {
                if (state->age != age) {
                    decoder.clear(state->row);
                    state->kept = 0;
                    state->age = age;
                }
                if (state->kept + 1 == state->tokens.size() && state->kept > 0) {
                    step.push_back(state);
                    if (state->written.tokens.size() == state->given) // its row held the others
                        ++reads;
                    continue;
                }
                const std::vector<std::int32_t> fresh(state->tokens.begin() +
                                                          static_cast<std::ptrdiff_t>(state->kept),
                                                      state->tokens.end());
                logits.push_back(decoder.read(state->row, fresh).unsqueeze(0));
                lanes.push_back(laneOf(*state, 0));
                reads += static_cast<std::int64_t>(fresh.size());
            }
            if (!step.empty()) {
                std::ranges::sort(step, {}, &State::row);
                const auto most =
                    std::min(options.guessed, cheap / static_cast<std::int64_t>(step.size()) - 1);
                std::vector<std::int64_t> rows;
                std::vector<std::int32_t> tokens;
                for (auto *state : step) {
                    const auto &lane = lanes.emplace_back(laneOf(*state, most));
                    rows.insert(rows.end(), 1 + lane.guess.size(), state->row);
                    tokens.push_back(state->tokens.back());
                    tokens.insert(tokens.end(), lane.guess.begin(), lane.guess.end());
                }
                logits.push_back(decoder.step(rows, tokens));
            }
            write(at::cat(logits), lanes);
        } catch (const c10::Error &error) { // PyTorch's way to say that memory is short
            return Error{ErrorKind::machine, error.what_without_backtrace()};
        }
        return std::nullopt;
    }

    /// [logits, vocabulary] of bool, or undefined: what may come next of each.
    at::Tensor allowed(const at::Tensor &logits, const std::vector<Lane> &lanes) const {
        if (!options.masks)
            return {};
        std::vector<TokenMasks::Mask> masks;
        for (const auto &lane : lanes)
            masks.insert(masks.end(), lane.masks.begin(), lane.masks.end());
        return MaskRows(masks, logits.size(-1), logits.device()).all();
    }

    /// [logits] of double: how much of the probability the masks leave, where that is asked for.
    static at::Tensor shareOf(const at::Tensor &mask, const at::Tensor &mayCome,
                              const at::Tensor &logits, const std::vector<Lane> &lanes) {
        const bool asked = std::ranges::any_of(
            lanes, [](const Lane &lane) { return lane.state->leastAllowed > 0; });
        if (!asked || !mask.defined())
            return at::ones({logits.size(0)}, logits.options().dtype(at::kDouble));
        return (at::logsumexp(mayCome, -1) - at::logsumexp(logits.to(at::kFloat), -1))
            .exp()
            .to(at::kDouble);
    }

    void write(const at::Tensor &logits, const std::vector<Lane> &lanes) {
        std::vector<double> uniform;
        for (const auto &lane : lanes) {
            auto random = lane.state->random; // its own goes on by what stands alone
            for (std::size_t i = 0; i <= lane.guess.size(); ++i)
                uniform.push_back(lane.state->likeliest
                                      ? -1
                                      : static_cast<double>(random() >> 11) * // 53 bits: below 1
                                            0x1p-53);
        }
        const auto mask = allowed(logits, lanes);
        const auto mayCome = masked(logits, mask);
        const auto sampled =
            sample(mayCome, options.sampling, {}, at::tensor(uniform, at::kDouble));
        // One transfer for all.
        auto numbers =
            at::stack({sampled.tokens.to(at::kDouble), sampled.logProbabilities.to(at::kDouble),
                       sampled.entropy.to(at::kDouble), shareOf(mask, mayCome, logits, lanes)});
        if (std::ranges::any_of(lanes,
                                [](const Lane &lane) { return lane.state->written.likeliest; })) {
            const auto count = std::min(1 + alternativesOfAPlace, logits.size(-1));
            const auto [tokens, deficits] = likeliest(mayCome, count);
            numbers = at::cat({numbers, tokens.t().to(at::kDouble), deficits.t().to(at::kDouble)});
        }
        numbers = numbers.to(at::kCPU);
        const auto table = numbers.accessor<double, 2>();
        const auto room = [&](const State &state) {
            return roomOf(state.most, options.context, state.tokens.size(),
                          state.written.tokens.size());
        };
        const auto noteAlternatives = [&](State &state, std::int64_t at, std::int32_t token) {
            const auto count = (table.size(0) - 4) / 2;
            const auto place = static_cast<std::int64_t>(state.written.tokens.size());
            if (room(state) < 2) // for it and what would follow
                return;
            for (std::int64_t i = 0; i < count; ++i)
                if (const auto other = static_cast<std::int32_t>(table[4 + i][at]);
                    other != token && other != options.endToken &&
                    table[4 + count + i][at] <= mostDeficit)
                    state.written.alternatives.push_back({place, other, table[4 + count + i][at]});
        };
        std::int64_t first = 0;
        for (const auto &lane : lanes) {
            auto &state = *lane.state;
            std::size_t drawn = 0, asGuessed = 0;
            for (bool stands = true; stands; ++drawn) {
                const auto at = first + static_cast<std::int64_t>(drawn);
                if (state.written.likeliest && table[3][at] < state.leastAllowed &&
                    room(state) > roomToEnd) {
                    state.written.end = Generated::End::refused;
                    break;
                }
                const auto token = static_cast<std::int32_t>(table[0][at]);
                state.random.discard(1);
                if (state.written.likeliest)
                    noteAlternatives(state, at, token);
                state.tokens.push_back(token);
                state.written.tokens.push_back(token);
                state.written.logProbabilities.push_back(static_cast<float>(table[1][at]));
                state.written.entropy.push_back(static_cast<float>(table[2][at]));
                if (options.masks)
                    options.masks->take(state.turn, token);
                stands = drawn < lane.guess.size() && lane.guess[drawn] == token;
                asGuessed += stands ? 1 : 0;
            }
            first += 1 + static_cast<std::int64_t>(lane.guess.size());
            state.kept = state.tokens.size() - 1;
            decoder.cut(state.row, static_cast<std::int64_t>(state.kept));
            state.guesses.learn(lane.guess.size(), asGuessed);
            writes += static_cast<std::int64_t>(drawn);
            guessed += static_cast<std::int64_t>(lane.guess.size());
            right += static_cast<std::int64_t>(asGuessed);
        }
        ++steps;
    }

    const Options options;
    const std::int64_t vocabulary;
    const std::int64_t cheap; ///< tokens of a pass
    TokenHistory others;      ///< stretches that have ended, for guesses in all conversations
    Decoder decoder;
    std::atomic<std::int64_t> reads = 0, writes = 0, steps = 0, guessed = 0, right = 0;

    std::mutex mutex;
    std::condition_variable_any wakes; ///< of the worker
    std::condition_variable_any freed; ///< a row
    std::condition_variable_any idle;  ///< nothing is computed now
    std::deque<std::int64_t> free;     ///< rows, those that were given back last behind the others
    std::vector<Left> left;            ///< by row
    std::vector<State *> writing;
    std::int64_t age = 0;
    int changing = 0; ///< threads that want, or have, the pause between tokens
    bool busy = false;
    Counts counted; ///< what `held` and seconds are
    std::jthread worker;
};

Generator::Conversation::Conversation(std::unique_ptr<State> state) : state_(std::move(state)) {}

Generator::Conversation::Conversation(Conversation &&other) noexcept = default;

Generator::Conversation::~Conversation() {
    if (!state_)
        return;
    auto &engine = *state_->engine;
    const std::lock_guard lock(engine.mutex);
    engine.giveBack(*state_);
}

const std::vector<std::int32_t> &Generator::Conversation::tokens() const {
    return state_->tokens;
}

Generator::Generator(const Transformer &model, Options options)
    : engine_(std::make_unique<Engine>(model, options)) {}

Generator::~Generator() = default;

const Generator::Options &Generator::options() const {
    return engine_->options;
}

Result<Generator::Conversation> Generator::open(const std::stop_token &stop, bool likeliest) {
    auto state = std::make_unique<Conversation::State>();
    state->engine = engine_.get();
    std::unique_lock lock(engine_->mutex);
    if (!engine_->freed.wait(lock, stop, [&] { return !engine_->free.empty(); }))
        return stoppedError();
    state->row = engine_->free.front();
    engine_->free.pop_front();
    state->likeliest = likeliest;
    return Conversation(std::move(state));
}

Result<Generated> Generator::generate(Conversation &conversation, std::vector<std::int32_t> tokens,
                                      const StretchRequest &stretch, const std::stop_token &stop) {
    auto &state = *conversation.state_;
    const auto &options = engine_->options;
    const auto &begin = stretch.begin;
    const auto all = state.tokens.size() + tokens.size() + begin.size();
    if (tokens.empty() || stretch.most <= static_cast<std::int64_t>(begin.size()) ||
        all + 1 > static_cast<std::size_t>(options.context))
        return requestError("{} tokens and one more do not fit into a context of {}", all,
                            options.context);
    auto turn = engine_->turnBehind(state.tokens.empty() ? tokens : state.tokens);
    for (const auto token : begin)
        if (token < 0 || token >= engine_->vocabulary || token == options.endToken ||
            (options.masks && !options.masks->take(turn, token)))
            return requestError("a turn cannot begin with these {} tokens", begin.size());
    std::unique_lock lock(engine_->mutex);
    const bool first = state.tokens.empty();
    state.tokens.insert(state.tokens.end(), tokens.begin(), tokens.end());
    state.tokens.insert(state.tokens.end(), begin.begin(), begin.end());
    if (first)
        engine_->settle(state);
    state.written = {};
    state.written.likeliest = state.likeliest || options.sampling.temperature <= 0;
    state.written.tokens = begin;
    state.written.logProbabilities.resize(begin.size());
    state.written.entropy.resize(begin.size());
    state.given = begin.size();
    state.most = stretch.most;
    state.leastAllowed = stretch.leastAllowed;
    state.turn = std::move(turn);
    state.random.seed(stretch.seed);
    state.waiting = true;
    engine_->writing.push_back(&state);
    engine_->wakes.notify_all();
    if (!state.done.wait(lock, stop, [&] { return !state.waiting; })) {
        state.stopped = true; // the worker lets it go between two tokens
        engine_->wakes.notify_all();
        state.done.wait(lock, [&] { return !state.waiting; });
        return stoppedError();
    }
    if (state.failure)
        return tl::unexpected(*state.failure);
    return std::move(state.written);
}

void Generator::betweenTokens(const std::function<void()> &change, bool forget) {
    std::unique_lock lock(engine_->mutex);
    ++engine_->changing;
    engine_->idle.wait(lock, [&] { return !engine_->busy; });
    change();
    if (forget)
        ++engine_->age;
    --engine_->changing;
    engine_->wakes.notify_all();
}

Generator::Counts Generator::counts() const {
    const std::lock_guard lock(engine_->mutex);
    auto counts = engine_->counted;
    counts.read = engine_->reads;
    counts.written = engine_->writes;
    counts.steps = engine_->steps;
    counts.guessed = engine_->guessed;
    counts.right = engine_->right;
    return counts;
}

} // namespace cuda_agent::learn
