// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::learn {

/// CRC-32C (Castagnoli polynomial, reflected) of the bytes, as RFC 3720 appendix B.4 gives it.
std::uint32_t crc32c(std::string_view bytes);
/// As TFRecord stores it: rotated right by 15 bits, plus 0xa282ead8
/// (tensorflow/core/lib/hash/crc32c.h).
std::uint32_t maskedCrc32c(std::string_view bytes);

/// A number from a TensorBoard event file.
struct EventScalar {
    std::string tag;
    double step = 0;
    double time = 0; ///< seconds since 1970
    double value = 0;
};

/// What a stretch of an event file holds.
struct EventBatch {
    std::vector<EventScalar> scalars;
    /// The writer (re)started: points of this file's folder at or after this step, written before
    /// position `at` of `scalars`, are void (SessionLog START, which `purge_step` writes).
    struct Purge {
        std::size_t at = 0;
        double step = 0;
    };
    std::vector<Purge> purges;
};

/// Reads the bytes of one `events.out.tfevents.*` file as they arrive: TFRecord frames (length,
/// masked CRC-32C of the length, data, masked CRC-32C of the data; little endian) around protobuf
/// `Event` messages (tensorflow/core/util/event.proto, summary.proto, tensor.proto), of which the
/// scalars are kept: `simple_value`, and tensors of one number whose plugin is "scalars" or none.
/// Everything else (images, histograms, graphs, text) is passed over. No dependency on protobuf;
/// the bytes are untrusted. Not thread-safe.
class EventFileReader {
  public:
    /// Takes the next bytes of the file. A torn record waits for the rest.
    void feed(std::string_view bytes, EventBatch &out);

    /// Records whose data did not match their checksum or were no Event; passed over.
    std::size_t badRecords() const { return bad_; }
    /// The frame itself is wrong: where the next record begins is unknown, nothing more is read.
    bool broken() const { return broken_; }
    /// Of the frame that is wrong, from the file's begin.
    std::uint64_t position() const { return position_; }
    /// Bytes of a record that is not whole yet.
    std::size_t pending() const { return buffer_.size(); }

  private:
    std::string buffer_;
    std::uint64_t position_ = 0;
    std::uint64_t skip_ = 0; ///< of a record too long to be a scalar's
    std::size_t bad_ = 0;
    bool broken_ = false;
};

} // namespace cuda_agent::learn
