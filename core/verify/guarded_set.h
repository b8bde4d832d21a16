// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/plan/candidate_process.h"
#include "core/reference/worker.h"

#include <optional>

namespace cuda_agent::verify {

/// The private copy of one call's tensors that a candidate gets: every tensor lies between two
/// guard zones in memory of its own. Owned by the engine; the candidate sees it while bound.
/// Not thread-safe. Errors of all functions: machine.
class GuardedSet {
  public:
    /// Allocates memory for these inputs, parameters and outputs and writes the parameters.
    /// `shift` moves every input by that many elements, for the misaligned-storage check.
    static Result<GuardedSet> create(device::Device &device,
                                     const std::vector<device::TensorView> &inputs,
                                     const reference::Worker::Parameters &parameters,
                                     const std::vector<TensorType> &outputs, int shift = 0);

    /// Bytes such a set takes.
    static std::uint64_t bytesNeeded(const std::vector<device::TensorView> &inputs,
                                     const reference::Worker::Parameters &parameters,
                                     const std::vector<TensorType> &outputs);

    const plan::CallBuffers &buffers() const { return buffers_; }

    /// Copies other inputs of the same types into place and re-arms all guard zones.
    Result<void> load(const std::vector<device::TensorView> &inputs);
    /// As load(), but with the elements of contiguous floating inputs turned by some places, so
    /// that they are like the given ones and no call has seen them. False where there is none to
    /// turn.
    Result<bool> loadTurned(const std::vector<device::TensorView> &inputs, std::uint64_t random);
    /// Overwrites all outputs with a pattern that no right answer has.
    Result<void> poison(std::uint32_t word);
    /// First broken guard zone in words ("3 bytes after output 0"), or none.
    Result<std::optional<std::string>> brokenGuard() const;
    /// Name of the first input or parameter that changed since load(), or none.
    Result<std::optional<std::string>> changedInput() const;
    /// Keyed digest over all outputs.
    Result<std::uint64_t> outputDigest() const;

  private:
    struct Slot {
        std::string name;
        device::Memory memory;
        std::uint64_t offset = 0; ///< of the tensor
        std::uint64_t bytes = 0;  ///< of the tensor
        std::uint64_t digest = 0; ///< of the content as loaded; inputs and parameters only
    };
    Result<Slot> makeSlot(std::string name, const TensorType &type, std::uint64_t shiftBytes);
    Result<void> arm(Slot &slot);

    device::Device *device_ = nullptr;
    std::uint64_t key_ = 0;
    std::uint32_t guardWord_ = 0;
    std::vector<Slot> inputs_;
    std::vector<Slot> parameters_;
    std::vector<Slot> outputs_;
    plan::CallBuffers buffers_;
};

} // namespace cuda_agent::verify
