// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/verify/verify.h"

#include <algorithm>

namespace cuda_agent::verify {

namespace {

bool zerosPass(const Pool &pool, std::size_t output, DType dtype) {
    return std::all_of(pool.random.begin(), pool.random.end(), [&](const auto &entry) {
        const auto &own = entry.errors.at(output);
        const auto allowed = allowanceFor(own, pool, output, dtype);
        return own.oracleNorm <= allowed.errorNorm && own.maxOracle <= allowed.maxError;
    });
}

bool otherInputsPass(const Pool &pool, std::size_t output, DType dtype) {
    bool known = false;
    for (const auto &entry : pool.random) {
        const auto &own = entry.errors.at(output);
        if (own.changeNorm < 0)
            continue;
        known = true;
        if (!isFloating(dtype)) {
            if (own.changeNorm > 0)
                return false;
            continue;
        }
        const auto allowed = allowanceFor(own, pool, output, dtype);
        if (own.changeNorm * own.oracleNorm > allowed.errorNorm ||
            own.changeMax * own.maxOracle > allowed.maxError)
            return false;
    }
    return known;
}

} // namespace

std::string unsuitable(const Pool &pool) {
    std::string why;
    for (std::size_t i = 0; i < pool.description.outputs.size(); ++i) {
        const DType dtype = pool.description.outputs[i].type.dtype;
        std::string blind;
        if (isFloating(dtype) && zerosPass(pool, i, dtype))
            blind = fmt::format("zeros would pass as output {}", i);
        else if (otherInputsPass(pool, i, dtype))
            blind = fmt::format("output {} is the same whatever the inputs are", i);
        if (blind.empty())
            return {};
        why += (why.empty() ? "" : ", ") + blind;
    }
    return why;
}

} // namespace cuda_agent::verify
