// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/judge/regression.h"

#include <fmt/ranges.h>

namespace cuda_agent::judge {

namespace {

struct Time {
    double seconds = 0;
    double low = 0;
    double high = 0;
};

/// A measured time of a verdict, all zero when it has none.
Time timeOf(const Json &verdict, const char *name) {
    const auto times = verdict.find("times");
    if (times == verdict.end() || !times->is_object() || !times->contains(name))
        return {};
    const auto number = [&](const char *key) {
        const Json value = (*times)[name].is_object() ? (*times)[name].value(key, Json()) : Json();
        return value.is_number() ? value.get<double>() : 0.0;
    };
    const double seconds = number("seconds");
    const auto or_ = [&](double value) { return value > 0 ? value : seconds; };
    return {seconds, or_(number("low")), or_(number("high"))};
}

std::string text(const Json &verdict, const char *name) {
    const auto found = verdict.find(name);
    return found != verdict.end() && found->is_string() ? found->get<std::string>() : "";
}

std::string escaped(const std::string &text) {
    std::string result;
    for (const char c : text) {
        if (c == '&')
            result += "&amp;";
        else if (c == '<')
            result += "&lt;";
        else if (c == '>')
            result += "&gt;";
        else if (c == '"')
            result += "&quot;";
        else if (static_cast<unsigned char>(c) >= 32 || c == '\n' || c == '\t')
            result += c; // other control characters may not stand in XML at all
    }
    return result;
}

struct Case {
    std::string name;
    bool skipped = false;
    std::string failure; ///< empty: passed
    std::string detail;
};

std::string toXml(const Case &one, const std::string &suite) {
    std::string xml = fmt::format("    <testcase classname=\"{}\" name=\"{}\">\n", escaped(suite),
                                  escaped(one.name));
    if (one.skipped)
        xml += fmt::format("      <skipped message=\"{}\"/>\n", escaped(one.detail));
    else if (!one.failure.empty())
        xml += fmt::format("      <failure message=\"{}\">{}</failure>\n", escaped(one.failure),
                           escaped(one.detail));
    else if (!one.detail.empty())
        xml += fmt::format("      <system-out>{}</system-out>\n", escaped(one.detail));
    return xml + "    </testcase>\n";
}

} // namespace

Result<std::vector<std::string>> regressions(const Json &stored, const Json &now,
                                             double tolerance) {
    if (!stored.is_object() || !stored.contains("correct") || !stored["correct"].is_boolean())
        return requestError("the stored verdict is none; make one with 'cuda-agent check TASK "
                            "CANDIDATE --json > verdict.json'");
    for (const char *key : {"device", "numerics"})
        if (text(stored, key) != text(now, key))
            return requestError("the stored verdict has {} '{}', this one '{}'; they cannot be "
                                "compared",
                                key, text(stored, key), text(now, key));
    std::vector<std::string> worse;
    if (!stored["correct"].get<bool>())
        return worse; // it can only get better
    if (!now.value("correct", false)) {
        worse.push_back("it was correct and is not: " + text(now, "problem"));
        return worse;
    }
    const Time before = timeOf(stored, "candidate");
    const Time after = timeOf(now, "candidate");
    for (const char *name : {"eager", "compile"}) {
        const Time baseBefore = timeOf(stored, name);
        const Time baseAfter = timeOf(now, name);
        if (before.seconds <= 0 || after.seconds <= 0 || baseBefore.seconds <= 0 ||
            baseAfter.seconds <= 0)
            continue;
        const double was = baseBefore.seconds / before.seconds;
        const double is = baseAfter.seconds / after.seconds;
        const double leastBefore = baseBefore.low / before.high;
        const double mostAfter = baseAfter.high / after.low;
        if (is < was * (1 - tolerance) && mostAfter < leastBefore)
            worse.push_back(
                fmt::format("speed-up over {} fell from {:.2f}x to {:.2f}x (by {:.0f} %; "
                            "{:.0f} % are allowed)",
                            std::string_view(name) == "compile" ? "torch.compile" : name, was, is,
                            100 * (1 - is / was), 100 * tolerance));
    }
    return worse;
}

std::string junitXml(const std::string &name, const Json &verdict,
                     const std::vector<std::string> *worse) {
    std::vector<Case> cases;
    Case compile{"compiles", false, {}, {}};
    if (!verdict.value("compiled", false))
        compile.failure =
            text(verdict, "problem").empty() ? "it does not" : text(verdict, "problem");
    const Json diagnostics = verdict.value("diagnostics", Json::array());
    for (const Json &each : diagnostics)
        compile.detail +=
            fmt::format("{}:{}:{}: {}\n", each.value("file", "?"), each.value("line", 0),
                        each.value("column", 0), each.value("message", ""));
    cases.push_back(compile);
    const Json checks = verdict.value("checks", Json::array());
    for (const Json &check : checks) {
        Case one{text(check, "name"), check.value("skipped", false), {}, text(check, "detail")};
        if (!one.skipped && !check.value("passed", false)) {
            one.failure = one.detail.empty() ? "failed" : one.detail;
            one.detail = check.dump(2, ' ', false, Json::error_handler_t::replace);
        }
        cases.push_back(std::move(one));
    }
    if (const Json report = verdict.value("sanitizer", Json()); report.is_object()) {
        Case checked{"every access", false, {}, {}};
        const Json findings = report.value("findings", Json::array());
        for (const Json &each : findings) {
            const auto found =
                fmt::format("{}:{}:{}: {}: {}", text(each, "file"), each.value("line", 0),
                            each.value("column", 0), text(each, "kind"), text(each, "message"));
            if (checked.failure.empty())
                checked.failure = found;
            checked.detail += found + '\n';
        }
        cases.push_back(std::move(checked));
    }
    if (verdict.value("compiled", false) && !verdict.value("correct", false) &&
        std::ranges::none_of(cases, [](const Case &one) { return !one.failure.empty(); }))
        cases.push_back({"correct", false, text(verdict, "problem"), {}});
    if (worse)
        cases.push_back(
            {"not worse than before", false, fmt::format("{}", fmt::join(*worse, "; ")), {}});
    std::string body;
    int failures = 0;
    int skipped = 0;
    for (const Case &one : cases) {
        body += toXml(one, name);
        failures += !one.failure.empty();
        skipped += one.skipped;
    }
    return fmt::format("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                       "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" "
                       "errors=\"0\" time=\"{:.3f}\">\n{}  </testsuite>\n</testsuites>\n",
                       escaped(name), cases.size(), failures, skipped,
                       verdict.value("seconds", 0.0), body);
}

} // namespace cuda_agent::judge
