// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/run/event_writer.h"

#include "core/base/descriptor_io.h"
#include "core/learn/run/event_file.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace cuda_agent::learn {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view head = "events.out.tfevents.";

void little(std::string &out, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i)
        out += static_cast<char>(value >> (8 * i) & 255);
}

void varint(std::string &out, std::uint64_t value) {
    for (; value > 127; value >>= 7)
        out += static_cast<char>((value & 127) | 128);
    out += static_cast<char>(value);
}

// Keys of protobuf fields: number and wire type (0 varint, 1 eight bytes, 2 bytes, 5 four bytes).
void key(std::string &out, unsigned number, unsigned wire) {
    varint(out, number << 3 | wire);
}
void bytes(std::string &out, unsigned number, std::string_view content) {
    key(out, number, 2);
    varint(out, content.size());
    out += content;
}
void whole(std::string &out, unsigned number, std::int64_t value) {
    key(out, number, 0);
    varint(out, static_cast<std::uint64_t>(value));
}

std::string eventHead(double time, std::int64_t step) {
    std::string event;
    key(event, 1, 1);
    little(event, std::bit_cast<std::uint64_t>(time), 8);
    whole(event, 2, step);
    return event;
}

} // namespace

Result<EventFileWriter> EventFileWriter::create(const fs::path &folder, double time,
                                                std::int64_t firstStep) {
    auto second = static_cast<std::int64_t>(time);
    std::error_code failed;
    for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
         entry.increment(failed)) {
        const std::string name = entry->path().filename().string();
        if (name.starts_with(head))
            second = std::max(second, std::int64_t{std::atoll(name.c_str() + head.size())} + 1);
    }
    const auto path = folder / fmt::format("{}{:010}{}", head, second, ownEventFiles);
    UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644));
    if (!file)
        return machineError("cannot write {}: {}", path.string(), std::strerror(errno));
    EventFileWriter writer(path, std::move(file));
    std::string version;
    key(version, 1, 1);
    little(version, std::bit_cast<std::uint64_t>(time), 8);
    bytes(version, 3, "brain.Event:2");
    CUDA_AGENT_TRY(writer.append(version));
    std::string start, event = eventHead(time, firstStep);
    whole(start, 1, 1);
    bytes(event, 7, start);
    CUDA_AGENT_TRY(writer.append(event));
    return writer;
}

Result<void> EventFileWriter::add(double time, std::int64_t step, const Metrics &metrics) {
    std::string summary, value;
    for (const auto &[name, number] : metrics) {
        value.clear();
        bytes(value, 1, name);
        key(value, 2, 5);
        little(value, std::bit_cast<std::uint32_t>(static_cast<float>(number)), 4);
        bytes(summary, 1, value);
    }
    std::string event = eventHead(time, step);
    bytes(event, 5, summary);
    return append(event);
}

Result<void> EventFileWriter::append(const std::string &event) {
    std::string record;
    little(record, event.size(), 8);
    little(record, maskedCrc32c(record), 4);
    record += event;
    little(record, maskedCrc32c(event), 4);
    if (!writeWhole(file_.get(), record)) {
        const int reason = errno;
        std::ignore = ::ftruncate(file_.get(), good_);
        return machineError("cannot write {}: {}", path_.string(), std::strerror(reason));
    }
    good_ += static_cast<std::int64_t>(record.size());
    return {};
}

} // namespace cuda_agent::learn
