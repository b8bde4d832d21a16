// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/base/unique_fd.h"

#include <chrono>
#include <span>
#include <stop_token>
#include <vector>

namespace cuda_agent {

/// One message between the engine and a worker: a JSON object and the descriptors it lends.
struct Message {
    Json body;
    std::vector<UniqueFd> fds;
};

/// A framed message stream over a Unix stream socket, the one protocol between the engine and its
/// workers (reference worker, plan runner, compile worker).
///
/// Wire format, both directions: a header of two little-endian uint32 (number of payload bytes,
/// number of descriptors), then the payload, one JSON object as UTF-8. The descriptors ride as
/// SCM_RIGHTS on the first byte of the header, at most 128 of them. The peer is not trusted:
/// lengths above 64 MiB, too many descriptors, a cut-off frame or text that is not a JSON object
/// are an error of kind machine ("worker ... sent ...").
///
/// Not thread-safe: one thread at a time.
class Channel {
  public:
    Channel() = default;
    explicit Channel(UniqueFd socket) : socket_(std::move(socket)) {}

    /// A connected pair: the engine's end and the descriptor to hand to the child.
    static Result<std::pair<Channel, UniqueFd>> makePair();

    /// Blocks until everything is written, at most about 30 s. Errors: machine, when the peer is
    /// gone or does not read.
    Result<void> send(const Json &body, std::span<const int> fds = {});

    /// Blocks for one whole message, at most `timeout` (zero or less: no limit).
    /// Errors: machine (peer gone, malformed; the message starts "timed out" on a timeout),
    /// stopped.
    Result<Message> receive(std::chrono::milliseconds timeout, std::stop_token stop = {});

    int fd() const { return socket_.get(); }
    void close() { socket_.reset(); }

  private:
    UniqueFd socket_;
};

} // namespace cuda_agent
