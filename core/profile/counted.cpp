// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/counted.h"

#include <set>

namespace cuda_agent::profile {

namespace {

using plan::Program;

class StepCounter {
  public:
    explicit StepCounter(const Program &program) : program_(program) {}

    Counted operator()(const plan::ProgramKernel &kernel) const {
        std::set<int> buffers;
        for (const auto &argument : kernel.arguments)
            buffers.insert(argument.buffer);
        return {bytesOf(buffers), 0};
    }
    Counted operator()(const plan::ProgramFill &fill) const { return {bytesOf({fill.buffer}), 0}; }
    Counted operator()(const plan::ProgramGemm &gemm) const {
        return {bytesOf({gemm.a, gemm.b, gemm.c, gemm.bias}),
                2.0 * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) *
                    static_cast<double>(gemm.k) * static_cast<double>(gemm.batch)};
    }
    Counted operator()(const plan::ProgramConvolution &step) const {
        // A weight element is used once for every place of the output's channel (transposed: of the
        // input's), in each item of the batch.
        const auto channelsAt = [&](const TensorType &type) {
            return static_cast<double>(
                type.shape.at(step.channelsLast ? type.shape.size() - 1 : 1));
        };
        const TensorType &type = typeOf(step.transposed ? step.input : step.output);
        const double places =
            static_cast<double>(type.elements()) / std::max(channelsAt(type), 1.0);
        const double weights = static_cast<double>(typeOf(step.weight).elements());
        return {bytesOf({step.input, step.weight, step.output, step.bias}), 2 * places * weights};
    }

  private:
    const TensorType &typeOf(int buffer) const {
        return program_.buffers.at(static_cast<std::size_t>(buffer)).type;
    }
    std::uint64_t bytesOf(const std::set<int> &buffers) const {
        std::uint64_t sum = 0;
        for (const int buffer : buffers)
            if (buffer >= 0)
                sum += static_cast<std::uint64_t>(typeOf(buffer).elements()) *
                       sizeOf(typeOf(buffer).dtype);
        return sum;
    }

    const Program &program_;
};

} // namespace

std::vector<Counted> countedSteps(const plan::Program &program) {
    std::vector<Counted> counted;
    for (const auto &step : program.steps)
        counted.push_back(std::visit(StepCounter(program), step.work));
    return counted;
}

} // namespace cuda_agent::profile
