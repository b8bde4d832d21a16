// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QVariant>

namespace cuda_agent::widgets {

// The fields of a task set as columns: those of core/synthesis have words, units and a place of
// their own, any other is a column under its own name after them.

/// Whether column `left` stands before `right`.
bool fieldBefore(const QString &left, const QString &right);
QString fieldTitle(const QString &field);
/// What a column means; empty where its title says it.
QString fieldMeaning(const QString &field);
/// Fields that few people look at are hidden until somebody wants them.
bool fieldShown(const QString &field);
/// What a cell shows: rounded, with units, operators without their modules.
QString fieldText(const QString &field, const QVariant &value);
/// What is sorted by and exported: in the unit of the title.
QVariant fieldSortValue(const QString &field, const QVariant &value);

inline bool isNumber(const QVariant &value) {
    return value.typeId() == QMetaType::Double || value.typeId() == QMetaType::LongLong;
}

/// "1.23 G": a count with the prefixes of the metric system.
QString countText(double count);

} // namespace cuda_agent::widgets
