// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/proposer.h"

#include "core/base/parallel.h"

#include <thread>

namespace cuda_agent::synthesis {

namespace {

constexpr std::size_t portion = 32;                ///< candidates a request
constexpr std::chrono::seconds startPatience{180}; ///< a cold disk and PyTorch
constexpr std::chrono::seconds patience{600};
constexpr std::uint64_t memoryBytes = 4ull << 30;

/// What maker/propose.py takes.
Json forPython(const Recipe &recipe, const std::filesystem::path &against) {
    Json json = toJson(recipe);
    json["sources"].erase("endpoint"); // asked for by the engine
    json["against"] = against.string();
    return json;
}

} // namespace

Proposer::Proposer(const Recipe &recipe, std::filesystem::path scratch,
                   std::filesystem::path against)
    : recipe_(forPython(recipe, against.empty() ? "" : "/against")), scratch_(std::move(scratch)),
      against_(std::move(against)) {}

Result<MakerProcess> Proposer::start(int number, std::stop_token stop) {
    MakerProcess::Options options;
    options.program = "propose_main.py";
    options.cache = scratch_ / fmt::format("proposer-{}", number);
    options.hostMemoryBytes = memoryBytes;
    if (!against_.empty())
        options.mounts.push_back({std::filesystem::absolute(against_), "/against", false});
    CUDA_AGENT_ASSIGN(process, MakerProcess::start(options));
    CUDA_AGENT_ASSIGN(
        answer, process.ask({{"request", "hello"}, {"recipe", recipe_}}, startPatience, stop));
    if (const auto *refusal = std::get_if<Refusal>(&answer))
        return machineError("{}", refusal->message);
    if (const auto *ended = std::get_if<Ended>(&answer))
        return machineError("the proposer did not start: {}", ended->what);
    {
        const std::lock_guard lock(*mutex_);
        versions_ = std::get<Json>(answer);
    }
    return std::move(process);
}

Result<Json> Proposer::ask(MakerProcess &process, const Json &request, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(answer, process.ask(request, patience, std::move(stop)));
    if (const auto *refusal = std::get_if<Refusal>(&answer))
        return refusal->request ? requestError("{}", refusal->message)
                                : machineError("{}", refusal->message);
    if (const auto *ended = std::get_if<Ended>(&answer))
        return machineError("the proposer ended: {}", ended->what);
    return std::move(std::get<Json>(answer));
}

Result<Json> Proposer::versions(std::stop_token stop) {
    if (processes_.empty()) {
        CUDA_AGENT_ASSIGN(process, start(0, std::move(stop)));
        processes_.push_back(std::move(process));
    }
    return versions_;
}

Result<Json> Proposer::crawl(std::stop_token stop) {
    CUDA_AGENT_TRY(versions(stop));
    return ask(processes_.front(), {{"request", "crawl"}}, stop);
}

Result<std::vector<Candidate>> Proposer::propose(std::size_t from, std::size_t to,
                                                 const std::function<void(std::size_t)> &done,
                                                 std::stop_token stop) {
    const std::size_t portions = (to - from + portion - 1) / portion;
    const auto wanted =
        std::min<std::size_t>(portions, std::max(1u, std::thread::hardware_concurrency()));
    // Each takes seconds to import PyTorch, so all start at once.
    using Started = std::optional<MakerProcess>;
    const auto known = processes_.size();
    if (known < wanted) {
        const auto make = [&](std::size_t i) -> Result<Started> {
            CUDA_AGENT_ASSIGN(process, start(static_cast<int>(known + i), stop));
            return Started(std::move(process));
        };
        CUDA_AGENT_ASSIGN(
            started,
            parallelResults<Started>(wanted - known, static_cast<unsigned>(wanted - known), make));
        for (auto &process : started)
            processes_.push_back(std::move(*process));
    }
    std::mutex mutex;
    std::vector<MakerProcess *> idle;
    for (auto &process : processes_)
        idle.push_back(&process);
    const auto make = [&](std::size_t part) -> Result<std::vector<Candidate>> {
        MakerProcess *process = nullptr;
        {
            const std::lock_guard lock(mutex);
            process = idle.back();
            idle.pop_back();
        }
        const auto first = from + part * portion;
        auto answer = ask(
            *process,
            {{"request", "propose"}, {"from", first}, {"to", std::min(first + portion, to)}}, stop);
        {
            const std::lock_guard lock(mutex);
            idle.push_back(process);
        }
        if (!answer)
            return tl::unexpected(answer.error());
        std::vector<Candidate> candidates;
        for (const auto &json : (*answer)["candidates"]) {
            auto candidate = candidateFromJson(json);
            if (!candidate)
                return machineError("the proposer sent {}", candidate.error().message);
            candidates.push_back(std::move(*candidate));
        }
        done(candidates.size());
        return candidates;
    };
    CUDA_AGENT_ASSIGN(parts, parallelResults<std::vector<Candidate>>(
                                 portions, static_cast<unsigned>(wanted), make));
    std::vector<Candidate> all;
    for (auto &part : parts)
        std::ranges::move(part, std::back_inserter(all));
    return all;
}

Result<void> Proposer::look(Candidate &candidate, std::stop_token stop) {
    CUDA_AGENT_TRY(versions(stop));
    CUDA_AGENT_ASSIGN(
        answer, ask(processes_.front(), {{"request", "screen"}, {"code", candidate.code}}, stop));
    if (const auto problem = answer.find("problem"); problem != answer.end()) {
        candidate.rejected = notPython;
        candidate.detail = problem->get<std::string>();
        return {};
    }
    Json whole = toJson(candidate);
    whole.update(answer);
    CUDA_AGENT_ASSIGN(looked, candidateFromJson(whole));
    candidate = std::move(looked);
    return {};
}

} // namespace cuda_agent::synthesis
