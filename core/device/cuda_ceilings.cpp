// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/cuda_judge_kernels.h"
#include "core/device/cuda_measure.h"
#include "core/device/nvrtc_library.h"

#include <cublasLt.h>
#include <dlfcn.h>

#include <algorithm>
#include <vector>

namespace cuda_agent::device {

namespace {

constexpr std::int64_t side = 8192; ///< of the matrices
constexpr double productFlops = 2.0 * side * side * side;

/// The part of cuBLASLt that one matrix product needs, loaded at run time.
struct Blas {
    decltype(&::cublasLtCreate) create = nullptr;
    decltype(&::cublasLtDestroy) destroy = nullptr;
    decltype(&::cublasLtMatmul) matmul = nullptr;
    decltype(&::cublasLtMatmulDescCreate) descCreate = nullptr;
    decltype(&::cublasLtMatmulDescDestroy) descDestroy = nullptr;
    decltype(&::cublasLtMatmulDescSetAttribute) descSetAttribute = nullptr;
    decltype(&::cublasLtMatrixLayoutCreate) layoutCreate = nullptr;
    decltype(&::cublasLtMatrixLayoutDestroy) layoutDestroy = nullptr;
    decltype(&::cublasLtMatmulPreferenceCreate) preferenceCreate = nullptr;
    decltype(&::cublasLtMatmulPreferenceDestroy) preferenceDestroy = nullptr;
    decltype(&::cublasLtMatmulPreferenceSetAttribute) preferenceSetAttribute = nullptr;
    decltype(&::cublasLtMatmulAlgoGetHeuristic) heuristic = nullptr;

    static std::optional<Blas> load() {
        constexpr const char *name = "libcublasLt.so.13";
        void *library = nullptr;
        for (const auto &folder : cuda::Nvrtc::folders())
            if (!library)
                library = dlopen((folder / name).c_str(), RTLD_NOW | RTLD_LOCAL);
        if (!library)
            library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return std::nullopt;
        Blas blas;
        const auto find = [&](const char *symbol, auto &function) {
            function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
                dlsym(library, symbol));
            return function != nullptr;
        };
        const bool complete =
            find("cublasLtCreate", blas.create) && find("cublasLtDestroy", blas.destroy) &&
            find("cublasLtMatmul", blas.matmul) &&
            find("cublasLtMatmulDescCreate", blas.descCreate) &&
            find("cublasLtMatmulDescDestroy", blas.descDestroy) &&
            find("cublasLtMatmulDescSetAttribute", blas.descSetAttribute) &&
            find("cublasLtMatrixLayoutCreate", blas.layoutCreate) &&
            find("cublasLtMatrixLayoutDestroy", blas.layoutDestroy) &&
            find("cublasLtMatmulPreferenceCreate", blas.preferenceCreate) &&
            find("cublasLtMatmulPreferenceDestroy", blas.preferenceDestroy) &&
            find("cublasLtMatmulPreferenceSetAttribute", blas.preferenceSetAttribute) &&
            find("cublasLtMatmulAlgoGetHeuristic", blas.heuristic);
        return complete ? std::optional(blas) : std::nullopt;
    }
};

/// An idle card raises its clocks over some tenths of a second.
constexpr double warmSeconds = 0.15;

Result<double> copyRate(CudaContext &context, CudaTimer &timer) {
    const auto &driver = context.driver();
    std::size_t free = 0;
    std::size_t total = 0;
    CUDA_AGENT_TRY(driver.check(driver.cuMemGetInfo(&free, &total), "free GPU memory"));
    // 2 GiB each way where there is room; far beyond any cache in any case.
    const std::uint64_t bytes =
        std::min<std::uint64_t>(2ull << 30, free / 4) / (1u << 20) * (1u << 20);
    if (bytes < (64u << 20))
        return machineError("{} MB of free GPU memory are too few to measure the copy rate",
                            free >> 20);
    CUDA_AGENT_ASSIGN(from, CudaBuffer::create(context, bytes));
    CUDA_AGENT_ASSIGN(to, CudaBuffer::create(context, bytes));
    auto source = from.address();
    auto target = to.address();
    std::uint64_t groups = bytes / 16;
    CUDA_AGENT_TRY(driver.check(
        driver.cuMemsetD32Async(source, 0x3f9d3a21u, bytes / 4, context.stream()), "memset"));
    void *arguments[] = {&source, &target, &groups};
    const auto once = static_cast<unsigned>((groups + 1023) / 1024);
    const auto persistent = context.blocksFor(groups);
    for (double warm = 0; warm < warmSeconds;) {
        CUDA_AGENT_ASSIGN(seconds, bestOf(timer, 1, [&] {
                              return context.launch("copy_once", once, arguments);
                          }));
        warm += 2 * std::max(seconds, 1e-4);
    }
    CUDA_AGENT_ASSIGN(byDriver, bestOf(timer, 10, [&] {
                          return driver.check(
                              driver.cuMemcpyDtoDAsync(target, source, bytes, context.stream()),
                              "copy on GPU");
                      }));
    CUDA_AGENT_ASSIGN(
        byOnce, bestOf(timer, 10, [&] { return context.launch("copy_once", once, arguments); }));
    CUDA_AGENT_ASSIGN(byPersistent, bestOf(timer, 10, [&] {
                          return context.launch("copy_persistent", persistent, arguments);
                      }));
    return 2 * static_cast<double>(bytes) / std::min({byDriver, byOnce, byPersistent});
}

Result<double> multiplyAddRate(CudaContext &context, CudaTimer &timer) {
    CUDA_AGENT_ASSIGN(sink, CudaBuffer::create(context, 4));
    auto address = sink.address();
    int rounds = 4096;
    void *arguments[] = {&address, &rounds};
    const auto blocks = static_cast<unsigned>(context.info().multiprocessors) * 32;
    CUDA_AGENT_ASSIGN(seconds, bestOf(timer, 5, [&] {
                          return context.launch("multiply_add", blocks, arguments);
                      }));
    return 2.0 * 16 * rounds * blocks * judgeThreads / seconds;
}

/// Seconds from before to after one block that does nothing. As for candidates' times, the cache is
/// flushed before it on the stream, and while that runs, the rest is put there.
Result<double> launchTime(CudaContext &context, CudaTimer &timer) {
    const auto &driver = context.driver();
    const std::uint64_t bytes = std::max<std::uint64_t>(2 * context.info().cacheBytes, 1u << 20);
    CUDA_AGENT_ASSIGN(flushed, CudaBuffer::create(context, bytes));
    std::vector<double> spans;
    for (int i = 0; i < 101; ++i) {
        CUDA_AGENT_TRY(driver.check(
            driver.cuMemsetD32Async(flushed.address(), 0, bytes / 4, context.stream()), "memset"));
        CUDA_AGENT_TRY(timer.start());
        CUDA_AGENT_TRY(context.launch("empty", 1, nullptr));
        CUDA_AGENT_ASSIGN(seconds, timer.stop());
        spans.push_back(seconds);
    }
    // The median, as of candidates; the first are of code that is being loaded.
    std::ranges::nth_element(spans, spans.begin() + 50);
    return spans[50];
}

/// What a product is made of: its elements, how they add up, and the kernel that draws them.
struct Product {
    cudaDataType_t type;
    cublasComputeType_t compute;
    const char *random;
};
constexpr Product fp32Product{CUDA_R_32F, CUBLAS_COMPUTE_32F, "random_floats"};
constexpr Product tf32Product{CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, "random_floats"};
constexpr Product fp16Product{CUDA_R_16F, CUBLAS_COMPUTE_32F, "random_halves"};
constexpr Product bf16Product{CUDA_R_16BF, CUBLAS_COMPUTE_32F, "random_bfloats"};

/// Rates of square products, 0 where the library cannot run them.
class ProductMeter {
  public:
    ProductMeter(CudaContext &context, CudaTimer &timer, const Blas &blas)
        : context_(context), timer_(timer), blas_(blas) {}
    ~ProductMeter() {
        if (preference_)
            blas_.preferenceDestroy(preference_);
        if (handle_)
            blas_.destroy(handle_);
    }
    ProductMeter(const ProductMeter &) = delete;
    ProductMeter &operator=(const ProductMeter &) = delete;

    Result<void> prepare() {
        constexpr std::uint64_t bytes = side * side * 4;
        for (auto *buffer : {&a_, &b_, &c_}) {
            CUDA_AGENT_ASSIGN(made, CudaBuffer::create(context_, bytes));
            *buffer = std::move(made);
        }
        CUDA_AGENT_ASSIGN(workspace, CudaBuffer::create(context_, workspaceBytes));
        workspace_ = std::move(workspace);
        std::size_t limit = workspaceBytes;
        if (blas_.create(&handle_) != CUBLAS_STATUS_SUCCESS ||
            blas_.preferenceCreate(&preference_) != CUBLAS_STATUS_SUCCESS ||
            blas_.preferenceSetAttribute(preference_, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                         &limit, sizeof limit) != CUBLAS_STATUS_SUCCESS)
            return machineError("cuBLASLt does not start");
        return {};
    }

    /// The faster of both ways to store the left matrix, over the library's first choices.
    Result<double> rate(const Product &product) {
        CUDA_AGENT_TRY(draw(product));
        cublasLtMatrixLayout_t layout = nullptr;
        if (blas_.layoutCreate(&layout, product.type, side, side, side) != CUBLAS_STATUS_SUCCESS)
            return 0.0;
        auto seconds = fastest(product, layout);
        blas_.layoutDestroy(layout);
        if (!seconds)
            return seconds;
        return *seconds > 0 ? productFlops / *seconds : 0.0;
    }

  private:
    static constexpr std::size_t workspaceBytes = 64u << 20;
    static constexpr int choices = 3;
    static constexpr int runs = 5;

    Result<void> draw(const Product &product) {
        std::uint64_t seed = 1;
        for (auto *buffer : {&a_, &b_}) {
            auto address = buffer->address();
            std::uint64_t count = side * side;
            void *arguments[] = {&address, &count, &seed};
            CUDA_AGENT_TRY(context_.launch(product.random, context_.blocksFor(count), arguments));
            seed += count;
        }
        return context_.synchronize("random matrices");
    }

    /// Seconds of one product, 0 when none works. Each choice runs once, the best of them often.
    Result<double> fastest(const Product &product, cublasLtMatrixLayout_t layout) {
        double best = 0;
        for (const auto transpose : {CUBLAS_OP_N, CUBLAS_OP_T}) {
            cublasLtMatmulDesc_t description = nullptr;
            if (blas_.descCreate(&description, product.compute, CUDA_R_32F) !=
                CUBLAS_STATUS_SUCCESS)
                continue;
            blas_.descSetAttribute(description, CUBLASLT_MATMUL_DESC_TRANSA, &transpose,
                                   sizeof transpose);
            auto seconds = fastest(description, layout);
            blas_.descDestroy(description);
            if (!seconds)
                return seconds;
            if (*seconds > 0 && (best == 0 || *seconds < best))
                best = *seconds;
        }
        return best;
    }

    Result<double> fastest(cublasLtMatmulDesc_t description, cublasLtMatrixLayout_t layout) {
        cublasLtMatmulHeuristicResult_t found[choices] = {};
        int count = 0;
        if (blas_.heuristic(handle_, description, layout, layout, layout, layout, preference_,
                            choices, found, &count) != CUBLAS_STATUS_SUCCESS)
            return 0.0;
        double best = 0;
        int chosen = 0;
        for (int i = 0; i < count; ++i) {
            CUDA_AGENT_ASSIGN(seconds, time(description, layout, found[i].algo, 1));
            if (seconds > 0 && (best == 0 || seconds < best)) {
                best = seconds;
                chosen = i;
            }
        }
        if (best == 0)
            return 0.0;
        CUDA_AGENT_ASSIGN(again, time(description, layout, found[chosen].algo, runs));
        return again > 0 ? std::min(best, again) : best;
    }

    /// Seconds of one product, 0 for a choice that this card does not run.
    Result<double> time(cublasLtMatmulDesc_t description, cublasLtMatrixLayout_t layout,
                        const cublasLtMatmulAlgo_t &algorithm, int repetitions) {
        const float one = 1;
        const float zero = 0;
        auto status = CUBLAS_STATUS_SUCCESS;
        auto seconds = bestOf(timer_, repetitions, [&]() -> Result<void> {
            status =
                blas_.matmul(handle_, description, &one, pointer(a_), layout, pointer(b_), layout,
                             &zero, pointer(c_), layout, pointer(c_), layout, &algorithm,
                             pointer(workspace_), workspaceBytes, context_.stream());
            if (status != CUBLAS_STATUS_SUCCESS)
                return machineError("cuBLASLt status {}", static_cast<int>(status));
            return {};
        });
        if (status != CUBLAS_STATUS_SUCCESS)
            return 0.0;
        return seconds;
    }

    static void *pointer(const CudaBuffer &buffer) {
        return reinterpret_cast<void *>(buffer.address());
    }

    CudaContext &context_;
    CudaTimer &timer_;
    const Blas &blas_;
    CudaBuffer a_, b_, c_, workspace_;
    cublasLtHandle_t handle_ = nullptr;
    cublasLtMatmulPreference_t preference_ = nullptr;
};

} // namespace

Result<Ceilings> measureCudaCeilings(CudaContext &context) {
    CUDA_AGENT_ASSIGN(timer, CudaTimer::create(context));
    Ceilings ceilings;
    CUDA_AGENT_ASSIGN(rate, copyRate(context, timer));
    ceilings.copyBytesPerSecond = rate;
    CUDA_AGENT_ASSIGN(levels, measureCudaLevels(context, timer));
    ceilings.levels = std::move(levels);
    CUDA_AGENT_ASSIGN(launch, launchTime(context, timer));
    ceilings.launchSeconds = launch;
    if (const auto blas = Blas::load()) {
        ProductMeter meter(context, timer, *blas);
        // A GPU that is too full for the matrices still has its copy rate.
        if (meter.prepare()) {
            CUDA_AGENT_ASSIGN(fp32, meter.rate(fp32Product));
            CUDA_AGENT_ASSIGN(tf32, meter.rate(tf32Product));
            CUDA_AGENT_ASSIGN(fp16, meter.rate(fp16Product));
            CUDA_AGENT_ASSIGN(bf16, meter.rate(bf16Product));
            ceilings.fp32FlopsPerSecond = fp32;
            ceilings.halfFlopsPerSecond = std::max(fp16, bf16);
            // Before Ampere the TF32 request runs as fp32.
            ceilings.tf32FlopsPerSecond = tf32 > 1.5 * fp32 ? tf32 : 0;
        }
    }
    if (ceilings.fp32FlopsPerSecond == 0) {
        CUDA_AGENT_ASSIGN(plain, multiplyAddRate(context, timer));
        ceilings.fp32FlopsPerSecond = plain;
    }
    return ceilings;
}

} // namespace cuda_agent::device
