// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/processes.h"

#include <ATen/ATen.h>
#ifndef USE_C10D_NCCL
#define USE_C10D_NCCL // the wheel has it; its header asks
#endif
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>

namespace cuda_agent::learn {

namespace {

constexpr auto patience = std::chrono::hours(24 * 30); ///< a run may be paused for long

std::string variable(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

Result<int> numberOf(const char *name) {
    const auto text = variable(name);
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < 0)
        return requestError("the environment variable {} is \"{}\", not a number; start the "
                            "program by torchrun, or unset WORLD_SIZE",
                            name, text);
    return value;
}

} // namespace

struct Processes::Group {
    c10::intrusive_ptr<c10d::Store> store;
    c10::intrusive_ptr<c10d::ProcessGroupNCCL> nccl; ///< null on CPUs
    std::int64_t sums = 0, words = 0;

    void sumByStore(at::Tensor &values, std::int64_t rank, std::int64_t size) {
        const auto key = [](std::int64_t which, std::int64_t of) {
            return fmt::format("sum/{}/{}", which, of);
        };
        const auto bytes = static_cast<std::size_t>(values.nbytes());
        std::vector<std::uint8_t> mine(bytes);
        std::memcpy(mine.data(), values.const_data_ptr(), bytes);
        store->set(key(sums, rank), mine);
        auto whole = at::zeros_like(values);
        for (std::int64_t other = 0; other < size; ++other) { // in one order for all
            auto theirs = store->get(key(sums, other));
            TORCH_CHECK(theirs.size() == bytes, "process ", other, " has another model");
            whole += at::from_blob(theirs.data(), values.sizes(), values.options());
        }
        values.copy_(whole);
        // All have read the one before, for all have written this one.
        if (sums > 0)
            store->deleteKey(key(sums - 1, rank));
        ++sums;
    }
};

Processes::Processes() = default;
Processes::Processes(Processes &&) noexcept = default;
Processes &Processes::operator=(Processes &&) noexcept = default;
Processes::~Processes() = default;

int Processes::localRank() {
    return variable("WORLD_SIZE").empty() ? 0 : numberOf("LOCAL_RANK").value_or(0);
}

Result<Processes> Processes::join(at::Device device) {
    Processes processes;
    if (variable("WORLD_SIZE").empty())
        return processes;
    CUDA_AGENT_ASSIGN(size, numberOf("WORLD_SIZE"));
    if (size <= 1)
        return processes;
    CUDA_AGENT_ASSIGN(rank, numberOf("RANK"));
    CUDA_AGENT_ASSIGN(port, numberOf("MASTER_PORT"));
    if (rank >= size || port > 65535)
        return requestError("RANK {} of WORLD_SIZE {} at MASTER_PORT {} makes no sense", rank, size,
                            port);
    processes.rank_ = rank;
    processes.size_ = size;
    processes.group_ = std::make_unique<Group>();
    c10d::TCPStoreOptions options;
    options.port = static_cast<std::uint16_t>(port);
    // torchrun's agent keeps the store where it says so; else the first process does.
    options.isServer = rank == 0 && variable("TORCHELASTIC_USE_AGENT_STORE") != "True";
    options.numWorkers = static_cast<std::size_t>(size);
    options.waitWorkers = false;
    options.timeout = patience;
    const auto host = variable("MASTER_ADDR");
    processes.group_->store = c10::make_intrusive<c10d::PrefixStore>(
        fmt::format("cuda-agent/{}", variable("TORCHELASTIC_RESTART_COUNT")),
        c10::make_intrusive<c10d::TCPStore>(host.empty() ? "127.0.0.1" : host, options));
    if (device.is_cuda())
        processes.group_->nccl = c10::make_intrusive<c10d::ProcessGroupNCCL>(
            processes.group_->store, rank, size, c10d::ProcessGroupNCCL::Options::create());
    return processes;
}

void Processes::sum(at::Tensor &values) {
    if (!group_)
        return;
    if (!group_->nccl)
        return group_->sumByStore(values, rank_, size_);
    std::vector<at::Tensor> tensors{values};
    group_->nccl->allreduce(tensors)->wait(); // the stream waits, not this thread
}

bool Processes::firstSays(bool word) {
    if (!group_)
        return word;
    const auto key = [&](std::int64_t which) { return fmt::format("word/{}", which); };
    if (first()) {
        group_->store->set(key(group_->words), std::vector<std::uint8_t>{word});
    } else {
        word = group_->store->get(key(group_->words)).at(0) != 0;
    }
    ++group_->words;
    return word;
}

} // namespace cuda_agent::learn
