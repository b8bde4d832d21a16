// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <vector>

namespace cuda_agent::widgets {

/// Where each line of one text stands in another: the place (from 0) of the same line there, or -1
/// where it was changed or is gone. Pure.
std::vector<int> movedLines(const QString &from, const QString &to);

} // namespace cuda_agent::widgets
