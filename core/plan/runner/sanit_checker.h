// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/plan/runner/sanit_host.h"
#include "core/plan/runner/sanit_image.h"
#include "core/plan/runner/sanit_memory.h"
#include "core/plan/runner/sanit_order.h"
#include "core/toolchain/host/abi.h"

#include <array>
#include <deque>
#include <map>
#include <set>
#include <tuple>

namespace cuda_agent::plan::runner::sanit {

/// How memory is used.
struct Use {
    bool read = false;
    bool write = false;
    bool ordered = false; ///< atomic or volatile: races with plain uses alone
};

/// "reads", "writes" or "updates".
const char *verb(Use use);
/// "3 bytes".
std::string plural(std::uint64_t count, const char *what);

/// Looks at everything that the kernels of one plan do. There is one in the process, as the
/// compiled kernels call it by functions without a context (sanit_hooks.cpp); one thread.
class Checker {
  public:
    static Checker &self();

    // ---- from the backend
    /// Errors: machine (no room for what is to be noted).
    Result<void> addBuffer(const std::string &name, RegionKind kind, const void *begin,
                           std::uint64_t bytes, unsigned elementBytes);
    void forgetBuffers();
    /// Kernels may use this memory, too (borrowed).
    void lookInto(const HostMemory *memory) { host_ = memory; }
    /// A step that is no kernel filled this buffer.
    void wrote(const void *begin);
    void beginLaunch(const Image &image, const std::string &step);
    /// `problem`: the launch's own error, or empty.
    void endLaunch(const std::string &problem);
    bool stopped() const { return stopped_; }
    /// Elements of this buffer that nobody wrote are a finding.
    void expectWritten(const void *begin);
    /// The same of a piece of the host's memory.
    void expectWritten(const std::string &name, std::uintptr_t begin, std::uint64_t bytes,
                       unsigned elementBytes);
    /// {"findings": [...], "accesses": N, "left_out": N}
    Json report() const;

    // ---- from the kernels, while a launch runs
    void chunk(const CudaAgentHostBlock *block, const void *anchor, const void *caller);
    void block(const CudaAgentHostBlock *block);
    void thread(const CudaAgentHostBlock *block);
    void barrier();
    void arriveAtWarp(std::uint32_t mask);
    void leaveWarp();
    void resume();
    void fence() { order_.fence(); }
    /// Does not return when the access must not be made.
    void use(const void *address, std::size_t bytes, Use use, const void *caller);
    void copy(void *to, const void *from, std::size_t bytes, const void *caller);
    void atomic(const void *address, std::size_t bytes, Use use, int memoryOrder,
                const void *caller);
    void allocated(void *memory, std::size_t bytes);
    void freed(void *memory);
    /// `fatal`: what follows in the kernel would break this process.
    void undefined(const char *kind, const Place &place, std::string message, bool fatal);

  private:
    struct Finding {
        std::string kind;
        std::string step;
        std::string buffer;
        std::string message;
        std::optional<Place> place;
        std::optional<Place> other;
        std::uint64_t count = 1;
    };
    using Key = std::tuple<std::string, std::string, std::uint64_t, std::uint64_t>;

    /// Two unordered writes that are a race unless the second, which is not made yet, writes what
    /// is there: CUDA lets one of the threads do it.
    struct Pending {
        std::uintptr_t address = 0;
        std::size_t bytes = 0;
        std::array<char, 16> old{};
        std::uint64_t first = 0, second = 0; ///< offsets of both
        Finding finding;
    };

    Region *find(std::uintptr_t address);
    Region *adopt(const std::optional<HostMemory::Block> &block);
    bool isOwn(std::uintptr_t address, std::size_t bytes) const;
    void outside(std::uintptr_t address, std::size_t bytes, Use use, const void *caller);
    void useRegion(Region &region, std::uintptr_t address, std::size_t bytes, Use use,
                   const void *caller);
    void checkPast(Region &region, std::uintptr_t address, std::size_t bytes, const Past &past,
                   bool pastWrote, std::uint32_t parts, Use use, const void *caller);
    void settle();
    std::uint64_t offsetOf(const void *caller) const;
    std::optional<Place> placeOf(std::uint64_t offset) const;
    std::string threadText(int thread) const;
    std::string blockText(std::uint64_t block) const;
    std::string here() const;
    std::uint64_t samePlace(std::uint64_t offset);
    Key keyOf(const char *kind, std::uint64_t first, std::uint64_t second,
              const std::string &buffer);
    bool isKnown(const char *kind, std::uint64_t first, std::uint64_t second,
                 const std::string &buffer);
    void noteRace(const Pending &race);
    void noteUnwritten(const std::string &name, std::uint64_t missing, std::uint64_t first);
    Finding *note(const char *kind, std::uint64_t first, std::uint64_t second,
                  const std::string &buffer);
    [[noreturn]] void stop();
    int runningThread();

    Order order_;
    std::deque<Region> buffers_;
    std::map<const Image *, std::deque<Region>> variables_; ///< `__shared__` ones too
    std::optional<Region> dynamic_;
    std::vector<Region *> regions_; ///< of the launch, by address
    Region *last_ = nullptr;
    std::map<std::uintptr_t, std::uintptr_t> heap_;
    const HostMemory *host_ = nullptr;
    std::map<std::uint64_t, Region> adopted_; ///< what was used of it, by the blocks' numbers

    const Image *image_ = nullptr;
    std::string step_;
    const CudaAgentHostBlock *block_ = nullptr;
    std::uintptr_t base_ = 0; ///< where the library lies
    bool active_ = false;
    bool stopped_ = false;

    std::optional<Pending> pending_;
    std::deque<Finding> findings_;
    std::map<Key, Finding *> known_;
    std::map<std::pair<const Image *, std::uint64_t>, std::uint64_t> same_;
    std::map<std::tuple<const Image *, std::string, int, int>, std::uint64_t> firsts_;
    std::uint64_t leftOut_ = 0;
    std::uint64_t uses_ = 0;
};

} // namespace cuda_agent::plan::runner::sanit
