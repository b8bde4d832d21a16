// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/transformer/transformer.h"

#include "core/policy/transformer/shown_mistake.h"
#include "core/reward/reward.h"
#include "core/tools/toolbox.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace cuda_agent::policy {

namespace {

constexpr std::size_t longestThought = 4000;

/// A number of its own for each turn, so that a resumed session draws what it would have drawn.
std::uint64_t seedOf(std::uint64_t session, int turn) {
    // The finaliser of MurmurHash3: near seeds give unlike numbers.
    auto bits = session + 0x9e3779b97f4a7c15ull * static_cast<std::uint64_t>(turn);
    bits = (bits ^ (bits >> 33)) * 0xff51afd7ed558ccdull;
    bits = (bits ^ (bits >> 33)) * 0xc4ceb9fe1a85ec53ull;
    return bits ^ (bits >> 33);
}

/// How often one turn is written; the last time it is taken as it comes. Where the grammar leaves
/// less than that share of the probability it is given up: of 76 first turns that were right none
/// has such a place, of 24 that were wrong 13 do, most of them with less than a millionth.
constexpr int mostBeginnings = 8;
constexpr double leastAllowed = 0.01;

/// Bytes that a departure quotes of each line.
constexpr std::size_t mostQuoted = 48;

std::string_view blanksOff(std::string_view text) {
    return text.substr(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
}

/// What stands behind `place`, up to the end of that line.
std::string_view lineBehind(std::string_view text, std::size_t place) {
    const auto rest = blanksOff(text.substr(place));
    return rest.substr(0, std::min(rest.find('\n'), mostQuoted));
}

/// What a candidate's time must be of the best before it to be better.
constexpr double clearlyLess = 1 / reward::clearlyFaster;

/// Whether the policy's last turn is the last of its conversation. One that only looked at
/// something is not.
bool endsConversation(const std::vector<session::Turn> &turns, FreshStarts starts) {
    const auto last = std::find_if(turns.rbegin(), turns.rend(), [](const session::Turn &turn) {
        return turn.author == "policy";
    });
    if (starts == FreshStarts::never || last == turns.rend())
        return false;
    if (!last->verdict)
        return std::ranges::any_of(last->observations,
                                   [](const auto &observation) { return !observation.ok; });
    return starts == FreshStarts::always || !last->correct() ||
           std::any_of(last + 1, turns.rend(), [&](const session::Turn &before) {
               return before.correct() && last->seconds() >= before.seconds() * clearlyLess;
           });
}

/// The first of the engineer's turns that stand right before place `at`, or else that.
std::size_t firstTold(const std::vector<session::Turn> &turns, std::size_t at) {
    while (at > 0 && turns[at - 1].author != "policy")
        --at;
    return at;
}

class TransformerPolicy : public Policy {
  public:
    TransformerPolicy(Context context, std::string source, OpenConversation open,
                      TransformerOptions options)
        : context_(std::move(context)), source_(std::move(source)), open_(std::move(open)),
          options_(std::move(options)) {}

    std::string name() const override { return "transformer"; }

    Result<Step> next(const std::vector<session::Turn> &turns, std::stop_token stop) override {
        const bool whole = options_.freshStarts == FreshStarts::never;
        bool fresh = endsConversation(turns, options_.freshStarts);
        if (whole && handsInAgain(turns))
            return Step{"", {}, true, "a right candidate came back as it was"};
        const int number = turns.empty() ? 1 : turns.back().number + 1;
        const auto write = [&]() -> Result<Written> {
            if (!conversation_ || fresh)
                CUDA_AGENT_TRY(begin(turns, fresh, stop));
            return turnOf(turns, number, stop);
        };
        if (!turns.empty() && !added_.empty() && turns.back().number == added_.back().number)
            weigh(turns.back());
        CUDA_AGENT_ASSIGN(written, write());
        auto step = stepOf(written, number);
        const bool full = written.end == Written::End::full && written.writtenTokens == 0;
        if (!whole && !fresh && first_ < turns.size() &&
            (full || (step.finished && leftUnjudged(turns)))) {
            fresh = true;
            CUDA_AGENT_ASSIGN(again, write());
            written = std::move(again);
            step = stepOf(written, number);
        }
        mine_ = number;
        cut_ = written.end == Written::End::length;
        // Where it has done nothing yet there is nothing to end: the next turn begins anew.
        if (!whole && step.finished && written.end == Written::End::turn && !worked(turns))
            step = unreadable(written.text, number, "the turn holds no call; nothing was done yet");
        step.fresh = fresh;
        if (departure_)
            step.departure = described(*std::exchange(departure_, std::nullopt), written.text);
        return step;
    }

  private:
    /// Whether the conversation has a turn of the policy's.
    bool worked(const std::vector<session::Turn> &turns) const {
        return std::any_of(turns.begin() + static_cast<std::ptrdiff_t>(first_), turns.end(),
                           [](const session::Turn &turn) { return turn.author == "policy"; });
    }

    /// Has the model write the next turn of the conversation. One of which it can be told that it
    /// is wrong is begun anew by another departure.
    Result<Written> turnOf(const std::vector<session::Turn> &turns, int number,
                           const std::stop_token &stop) {
        const bool departs = !begun_ && options_.deviates;
        TurnRequest request{seedOf(options_.seed, number)};
        for (int beginnings = 1;; ++beginnings) {
            const bool last =
                !departs || beginnings == mostBeginnings || (beginnings > 1 && !departure_);
            request.leastAllowed = last ? 0 : leastAllowed;
            request.begin = departure_ ? departure_->begin : std::vector<std::int32_t>();
            request.again = beginnings > 1;
            CUDA_AGENT_ASSIGN(written, conversation_->write(untold(turns), request, stop));
            if (!departs || written.tokens.empty())
                return std::move(written);
            deviations_.add(std::move(written.tokens), std::move(written.alternatives));
            const auto wrong = last ? std::nullopt : mistakeIn(written);
            added_.push_back({number, written.text, wrong.has_value()});
            if (!wrong)
                return std::move(written);
            tell(*wrong);
            departure_ = deviations_.next();
            CUDA_AGENT_TRY(openConversation(stop));
        }
    }

    /// What can be told of a turn that is wrong before anybody judges it.
    std::optional<ShownMistake> mistakeIn(const Written &written) const {
        if (written.end == Written::End::refused)
            return refusedBehind(written.text);
        for (const auto &source : uncompilable_)
            if (const auto at = written.text.find(source); at != written.text.npos)
                return ShownMistake{static_cast<std::int64_t>(at + source.size()),
                                    static_cast<std::int64_t>(written.text.size()), true};
        return std::nullopt;
    }

    void tell(const ShownMistake &shown) {
        deviations_.drop(shown.end, shown.over);
        if (shown.near)
            deviations_.suspect(shown.end, shown.begin);
    }

    /// Tells the deviations what came of the turn that was added last.
    void weigh(const session::Turn &turn) {
        if (turn.correct())
            deviations_.prefer();
        else if (const auto shown = mistakeOf(turn, added_.back().text)) {
            tell(*shown);
            if (const auto from = shown->function)
                uncompilable_.push_back(added_.back().text.substr(
                    static_cast<std::size_t>(*from), static_cast<std::size_t>(shown->end - *from)));
        }
    }

    /// `as turn 1 up to "const float", then "sub_3 = a - b;" in place of "mul_2 = a * b;"`: of a
    /// turn with that text.
    std::string described(const Deviations::Departure &departure, const std::string &text) const {
        const auto &from = added_.at(departure.from);
        const auto place = std::min(
            {static_cast<std::size_t>(departure.at.offset), from.text.size(), text.size()});
        const auto before = std::string_view(text).substr(0, place);
        const auto line = blanksOff(before.substr(before.find_last_of('\n') + 1));
        return fmt::format("as {} {} up to \"{}\", then \"{}\" in place of \"{}\"",
                           from.givenUp ? "what was given up of turn" : "turn", from.number,
                           line.substr(line.size() - std::min(line.size(), mostQuoted)),
                           lineBehind(text, place), lineBehind(from.text, place));
    }

    /// Whether the last turn brought no verdict: who ends there gives up what it began, such as
    /// kernels without a plan.
    static bool leftUnjudged(const std::vector<session::Turn> &turns) {
        return turns.back().author == "policy" && !turns.back().verdict;
    }

    /// Opens the conversation that the next turn is of.
    Result<void> begin(const std::vector<session::Turn> &turns, bool fresh,
                       const std::stop_token &stop) {
        first_ = fresh ? firstTold(turns, turns.size()) : conversationsOf(turns).back();
        departure_ = fresh ? deviations_.next() : std::nullopt;
        return openConversation(stop);
    }

    Result<void> openConversation(const std::stop_token &stop) {
        conversation_.reset(); // its place may be the one that is waited for
        CUDA_AGENT_ASSIGN(conversation, open_(first_ > 0 && !departure_, stop));
        conversation_ = std::move(conversation);
        told_ = first_;
        begun_ = cut_ = false;
        return {};
    }

    /// Whether the last turn had a right candidate judged that had been found right before: who has
    /// nothing to add has not learned to say so.
    static bool handsInAgain(const std::vector<session::Turn> &turns) {
        if (turns.empty() || turns.back().author != "policy" || !turns.back().correct() ||
            turns.back().candidate.empty())
            return false;
        const auto &last = turns.back();
        return std::ranges::any_of(turns.begin(), turns.end() - 1, [&](const session::Turn &turn) {
            return turn.correct() && turn.candidate == last.candidate;
        });
    }

    /// What the model has not read yet.
    std::vector<chat::Segment> untold(const std::vector<session::Turn> &turns) {
        std::vector<chat::Segment> segments;
        if (!begun_)
            segments.push_back(
                chat::promptOf(context_, source_, options_.prompt, options_.exemplars));
        begun_ = true;
        if (std::exchange(cut_, false)) // the model did not
            segments.push_back({chat::Author::context, std::string(chat::imEnd)});
        for (; told_ < turns.size(); ++told_) {
            const auto &turn = turns[told_];
            if (turn.number != mine_) // of an earlier run, or the engineer's
                segments.push_back(writtenTurn(turn));
            segments.push_back(
                chat::observationsOf(turn.calls, turn.observations, options_.mostObservation));
        }
        return segments;
    }

    /// A turn that the log has, in the template's words.
    static chat::Segment writtenTurn(const session::Turn &turn) {
        Step step{turn.thought, turn.calls, turn.calls.empty(), ""};
        std::erase_if(step.calls, [](const session::ToolCall &call) { return call.tool.empty(); });
        if (auto segment = chat::segmentOf(step))
            return std::move(*segment);
        // It was written in words that the template has for itself.
        return {chat::Author::policy, std::string(chat::imEnd)};
    }

    static Step stepOf(const Written &written, int number) {
        if (written.end == Written::End::full)
            return {"", {}, true, "the model's context is full"};
        if (written.end == Written::End::length)
            return unreadable(written.text, number,
                              "the turn was cut at its greatest length; write less at once");
        auto step = chat::stepOf(written.text, number);
        if (!step)
            return unreadable(written.text, number, step.error().message);
        if (step->finished && step->reason.empty())
            step->reason = "the model ended without a word";
        return std::move(*step);
    }

    static Step unreadable(const std::string &text, int number, std::string why) {
        Step step;
        step.thought = tools::clipped(chat::withoutSpecials(text), longestThought);
        step.calls.push_back(
            {fmt::format("{}-1", number), "", {{tools::unreadableCall, std::move(why)}}});
        return step;
    }

    Context context_;
    std::string source_;
    OpenConversation open_;
    TransformerOptions options_;
    std::unique_ptr<Conversation> conversation_; ///< null: none was begun yet
    std::size_t first_ = 0;                      ///< place of its first turn
    bool begun_ = false;                         ///< it has the prompt
    std::size_t told_ = 0; ///< turns up to there are read, written or before it
    int mine_ = 0;         ///< the turn that it wrote last
    bool cut_ = false;     ///< which has no end
    struct Added {
        int number = 0; ///< of the turn
        std::string text;
        bool givenUp = false; ///< before it was judged
    };
    Deviations deviations_;                          ///< from the first turns of conversations
    std::vector<Added> added_;                       ///< these, in their order
    std::vector<std::string> uncompilable_;          ///< functions up to lines that do not compile
    std::optional<Deviations::Departure> departure_; ///< of the turn that is to be written
};

} // namespace

std::unique_ptr<Policy> makeTransformer(Context context, std::string source, OpenConversation open,
                                        TransformerOptions options) {
    return std::make_unique<TransformerPolicy>(std::move(context), std::move(source),
                                               std::move(open), std::move(options));
}

std::string_view nameOf(FreshStarts starts) {
    return freshStartsNames.at(static_cast<std::size_t>(starts));
}

Result<FreshStarts> freshStartsFrom(std::string_view name) {
    const auto found = std::ranges::find(freshStartsNames, name);
    if (found == freshStartsNames.end())
        return requestError("fresh starts must be one of {}, not \"{}\"",
                            fmt::join(freshStartsNames, ", "), name);
    return static_cast<FreshStarts>(found - freshStartsNames.begin());
}

std::vector<std::size_t> conversationsOf(const std::vector<session::Turn> &turns) {
    std::vector<std::size_t> begins{0};
    for (std::size_t i = 1; i < turns.size(); ++i)
        if (turns[i].fresh)
            begins.push_back(firstTold(turns, i));
    return begins;
}

} // namespace cuda_agent::policy
