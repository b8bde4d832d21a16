// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/recurrence.h"

#include <algorithm>
#include <sstream>

namespace cuda_agent::policy {

namespace {

constexpr const char *includes = R"cuda(#ifndef __CUDA_AGENT_HOST__
// On a CPU: sums may be taken in vector lanes, as a GPU takes them in threads.
#define CUDA_AGENT_REASSOCIATE
#endif
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif

)cuda";

constexpr const char *isAbove =
    R"cuda(// torch's order for argmax: NaN is largest, the first of equals wins.
template <class T, class Index>
__device__ __forceinline__ bool isAbove(T a, Index aPlace, T b, Index bPlace) {
    return a > b || (a == b && aPlace < bPlace) || (a != a && (b == b || aPlace < bPlace));
}

)cuda";

constexpr const char *isBelow =
    R"cuda(// torch's order for argmin: NaN is smallest, the first of equals wins.
template <class T, class Index>
__device__ __forceinline__ bool isBelow(T a, Index aPlace, T b, Index bPlace) {
    return a < b || (a == b && aPlace < bPlace) || (a != a && (b == b || aPlace < bPlace));
}

)cuda";

constexpr const char *roundedUp =
    "__device__ constexpr long long cdiv(long long a, long long b) { return (a + b - 1) / b; }\n";

/// "larger" or "smaller", by its sign and the name of its instruction.
std::string extremeText(const char *name, const char *sign, const char *instruction) {
    constexpr const char *text =
        R"cuda(// The {0} one; NaN, once met, stays. One instruction since compute capability 8.0.
__device__ __forceinline__ float {0}(float a, float b) {{
#if !defined(__CUDA_AGENT_HOST__) && __CUDA_ARCH__ >= 800
    float result;
    asm("{2}.NaN.f32 %0, %1, %2;" : "=f"(result) : "f"(a), "f"(b));
    return result;
#else
    return a {1} b || a != a ? a : b;
#endif
}}
__device__ __forceinline__ double {0}(double a, double b) {{
    return a {1} b || a != a ? a : b;
}}

)cuda";
    return fmt::format(fmt::runtime(text), name, sign, instruction);
}

constexpr const char *floorModulo = R"cuda(// The remainder with the sign of the divisor.
__device__ __forceinline__ float floorModulo(float a, float b) {
    // A quotient that is rounded to the next whole number is too large by one at most.
    const float turns = floorf(a / b);
    float rest = fmaf(-turns, b, a);
    if (!(fabsf(turns) < 4194304.0f) || rest != rest)
        rest = fmodf(a, b);
    else if (rest == 0.0f)
        rest = copysignf(0.0f, a);
    return rest != 0.0f && (b < 0.0f) != (rest < 0.0f) ? rest + b : rest;
}
__device__ __forceinline__ double floorModulo(double a, double b) {
    const double rest = fmod(a, b);
    return rest != 0.0 && (b < 0.0) != (rest < 0.0) ? rest + b : rest;
}

)cuda";

constexpr const char *hypotenuse = R"cuda(// Squares that neither overflow nor vanish need no care.
__device__ __forceinline__ float hypotenuse(float a, float b) {
    const float square = a * a + b * b;
    return square > 1e-30f && square < 3e38f ? sqrtf(square) : hypotf(a, b);
}
__device__ __forceinline__ double hypotenuse(double a, double b) {
    return hypot(a, b);
}

)cuda";

constexpr const char *vector = R"cuda(// Neighbouring elements that move in one access.
template <class T, int count>
struct alignas(sizeof(T) * count < 16 ? sizeof(T) * count : 16) Vector {
    T at[count];
};

)cuda";

constexpr const char *widen =
    R"cuda(template <class T> __device__ __forceinline__ T widen(T x) { return x; }
)cuda";

constexpr const char *loadVector = R"cuda(template <class S, class T, int count>
__device__ __forceinline__ void loadVector(S (&to)[count], const T *from) {
    const Vector<T, count> v = *reinterpret_cast<const Vector<T, count> *>(from);
#pragma unroll
    for (int k = 0; k < count; ++k)
        to[k] = widen(v.at[k]);
}

)cuda";

constexpr const char *storeVector =
    R"cuda(// Into global memory, as one access: compilers take a struct of numbers apart.
template <class T, int count>
__device__ __forceinline__ void storeVector(T *to, const T (&from)[count]) {
    Vector<T, count> v;
#pragma unroll
    for (int k = 0; k < count; ++k)
        v.at[k] = from[k];
#ifndef __CUDA_AGENT_HOST__
    if constexpr (sizeof v == 16)
        __stwb(reinterpret_cast<uint4 *>(to), *reinterpret_cast<const uint4 *>(&v));
    else if constexpr (sizeof v == 8)
        __stwb(reinterpret_cast<uint2 *>(to), *reinterpret_cast<const uint2 *>(&v));
    else
#endif
        *reinterpret_cast<Vector<T, count> *>(to) = v;
}

)cuda";

constexpr const char *storeVectorStreaming =
    R"cuda(// Stores that leave the cache to data that is read again.
template <class T, int count>
__device__ __forceinline__ void storeVectorStreaming(T *to, const T (&from)[count]) {
    Vector<T, count> v;
#pragma unroll
    for (int k = 0; k < count; ++k)
        v.at[k] = from[k];
#ifndef __CUDA_AGENT_HOST__
    if constexpr (sizeof v == 16)
        __stcs(reinterpret_cast<uint4 *>(to), *reinterpret_cast<const uint4 *>(&v));
    else if constexpr (sizeof v == 8)
        __stcs(reinterpret_cast<uint2 *>(to), *reinterpret_cast<const uint2 *>(&v));
    else
#endif
        *reinterpret_cast<Vector<T, count> *>(to) = v;
}

)cuda";

constexpr const char *reduceLanes =
    R"cuda(// Combines the states of `width` neighbouring lanes; all of them get the result.
template <int width, class State> __device__ __forceinline__ State reduceLanes(State state) {
#pragma unroll
    for (int mask = width / 2; mask > 0; mask /= 2)
        state.combine(state.fromLane(mask));
    return state;
}

)cuda";

constexpr const char *reduceBlock =
    R"cuda(// Combines the states of all threads of a block; all of them get the result.
template <int threads, class State>
__device__ __forceinline__ State reduceBlock(State state, State *exchange) {
    state = reduceLanes<32>(state);
    if (threadIdx.x % 32 == 0)
        exchange[threadIdx.x / 32] = state;
    __syncthreads();
    return reduceLanes<threads / 32>(exchange[threadIdx.x % (threads / 32)]);
}

)cuda";

constexpr const char *meetBlocks =
    R"cuda(// Combines the states of all blocks that share a row. `arrived` counts blocks over all rounds.
// Partial results are read past the first-level cache, which other blocks' writes do not update.
template <int parts, class State>
__device__ __forceinline__ State meetBlocks(State own, State *partials, int *arrived, int part,
                                            int round) {
    if (threadIdx.x == 0) {
        partials[part] = own;
        __threadfence();
        atomicAdd(arrived, 1);
        while (*(volatile int *)arrived < parts * round) {
        }
        __threadfence();
    }
    __syncthreads();
    State state = State::identity();
    for (int p = threadIdx.x % 32; p < parts; p += 32) {
        State other;
        const unsigned *from = reinterpret_cast<const unsigned *>(partials + p);
        unsigned *to = reinterpret_cast<unsigned *>(&other);
#pragma unroll
        for (int k = 0; k < (int)(sizeof(State) / 4); ++k)
            to[k] = *(const volatile unsigned *)(from + k);
        state.combine(other);
    }
    return reduceLanes<32>(state);
}

)cuda";

/// What scans combine their running results with, by the helpers' names.
const std::map<std::string, const char *> combinations{
    {"Sum", R"cuda(struct Sum {
    template <class T> static __device__ __forceinline__ T of(T a, T b) { return a + b; }
};
)cuda"},
    {"Product", R"cuda(struct Product {
    template <class T> static __device__ __forceinline__ T of(T a, T b) { return a * b; }
};
)cuda"},
    {"Largest", R"cuda(// NaN, once met, stays.
struct Largest {
    template <class T> static __device__ __forceinline__ T of(T a, T b) {
        return a > b || a != a ? a : b;
    }
};
)cuda"},
    {"Smallest", R"cuda(// NaN, once met, stays.
struct Smallest {
    template <class T> static __device__ __forceinline__ T of(T a, T b) {
        return a < b || a != a ? a : b;
    }
};
)cuda"},
    {"SumOfExp", R"cuda(// The logarithm of exp(a) + exp(b).
struct SumOfExp {
    template <class T> static __device__ __forceinline__ T of(T a, T b) {
        const T high = a > b || a != a ? a : b;
        const T low = a > b || a != a ? b : a;
        return high == low ? high + T(0.693147180559945309) // infinities, too
                           : high + (sizeof(T) == 4 ? T(log1pf(expf(low - high)))
                                                    : T(log1p(exp(low - high))));
    }
};
)cuda"},
};

constexpr const char *upToLane =
    R"cuda(// What the lanes of a warp have together up to this one.
template <class Combination, class T>
__device__ __forceinline__ T upToLane(T own) {
    const int lane = (int)threadIdx.x % 32;
    T upTo = own;
#pragma unroll
    for (int step = 1; step < 32; step *= 2) {
        const T other = __shfl_up_sync(0xffffffffu, upTo, step);
        if (lane >= step)
            upTo = Combination::of(other, upTo);
    }
    return upTo;
}

)cuda";

constexpr const char *scanBlock =
    R"cuda(// What the threads before this one have together; `total` is of all. One exchange is used at most
// every second time, so that one barrier will do.
template <int warps, class Combination, class T>
__device__ __forceinline__ T scanBlock(T own, T none, T *exchange, T &total) {
    const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
    const T upTo = upToLane<Combination>(own);
    if (lane == 31)
        exchange[warp] = upTo;
    __syncthreads();
    T before = none;
    total = before;
#pragma unroll
    for (int w = 0; w < warps; ++w) {
        const T part = exchange[w];
        if (w < warp)
            before = Combination::of(before, part);
        total = Combination::of(total, part);
    }
    const T neighbour = __shfl_up_sync(0xffffffffu, upTo, 1);
    return lane == 0 ? before : Combination::of(before, neighbour);
}

)cuda";

constexpr const char *scanWarp =
    R"cuda(// What the lanes before this one have together; `total` is of all.
template <class Combination, class T>
__device__ __forceinline__ T scanWarp(T own, T none, T &total) {
    const int lane = (int)threadIdx.x % 32;
    const T upTo = upToLane<Combination>(own);
    total = __shfl_sync(0xffffffffu, upTo, 31);
    const T before = __shfl_up_sync(0xffffffffu, upTo, 1);
    return lane == 0 ? none : before;
}

)cuda";

} // namespace

std::string chosenParts(std::string_view text, const std::set<std::string> &chosen) {
    constexpr std::string_view begin = "//IF ", otherwise = "//ELSE", end = "//END";
    struct Part {
        bool within; ///< a part that is kept
        bool kept;
    };
    std::vector<Part> parts{{true, true}}; // that a line is in
    std::string result;
    for (std::size_t at = 0; at < text.size();) {
        const auto next = std::min(text.find('\n', at), text.size() - 1) + 1;
        const auto line = text.substr(at, next - at);
        at = next;
        if (line.starts_with(begin)) {
            std::istringstream names{std::string(line.substr(begin.size()))};
            bool any = false;
            for (std::string name; names >> name;)
                any = any || chosen.contains(name);
            const bool within = parts.back().kept;
            parts.push_back({within, within && any});
        } else if (line.starts_with(otherwise)) {
            parts.back().kept = parts.back().within && !parts.back().kept;
        } else if (line.starts_with(end)) {
            parts.pop_back();
        } else if (parts.back().kept) {
            result += line;
        }
    }
    return result;
}

std::string preludeText(const std::set<std::string> &helpers, const std::set<DType> &types) {
    std::string text;
    if (types.contains(DType::float16))
        text += "#include <cuda_fp16.h>\n";
    if (types.contains(DType::bfloat16))
        text += "#include <cuda_bf16.h>\n";
    text += includes;
    const auto has = [&](const char *name) { return helpers.contains(name); };
    if (has("cdiv"))
        text += roundedUp;
    if (has("isAbove"))
        text += isAbove;
    if (has("isBelow"))
        text += isBelow;
    if (has("larger"))
        text += extremeText("larger", ">", "max");
    if (has("smaller"))
        text += extremeText("smaller", "<", "min");
    if (has("floorModulo"))
        text += floorModulo;
    if (has("hypotenuse"))
        text += hypotenuse;
    if (has("loadVector") || has("storeVector") || has("storeVectorStreaming"))
        text += vector;
    if (has("loadVector") || has("widen")) {
        text += widen;
        if (types.contains(DType::float16))
            text +=
                "__device__ __forceinline__ float widen(__half x) { return __half2float(x); }\n";
        if (types.contains(DType::bfloat16))
            text += "__device__ __forceinline__ float widen(__nv_bfloat16 x) { return "
                    "__bfloat162float(x); }\n";
    }
    if (has("loadVector"))
        text += loadVector;
    if (has("storeVector"))
        text += storeVector;
    if (has("storeVectorStreaming"))
        text += storeVectorStreaming;
    if (has("reduceLanes") || has("reduceBlock"))
        text += reduceLanes;
    if (has("reduceBlock"))
        text += reduceBlock;
    if (has("meetBlocks"))
        text += meetBlocks;
    for (const auto &[name, combination] : combinations) {
        if (has(name.c_str()))
            text += combination;
    }
    if (has("scanBlock") || has("scanWarp"))
        text += upToLane;
    if (has("scanBlock"))
        text += scanBlock;
    if (has("scanWarp"))
        text += scanWarp;
    return text + orderPrelude(helpers) + productPrelude(helpers) + recurrencePrelude(helpers);
}

KernelSource writeKernels(const Program &program, const Group &group, const Nest &nest,
                          const Schedule &schedule, const std::string &name) {
    std::unique_ptr<KernelWriter> writer;
    if (!group.scans.empty())
        return makeScanWriter(program, group, nest, schedule, name)->write();
    switch (schedule.form) {
    case Schedule::Form::row:
        writer = makeRowWriter(program, group, nest, schedule, name);
        break;
    case Schedule::Form::tile:
        writer = makeTileWriter(program, group, nest, schedule, name);
        break;
    case Schedule::Form::column:
        writer = makeColumnWriter(program, group, nest, schedule, name);
        break;
    case Schedule::Form::product:
    case Schedule::Form::tensor:
    case Schedule::Form::loopProduct:
        writer = group.scores >= 0 ? makeAttentionWriter(program, group, nest, schedule, name)
                                   : makeProductWriter(program, group, nest, schedule, name);
        break;
    case Schedule::Form::order:
        writer = makeOrderWriter(program, group, nest, schedule, name);
        break;
    case Schedule::Form::loopRow:
    case Schedule::Form::loopColumn:
        writer = makeLoopWriter(program, group, nest, schedule, name);
        break;
    }
    return writer->write();
}

} // namespace cuda_agent::policy
