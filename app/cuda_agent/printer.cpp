// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/printer.h"

#include "core/tools/judge_summary.h"

#include <unistd.h>

#include <cstdio>

namespace cuda_agent::app {

namespace {

/// "at most 20 turns, 600 s, 100000 tokens, cost 2.5", of what is limited.
std::string budgetText(const Json &data) {
    const Json budget = data.value("budget", Json::object());
    const auto number = [](const Json &of, const char *name) {
        const auto found = of.is_object() ? of.find(name) : of.end();
        return of.is_object() && found != of.end() && found->is_number() ? found->get<double>()
                                                                         : 0.0;
    };
    std::string text = fmt::format("at most {:.0f} turns", number(data, "turns"));
    if (const double seconds = number(budget, "seconds"); seconds > 0)
        text += fmt::format(", {:g} s", seconds);
    if (const double tokens = number(budget, "tokens"); tokens > 0)
        text += fmt::format(", {:.0f} tokens", tokens);
    if (const double cost = number(budget, "cost"); cost > 0)
        text += fmt::format(", cost {:g}", cost);
    return text;
}

/// What an action acts on, for its line.
std::string detailOf(const Json &arguments) {
    for (const auto *name : {"file_path", "path", "command", "pattern", "strength"}) {
        const auto found = arguments.find(name);
        if (found != arguments.end() && found->is_string())
            return found->get<std::string>().substr(0, 100);
    }
    return {};
}

std::string firstLine(const std::string &text) {
    return text.substr(0, text.find('\n'));
}

/// "kernels/k.cu:12:9: race: ...", of one finding of a checked run.
std::string findingText(const Json &finding) {
    const auto place = [](const Json &of) {
        std::string text = of.value("file", "");
        for (const char *part : {"line", "column"})
            if (const int number = of.value(part, 0); number > 0 && !text.empty())
                text += fmt::format(":{}", number);
        return text;
    };
    std::string text = place(finding);
    text += (text.empty() ? "" : ": ") + finding.value("kind", "") + ": " +
            finding.value("message", "");
    if (finding.contains("other") && !place(finding["other"]).empty())
        text += fmt::format(" [the other access: {}]", place(finding["other"]));
    if (const auto count = finding.value("count", 1ull); count > 1)
        text += fmt::format(" [{} times]", count);
    return text;
}

} // namespace

using session::EventType;

Printer::Printer(bool json, std::string prefix)
    : out_(json ? stderr : stdout), prefix_(std::move(prefix)), terminal_(::isatty(fileno(out_))) {}
Printer::~Printer() {
    clearStatus();
}

std::string Printer::bold(const std::string &text) const {
    return terminal_ ? "\033[1m" + text + "\033[0m" : text;
}
std::string Printer::dim(const std::string &text) const {
    return terminal_ ? "\033[2m" + text + "\033[0m" : text;
}

void Printer::clearStatus() {
    if (status_)
        fmt::print(out_, "\r\033[K");
    status_ = false;
    std::fflush(out_);
}

void Printer::line(const std::string &text) {
    clearStatus();
    if (prefix_.empty()) {
        fmt::print(out_, "{}\n", text);
    } else {
        for (std::size_t at = 0; at <= text.size();) {
            const std::size_t end = std::min(text.find('\n', at), text.size());
            if (end > at) // an empty line sets apart what others write in between anyway
                fmt::print(out_, "{}{}\n", prefix_, text.substr(at, end - at));
            at = end + 1;
        }
    }
    std::fflush(out_);
}

void Printer::progress(const std::string &what) {
    if (!terminal_ || !prefix_.empty())
        return line("... " + what);
    clearStatus();
    fmt::print(out_, "\033[2m{} ...\033[0m", what);
    status_ = true;
    std::fflush(out_);
}

void Printer::event(const session::Event &event) {
    const auto text = [&](const char *key) { return event.data.value(key, std::string()); };
    switch (event.type) {
    case EventType::sessionStarted:
        line(fmt::format("task {}, device {}, numerics {}, policy {}",
                         event.data.value("task", Json::object()).value("name", "?"),
                         event.data.value("device", Json::object()).value("name", "?"),
                         text("numerics"), text("policy")));
        if (const Json recorded = event.data.value("recorded", Json()); recorded.is_object())
            line(fmt::format("replays {} ({:.12})", recorded.value("path", "?"),
                             recorded.value("id", "?")));
        break;
    case EventType::budgetSet:
        line("budget: " + budgetText(event.data));
        break;
    case EventType::taskDescribed: {
        const auto graph = event.data.value("graph", Json::object());
        line(fmt::format("graph: {} nodes; {:.1f} MB in and out",
                         graph.value("nodes", Json::array()).size(),
                         event.data.value("counted_bytes", 0.0) / 1e6));
        break;
    }
    case EventType::baselinesMeasured:
        for (const auto &[name, value] : event.data.items())
            if (value.is_object() && value.contains("seconds"))
                line(fmt::format("{:<22}{}", name, tools::formatSeconds(value["seconds"])));
        break;
    case EventType::knowledgeOffered:
        line(text("text"));
        break;
    case EventType::turnStarted:
        line(bold(fmt::format("\nturn {}", event.turn)));
        break;
    case EventType::thought:
        line(text("text"));
        break;
    case EventType::action: {
        const auto arguments = event.data.value("arguments", Json::object());
        const auto detail = detailOf(arguments);
        if (text("tool") == "Verify")
            progress("verifying and timing");
        else
            line(dim(fmt::format("  > {} {}", text("tool"), detail)));
        break;
    }
    case EventType::observation:
        if (text("text").starts_with("wrote ") && event.data.value("ok", false))
            break; // the action said it already
        line("  = " + firstLine(text("text")));
        break;
    case EventType::compiled:
        for (const auto &entry : event.data.value("diagnostics", Json::array()))
            if (entry.value("severity", "") == "error")
                line(fmt::format("    {}:{}:{}: {}", entry.value("file", ""),
                                 entry.value("line", 0), entry.value("column", 0),
                                 entry.value("message", "")));
        break;
    case EventType::note:
        line("note: " + text("text"));
        break;
    case EventType::sessionEnded:
        line("\nended: " + text("reason"));
        break;
    case EventType::textStreamed:
    case EventType::modelAnswered:
    case EventType::fileWritten:
    case EventType::fileRemoved:
    case EventType::verdictGiven:
    case EventType::turnEnded:
        break;
    }
}

void Printer::verdict(const Json &verdict) {
    line(bold(verdict.value("correct", false)
                  ? fmt::format("correct, reward {} ({} strength)", verdict.value("reward", 1),
                                verdict.value("strength", "?"))
                  : fmt::format("not correct: {}", verdict.value("problem", "?"))));
    for (const auto &check : verdict.value("checks", Json::array()))
        line(fmt::format("  {} {:<20} {}",
                         check.value("skipped", false)  ? "skip"
                         : check.value("passed", false) ? "ok  "
                                                        : "FAIL",
                         check.value("name", ""), check.value("detail", "")));
    const auto times = verdict.value("times", Json::object());
    const double candidate =
        times.contains("candidate") ? times["candidate"].value("seconds", 0.0) : 0;
    for (const auto *name :
         {"candidate", "eager", "compile", "compile_max_autotune", "eager_tf32", "compile_tf32"}) {
        if (!times.contains(name))
            continue;
        const auto &time = times[name];
        std::string text = fmt::format("  {:<22}{:>12}  [{} .. {}]", name,
                                       tools::formatSeconds(time.value("seconds", 0.0)),
                                       tools::formatSeconds(time.value("low", 0.0)),
                                       tools::formatSeconds(time.value("high", 0.0)));
        if (candidate > 0 && std::string_view(name) != "candidate")
            text += fmt::format("  {:.2f}x", time.value("seconds", 0.0) / candidate);
        line(text);
    }
    if (verdict.contains("fraction_of_limit"))
        line(fmt::format("  {:.0f} % of this machine's {} limit ({})",
                         100 * verdict.value("fraction_of_limit", 0.0),
                         verdict.value("limited_by", ""),
                         tools::formatSeconds(verdict.value("limit_seconds", 0.0))));
    if (const auto found = verdict.find("sanitizer"); found != verdict.end()) {
        const auto findings = found->value("findings", Json::array());
        std::string tools;
        for (const auto &tool : found->value("tools", Json::array()))
            tools += (tools.empty() ? "" : ", ") + tool.get<std::string>();
        line(bold(fmt::format("{} ({}, {:.1f} s)",
                              findings.empty()       ? "no findings"
                              : findings.size() == 1 ? "1 finding"
                                                     : fmt::format("{} findings", findings.size()),
                              tools, found->value("seconds", 0.0))));
        for (const auto &finding : findings)
            line("  " + findingText(finding));
        if (const auto more = found->value("left_out", 0ull); more > 0)
            line(fmt::format("  and {} more", more));
        for (const auto &note : found->value("notes", Json::array()))
            line("  note: " + note.get<std::string>());
    }
    if (verdict.value("device", "") == "cpu" && !times.empty())
        line(dim("  CPU device times: they say nothing about GPU times"));
    for (const auto &flag : verdict.value("flags", Json::array()))
        line("  flag: " + flag.get<std::string>());
    for (const auto &limit : verdict.value("unenforced", Json::array()))
        line("  not enforced: " + limit.get<std::string>());
}

} // namespace cuda_agent::app
