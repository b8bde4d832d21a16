// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <ATen/core/Tensor.h>
#include <c10/core/Device.h>

#include <memory>
#include <string>
#include <vector>

namespace cuda_agent::learn {

/// The processes that train one model together, each with its part of every batch (data parallel):
/// those that torchrun started, or this one alone. GPUs exchange through NCCL; CPUs through
/// torchrun's store, which is slow but needs no network device: it is there to test the rest by.
/// One thread. What goes wrong between processes is thrown as c10::Error.
class Processes {
  public:
    /// This one alone.
    Processes();
    /// Those that torchrun tells of by its environment variables (RANK, WORLD_SIZE, MASTER_ADDR,
    /// MASTER_PORT); this one alone where there are none. `device` is this process's own. Blocks
    /// until all are there. Errors: request: variables that make no sense.
    static Result<Processes> join(at::Device device);
    Processes(Processes &&) noexcept;
    Processes &operator=(Processes &&) noexcept;
    ~Processes();

    /// torchrun's LOCAL_RANK, which is the GPU's number; 0 without torchrun.
    static int localRank();

    std::int64_t rank() const { return rank_; }
    std::int64_t size() const { return size_; }
    /// Writes the run's folder and decides when to stop.
    bool first() const { return rank_ == 0; }
    /// All run on one machine, as torchrun says (LOCAL_WORLD_SIZE), and see the same files.
    bool onOneMachine() const { return onOneMachine_; }

    /// The sum over all processes in place of `values`, a contiguous float tensor of the same shape
    /// in each; the same bits in each.
    void sum(at::Tensor &values);
    /// The first process's word, once it has said it, however long that takes.
    bool firstSays(bool word);
    /// What each process gives, by rank, the same in each; waits for the slowest, however long that
    /// takes. Goes through torchrun's store.
    std::vector<std::string> gather(const std::string &mine);
    /// Whether all have come so far: `mine`, or, the same in each, the error of one that has not;
    /// another one's before a stop.
    Result<void> agreed(const Result<void> &mine);

  private:
    struct Group;
    std::int64_t rank_ = 0, size_ = 1;
    bool onOneMachine_ = true;
    std::unique_ptr<Group> group_; ///< null: alone
};

} // namespace cuda_agent::learn
