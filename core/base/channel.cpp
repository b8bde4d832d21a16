// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/channel.h"

#include "core/base/untrusted_json.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace cuda_agent {

namespace {

constexpr std::uint32_t largestPayload = 64u << 20;
constexpr std::uint32_t mostDescriptors = 128;
/// How often a blocked receive looks at its stop token.
constexpr int pollMilliseconds = 50;

struct Header {
    std::uint32_t bytes;
    std::uint32_t descriptors;
};
static_assert(sizeof(Header) == 8);

using Clock = std::chrono::steady_clock;

/// A deadline and a stop token for one receive.
class Wait {
  public:
    Wait(std::chrono::milliseconds timeout, std::stop_token stop)
        : stop_(std::move(stop)), limited_(timeout.count() > 0), end_(Clock::now() + timeout),
          timeout_(timeout) {}

    Result<void> readable(int fd) const {
        for (;;) {
            if (stop_.stop_requested())
                return stoppedError();
            pollfd entry{fd, POLLIN, 0};
            int slice = stop_.stop_possible() ? pollMilliseconds : 1000;
            if (limited_) {
                const auto left =
                    std::chrono::ceil<std::chrono::milliseconds>(end_ - Clock::now()).count();
                if (left <= 0)
                    return machineError("timed out: no answer from the worker within {:.1f} s",
                                        static_cast<double>(timeout_.count()) / 1000);
                slice = static_cast<int>(std::min<std::int64_t>(slice, left));
            }
            const int ready = ::poll(&entry, 1, slice);
            if (ready > 0)
                return {};
            if (ready < 0 && errno != EINTR)
                return machineError("cannot wait for the worker: {}", std::strerror(errno));
        }
    }

  private:
    std::stop_token stop_;
    bool limited_;
    Clock::time_point end_;
    std::chrono::milliseconds timeout_;
};

Result<void> readExactly(int fd, char *to, std::size_t bytes, const Wait &wait,
                         std::vector<UniqueFd> *descriptors) {
    while (bytes > 0) {
        CUDA_AGENT_TRY(wait.readable(fd));
        alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * mostDescriptors)> control;
        iovec vector{to, bytes};
        msghdr message{};
        message.msg_iov = &vector;
        message.msg_iovlen = 1;
        message.msg_control = control.data();
        message.msg_controllen = control.size();
        const auto count = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        if (count < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (count < 0)
            return machineError("cannot read from the worker: {}", std::strerror(errno));
        // Own every descriptor that arrived, also the uninvited ones, so that none leaks.
        for (auto *part = CMSG_FIRSTHDR(&message); part; part = CMSG_NXTHDR(&message, part)) {
            if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
                continue;
            const auto number = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            for (std::size_t i = 0; i < number; ++i) {
                int received = -1;
                std::memcpy(&received, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
                UniqueFd owned(received);
                if (descriptors)
                    descriptors->push_back(std::move(owned));
            }
        }
        if (count == 0)
            return machineError("the worker ended without an answer");
        to += count;
        bytes -= static_cast<std::size_t>(count);
    }
    return {};
}

} // namespace

Result<std::pair<Channel, UniqueFd>> Channel::makePair() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return machineError("cannot make a socket pair: {}", std::strerror(errno));
    // A worker that stops reading must not hold the engine for ever.
    const timeval patience{30, 0};
    ::setsockopt(ends[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    return std::pair<Channel, UniqueFd>(Channel(UniqueFd(ends[0])), UniqueFd(ends[1]));
}

Result<void> Channel::send(const Json &body, std::span<const int> fds) {
    const std::string payload = body.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (payload.size() > largestPayload || fds.size() > mostDescriptors)
        return machineError("a message of {} bytes and {} descriptors is too large for a worker",
                            payload.size(), fds.size());
    const Header header{static_cast<std::uint32_t>(payload.size()),
                        static_cast<std::uint32_t>(fds.size())};
    std::string frame(reinterpret_cast<const char *>(&header), sizeof header);
    frame += payload;

    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * mostDescriptors)> control{};
    std::size_t done = 0;
    while (done < frame.size()) {
        iovec vector{frame.data() + done, frame.size() - done};
        msghdr message{};
        message.msg_iov = &vector;
        message.msg_iovlen = 1;
        if (done == 0 && !fds.empty()) {
            message.msg_control = control.data();
            message.msg_controllen = CMSG_SPACE(fds.size_bytes());
            auto *part = CMSG_FIRSTHDR(&message);
            part->cmsg_level = SOL_SOCKET;
            part->cmsg_type = SCM_RIGHTS;
            part->cmsg_len = CMSG_LEN(fds.size_bytes());
            std::memcpy(CMSG_DATA(part), fds.data(), fds.size_bytes());
        }
        const auto count = ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return machineError("cannot write to the worker: {}", std::strerror(errno));
        done += static_cast<std::size_t>(count);
    }
    return {};
}

Result<Message> Channel::receive(std::chrono::milliseconds timeout, std::stop_token stop) {
    const Wait wait(timeout, std::move(stop));
    Message message;
    Header header{};
    CUDA_AGENT_TRY(readExactly(socket_.get(), reinterpret_cast<char *>(&header), sizeof header,
                               wait, &message.fds));
    if (header.bytes > largestPayload || header.descriptors > mostDescriptors ||
        header.descriptors != message.fds.size())
        return machineError("the worker sent a malformed frame ({} bytes, {} descriptors)",
                            header.bytes, header.descriptors);
    std::string payload(header.bytes, '\0');
    CUDA_AGENT_TRY(readExactly(socket_.get(), payload.data(), payload.size(), wait, nullptr));
    message.body = parseUntrusted(payload);
    if (!message.body.is_object())
        return machineError("the worker sent something that is not a JSON object");
    return message;
}

} // namespace cuda_agent
