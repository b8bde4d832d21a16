// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/code/cuda_lexer.h"

#include "widgets/base/theme.h"

#include <Qsci/qscilexerjson.h>
#include <Qsci/qscilexerpython.h>

namespace cuda_agent::widgets {

namespace {

// The C++ core language and the qualifiers that CUDA C++ adds to it.
constexpr const char *languageWords =
    "alignas alignof and and_eq asm auto bitand bitor break case catch class co_await co_return "
    "co_yield compl concept const const_cast consteval constexpr constinit continue decltype "
    "default delete do dynamic_cast else enum explicit export extern false final for friend goto "
    "if inline mutable namespace new noexcept not not_eq nullptr operator or or_eq override "
    "private protected public register reinterpret_cast requires return sizeof static "
    "static_assert static_cast struct switch template this thread_local throw true try typedef "
    "typeid typename union using virtual volatile while xor xor_eq "
    "__global__ __device__ __host__ __shared__ __constant__ __managed__ __restrict__ __restrict "
    "__forceinline__ __noinline__ __launch_bounds__ __grid_constant__ __cluster_dims__ "
    "__align__ __builtin_align__ __inline_hint__ __maxnreg__ __block_size__";

// Fundamental and vector types, built-in variables.
constexpr const char *typeWords =
    "void bool char char8_t char16_t char32_t wchar_t short int long signed unsigned float double "
    "size_t ptrdiff_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t "
    "uintptr_t "
    "threadIdx blockIdx blockDim gridDim warpSize clusterIdx clusterDim dim3 "
    "char1 char2 char3 char4 uchar1 uchar2 uchar3 uchar4 short1 short2 short3 short4 ushort1 "
    "ushort2 ushort3 ushort4 int1 int2 int3 int4 uint1 uint2 uint3 uint4 long1 long2 long3 long4 "
    "ulong1 ulong2 ulong3 ulong4 longlong1 longlong2 longlong3 longlong4 ulonglong1 ulonglong2 "
    "ulonglong3 ulonglong4 float1 float2 float3 float4 double1 double2 double3 double4 "
    "half half2 __half __half2 __half_raw nv_bfloat16 nv_bfloat162 __nv_bfloat16 __nv_bfloat162 "
    "__nv_fp8_e4m3 __nv_fp8_e5m2 cudaStream_t cudaError_t cudaEvent_t cudaDeviceProp "
    "cudaTextureObject_t";

// Functions that the device code of this program's tasks is likely to call.
constexpr const char *functionWords =
    "__syncthreads __syncthreads_count __syncthreads_and __syncthreads_or __syncwarp "
    "__threadfence __threadfence_block __threadfence_system "
    "__shfl_sync __shfl_up_sync __shfl_down_sync __shfl_xor_sync __all_sync __any_sync "
    "__ballot_sync __activemask __match_any_sync __match_all_sync __reduce_add_sync "
    "__reduce_min_sync __reduce_max_sync __reduce_and_sync __reduce_or_sync __reduce_xor_sync "
    "atomicAdd atomicSub atomicExch atomicMin atomicMax atomicInc atomicDec atomicCAS atomicAnd "
    "atomicOr atomicXor atomicAdd_block atomicAdd_system "
    "__ldg __ldca __ldcg __ldcs __ldlu __ldcv __stwb __stcg __stcs __stwt "
    "__cvta_generic_to_shared __isGlobal __isShared __nanosleep __trap __brkpt assert printf "
    "clock clock64 __clz __clzll __popc __popcll __ffs __brev __byte_perm __funnelshift_l "
    "__funnelshift_r __mul24 __mulhi __umulhi __dp4a __dp2a "
    "__expf __exp10f __logf __log2f __log10f __sinf __cosf __tanf __powf __fdividef __saturatef "
    "__fadd_rn __fsub_rn __fmul_rn __fmaf_rn __frcp_rn __fsqrt_rn __frsqrt_rn __fdiv_rn "
    "__float2half __float2half_rn __half2float __float2half2_rn __half22float2 __floats2half2_rn "
    "__hadd __hadd2 __hmul __hmul2 __hfma __hfma2 __hmax __hmin __float2bfloat16 "
    "__bfloat162float __float22bfloat162_rn __bfloat1622float2 "
    "__float_as_int __float_as_uint __int_as_float __uint_as_float __float2int_rn __int2float_rn "
    "abs fabsf fabs fmaxf fminf fmax fmin max min fmaf fma sqrtf sqrt rsqrtf rsqrt cbrtf expf exp "
    "exp2f expm1f logf log log2f log1pf powf pow sinf cosf tanf tanhf tanh sinhf coshf asinf "
    "acosf atanf atan2f erff erfcf erf ceilf floorf roundf rintf truncf fmodf copysignf isnan "
    "isinf isfinite sincosf normcdff hypotf "
    "make_int2 make_int3 make_int4 make_uint2 make_uint4 make_float2 make_float3 make_float4 "
    "make_double2 make_half2 "
    "cudaMalloc cudaMallocAsync cudaFree cudaFreeAsync cudaMemcpy cudaMemcpyAsync cudaMemset "
    "cudaMemsetAsync cudaGetLastError cudaGetErrorString cudaDeviceSynchronize "
    "cudaStreamSynchronize cudaFuncSetAttribute cudaLaunchKernelEx "
    "cudaOccupancyMaxActiveBlocksPerMultiprocessor";

QColor mixed(const QColor &a, const QColor &b, double part) {
    const auto mix = [&](int x, int y) { return int(x + (y - x) * part); };
    return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}

/// Colours of one lexer: style number -> colour; styles that are not named are plain text.
void color(QsciLexer &lexer, std::initializer_list<int> styles, const QColor &color) {
    for (const int style : styles)
        lexer.setColor(color, style);
}

} // namespace

CudaLexer::CudaLexer(QObject *parent) : QsciLexerCPP(parent) {
    setFoldComments(true);
    setFoldPreprocessor(true);
    setFoldCompact(false);
    setStylePreprocessor(true);
}

const char *CudaLexer::language() const {
    return "CUDA C++";
}

const char *CudaLexer::keywords(int set) const {
    switch (set) {
    case 1:
        return languageWords;
    case 2:
        return typeWords;
    case 4:
        return functionWords;
    default:
        return QsciLexerCPP::keywords(set);
    }
}

QsciLexer *lexerFor(const QString &path, QObject *parent) {
    QsciLexer *lexer = nullptr;
    static const QStringList cLike{
        QStringLiteral(".cu"),  QStringLiteral(".cuh"), QStringLiteral(".cpp"),
        QStringLiteral(".cc"),  QStringLiteral(".cxx"), QStringLiteral(".c"),
        QStringLiteral(".hpp"), QStringLiteral(".h"),   QStringLiteral(".hxx")};
    const auto endsWith = [&](const QString &end) { return path.endsWith(end); };
    if (std::any_of(cLike.begin(), cLike.end(), endsWith))
        lexer = new CudaLexer(parent);
    else if (path.endsWith(QLatin1String(".json")))
        lexer = new QsciLexerJSON(parent);
    else if (path.endsWith(QLatin1String(".py")))
        lexer = new QsciLexerPython(parent);
    if (lexer)
        colorLexer(*lexer);
    return lexer;
}

void colorLexer(QsciLexer &lexer) {
    const Colors &c = Theme::instance().colors();
    const QFont font = Theme::instance().codeFont();
    QFont bold = font;
    bold.setBold(true);
    lexer.setDefaultColor(c.text);
    lexer.setDefaultPaper(c.base);
    lexer.setDefaultFont(font);
    lexer.setColor(c.text, -1);
    lexer.setPaper(c.base, -1);
    lexer.setFont(font, -1);
    // The series are made for lines on a plot: text needs more contrast.
    const QColor types = mixed(c.series[3], c.text, 0.3);
    const QColor functions = mixed(c.series[2], c.text, 0.35);
    const QColor numbers = mixed(c.series[1], c.text, 0.15);
    if (qobject_cast<QsciLexerCPP *>(&lexer)) {
        using L = QsciLexerCPP;
        color(lexer,
              {L::Comment, L::CommentLine, L::CommentDoc, L::CommentLineDoc, L::CommentDocKeyword,
               L::CommentDocKeywordError, L::PreProcessorComment, L::PreProcessorCommentLineDoc},
              c.muted);
        color(lexer, {L::Number, L::UserLiteral}, numbers);
        color(lexer, {L::Keyword}, c.accent);
        color(lexer, {L::KeywordSet2}, types);
        color(lexer, {L::GlobalClass}, functions);
        color(lexer,
              {L::DoubleQuotedString, L::SingleQuotedString, L::RawString, L::VerbatimString,
               L::Regex, L::EscapeSequence},
              c.good);
        color(lexer, {L::UnclosedString}, c.bad);
        color(lexer, {L::PreProcessor}, c.warning);
        for (int style = L::InactiveDefault; style <= L::InactiveEscapeSequence; ++style)
            lexer.setColor(c.muted, style);
        lexer.setFont(bold, L::Keyword);
    } else if (qobject_cast<QsciLexerPython *>(&lexer)) {
        using L = QsciLexerPython;
        color(lexer, {L::Comment, L::CommentBlock}, c.muted);
        color(lexer, {L::Number}, numbers);
        color(lexer, {L::Keyword}, c.accent);
        color(lexer, {L::ClassName, L::FunctionMethodName}, functions);
        color(lexer, {L::Decorator, L::HighlightedIdentifier}, types);
        color(lexer,
              {L::DoubleQuotedString, L::SingleQuotedString, L::TripleSingleQuotedString,
               L::TripleDoubleQuotedString, L::DoubleQuotedFString, L::SingleQuotedFString,
               L::TripleSingleQuotedFString, L::TripleDoubleQuotedFString},
              c.good);
        color(lexer, {L::UnclosedString}, c.bad);
        lexer.setFont(bold, L::Keyword);
    } else if (qobject_cast<QsciLexerJSON *>(&lexer)) {
        using L = QsciLexerJSON;
        color(lexer, {L::Number}, numbers);
        color(lexer, {L::String, L::EscapeSequence, L::IRI, L::IRICompact}, c.good);
        color(lexer, {L::Property}, c.accent);
        color(lexer, {L::Keyword, L::KeywordLD}, types);
        color(lexer, {L::CommentLine, L::CommentBlock}, c.muted);
        color(lexer, {L::UnclosedString, L::Error}, c.bad);
    }
}

} // namespace cuda_agent::widgets
