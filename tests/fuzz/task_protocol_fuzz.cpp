// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Frames of the channel, as a worker that runs a task's or a candidate's code may send them.
//
// The input is what the worker writes. What it lends is shared memory: one descriptor for each byte
// before the first newline, '0' to '9' for sizes of 0 to 4608 bytes, anything else for a descriptor
// that is no memory. All after that newline goes out as it is.

#include "core/device/device.h"
#include "core/modules/rules.h"
#include "core/reference/received.h"
#include "core/task/task.h"
#include "tests/fuzz/fuzz.h"

#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

using namespace cuda_agent;

namespace {

constexpr std::size_t mostLent = 8;

UniqueFd lent(char kind) {
    if (kind < '0' || kind > '9')
        return UniqueFd(::open("/dev/null", O_RDWR | O_CLOEXEC));
    UniqueFd memory(::memfd_create("lent", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    fuzz::require(memory && ::ftruncate(memory.get(), (kind - '0') * 512) == 0,
                  "this machine makes shared memory");
    return memory;
}

/// Writes everything with the descriptors on the first byte, without ever blocking.
void sendAs(int socket, std::string_view bytes, const std::vector<UniqueFd> &descriptors) {
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * mostLent)] = {};
    iovec vector{const_cast<char *>(bytes.data()), bytes.size()};
    msghdr message{};
    message.msg_iov = &vector;
    message.msg_iovlen = 1;
    if (!descriptors.empty()) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptors.size());
        auto *part = CMSG_FIRSTHDR(&message);
        part->cmsg_level = SOL_SOCKET;
        part->cmsg_type = SCM_RIGHTS;
        part->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
        for (std::size_t i = 0; i < descriptors.size(); ++i) {
            const int fd = descriptors[i].get();
            std::memcpy(CMSG_DATA(part) + i * sizeof fd, &fd, sizeof fd);
        }
    }
    (void)!::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/// A frame around a text, so that a mutation need not get the length right.
std::string framed(std::string_view payload, std::size_t descriptors) {
    const std::uint32_t header[2] = {static_cast<std::uint32_t>(payload.size()),
                                     static_cast<std::uint32_t>(descriptors)};
    std::string frame(reinterpret_cast<const char *>(header), sizeof header);
    return frame += payload;
}

void readBody(Message &message, device::Device &device) {
    if (const auto described = task::descriptionFromJson(message.body)) {
        const auto json = described->toJson();
        const auto again = task::descriptionFromJson(json);
        fuzz::require(again.has_value(), "a description that was read can be written and read");
        fuzz::require(again->toJson() == json, "and stays the same");
    }
    if (const auto audit = modules::auditFromJson(message.body)) {
        (void)modules::toJson(*audit);
        const modules::Candidate candidate;
        (void)modules::judgeOrigin(modules::Rules::published, *audit, candidate, {});
        (void)modules::judgeOrigin(modules::Rules::kernelbench, *audit, candidate, {});
    }
    (void)reference::receiveAmount(message.body, "compile_seconds");
    for (const char *key : {"inputs", "oracle"}) {
        const auto received = reference::receiveTensors(message, key, device);
        if (!received)
            continue;
        for (const auto &view : received->tensors) {
            fuzz::require(view.offset + view.type.spanBytes() <= view.memory->bytes(),
                          "a tensor lies in its memory");
            const auto bytes = std::min<std::size_t>(view.type.spanBytes(), 4608);
            (void)device.digest(*view.memory, view.offset, bytes, 1);
        }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    static const auto device = device::openCpu();
    fuzz::require(device.has_value(), "the cpu device opens");
    const auto text = fuzz::textOf(data, size);
    const auto line = text.find('\n');
    if (line == text.npos || line > mostLent || size > 64'000)
        return 0;
    std::vector<UniqueFd> descriptors;
    for (const char kind : text.substr(0, line))
        descriptors.push_back(lent(kind));
    const auto rest = text.substr(line + 1);
    // A text is framed here; anything else is taken for frames.
    const bool payload = rest.starts_with('{');
    const auto bytes = payload ? framed(rest, descriptors.size()) : std::string(rest);
    auto ends = Channel::makePair();
    fuzz::require(ends.has_value(), "this machine makes socket pairs");
    if (!bytes.empty())
        sendAs(ends->second.get(), bytes, descriptors);
    ends->second.reset();
    for (;;) {
        auto message = ends->first.receive(std::chrono::milliseconds(2000));
        if (!message) {
            fuzz::require(!message.error().message.starts_with("timed out"),
                          "nobody waits for a worker that is gone");
            return 0;
        }
        readBody(*message, **device);
    }
}
