// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/host/scheduler.h"

#include "core/toolchain/host/fiber_block.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csetjmp>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <sched.h>
#include <thread>
#include <utility>

namespace cuda_agent::toolchain::host {

namespace {

constexpr std::uint64_t noFault = UINT64_MAX;

/// One launch on its way through the pool.
struct Job {
    const CudaAgentHostLaunch *launch = nullptr;
    CudaAgentHostRunChunk chunk = nullptr;
    std::uint64_t blocks = 0;
    std::uint64_t chunkBlocks = 1;
    std::atomic<std::uint64_t> next{0};
    /// The first block of the earliest chunk that has faulted.
    std::atomic<std::uint64_t> faultAt{noFault};
    std::mutex faults;
};

struct alignas(64) Worker {
    CudaAgentHostBlock block{};
    FiberBlock fibers;
    std::jmp_buf escape;
    Job *job = nullptr;
    std::uint64_t first = 0; ///< block of the chunk at work
    char *shared = nullptr;
    std::size_t sharedBytes = 0;

    ~Worker() { std::free(shared); }
};

thread_local Worker *worker = nullptr;

/// Keeps the fault of a launch's earliest block, so that the same kernel fails with the same words
/// however its blocks were spread. Chunks before it go on; those after it are not begun.
void report(Worker &self, const std::string &problem) {
    Job &job = *self.job;
    std::lock_guard lock(job.faults);
    if (self.first >= job.faultAt)
        return;
    job.faultAt = self.first;
    const auto *launch = job.launch;
    if (launch->message && launch->messageBytes > 0) {
        const std::size_t size = std::min(problem.size(), launch->messageBytes - 1);
        std::memcpy(launch->message, problem.data(), size);
        launch->message[size] = 0;
    }
}

/// The dynamic shared memory of a launch, aligned as generously as any kernel may ask.
bool prepareShared(Worker &self, std::size_t bytes) {
    constexpr std::size_t alignment = 1024;
    const std::size_t size = (bytes + alignment) / alignment * alignment;
    if (size <= self.sharedBytes)
        return true;
    std::free(self.shared);
    self.shared = static_cast<char *>(std::aligned_alloc(alignment, size));
    self.sharedBytes = self.shared ? size : 0;
    return self.shared != nullptr;
}

void work(Worker &self, Job &job) {
    const auto &launch = *job.launch;
    worker = &self;
    self.job = &job;
    self.first = 0;
    if (!prepareShared(self, launch.sharedBytes))
        report(self, "out of memory for dynamic shared memory");
    self.block.dynamicShared = self.shared;
    self.block.launch = &launch;
    for (int i = 0; i < 3; ++i) {
        self.block.blockDim[i] = launch.block[i];
        self.block.gridDim[i] = launch.grid[i];
    }
    // A fault jumps back here over the kernel's frames, which hold nothing that must be undone.
    if (setjmp(self.escape) == 0) {
        for (;;) {
            self.first = job.next.fetch_add(job.chunkBlocks);
            if (self.first >= job.blocks || self.first >= job.faultAt)
                break;
            const CudaAgentHostChunk chunk{&self.block, self.first,
                                           std::min(job.blocks, self.first + job.chunkBlocks)};
            job.chunk(&chunk);
        }
    }
    self.job = nullptr;
    worker = nullptr; // the pool's own is lent to one calling thread after the other
}

/// Threads that wait for launches. Grows when a launch asks for more; one launch at a time.
class Pool {
  public:
    void run(Job &job, int threads) {
        std::lock_guard turn(turn_);
        grow(threads - 1);
        {
            std::lock_guard lock(mutex_);
            job_ = &job;
            wanted_ = threads - 1;
            left_ = threads - 1;
            ++generation_;
        }
        if (threads > 1)
            wake_.notify_all();
        work(own_, job);
        std::unique_lock lock(mutex_);
        done_.wait(lock, [&] { return left_ == 0; });
        job_ = nullptr;
    }

  private:
    void grow(int helpers) {
        while (static_cast<int>(helpers_.size()) < helpers) {
            const int index = static_cast<int>(helpers_.size());
            helpers_.push_back(std::make_unique<Worker>());
            // Never joined: the pool lives as long as the process.
            std::thread([this, index, self = helpers_.back().get()] {
                serve(index, *self);
            }).detach();
        }
    }

    void serve(int index, Worker &self) {
        std::uint64_t seen = 0;
        std::unique_lock lock(mutex_);
        for (;;) {
            wake_.wait(lock, [&] { return generation_ != seen; });
            seen = generation_;
            if (index >= wanted_)
                continue;
            Job *job = job_;
            lock.unlock();
            work(self, *job);
            lock.lock();
            if (--left_ == 0)
                done_.notify_one();
        }
    }

    std::mutex turn_;
    std::mutex mutex_;
    std::condition_variable wake_;
    std::condition_variable done_;
    std::vector<std::unique_ptr<Worker>> helpers_;
    Worker own_;
    Job *job_ = nullptr;
    int wanted_ = 0;
    int left_ = 0;
    std::uint64_t generation_ = 0;
};

Pool &pool() {
    static auto *instance = new Pool; // its threads may outlive main()
    return *instance;
}

int runLaunch(const CudaAgentHostLaunch *launch, CudaAgentHostRunChunk chunk) {
    Job job;
    job.launch = launch;
    job.chunk = chunk;
    job.blocks = std::uint64_t{launch->grid[0]} * launch->grid[1] * launch->grid[2];
    const int asked = launch->threads > 0 ? launch->threads : hardwareThreads();
    const int threads = static_cast<int>(std::min<std::uint64_t>(job.blocks, asked));
    // Some pieces a thread, so that uneven blocks and a busy machine even out.
    job.chunkBlocks =
        std::clamp<std::uint64_t>(job.blocks / (static_cast<std::uint64_t>(threads) * 16), 1, 4096);
    pool().run(job, threads);
    return job.faultAt != noFault ? 1 : 0;
}

void runBlock(CudaAgentHostBlock *block, CudaAgentHostRunThread thread, void *closure) {
    Worker &self = *worker;
    if (self.fibers.run(*block, thread, closure))
        return;
    report(self, self.fibers.problem());
    std::longjmp(self.escape, 1);
}

/// Host code of a module candidate has only its own assertions.
[[noreturn]] void raiseOutside(int line, const char *what) {
    fprintf(stderr, "line %d: %s\n", line, what);
    std::abort();
}

[[noreturn]] void raise(std::string problem) {
    Worker &self = *worker;
    if (self.fibers.active())
        self.fibers.fault(std::move(problem));
    report(self, std::exchange(problem, {})); // nothing is destroyed on the way out
    std::longjmp(self.escape, 1);
}

std::string atPlace(int line, const char *what) {
    if (worker->fibers.active())
        worker->fibers.setIndex();
    const auto &block = worker->block;
    return fmt::format("line {}: {} (block ({},{},{}), thread ({},{},{}))", line, what,
                       block.blockIdx[0], block.blockIdx[1], block.blockIdx[2], block.threadIdx[0],
                       block.threadIdx[1], block.threadIdx[2]);
}

/// The choice between the engines was made from the text; here it turns out wrong.
void needFibers(int line, const char *what) {
    if (!worker->fibers.active()) [[unlikely]]
        raise(fmt::format("line {}: {} is reached in a kernel that does not seem to synchronise; "
                          "call it by name in the kernel's own file",
                          line, what));
}

int barrier(int kind, int predicate, int line) {
    needFibers(line, "__syncthreads");
    return worker->fibers.barrier(kind, predicate, line);
}

std::uint64_t warp(int kind, std::uint32_t mask, std::uint64_t value, std::uint32_t control,
                   int line) {
    needFibers(line, "a warp operation");
    return worker->fibers.warp(kind, mask, value, control, line);
}

} // namespace

const CudaAgentHostRuntime &hostRuntime() {
    static const CudaAgentHostRuntime runtime{
        .version = CUDA_AGENT_HOST_ABI,
        .run = &runLaunch,
        .runBlock = &runBlock,
        .current =
            [] {
                if (worker->fibers.active())
                    worker->fibers.setIndex();
                return &worker->block;
            },
        .barrier = &barrier,
        .warp = &warp,
        .activeMask =
            [] {
                needFibers(0, "__activemask");
                return worker->fibers.activeMask();
            },
        .pause =
            [] {
                if (worker->fibers.active())
                    worker->fibers.pause();
            },
        .fault =
            [](int line, const char *what) {
                if (!insideLaunch())
                    raiseOutside(line, what);
                raise(atPlace(line, what));
            },
    };
    return runtime;
}

bool insideLaunch() {
    return worker != nullptr;
}

int hardwareThreads() {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return std::max(1, CPU_COUNT(&set));
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

} // namespace cuda_agent::toolchain::host
