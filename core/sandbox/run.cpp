// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/machine.h"
#include "core/sandbox/sandbox.h"

namespace cuda_agent::sandbox {

Result<Record> run(const Policy &policy, const std::vector<std::string> &argv,
                   std::string_view input, std::stop_token stop) {
    const Machine &machine = thisMachine();
    if (!machine.support.problem.empty())
        return machineError("{}", machine.support.problem);
    if (stop.stop_requested())
        return stoppedError();
    UniqueFd file;
    if (!input.empty()) {
        CUDA_AGENT_ASSIGN(made, memoryFile(input));
        file = std::move(made);
    }
    CUDA_AGENT_ASSIGN(supervisor, startOn(machine, policy, argv, std::move(file), UniqueFd()));
    const std::stop_callback onStop(stop, [&supervisor] { supervisor->kill(); });
    auto record = supervisor->wait();
    if (record.killed)
        return stoppedError();
    if (!record.problem.empty())
        return machineError("sandbox {}: {} could not be run: {}", policy.name, argv[0],
                            record.problem);
    return record;
}

} // namespace cuda_agent::sandbox
