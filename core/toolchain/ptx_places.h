// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <compare>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace cuda_agent::toolchain {

/// A place in a source as PTX has it.
struct PtxPlace {
    int file = 0; ///< number of a `.file`
    int line = 0;
    int column = 0;
    auto operator<=>(const PtxPlace &) const = default;
};

/// Follows `.file`, `.loc` and `inlined_at` (PTX ISA, Debugging Directives) through PTX from its
/// beginning to its end. Borrows the text. Takes any text.
class PtxPlaces {
  public:
    /// The next line, without space around it. True when it was about places, or begins a function,
    /// whose places are not those of the one before.
    bool read(std::string_view line);

    /// The place of the instructions that follow, then where that was inlined, and so on. Empty
    /// before the first `.loc` of a function.
    std::vector<PtxPlace> chain() const;

    /// The path of a `.file`, which may stand at the end of the text; empty when there is none.
    std::string_view file(int number) const;

  private:
    void readPlace(std::string_view rest);
    void readFile(std::string_view rest);

    std::optional<PtxPlace> now_;
    /// Where a place was inlined is said by the last `.loc` of it, which comes before those inside.
    std::map<PtxPlace, PtxPlace> inlinedAt_;
    std::map<int, std::string_view> files_;
};

/// `text` without space at its ends.
std::string_view withoutSpace(std::string_view text);
/// Takes `what` and the space behind it off the front.
bool takeWord(std::string_view &text, std::string_view what);
/// Takes a number that is not negative and the space behind it off the front.
bool takeNumber(std::string_view &text, int &number);

} // namespace cuda_agent::toolchain
