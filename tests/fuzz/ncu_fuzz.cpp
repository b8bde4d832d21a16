// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// A table of Nsight Compute: a file of somebody else's, with the names of their kernels.

#include "core/ncu/compare.h"
#include "tests/fuzz/fuzz.h"

#include <cmath>

using namespace cuda_agent;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const auto report = ncu::parseCsv(fuzz::textOf(data, size));
    if (!report) {
        fuzz::require(!report.error().message.empty(), "an error says what is wrong");
        return 0;
    }
    int before = -1;
    for (const auto &launch : report->launches) {
        fuzz::require(launch.id > before, "launches are sorted and differ");
        before = launch.id;
        for (const auto &metric : launch.metrics)
            fuzz::require(!metric.value || std::isfinite(*metric.value), "a value is a number");
    }
    (void)ncu::toJson(*report).dump(-1, ' ', false, Json::error_handler_t::replace);
    const Json ours{{"launches", {{{"kind", "kernel"}, {"name", "k"}, {"seconds", 1}}}}};
    (void)ncu::compare(*report, ours);
    return 0;
}
