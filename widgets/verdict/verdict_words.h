// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <QString>
#include <QStringList>

namespace cuda_agent::widgets {

enum class VerdictKind { none, correct, wrong, notCompiled };
VerdictKind kindOf(const Json &verdict);

/// "Correct: reward 3, more than 5 % faster than eager and torch.compile".
QString headlineText(const Json &verdict);
/// What a reward stands for.
QString rewardText(int reward, bool compiled);
/// How it was reached: strength, device, numerics, a module's rules, wall time.
QString circumstancesText(const Json &verdict);
/// A check's name in the user's language; one that this program does not know as the log has it.
QString checkName(const Json &check);
/// What a candidate did that failed instead of computing something wrong; empty when it did not.
QString faultText(const Json &verdict);
/// The evidence of a check as sentences: case, output, index, expected, got, allowed error. Empty
/// when it has none.
QString evidenceText(const Json &check);
/// A flag or an unenforced limit with one line that explains it.
QString flagText(const QString &flag);
QString unenforcedText(const QString &limit);
/// Flags, unenforced limits, missing baselines: one line each.
QStringList remarks(const Json &verdict);
/// The first message of the compiler, worst first: "kernels/a.cu:3:7: error: ..."; or empty.
QString firstDiagnosticText(const Json &verdict);

/// "eager", "torch.compile", ... for the baselines' names in the log, and for "candidate".
QString timeName(const QString &name);
/// Everything above as plain text, for the clipboard.
QString verdictText(int turn, const Json &verdict);

} // namespace cuda_agent::widgets
