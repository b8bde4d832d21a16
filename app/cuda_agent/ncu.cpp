// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/commands.h"
#include "app/cuda_agent/printer.h"

#include "core/ncu/compare.h"

#include <algorithm>
#include <cmath>

namespace cuda_agent::app {

namespace {

struct Options {
    std::string file;
    std::string with; ///< file of a report of ours
    double tolerance = 5;
    bool json = false;
};

int show(const ncu::Report &report, const Options &options) {
    if (options.json) {
        fmt::print("{}\n", ncu::toJson(report).dump(2, ' ', false, Json::error_handler_t::replace));
        return 0;
    }
    Printer printer(false);
    for (const auto &launch : report.launches) {
        printer.line(fmt::format("[{}] {}  grid {}, block {}", launch.id, launch.kernel,
                                 launch.grid, launch.block));
        for (const auto &metric : launch.metrics)
            printer.line(fmt::format(
                "      {}{}  {}{}", metric.section.empty() ? "" : metric.section + ": ",
                metric.name, metric.value ? fmt::format("{:.6g}", *metric.value) : metric.text,
                metric.unit.empty() ? "" : " " + metric.unit));
    }
    return 0;
}

Result<int> compareWith(const ncu::Report &report, const Options &options) {
    CUDA_AGENT_ASSIGN(ours, readJsonFile(options.with));
    auto comparison = ncu::compare(report, ours);
    if (!comparison)
        return requestError("{}: {}", options.with, comparison.error().message);
    const auto &figures = comparison->figures;
    if (figures.empty())
        return requestError("{} and {} have no figure in common; ncu prints counters by their "
                            "names with --page raw",
                            options.file, options.with);
    const auto apart = [&](const ncu::Difference &each) {
        return std::fabs(each.relative()) > options.tolerance / 100;
    };
    if (options.json) {
        fmt::print("{}\n",
                   ncu::toJson(*comparison).dump(2, ' ', false, Json::error_handler_t::replace));
    } else {
        Printer printer(false);
        int launch = -1;
        for (const auto &each : figures) {
            if (std::exchange(launch, each.launch) != each.launch)
                printer.line(fmt::format("[{}] {}", each.launch, each.kernel));
            printer.line(fmt::format("  {:<60} {:>13.6g} {:>13.6g} {:<12} {:+8.2f} %{}",
                                     each.metric, each.ours, each.theirs, each.unit,
                                     100 * each.relative(), apart(each) ? "  apart" : ""));
        }
        for (const auto &note : comparison->notes)
            printer.line("note: " + note);
        printer.line(fmt::format("{} of {} figures within {:g} %",
                                 std::count_if(figures.begin(), figures.end(), std::not_fn(apart)),
                                 figures.size(), options.tolerance));
    }
    return std::any_of(figures.begin(), figures.end(), apart) ? 1 : 0;
}

} // namespace

Run addNcu(CLI::App &app) {
    auto options = std::make_shared<Options>();
    app.add_option("FILE", options->file,
                   "What Nsight Compute printed: ncu --csv, with --page raw or --page details")
        ->required();
    auto *with =
        app.add_option("--with", options->with,
                       "A report of 'cuda-agent profile --json': compare figures of the same name, "
                       "ours first, and exit 1 when one is further apart than the tolerance");
    app.add_option("--tolerance", options->tolerance, "Per cent of ncu's figure")
        ->check(CLI::Range(0.0, 1000.0))
        ->capture_default_str()
        ->needs(with);
    app.add_flag("--json", options->json, "Print JSON");
    return [options](std::stop_token) -> Result<int> {
        CUDA_AGENT_ASSIGN(report, ncu::readCsv(options->file));
        return options->with.empty() ? show(report, *options) : compareWith(report, *options);
    };
}

} // namespace cuda_agent::app
