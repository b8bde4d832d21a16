// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/modules/build.h"
#include "core/modules/rules.h"
#include "core/timing/timing.h"
#include "core/verify/verify.h"

namespace cuda_agent::judge {

/// What a module's sources reach for, held against the rules before anything of it runs: the check
/// "sources" that fails, or none and `flags`.
std::optional<verify::Check> checkSources(const modules::Compiled &built, modules::Rules rules,
                                          std::vector<std::string> &flags);

/// A candidate shares its process with the clock that times it: Python on both devices, host code
/// on the cpu. Where that clock says less than the engine's own rules out, the engine's figure
/// stands.
void letEngineDecide(timing::CandidateTimes &times);

// What a right and timed candidate is looked at for once more. Each of these asks for what a
// candidate cannot know to be a test, by messages that look like the ones before.

/// Single calls by the engine's clock, on inputs that the candidate has seen just before and on
/// inputs that it has never seen. An answer that is remembered, under whatever key (address,
/// contents, what its output holds), is quick on the former only: the check "fresh inputs" fails.
/// Where the process claims too little for a call that the engine has seen (work put off until
/// somebody looks, a clock that was changed), or where its calls in a row are much quicker than one
/// (calls that are left out), `times` gets the flag "host clock disagrees" and the engine's figure.
///
/// Differences below a few milliseconds drown in messages and in other programs. The outputs of a
/// call by the timing message must be there, and right, when it is answered. Errors: machine,
/// stopped.
Result<verify::Check> lookAtFreshInputs(plan::CandidateProcess &process, verify::GuardedSet &set,
                                        const verify::Pool &pool, device::Device &device,
                                        timing::CandidateTimes &times, std::stop_token stop,
                                        const timing::HostClock &clock = timing::steadyClock());

/// What calls without the candidate's own kernels say about them.
struct Contribution {
    verify::Check check;            ///< "knock-out": fails when the outputs are right without any
    std::vector<std::string> flags; ///< launches that change nothing
};
/// Calls once without all launches and once without those of each place, and looks at the outputs.
/// `others`: something else may do the work (library steps, cuBLAS), so kernels that do nothing are
/// flags only. May end the process: it comes last.
/// Errors: machine, stopped.
Result<Contribution> knockOut(plan::CandidateProcess &process, verify::GuardedSet &set,
                              const verify::Pool &pool, device::Device &device, bool others,
                              std::stop_token stop);

} // namespace cuda_agent::judge
