// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/tensor_type.h"

#include <vector>

namespace cuda_agent::plan {

struct ConvolutionCase {
    Shape input, weight, output;
    std::vector<std::int64_t> stride, padding, dilation;
    std::vector<std::int64_t> outputPadding = {};
    std::int64_t groups = 1;
    bool transposed = false, bias = false;
    bool channelsLast = false; ///< in memory; the shapes here stay torch's
};
/// Scatter over all pairs of an input place and a window place, in double; up to 3 dimensions.
inline std::vector<double> naiveConvolution(const ConvolutionCase &c,
                                            const std::vector<float> &input,
                                            const std::vector<float> &weight,
                                            const std::vector<float> &bias) {
    const auto wide = [](const Shape &shape) {
        Shape result = shape;
        while (result.size() < 5)
            result.insert(result.begin() + 2, 1);
        return result;
    };
    const auto pad = [](std::vector<std::int64_t> values, std::int64_t fill) {
        while (values.size() < 3)
            values.insert(values.begin(), fill);
        return values;
    };
    const Shape in = wide(c.input), w = wide(c.weight), out = wide(c.output);
    const auto stride = pad(c.stride, 1), padding = pad(c.padding, 0);
    const auto dilation = pad(c.dilation, 1);
    const auto volume = [](const Shape &s) { return s[2] * s[3] * s[4]; };
    const std::int64_t window = volume(w), outPerGroup = out[1] / c.groups,
                       inPerGroup = in[1] / c.groups;
    std::vector<double> result(out[0] * out[1] * volume(out));
    for (std::size_t i = 0; i < result.size() && !bias.empty(); ++i)
        result[i] = bias[i / volume(out) % out[1]];
    // "near" is the side that a window slides over: the input, or transposed the output.
    const Shape &near = c.transposed ? out : in, &far = c.transposed ? in : out;
    for (std::int64_t n = 0; n < in[0]; ++n) {
        for (std::int64_t oc = 0; oc < out[1]; ++oc) {
            for (std::int64_t icg = 0; icg < inPerGroup; ++icg) {
                const std::int64_t group = oc / outPerGroup;
                const std::int64_t ic = group * inPerGroup + icg;
                const std::int64_t slice =
                    c.transposed ? ic * outPerGroup + oc % outPerGroup : oc * inPerGroup + icg;
                for (std::int64_t place = 0; place < volume(far) * window; ++place) {
                    const std::int64_t f = place / window, k = place % window;
                    const std::int64_t fp[3] = {f / (far[3] * far[4]), f / far[4] % far[3],
                                                f % far[4]};
                    const std::int64_t kp[3] = {k / (w[3] * w[4]), k / w[4] % w[3], k % w[4]};
                    std::int64_t at = 0;
                    bool inside = true;
                    for (int d = 0; d < 3; ++d) {
                        const std::int64_t x = fp[d] * stride[d] - padding[d] + kp[d] * dilation[d];
                        inside = inside && x >= 0 && x < near[d + 2];
                        at = at * near[d + 2] + x;
                    }
                    if (!inside)
                        continue;
                    const std::int64_t inAt = c.transposed ? f : at, outAt = c.transposed ? at : f;
                    result[(n * out[1] + oc) * volume(out) + outAt] +=
                        double{weight[slice * window + k]} *
                        input[(n * in[1] + ic) * volume(in) + inAt];
                }
            }
        }
    }
    return result;
}

} // namespace cuda_agent::plan
