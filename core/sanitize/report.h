// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <optional>
#include <string>
#include <vector>

namespace cuda_agent::sanitize {

/// A place in a file of the candidate. 0 where a tool does not tell the line or the column.
struct Place {
    std::string file;
    int line = 0;
    int column = 0;
};

/// One thing that a checked run found wrong. The kinds are few, whichever tool found it:
/// "out-of-bounds", "misaligned", "uninitialised" (read before anybody wrote it), "unwritten" (an
/// output that was never written), "input-written", "race", "barrier", "undefined" (C++ that has no
/// meaning: overflow, shift), "fault" (__trap, an assertion, a signal), "leak", "other".
struct Finding {
    std::string tool; ///< "cpu checks", "compute-sanitizer memcheck"
    std::string kind;
    std::string kernel; ///< "kernels/k.cu:k (step 0)" or the kernel's name
    std::string buffer; ///< of the plan, or the name of a shared array; may be empty
    std::string message;
    std::optional<Place> place;
    std::optional<Place> other; ///< of a race: the other access
    std::uint64_t count = 1;    ///< how often the same was seen
};

/// What a checked run says. `findings` may come from an untrusted process: its texts are tamed.
struct Report {
    std::vector<std::string> tools;
    std::vector<Finding> findings;
    std::uint64_t leftOut = 0; ///< further findings that were only counted
    std::vector<std::string> notes;
    double seconds = 0; ///< of the checked calls
};

/// {"clean", "tools", "findings": [{"tool", "kind", "file", "line", "column", "kernel", "buffer",
/// "message", "count", "other": {"file", "line", "column"}}], "left_out", "notes", "seconds"}
Json toJson(const Report &report);

/// Line tables may hold the bare name of a file: where exactly one of `files` has it, that one is
/// meant.
void completePaths(Report &report, const std::vector<std::string> &files);

/// One line for a person: "kernels/k.cu:12:9: race: ...".
std::string lineOf(const Finding &finding);

/// Reads what cuda-agent-checker answers to `findings`. What has another form is left out.
Report fromChecker(const Json &answer);

} // namespace cuda_agent::sanitize
