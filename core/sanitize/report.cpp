// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/sanitize/report.h"

#include "core/plan/linked_candidate.h"

#include <algorithm>

namespace cuda_agent::sanitize {

namespace {

constexpr std::size_t mostFindings = 200;

std::string text(const Json &json, const char *field) {
    const auto found = json.find(field);
    return found != json.end() && found->is_string() ? plan::tamed(found->get<std::string>())
                                                     : std::string();
}

std::uint64_t number(const Json &json, const char *field) {
    const auto found = json.find(field);
    return found != json.end() && found->is_number_unsigned() ? found->get<std::uint64_t>() : 0;
}

std::optional<Place> place(const Json &json, const char *field) {
    const auto found = json.find(field);
    if (found == json.end() || !found->is_object())
        return {};
    constexpr std::uint64_t most = 1u << 30;
    return Place{text(*found, "file"), static_cast<int>(std::min(number(*found, "line"), most)),
                 static_cast<int>(std::min(number(*found, "column"), most))};
}

std::string placeText(const Place &place) {
    std::string text = place.file;
    if (place.line > 0)
        text += fmt::format(":{}", place.line);
    if (place.line > 0 && place.column > 0)
        text += fmt::format(":{}", place.column);
    return text;
}

} // namespace

Json toJson(const Report &report) {
    Json findings = Json::array();
    for (const auto &finding : report.findings) {
        const Place none;
        const Place &at = finding.place ? *finding.place : none;
        Json json{
            {"tool", finding.tool},     {"kind", finding.kind},       {"file", at.file},
            {"line", at.line},          {"column", at.column},        {"kernel", finding.kernel},
            {"buffer", finding.buffer}, {"message", finding.message}, {"count", finding.count}};
        if (finding.other)
            json["other"] = {{"file", finding.other->file},
                             {"line", finding.other->line},
                             {"column", finding.other->column}};
        findings.push_back(std::move(json));
    }
    return {{"clean", report.findings.empty()},
            {"tools", report.tools},
            {"findings", std::move(findings)},
            {"left_out", report.leftOut},
            {"notes", report.notes},
            {"seconds", report.seconds}};
}

void completePaths(Report &report, const std::vector<std::string> &files) {
    const auto complete = [&](std::optional<Place> &place) {
        if (!place || place->file.empty() || std::ranges::find(files, place->file) != files.end())
            return;
        std::vector<std::string> fitting;
        for (const auto &file : files)
            if (file.ends_with("/" + place->file))
                fitting.push_back(file);
        if (fitting.size() == 1)
            place->file = fitting.front();
    };
    for (auto &finding : report.findings) {
        complete(finding.place);
        complete(finding.other);
    }
}

std::string lineOf(const Finding &finding) {
    std::string line;
    if (finding.place && !finding.place->file.empty())
        line = placeText(*finding.place) + ": ";
    line += finding.kind + ": " + finding.message;
    if (finding.other && !finding.other->file.empty())
        line += " (the other access: " + placeText(*finding.other) + ")";
    if (finding.count > 1)
        line += fmt::format(" [{} times]", finding.count);
    return line;
}

Report fromChecker(const Json &answer) {
    Report report;
    report.leftOut = number(answer, "left_out");
    const auto list = answer.find("findings");
    if (list == answer.end() || !list->is_array())
        return report;
    for (const auto &each : *list) {
        if (!each.is_object())
            continue;
        if (report.findings.size() >= mostFindings) {
            ++report.leftOut;
            continue;
        }
        Finding finding;
        finding.kind = text(each, "kind");
        finding.kernel = text(each, "step");
        finding.buffer = text(each, "buffer");
        finding.message = text(each, "message");
        finding.place = place(each, "place");
        finding.other = place(each, "other");
        finding.count = std::max<std::uint64_t>(number(each, "count"), 1);
        report.findings.push_back(std::move(finding));
    }
    return report;
}

} // namespace cuda_agent::sanitize
