// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/process/activity.h"

#include "core/profile/process/warm_up.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

namespace cuda_agent::profile::process {

namespace {

constexpr std::size_t bufferBytes = 4u << 20;
constexpr std::size_t mostRecords = 1u << 20;
constexpr int callsBefore = 2; ///< of a set's first replays, which capture and warm up

struct Record {
    std::string kind; ///< "kernel", "memset", "memcpy"
    std::string name;
    std::uint64_t start = 0, end = 0; ///< nanoseconds
    std::array<std::int64_t, 3> grid{}, block{}, cluster{};
    std::int64_t registers = -1, staticShared = -1, dynamicShared = -1, local = -1, bytes = -1;
    std::uint32_t value = 0; ///< of a memset
};

/// Where CUPTI's threads put what they deliver: its callbacks carry nothing of ours.
struct Store {
    std::mutex mutex;
    const Cupti *cupti = nullptr;
    std::vector<Record> records;
    std::uint64_t dropped = 0;
};
Store &store() {
    static Store only;
    return only;
}

void CUPTIAPI bufferRequested(std::uint8_t **buffer, std::size_t *size, std::size_t *most) {
    *buffer = static_cast<std::uint8_t *>(std::aligned_alloc(8, bufferBytes));
    *size = *buffer != nullptr ? bufferBytes : 0;
    *most = 0;
}

Record recordOf(const CUpti_ActivityKernel10 &kernel) {
    Record record;
    record.kind = "kernel";
    record.name = kernel.name != nullptr ? kernel.name : "";
    record.start = kernel.start;
    record.end = kernel.end;
    record.grid = {kernel.gridX, kernel.gridY, kernel.gridZ};
    record.block = {kernel.blockX, kernel.blockY, kernel.blockZ};
    record.cluster = {kernel.clusterX, kernel.clusterY, kernel.clusterZ};
    record.registers = kernel.registersPerThread;
    record.staticShared = kernel.staticSharedMemory;
    record.dynamicShared = kernel.dynamicSharedMemory;
    record.local = kernel.localMemoryPerThread;
    return record;
}

void keep(const CUpti_Activity *activity) {
    auto &into = store().records;
    if (into.size() >= mostRecords) {
        ++store().dropped;
        return;
    }
    // Later versions of a record add fields at its end, so those of these headers hold.
    if (activity->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL ||
        activity->kind == CUPTI_ACTIVITY_KIND_KERNEL) {
        into.push_back(recordOf(*reinterpret_cast<const CUpti_ActivityKernel10 *>(activity)));
    } else if (activity->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
        const auto &memset = *reinterpret_cast<const CUpti_ActivityMemset4 *>(activity);
        Record record;
        record.kind = record.name = "memset";
        record.start = memset.start;
        record.end = memset.end;
        record.bytes = static_cast<std::int64_t>(memset.bytes);
        record.value = memset.value;
        into.push_back(std::move(record));
    } else if (activity->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
        const auto &memcpy = *reinterpret_cast<const CUpti_ActivityMemcpy6 *>(activity);
        Record record;
        record.kind = record.name = "memcpy";
        record.start = memcpy.start;
        record.end = memcpy.end;
        record.bytes = static_cast<std::int64_t>(memcpy.bytes);
        into.push_back(std::move(record));
    }
}

void CUPTIAPI bufferCompleted(CUcontext context, std::uint32_t stream, std::uint8_t *buffer,
                              std::size_t /*size*/, std::size_t valid) {
    auto &to = store();
    const std::lock_guard lock(to.mutex);
    CUpti_Activity *activity = nullptr;
    while (to.cupti->cuptiActivityGetNextRecord(buffer, valid, &activity) == CUPTI_SUCCESS)
        keep(activity);
    std::size_t dropped = 0;
    if (to.cupti->cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS)
        to.dropped += dropped;
    std::free(buffer);
}

/// Tracing that ends with the scope.
class Tracing {
  public:
    explicit Tracing(const Cupti &cupti) : cupti_(cupti) {}
    ~Tracing() {
        for (const auto kind : kinds)
            cupti_.cuptiActivityDisable(kind);
    }
    Tracing(const Tracing &) = delete;
    Tracing &operator=(const Tracing &) = delete;

    Outcome<void> begin() {
        store().cupti = &cupti_;
        CUDA_AGENT_TRY(
            cupti_.check(cupti_.cuptiActivityRegisterCallbacks(bufferRequested, bufferCompleted),
                         "cuptiActivityRegisterCallbacks"));
        for (const auto kind : kinds)
            CUDA_AGENT_TRY(cupti_.check(cupti_.cuptiActivityEnable(kind), "cuptiActivityEnable"));
        return {};
    }

    /// What was delivered since the last time, in the order in which it ran.
    Outcome<std::vector<Record>> take() {
        CUDA_AGENT_TRY(cupti_.check(cupti_.cuptiActivityFlushAll(1), "cuptiActivityFlushAll"));
        std::vector<Record> records;
        {
            const std::lock_guard lock(store().mutex);
            records = std::exchange(store().records, {});
        }
        std::erase_if(records, [](const Record &record) { return record.end < record.start; });
        std::ranges::stable_sort(records, {}, &Record::start);
        return records;
    }

  private:
    static constexpr std::array kinds = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                         CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_MEMCPY};
    const Cupti &cupti_;
};

/// When each step of a call ran, by CUPTI's clock. The call waits after each step, so that all of
/// its launches lie between.
class StepClock final : public plan::runner::StepWatcher {
  public:
    explicit StepClock(const Cupti &cupti) : cupti_(cupti) {}
    void begin(std::size_t step) override { spans_.push_back({step, now(), 0}); }
    void end(std::size_t /*step*/) override { spans_.back().end = now(); }

    /// The step in whose span the middle of the record lies; -1: between steps.
    int stepOf(const Record &record) const {
        const std::uint64_t middle = record.start + (record.end - record.start) / 2;
        for (const auto &span : spans_)
            if (middle >= span.begin && middle <= span.end)
                return static_cast<int>(span.step);
        return -1;
    }

  private:
    struct Span {
        std::size_t step;
        std::uint64_t begin, end;
    };
    std::uint64_t now() const {
        std::uint64_t time = 0;
        cupti_.cuptiGetTimestamp(&time);
        return time;
    }

    const Cupti &cupti_;
    std::vector<Span> spans_;
};

bool isMark(const Record &record) {
    return record.kind == "memset" && record.value == CacheFlush::word;
}

/// The launches of each call, which begins with a mark.
std::vector<std::vector<Record>> callsOf(const std::vector<Record> &records) {
    std::vector<std::vector<Record>> calls;
    for (const auto &record : records) {
        if (isMark(record))
            calls.emplace_back();
        else if (!calls.empty())
            calls.back().push_back(record);
    }
    return calls;
}

bool sameLaunches(const std::vector<Record> &a, const std::vector<Record> &b) {
    return std::ranges::equal(a, b, [](const Record &left, const Record &right) {
        return left.kind == right.kind && left.name == right.name && left.grid == right.grid;
    });
}

/// As many calls as are wanted, as the runner times them, or launched one by one.
Outcome<std::vector<std::vector<Record>>> traced(Tracing &tracing, plan::runner::Backend &backend,
                                                 CacheFlush &flush, const TraceRequest &request,
                                                 bool asTimed) {
    plan::runner::TimeRequest one;
    one.sets = {request.set};
    one.flushCache = false;
    for (int i = 0; i < callsBefore + request.calls; ++i) {
        CUDA_AGENT_TRY(outcomeOf(request.flush ? flush.flush() : flush.mark()));
        if (asTimed) {
            const auto samples = backend.time(one);
            if (!samples)
                return tl::unexpected(outcomeOf(tl::unexpected(samples.error())).error());
        } else {
            CUDA_AGENT_TRY(outcomeOf(backend.call(request.set)));
        }
    }
    CUDA_AGENT_ASSIGN(records, tracing.take());
    auto calls = callsOf(records);
    calls.erase(calls.begin(),
                calls.begin() + std::min<std::ptrdiff_t>(std::ssize(calls), callsBefore));
    return calls;
}

Json launchJson(const Record &record, int step) {
    return {{"kind", record.kind},
            {"name", record.name},
            {"step", step},
            {"grid", record.grid},
            {"block", record.block},
            {"cluster", record.cluster},
            {"registers", record.registers},
            {"static_shared", record.staticShared},
            {"dynamic_shared", record.dynamicShared},
            {"local", record.local},
            {"bytes", record.bytes},
            {"seconds", Json::array()},
            {"gaps", Json::array()}};
}

} // namespace

Outcome<Json> traceCalls(const Cupti &cupti, plan::runner::Backend &backend, CacheFlush &flush,
                         const TraceRequest &request) {
    Tracing tracing(cupti);
    CUDA_AGENT_TRY(tracing.begin());
    CUDA_AGENT_TRY(warmUp(backend, request.set));
    CUDA_AGENT_TRY(outcomeOf(flush.mark()));
    CUDA_AGENT_TRY(tracing.take());
    StepClock clock(cupti);
    backend.watchSteps(&clock);
    auto called = outcomeOf(backend.call(request.set));
    backend.watchSteps(nullptr);
    CUDA_AGENT_TRY(std::move(called));
    CUDA_AGENT_ASSIGN(launches, tracing.take());
    std::erase_if(launches, isMark);

    const auto fits = [&](const std::vector<std::vector<Record>> &calls) {
        return !calls.empty() && std::ranges::all_of(calls, [&](const auto &call) {
            return sameLaunches(call, launches);
        });
    };
    CUDA_AGENT_ASSIGN(calls, traced(tracing, backend, flush, request, true));
    const bool asTimed = fits(calls);
    if (!asTimed) {
        CUDA_AGENT_ASSIGN(single, traced(tracing, backend, flush, request, false));
        calls = std::move(single);
        std::erase_if(calls, [&](const auto &call) { return !sameLaunches(call, launches); });
    }

    Json answer{{"launches", Json::array()},
                {"graph", asTimed},
                {"library", cupti.file},
                {"version", cupti.version}};
    for (std::size_t i = 0; i < launches.size(); ++i) {
        Json launch = launchJson(launches[i], clock.stepOf(launches[i]));
        for (const auto &call : calls) {
            launch["seconds"].push_back(1e-9 * static_cast<double>(call[i].end - call[i].start));
            if (asTimed && i > 0)
                launch["gaps"].push_back(1e-9 * (static_cast<double>(call[i].start) -
                                                 static_cast<double>(call[i - 1].end)));
        }
        answer["launches"].push_back(std::move(launch));
    }
    const std::lock_guard lock(store().mutex);
    answer["dropped"] = store().dropped;
    return answer;
}

} // namespace cuda_agent::profile::process
