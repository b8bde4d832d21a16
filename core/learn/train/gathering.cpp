// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/gathering.h"

#include "core/base/json.h"
#include "core/base/temporary_folder.h"

#include <algorithm>

namespace cuda_agent::learn {

namespace {

constexpr std::size_t largest = std::size_t{1} << 40;

/// A line of JSON, then a file of trajectories. Errors: machine.
Result<std::string> packed(const Collected &collected) {
    const Json head{{"asked", collected.asked},
                    {"stragglers", collected.stragglers},
                    {"failures", collected.machineFailures},
                    {"unusable", collected.unusable},
                    {"problem", collected.problem},
                    {"seconds", collected.seconds},
                    {"writing", collected.writing},
                    {"written", collected.written},
                    {"guessed", collected.guessed},
                    {"held_up", collected.heldUp},
                    {"judging", collected.judging},
                    {"waiting", collected.waiting},
                    {"preparing", collected.preparing},
                    {"phases", collected.phases}};
    CUDA_AGENT_ASSIGN(folder, TemporaryFolder::make("gathering"));
    const auto file = folder.path() / "trajectories.safetensors";
    CUDA_AGENT_TRY(writeTrajectories(file, collected.trajectories));
    CUDA_AGENT_ASSIGN(bytes, readTextFile(file, largest));
    return head.dump(-1, ' ', false, Json::error_handler_t::replace) + '\n' + bytes;
}

Result<Collected> unpacked(const std::string &text) {
    const auto end = text.find('\n');
    CUDA_AGENT_ASSIGN(head, parseJson(std::string_view(text).substr(0, end), "what was gathered"));
    Collected collected;
    collected.asked = head.at("asked").get<std::int64_t>();
    collected.stragglers = head.at("stragglers").get<std::int64_t>();
    collected.machineFailures = head.at("failures").get<std::int64_t>();
    collected.unusable = head.at("unusable").get<std::int64_t>();
    collected.problem = head.at("problem").get<std::string>();
    collected.seconds = head.at("seconds").get<double>();
    collected.writing = head.at("writing").get<double>();
    collected.written = head.at("written").get<std::int64_t>();
    collected.guessed = head.at("guessed").get<std::int64_t>();
    collected.heldUp = head.at("held_up").get<double>();
    collected.judging = head.at("judging").get<double>();
    collected.waiting = head.at("waiting").get<double>();
    collected.preparing = head.at("preparing").get<double>();
    collected.phases = head.at("phases").get<std::map<std::string, double>>();
    CUDA_AGENT_ASSIGN(folder, TemporaryFolder::make("gathering"));
    const auto file = folder.path() / "trajectories.safetensors";
    CUDA_AGENT_TRY(writeFileAtomically(file, std::string_view(text).substr(end + 1)));
    CUDA_AGENT_ASSIGN(trajectories, readTrajectories(file));
    collected.trajectories = std::move(trajectories);
    return collected;
}

void append(Collected &to, Collected from) {
    to.asked += from.asked;
    to.stragglers += from.stragglers;
    to.machineFailures += from.machineFailures;
    to.unusable += from.unusable;
    if (!from.problem.empty())
        to.problem = from.problem;
    to.seconds = std::max(to.seconds, from.seconds); // at the same time
    to.writing = std::max(to.writing, from.writing);
    to.written += from.written;
    to.guessed += from.guessed;
    to.heldUp = std::max(to.heldUp, from.heldUp);
    to.judging += from.judging;
    to.waiting += from.waiting;
    to.preparing += from.preparing;
    for (const auto &[phase, seconds] : from.phases)
        to.phases[phase] += seconds;
    for (auto &one : from.trajectories)
        to.trajectories.push_back(std::move(one));
}

} // namespace

Result<Collected> gathered(Processes &processes, Result<Collected> mine) {
    if (processes.size() == 1)
        return mine;
    auto bytes = mine ? packed(*mine) : Result<std::string>(tl::unexpected(mine.error()));
    CUDA_AGENT_TRY(processes.agreed(bytes ? Result<void>() : tl::unexpected(bytes.error())));
    Collected all;
    bool first = true;
    for (const auto &each : processes.gather(*bytes)) {
        CUDA_AGENT_ASSIGN(part, unpacked(each));
        if (!std::exchange(first, false) && !processes.onOneMachine())
            for (auto &one : part.trajectories)
                one.session.clear();
        append(all, std::move(part));
    }
    std::ranges::stable_sort(all.trajectories, {}, &Trajectory::place);
    return all;
}

} // namespace cuda_agent::learn
