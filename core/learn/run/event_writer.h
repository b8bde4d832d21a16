// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/unique_fd.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace cuda_agent::learn {

/// Metrics of one step by name.
using Metrics = std::map<std::string, double>;

/// Writes one TensorBoard event file, `events.out.tfevents.TIME.cuda-agent`: TFRecord frames
/// (tensorflow/core/lib/io/record_writer.h: length in 8 bytes, masked CRC-32C of these, data,
/// masked CRC-32C of the data; little endian) around protobuf `Event` messages
/// (tensorflow/core/util/event.proto: 1 wall_time double, 2 step int64, 3 file_version, 5 summary,
/// 7 session_log with 1 status, START = 1; summary.proto: 1 value with 1 tag and 2 simple_value
/// float). Every file begins with file_version "brain.Event:2". Values are 32-bit floats there:
/// what is too large becomes infinite. Not thread-safe; calls may block on the disk.
class EventFileWriter {
  public:
    /// A file of its own in the folder, named after `time` (seconds since 1970), or after the
    /// second behind the newest one that is there, because readers go by the names. It begins with
    /// a SessionLog START: what older files have at and after `firstStep` is void. The first file
    /// of a run needs one, too: TensorBoard takes the first START it sees for the begin. Errors:
    /// machine.
    static Result<EventFileWriter> create(const std::filesystem::path &folder, double time,
                                          std::int64_t firstStep);

    /// One event with all metrics; it has left the process when this returns. After an error the
    /// file ends with its last whole record. Errors: machine.
    Result<void> add(double time, std::int64_t step, const Metrics &metrics);

    const std::filesystem::path &path() const { return path_; }

  private:
    EventFileWriter(std::filesystem::path path, UniqueFd file)
        : path_(std::move(path)), file_(std::move(file)) {}
    Result<void> append(const std::string &event);

    std::filesystem::path path_;
    UniqueFd file_;
    std::int64_t good_ = 0; ///< bytes of whole records
};

/// A part of the names of the files that this writes.
inline constexpr std::string_view ownEventFiles = ".cuda-agent";

} // namespace cuda_agent::learn
