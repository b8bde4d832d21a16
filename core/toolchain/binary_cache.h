// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/toolchain/compiler.h"

#include <filesystem>
#include <optional>
#include <string>

namespace cuda_agent::toolchain {

/// Compiled sources by the hash of all that went into them: one folder each,
/// `<folder>/<hash>/binary<extension>` beside `facts.json`. Entries appear by one rename, so that a
/// reader in any process sees a whole one or none; a damaged one counts as absent.
/// Thread-safe.
class BinaryCache {
  public:
    explicit BinaryCache(std::filesystem::path folder = defaultFolder());
    static std::filesystem::path defaultFolder(); ///< cacheDir()/binaries

    /// The entry with `cached` set and `seconds` as it was when it was compiled.
    std::optional<Binary> find(const std::string &hash) const;
    /// Takes over `compiled` (moved, or copied from another file system); `facts.file`, `.hash` and
    /// `.cached` are ignored. Returns the entry. Another process that stored the same meanwhile
    /// wins. Errors: machine (disk full, ...).
    Result<Binary> store(const std::string &hash, const Binary &facts,
                         const std::filesystem::path &compiled) const;
    /// Removes the entries used longest ago when there are more than `keep`.
    void prune(std::size_t keep = 4096) const;

  private:
    std::filesystem::path folder_;
};

} // namespace cuda_agent::toolchain
