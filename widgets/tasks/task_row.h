// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <QDir>
#include <QHash>
#include <QString>
#include <QStringList>
#include <QVariant>

#include <limits>
#include <memory>

namespace cuda_agent::widgets {

/// One task of a set. Its source stays in the file until somebody looks at it.
struct TaskRow {
    static constexpr double none = std::numeric_limits<double>::quiet_NaN();

    QString name;
    QString group;        ///< folder below the set, or the field "level"
    QStringList mentions; ///< operators that the source names, sorted; not what it computes
    qint64 size = 0;      ///< of the source, bytes
    QString problem;      ///< why it is no task; empty when it looks like one
    QString file;         ///< the .py file; empty when the source is in the line
    qint64 offset = -1;   ///< of the line in the JSON-lines file, or in `packed` unpacked
    qint64 length = 0;
    /// Lines of a compressed set, compressed again a stretch at a time: gzip cannot be entered in
    /// the middle.
    std::shared_ptr<const QByteArray> packed;
    qsizetype line = 0;              ///< from 1; 0 for a file of a folder
    QHash<QString, QVariant> fields; ///< further columns: number, text or truth
    QString sortName;                ///< `name` with its numbers padded: 2_x before 10_x
    QString searchText;              ///< all columns, folded

    // What sets of core/synthesis say of a task; a field of another type counts as absent.
    QString split, source, dtype;
    QString outcome, reason; ///< of a candidate; empty for a task of a set
    QStringList ops;         ///< operators that forward() calls, one for each call
    QStringList families;    ///< theirs, each once
    double seconds = none;   ///< a call of eager, on the device that the set was measured on
    double speedUp = none;   ///< of torch.compile over eager
    int operators() const { return static_cast<int>(ops.size()); }
};

/// What checked.jsonl says of a candidate (core/synthesis/README.md): its last word.
struct CandidateOutcome {
    QString stage, outcome, reason, detail;
    QHash<QString, QVariant> figures;
};

/// Columns that are computed from fields of the set.
inline const QString operatorCountField = QStringLiteral("ops#");
inline const QString speedUpField = QStringLiteral("compile#");

/// A .py file of a set, looked at but not run.
TaskRow rowOfFile(const QString &file, const QString &group);

/// A line of a JSON-lines set; `base` is what its files are relative to, `outcomes` those of a
/// file of candidates. A line that cannot be used is a row with a problem.
TaskRow rowOfLine(const QByteArray &line, qsizetype number, const QDir &base,
                  const QHash<qint64, CandidateOutcome> *outcomes = nullptr);
/// The row of a line that is not even looked at.
TaskRow unusableLine(qsizetype number, const QString &problem);

/// Fills in what is derived from the other fields.
void finishRow(TaskRow &row);

/// JSON of a line from anywhere; nothing for what is no JSON or nests deeper than a set ever does
/// (functions that walk it call themselves).
Json parseLine(QByteArrayView line);

/// One word, number or truth; lists and objects as their words.
QVariant fieldValue(const Json &value);

} // namespace cuda_agent::widgets
