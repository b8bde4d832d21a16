// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/channel.h"
#include "core/policy/transformer/model_protocol.h"

namespace cuda_agent::learn {

struct ServeRequest {
    std::filesystem::path weights;
    std::string device = "auto"; ///< "auto", "cuda" (the first that CUDA sees) or "cpu"
    int rows = 0;                ///< conversations at once; 0: 64 on a GPU, 4 on a CPU
    int threads = 0;             ///< of PyTorch on a CPU; 0: its default
    policy::Drawing drawing;     ///< of conversations that do not say
};

/// Loads the weights and writes conversations with them for whoever is at the other end of
/// `channel`, until that one ends it or `stop`: the messages are in this folder's README.md. What
/// makes it end is told there, too. Blocks. Errors: request (the weights are unusable; the other
/// end does not keep to the protocol's frames), machine (no such device, too little memory),
/// stopped.
Result<void> serve(const ServeRequest &request, Channel channel, const std::stop_token &stop);

} // namespace cuda_agent::learn
