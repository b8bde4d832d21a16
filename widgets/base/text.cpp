// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/base/text.h"

#include <QCoreApplication>

#include <cmath>

namespace cuda_agent::widgets {

namespace {

QString scaled(double value, const char *unit) {
    const int digits = value >= 100 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
    return QString::number(value, 'f', digits) + QChar(0x202f) + QString::fromUtf8(unit);
}

const Json *field(const Json &object, const char *name) {
    if (!object.is_object())
        return nullptr;
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
}

} // namespace

QString timeText(double seconds) {
    if (!std::isfinite(seconds))
        return QCoreApplication::translate("text", "not measured");
    const double size = std::fabs(seconds);
    if (size >= 120)
        return QCoreApplication::translate("text", "%1 min").arg(seconds / 60, 0, 'f', 1);
    if (size >= 1)
        return scaled(seconds, "s");
    if (size >= 1e-3)
        return scaled(seconds * 1e3, "ms");
    if (size >= 1e-6 || size == 0)
        return scaled(seconds * 1e6, "µs");
    return scaled(seconds * 1e9, "ns");
}

QString bytesText(double bytes) {
    const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    std::size_t unit = 0;
    while (std::fabs(bytes) >= 1000 && unit + 1 < std::size(units)) {
        bytes /= 1000;
        ++unit;
    }
    if (unit == 0)
        return QString::number(bytes, 'f', 0) + QChar(0x202f) + QStringLiteral("B");
    return scaled(bytes, units[unit]);
}

QString timesText(double factor) {
    if (!std::isfinite(factor))
        return QCoreApplication::translate("text", "not measured");
    return QString::number(factor, 'f', factor >= 100 ? 0 : factor >= 10 ? 1 : 2) + QChar(0x00d7);
}

QString textOf(const Json &object, const char *name) {
    const Json *value = field(object, name);
    return value && value->is_string()
               ? QString::fromStdString(value->get_ref<const std::string &>())
               : QString();
}

double numberOf(const Json &object, const char *name, double otherwise) {
    const Json *value = field(object, name);
    return value && value->is_number() ? value->get<double>() : otherwise;
}

bool truthOf(const Json &object, const char *name) {
    const Json *value = field(object, name);
    return value && value->is_boolean() && value->get<bool>();
}

const Json &partOf(const Json &object, const char *name) {
    static const Json nothing;
    const Json *value = field(object, name);
    return value && value->is_structured() ? *value : nothing;
}

} // namespace cuda_agent::widgets
