// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/file_lock.h"
#include "core/learn/run/event_writer.h"
#include "core/learn/run/run_files.h"

#include <chrono>
#include <optional>
#include <stop_token>

namespace cuda_agent::learn {

/// The trainer's side of a run's folder. Whatever was logged has left the process when the call
/// returns, so that a kill at any moment loses at most the row being written. While one writer
/// holds the folder's lock no other can be made. Not thread-safe; calls may block on the disk.
class RunWriter {
  public:
    /// Begins a run: makes the folder, which must not hold a run yet. `info.started` is set here.
    /// Errors: request (holds a run, another writer), machine.
    static Result<RunWriter> create(const std::filesystem::path &folder, RunInfo info);

    /// Goes on with a run, from a checkpoint after which `nextStep` is the step to do next: rows of
    /// metrics.jsonl at or after it are cut off, as is a torn last line; a new event file tells
    /// TensorBoard the same; rollouts of those steps are removed. Errors: request (no run there,
    /// another writer, newer format), machine.
    static Result<RunWriter> resume(const std::filesystem::path &folder, std::int64_t nextStep);

    RunWriter(RunWriter &&) noexcept = default;
    RunWriter &operator=(RunWriter &&) = delete;
    /// Writes a status that was held back. The state stays what was set last.
    ~RunWriter();

    const std::filesystem::path &folder() const { return folder_; }
    const RunInfo &info() const { return info_; }

    /// Writes a row: at least one metric, names as in metric_names.h (any UTF-8 of 1 to 200 bytes
    /// without control characters), values of any kind, also NaN and infinite. Steps do not fall
    /// from call to call; several rows of one step are allowed (an evaluation after it). The metric
    /// "train/tokens" is the row's place on an axis of tokens. Errors: request (step, names),
    /// machine (disk full, ...): the row is then not in metrics.jsonl, and the next may succeed.
    Result<void> log(std::int64_t step, std::string_view stage, const Metrics &metrics);

    /// Tells where the trainer is. Written at once when state, stage or error are other ones than
    /// before, else at most once a second: a status between is replaced by the next. Ends of a run
    /// are told by state stopped, done or failed. `start`, `answered` and `written` are set here.
    /// Errors: machine.
    Result<void> setStatus(const RunStatus &status);
    const RunStatus &status() const { return status_; }

    enum class Asked { nothing, pause, stop };
    /// What somebody wants, to be asked between steps; cheap, the file is looked at four times a
    /// second at most. Pause holds until somebody asks to go on; stop stays. Requests that were
    /// meant for an earlier start of the trainer, and such that cannot be read, are passed over.
    Asked requested();
    /// Returns at once unless a pause is asked for. Else says `paused` in the status and waits
    /// until somebody asks to go on (status `running` again, Asked::nothing) or to stop, or until
    /// `stop` is requested (Asked::stop). `seconds` of the status does not count the wait.
    Asked waitWhilePaused(const std::stop_token &stop);

    /// Adds a sampled trajectory to the index of its step; the folder of the session lies, or will
    /// lie, at rolloutFolder(folder(), row.step) / row.session. Errors: request (a session outside
    /// of it), machine.
    Result<void> addRollout(const RolloutRow &row);

  private:
    using Clock = std::chrono::steady_clock;

    RunWriter() = default;
    static Result<RunWriter> lock(const std::filesystem::path &folder);
    Result<void> begin(double time, std::int64_t firstStep);
    Result<void> cutRows(std::int64_t nextStep);
    Result<void> writeStatus();

    std::filesystem::path folder_;
    FileLock lock_;
    UniqueFd metrics_;
    std::optional<EventFileWriter> events_;
    RunInfo info_;
    RunStatus status_;
    Clock::time_point statusWritten_{}, looked_{};
    Asked asked_ = Asked::nothing;
    std::int64_t goodBytes_ = 0; ///< of metrics.jsonl, after its last whole row
    std::int64_t lastStep_ = 0;
    bool heldBack_ = false; ///< status_ is newer than the file
};

} // namespace cuda_agent::learn
