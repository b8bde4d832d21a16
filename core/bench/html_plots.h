// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/bench/summary.h"

namespace cuda_agent::bench {

/// Text that means itself in HTML and in attributes.
std::string escaped(std::string_view text);

/// Inline SVG that takes its colours from the page's variables --series-1 ... --series-3.
/// fast_p over p, one curve for each stock setting.
std::string fastPPlot(const Group &group);
/// Speed-up of each correct record over one stock setting, sorted, on a logarithmic axis; a mark
/// tells its task when pointed at. Empty without any.
std::string speedupPlot(const std::vector<const Record *> &records, const std::string &over);
/// Where the time went, as a table with bars. Empty without phases.
std::string phasesTable(const Summary &summary);

} // namespace cuda_agent::bench
