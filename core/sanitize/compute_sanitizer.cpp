// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The text that compute-sanitizer prints. A report is a line "========= <head>" with lines
// "=========     <detail>" below it; three spellings of places are about:
//   at k(float *)+0x90 in /candidate/kernels/k.cu:7        (CUDA 12.4 and later)
//   at 0x90 in /candidate/kernels/k.cu:7:k(float *)        (before)
//   at 0x90 in k(float *)                                  (without line information)

#include "core/sanitize/cuda_check.h"

#include <algorithm>
#include <charconv>

namespace cuda_agent::sanitize {

namespace {

constexpr std::string_view mark = "=========";
constexpr std::size_t mostFindings = 200;

std::string_view trimmed(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t\r");
    if (begin == text.npos)
        return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

struct Message {
    std::string_view head;
    std::vector<std::string_view> details;
};

std::vector<Message> messagesOf(std::string_view output) {
    std::vector<Message> messages;
    while (!output.empty()) {
        const auto end = std::min(output.find('\n'), output.size());
        std::string_view line = output.substr(0, end);
        output.remove_prefix(std::min(end + 1, output.size()));
        if (!line.starts_with(mark))
            continue; // the candidate's own output
        line.remove_prefix(mark.size());
        const auto text = trimmed(line);
        if (text.empty())
            continue;
        if (line.starts_with("  ") && !messages.empty())
            messages.back().details.push_back(text);
        else
            messages.push_back({text, {}});
    }
    return messages;
}

int numberAt(std::string_view text) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? value : 0;
}

/// The candidate's folder inside the sandbox is nothing to its author.
std::string ownPath(std::string_view path) {
    for (const std::string_view folder : {"/candidate/", "./"})
        if (path.starts_with(folder))
            path.remove_prefix(folder.size());
    return std::string(path);
}

struct Where {
    std::optional<Place> place;
    std::string kernel;
};

/// "k(float *)+0x90 in f.cu:7", "0x90 in f.cu:7:k(float *)", "0x90 in k(float *)".
Where whereOf(std::string_view text) {
    Where where;
    const auto in = text.find(" in ");
    std::string_view left = trimmed(text.substr(0, in));
    std::string_view right = in == text.npos ? std::string_view() : trimmed(text.substr(in + 4));
    if (const auto plus = left.rfind("+0x"); plus != left.npos)
        where.kernel = left.substr(0, plus);
    // The first ":<digits>" that ends there or before another colon.
    for (std::size_t colon = right.find(':'); colon != right.npos;
         colon = right.find(':', colon + 1)) {
        const auto rest = right.substr(colon + 1);
        const auto end = rest.find(':');
        const int line = numberAt(rest.substr(0, end));
        if (line == 0)
            continue;
        where.place = Place{ownPath(right.substr(0, colon)), line, 0};
        if (end != rest.npos)
            where.kernel = trimmed(rest.substr(end + 1));
        return where;
    }
    if (where.kernel.empty())
        where.kernel = right;
    return where;
}

std::string kindOf(std::string_view tool, std::string_view all) {
    const auto has = [&](std::string_view word) { return all.find(word) != all.npos; };
    if (has("misaligned"))
        return "misaligned";
    if (has("Uninitialized"))
        return "uninitialised";
    if (has("Race reported") || has("hazard"))
        return "race";
    if (tool == "synccheck" || has("Barrier error"))
        return "barrier";
    if (has("Leaked"))
        return "leak";
    if (has("Invalid __") || has("out of bounds") || has("Stack overflow") ||
        has("nearest allocation"))
        return "out-of-bounds";
    return "other";
}

/// Says of itself, not of the candidate, that it cannot go on.
bool isOwnProblem(std::string_view head) {
    for (const std::string_view start :
         {"Error: No attachable process", "Error: Target application terminated before",
          "Internal Sanitizer Error", "Error: Device not supported", "Error: The device",
          "Unable to find injection library", "Error: Failed to", "Error: process didn't"})
        if (head.starts_with(start))
            return true;
    return false;
}

bool isNews(std::string_view head) {
    for (const std::string_view start :
         {"Invalid ", "Uninitialized ", "Error: Race reported", "Warning: Race reported",
          "ERROR: Potential", "WARNING: Potential", "Error: Potential", "Warning: Potential",
          "Barrier error", "Leaked ", "Stack overflow", "Fatal UVM", "Misaligned",
          "Error: ", "Malloc/Free error", "Unused memory"})
        if (head.starts_with(start))
            return true;
    return false;
}

/// "... [36 hazards]" -> 36, and the text without it.
std::uint64_t takeHazards(std::string &text) {
    const auto open = text.rfind('[');
    if (open == text.npos || text.find("hazard", open) == text.npos)
        return 1;
    const int count =
        numberAt(std::string_view(text).substr(open + 1, text.find(' ', open) - open - 1));
    text = trimmed(std::string_view(text).substr(0, open));
    return static_cast<std::uint64_t>(std::max(count, 1));
}

Finding findingOf(std::string_view tool, const Message &message) {
    Finding finding;
    finding.tool = "compute-sanitizer " + std::string(tool);
    std::string all(message.head);
    for (const auto &detail : message.details)
        all += " " + std::string(detail);
    finding.kind = kindOf(tool, all);
    std::string text(message.head);
    const auto take = [&](std::string_view place, bool first) {
        std::string own(place);
        finding.count = std::max(finding.count, takeHazards(own));
        const auto where = whereOf(own);
        (first ? finding.place : finding.other) = where.place;
        if (finding.kernel.empty())
            finding.kernel = where.kernel;
    };
    // "Error: Race reported between Write access at P" / "and Read access at Q [36 hazards]"
    if (const auto at = text.find(" access at "); at != text.npos) {
        take(std::string_view(text).substr(at + 11), true);
        text.erase(at + 7);
    }
    for (const auto &detail : message.details) {
        const auto access = detail.find(" access at ");
        const auto thread = detail.find(" at 0x");
        if (detail.starts_with("at ")) {
            if (!finding.place)
                take(detail.substr(3), true);
        } else if (access != detail.npos) {
            take(detail.substr(access + 11), !finding.place);
            text += " " + std::string(detail.substr(0, access + 7));
        } else if ((detail.starts_with("Write Thread") || detail.starts_with("Read Thread")) &&
                   thread != detail.npos) {
            take(detail.substr(thread + 4), !finding.place);
            text += "; " + std::string(detail.substr(0, thread));
        } else if (detail.starts_with("by thread") || detail.starts_with("Address ") ||
                   detail.starts_with("and is ") || detail.starts_with("Access ")) {
            text += " " + std::string(detail);
        } else if (detail.starts_with("Saved host backtrace") || detail.starts_with("Host Frame")) {
            break;
        }
    }
    for (const std::string_view start : {"Error: ", "ERROR: "})
        if (text.starts_with(start))
            text.erase(0, start.size());
    finding.message = plan::tamed(text);
    finding.kernel = plan::tamed(finding.kernel);
    return finding;
}

} // namespace

ToolOutput parseComputeSanitizer(std::string_view tool, std::string_view output) {
    ToolOutput result;
    std::optional<Finding> failedCall;
    for (const auto &message : messagesOf(output)) {
        if (message.head.find("SUMMARY:") != message.head.npos) {
            result.finished = true;
        } else if (isOwnProblem(message.head)) {
            if (result.problem.empty())
                result.problem = plan::tamed(std::string(message.head));
        } else if (message.head.starts_with("Program hit")) {
            if (!failedCall) {
                failedCall.emplace();
                failedCall->tool = "compute-sanitizer " + std::string(tool);
                failedCall->kind = "fault";
                failedCall->message = plan::tamed(std::string(message.head));
            }
        } else if (isNews(message.head) && result.findings.size() < mostFindings) {
            auto finding = findingOf(tool, message);
            const auto same = std::ranges::find_if(result.findings, [&](const Finding &other) {
                const auto line = [](const std::optional<Place> &place) {
                    return place ? place->file + ":" + std::to_string(place->line) : std::string();
                };
                return other.kind == finding.kind && other.kernel == finding.kernel &&
                       finding.place && line(other.place) == line(finding.place) &&
                       line(other.other) == line(finding.other);
            });
            if (same != result.findings.end())
                same->count += finding.count;
            else
                result.findings.push_back(std::move(finding));
        }
    }
    // A call that fails after a bad access says nothing new.
    if (failedCall && result.findings.empty())
        result.findings.push_back(std::move(*failedCall));
    return result;
}

} // namespace cuda_agent::sanitize
