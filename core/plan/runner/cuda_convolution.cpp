// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/cuda_library.h"

#include <algorithm>
#include <dlfcn.h>

#ifdef CUDA_AGENT_HAS_CUDNN
// The interface of version 7 does all that is needed here and is still part of version 9.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <cudnn.h>
#endif

namespace cuda_agent::plan::runner {

#ifdef CUDA_AGENT_HAS_CUDNN

namespace {

/// Of what is free: an algorithm that changes the layout itself keeps copies of input and output.
constexpr std::size_t workspaceShare = 2;

#define CUDA_AGENT_CUDNN_FUNCTIONS(apply)                                                          \
    apply(cudnnAddTensor);                                                                         \
    apply(cudnnConvolutionBackwardData);                                                           \
    apply(cudnnConvolutionForward);                                                                \
    apply(cudnnCreate);                                                                            \
    apply(cudnnCreateConvolutionDescriptor);                                                       \
    apply(cudnnCreateFilterDescriptor);                                                            \
    apply(cudnnCreateTensorDescriptor);                                                            \
    apply(cudnnFindConvolutionBackwardDataAlgorithm);                                              \
    apply(cudnnFindConvolutionForwardAlgorithm);                                                   \
    apply(cudnnGetConvolutionBackwardDataAlgorithm_v7);                                            \
    apply(cudnnGetConvolutionBackwardDataWorkspaceSize);                                           \
    apply(cudnnGetConvolutionForwardAlgorithm_v7);                                                 \
    apply(cudnnGetConvolutionForwardWorkspaceSize);                                                \
    apply(cudnnGetErrorString);                                                                    \
    apply(cudnnSetConvolutionGroupCount);                                                          \
    apply(cudnnSetConvolutionMathType);                                                            \
    apply(cudnnSetConvolutionNdDescriptor);                                                        \
    apply(cudnnSetFilterNdDescriptor);                                                             \
    apply(cudnnSetStream);                                                                         \
    apply(cudnnSetTensorNdDescriptor)

struct Library {
#define CUDA_AGENT_DECLARE(name) decltype(&::name) name = nullptr
    CUDA_AGENT_CUDNN_FUNCTIONS(CUDA_AGENT_DECLARE);
#undef CUDA_AGENT_DECLARE
    cudnnHandle_t handle = nullptr;

    Result<void> check(cudnnStatus_t status, std::string_view what) const {
        if (status == CUDNN_STATUS_SUCCESS)
            return {};
        return machineError("cuDNN: {}: {}", what, cudnnGetErrorString(status));
    }
};

Result<Library> openCudnn(const CudaCore &core, const Program &program) {
    void *found = openLibrary(program.libraryFolders, "libcudnn.so.9");
    if (found == nullptr)
        return machineError("a convolution step needs libcudnn.so.9, which was not found; set "
                            "LD_LIBRARY_PATH or install cuDNN 9 (PyPI: nvidia-cudnn-cu13)");
    Library library;
#define CUDA_AGENT_FIND(name)                                                                      \
    library.name = reinterpret_cast<decltype(library.name)>(dlsym(found, #name));                  \
    if (library.name == nullptr)                                                                   \
    return machineError("libcudnn.so.9 lacks " #name)
    CUDA_AGENT_CUDNN_FUNCTIONS(CUDA_AGENT_FIND);
#undef CUDA_AGENT_FIND
    CUDA_AGENT_TRY(library.check(library.cudnnCreate(&library.handle), "cudnnCreate"));
    CUDA_AGENT_TRY(library.check(
        library.cudnnSetStream(library.handle, reinterpret_cast<cudaStream_t>(core.stream())),
        "cudnnSetStream"));
    return library;
}

cudnnDataType_t cudnnType(DType type) {
    return type == DType::float16    ? CUDNN_DATA_HALF
           : type == DType::bfloat16 ? CUDNN_DATA_BFLOAT16
                                     : CUDNN_DATA_FLOAT;
}

/// As cuDNN wants them: int, and at least two spatial dimensions.
std::vector<int> widened(const std::vector<std::int64_t> &values, std::size_t wanted, int fill,
                         std::size_t at) {
    std::vector<int> result(values.begin(), values.end());
    while (result.size() < wanted)
        result.insert(result.begin() + static_cast<std::ptrdiff_t>(at), fill);
    return result;
}

class Convolution final : public CudaConvolution {
  public:
    Convolution(std::shared_ptr<const Library> library, const CudaCore &core,
                const ProgramConvolution &step, std::string label)
        : library_(std::move(library)), core_(&core), step_(step), label_(std::move(label)) {}

    Result<void> prepare(const Program &program);
    Result<void> run(const CudaPointers &pointers) override;

  private:
    Result<cudnnTensorDescriptor_t> tensor(DType type, const std::vector<int> &shape) const;
    Result<void> choose();

    template <typename Performance>
    bool usable(const Performance &entry) const {
        const bool exact = step_.tf32 || entry.mathType == CUDNN_FMA_MATH ||
                           entry.mathType == CUDNN_DEFAULT_MATH || type_ != DType::float32;
        return entry.status == CUDNN_STATUS_SUCCESS && entry.memory <= mostWorkspace_ && exact;
    }

    /// The implicit product with tensor cores. It was the fastest of all in either layout for each
    /// of 14 convolutions on an H200, and trying the others out takes up to seconds. Without tensor
    /// cores, which takes longer still, cuDNN's guess is the one.
    static bool usual(const cudnnConvolutionFwdAlgoPerf_t &entry) {
        return entry.algo == CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
    }
    static bool usual(const cudnnConvolutionBwdDataAlgoPerf_t &entry) {
        return entry.algo == CUDNN_CONVOLUTION_BWD_DATA_ALGO_1;
    }
    template <typename Performance>
    const Performance *usualOne(const Performance *entries, int found) const {
        if (step_.groups != 1)
            return nullptr;
        if (!step_.tf32 && type_ == DType::float32)
            return best(entries, found);
        const auto *end = entries + found;
        const auto *entry = std::find_if(
            entries, end, [&](const auto &each) { return usable(each) && usual(each); });
        return entry == end ? nullptr : entry;
    }

    /// What an algorithm was tried with, but never TF32 where the plan does not allow it.
    cudnnMathType_t mathOf(cudnnMathType_t tried) const {
        return type_ == DType::float32 && !step_.tf32 ? CUDNN_FMA_MATH : tried;
    }

    /// Transforms spread a NaN over a whole tile, and reorder sums: a last resort.
    static bool plain(const cudnnConvolutionFwdAlgoPerf_t &entry) {
        return entry.determinism == CUDNN_DETERMINISTIC &&
               entry.algo != CUDNN_CONVOLUTION_FWD_ALGO_FFT &&
               entry.algo != CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING &&
               entry.algo != CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD &&
               entry.algo != CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED;
    }
    static bool plain(const cudnnConvolutionBwdDataAlgoPerf_t &entry) {
        return entry.determinism == CUDNN_DETERMINISTIC &&
               entry.algo != CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT &&
               entry.algo != CUDNN_CONVOLUTION_BWD_DATA_ALGO_FFT_TILING &&
               entry.algo != CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD &&
               entry.algo != CUDNN_CONVOLUTION_BWD_DATA_ALGO_WINOGRAD_NONFUSED;
    }
    /// The first that may be used, which is the fastest; nothing when none may.
    template <typename Performance>
    const Performance *best(const Performance *entries, int found) const {
        const auto *end = entries + found;
        const auto *entry = std::find_if(
            entries, end, [&](const auto &each) { return usable(each) && plain(each); });
        if (entry == end)
            entry = std::find_if(entries, end, [&](const auto &each) { return usable(each); });
        return entry == end ? nullptr : entry;
    }

    std::shared_ptr<const Library> library_;
    const CudaCore *core_;
    ProgramConvolution step_;
    std::string label_;
    DType type_ = DType::float32;
    cudnnTensorDescriptor_t input_ = nullptr, output_ = nullptr, bias_ = nullptr;
    cudnnFilterDescriptor_t weight_ = nullptr;
    cudnnConvolutionDescriptor_t convolution_ = nullptr;
    cudnnConvolutionFwdAlgo_t forward_{};
    cudnnConvolutionBwdDataAlgo_t backward_{};
    std::size_t workspaceBytes_ = 0, mostWorkspace_ = 0;
    CudaMemory workspace_;
};

Result<cudnnTensorDescriptor_t> Convolution::tensor(DType type,
                                                    const std::vector<int> &shape) const {
    std::vector<int> strides(shape.size(), 1);
    if (step_.channelsLast) {
        int stride = shape[1];
        for (std::size_t i = shape.size(); i-- > 2;) {
            strides[i] = stride;
            stride *= shape[i];
        }
        strides[0] = stride;
    } else {
        for (std::size_t i = shape.size(); i-- > 1;)
            strides[i - 1] = strides[i] * shape[i];
    }
    cudnnTensorDescriptor_t made = nullptr;
    CUDA_AGENT_TRY(library_->check(library_->cudnnCreateTensorDescriptor(&made), label_));
    CUDA_AGENT_TRY(library_->check(
        library_->cudnnSetTensorNdDescriptor(made, cudnnType(type), static_cast<int>(shape.size()),
                                             shape.data(), strides.data()),
        label_));
    return made;
}

Result<void> Convolution::prepare(const Program &program) {
    const auto shapeOf = [&](int buffer) {
        const Shape &shape = program.buffers[buffer].type.shape;
        // Descriptors name sizes in torch's order.
        return widened(step_.channelsLast ? channelsSecond(shape) : shape, 4, 1, 2);
    };
    type_ = program.buffers[step_.input].type.dtype;
    const std::vector<int> output = shapeOf(step_.output), weight = shapeOf(step_.weight);
    CUDA_AGENT_ASSIGN(input, tensor(type_, shapeOf(step_.input)));
    CUDA_AGENT_ASSIGN(result, tensor(type_, output));
    input_ = input, output_ = result;
    if (step_.bias >= 0) {
        std::vector<int> shape(output.size(), 1);
        shape[1] = output[1];
        CUDA_AGENT_ASSIGN(bias, tensor(type_, shape));
        bias_ = bias;
    }
    CUDA_AGENT_TRY(library_->check(library_->cudnnCreateFilterDescriptor(&weight_), label_));
    CUDA_AGENT_TRY(library_->check(library_->cudnnSetFilterNdDescriptor(
                                       weight_, cudnnType(type_),
                                       step_.channelsLast ? CUDNN_TENSOR_NHWC : CUDNN_TENSOR_NCHW,
                                       static_cast<int>(weight.size()), weight.data()),
                                   label_));
    CUDA_AGENT_TRY(
        library_->check(library_->cudnnCreateConvolutionDescriptor(&convolution_), label_));
    const auto padding = widened(step_.padding, 2, 0, 0);
    const auto stride = widened(step_.stride, 2, 1, 0);
    const auto dilation = widened(step_.dilation, 2, 1, 0);
    CUDA_AGENT_TRY(library_->check(
        library_->cudnnSetConvolutionNdDescriptor(convolution_, static_cast<int>(padding.size()),
                                                  padding.data(), stride.data(), dilation.data(),
                                                  CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT),
        label_));
    CUDA_AGENT_TRY(library_->check(
        library_->cudnnSetConvolutionGroupCount(convolution_, static_cast<int>(step_.groups)),
        label_));
    // DEFAULT lets float32 go through TF32 tensor cores; FMA forbids it.
    const cudnnMathType_t math = type_ != DType::float32 ? CUDNN_TENSOR_OP_MATH
                                 : step_.tf32            ? CUDNN_DEFAULT_MATH
                                                         : CUDNN_FMA_MATH;
    CUDA_AGENT_TRY(
        library_->check(library_->cudnnSetConvolutionMathType(convolution_, math), label_));
    std::size_t free = 0, total = 0;
    CUDA_AGENT_TRY(core_->expect(core_->driver().cuMemGetInfo(&free, &total), "asking for memory"));
    mostWorkspace_ = free / workspaceShare;
    CUDA_AGENT_TRY(choose());
    CUDA_AGENT_ASSIGN(workspace, CudaMemory::make(*core_, workspaceBytes_));
    workspace_ = std::move(workspace);
    return {};
}

/// A transposed convolution is the gradient of one with input and output exchanged. Where the usual
/// algorithm does not serve, they are tried out here, before any time is taken; cuDNN's guess
/// serves where that cannot be done.
Result<void> Convolution::choose() {
    constexpr int most = 10;
    int found = 0;
    if (step_.transposed) {
        cudnnConvolutionBwdDataAlgoPerf_t entries[most];
        const cudnnConvolutionBwdDataAlgoPerf_t *chosen = nullptr;
        if (library_->cudnnGetConvolutionBackwardDataAlgorithm_v7(
                library_->handle, weight_, input_, convolution_, output_, most, &found, entries) ==
            CUDNN_STATUS_SUCCESS)
            chosen = usualOne(entries, found);
        if (chosen == nullptr && library_->cudnnFindConvolutionBackwardDataAlgorithm(
                                     library_->handle, weight_, input_, convolution_, output_, most,
                                     &found, entries) == CUDNN_STATUS_SUCCESS)
            chosen = best(entries, found);
        if (chosen == nullptr) {
            CUDA_AGENT_TRY(library_->check(library_->cudnnGetConvolutionBackwardDataAlgorithm_v7(
                                               library_->handle, weight_, input_, convolution_,
                                               output_, most, &found, entries),
                                           label_));
            chosen = best(entries, found);
        }
        if (chosen != nullptr) {
            backward_ = chosen->algo;
            CUDA_AGENT_TRY(library_->check(
                library_->cudnnSetConvolutionMathType(convolution_, mathOf(chosen->mathType)),
                label_));
            return library_->check(library_->cudnnGetConvolutionBackwardDataWorkspaceSize(
                                       library_->handle, weight_, input_, convolution_, output_,
                                       backward_, &workspaceBytes_),
                                   label_);
        }
    } else {
        cudnnConvolutionFwdAlgoPerf_t entries[most];
        const cudnnConvolutionFwdAlgoPerf_t *chosen = nullptr;
        if (library_->cudnnGetConvolutionForwardAlgorithm_v7(library_->handle, input_, weight_,
                                                             convolution_, output_, most, &found,
                                                             entries) == CUDNN_STATUS_SUCCESS)
            chosen = usualOne(entries, found);
        if (chosen == nullptr && library_->cudnnFindConvolutionForwardAlgorithm(
                                     library_->handle, input_, weight_, convolution_, output_, most,
                                     &found, entries) == CUDNN_STATUS_SUCCESS)
            chosen = best(entries, found);
        if (chosen == nullptr) {
            CUDA_AGENT_TRY(library_->check(library_->cudnnGetConvolutionForwardAlgorithm_v7(
                                               library_->handle, input_, weight_, convolution_,
                                               output_, most, &found, entries),
                                           label_));
            chosen = best(entries, found);
        }
        if (chosen != nullptr) {
            forward_ = chosen->algo;
            CUDA_AGENT_TRY(library_->check(
                library_->cudnnSetConvolutionMathType(convolution_, mathOf(chosen->mathType)),
                label_));
            return library_->check(library_->cudnnGetConvolutionForwardWorkspaceSize(
                                       library_->handle, input_, weight_, convolution_, output_,
                                       forward_, &workspaceBytes_),
                                   label_);
        }
    }
    return machineError("cuDNN has no algorithm for {}", label_);
}

Result<void> Convolution::run(const CudaPointers &pointers) {
    const auto at = [&](int buffer) { return reinterpret_cast<void *>(pointers[buffer]); };
    const float one = 1, zero = 0;
    void *workspace = reinterpret_cast<void *>(workspace_.address());
    const auto status = step_.transposed
                            ? library_->cudnnConvolutionBackwardData(
                                  library_->handle, &one, weight_, at(step_.weight), input_,
                                  at(step_.input), convolution_, backward_, workspace,
                                  workspaceBytes_, &zero, output_, at(step_.output))
                            : library_->cudnnConvolutionForward(
                                  library_->handle, &one, input_, at(step_.input), weight_,
                                  at(step_.weight), convolution_, forward_, workspace,
                                  workspaceBytes_, &zero, output_, at(step_.output));
    CUDA_AGENT_TRY(library_->check(status, label_));
    if (step_.bias < 0)
        return {};
    return library_->check(library_->cudnnAddTensor(library_->handle, &one, bias_, at(step_.bias),
                                                    &one, output_, at(step_.output)),
                           label_);
}

} // namespace

Result<std::unique_ptr<CudaConvolution>> makeCudaConvolution(const CudaCore &core,
                                                             const Program &program,
                                                             const ProgramConvolution &convolution,
                                                             const std::string &label) {
    static std::shared_ptr<const Library> shared; // one plan a process, one thread
    if (!shared) {
        CUDA_AGENT_ASSIGN(library, openCudnn(core, program));
        shared = std::make_shared<const Library>(std::move(library));
    }
    auto made = std::make_unique<Convolution>(shared, core, convolution, label);
    if (auto prepared = made->prepare(program); !prepared) {
        // Channels first is done by every version for every convolution; this layout is a choice.
        if (convolution.channelsLast)
            return failedError("{}: {}", label, prepared.error().message);
        return tl::unexpected(prepared.error());
    }
    return std::unique_ptr<CudaConvolution>(std::move(made));
}

#else

Result<std::unique_ptr<CudaConvolution>> makeCudaConvolution(const CudaCore &, const Program &,
                                                             const ProgramConvolution &,
                                                             const std::string &label) {
    return machineError("{}: this program was built without cudnn.h; install cuDNN 9 and rebuild",
                        label);
}

#endif

} // namespace cuda_agent::plan::runner
