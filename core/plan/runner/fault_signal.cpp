// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/fault_signal.h"

#include "core/base/json.h"

#include <atomic>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <unistd.h>

namespace cuda_agent::plan::runner {

namespace {

struct Known {
    int signal;
    const char *text;
};
constexpr std::array<Known, 4> signals{{
    {SIGSEGV, "SIGSEGV (an access to memory that is not there)"},
    {SIGBUS, "SIGBUS (an access to memory that is not there)"},
    {SIGFPE, "SIGFPE (an integer division by zero)"},
    {SIGILL, "SIGILL (an instruction that this processor lacks, or __builtin_trap)"},
}};

std::atomic<const FaultTexts *> running{nullptr};
int channelFd = -1;

void onSignal(int number, siginfo_t *, void *) {
    // The first thread to fault sends; the others have nothing to add.
    if (const FaultTexts *texts = running.exchange(nullptr)) {
        for (std::size_t i = 0; i < signals.size(); ++i) {
            if (signals[i].signal != number)
                continue;
            const std::string &frame = texts->frame(i);
            [[maybe_unused]] const auto written = ::write(channelFd, frame.data(), frame.size());
        }
    }
    struct sigaction plain {};
    plain.sa_handler = SIG_DFL;
    sigaction(number, &plain, nullptr);
    // Returning repeats the instruction, which now ends the process.
    raise(number);
}

} // namespace

void installFaultSignals(int channel) {
    channelFd = channel;
    struct sigaction action {};
    action.sa_sigaction = onSignal;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    for (const auto &each : signals)
        sigaction(each.signal, &action, nullptr);
}

FaultTexts::FaultTexts(const std::string &label) {
    for (std::size_t i = 0; i < signals.size(); ++i) {
        const std::string payload =
            Json{{"fault", fmt::format("{} in {}", signals[i].text, label)}}.dump();
        // The header of a channel frame: payload bytes, descriptors.
        const std::uint32_t header[2] = {static_cast<std::uint32_t>(payload.size()), 0};
        frames_[i].assign(reinterpret_cast<const char *>(header), sizeof header);
        frames_[i] += payload;
    }
}

RunningStep::RunningStep(const FaultTexts &texts) {
    running = &texts;
}

RunningStep::~RunningStep() {
    running = nullptr;
}

} // namespace cuda_agent::plan::runner
