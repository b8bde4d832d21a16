// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/file_lock.h"
#include "core/session/event.h"

#include <filesystem>
#include <functional>
#include <vector>

namespace cuda_agent::session {

inline constexpr int schemaVersion = 1;

/// A session folder: `session.jsonl` (first line: {"schema": 1}), `blobs/<sha256>`, `lock`.
/// One writer at a time (lock); any number of readers at any moment.
/// Not thread-safe: one thread at a time. Every call may block on the disk.
class Log {
  public:
    Log(Log &&) noexcept = default;
    Log &operator=(Log &&) noexcept = default;

    /// Creates the folder (must not hold a session yet). Errors: request, machine.
    static Result<Log> create(const std::filesystem::path &folder);
    /// Opens for appending. A half-written last line (the writer was killed) is cut off and kept
    /// in `session.jsonl.torn`. Errors: request (no session, another writer, newer schema).
    static Result<Log> open(const std::filesystem::path &folder);

    const std::filesystem::path &folder() const { return folder_; }
    std::int64_t nextSequence() const { return next_; }

    /// Appends one event durably (one write, fdatasync on verdicts and ends) and calls the
    /// listener with the event as a reader of the log will see it. On a full disk the log keeps
    /// its last whole line and the error says so; the next append may succeed again.
    /// `data` is an object. Errors: machine; the event is then not in the log.
    Result<Event> append(EventType type, int turn, Json data);
    /// Stores bytes under their SHA-256 and returns the name. Errors: machine.
    Result<std::string> putBlob(std::string_view bytes);

    /// Called after each append, on the appending thread.
    void setListener(std::function<void(const Event &)> listener);

  private:
    Log() = default;
    static Result<Log> lock(const std::filesystem::path &folder);
    Result<void> openFile();
    tl::unexpected<Error> takeBack(int error);

    std::filesystem::path folder_;
    UniqueFd file_;
    FileLock lock_;
    std::int64_t next_ = 0;
    std::int64_t goodBytes_ = 0; ///< the file's size after its last whole line
    std::function<void(const Event &)> listener_;
};

/// Reads a whole log without locking. A torn last line is left out and said in `problem`.
/// Events of types unknown to this program are kept out and counted.
/// Errors: request (no session there, newer schema, broken line in the middle with its number).
struct Contents {
    std::vector<Event> events;
    std::string problem;
    int unknownEvents = 0;
};
Result<Contents> readLog(const std::filesystem::path &folder);
Result<std::string> readBlob(const std::filesystem::path &folder, std::string_view name);

} // namespace cuda_agent::session
