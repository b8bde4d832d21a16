// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/learn/run/event_file.h"

#include <bit>
#include <cstdint>
#include <string>

/// Writes TensorBoard event files byte by byte, independently of the reader's code for messages.
namespace cuda_agent::learn::event_bytes {

inline std::string little(std::uint64_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i)
        text += static_cast<char>(value >> (8 * i) & 255);
    return text;
}

inline std::string varint(std::uint64_t value) {
    std::string text;
    for (; value > 127; value >>= 7)
        text += static_cast<char>((value & 127) | 128);
    return text + static_cast<char>(value);
}

inline std::string number(int field, std::uint64_t value) {
    return varint(static_cast<std::uint64_t>(field) << 3) + varint(value);
}
inline std::string bytes(int field, const std::string &content) {
    return varint(static_cast<std::uint64_t>(field) << 3 | 2) + varint(content.size()) + content;
}
inline std::string fixed32(int field, float value) {
    return varint(static_cast<std::uint64_t>(field) << 3 | 5) +
           little(std::bit_cast<std::uint32_t>(value), 4);
}
inline std::string fixed64(int field, double value) {
    return varint(static_cast<std::uint64_t>(field) << 3 | 1) +
           little(std::bit_cast<std::uint64_t>(value), 8);
}

/// TFRecord's frame.
inline std::string record(const std::string &data) {
    const std::string length = little(data.size(), 8);
    return length + little(maskedCrc32c(length), 4) + data + little(maskedCrc32c(data), 4);
}

inline std::string eventOf(double time, std::int64_t step, const std::string &rest) {
    return record(fixed64(1, time) + number(2, static_cast<std::uint64_t>(step)) + rest);
}
inline std::string summary(const std::string &values) {
    return bytes(5, values);
}
inline std::string simple(const std::string &tag, float value) {
    return bytes(1, bytes(1, tag) + fixed32(2, value));
}
inline std::string tensor(const std::string &tag, const std::string &content,
                          const std::string &plugin = "scalars") {
    return bytes(1, bytes(1, tag) + bytes(9, bytes(1, bytes(1, plugin))) + bytes(8, content));
}
inline std::string version() {
    return record(fixed64(1, 100) + bytes(3, "brain.Event:2"));
}

} // namespace cuda_agent::learn::event_bytes
