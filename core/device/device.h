// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"
#include "core/base/tensor_type.h"
#include "core/base/unique_fd.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cuda_agent::device {

enum class Kind { cpu, cuda };
std::string_view nameOf(Kind kind); ///< "cpu", "cuda"

/// What a device is. Sizes in bytes.
struct Info {
    Kind kind = Kind::cpu;
    int index = 0;            ///< the N of /dev/nvidiaN on cuda
    std::string name;         ///< "NVIDIA H200", or the CPU's model name
    std::string architecture; ///< "sm_90", or "x86-64-v4" style for a CPU
    int multiprocessors = 0;  ///< SMs, or hardware threads
    std::uint64_t memoryBytes = 0;
    std::uint64_t cacheBytes = 0;          ///< L2 on cuda, last level on cpu
    std::uint64_t sharedBytesPerBlock = 0; ///< opt-in maximum
    int driverVersion = 0;                 ///< CUDA driver API version, e.g. 13000; 0 on cpu
};
Json toJson(const Info &info);

/// A memory between the arithmetic and the device's main memory: a cache, or shared memory.
struct MemoryLevel {
    std::string name;          ///< "L1/shared", "L2", "L3"
    std::uint64_t bytes = 0;   ///< of the whole device: that of all multiprocessors or cores
    double bytesPerSecond = 0; ///< read by all multiprocessors or threads at once
};

/// Ceilings measured on this very machine, kept in the user's cache per device name and driver.
struct Ceilings {
    double copyBytesPerSecond = 0; ///< read plus written bytes of a large device copy
    double fp32FlopsPerSecond = 0; ///< large fp32 matrix product (no TF32)
    double tf32FlopsPerSecond = 0; ///< 0 where the device has none or it was not measured
    /// Large fp16 or bf16 matrix product that adds up in fp32, the faster of both; 0 as for TF32.
    double halfFlopsPerSecond = 0;
    /// Nearest to the arithmetic first; without the main memory.
    std::vector<MemoryLevel> levels = {};
    /// What a kernel that does nothing takes by the clock that times candidates: the least by which
    /// any call is longer than its work. 0 on cpu, where a call needs no launch.
    double launchSeconds = 0;
};
/// {"copy_bytes_per_second", "fp32_flops_per_second", "tf32_flops_per_second",
/// "half_flops_per_second", "launch_seconds", "levels": [{"name", "bytes", "bytes_per_second"}]}
Json toJson(const Ceilings &ceilings);
/// None unless every number is there as toJson writes it, finite and not negative, with a copy
/// rate.
std::optional<Ceilings> ceilingsFromJson(const Json &json);

class Device;

/// One allocation that other processes can map through its descriptor: a memfd on cpu, a CUDA
/// virtual-memory-management allocation exported as POSIX descriptor on cuda. Movable, owned.
class Memory {
  public:
    Memory() = default;
    Memory(Memory &&) noexcept;
    Memory &operator=(Memory &&) noexcept;
    ~Memory();

    std::uint64_t bytes() const { return bytes_; }
    /// Descriptor to lend over a Channel. Stays owned here.
    int fd() const { return fd_.get(); }
    /// Host pointer (cpu) or device address (cuda) in the engine's process.
    void *data() const { return data_; }
    explicit operator bool() const { return data_ != nullptr; }

  private:
    friend class CpuDevice;
    friend class CudaDevice;
    UniqueFd fd_;
    void *data_ = nullptr;
    std::uint64_t bytes_ = 0;       ///< as asked for
    std::uint64_t mappedBytes_ = 0; ///< rounded to the granularity
    void (*release_)(Memory &) = nullptr;
    std::uint64_t handle_ = 0;
};

/// A tensor inside a Memory.
struct TensorView {
    const Memory *memory = nullptr;
    std::uint64_t offset = 0; ///< bytes from the start of the memory to element [0, 0, ...]
    TensorType type;
};

/// Errors of a candidate output against the oracle.
/// The oracle has the same shape, contiguous; float64 for floating outputs, int64 for others.
/// An oracle element equal to `unconstrainedBits` (floating) or INT64_MIN (integer) is a place
/// where oracle and same-precision reference disagree about finiteness or value class: anything
/// is accepted there.
struct ErrorStats {
    std::int64_t elements = 0;
    std::int64_t unconstrained = 0;
    std::int64_t nonFiniteMismatches = 0; ///< NaN, +Inf, -Inf must match exactly
    std::int64_t integerMismatches = 0;
    std::int64_t firstMismatch = -1; ///< flat row-major index, smallest
    double errorSquared = 0;         ///< sum over finite elements of (candidate-oracle)^2
    double oracleSquared = 0;
    double maxError = 0;
    std::int64_t maxErrorIndex = -1;
    double maxOracle = 0;
    /// Largest |candidate-oracle| / (|oracle| + maxOracle * 1e-3), for evidence.
    double expected = 0; ///< oracle at the place the evidence points at (mismatch, else max error)
    double got = 0;
};
inline constexpr std::uint64_t unconstrainedBits = 0x7ff4'dead'0000'0001ull;

/// The judge's hands on a device: shared memory and the few operations that decide a verdict.
/// Runs in the engine, never in a candidate's process. Calls block; one thread at a time.
/// Errors: machine.
class Device {
  public:
    virtual ~Device() = default;
    virtual const Info &info() const = 0;

    virtual Result<Memory> allocate(std::uint64_t bytes) = 0;
    /// Takes over memory that a worker exported.
    virtual Result<Memory> import(UniqueFd fd, std::uint64_t bytes) = 0;
    virtual Result<std::uint64_t> freeBytes() = 0;

    virtual Result<void> write(Memory &to, std::uint64_t offset, const void *from,
                               std::uint64_t bytes) = 0;
    virtual Result<void> read(const Memory &from, std::uint64_t offset, void *to,
                              std::uint64_t bytes) = 0;
    virtual Result<void> copy(Memory &to, std::uint64_t toOffset, const Memory &from,
                              std::uint64_t fromOffset, std::uint64_t bytes) = 0;
    /// Fills with a repeating 32-bit word (poison, guard zones). Offset and size in multiples of 1;
    /// the word's phase is that of the absolute byte offset.
    virtual Result<void> fill(Memory &to, std::uint64_t offset, std::uint64_t bytes,
                              std::uint32_t word) = 0;
    /// Offset of the first byte in the range that differs from that fill, or none.
    virtual Result<std::optional<std::uint64_t>> firstChange(const Memory &memory,
                                                             std::uint64_t offset,
                                                             std::uint64_t bytes,
                                                             std::uint32_t word) = 0;
    /// Keyed content hash (inputs unchanged, bitwise equality of two outputs). Same key and bytes
    /// give the same value on the same device kind.
    virtual Result<std::uint64_t> digest(const Memory &memory, std::uint64_t offset,
                                         std::uint64_t bytes, std::uint64_t key) = 0;
    virtual Result<ErrorStats> compare(const TensorView &candidate, const TensorView &oracle) = 0;
    /// Measures once (one or two seconds), then answers from the cache file.
    virtual Result<Ceilings> ceilings();
    /// Measures now, leaving the cache file alone; see raiseCeilings().
    virtual Result<Ceilings> measureCeilings() = 0;
    /// Seconds of one copy of `bytes` (read plus written), now: the yardstick that tells a slowed
    /// machine from a slow candidate.
    virtual Result<double> timeCopy(std::uint64_t bytes) = 0;
};

/// Always there.
Result<std::unique_ptr<Device>> openCpu();
/// Errors: machine, with what is missing ("no NVIDIA driver: libcuda.so.1 not found").
Result<std::unique_ptr<Device>> openCuda(int index = 0);
/// cuda when there is one, else cpu.
Result<std::unique_ptr<Device>> openAuto();
/// "auto", "cuda" or "cpu". Errors: request (another name), machine.
Result<std::unique_ptr<Device>> openNamed(std::string_view name);

} // namespace cuda_agent::device
