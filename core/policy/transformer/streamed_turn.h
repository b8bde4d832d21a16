// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace cuda_agent::policy {

/// A turn in the chat template's words, made readable while it is still being written: the thought
/// as it stands; of a call the tool's name, and each argument below "NAME:". One thread.
class StreamedTurn {
  public:
    /// Takes the bytes that came; gives what can be shown of them now. What may be the beginning of
    /// one of the template's words is kept until it is known.
    std::string take(std::string_view piece);

  private:
    void leave(std::size_t lineEnds);
    void show(std::string &out, std::string_view text);
    std::string held_;         ///< not shown yet
    std::size_t lineEnds_ = 0; ///< before the next text
    bool behindWord_ = true;   ///< of the template's, or nothing is shown yet
    bool begun_ = false;
};

} // namespace cuda_agent::policy
