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
#include <optional>

namespace cuda_agent::learn {

namespace {

constexpr std::size_t largestPart = 4u << 20; ///< of a value: the store takes no more than 8 MiB
constexpr auto farewell = std::chrono::milliseconds(30'000);
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
    std::int64_t gathers = 0, words = 0;
    std::vector<std::string> written; ///< own keys of the gather before
};

Processes::Processes() = default;
Processes::Processes(Processes &&) noexcept = default;
Processes &Processes::operator=(Processes &&) noexcept = default;
Processes::~Processes() {
    if (!group_)
        return;
    // The first one's store answers the others' last questions: it goes when all have left, or
    // after a while where one has not come so far.
    try {
        const auto key = [](std::int64_t rank) { return fmt::format("left/{}", rank); };
        group_->store->set(key(rank_), std::vector<std::uint8_t>{1});
        std::vector<std::string> others;
        for (std::int64_t rank = 1; rank < size_; ++rank)
            others.push_back(key(rank));
        if (first())
            group_->store->wait(others, farewell);
    } catch (const std::exception &) { // the connection is gone: nobody is to be waited for
    }
    try {
        if (group_->nccl)
            group_->nccl->shutdown();  // as its destructor does, which warns that nobody else has
    } catch (const std::exception &) { // a process that is gone took its communicator along
    }
}

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
    processes.onOneMachine_ = numberOf("LOCAL_WORLD_SIZE").value_or(0) == size;
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
    if (!group_->nccl) {
        const auto bytes = static_cast<std::size_t>(values.nbytes());
        const auto all = gather({static_cast<const char *>(values.const_data_ptr()), bytes});
        auto whole = at::zeros_like(values);
        for (const auto &theirs : all) { // in one order for all
            TORCH_CHECK(theirs.size() == bytes, "a process has another model");
            whole +=
                at::from_blob(const_cast<char *>(theirs.data()), values.sizes(), values.options());
        }
        values.copy_(whole);
        return;
    }
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

std::vector<std::string> Processes::gather(const std::string &mine) {
    if (!group_)
        return {mine};
    const auto key = [&](std::int64_t rank, std::size_t part) {
        return fmt::format("gather/{}/{}/{}", group_->gathers, rank, part);
    };
    std::vector<std::string> keys;
    const auto say = [&](std::string_view text) {
        keys.push_back(key(rank_, keys.size()));
        group_->store->set(keys.back(), std::vector<std::uint8_t>(text.begin(), text.end()));
    };
    say(std::to_string(mine.size()));
    for (std::size_t at = 0; at < mine.size(); at += largestPart)
        say(std::string_view(mine).substr(at, largestPart));
    std::vector<std::string> all(static_cast<std::size_t>(size_));
    for (std::int64_t rank = 0; rank < size_; ++rank) {
        const auto told = group_->store->get(key(rank, 0));
        const auto size = std::stoull(std::string(told.begin(), told.end()));
        auto &theirs = all[static_cast<std::size_t>(rank)];
        for (std::size_t part = 1; theirs.size() < size; ++part) {
            const auto bytes = group_->store->get(key(rank, part));
            TORCH_CHECK(!bytes.empty(), "process ", rank, " gave an empty part");
            theirs.append(bytes.begin(), bytes.end());
        }
    }
    // All have read the one before, for all have written this one.
    for (const auto &each : group_->written)
        group_->store->deleteKey(each);
    group_->written = std::move(keys);
    ++group_->gathers;
    return all;
}

Result<void> Processes::agreed(const Result<void> &mine) {
    if (!group_)
        return mine;
    std::string told; // the kind's number and the message
    if (!mine)
        told = fmt::format("{} {}", static_cast<int>(mine.error().kind), mine.error().message);
    std::optional<Error> found;
    for (const auto &each : gather(told)) {
        if (each.empty())
            continue;
        const auto blank = each.find(' ');
        Error error{static_cast<ErrorKind>(std::stoi(each.substr(0, blank))),
                    each.substr(blank + 1)};
        if (!found || found->kind == ErrorKind::stopped)
            found = std::move(error);
    }
    return found ? Result<void>(tl::unexpected(std::move(*found))) : Result<void>();
}

} // namespace cuda_agent::learn
