// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/grammar/cuda_words.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace cuda_agent::learn {

namespace {

constexpr std::string_view
    typeWords = "auto bool char char16_t char32_t char8_t const consteval constexpr constinit "
                "cudaStream_t double extern float friend half half2 inline int int16_t int32_t "
                "int64_t int8_t intptr_t long mutable nv_bfloat16 nv_bfloat162 ptrdiff_t register "
                "restrict short signed size_t ssize_t static thread_local uchar uint uint16_t "
                "uint32_t uint64_t uint8_t uintptr_t ulong unsigned ushort virtual void volatile "
                "dim3 explicit operator",
    vectorTypes = "char uchar short ushort int uint long ulong longlong ulonglong float double",
    expressionWords = "alignof and and_eq bitand bitor break case catch co_await co_return "
                      "co_yield compl continue decltype default delete do else for goto if new not "
                      "not_eq or or_eq private protected public requires return sizeof "
                      "static_assert switch throw try while xor xor_eq final override noexcept "
                      "alignas asm",
    declaringWords = "class struct union typename concept",
    // Each also with an "f" behind it.
    mathFunctions =
        "acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh cospi cyl_bessel_i0 "
        "cyl_bessel_i1 erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs fdim fdivide floor "
        "fma fmax fmin fmod frexp hypot ilogb j0 j1 jn ldexp lgamma llrint llround log log10 log1p "
        "log2 logb lrint lround modf nan nearbyint nextafter norm norm3d norm4d normcdf "
        "normcdfinv pow rcbrt remainder remquo rhypot rint rnorm rnorm3d rnorm4d round rsqrt "
        "scalbln scalbn sin sincos sincospi sinh sinpi sqrt tan tanh tanpi tgamma trunc y0 y1 yn",
    // Each with "h" and with "h2" in front of it.
    halfFunctions = "ceil cos exp exp10 exp2 floor log log10 log2 rcp rint rsqrt sin sqrt trunc "
                    "tanh tanh_approx",
    otherFunctions =
        "abs assert atomicAdd atomicAdd_block atomicAdd_system atomicAnd atomicCAS atomicDec "
        "atomicExch atomicInc atomicMax atomicMin atomicOr atomicSub atomicXor clock clock64 "
        "free fpclassify isfinite isinf isnan isnormal labs llabs malloc max memcpy memmove "
        "memset min printf signbit strlen make_half2 make_bfloat162 dot",
    otherWords =
        "CUDA_AGENT_REASSOCIATE CHAR_BIT CHAR_MAX CHAR_MIN CUDART_INF CUDART_INF_F "
        "CUDART_NAN CUDART_NAN_F DBL_EPSILON DBL_MAX DBL_MIN EOF FLT_EPSILON FLT_MAX FLT_MIN "
        "HUGE_VAL HUGE_VALF INFINITY INT16_MAX INT16_MIN INT32_MAX INT32_MIN INT64_MAX "
        "INT64_MIN INT8_MAX INT8_MIN INT_MAX INT_MIN LLONG_MAX LLONG_MIN LONG_MAX LONG_MIN "
        "M_1_PI M_2_PI M_2_SQRTPI M_E M_LN10 M_LN2 M_LOG10E M_LOG2E M_PI M_PI_2 M_PI_4 "
        "M_SQRT1_2 M_SQRT2 NAN NULL SHRT_MAX SHRT_MIN SIZE_MAX UCHAR_MAX UINT16_MAX "
        "UINT32_MAX UINT64_MAX UINT8_MAX UINT_MAX ULLONG_MAX ULONG_MAX USHRT_MAX blockDim "
        "blockIdx cooperative_groups cub cuda defined dynamic_cast const_cast "
        "reinterpret_cast static_cast false gridDim nullptr nvcuda std this threadIdx true "
        "typeid warpSize half_raw thrust",
    headers = "assert.h cassert cfloat climits cmath cstddef cstdint cstdio cstdlib cstring "
              "cuda.h cuda_bf16.h cuda_fp16.h cuda_pipeline.h cuda_runtime.h "
              "cuda_runtime_api.h device_launch_parameters.h float.h initializer_list limits "
              "limits.h math.h math_constants.h mma.h numeric stddef.h stdint.h stdio.h stdlib.h "
              "string.h tuple type_traits utility vector_types.h vector_functions.h "
              "cooperative_groups.h cooperative_groups/reduce.h cooperative_groups/memcpy_async.h "
              "cub/cub.cuh cub/block/block_reduce.cuh cub/block/block_scan.cuh "
              "cub/warp/warp_reduce.cuh cuda/std/limits cuda/std/cstdint cuda/std/type_traits "
              "cuda/pipeline cuda/barrier cuda/ptx";

template <typename Act>
void eachWord(std::string_view words, const Act &act) {
    while (!words.empty()) {
        const auto end = words.find(' ');
        act(std::string(words.substr(0, end)));
        words.remove_prefix(end == words.npos ? words.size() : end + 1);
    }
}

struct Words {
    std::map<std::string, CudaWord, std::less<>> kinds;
    std::vector<std::string_view> sorted;

    Words() {
        const auto add = [&](std::string_view words, CudaWord kind) {
            eachWord(words, [&](const std::string &word) { kinds.emplace(word, kind); });
        };
        add(typeWords, CudaWord::type);
        add(expressionWords, CudaWord::expression);
        add(declaringWords, CudaWord::declares);
        add("template", CudaWord::templates);
        add("namespace", CudaWord::space);
        add("using", CudaWord::imports);
        add("typedef", CudaWord::typedefs);
        add("enum", CudaWord::enumerates);
        add(otherFunctions, CudaWord::function);
        add(otherWords, CudaWord::other);
        eachWord(vectorTypes, [&](const std::string &type) {
            for (const char *lanes : {"1", "2", "3", "4"}) {
                kinds.emplace(type + lanes, CudaWord::type);
                kinds.emplace("make_" + type + lanes, CudaWord::function);
            }
        });
        eachWord(mathFunctions, [&](const std::string &name) {
            kinds.emplace(name, CudaWord::function);
            kinds.emplace(name + "f", CudaWord::function);
        });
        eachWord(halfFunctions, [&](const std::string &name) {
            kinds.emplace("h" + name, CudaWord::function);
            kinds.emplace("h2" + name, CudaWord::function);
        });
        for (const auto &[word, kind] : kinds)
            sorted.push_back(word);
    }
};

const Words &words() {
    static const Words all;
    return all;
}

} // namespace

std::optional<CudaWord> cudaWord(std::string_view name) {
    const auto found = words().kinds.find(name);
    return found == words().kinds.end() ? std::nullopt : std::optional(found->second);
}

std::span<const std::string_view> cudaWords() {
    return words().sorted;
}

bool isKnownHeader(std::string_view name) {
    bool known = false;
    eachWord(headers, [&](const std::string &header) { known = known || header == name; });
    return known;
}

} // namespace cuda_agent::learn
