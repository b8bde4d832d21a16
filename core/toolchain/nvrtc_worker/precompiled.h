// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/unique_fd.h"
#include "core/device/nvrtc_library.h"

#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::toolchain {

/// The includes that a source begins with, before anything but comments, as text of lines
/// `#include <name>`; empty where it begins otherwise.
std::string leadingIncludes(std::string_view text);

/// Precompiled headers of one compile worker: of the includes that sources begin with, made when
/// such a beginning comes for the second time with the same options. A header library that takes
/// seconds to read (cooperative_groups/reduce.h) takes tenths then.
///
/// They are only of use to forks of the process that made them and hold addresses, so each worker
/// has its own. What compiles a source is not trusted: it gets them as sealed memory files, which
/// nobody can change, and none is made while anything is left of an earlier source's compiler.
/// Source: NVRTC documentation, "Precompiled Headers". One thread.
class PrecompiledHeaders {
  public:
    /// Borrows the library. Does without where it cannot do this, or `folder` cannot be written.
    PrecompiledHeaders(const device::cuda::Nvrtc &nvrtc, std::string folder);

    /// Options that make a fork of this process use what fits the source, or none.
    std::vector<std::string> optionsFor(std::string_view text,
                                        const std::vector<std::string> &options);

  private:
    struct Entry {
        int seen = 0;
        bool tried = false;
        UniqueFd file; ///< empty: not made, or it could not be
        std::uint64_t bytes = 0;
    };
    void make(Entry &entry, const std::string &includes,
              const std::vector<std::string> &options) const;
    void makeRoom();

    const device::cuda::Nvrtc &nvrtc_;
    std::string folder_; ///< empty: does without
    std::map<std::string, Entry> entries_;
    std::list<std::string> order_; ///< of those that have a file, the oldest first
};

/// Longest that making one may take, in seconds.
inline constexpr int mostHeaderSeconds = 20;

/// Limits a resource of this process (RLIMIT_...) for good.
void limit(int resource, std::uint64_t value);
/// Ends what children of this process left running. False where that cannot be said for certain.
bool endOrphans();

} // namespace cuda_agent::toolchain
