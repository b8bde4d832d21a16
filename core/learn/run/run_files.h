// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::learn {

/// The small files of a run's folder as values. The formats: README.md of this folder. All that is
/// read is checked, for the folder may lie on another machine and be written by anybody; a value of
/// the wrong type or out of range is an error that names file and field. Functions that take a
/// folder block on the disk and may be called by any thread.

inline constexpr int runFormat = 1;

/// A stage of the recipe and the steps planned for it; 0 where that is not known beforehand.
struct PlannedStage {
    std::string name;
    std::int64_t steps = 0;
    bool operator==(const PlannedStage &) const = default;
};

/// run.json: what does not change while the run goes on. `recipe` is kept beside it as recipe.toml.
struct RunInfo {
    std::string name;
    std::string recipe; ///< TOML text
    std::uint64_t seed = 0;
    std::string device;                          ///< "cuda0: NVIDIA H200", "cpu"
    std::map<std::string, std::string> versions; ///< of the program, PyTorch, CUDA, the driver
    std::vector<PlannedStage> stages;            ///< in their order
    double started = 0;                          ///< seconds since 1970; RunWriter sets it
};

enum class RunState { running, paused, stopped, done, failed };
/// "running", "paused", ... as status.json has them.
std::string_view nameOf(RunState state);

/// status.json: where the trainer is. Rewritten whole, at most about once a second.
struct RunStatus {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

    RunState state = RunState::running;
    std::string stage;
    std::int64_t step = 0;        ///< of the run, as in metrics.jsonl
    std::int64_t stageStep = 0;   ///< done in this stage
    std::int64_t stageSteps = 0;  ///< planned for this stage; 0 when not known
    std::int64_t tokens = 0;      ///< that the run has seen
    double seconds = 0;           ///< that training has taken, over all starts, without pauses
    double secondsLeft = unknown; ///< estimated for the rest of the run; written only when finite
    std::string error;            ///< one sentence, of `failed`

    // Set by RunWriter:
    std::string start;    ///< names this start of the trainer
    std::string answered; ///< id of the last request that the trainer has read
    double written = 0;   ///< seconds since 1970, by the trainer's clock
};

/// What a running trainer can be asked for.
enum class RunOrder { pause, goOn, stop };
/// "pause", "go-on", "stop".
std::string_view nameOf(RunOrder order);

/// control.json. `start` says which start of the trainer is meant: one that begins later does not
/// obey it, so that yesterday's stop ends nothing today.
struct RunRequest {
    RunOrder order = RunOrder::pause;
    std::string id; ///< unlike every other request's
    std::string start;
};

/// A row of rollouts/step-N/index.jsonl: one sampled trajectory.
struct RolloutRow {
    std::int64_t step = 0;
    std::string task;
    double reward = 0; ///< milestone reward: -1, 1, 2, 3, or another one of the recipe's
    int turns = 0;
    std::string session; ///< folder with session.jsonl, below rollouts/step-N
    std::string note;    ///< why it ended, in a few words; may be empty
};

std::string formatRunInfo(const RunInfo &info);
std::string formatStatus(const RunStatus &status);
std::string formatRequest(const RunRequest &request);
std::string formatRollout(const RolloutRow &row);
/// `what` begins the message of an error. Errors: request.
Result<RunInfo> parseRunInfo(std::string_view text, std::string_view what); ///< without recipe
Result<RunStatus> parseStatus(std::string_view text, std::string_view what);
Result<RunRequest> parseRequest(std::string_view text, std::string_view what);
Result<RolloutRow> parseRollout(std::string_view text, std::string_view what);

/// Where things lie in a run's folder.
std::filesystem::path runInfoFile(const std::filesystem::path &folder);
std::filesystem::path recipeFile(const std::filesystem::path &folder);
std::filesystem::path statusFile(const std::filesystem::path &folder);
std::filesystem::path controlFile(const std::filesystem::path &folder);
std::filesystem::path metricsFile(const std::filesystem::path &folder);
std::filesystem::path rolloutFolder(const std::filesystem::path &folder, std::int64_t step);
std::filesystem::path checkpointFolder(const std::filesystem::path &folder, std::int64_t step);
/// N of a folder's name "step-N"; -1 for other names.
std::int64_t stepOfName(std::string_view name);

/// The text of one of the files above. Anything but a file, such as a pipe, does not hold the
/// caller up. Errors: request (not there, not readable, no file, above 1 MiB).
Result<std::string> readSmallFile(const std::filesystem::path &path);

/// Errors: request (not there, not readable, not of its form, of a newer format).
Result<RunInfo> readRunInfo(const std::filesystem::path &folder);
Result<RunStatus> readStatus(const std::filesystem::path &folder);
Result<RunRequest> readRequest(const std::filesystem::path &folder);

/// Asks the trainer of the run, on whichever machine it is, by control.json; a newer request
/// replaces one that was not read yet. Returns the request; its id comes back in
/// RunStatus::answered. Errors: request (no run, no trainer has begun, it has ended), machine.
Result<RunRequest> askRun(const std::filesystem::path &folder, RunOrder order);

/// Whether some program holds the run's lock. Also true of a trainer on another machine where the
/// file system shares locks (NFS does); false says nothing where it does not.
bool isHeld(const std::filesystem::path &folder);

} // namespace cuda_agent::learn
