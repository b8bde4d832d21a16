// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

namespace cuda_agent::widgets {

/// Operators in Python source, by a cheap scan: names behind nn., F., torch. and functional.,
/// outside of comments and strings, without those that only make or describe tensors.
QStringList operatorsMentioned(const QString &source);

/// Why the source is no task in KernelBench form (Model, get_inputs, get_init_inputs); empty when
/// it looks like one. The source is not run.
QString whyNoTask(const QString &source);

} // namespace cuda_agent::widgets
