// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/backend.h"

#include <cmath>

namespace cuda_agent::plan::runner {

namespace {

template <typename Element>
void fillElements(std::byte *to, std::uint64_t bits, std::int64_t count) {
    std::fill_n(reinterpret_cast<Element *>(to), count, static_cast<Element>(bits));
}

} // namespace

void fillWith(std::byte *to, const ProgramScalar &element, std::int64_t count) {
    if (element.bytes == 8)
        fillElements<std::uint64_t>(to, element.bits, count);
    else if (element.bytes == 4)
        fillElements<std::uint32_t>(to, element.bits, count);
    else if (element.bytes == 2)
        fillElements<std::uint16_t>(to, element.bits, count);
    else
        fillElements<std::uint8_t>(to, element.bits, count);
}

bool usableInPlace(const ProgramBuffer &buffer, const LentView &view, std::uintptr_t address) {
    return view.type.elements() == 0 || (view.type.contiguous() && address % buffer.alignment == 0);
}

std::vector<std::string> kernelLabels(const Program &program) {
    std::vector<std::string> labels;
    for (const auto &step : program.steps)
        if (std::holds_alternative<ProgramKernel>(step.work))
            labels.push_back(step.label);
    return labels;
}

int callsPerSample(double wanted, double secondsOfOneCall) {
    if (wanted <= 0)
        return 1;
    // A call that is too short to be seen by the clock must not lead to endless repetition.
    const double calls = std::ceil(wanted / std::max(secondsOfOneCall, 1e-7));
    return static_cast<int>(std::clamp(calls, 1.0, 100000.0));
}

Result<double> warmUp(const TimeRequest &request, const std::function<Result<double>()> &once) {
    const int calls = std::max(request.warmup, request.minimumSampleSeconds > 0 ? 1 : 0);
    double least = 0;
    for (int i = 0; i < calls; ++i) {
        CUDA_AGENT_ASSIGN(seconds, once());
        least = i == 0 ? seconds : std::min(least, seconds);
    }
    return least;
}

} // namespace cuda_agent::plan::runner
