// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/profile/kernel_profile.h"
#include "widgets/profile/roof_picture.h"

namespace cuda_agent::widgets {

// What the profile pane says, in the window's language. Names that the profile has and this program
// does not know are shown as they are.

/// "85.2 %"; empty for none.
QString percentText(const Figure &share);
/// "DRAM", "counted bytes".
QString levelName(const QString &name);
/// "softmax"; with several launches of one name "softmax [3]"; -1: "Whole call".
QString launchName(const KernelProfile &profile, int launch);
/// "DRAM 4.24 TB/s", "FP32 data sheet 67.0 TFLOP/s".
QString curveText(const QString &name, bool memory, bool measured, double rate);
/// Some lines: intensity, performance, the memory's bytes and its shares of the ceilings.
QString markTextOf(const KernelProfile &profile, const RoofMark &mark);
/// "DRAM: 537 MB, 4.00 TB/s, 94.3 % of 4.24 TB/s measured, 83.3 % of 4.80 TB/s stated".
QString roofText(const SpeedOfLight &roof);
/// "registers, shared memory".
QString limitersText(const QStringList &limiters);
/// "Uncoalesced loads".
QString ruleTitle(const QString &rule);
/// "up to 1.85× faster", "at the limit".
QString gainText(const ProfileFinding &finding);
/// "sectors per request: 32 · fewest that would do: 4", the figures behind a finding.
QString evidenceText(const ProfileFinding &finding);

} // namespace cuda_agent::widgets
