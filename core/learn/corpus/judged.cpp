// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/judged.h"

#include "core/learn/corpus/repair.h"

#include <algorithm>

namespace cuda_agent::learn {

namespace {

const std::string anotherMayBeFaster = "It is correct; another schedule may be faster. ";

/// A conversation as far as it has been played.
class Played {
  public:
    Played(Document head, Rehearsal rehearsal)
        : document(std::move(head)), rehearsal_(std::move(rehearsal)) {}

    /// Errors: request, failed (a call was refused), machine, stopped.
    Result<TurnVerdict> play(chat::Segment turn, const std::stop_token &stop) {
        CUDA_AGENT_ASSIGN(observed, rehearsal_.play(turn, stop));
        if (observed.refused || !observed.verdict)
            return failedError("a call of a turn of the corpus was refused: {}",
                               observed.observations.text);
        document.segments.push_back(std::move(turn));
        document.verdicts.push_back(*observed.verdict);
        answer_ = std::move(observed.observations);
        return std::move(*observed.verdict);
    }
    /// What was answered to the last turn, as another follows.
    void showAnswer() { document.segments.push_back(answer_); }
    Result<void> finish() {
        CUDA_AGENT_ASSIGN(turn, endingTurn(document.verdicts.back().reward));
        showAnswer();
        document.segments.push_back(std::move(turn));
        return {};
    }

    Document document;

  private:
    Rehearsal rehearsal_;
    chat::Segment answer_;
};

Result<chat::Segment> changingTurn(const std::string &thought, const CandidateText &from,
                                   const CandidateText &to) {
    policy::Step step;
    step.thought = thought;
    step.calls = changesOf(from, to);
    step.calls.push_back({"", "Verify", Json::object()});
    return chat::segmentOf(step);
}

Result<chat::Segment> mendingTurn(const Draft &draft, bool compiled) {
    if (draft.instead)
        return anewTurn(draft.sound, *draft.instead, compiled);
    return changingTurn(thoughtOfRepair(*draft.mutation, compiled), draft.written, draft.sound);
}

class Player {
  public:
    Player(const std::vector<Draft> &drafts, const Document &head, TaskJudge &judge,
           const JudgedOptions &options, std::mt19937_64 &generator, const std::stop_token &stop)
        : drafts_(drafts), head_(head), judge_(judge), options_(options), generator_(generator),
          stop_(stop) {}

    Result<JudgedDocuments> play() {
        // All sound ones first: a faster one may come behind the one that it is faster than.
        for (std::size_t i = 0; i < drafts_.size(); ++i)
            if (!drafts_[i].mutation && !drafts_[i].instead)
                CUDA_AGENT_TRY(attempt([&] { return tryOut(i); }, false));
        for (std::size_t i = 0; i < drafts_.size(); ++i)
            CUDA_AGENT_TRY(attempt([&] { return one(i); }, true));
        return std::move(made_);
    }

  private:
    /// Does one part; what the machine did wrong costs that part alone.
    template <typename Part>
    Result<void> attempt(const Part &part, bool counted) {
        const auto done = part();
        if (done || done.error().kind == ErrorKind::stopped ||
            done.error().kind == ErrorKind::request)
            return done;
        if (counted && done.error().kind == ErrorKind::failed) {
            ++made_.counts.refused;
        } else if (counted) {
            ++made_.counts.machine;
            if (made_.machineProblem.empty())
                made_.machineProblem = done.error().message;
        }
        return {};
    }

    Result<Played> begin(const Draft &draft) const {
        Document document = head_;
        document.candidate = draft.name;
        document.mutation = draft.mutation;
        document.thoughtBytes = draft.thought.size();
        document.kernelBytes = draft.written.kernels.size();
        document.planBytes = draft.written.plan.dump().size();
        CUDA_AGENT_ASSIGN(rehearsal, Rehearsal::begin(judge_));
        return Played(std::move(document), std::move(rehearsal));
    }

    Result<void> tryOut(std::size_t i) {
        CUDA_AGENT_ASSIGN(played, begin(drafts_[i]));
        CUDA_AGENT_ASSIGN(turn, turnOf(drafts_[i].thought, drafts_[i].written));
        CUDA_AGENT_ASSIGN(verdict, played.play(std::move(turn), stop_));
        known_[i] = std::move(verdict);
        return {};
    }

    Result<void> one(std::size_t i) {
        const Draft &draft = drafts_[i];
        // Drawn before anything is judged, so that it does not depend on what the machine did.
        const double chance = static_cast<double>(generator_() >> 11) * 0x1p-53;
        CUDA_AGENT_ASSIGN(played, begin(draft));
        CUDA_AGENT_ASSIGN(turn, turnOf(draft.thought, draft.written));
        CUDA_AGENT_ASSIGN(first, played.play(std::move(turn), stop_));
        if (!first.correct && (draft.mutation || draft.instead)) {
            played.showAnswer();
            CUDA_AGENT_ASSIGN(mending, mendingTurn(draft, first.compiled));
            CUDA_AGENT_ASSIGN(second, played.play(std::move(mending), stop_));
            if (!second.correct) {
                ++made_.counts.unmended;
                return {};
            }
            CUDA_AGENT_TRY(played.finish());
        } else if (first.correct) {
            const Draft *better = chance < options_.improvedShare ? fasterThan(first) : nullptr;
            double gain = 0;
            if (better && better->name != draft.name) {
                CUDA_AGENT_ASSIGN(timed, judge_.gain(draft.written, better->sound, stop_));
                gain = timed;
            }
            if (gain >= options_.leastGain) {
                CUDA_AGENT_ASSIGN(longer, begin(draft));
                CUDA_AGENT_ASSIGN(whole, improve(std::move(longer), draft, *better));
                if (whole)
                    return {};
            }
            CUDA_AGENT_TRY(played.finish());
        }
        (void)take(std::move(played.document), draft);
        return {};
    }

    /// Whether the document was taken: the faster one was so again, and it is not too long.
    Result<bool> improve(Played played, const Draft &draft, const Draft &better) {
        CUDA_AGENT_ASSIGN(turn, turnOf(draft.thought, draft.written));
        CUDA_AGENT_ASSIGN(first, played.play(std::move(turn), stop_));
        played.showAnswer();
        CUDA_AGENT_ASSIGN(
            going, changingTurn(anotherMayBeFaster + better.thought, draft.written, better.sound));
        CUDA_AGENT_ASSIGN(second, played.play(std::move(going), stop_));
        if (!second.correct || second.seconds >= first.seconds)
            return false;
        CUDA_AGENT_TRY(played.finish());
        if (played.document.bytes() > options_.mostBytes)
            return false;
        return take(std::move(played.document), draft);
    }

    /// The fastest of those that are known to be enough faster.
    const Draft *fasterThan(const TurnVerdict &verdict) const {
        const Draft *best = nullptr;
        double seconds = verdict.low / options_.leastGain;
        for (const auto &[i, known] : known_) {
            if (!known.correct || !(known.high > 0) || known.high >= seconds)
                continue;
            best = &drafts_[i];
            seconds = known.high;
        }
        return best;
    }

    bool take(Document document, const Draft &draft) {
        if (document.bytes() > options_.mostBytes) {
            ++made_.counts.tooLong;
            return false;
        }
        made_.counts.add(document);
        made_.counts.own += draft.instead && !document.verdicts.front().correct;
        made_.documents.push_back(std::move(document));
        return true;
    }

    const std::vector<Draft> &drafts_;
    const Document &head_;
    TaskJudge &judge_;
    const JudgedOptions &options_;
    std::mt19937_64 &generator_;
    const std::stop_token &stop_;
    std::map<std::size_t, TurnVerdict> known_; ///< of drafts without a mutation
    JudgedDocuments made_;
};

} // namespace

Result<chat::Segment> anewTurn(const CandidateText &sound, const std::string &instead,
                               bool compiled) {
    return turnOf(fmt::format("{} Another way. {}",
                              compiled ? "It is wrong." : "It does not compile.", instead),
                  sound);
}

Result<chat::Segment> fasterTurn(const CandidateText &sound, const std::string &instead) {
    return turnOf(anotherMayBeFaster + instead, sound);
}

Result<chat::Segment> endingTurn(int reward) {
    policy::Step step;
    step.finished = true;
    step.reason = reward >= 3   ? "It is correct and faster than torch.compile."
                  : reward == 2 ? "It is correct and faster than eager."
                                : "It is correct.";
    return chat::segmentOf(step);
}

void JudgedCounts::add(const Document &document) {
    if (document.verdicts.empty())
        return;
    const auto &first = document.verdicts.front(), &last = document.verdicts.back();
    correct += first.correct;
    wrong += !first.correct && first.compiled;
    notCompiled += !first.compiled;
    unfound += first.correct && document.mutation;
    repaired += !first.correct && last.correct;
    improved += first.correct && document.verdicts.size() > 1;
    ++turns[std::to_string(document.turns())];
    ++rewards[std::to_string(last.reward)];
}

void JudgedCounts::add(const JudgedCounts &other) {
    for (const auto member :
         {&JudgedCounts::correct, &JudgedCounts::wrong, &JudgedCounts::notCompiled,
          &JudgedCounts::own, &JudgedCounts::unfound, &JudgedCounts::repaired,
          &JudgedCounts::improved, &JudgedCounts::machine, &JudgedCounts::tooLong,
          &JudgedCounts::unmended, &JudgedCounts::refused, &JudgedCounts::verdicts})
        this->*member += other.*member;
    for (const auto &[name, count] : other.turns)
        turns[name] += count;
    for (const auto &[name, count] : other.rewards)
        rewards[name] += count;
}

Json toJson(const JudgedCounts &counts) {
    return {{"correct", counts.correct},
            {"wrong", counts.wrong},
            {"not_compiled", counts.notCompiled},
            {"own", counts.own},
            {"unfound", counts.unfound},
            {"repaired", counts.repaired},
            {"improved", counts.improved},
            {"machine_failures", counts.machine},
            {"too_long", counts.tooLong},
            {"unmended", counts.unmended},
            {"refused", counts.refused},
            {"verdicts", counts.verdicts},
            {"turns", counts.turns},
            {"rewards", counts.rewards}};
}

Result<JudgedDocuments> playDrafts(const std::vector<Draft> &drafts, const Document &head,
                                   TaskJudge &judge, const JudgedOptions &options,
                                   std::mt19937_64 &generator, const std::stop_token &stop) {
    return Player(drafts, head, judge, options, generator, stop).play();
}

} // namespace cuda_agent::learn
