// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/judge/faults.h"

#include "core/judge/state.h"
#include "core/plan/library_folders.h"

namespace cuda_agent::judge {

namespace {

Result<void> lookAt(const device::Info &device, const sandbox::Record &record,
                    std::stop_token stop) {
    return device::checkAfterFault(device, record, probeOptions(), std::move(stop));
}

} // namespace

device::ProbeOptions probeOptions() {
    device::ProbeOptions options;
    for (auto &folder : plan::ownLibraryFolders())
        if (!plan::isSystemFolder(folder))
            options.libraryFolders.push_back(std::move(folder));
    return options;
}

Result<void> takeStartFault(const Error &error, const device::Info &device, Verdict &verdict,
                            std::stop_token stop) {
    verdict.problem = error.message;
    const auto kind = plan::faultKindOf(error.message);
    if (kind == plan::FaultKind::other)
        return {}; // refused, not failed: a kernel of another name
    verdict.fault = plan::Fault{kind, error.message};
    return plan::concernsDevice(kind) ? lookAt(device, {}, std::move(stop)) : Result<void>();
}

Result<void> endProcess(plan::CandidateProcess &process, const device::Info &device,
                        Verdict &verdict, std::stop_token stop) {
    const auto fault = process.fault();
    const auto record = process.finish();
    append(verdict.unenforced, record.unenforced);
    if (fault && verdict.verification.failed())
        verdict.fault = fault;
    if (record.stuck || (fault && plan::concernsDevice(fault->kind)))
        return lookAt(device, record, std::move(stop));
    return {};
}

Error explained(const Error &error, plan::CandidateProcess &process, const device::Info &device,
                std::stop_token stop) {
    if (error.kind != ErrorKind::machine || device.kind != device::Kind::cuda)
        return error;
    const auto looked = lookAt(device, process.finish(), std::move(stop));
    return !looked && device::quarantineOf(device::quarantineName(device)) ? looked.error() : error;
}

} // namespace cuda_agent::judge
