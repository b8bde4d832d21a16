// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/state.h"

namespace cuda_agent::session {

namespace {

// Payloads come from a file that anybody may have written: a field of the wrong type is absent.
std::string text(const Json &data, const char *name) {
    const auto found = data.find(name);
    return found != data.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool truth(const Json &data, const char *name) {
    const auto found = data.find(name);
    return found != data.end() && found->is_boolean() && found->get<bool>();
}

double number(const Json &data, const char *name) {
    const auto found = data.find(name);
    return found != data.end() && found->is_number() ? found->get<double>() : 0;
}

Json object(const Json &data, const char *name) {
    const auto found = data.find(name);
    return found != data.end() && found->is_object() ? *found : Json::object();
}

std::map<std::string, std::string> texts(const Json &data, const char *name) {
    std::map<std::string, std::string> result;
    const Json fields = object(data, name);
    for (const auto &[key, value] : fields.items())
        if (value.is_string())
            result.emplace(key, value.get<std::string>());
    return result;
}

std::int64_t count(const Json &data, const char *name) {
    const double value = number(data, name);
    return value > 0 && value < 1e15 ? static_cast<std::int64_t>(value) : 0;
}

void addLine(std::string &to, const std::string &line) {
    if (!to.empty())
        to += '\n';
    to += line;
}

} // namespace

void Usage::add(const Json &answer) {
    promptTokens += count(answer, "prompt_tokens");
    cachedTokens += count(answer, "cached_tokens");
    answerTokens += count(answer, "answer_tokens");
    cost += std::max(0.0, number(answer, "cost"));
    seconds += std::max(0.0, number(answer, "seconds"));
    ++answers;
}

void State::apply(const Event &event) {
    ++events;
    const Json &data = event.data;
    if (!data.is_object())
        return;
    switch (event.type) {
    case EventType::sessionStarted:
        start = data;
        break;
    case EventType::taskDescribed:
        description = data;
        break;
    case EventType::baselinesMeasured:
        baselines = data;
        break;
    case EventType::budgetSet:
        for (const char *key : {"turns", "budget"})
            if (const auto found = data.find(key); found != data.end())
                start[key] = *found;
        break;
    case EventType::knowledgeOffered:
        knowledge = data;
        break;
    case EventType::turnStarted:
        startTurn(event);
        break;
    case EventType::textStreamed:
        if (Turn *at = turn(event.turn))
            at->streaming += text(data, "text");
        break;
    case EventType::thought:
        if (Turn *at = turn(event.turn)) {
            addLine(at->thought, text(data, "text"));
            at->streaming.clear();
        }
        break;
    case EventType::modelAnswered:
        usage.add(data);
        if (Turn *at = turn(event.turn)) {
            at->usage.add(data);
            at->streaming.clear();
        }
        break;
    case EventType::action:
        if (Turn *at = turn(event.turn))
            at->calls.push_back({text(data, "id"), text(data, "tool"), object(data, "arguments")});
        break;
    case EventType::observation:
        if (Turn *at = turn(event.turn))
            at->observations.push_back({text(data, "id"), truth(data, "ok"), text(data, "text"),
                                        object(data, "data"), number(data, "seconds")});
        break;
    case EventType::fileWritten:
        if (const std::string path = text(data, "path"); !path.empty()) {
            files[path] = text(data, "blob");
            if (text(data, "author") == "engineer")
                undo_.files[path] = files[path];
        }
        break;
    case EventType::fileRemoved:
        if (const std::string path = text(data, "path"); !path.empty()) {
            files.erase(path);
            if (text(data, "author") == "engineer")
                undo_.files.erase(path);
        }
        break;
    case EventType::compiled:
        if (Turn *at = turn(event.turn))
            at->compiled = data;
        break;
    case EventType::verdictGiven:
        judge(event);
        break;
    case EventType::turnEnded:
        if (Turn *at = turn(event.turn))
            at->ended = true;
        break;
    case EventType::note:
        notes.push_back(text(data, "text"));
        if (Turn *at = turn(event.turn))
            at->fresh = at->fresh || truth(data, "fresh");
        break;
    case EventType::sessionEnded:
        end = data;
        break;
    }
}

Turn *State::turn(int number) {
    if (number < 1)
        return nullptr;
    for (auto at = turns.rbegin(); at != turns.rend(); ++at)
        if (at->number == number)
            return &*at;
    turns.emplace_back().number = number;
    return &turns.back();
}

void State::startTurn(const Event &event) {
    const int number = event.turn;
    if (number < 1)
        return;
    end.reset(); // a session that goes on has not ended
    if (!turns.empty() && turns.back().number == number && !turns.back().ended) {
        turns.pop_back();
        files = undo_.files;
        for (auto at = undo_.judged.rbegin(); at != undo_.judged.rend(); ++at)
            judged_[at->first] = at->second;
        while (judged_.size() > undo_.judgedCount) {
            judgedAt_.erase(judged_.back().candidate);
            judged_.pop_back();
        }
        chooseBest();
    }
    undo_ = {files, {}, judged_.size()};
    Turn *started = turn(number);
    started->ended = false;
    if (const std::string author = text(event.data, "author"); !author.empty())
        started->author = author;
}

bool Turn::correct() const {
    return verdict && truth(*verdict, "correct");
}

double Turn::seconds() const {
    return verdict ? session::number(object(object(*verdict, "times"), "candidate"), "seconds") : 0;
}

void State::judge(const Event &event) {
    Turn *at = turn(event.turn);
    if (!at)
        return;
    at->verdict = object(event.data, "verdict");
    at->candidate = texts(event.data, "candidate");
    Judged judged;
    judged.turn = event.turn;
    judged.candidate = at->candidate;
    judged.verdict = *at->verdict;
    judged.correct = at->correct();
    judged.full = text(judged.verdict, "strength") == "full";
    judged.seconds = at->seconds();

    // Of one candidate the last word counts, and a full verdict outranks training ones.
    const auto [place, fresh] = judgedAt_.emplace(judged.candidate, judged_.size());
    if (fresh) {
        judged_.push_back(std::move(judged));
        const Judged &last = judged_.back();
        if (last.correct && last.seconds > 0 && (!best_ || better(last, judged_[*best_]))) {
            best_ = judged_.size() - 1;
            setBest(&last);
        }
    } else if (judged.full || !judged_[place->second].full) {
        undo_.judged.emplace_back(place->second, judged_[place->second]);
        judged_[place->second] = std::move(judged);
        chooseBest();
    }
}

bool State::better(const Judged &a, const Judged &b) {
    // What was verified in full yields only to a clear gain.
    return a.seconds * (a.full ? 1 : fullWorth) < b.seconds * (b.full ? 1 : fullWorth);
}

void State::chooseBest() {
    best_.reset();
    for (std::size_t i = 0; i < judged_.size(); ++i) {
        if (judged_[i].correct && judged_[i].seconds > 0 &&
            (!best_ || better(judged_[i], judged_[*best_])))
            best_ = i;
    }
    setBest(best_ ? &judged_[*best_] : nullptr);
}

void State::setBest(const Judged *best) {
    bestTurn = best ? best->turn : 0;
    bestSeconds = best ? best->seconds : 0;
    bestVerdict = best ? best->verdict : Json();
    bestCandidate = best ? best->candidate : std::map<std::string, std::string>();
}

std::vector<Turn> State::endedTurns() const {
    std::vector<Turn> result;
    for (const Turn &each : turns)
        if (each.ended)
            result.push_back(each);
    return result;
}

State fold(const std::vector<Event> &events) {
    State state;
    for (const Event &event : events)
        state.apply(event);
    return state;
}

} // namespace cuda_agent::session
