// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/verify/verify.h"

#include <cmath>

namespace cuda_agent::verify {

namespace {

/// How far above the reference's own error a candidate may lie.
constexpr double errorRatio = 4;
/// Floor in units of the roundoff, relative to the norm and to the largest element: two differently
/// rounded elementary functions and a different order of summation stay inside.
constexpr double normUnits = 4;
constexpr double maxUnits = 8;
/// Below the normal numbers an operation errs by up to half of the smallest number whatever its
/// result, fl(x op y) = (x op y)(1 + d) + e (Higham, ch. 2.8), and a sum of such products adds
/// that up. Types of 16 bits are summed in fp32: they err once, when the sum is rounded.
constexpr double underflowUnits = 8;
constexpr double underflowUnitsOfHalves = 2;

struct Precision {
    double unit;     ///< unit roundoff
    double smallest; ///< smallest positive subnormal
    double underflow() const {
        return (unit > 0x1p-20 ? underflowUnitsOfHalves : underflowUnits) * smallest;
    }
};

Precision precisionOf(DType dtype) {
    switch (dtype) {
    case DType::float16:
        return {0x1p-11, 0x1p-24};
    case DType::bfloat16:
        return {0x1p-8, 0x1p-133};
    case DType::float64:
        return {0x1p-53, 0x1p-1074};
    default:
        return {0x1p-24, 0x1p-149};
    }
}

double ratio(double part, double whole) {
    return whole > 0 ? part / whole : 0;
}

} // namespace

Allowance allowanceFor(const reference::ReferenceError &own, const Pool &pool, std::size_t output,
                       DType dtype) {
    // A single case can be lucky, most of all when the output is one number, so the relative
    // errors of all random cases count.
    double norm = ratio(own.errorNorm, own.oracleNorm);
    double largest = ratio(own.maxError, own.maxOracle);
    double sensitiveNorm = ratio(own.sensitivityNorm, own.oracleNorm);
    double sensitiveMax = ratio(own.sensitivityMax, own.maxOracle);
    for (const auto &entry : pool.random) {
        const auto &error = entry.errors.at(output);
        norm = std::max(norm, ratio(error.errorNorm, error.oracleNorm));
        largest = std::max(largest, ratio(error.maxError, error.maxOracle));
        sensitiveNorm = std::max(sensitiveNorm, ratio(error.sensitivityNorm, error.oracleNorm));
        sensitiveMax = std::max(sensitiveMax, ratio(error.sensitivityMax, error.maxOracle));
    }
    const auto precision = precisionOf(dtype);
    const auto elements = static_cast<double>(
        std::max<std::int64_t>(pool.description.outputs.at(output).type.elements(), 1));
    Allowance allowance;
    allowance.errorNorm = own.oracleNorm * std::max({errorRatio * norm, errorRatio * sensitiveNorm,
                                                     normUnits * precision.unit}) +
                          precision.underflow() * std::sqrt(elements);
    allowance.maxError = own.maxOracle * std::max({errorRatio * largest, errorRatio * sensitiveMax,
                                                   maxUnits * precision.unit}) +
                         precision.underflow();
    return allowance;
}

Allowance exactAllowance(const reference::ReferenceError &own, DType dtype) {
    const auto precision = precisionOf(dtype);
    return {own.oracleNorm * normUnits * precision.unit, own.maxOracle * maxUnits * precision.unit};
}

} // namespace cuda_agent::verify
