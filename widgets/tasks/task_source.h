// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "widgets/tasks/task_row.h"

#include <QVector>

#include <atomic>
#include <functional>

namespace cuda_agent::widgets {

/// Reads a folder of .py files (with folders below; hidden ones and links are left out), one .py
/// file, or a JSON-lines file, plain or gzip, and hands over rows in stretches. What cannot be used
/// is a row with a reason. A file candidates.jsonl is joined with checked.jsonl beside it. Blocks;
/// call on a worker thread; ends soon after `stop`. Errors: request; what was read before a file
/// turned out to be damaged has been handed over.
Result<void> readTaskSet(const QString &path, const std::atomic<bool> &stop,
                         const std::function<void(QVector<TaskRow>)> &give);

/// The source of a row of the set at `path`: from the row where it came out of a compressed set,
/// else read again. Errors: request.
Result<QString> taskSource(const QString &path, const TaskRow &row);

/// A file that holds the task: its own, or its source written below `folder` under a name that
/// comes from its content. Errors: request, machine.
Result<QString> taskFile(const QString &path, const TaskRow &row, const QString &folder);

/// By its name, a path that `readTaskSet` has something to say of.
bool looksLikeTaskSet(const QString &path);

} // namespace cuda_agent::widgets
