// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/verify/guarded_set.h"

#include "core/base/hash.h"

namespace cuda_agent::verify {

namespace {

/// Wide enough to catch a block of threads that overruns by a row of a few thousand elements.
constexpr std::uint64_t guardBytes = 64u << 10;

std::uint64_t slotBytes(const TensorType &type) {
    return type.spanBytes() + 2 * guardBytes + 64; // room for a shift
}

} // namespace

std::uint64_t GuardedSet::bytesNeeded(const std::vector<device::TensorView> &inputs,
                                      const reference::Worker::Parameters &parameters,
                                      const std::vector<TensorType> &outputs) {
    std::uint64_t total = 0;
    for (const auto &input : inputs)
        total += slotBytes(input.type);
    for (const auto &[name, view] : parameters.tensors)
        total += slotBytes(view.type);
    for (const auto &type : outputs)
        total += slotBytes(type);
    return total;
}

Result<GuardedSet::Slot> GuardedSet::makeSlot(std::string name, const TensorType &type,
                                              std::uint64_t shiftBytes) {
    Slot slot;
    slot.name = std::move(name);
    CUDA_AGENT_ASSIGN(memory, device_->allocate(slotBytes(type)));
    slot.memory = std::move(memory);
    slot.offset = guardBytes + shiftBytes;
    slot.bytes = type.spanBytes();
    return slot;
}

Result<void> GuardedSet::arm(Slot &slot) {
    CUDA_AGENT_TRY(device_->fill(slot.memory, 0, slot.offset, guardWord_));
    const auto end = slot.offset + slot.bytes;
    return device_->fill(slot.memory, end, slot.memory.bytes() - end, guardWord_);
}

Result<GuardedSet> GuardedSet::create(device::Device &device,
                                      const std::vector<device::TensorView> &inputs,
                                      const reference::Worker::Parameters &parameters,
                                      const std::vector<TensorType> &outputs, int shift) {
    GuardedSet set;
    set.device_ = &device;
    set.key_ = randomSeed();
    set.guardWord_ = static_cast<std::uint32_t>(randomSeed()) | 1u;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const auto &type = inputs[i].type;
        CUDA_AGENT_ASSIGN(slot,
                          set.makeSlot(fmt::format("input {}", i), type,
                                       static_cast<std::uint64_t>(shift) * sizeOf(type.dtype)));
        set.inputs_.push_back(std::move(slot));
    }
    for (const auto &[name, view] : parameters.tensors) {
        CUDA_AGENT_ASSIGN(slot, set.makeSlot("parameter " + name, view.type, 0));
        CUDA_AGENT_TRY(
            device.copy(slot.memory, slot.offset, *view.memory, view.offset, slot.bytes));
        CUDA_AGENT_TRY(set.arm(slot));
        CUDA_AGENT_ASSIGN(digest, device.digest(slot.memory, slot.offset, slot.bytes, set.key_));
        slot.digest = digest;
        set.parameters_.push_back(std::move(slot));
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        CUDA_AGENT_ASSIGN(slot, set.makeSlot(fmt::format("output {}", i), outputs[i], 0));
        CUDA_AGENT_TRY(set.arm(slot));
        set.outputs_.push_back(std::move(slot));
    }
    // Views point at memories inside the vectors; those keep their heap storage when moved.
    for (std::size_t i = 0; i < inputs.size(); ++i)
        set.buffers_.inputs.push_back(
            {&set.inputs_[i].memory, set.inputs_[i].offset, inputs[i].type});
    std::size_t next = 0;
    for (const auto &[name, view] : parameters.tensors) {
        const auto &slot = set.parameters_[next++];
        set.buffers_.parameters[name] = {&slot.memory, slot.offset, view.type};
    }
    for (std::size_t i = 0; i < outputs.size(); ++i)
        set.buffers_.outputs.push_back(
            {&set.outputs_[i].memory, set.outputs_[i].offset, outputs[i]});
    return set;
}

Result<void> GuardedSet::load(const std::vector<device::TensorView> &inputs) {
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        auto &slot = inputs_[i];
        CUDA_AGENT_TRY(device_->copy(slot.memory, slot.offset, *inputs[i].memory, inputs[i].offset,
                                     slot.bytes));
        CUDA_AGENT_TRY(arm(slot));
        CUDA_AGENT_ASSIGN(digest, device_->digest(slot.memory, slot.offset, slot.bytes, key_));
        slot.digest = digest;
    }
    for (auto &slot : outputs_)
        CUDA_AGENT_TRY(arm(slot));
    return {};
}

Result<bool> GuardedSet::loadTurned(const std::vector<device::TensorView> &inputs,
                                    std::uint64_t random) {
    CUDA_AGENT_TRY(load(inputs));
    bool turned = false;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const auto &type = inputs[i].type;
        const auto elements = static_cast<std::uint64_t>(type.elements());
        if (!isFloating(type.dtype) || !type.contiguous() || elements < 2)
            continue;
        auto &slot = inputs_[i];
        const auto cut = (1 + random % (elements - 1)) * sizeOf(type.dtype);
        CUDA_AGENT_TRY(device_->copy(slot.memory, slot.offset, *inputs[i].memory,
                                     inputs[i].offset + cut, slot.bytes - cut));
        CUDA_AGENT_TRY(device_->copy(slot.memory, slot.offset + slot.bytes - cut, *inputs[i].memory,
                                     inputs[i].offset, cut));
        CUDA_AGENT_ASSIGN(digest, device_->digest(slot.memory, slot.offset, slot.bytes, key_));
        slot.digest = digest;
        turned = true;
    }
    return turned;
}

Result<void> GuardedSet::poison(std::uint32_t word) {
    for (auto &slot : outputs_)
        CUDA_AGENT_TRY(device_->fill(slot.memory, slot.offset, slot.bytes, word));
    return {};
}

Result<std::optional<std::string>> GuardedSet::brokenGuard() const {
    for (const auto *slots : {&outputs_, &inputs_, &parameters_}) {
        for (const auto &slot : *slots) {
            const auto end = slot.offset + slot.bytes;
            CUDA_AGENT_ASSIGN(after, device_->firstChange(slot.memory, end,
                                                          slot.memory.bytes() - end, guardWord_));
            if (after)
                return fmt::format("wrote outside its tensors, {} bytes after the end of {}",
                                   *after - end, slot.name);
            CUDA_AGENT_ASSIGN(before,
                              device_->firstChange(slot.memory, 0, slot.offset, guardWord_));
            if (before)
                return fmt::format("wrote outside its tensors, {} bytes before the start of {}",
                                   slot.offset - *before, slot.name);
        }
    }
    return std::nullopt;
}

Result<std::optional<std::string>> GuardedSet::changedInput() const {
    for (const auto *slots : {&inputs_, &parameters_}) {
        for (const auto &slot : *slots) {
            CUDA_AGENT_ASSIGN(digest, device_->digest(slot.memory, slot.offset, slot.bytes, key_));
            if (digest != slot.digest)
                return slot.name;
        }
    }
    return std::nullopt;
}

Result<std::uint64_t> GuardedSet::outputDigest() const {
    std::uint64_t total = key_;
    for (const auto &slot : outputs_) {
        CUDA_AGENT_ASSIGN(digest, device_->digest(slot.memory, slot.offset, slot.bytes, total));
        total = digest;
    }
    return total;
}

} // namespace cuda_agent::verify
