// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/device/cuda_driver.h"
#include "core/device/device.h"

namespace cuda_agent::device {

/// The engine's own context on one GPU: the device's primary context, a stream and the judge's
/// kernels. One thread at a time may call, a different one each time if need be.
/// Errors of all functions: machine.
class CudaContext {
  public:
    /// `ordinal` counts the devices that the driver shows. Takes about a second the first time in a
    /// process; compiles the judge's kernels once per architecture and keeps them in
    /// cacheDir()/judge.
    static Result<std::unique_ptr<CudaContext>> open(int ordinal);
    ~CudaContext();
    CudaContext(const CudaContext &) = delete;
    CudaContext &operator=(const CudaContext &) = delete;

    const cuda::Driver &driver() const { return *driver_; }
    CUdevice device() const { return device_; }
    CUstream stream() const { return stream_; }
    const Info &info() const { return info_; }

    /// Makes this context current on the calling thread.
    Result<void> activate();
    Result<int> attribute(CUdevice_attribute which) const;
    Result<CUfunction> kernel(const char *name);
    /// Starts blocks of `judgeThreads` threads on the stream; `arguments` as cuLaunchKernel's.
    Result<void> launch(const char *kernel, unsigned blocks, void **arguments);
    /// Waits for the stream. Faults of earlier launches show up here.
    Result<void> synchronize(std::string_view what);
    /// As many blocks as are useful for a grid-stride loop over `items`.
    unsigned blocksFor(std::uint64_t items) const;

  private:
    CudaContext() = default;
    Result<void> inspect();
    Result<void> loadKernels();

    const cuda::Driver *driver_ = nullptr;
    CUdevice device_ = 0;
    CUcontext context_ = nullptr;
    CUstream stream_ = nullptr;
    CUmodule module_ = nullptr;
    Info info_;
    std::map<std::string, CUfunction> kernels_;
};

/// Plain device memory of the engine, for scratch and for measuring.
class CudaBuffer {
  public:
    CudaBuffer() = default;
    static Result<CudaBuffer> create(CudaContext &context, std::uint64_t bytes);
    CudaBuffer(CudaBuffer &&other) noexcept
        : context_(other.context_), address_(std::exchange(other.address_, 0)),
          bytes_(std::exchange(other.bytes_, 0)) {}
    CudaBuffer &operator=(CudaBuffer &&other) noexcept;
    ~CudaBuffer() { release(); }

    CUdeviceptr address() const { return address_; }
    std::uint64_t bytes() const { return bytes_; }
    void release();

  private:
    CudaContext *context_ = nullptr;
    CUdeviceptr address_ = 0;
    std::uint64_t bytes_ = 0;
};

/// Two events around work on the stream.
class CudaTimer {
  public:
    static Result<CudaTimer> create(CudaContext &context);
    CudaTimer(CudaTimer &&other) noexcept
        : context_(other.context_), start_(std::exchange(other.start_, nullptr)),
          end_(std::exchange(other.end_, nullptr)) {}
    CudaTimer &operator=(CudaTimer &&) = delete;
    ~CudaTimer();

    Result<void> start();
    /// Waits for the work since start() and returns its span in seconds (resolution about 0.5 us).
    Result<double> stop();

  private:
    explicit CudaTimer(CudaContext &context) : context_(&context) {}
    CudaContext *context_;
    CUevent start_ = nullptr;
    CUevent end_ = nullptr;
};

/// Bandwidths and matrix product rates of this GPU, in about a second.
Result<Ceilings> measureCudaCeilings(CudaContext &context);

} // namespace cuda_agent::device
