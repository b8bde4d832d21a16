// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <optional>
#include <stop_token>
#include <string>

namespace cuda_agent::widgets {

/// Where keys of endpoints are kept beyond the run of the program, under their base URL. Every
/// member blocks, for a person who types a password too, and may be called from any thread.
/// Errors: machine (the store is not there or refuses; the message says which), stopped.
class SecretStore {
  public:
    virtual ~SecretStore() = default;
    /// Nothing when there is none for that URL.
    virtual Result<std::optional<std::string>> find(const std::string &baseUrl,
                                                    std::stop_token stop) = 0;
    /// Replaces the one that is there.
    virtual Result<void> keep(const std::string &baseUrl, const std::string &key,
                              std::stop_token stop) = 0;
    /// Also when there is none.
    virtual Result<void> forget(const std::string &baseUrl, std::stop_token stop) = 0;
};

} // namespace cuda_agent::widgets
