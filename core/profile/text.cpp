// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/text.h"

#include <algorithm>

namespace cuda_agent::profile {

namespace {

/// "3.21 ms", "512 us", "45.0 ns".
std::string timeText(double seconds) {
    if (seconds >= 1)
        return fmt::format("{:.3g} s", seconds);
    if (seconds >= 1e-3)
        return fmt::format("{:.3f} ms", 1e3 * seconds);
    return fmt::format("{:.2f} us", 1e6 * seconds);
}

/// "1.07 GB", "96 kB".
std::string amountText(double amount, const std::string &unit) {
    constexpr std::array prefixes = {"", "k", "M", "G", "T", "P"};
    std::size_t step = 0;
    while (amount >= 1000 && step + 1 < prefixes.size()) {
        amount /= 1000;
        ++step;
    }
    return fmt::format("{:.3g} {}{}", amount, prefixes[step], unit);
}

std::string percentText(const Figure &figure) {
    return figure ? fmt::format("{:.1f} %", 100 * *figure) : "-";
}

/// What a launch says on lines of its own, each with a name.
void addLaunch(std::vector<std::string> &lines, const Launch &launch, std::size_t index) {
    lines.push_back(fmt::format("[{}] {}  {}  ({:.1f} % of the work)  {}", index, launch.name,
                                timeText(launch.seconds), 100 * launch.share, launch.label));
    const auto line = [&](const char *name, const std::string &text) {
        if (!text.empty())
            lines.push_back(fmt::format("      {:<19} {}", name, text));
    };
    if (launch.grid[0] > 0) {
        std::string shape =
            fmt::format("grid {} x {} x {}, block {} x {} x {}", launch.grid[0], launch.grid[1],
                        launch.grid[2], launch.block[0], launch.block[1], launch.block[2]);
        if (launch.registers >= 0)
            shape += fmt::format(", {} registers", launch.registers);
        if (launch.spillBytes > 0)
            shape += fmt::format(", {} bytes spilled", launch.spillBytes);
        if (launch.sharedStatic + launch.sharedDynamic > 0)
            shape += fmt::format(", {} + {} bytes shared",
                                 std::max<std::int64_t>(launch.sharedStatic, 0),
                                 std::max<std::int64_t>(launch.sharedDynamic, 0));
        line("launch", shape);
    }
    if (launch.theoretical) {
        std::string limiters;
        for (const auto limiter : launch.theoretical->limiters)
            limiters += (limiters.empty() ? "" : ", ") + std::string(device::nameOf(limiter));
        line("occupancy", fmt::format("{:.0f} % possible (limited by {}), {} reached; {} waves",
                                      100 * launch.theoretical->fraction, limiters,
                                      percentText(launch.achievedOccupancy),
                                      launch.waves ? fmt::format("{:.2f}", *launch.waves) : "-"));
    }
    for (const auto &roof : launch.roofs)
        if (roof.amount > 0)
            line(roof.name.c_str(),
                 fmt::format(
                     "{}, {}/s: {} of the measured ceiling{}", amountText(roof.amount, roof.unit),
                     amountText(roof.rate, roof.unit), percentText(roof.ofMeasured),
                     roof.ofDatasheet ? ", " + percentText(roof.ofDatasheet) + " of the data sheet"
                                      : ""));
    std::string stalls;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, launch.stalls.size()); ++i)
        stalls += fmt::format("{}{} {:.0f} %", i > 0 ? ", " : "", launch.stalls[i].name,
                              100 * launch.stalls[i].share);
    line("stalls", stalls);
    std::string places;
    for (std::size_t i = 0; i < std::min<std::size_t>(3, launch.lines.size()); ++i) {
        const auto &hot = launch.lines[i];
        places += fmt::format("{}{}:{} {:.0f} % ({})", i > 0 ? ", " : "", hot.file, hot.line,
                              100 * hot.share, hot.stall);
    }
    line("lines", places);
}

} // namespace

std::vector<std::string> linesOf(const Report &report) {
    std::vector<std::string> lines;
    lines.push_back(report.device.name + ": " + report.label);
    std::string head = fmt::format("one call takes {}", timeText(report.spanSeconds));
    const auto count = report.launches.size();
    const auto busy = timeText(report.busySeconds);
    if (count == 1)
        head += fmt::format(", its launch {}", busy);
    else if (count > 1)
        head += fmt::format(", its {} launches {} together", count, busy);
    lines.push_back(head);
    for (std::size_t i = 0; i < report.launches.size(); ++i)
        addLaunch(lines, report.launches[i], i);
    for (const auto &finding : report.findings)
        lines.push_back(fmt::format(
            "{}{}{} {}", finding.stop ? "at the limit" : "finding",
            finding.launch >= 0 ? fmt::format(" [{}]", finding.launch) : "",
            finding.file.empty() ? ":" : fmt::format(" {}:{}:", finding.file, finding.line),
            finding.message));
    for (const auto &note : report.notes)
        lines.push_back("note: " + note);
    return lines;
}

} // namespace cuda_agent::profile
