// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace cuda_agent::learn {

/// Brackets of a source that are open: "(", "[" and "{", of which each must be closed by its own,
/// and no statement may end within the first two but in the head of a loop. A value.
class Brackets {
  public:
    /// The signs that count.
    static constexpr std::string_view signs = "()[]{};";

    /// Takes one of them. `loop`: the statement has the word "for", so that its first "(" is that
    /// of a head. What may not come changes nothing.
    void take(char sign, bool loop);
    /// Whether these may come one behind the other.
    bool allow(std::string_view some, bool loop) const;

  private:
    static constexpr char head = 'f'; ///< "(" of a loop's
    class View;

    std::string open_; ///< the innermost last
};

} // namespace cuda_agent::learn
