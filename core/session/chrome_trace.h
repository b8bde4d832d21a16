// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/event.h"

#include <span>
#include <vector>

namespace cuda_agent::session {

/// A session to draw.
struct TraceSession {
    std::string name; ///< "softmax", "softmax, attempt 2"
    std::vector<Event> events;
};

/// Sessions on one time axis, in the JSON object form of the Trace Event Format that Perfetto and
/// chrome://tracing read. Each session is a process with these tracks (threads):
///
/// | track | spans |
/// |---|---|
/// | session | each run of the program, and in it its preparation |
/// | turns and tools | turns, in them tool calls |
/// | language model | waiting for an answer, retries included |
/// | compile | compiling a candidate |
/// | verify and time | a verdict, in it the phases that it took |
/// | kernels | the launches of one profiled call, by their medians |
///
/// beside a counter of the candidates' times, in microseconds, and notes as marks. Times are
/// microseconds since the first event of all sessions.
///
/// A log has no more than it says: of a compile, an answer and a verdict it gives the end and the
/// seconds, of phases the sums alone; those are drawn in the order that the judge takes. A log
/// whose clock was set back is drawn as if it had stood still. Whatever was cut off, a turn that a
/// crash ended or a session that still runs, ends with the last event before and has the argument
/// "unfinished". Payload fields of other types than described count as absent.
/// Pure: no files, no clock.
Json chromeTrace(std::span<const TraceSession> sessions);

} // namespace cuda_agent::session
