// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tasks/set_columns.h"

#include "widgets/base/text.h"
#include "widgets/tasks/task_row.h"

#include <QCoreApplication>
#include <QLocale>
#include <QSet>

#include <array>
#include <cmath>

namespace cuda_agent::widgets {
namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(cuda_agent::widgets::SetColumns)
};

enum class Kind { plain, milliseconds, factor, bytes, count };

struct Column {
    QString field;
    const char *title;
    const char *meaning;
    Kind kind;
    bool shown;
};

/// In the order of the columns.
const auto &columns() {
    static const std::array<Column, 19> known{
        {{QStringLiteral("split"), QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Split"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns",
                            "train, validation, held_out (combinations that training never sees) "
                            "or outer (operators that training never sees)"),
          Kind::plain, true},
         {QStringLiteral("outcome"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Outcome"), nullptr, Kind::plain,
          true},
         {QStringLiteral("reason"), QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Reason"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Why the candidate is no task"),
          Kind::plain, true},
         {QStringLiteral("stage"), QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Stage"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "How far the candidate came"),
          Kind::plain, true},
         {operatorCountField, QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Operators"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns",
                            "Operators that forward() calls, one for each call"),
          Kind::plain, true},
         {QStringLiteral("ops"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Operator names"), nullptr,
          Kind::plain, true},
         {QStringLiteral("data_source"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Source"), nullptr, Kind::plain,
          true},
         {QStringLiteral("source"), QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Source"),
          nullptr, Kind::plain, true},
         {QStringLiteral("dtype"), QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Dtype"),
          nullptr, Kind::plain, true},
         {QStringLiteral("backward"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Backward"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns",
                            "The task computes gradients as well"),
          Kind::plain, true},
         {QStringLiteral("seconds"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Eager (ms)"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns",
                            "Milliseconds a call of PyTorch's eager mode takes"),
          Kind::milliseconds, true},
         {QStringLiteral("compile_seconds"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Compiled (ms)"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns",
                            "Milliseconds a call of torch.compile's model takes"),
          Kind::milliseconds, true},
         {speedUpField, QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Compiled over eager"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns",
                            "How many times as fast as eager torch.compile's model is"),
          Kind::factor, true},
         {QStringLiteral("estimated_seconds"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Estimated (ms)"), nullptr,
          Kind::milliseconds, true},
         {QStringLiteral("memory_bytes"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Memory"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns",
                            "At most in use beside inputs and parameters"),
          Kind::bytes, true},
         {QStringLiteral("operations"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Operations"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Arithmetic operations a call"),
          Kind::count, true},
         {QStringLiteral("difficulty"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Difficulty"), nullptr, Kind::plain,
          true},
         {QStringLiteral("detail"), QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Detail"),
          nullptr, Kind::plain, true},
         {QStringLiteral("counted_bytes"),
          QT_TRANSLATE_NOOP("cuda_agent::widgets::SetColumns", "Bytes moved"), nullptr, Kind::bytes,
          false}}};
    return known;
}

const Column *find(const QString &field) {
    for (const Column &column : columns())
        if (column.field == field)
            return &column;
    return nullptr;
}

/// "relu, linear" of "torch.relu, torch.nn.functional.linear".
QString shortNames(const QString &names) {
    QStringList parts = names.split(QStringLiteral(", "));
    for (QString &part : parts)
        part = part.mid(part.lastIndexOf(u'.') + 1);
    return parts.join(QStringLiteral(", "));
}

QString digits(double value) {
    return QLocale().toString(value, 'g', 4);
}

} // namespace

bool fieldBefore(const QString &left, const QString &right) {
    const Column *a = find(left), *b = find(right);
    if (a && b)
        return a < b; // both of one array
    if (a || b)
        return a;
    return left < right;
}

QString fieldTitle(const QString &field) {
    const Column *column = find(field);
    return column ? Words::tr(column->title) : field;
}

QString fieldMeaning(const QString &field) {
    const Column *column = find(field);
    return column && column->meaning ? Words::tr(column->meaning) : QString();
}

bool fieldShown(const QString &field) {
    if (const Column *column = find(field))
        return column->shown;
    static const QSet<QString> rarely{
        QStringLiteral("graph"),        QStringLiteral("kinds"),
        QStringLiteral("families"),     QStringLiteral("index"),
        QStringLiteral("id"),           QStringLiteral("small"),
        QStringLiteral("took_seconds"), QStringLiteral("estimated_bytes")};
    return !rarely.contains(field) && !field.endsWith(QLatin1String("_hash"));
}

QString fieldText(const QString &field, const QVariant &value) {
    if (field == QLatin1String("ops"))
        return shortNames(value.toString());
    if (!isNumber(value))
        return value.toString();
    const Column *column = find(field);
    const double number = value.toDouble();
    switch (column ? column->kind : Kind::plain) {
    case Kind::milliseconds:
        return std::isfinite(number) ? digits(number * 1e3) : QString();
    case Kind::factor:
        return timesText(number);
    case Kind::bytes:
        return bytesText(number);
    case Kind::count:
        return countText(number);
    case Kind::plain:
        break;
    }
    return value.typeId() == QMetaType::Double ? QLocale().toString(number, 'g', 6)
                                               : value.toString();
}

QVariant fieldSortValue(const QString &field, const QVariant &value) {
    const Column *column = find(field);
    return column && column->kind == Kind::milliseconds && isNumber(value)
               ? QVariant(value.toDouble() * 1e3)
               : value;
}

QString countText(double count) {
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P"};
    std::size_t prefix = 0;
    while (std::fabs(count) >= 1000 && prefix + 1 < std::size(prefixes)) {
        count /= 1000;
        ++prefix;
    }
    return prefix == 0 ? QLocale().toString(count, 'g', 4)
                       : digits(count) + QChar(0x202f) + QLatin1String(prefixes[prefix]);
}

} // namespace cuda_agent::widgets
