// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QLocale>
#include <QString>

#include <cmath>

namespace cuda_agent::widgets {

/// A field of a CSV file after RFC 4180: in quotes where it needs them.
inline QString csvField(QString text) {
    const bool plain = !text.contains(u',') && !text.contains(u'"') && !text.contains(u'\n') &&
                       !text.contains(u'\r');
    if (plain)
        return text;
    return u'"' + text.replace(u'"', QLatin1String("\"\"")) + u'"';
}

/// With every digit that the number needs; "NaN", "Infinity", "-Infinity" as in metrics.jsonl, or
/// nothing for NaN where that means an absent value.
inline QByteArray csvNumber(double value, bool absent = false) {
    if (std::isnan(value))
        return absent ? QByteArray() : QByteArray("NaN");
    if (std::isinf(value))
        return value > 0 ? "Infinity" : "-Infinity";
    if (value == std::floor(value) && std::abs(value) < 1e15)
        return QByteArray::number(static_cast<qlonglong>(value));
    return QByteArray::number(value, 'g', QLocale::FloatingPointShortest);
}

} // namespace cuda_agent::widgets
