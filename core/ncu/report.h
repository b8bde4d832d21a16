// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::ncu {

/// One figure of one launch.
struct Metric {
    std::string section; ///< "GPU Speed Of Light Throughput"; empty on the raw page
    std::string name;    ///< "dram__bytes_read.sum"; on the details page its label, or its name
    std::optional<double> value; ///< in `unit`; none for "n/a" and for text
    std::string unit;            ///< without prefixes: "byte", "second", "byte/second", "%", ...
    std::string text;            ///< as printed
};

/// One launch of a kernel.
struct Launch {
    int id = 0; ///< in the order of the run, from 0
    std::string kernel;
    std::string block, grid;       ///< "(256, 1, 1)"
    std::string computeCapability; ///< "9.0"
    std::string device;            ///< its number
    std::vector<Metric> metrics;   ///< as printed

    /// The first of that name, of that section when one is given; null when there is none. Labels
    /// of the details page are not unique: "Memory Throughput" is per cent in one section and
    /// bytes a second in another.
    const Metric *find(std::string_view name, std::string_view section = {}) const;
};

/// What Nsight Compute printed of a run.
struct Report {
    std::vector<Launch> launches; ///< by id
    int skippedLines = 0;         ///< that are no part of the table
};

/// Reads what `ncu --csv` prints, with `--page raw` (a line of names, one of units, one a launch)
/// or `--page details`, the default (a line a metric), told apart by their head line. Lines before
/// the head line are the profiled program's own and ncu's ("==PROF== ..."); such of ncu's are left
/// out anywhere. Values are scaled to units without prefixes.
/// Source: Nsight Compute CLI, Command Line Options: --csv, --page, --print-units.
/// Errors: request, with the line: no table, a row of another form than its head line says.
Result<Report> parseCsv(std::string_view text);

/// The same of a file of at most 256 MiB. Errors: request.
Result<Report> readCsv(const std::filesystem::path &file);

/// {"launches": [{"id", "kernel", "block", "grid", "compute_capability", "device", "metrics":
/// [{"section" (where it has one), "name", "value" (null where it is none), "unit", "text"}]}]}
Json toJson(const Report &report);

} // namespace cuda_agent::ncu
