// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace cuda_agent::widgets {

/// Places [beginA, endA) of A that are replaced by [beginB, endB) of B; one of them may be empty.
struct DiffBlock {
    int beginA = 0;
    int endA = 0;
    int beginB = 0;
    int endB = 0;
    bool operator==(const DiffBlock &) const = default;
};

/// Differences of two sequences of symbols, in ascending order, with at least one equal symbol
/// between two blocks. Myers, "An O(ND) Difference Algorithm and Its Variations" (Algorithmica 1,
/// 1986), the variant in linear space. The result is shortest as long as no part of it needs more
/// than `mostEdits` steps from either end; beyond that it is still right, but may be longer:
/// bounded by O((N + M) * mostEdits) steps.
std::vector<DiffBlock> diffSymbols(std::span<const int> a, std::span<const int> b,
                                   int mostEdits = 256);

/// The lines of a text without their ends ("\n", "\r\n"); an empty text has none. They point into
/// `text`.
std::vector<std::u16string_view> linesOf(std::u16string_view text);

std::vector<DiffBlock> diffLines(std::span<const std::u16string_view> a,
                                 std::span<const std::u16string_view> b, int mostEdits = 256);

/// One row of a side-by-side view: a line of A, of B (0-based), or of both; -1 is a gap.
struct DiffRow {
    int a = -1;
    int b = -1;
    int block = -1; ///< place in the list of blocks; -1 for equal lines
};
/// All lines of both sides in order. Within a block those lines stand beside each other that have
/// most words in common; very large blocks pair them in order.
std::vector<DiffRow> alignRows(std::span<const std::u16string_view> a,
                               std::span<const std::u16string_view> b,
                               std::span<const DiffBlock> blocks);

/// Words, numbers, runs of spaces and single other characters that differ between two lines, as
/// ranges of UTF-16 units. Lines that have little in common differ as a whole.
std::vector<DiffBlock> diffInLine(std::u16string_view a, std::u16string_view b);

} // namespace cuda_agent::widgets
