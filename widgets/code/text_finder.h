// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/code/code_editor.h"

#include <QRegularExpression>

namespace cuda_agent::widgets {

/// What is searched for.
struct Pattern {
    QString text;
    bool regex = false;
    bool matchCase = false;
    bool wholeWord = false;
};

/// One match with what stands for it.
struct Match {
    ByteRange range;
    QString replacement;
};

/// Matches of a pattern in a text, in order, each with its replacement. In a regular expression
/// `\1` to `\9` in the replacement are what its groups matched, `\n` and `\t` are line end and tab.
/// Empty matches are left out. At most `most` matches. Pure.
struct Found {
    std::vector<Match> matches;
    QString problem; ///< why the regular expression is none
};
Found findAll(const QString &text, const Pattern &pattern, const QString &replacement,
              std::size_t most = 100'000);

} // namespace cuda_agent::widgets
