// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/sandbox.h"

#include <cstring>

namespace cuda_agent::sandbox {

namespace {

/// JSON is UTF-8 and a program may print any bytes: the others become U+FFFD.
Json printable(const std::string &bytes) {
    return Json::parse(Json(bytes).dump(-1, ' ', false, Json::error_handler_t::replace));
}

} // namespace

std::string Record::summary() const {
    if (!problem.empty())
        return "could not be run: " + problem;
    std::string killer;
    std::string noted;
    for (const auto &limit : limitsHit) {
        const bool ends = limit != "processes" && limit != "output";
        auto &list = ends && signal != 0 ? killer : noted;
        list += (list.empty() ? "" : ", ") + limit;
    }
    std::string text;
    if (stuck)
        text = fmt::format("did not end after SIGKILL within {:.1f} s", wallSeconds);
    else if (!killer.empty())
        text = fmt::format("killed after {:.1f} s ({} limit)", wallSeconds, killer);
    else if (killed)
        text = fmt::format("stopped after {:.1f} s", wallSeconds);
    else if (signal != 0) {
        const char *known = ::sigabbrev_np(signal);
        text = known ? fmt::format("ended by SIG{}", known)
                     : fmt::format("ended by signal {}", signal);
    } else
        text = fmt::format("exit {}", exitCode);
    if (!noted.empty())
        text += fmt::format(" (limit reached: {})", noted);
    return text;
}

Json toJson(const Record &record) {
    Json json{{"name", record.name},
              {"summary", record.summary()},
              {"exit_code", record.exitCode},
              {"limits_hit", record.limitsHit},
              {"unenforced", record.unenforced},
              {"peak_memory_bytes", record.peakMemoryBytes},
              {"wall_seconds", record.wallSeconds},
              {"cpu_seconds", record.cpuSeconds},
              {"stdout", printable(record.standardOutput)},
              {"stderr", printable(record.standardError)}};
    if (record.signal != 0)
        json["signal"] = record.signal;
    if (record.killed)
        json["killed"] = true;
    if (record.stuck)
        json["stuck"] = true;
    if (!record.problem.empty())
        json["problem"] = printable(record.problem);
    return json;
}

} // namespace cuda_agent::sandbox
