// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/judge/faults.h"
#include "core/judge/state.h"

namespace cuda_agent::judge {

namespace {

constexpr const char *name = "hidden shapes";

/// Whether a candidate that could not be started for other shapes has refused them by that.
bool refuses(const Error &error) {
    return error.kind == ErrorKind::request || error.kind == ErrorKind::failed;
}

} // namespace

Result<void> Judge::State::checkShapes(const Compiled &compiled, Started &run, Verdict &verdict,
                                       device::Share &share, std::stop_token stop) {
    auto &checks = verdict.verification.checks;
    std::vector<std::string> right;
    std::vector<std::string> refused;
    const bool takesOver = canServeAgain(run);
    for (const auto &reshaped : pool->reshaped) {
        std::unique_ptr<plan::LinkedCandidate> none;
        if (takesOver && run.process && !(run.process->sound() && plan::unload(*run.process))) {
            CUDA_AGENT_TRY(endProcess(*run.process, device->info(), verdict, stop));
            run.process.reset();
        }
        auto started =
            startCandidate(compiled, &reshaped, share, stop, takesOver ? run.process : none);
        if (!started) {
            if (!refuses(started.error()))
                return tl::unexpected(started.error());
            refused.push_back(reshaped.change + ": " + started.error().message);
            continue;
        }
        if (const auto *rejection = std::get_if<toolchain::Rejection>(&*started)) {
            refused.push_back(reshaped.change + ": " + rejection->summary);
            continue;
        }
        auto &own = std::get<Started>(*started);
        if (takesOver) // ends with the verdict, also when that is an error
            run.process = std::move(own.process);
        auto &process = takesOver ? *run.process : *own.process;
        CUDA_AGENT_ASSIGN(
            check, verify::verifyReshaped(process, own.set, reshaped, *pool, *device, share, stop));
        const auto fault = process.fault();
        const bool refusal = fault && fault->kind == plan::FaultKind::raised;
        if (check.passed)
            right.push_back(reshaped.change);
        else if (refusal)
            refused.push_back(reshaped.change + ": " + fault->detail);
        else
            checks.push_back(std::move(check));
        if (!takesOver)
            CUDA_AGENT_TRY(endProcess(process, device->info(), verdict, stop));
        if (verdict.verification.failed())
            return {};
    }
    verify::Check check{name, true, right.empty(), {}, {}};
    if (pool->reshaped.empty())
        check.detail = "no constant of the task changes the shapes of its inputs alone";
    else if (right.empty())
        check.detail = "serves the task's own shapes only; " + refused.front();
    else if (refused.empty())
        check.detail = fmt::format("right with {}", fmt::join(right, ", "));
    else
        check.detail = fmt::format("right with {}; {}", fmt::join(right, ", "), refused.front());
    checks.push_back(std::move(check));
    return {};
}

} // namespace cuda_agent::judge
