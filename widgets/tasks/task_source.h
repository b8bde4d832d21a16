// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <QHash>
#include <QString>
#include <QStringList>
#include <QVector>

#include <atomic>
#include <functional>

namespace cuda_agent::widgets {

/// One task of a set. Its source stays in the file until somebody looks at it.
struct TaskRow {
    QString name;
    QString group;        ///< folder below the set, or the field "level"
    QStringList mentions; ///< operators that the source names, sorted; not what it computes
    qint64 size = 0;      ///< of the source, bytes
    QString problem;      ///< why it is no task; empty when it looks like one
    QString file;         ///< the .py file; empty when the source is in the line
    qint64 offset = -1;   ///< of the line in the JSON-lines file
    qint64 length = 0;
    qsizetype line = 0;              ///< from 1; 0 for a file of a folder
    QHash<QString, QVariant> fields; ///< further columns: number, text or truth
    QString sortName;                ///< `name` with its numbers padded: 2_x before 10_x
    QString searchText;              ///< all columns, folded
};

/// Operators in Python source, by a cheap scan: names behind nn., F., torch. and functional.,
/// outside of comments and strings, without those that only make or describe tensors.
QStringList operatorsMentioned(const QString &source);

/// Why the source is no task in KernelBench form (Model, get_inputs, get_init_inputs); empty when
/// it looks like one. The source is not run.
QString whyNoTask(const QString &source);

/// Reads a folder of .py files (with folders below; hidden ones and links are left out), one .py
/// file, or a JSON-lines file, and hands over rows in stretches. What cannot be used is a row with
/// a reason. Blocks; call on a worker thread; ends soon after `stop`. Errors: request.
Result<void> readTaskSet(const QString &path, const std::atomic<bool> &stop,
                         const std::function<void(QVector<TaskRow>)> &give);

/// The source of a row of the set at `path`; reads it again. Errors: request.
Result<QString> taskSource(const QString &path, const TaskRow &row);

/// A file that holds the task: its own, or its source written below `folder` under a name that
/// comes from its content. Errors: request, machine.
Result<QString> taskFile(const QString &path, const TaskRow &row, const QString &folder);

} // namespace cuda_agent::widgets
