// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/event.h"

#include <string>
#include <string_view>

namespace cuda_agent::session {

/// How deep the values of a line may nest; more could not be written without a deep stack.
inline constexpr int deepest = 500;

/// One log line without its newline, as it was read.
struct Line {
    bool whole = false;  ///< a JSON object with seq, t, type, turn and data of the right types
    bool known = false;  ///< its type is one of this program; `event` holds all of it
    Event event;         ///< sequence and time are set whenever `whole`
    std::string problem; ///< why it is not whole
};

/// Never throws. Unknown fields are ignored.
Line parseLine(std::string_view text);

/// The line of `event`, without a newline in it or after it. Text that is not UTF-8 becomes
/// U+FFFD, NaN and infinities become null.
std::string formatLine(const Event &event);

/// Whether the data of an event nests deeper than a line may. Does not recurse further than that.
bool nestsTooDeep(const Json &value);

/// Parses JSON as nlohmann does, but several times faster for the plain text that logs hold.
/// Returns false on malformed text, and on values nested deeper than `deepest`; `value` is then
/// unspecified.
bool parseFast(std::string_view text, Json &value);

} // namespace cuda_agent::session
