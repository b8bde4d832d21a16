// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <QString>

namespace cuda_agent::widgets {

/// "12.3 µs", "1.234 ms", "2.00 s".
QString timeText(double seconds);
/// "16.4 MB".
QString bytesText(double bytes);
/// "1.28×".
QString timesText(double factor);

// Payloads come from files that anybody may have written: a field that is missing or of another
// type reads as empty.
QString textOf(const Json &object, const char *name);
double numberOf(const Json &object, const char *name, double otherwise = 0);
bool truthOf(const Json &object, const char *name);
/// The object or array of that name, else null.
const Json &partOf(const Json &object, const char *name);

} // namespace cuda_agent::widgets
