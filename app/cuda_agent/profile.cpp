// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/commands.h"
#include "app/cuda_agent/common.h"
#include "app/cuda_agent/profile_targets.h"

#include "core/device/architectures.h"

namespace cuda_agent::app {

namespace {

struct Options {
    TaskOptions task;
    std::string candidate;
    std::string architectures; ///< empty: this machine's device
};

Result<int> profile(const Options &options, bool elsewhere, std::stop_token stop) {
    if (elsewhere)
        return profileTargets(options.task, options.candidate, options.architectures,
                              std::move(stop));
    return machineError("counters of this machine's device are not there yet; --arch {} shows what "
                        "the kernels need on other cards",
                        device::architectures().front().name);
}

} // namespace

Run addProfile(CLI::App &app) {
    auto options = std::make_shared<Options>();
    options->task.add(app);
    app.add_option("CANDIDATE", options->candidate, "Folder with plan.json and its kernels")
        ->required();
    app.footer(targetsHelp);
    auto *elsewhere = app.add_option(
        "--arch", options->architectures,
        "In place of running anything, compile for these architectures (sm_80,sm_90, or all) and "
        "show what the kernels need on each. No such card is needed");
    return [options, elsewhere](std::stop_token stop) {
        return profile(*options, elsewhere->count() > 0, std::move(stop));
    };
}

} // namespace cuda_agent::app
