// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Half, bfloat16, vector types, intrinsics, and how exact the math functions are.

#include "tests/core/toolchain/host_helpers.h"

#include <bit>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

using namespace cuda_agent;
using namespace cuda_agent::toolchain;
using namespace cuda_agent::toolchain::test;

namespace {

/// Rounds to 16 bits by exact comparison with all neighbours: an independent reference.
std::uint16_t bfloat16Of(float x) {
    const auto word = std::bit_cast<std::uint32_t>(x);
    const std::uint32_t low = word & 0xffff0000u;
    const float below = std::bit_cast<float>(low);
    const float above = std::bit_cast<float>(low + 0x10000u);
    const double down = std::fabs(double(x) - below), up = std::fabs(double(above) - x);
    const bool even = (low >> 16 & 1) == 0;
    return static_cast<std::uint16_t>((down < up || (down == up && even) ? low : low + 0x10000u) >>
                                      16);
}

/// Distance in units of the last place of the exact value's float.
double ulps(float got, double want) {
    if (std::isnan(want))
        return std::isnan(got) ? 0 : 1e9;
    if (std::isinf(got) || std::isinf(static_cast<float>(want)))
        return got == static_cast<float>(want) || std::fabs(want) > 3.4028234e38 ? 0 : 1e9;
    int exponent = 0;
    std::frexp(want, &exponent);
    return std::fabs(got - want) / std::ldexp(1.0, std::max(exponent - 24, -149));
}

} // namespace

TEST(HostTypes, HalfAndBfloat16) {
    Kernels kernels(R"(
#include <cuda_fp16.h>
#include <cuda_bf16.h>
extern "C" __global__ void halves(const float *x, __half *h, __nv_bfloat16 *b, float *o, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    h[i] = __float2half(x[i]);
    b[i] = __float2bfloat16(x[i]);
    __half2 pair = __floats2half2_rn(x[i], 1.0f);
    pair = __hfma2(pair, __float2half2_rn(2.0f), __half2half2(h[i]));
    o[3 * i] = __low2float(pair);
    o[3 * i + 1] = __half2float(__hadd(h[i], h[i])) + __bfloat162float(__hmul(b[i], b[i]));
    half t = h[i];
    t *= half(3);
    o[3 * i + 2] = t > __float2half(0.f) ? (float)t : __half2float(__habs(t));
}
extern "C" __global__ void total(const __half *h, __half *sum, __half2 *sum2) {
    atomicAdd(sum, h[threadIdx.x]);
    atomicAdd(sum2, __halves2half2(h[threadIdx.x], __float2half(1.0f)));
}
)");
    const int n = 4096;
    auto x = someFloats(n, -100, 100);
    x[0] = 0;
    x[1] = 1e-7f; // subnormal as a half
    x[2] = 70000; // infinite as a half
    x[3] = -65519.f;
    std::vector<std::uint16_t> h(n), b(n);
    std::vector<float> o(3 * n);
    ASSERT_EQ(kernels.run("halves", shape(16, 256), x.data(), h.data(), b.data(), o.data(), n), "");
    const auto toHalf = [](float v) {
        return std::bit_cast<std::uint16_t>(static_cast<_Float16>(v));
    };
    const auto half = [](std::uint16_t v) {
        return static_cast<float>(std::bit_cast<_Float16>(v));
    };
    for (int i = 0; i < n; ++i) {
        ASSERT_EQ(h[i], toHalf(x[i])) << x[i];
        ASSERT_EQ(b[i], bfloat16Of(x[i])) << x[i];
        if (i == 2)
            continue;
        const float rounded = half(h[i]);
        const float wide = std::bit_cast<float>(static_cast<std::uint32_t>(b[i]) << 16);
        ASSERT_EQ(o[3 * i], half(toHalf(3 * rounded))) << x[i];
        ASSERT_EQ(o[3 * i + 1],
                  half(toHalf(2 * rounded)) +
                      std::bit_cast<float>(std::uint32_t{bfloat16Of(wide * wide)} << 16));
        ASSERT_EQ(o[3 * i + 2], std::fabs(half(toHalf(3 * rounded))));
    }
    std::vector<std::uint16_t> ones(64, toHalf(0.5f));
    std::uint16_t sum = 0;
    std::uint16_t pair[2] = {0, 0};
    ASSERT_EQ(kernels.run("total", shape(1, 64), ones.data(), &sum, static_cast<void *>(pair)), "");
    EXPECT_EQ(half(sum), 32.f);
    EXPECT_EQ(half(pair[0]), 32.f);
    EXPECT_EQ(half(pair[1]), 64.f);
}

TEST(HostTypes, IntrinsicsAndVectorTypes) {
    Kernels kernels(R"(
static_assert(sizeof(float3) == 12 && alignof(float4) == 16 && alignof(float2) == 8, "");
static_assert(alignof(double4) == 16 && sizeof(uchar4) == 4 && alignof(short4) == 8, "");
extern "C" __global__ void bits(unsigned *o) {
    int k = 0;
    o[k++] = __popc(0xf0f0u);
    o[k++] = __ffs(8) * 100 + __ffs(0);
    o[k++] = __clz(1) * 100 + __clz(0);
    o[k++] = __umulhi(0x80000000u, 6u);
    o[k++] = __mul24(-3, 5);
    o[k++] = __brev(1u);
    o[k++] = __byte_perm(0x03020100u, 0x07060504u, 0x7610u);
    o[k++] = __float_as_uint(__int_as_float(0x3f800000) + 1.0f);
    o[k++] = __float2int_rn(2.5f) * 100 + __float2int_rz(-2.9f) + __float2int_rd(-2.1f);
    o[k++] = __float2int_rz(3e9f);
    o[k++] = __float2uint_rz(-5.f);
    o[k++] = __float_as_uint(fmaxf(NAN, 3.f)) == 0x40400000u && fminf(2.f, NAN) == 2.f;
    o[k++] = max(3, 5u) + min(-1, 4) + (unsigned)max(1.5f, 2.0);
    o[k++] = __float_as_uint(__saturatef(NAN)) + __float_as_uint(__saturatef(7.f));
    o[k++] = isnan(NAN) + 2 * isinf(-INFINITY) + 4 * isfinite(1.f) + 8 * isinf(1.f);
    o[k++] = __float_as_uint(rintf(2.5f)) + (unsigned)roundf(2.5f);
    int4 v = make_int4(1, 2, 3, 4);
    uchar4 c = make_uchar4(255, 0, 1, 2);
    o[k++] = v.x + v.w + c.x;
    o[k++] = __funnelshift_l(0x80000000u, 1u, 1);
    o[k++] = __fmul_rn(3.f, 5.f) + __fadd_rn(1.f, 1.f);
    o[k++] = (unsigned)(clock64() != 0) + warpSize;
}
)");
    std::vector<unsigned> o(32);
    ASSERT_EQ(kernels.run("bits", shape(1, 1), o.data()), "");
    const std::vector<unsigned> want = {8,
                                        400,
                                        3132,
                                        3,
                                        static_cast<unsigned>(-15),
                                        0x80000000u,
                                        0x07060100u,
                                        0x40000000u,
                                        200 - 2 - 3,
                                        0x7fffffffu,
                                        0,
                                        1,
                                        5 - 1 + 2,
                                        0x3f800000u,
                                        1 + 2 + 4,
                                        0x40000000u + 3,
                                        260,
                                        3,
                                        17,
                                        33};
    for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_EQ(o[i], want[i]) << i;
}

TEST(HostTypes, MathErrorsOverTheWholeRange) {
    Kernels kernels(R"(
extern "C" __global__ void k_exp(const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = expf(x[i]); }
extern "C" __global__ void k_exp2(const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = exp2f(x[i]); }
extern "C" __global__ void k_expm1(const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = expm1f(x[i]); }
extern "C" __global__ void k_log(const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = logf(x[i]); }
extern "C" __global__ void k_log2(const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = log2f(x[i]); }
extern "C" __global__ void k_log10(const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = log10f(x[i]); }
extern "C" __global__ void k_log1p(const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = log1pf(x[i]); }
extern "C" __global__ void k_tanh(const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = tanhf(x[i]); }
extern "C" __global__ void k_erf(const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = erff(x[i]); }
extern "C" __global__ void k_sin(const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = sinf(x[i]); }
extern "C" __global__ void k_cos(const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = cosf(x[i]); }
extern "C" __global__ void k_pow(const float *x, float *y) { int i = blockIdx.x * blockDim.x + threadIdx.x; y[i] = powf(x[i], x[i ^ 1]); }
)");
    // Every 997th bit pattern: all exponents, both signs, infinities, NaNs, subnormals.
    std::vector<float> x;
    for (std::uint64_t bits = 0; bits < (1ull << 32); bits += 997)
        x.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    for (float special : {INFINITY, -INFINITY, NAN, 0.f, -0.f, 1.f, -1.f, 1e-45f})
        x.push_back(special);
    x.resize(x.size() / 256 * 256);
    struct Case {
        const char *entry;
        double (*exact)(double);
        double limit;
    };
    const Case cases[] = {
        {"k_exp", std::exp, 1.1},     {"k_exp2", std::exp2, 1},   {"k_expm1", std::expm1, 1.7},
        {"k_log", std::log, 1},       {"k_log2", std::log2, 1.1}, {"k_log10", std::log10, 1.5},
        {"k_log1p", std::log1p, 1.1}, {"k_tanh", std::tanh, 1.5}, {"k_erf", std::erf, 1.4},
        {"k_sin", std::sin, 4},       {"k_cos", std::cos, 4}};
    std::vector<float> y(x.size());
    for (const auto &item : cases) {
        ASSERT_EQ(kernels.run(item.entry, shape(static_cast<std::uint32_t>(x.size() / 256), 256),
                              x.data(), y.data()),
                  "");
        double worst = 0;
        float at = 0;
        for (std::size_t i = 0; i < x.size(); ++i)
            if (const double error = ulps(y[i], item.exact(x[i])); error > worst) {
                worst = error;
                at = x[i];
            }
        EXPECT_LE(worst, item.limit) << item.entry << " at " << at;
        RecordProperty(item.entry, std::to_string(worst));
    }
    for (auto &value : x) // bring the exponents near each other, so that powers are in range
        value =
            std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) & 0x83ffffffu) + 0x3e000000u);
    ASSERT_EQ(kernels.run("k_pow", shape(static_cast<std::uint32_t>(x.size() / 256), 256), x.data(),
                          y.data()),
              "");
    double worst = 0;
    for (std::size_t i = 0; i < x.size(); ++i)
        worst = std::max(worst, ulps(y[i], std::pow(double(x[i]), double(x[i ^ 1]))));
    EXPECT_LE(worst, 0.6) << "powf";
}

TEST(HostTypes, FunctionsOfPhysicsRoundOnce) {
    const char *names[] = {"erfinvf", "cyl_bessel_i0f", "cyl_bessel_i1f", "j0f", "j1f", "y0f",
                           "y1f"};
    std::string source;
    for (const char *name : names)
        source +=
            fmt::format("extern \"C\" __global__ void k_{0}(const float *x, float *y) {{ int i = "
                        "blockIdx.x * blockDim.x + threadIdx.x; y[i] = {0}(x[i]); }}\n",
                        name);
    Kernels kernels(source.c_str());
    std::vector<float> wide, unit;
    for (int i = 0; i < 4096; ++i) {
        wide.push_back(0.021f * static_cast<float>(i - 2048));
        unit.push_back(static_cast<float>(i - 2048) / 2048.0f);
    }
    const auto run = [&](const char *name, const std::vector<float> &x) {
        std::vector<float> y(x.size());
        EXPECT_EQ(
            kernels.run(fmt::format("k_{}", name).c_str(), shape(16, 256), x.data(), y.data()), "");
        return y;
    };
    const auto bessel = [](int order) {
        return [order](double x) {
            const double size = std::cyl_bessel_i(static_cast<double>(order), std::fabs(x));
            return order == 1 && x < 0 ? -size : size;
        };
    };
    const std::pair<const char *, std::function<double(double)>> cases[] = {
        {"cyl_bessel_i0f", bessel(0)},
        {"cyl_bessel_i1f", bessel(1)},
        {"j0f", ::j0},
        {"j1f", ::j1},
        {"y0f", ::y0},
        {"y1f", ::y1}};
    for (const auto &[name, exact] : cases) {
        const auto y = run(name, wide);
        for (std::size_t i = 0; i < y.size(); ++i)
            ASSERT_LE(ulps(y[i], exact(wide[i])), 0.51) << name << " of " << wide[i];
    }
    const auto y = run("erfinvf", unit); // held by going back
    EXPECT_EQ(y[0], -INFINITY);
    for (std::size_t i = 1; i < y.size(); ++i) {
        const double slope = 2 / std::sqrt(std::numbers::pi) * std::exp(-double(y[i]) * y[i]);
        const double error = (std::erf(double(y[i])) - unit[i]) / slope;
        ASSERT_LE(std::fabs(error), 0.51 * std::ldexp(std::fabs(y[i]) + 1e-30, -23)) << unit[i];
    }
}
