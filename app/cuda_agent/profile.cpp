// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/commands.h"
#include "app/cuda_agent/common.h"
#include "app/cuda_agent/profile_device.h"
#include "app/cuda_agent/profile_targets.h"

namespace cuda_agent::app {

namespace {

struct Options {
    TaskOptions task;
    std::vector<std::string> candidates;
    std::string architectures; ///< empty: this machine's device
    std::string listing;       ///< with architectures: "sass" or "ptx"
    DeviceProfileOptions onDevice;
};

Result<int> profile(const Options &options, bool elsewhere, std::stop_token stop) {
    if (!elsewhere)
        return profileOnDevice(options.task, options.candidates, options.onDevice, std::move(stop));
    if (options.candidates.size() > 1)
        return requestError("--arch takes one candidate, not {}", options.candidates.size());
    return profileTargets(options.task, options.candidates.front(), options.architectures,
                          options.listing, std::move(stop));
}

} // namespace

Run addProfile(CLI::App &app) {
    auto options = std::make_shared<Options>();
    options->task.add(app);
    app.add_option(
           "CANDIDATE", options->candidates,
           "Folder with plan.json and its kernels; several are profiled one after the other")
        ->required();
    options->onDevice.add(app);
    app.footer(targetsHelp);
    auto *elsewhere = app.add_option(
        "--arch", options->architectures,
        "In place of running anything, compile for these architectures (sm_80,sm_90, or all) and "
        "show what the kernels need on each. No such card is needed");
    app.add_option("--listing", options->listing,
                   "With --arch, for a plan: also the instructions of the kernels, each under the "
                   "line of source that it was made from")
        ->check(CLI::IsMember({"sass", "ptx"}))
        ->needs(elsewhere);
    return [options, elsewhere](std::stop_token stop) {
        return profile(*options, elsewhere->count() > 0, std::move(stop));
    };
}

} // namespace cuda_agent::app
