// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/lease.h"
#include "core/plan/candidate_process.h"
#include "core/reference/worker.h"
#include "core/verify/guarded_set.h"

#include <stop_token>

namespace cuda_agent::verify {

/// The two strengths of one protocol.
enum class Strength { training, full };
std::string_view nameOf(Strength strength); ///< "training", "full"

/// What a verification asks for.
struct Demand {
    Strength strength = Strength::full;
    /// Off where sums are added atomically in a GPU's memory, which makes zeros of those below the
    /// normal numbers (PTX ISA, `atom` and `red`: ".f32 flushes subnormal inputs and results"):
    /// what the case of denormals loses is a flag then.
    bool denormals = true;
};
/// Name of that case.
inline constexpr const char *denormalCase = "denormals";

/// Sealed cases of one task and session: drawn once, expected outputs never leave the engine.
struct Pool {
    std::vector<reference::Case> random;      ///< five where memory allows
    std::vector<reference::Case> adversarial; ///< scales, NaN, Inf, denormals, saturation
    /// Small whole numbers as inputs and parameters, where PyTorch is exact on them: sums and
    /// products of them are, in any order, so one that is left out shows however small its part.
    std::optional<reference::Case> whole;
    /// The same task with other shapes of inputs, where a constant of it changes nothing else: for
    /// candidates that serve the drawn shapes only and do not say so.
    std::vector<reference::ReshapedCase> reshaped;
    std::vector<std::string> notes; ///< what was left out and why
    reference::Worker::Parameters parameters;
    task::Description description;
};

/// Of the device, for one case: its inputs as they are and eight bytes for each element of the
/// outputs.
std::uint64_t caseBytes(const task::Description &description);

/// What drawPool() begins with and needs no memory on the device for; it goes without saying there.
/// On a cpu the device's lease is shared meanwhile. Errors: machine, stopped.
Result<void> lookAhead(reference::Worker &worker, device::Device &device,
                       std::stop_token stop = {});

/// What a pool holds at most: random and adversarial cases, and in full strength whole numbers and
/// hidden shapes.
std::size_t mostCases(Strength strongest);

/// Draws the pool through a worker that is ended before any candidate starts. Seeds come from the
/// operating system and stay here. Cases that the task itself cannot run are left out with a note.
/// Errors: request, also when the task turns out to be unsuitable.
/// Shares the device's lease while a case is drawn and lets go of it between them. `mostBytes`: of
/// the device's memory for all cases; 0: most of what is free. `strongest`: of the verifications
/// that it is for; those in training strength have five cases (random ones, NaN, a scale), and
/// nothing is drawn that only full strength looks at.
Result<Pool> drawPool(reference::Worker &worker, device::Device &device,
                      std::uint64_t mostBytes = 0, Strength strongest = Strength::full,
                      std::stop_token stop = {});

/// Why no candidate can be judged by this task, as the end of a sentence, or nothing: for each of
/// its outputs zeros would pass, or what it is for other inputs (a constant, a mean of noise, a
/// difference that always cancels).
std::string unsuitable(const Pool &pool);

/// The smallest evidence for one failed or passed check.
struct Check {
    std::string name; ///< "random inputs", "guard zones", "inputs unchanged", ...
    bool passed = false;
    bool skipped = false; ///< with the reason in `detail`
    std::string detail;   ///< one sentence
    Json evidence;        ///< case, output, index, expected, got, error, allowed
    /// It failed by other values than expected, and by nothing else that a call may do.
    bool isWrongAnswer() const;
};

struct Report {
    bool correct = false;
    std::vector<Check> checks;      ///< in the order run; the last one is the failed one, if any
    std::vector<std::string> flags; ///< suspicions: "not bitwise deterministic", ...
    const Check *failed() const;
};
Json toJson(const Check &check);

/// How much error one output may have. All norms are absolute.
struct Allowance {
    double errorNorm = 0;
    double maxError = 0;
};
/// Four times the reference's own error, pooled over the random cases as relative errors, with a
/// floor from input sensitivity and from a few units in the last place of the output's dtype, and
/// from gradual underflow: a few of its smallest numbers.
/// Sources: design.md "Verification, the protocol"; Higham, Accuracy and Stability, ch. 3.
Allowance allowanceFor(const reference::ReferenceError &own, const Pool &pool, std::size_t output,
                       DType dtype);
/// The floor alone, for cases on which the reference is exact.
Allowance exactAllowance(const reference::ReferenceError &own, DType dtype);

/// Compares all outputs of one finished call with the sealed case.
/// Returns evidence of the worst violation, or null JSON when everything is within the allowance.
/// Errors: machine.
Result<Json> compareOutputs(device::Device &device, const plan::CallBuffers &buffers,
                            const reference::Case &expected, const Pool &pool);

/// Runs every check on a started candidate that already has `set` bound under number 0: the random
/// and adversarial cases at the same pointers, poisoned outputs, guard zones, inputs unchanged,
/// repeat determinism and, in full strength, misaligned storage and aliasing (they bind number 1).
/// A candidate that faults or hangs fails the check it was in. `share` is held during each case,
/// and others are let in between them.
/// Errors: machine, stopped; a wrong candidate is a report.
Result<Report> verify(plan::CandidateProcess &candidate, GuardedSet &set, const Pool &pool,
                      device::Device &device, device::Share &share, Demand demand,
                      std::stop_token stop = {});

/// One call of a candidate that was started for the shapes of `reshaped` and has `set` bound under
/// number 0, with what runs for every other case. Errors: as verify().
Result<Check> verifyReshaped(plan::CandidateProcess &candidate, GuardedSet &set,
                             const reference::ReshapedCase &reshaped, const Pool &pool,
                             device::Device &device, device::Share &share,
                             std::stop_token stop = {});

/// Calls for the check after the timed runs: on the last random case with the outputs as they are,
/// then on the first with poisoned ones.
Result<Check> verifyAfterTiming(plan::CandidateProcess &candidate, GuardedSet &set,
                                const Pool &pool, device::Device &device);

} // namespace cuda_agent::verify
