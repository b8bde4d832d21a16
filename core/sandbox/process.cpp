// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/machine.h"
#include "core/sandbox/sandbox.h"

namespace cuda_agent::sandbox {

struct Process::State {
    Channel channel;
    std::unique_ptr<Supervisor> supervisor;
};

/// Lets `start` make a Process without its header naming the pieces.
struct ProcessMaker {
    static Process make(Channel channel, std::unique_ptr<Supervisor> supervisor) {
        auto state = std::make_unique<Process::State>();
        state->channel = std::move(channel);
        state->supervisor = std::move(supervisor);
        return Process(std::move(state));
    }
};

Process::Process(std::unique_ptr<State> state) : state_(std::move(state)) {}
Process::Process(Process &&) noexcept = default;
Process &Process::operator=(Process &&) noexcept = default;
Process::~Process() = default;

Channel &Process::channel() {
    return state_->channel;
}
bool Process::running() {
    return !state_->supervisor->finished();
}
void Process::kill() {
    state_->supervisor->kill();
}
std::string Process::standardErrorSoFar() {
    return state_->supervisor->standardErrorSoFar();
}
Record Process::wait() {
    return state_->supervisor->wait();
}

Result<Process> start(const Policy &policy, const std::vector<std::string> &argv) {
    const Machine &machine = thisMachine();
    if (!machine.support.problem.empty())
        return machineError("{}", machine.support.problem);
    CUDA_AGENT_ASSIGN(ends, Channel::makePair());
    CUDA_AGENT_ASSIGN(supervisor,
                      startOn(machine, policy, argv, UniqueFd(), std::move(ends.second)));
    return ProcessMaker::make(std::move(ends.first), std::move(supervisor));
}

} // namespace cuda_agent::sandbox
