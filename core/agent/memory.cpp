// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/memory.h"

#include "core/base/hash.h"
#include "core/base/untrusted_json.h"

#include <chrono>
#include <set>

namespace cuda_agent::agent {

namespace fs = std::filesystem;
using knowledge::Record;
using session::EventType;
using session::State;
using session::Turn;

namespace {

constexpr std::size_t longestNote = 700; ///< bytes of a paragraph
constexpr std::size_t leastWords = 30;   ///< bytes; "I am done." says nothing of the candidate
constexpr std::size_t mostFailures = 6;  ///< of one session

std::string hashOf(const std::map<std::string, std::string> &candidate) {
    std::string all;
    for (const auto &[path, blob] : candidate) // blobs are named by their contents' hashes
        all += path + '\n' + blob + '\n';
    return sha256Hex(all);
}

/// The plan's own name, which is how the planner calls its candidates.
std::string planName(const fs::path &folder, const std::map<std::string, std::string> &candidate) {
    const auto plan = candidate.find("plan.json");
    if (plan == candidate.end())
        return {};
    const auto text = session::readBlob(folder, plan->second);
    if (!text)
        return {};
    const Json json = parseUntrusted(*text);
    return json.is_object() && json.contains("name") && json["name"].is_string()
               ? json["name"].get<std::string>()
               : std::string();
}

std::string firstParagraph(const std::string &text) {
    const auto begin = text.find_first_not_of(" \n\r\t");
    if (begin == std::string::npos)
        return {};
    return text.substr(begin, text.find("\n\n", begin) - begin);
}

/// What the agent itself said about a candidate of its own.
std::string ownWords(const State &state, const Turn &turn, bool last) {
    if (last && !state.turns.empty()) {
        const Turn &closing = state.turns.back();
        auto words = closing.author == "policy" && closing.calls.empty()
                         ? firstParagraph(closing.thought)
                         : std::string();
        if (words.size() >= leastWords)
            return words;
    }
    return firstParagraph(turn.thought);
}

std::string strengthOf(const Json &verdict) {
    return verdict.is_object() ? verdict.value("strength", std::string()) : std::string();
}

} // namespace

Result<Record> recordOf(const State &state, const fs::path &folder, const knowledge::Query &query,
                        const policy::Policy &policy, const Turn &turn, bool last) {
    Record record;
    record.task = query.task;
    record.taskName = state.description.value("name", std::string());
    record.deviceKind = query.deviceKind;
    record.device = query.device;
    record.architecture = query.architecture;
    record.numerics = query.numerics;
    record.policy = turn.author == "policy" ? policy.name() : turn.author;
    record.candidate = turn.candidate.contains("plan.json") ? "plan" : "module";
    record.hash = hashOf(turn.candidate);
    std::error_code error;
    const auto whole = fs::absolute(folder, error);
    record.session = (error ? folder : whole).string();
    record.turn = turn.number;
    const auto name = planName(folder, turn.candidate);
    const auto described = turn.author == "policy" ? policy.describe(name) : std::string();
    if (!described.empty())
        record.schedule = name;
    record.note = knowledge::oneLine(described.empty() ? ownWords(state, turn, last) : described,
                                     longestNote);
    knowledge::setVerdict(record, turn.verdict.value_or(Json()));
    record.time =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    return record;
}

Result<void> Memory::give(const std::string &problem) {
    if (std::exchange(given_, true))
        return {};
    return recorder_.append(EventType::note, 0,
                            {{"text", "the record of earlier sessions is not used: " + problem}});
}

Result<void> Memory::offer(const task::Description &task, const device::Info &device,
                           task::Numerics numerics) {
    query_ = knowledge::queryFor(task, device, numerics);
    const State &state = recorder_.state();
    if (!state.knowledge.is_null()) {
        if (shared_)
            CUDA_AGENT_TRY(shared_->get([&]() -> Result<Json> { return state.knowledge; }));
        return {};
    }
    if (!state.turns.empty())
        return {};
    const auto look = [&]() -> Result<Json> {
        CUDA_AGENT_ASSIGN(store, knowledge::Store::open(file_));
        CUDA_AGENT_ASSIGN(found, knowledge::offerFor(store, query_));
        return knowledge::toJson(found);
    };
    auto offered = shared_ ? shared_->get(look) : look();
    if (!offered)
        return give(offered.error().message);
    return recorder_.append(EventType::knowledgeOffered, 0, std::move(*offered));
}

Result<void> Memory::write(const std::vector<Record> &records) {
    if (given_ || records.empty())
        return {};
    auto store = knowledge::Store::open(file_);
    if (!store)
        return give(store.error().message);
    if (const auto added = store->add(records); !added)
        return give(added.error().message);
    return {};
}

Result<void> Memory::turnDone(const policy::Policy &policy) {
    const State &state = recorder_.state();
    if (state.bestTurn == 0)
        return {};
    const auto now = hashOf(state.bestCandidate) + strengthOf(state.bestVerdict);
    if (now == lastBest_)
        return {};
    for (const Turn &turn : state.turns) {
        if (turn.number != state.bestTurn || turn.candidate != state.bestCandidate)
            continue;
        CUDA_AGENT_ASSIGN(record, recordOf(state, recorder_.folder(), query_, policy, turn, false));
        CUDA_AGENT_TRY(write({record}));
        lastBest_ = now;
        break;
    }
    return {};
}

Result<void> Memory::ended(const policy::Policy &policy) {
    const State &state = recorder_.state();
    std::vector<Record> records;
    std::set<std::string> seen;
    std::size_t failures = 0;
    // Of one candidate the last verdict counts.
    for (auto turn = state.turns.rbegin(); turn != state.turns.rend(); ++turn) {
        if (!turn->verdict || turn->candidate.empty() ||
            !seen.insert(hashOf(turn->candidate)).second)
            continue;
        const bool best = turn->candidate == state.bestCandidate;
        CUDA_AGENT_ASSIGN(record, recordOf(state, recorder_.folder(), query_, policy, *turn, best));
        // What does not compile is mostly a slip of the pen; not so with the planner's schedules.
        const bool telling = record.compiled || !record.schedule.empty();
        if (best || (!record.correct && telling && ++failures <= mostFailures))
            records.push_back(std::move(record));
    }
    return write(records);
}

} // namespace cuda_agent::agent
