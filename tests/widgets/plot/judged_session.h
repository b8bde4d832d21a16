// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/base/theme.h"
#include "widgets/session/session_document.h"

#include <QApplication>
#include <QTest>
#include <QWidget>

namespace cuda_agent::widgets::judged {

using session::EventType;

/// A session with verdicts, as events. Baselines: eager 2.1 ms, compile 1.9 ms.
class Session {
  public:
    Session &add(EventType type, int turn, Json data) {
        const auto sequence = static_cast<std::int64_t>(events.size());
        events.push_back(
            {sequence, 1e9 + 0.1 * static_cast<double>(sequence), type, turn, std::move(data)});
        return *this;
    }
    Session &begin(double flops = 0, bool ceilings = true, const char *device = "cpu") {
        kind = device;
        add(EventType::sessionStarted, 0,
            {{"task", {{"name", "softmax"}}}, {"numerics", "default"}, {"policy", "planner"}});
        add(EventType::taskDescribed, 0,
            {{"counted_bytes", 16'000'000}, {"matmul_flops", flops}, {"convolution_flops", 0.0}});
        Json baselines{{"eager", time(0.0021)}, {"compile", time(0.0019)}};
        if (ceilings)
            baselines["ceilings"] = {{"copy_bytes_per_second", 20e9},
                                     {"fp32_flops_per_second", 400e9},
                                     {"tf32_flops_per_second", 900e9}};
        return add(EventType::baselinesMeasured, 0, std::move(baselines));
    }
    /// Adds what devices are asked for since their inner memories are measured.
    Session &withLevels() {
        Json &ceilings = events.back().data["ceilings"];
        ceilings["half_flops_per_second"] = 1600e9;
        ceilings["levels"] = {
            {{"name", "L1/shared"}, {"bytes", 96 << 10}, {"bytes_per_second", 430e9}},
            {{"name", "L2"}, {"bytes", 4 << 20}, {"bytes_per_second", 210e9}},
            {{"name", "L3"}, {"bytes", 32 << 20}, {"bytes_per_second", 47e9}}};
        return *this;
    }
    Session &judge(int turn, Json verdict, const char *author = "policy") {
        add(EventType::turnStarted, turn, {{"author", author}});
        add(EventType::compiled, turn,
            {{"ok", verdict["compiled"]}, {"kernels", verdict.value("kernels", Json::array())}});
        add(EventType::verdictGiven, turn, {{"verdict", std::move(verdict)}});
        return add(EventType::turnEnded, turn, Json::object());
    }
    Session &correct(int turn, double seconds, const char *author = "policy") {
        return judge(turn, correctVerdict(seconds), author);
    }
    Session &wrong(int turn) { return judge(turn, wrongVerdict()); }
    Session &notCompiled(int turn) { return judge(turn, notCompiledVerdict()); }

    static Json time(double seconds) {
        return {{"seconds", seconds},
                {"low", seconds * 0.98},
                {"high", seconds * 1.03},
                {"samples", 400}};
    }
    Json common() const {
        return {{"compiled", true},
                {"correct", false},
                {"reward", -1},
                {"device", kind},
                {"numerics", "default"},
                {"strength", "training"},
                {"seconds", 1.07},
                {"flags", Json::array()},
                {"unenforced", Json::array()},
                {"checks", Json::array()},
                {"times", {{"eager", time(0.0021)}, {"compile", time(0.0019)}}},
                {"best_stock", {{"name", "compile"}, {"seconds", 0.0019}}}};
    }
    Json correctVerdict(double seconds) const {
        Json verdict = common();
        verdict["correct"] = true;
        verdict["strength"] = "full";
        verdict["reward"] = 0.0021 <= 1.05 * seconds ? 1 : 0.0019 <= 1.05 * seconds ? 2 : 3;
        verdict["times"]["candidate"] = time(seconds);
        verdict["speedup"] = {{"eager", 0.0021 / seconds}, {"compile", 0.0019 / seconds}};
        verdict["limit_seconds"] = 0.0008;
        verdict["limited_by"] = "memory";
        verdict["fraction_of_limit"] = 0.0008 / seconds;
        verdict["flags"] = {"throttled"};
        verdict["unenforced"] = {"memory: watched only"};
        verdict["kernels"] = {
            {{"name", "rows"}, {"registers", 32}, {"spill_bytes", 0}, {"shared_bytes", 4096}}};
        verdict["checks"] = {{{"name", "random inputs"},
                              {"passed", true},
                              {"detail", "5 cases at the same pointers"}},
                             {{"name", "misaligned storage"},
                              {"passed", true},
                              {"skipped", true},
                              {"detail", "the task has no storage to move"}}};
        return verdict;
    }
    Json wrongVerdict() const {
        Json verdict = common();
        const Json failed{{"name", "random inputs"},
                          {"passed", false},
                          {"detail", "case 'random 1', output 0, index [120,972]: expected 10.756, "
                                     "got 0.72395 (largest error 10, allowed 1.04e-05)"},
                          {"evidence",
                           {{"case", "random 1"},
                            {"output", 0},
                            {"index", {120, 972}},
                            {"expected", 10.756},
                            {"got", 0.72395},
                            {"error", 10.032},
                            {"allowed", 1.04e-05}}}};
        verdict["checks"] = {failed};
        verdict["failed_check"] = failed;
        verdict["problem"] = "random inputs: wrong";
        return verdict;
    }
    Json notCompiledVerdict() const {
        Json verdict = common();
        verdict["compiled"] = false;
        verdict["problem"] = "does not compile: expected ';'";
        verdict["diagnostics"] = {{{"severity", "warning"},
                                   {"file", "kernels/row.cu"},
                                   {"line", 2},
                                   {"column", 1},
                                   {"message", "unused variable"}},
                                  {{"severity", "error"},
                                   {"file", "kernels/row.cu"},
                                   {"line", 7},
                                   {"column", 12},
                                   {"message", "expected ';'"}}};
        verdict.erase("times");
        return verdict;
    }
    SessionIndex index() const {
        SessionIndex made;
        for (const session::Event &event : events)
            made.append(event);
        return made;
    }

    std::vector<session::Event> events;
    std::string kind = "cpu";
};

/// Shows the widget in light and dark; saves pictures where CUDA_AGENT_SCREENSHOTS names a folder.
inline void photograph(QWidget &widget, const QString &name) {
    const QString folder = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
    for (const auto scheme : {Theme::Scheme::light, Theme::Scheme::dark}) {
        Theme::instance().setScheme(scheme);
        QTest::qWait(120);
        const QImage image = widget.grab().toImage();
        QVERIFY(!image.isNull());
        const bool dark = scheme == Theme::Scheme::dark;
        if (!folder.isEmpty())
            QVERIFY(image.save(
                QStringLiteral("%1/%2-%3.png")
                    .arg(folder, name, dark ? QStringLiteral("dark") : QStringLiteral("light"))));
    }
    Theme::instance().setScheme(Theme::Scheme::light);
}

} // namespace cuda_agent::widgets::judged
