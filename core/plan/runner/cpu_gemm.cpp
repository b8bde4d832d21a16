// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/cpu_library.h"

#include <cstring>
#include <dlfcn.h>

namespace cuda_agent::plan::runner {

namespace {

// The C interface of BLAS, as every implementation has it.
constexpr int rowMajor = 101, plain = 111, transposed = 112;
using Sgemm = void (*)(int, int, int, int, int, int, float, const float *, int, const float *, int,
                       float, float *, int);
using Dgemm = void (*)(int, int, int, int, int, int, double, const double *, int, const double *,
                       int, double, double *, int);

template <typename Element, typename Function>
void product(Function function, const ProgramGemm &gemm, const Element *a, const Element *b,
             Element *c) {
    function(rowMajor, gemm.transposeA ? transposed : plain, gemm.transposeB ? transposed : plain,
             static_cast<int>(gemm.m), static_cast<int>(gemm.n), static_cast<int>(gemm.k),
             static_cast<Element>(gemm.alpha), a, static_cast<int>(gemm.lda), b,
             static_cast<int>(gemm.ldb), static_cast<Element>(gemm.beta), c,
             static_cast<int>(gemm.ldc));
}

template <typename Element>
void addBias(const ProgramGemm &gemm, const Element *bias, Element *c) {
    for (std::int64_t row = 0; row < gemm.m; ++row) {
        for (std::int64_t column = 0; column < gemm.n; ++column)
            c[row * gemm.ldc + column] += bias[column];
    }
}

template <typename Element, typename Function>
void runPlain(Function function, const ProgramGemm &gemm, const HostPointers &pointers) {
    const auto *a = reinterpret_cast<const Element *>(pointers[gemm.a]);
    const auto *b = reinterpret_cast<const Element *>(pointers[gemm.b]);
    auto *c = reinterpret_cast<Element *>(pointers[gemm.c]);
    for (std::int64_t item = 0; item < gemm.batch; ++item) {
        product(function, gemm, a + item * gemm.strideA, b + item * gemm.strideB,
                c + item * gemm.strideC);
        if (gemm.bias >= 0)
            addBias(gemm, reinterpret_cast<const Element *>(pointers[gemm.bias]),
                    c + item * gemm.strideC);
    }
}

/// 16-bit elements are widened, multiplied as float32 and rounded once, as the GPU does, or not at
/// all where the result is float32.
void runHalf(Sgemm function, DType type, DType result, const ProgramGemm &gemm,
             const HostPointers &pointers) {
    const std::int64_t rowsA = gemm.transposeA ? gemm.k : gemm.m;
    const std::int64_t rowsB = gemm.transposeB ? gemm.n : gemm.k;
    const std::int64_t columnsA = gemm.transposeA ? gemm.m : gemm.k;
    const std::int64_t columnsB = gemm.transposeB ? gemm.k : gemm.n;
    const std::int64_t spanA = (rowsA - 1) * gemm.lda + columnsA;
    const std::int64_t spanB = (rowsB - 1) * gemm.ldb + columnsB;
    std::vector<float> a(spanA), b(spanB), c(gemm.m * gemm.n), bias;
    const std::int64_t bytes = static_cast<std::int64_t>(sizeOf(result));
    const auto read = [&](const std::byte *from, float *to) {
        if (result == DType::float32)
            std::memcpy(to, from, gemm.n * sizeof(float));
        else
            toFloat(from, type, to, gemm.n);
    };
    if (gemm.bias >= 0) {
        bias.resize(gemm.n);
        read(pointers[gemm.bias], bias.data());
    }
    ProgramGemm dense = gemm;
    dense.ldc = gemm.n;
    for (std::int64_t item = 0; item < gemm.batch; ++item) {
        toFloat(pointers[gemm.a] + 2 * item * gemm.strideA, type, a.data(), spanA);
        toFloat(pointers[gemm.b] + 2 * item * gemm.strideB, type, b.data(), spanB);
        std::byte *rows = pointers[gemm.c] + bytes * item * gemm.strideC;
        for (std::int64_t row = 0; gemm.beta != 0 && row < gemm.m; ++row)
            read(rows + bytes * row * gemm.ldc, c.data() + row * gemm.n);
        product<float>(function, dense, a.data(), b.data(), c.data());
        if (gemm.bias >= 0)
            addBias(dense, bias.data(), c.data());
        for (std::int64_t row = 0; row < gemm.m; ++row) {
            std::byte *to = rows + bytes * row * gemm.ldc;
            if (result == DType::float32)
                std::memcpy(to, c.data() + row * gemm.n, gemm.n * sizeof(float));
            else
                fromFloat(c.data() + row * gemm.n, to, type, gemm.n);
        }
    }
}

} // namespace

struct CpuGemm::Functions {
    Sgemm sgemm = nullptr;
    Dgemm dgemm = nullptr;
};

Result<CpuGemm> CpuGemm::open() {
    // Debian's plain name leads through /etc/alternatives, which a sandbox may not show.
    void *library = nullptr;
    for (const char *name :
         {"libopenblas.so.0", "/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0",
          "/usr/lib/aarch64-linux-gnu/openblas-pthread/libopenblas.so.0"}) {
        library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library != nullptr)
            break;
    }
    if (library == nullptr)
        return machineError("a gemm step on the CPU needs OpenBLAS: install libopenblas0");
    auto functions = std::make_shared<Functions>();
    functions->sgemm = reinterpret_cast<Sgemm>(dlsym(library, "cblas_sgemm"));
    functions->dgemm = reinterpret_cast<Dgemm>(dlsym(library, "cblas_dgemm"));
    if (functions->sgemm == nullptr || functions->dgemm == nullptr)
        return machineError("OpenBLAS lacks cblas_sgemm; install libopenblas0");
    CpuGemm gemm;
    gemm.functions_ = std::move(functions);
    return gemm;
}

void CpuGemm::run(const Program &program, const ProgramGemm &gemm,
                  const HostPointers &pointers) const {
    switch (const DType type = program.buffers[gemm.a].type.dtype; type) {
    case DType::float64:
        return runPlain<double>(functions_->dgemm, gemm, pointers);
    case DType::float32:
        return runPlain<float>(functions_->sgemm, gemm, pointers);
    default:
        return runHalf(functions_->sgemm, type, program.buffers[gemm.c].type.dtype, gemm, pointers);
    }
}

} // namespace cuda_agent::plan::runner
