// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/device.h"
#include "core/reference/stock.h"
#include "core/sandbox/sandbox.h"
#include "core/task/task.h"

#include <chrono>
#include <map>
#include <memory>
#include <stop_token>
#include <vector>

namespace cuda_agent::reference {

struct Options {
    task::Numerics numerics = task::Numerics::standard;
    std::chrono::milliseconds loadTimeout{120'000};
    std::chrono::milliseconds caseTimeout{120'000};
    std::chrono::milliseconds compileTimeout{600'000};
    std::uint64_t hostMemoryBytes = 12ull << 30;
    /// Of the processor, for a task on a GPU; 0: all. On a CPU tasks are timed with all.
    unsigned threads = 0;
    /// Processes that serve one task after another: taken before a new one is started, and given
    /// back when nothing went wrong. Of the same device and threads. Empty: each task has its own.
    std::shared_ptr<Stock> stock = {};
};

/// One set of inputs that the worker drew, in shared memory, contiguous or with the task's strides.
struct Inputs {
    std::vector<device::Memory> memory;      ///< one per tensor input
    std::vector<device::TensorView> tensors; ///< views into `memory`
    std::uint64_t bytes() const;
};

/// Parameters, buffers and constants of Description::parameters, by name, in shared memory.
struct Parameters {
    std::vector<device::Memory> memory;
    std::map<std::string, device::TensorView> tensors;
};

/// How much same-precision rounding costs on one output.
struct ReferenceError {
    double errorNorm = 0; ///< ||reference - oracle||_2 over finite elements
    double maxError = 0;
    double oracleNorm = 0;
    double maxOracle = 0;
    /// ||oracle(x (1 + u d)) - oracle(x)||_2 with d uniform in [-1, 1], u the unit roundoff of the
    /// output's dtype: what a backward-stable algorithm may lose on these inputs.
    double sensitivityNorm = 0;
    double sensitivityMax = 0;
    /// How far the expected output is from that of the random case before, relative to its own
    /// norm (of a sample of its elements; 0 or 1 for non-floating ones). Negative where unknown.
    double changeNorm = -1;
    double changeMax = -1;
};

/// Inputs with the expected outputs, sealed in the engine.
struct Case {
    std::string name; ///< "random 1", "scale 64", "nan"
    Inputs inputs;
    std::vector<device::Memory> oracleMemory;
    std::vector<device::TensorView> oracle; ///< see device::ErrorStats for the encoding
    std::vector<ReferenceError> errors;     ///< per output; zeros for non-floating ones
    /// Those of this case alone ("whole": small whole numbers), in place of the task's.
    std::optional<Parameters> parameters;
    /// The reference makes no error at all here, so that nobody's may be more than a few units in
    /// the last place, whatever is allowed elsewhere.
    bool exact = false;
    /// Why the case does not apply to this task ("the task has no floating-point input", or the
    /// error that the task itself raises on such inputs). When set, nothing else is.
    std::string skipped;
    /// What weakens the oracle ("aten.foo has no double implementation; ...").
    std::vector<std::string> notes;
};

/// How to draw a case. `transform` is applied by the worker to floating inputs after drawing.
struct CaseRequest {
    std::string name;
    std::uint64_t seed = 0;
    double scale = 1; ///< multiplies floating inputs
    /// "none" | "nan" | "inf" | "denormal" | "saturate" | "whole"
    std::string transform = "none";
    /// Measure ReferenceError::sensitivity*; costs a second run of the oracle.
    bool sensitivity = true;
};

/// A random case of the same task under a changed module-level constant: other shapes of inputs,
/// the same model and parameters.
struct ReshapedCase {
    task::Spec spec;               ///< with the constant among its overrides
    std::string change;            ///< "batch_size = 37"
    task::Description description; ///< ports and scalars as they are then; no graph, no counts
    /// `skipped` says why that constant does not serve; nothing else is set then.
    Case entry;
};

/// Which baseline. The worker declares TF32 itself for the tf32 ones.
enum class Baseline { eager, compile, eagerTf32, compileTf32, compileMaxAutotune };
std::string_view nameOf(Baseline baseline); ///< "eager", "compile", "eager_tf32", ...

struct BaselineSamples {
    std::vector<double> seconds; ///< per call, one entry a sample
    double hostSeconds = 0;      ///< engine's clock around the request
    double compileSeconds = 0;   ///< first call of a compiled baseline
};

/// A sandboxed Python process that has loaded one task. It is not trusted (task code runs in it):
/// it hands over values, never verdicts. Ends when destroyed; its compile cache stays, one folder
/// per task file content, Python and device under cacheDir()/inductor.
///
/// Not thread-safe. Every call blocks up to its timeout and can be stopped. A worker that a task
/// ended, broke or hung is replaced by a fresh process at the next call.
/// Errors: request, when the task is at fault, with the Python message and line ("task.py:12:
/// ValueError: ...", "the task has no class 'Model'; ..."); machine otherwise.
class Worker {
  public:
    /// Starts the process (importing torch takes seconds) and loads the task with a fixed model
    /// seed. `device` decides where the task runs; it also receives the shared memory.
    static Result<std::unique_ptr<Worker>> start(const task::Spec &spec, device::Device &device,
                                                 const Options &options, std::stop_token stop = {});
    ~Worker();

    /// "torch 2.11.0+cu130, Python 3.12.3", asked for before any code of the task ran.
    const std::string &versions() const;

    /// Does of describe() what needs neither the device nor memory there, where it can be done so:
    /// for whoever waits until there is room on the device.
    Result<void> lookAhead(std::stop_token stop = {});
    /// Runs the task once and counts what that takes: all of describe() that the device does.
    Result<void> run(std::stop_token stop = {});
    /// Loads the task, runs it once, exports the graph.
    Result<task::Description> describe(std::stop_token stop = {});
    /// In the order of the description.
    using Parameters = reference::Parameters;
    Result<Parameters> parameters(std::stop_token stop = {});
    /// Draws only inputs (for timing).
    Result<Inputs> drawInputs(std::uint64_t seed, std::stop_token stop = {});
    /// Draws inputs, runs the same-precision reference and the fp64 oracle.
    Result<Case> makeCase(const CaseRequest &request, std::stop_token stop = {});
    /// A random case with the constant `name` of Description::constants set to `value`.
    Result<ReshapedCase> makeReshaped(const CaseRequest &request, const std::string &name,
                                      std::int64_t value, std::stop_token stop = {});
    /// Compiles a baseline ahead of time(), which then finds Inductor's caches filled. The model's
    /// kernels do not run, so no lease of a CUDA device is needed; eager baselines and
    /// max-autotune, which tunes by measuring, have nothing to prepare. Holds inputs until
    /// release().
    Result<void> prepare(Baseline baseline, std::uint64_t seed, std::stop_token stop = {});
    /// Times one baseline on inputs the worker draws from `seed`; compiles it first if need be.
    Result<BaselineSamples> time(Baseline baseline, std::uint64_t seed, int samples,
                                 double minimumSampleSeconds, std::stop_token stop = {});
    /// The kernels and calls that `torch.compile` generates for the task (Triton on cuda, C++ on
    /// cpu), as text of at most 1 MiB. Compiles anew: seconds.
    Result<std::string> compiledCode(std::uint64_t seed, std::stop_token stop = {});
    /// Frees what the worker holds on the device but keeps the process for later timing.
    Result<void> release();
    /// Ends it and says how it went.
    sandbox::Record finish();

  private:
    struct State;
    explicit Worker(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

} // namespace cuda_agent::reference
