// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/code/moved_lines.h"

#include "widgets/diff/diff.h"

namespace cuda_agent::widgets {

std::vector<int> movedLines(const QString &from, const QString &to) {
    const auto viewOf = [](const QString &text) {
        return std::u16string_view(reinterpret_cast<const char16_t *>(text.constData()),
                                   static_cast<std::size_t>(text.size()));
    };
    const auto linesFrom = linesOf(viewOf(from));
    const auto linesTo = linesOf(viewOf(to));
    std::vector<int> moved(linesFrom.size(), -1);
    int line = 0;
    int shift = 0; ///< of the lines between two blocks
    const auto equalUntil = [&](int end) {
        for (; line < end; ++line)
            moved[static_cast<std::size_t>(line)] = line + shift;
    };
    for (const DiffBlock &block : diffLines(linesFrom, linesTo)) {
        equalUntil(block.beginA);
        line = block.endA;
        shift = block.endB - block.endA;
    }
    equalUntil(static_cast<int>(linesFrom.size()));
    return moved;
}

} // namespace cuda_agent::widgets
