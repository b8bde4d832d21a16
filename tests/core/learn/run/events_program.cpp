// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// For tensorboard_test.py.
//   learn_run_events write FOLDER STEPS RESUME...   a run of STEPS steps, resumed at each RESUME
//                                                   (after which STEPS steps are made again)
//   learn_run_events read FOLDER                    prints metric, step, value of each point
#include "core/learn/run/metrics_store.h"
#include "core/learn/run/run_writer.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace {

using namespace cuda_agent::learn;

int train(cuda_agent::Result<RunWriter> run, std::int64_t from, std::int64_t steps, int start) {
    if (!run) {
        std::fprintf(stderr, "%s\n", run.error().message.c_str());
        return 1;
    }
    for (std::int64_t step = from; step < from + steps; ++step) {
        const auto x = static_cast<double>(step);
        Metrics metrics{{"train/loss", 3 * std::exp(-x / 40) + start},
                        {"critic/score/mean", std::sin(x)},
                        {"start", start}};
        if (step % 5 == 0)
            metrics["odd/nan"] = std::nan("");
        if (step % 7 == 0)
            metrics["odd/large"] = step % 2 ? 1e300 : -std::exp(-400.);
        if (!run->log(step, "pretrain", metrics))
            return 1;
    }
    return 0;
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 3)
        return 2;
    const std::string what = argv[1];
    const std::filesystem::path folder = argv[2];
    if (what == "read") {
        MetricsStore store(folder);
        while (store.read().more) {
        }
        for (const auto &[name, series] : store.metrics())
            for (std::size_t i = 0; i < series.size(); ++i)
                std::printf("%s\t%.17g\t%.17g\n", name.c_str(), series.step[i], series.value[i]);
        return store.badCount() == 0 ? 0 : 1;
    }
    const std::int64_t steps = std::atoll(argv[3]);
    int result = train(RunWriter::create(folder, {}), 0, steps, 0);
    for (int i = 4; i < argc && result == 0; ++i) {
        const std::int64_t from = std::atoll(argv[i]);
        result = train(RunWriter::resume(folder, from), from, steps, i - 3);
    }
    return result;
}
