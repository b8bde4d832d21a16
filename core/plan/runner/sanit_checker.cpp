// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/sanit_checker.h"

#include "core/toolchain/host/scheduler.h"

#include <algorithm>
#include <cstring>
#include <dlfcn.h>
#include <pthread.h>

namespace cuda_agent::plan::runner::sanit {

namespace {

/// What lies at most this far above the running function's frame is its stack.
constexpr std::uintptr_t stackWindow = 256u << 10;

bool within(std::uintptr_t address, std::size_t bytes, std::uintptr_t begin, std::uintptr_t span) {
    return address >= begin && address - begin <= span && bytes <= span - (address - begin);
}

/// The stack of the thread that runs the checks: fibers have the kernel's arguments there.
bool onMainStack(std::uintptr_t address, std::size_t bytes) {
    static const auto stack = [] {
        void *bottom = nullptr;
        std::size_t size = 0;
        pthread_attr_t attributes;
        if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
            pthread_attr_getstack(&attributes, &bottom, &size);
            pthread_attr_destroy(&attributes);
        }
        return std::pair{reinterpret_cast<std::uintptr_t>(bottom), size};
    }();
    return within(address, bytes, stack.first, stack.second);
}

} // namespace

Checker &Checker::self() {
    static auto *checker = new Checker; // kernels may outlive main()
    return *checker;
}

// ---- from the backend

Result<void> Checker::addBuffer(const std::string &name, RegionKind kind, const void *begin,
                                std::uint64_t bytes, unsigned elementBytes) {
    Region &region = buffers_.emplace_back(name, kind, reinterpret_cast<std::uintptr_t>(begin),
                                           bytes, elementBytes);
    if (!region.usable())
        return machineError("out of memory for the checks of {}", name);
    return {};
}

void Checker::forgetBuffers() {
    buffers_.clear();
    regions_.clear();
    last_ = nullptr;
}

void Checker::wrote(const void *begin) {
    for (auto &region : buffers_)
        if (region.begin() == reinterpret_cast<std::uintptr_t>(begin))
            region.setAllWritten(true);
}

void Checker::beginLaunch(const Image &image, const std::string &step) {
    image_ = &image;
    step_ = step;
    block_ = nullptr;
    last_ = nullptr;
    order_.beginLaunch();
    heap_.clear();
    std::erase_if(adopted_, [this](const auto &each) { // others lie in their place
        const auto block = host_->find(each.second.begin());
        return !block || block->number != each.first;
    });
}

/// The launch's error is news unless it is how this checker stopped it.
void Checker::endLaunch(const std::string &problem) {
    settle();
    active_ = false;
    if (problem.empty() || stopped_)
        return;
    stopped_ = true;
    auto &finding = findings_.emplace_back();
    const bool waits = problem.find("divergent") != problem.npos ||
                       problem.find("for ever") != problem.npos ||
                       problem.find("leaves out the calling lane") != problem.npos;
    finding.kind = waits ? "barrier" : "fault";
    finding.step = step_;
    finding.message = problem;
    // "kernel 'k': line 12: ..."
    if (const auto at = problem.find("line "); at != problem.npos) {
        const int line = std::atoi(problem.c_str() + at + 5);
        if (line > 0)
            finding.place = Place{step_.substr(0, step_.find(':')), line, 0};
    }
}

// ---- the course of a launch

void Checker::chunk(const CudaAgentHostBlock *block, const void *anchor, const void *caller) {
    const auto &launch = *block->launch;
    auto [known, isNew] = variables_.try_emplace(image_);
    if (block_ == nullptr) { // the launch's first
        Dl_info info{};
        dladdr(caller, &info);
        base_ = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
        if (isNew) {
            const auto storage = reinterpret_cast<std::uintptr_t>(anchor) - image_->anchor();
            for (const auto &variable : image_->variables())
                known->second.emplace_back(
                    variable.name, variable.threadLocal ? RegionKind::shared : RegionKind::variable,
                    (variable.threadLocal ? storage : base_) + variable.value, variable.bytes, 0);
        }
        const auto shared = reinterpret_cast<std::uintptr_t>(block->dynamicShared);
        if (launch.sharedBytes == 0)
            dynamic_.reset();
        else if (!dynamic_ || dynamic_->begin() != shared ||
                 dynamic_->end() != shared + launch.sharedBytes)
            dynamic_.emplace("the dynamic shared memory", RegionKind::shared, shared,
                             launch.sharedBytes, 0);
        regions_.clear();
        for (auto &region : buffers_)
            regions_.push_back(&region);
        for (auto &region : known->second)
            regions_.push_back(&region);
        for (auto &[number, region] : adopted_)
            regions_.push_back(&region);
        if (dynamic_)
            regions_.push_back(&*dynamic_);
        std::erase_if(regions_, [](const Region *region) { return !region->usable(); });
        std::ranges::sort(regions_, {}, &Region::begin);
        last_ = nullptr;
    }
    block_ = block;
    active_ = true;
}

void Checker::block(const CudaAgentHostBlock *block) {
    settle();
    const auto *grid = block->gridDim;
    const auto *index = block->blockIdx;
    const auto *dim = block->blockDim;
    order_.beginBlock((std::uint64_t{index[2]} * grid[1] + index[1]) * grid[0] + index[0],
                      static_cast<int>(dim[0] * dim[1] * dim[2]));
    for (Region *region : regions_)
        if (region->kind() == RegionKind::shared)
            region->setAllWritten(false);
}

void Checker::thread(const CudaAgentHostBlock *block) {
    settle();
    const auto *index = block->threadIdx;
    const auto *dim = block->blockDim;
    order_.run(static_cast<int>((index[2] * dim[1] + index[1]) * dim[0] + index[0]));
}

int Checker::runningThread() {
    const auto *block = toolchain::host::hostRuntime().current();
    const auto *index = block->threadIdx;
    const auto *dim = block->blockDim;
    return static_cast<int>((index[2] * dim[1] + index[1]) * dim[0] + index[0]);
}

void Checker::barrier() {
    settle();
    order_.resumeAs(runningThread());
    order_.passBarrier();
}

void Checker::arriveAtWarp(std::uint32_t mask) {
    settle();
    order_.arriveAtWarp(mask);
}

void Checker::leaveWarp() {
    order_.resumeAs(runningThread());
    order_.leaveWarp();
}

void Checker::resume() {
    order_.run(runningThread());
}

void Checker::allocated(void *memory, std::size_t bytes) {
    if (memory != nullptr)
        heap_[reinterpret_cast<std::uintptr_t>(memory)] = bytes;
}

void Checker::freed(void *memory) {
    heap_.erase(reinterpret_cast<std::uintptr_t>(memory));
}

// ---- accesses

Region *Checker::find(std::uintptr_t address) {
    if (last_ != nullptr && last_->contains(address))
        return last_;
    const auto after = std::ranges::upper_bound(regions_, address, {}, &Region::begin);
    if (after == regions_.begin() || !(*(after - 1))->contains(address))
        return nullptr;
    return last_ = *(after - 1);
}

/// Looks at a block of the host's memory from now on; null where there is none.
Region *Checker::adopt(const std::optional<HostMemory::Block> &block) {
    if (!block)
        return nullptr;
    const auto [place, isNew] = adopted_.try_emplace(
        block->number, block->name.empty() ? plural(block->bytes, "allocated byte") : block->name,
        block->input ? RegionKind::input : RegionKind::host, block->begin, block->bytes,
        block->elementBytes);
    Region &region = place->second;
    if (isNew && region.usable())
        regions_.insert(std::ranges::upper_bound(regions_, region.begin(), {}, &Region::begin),
                        &region);
    return &region;
}

/// Whether this is memory that no message need speak of: a thread's own variables, the library's
/// constants and what the generated code around the kernel uses.
bool Checker::isOwn(std::uintptr_t address, std::size_t bytes) const {
    const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    if (within(address, bytes, frame, stackWindow) ||
        within(address, bytes, base_, image_->span()) || onMainStack(address, bytes))
        return true;
    if (within(address, bytes, reinterpret_cast<std::uintptr_t>(block_), sizeof *block_) ||
        within(address, bytes, reinterpret_cast<std::uintptr_t>(&toolchain::host::hostRuntime()),
               sizeof(CudaAgentHostRuntime)))
        return true;
    const auto after = heap_.upper_bound(address);
    return after != heap_.begin() &&
           within(address, bytes, std::prev(after)->first, std::prev(after)->second);
}

void Checker::use(const void *pointer, std::size_t bytes, Use use, const void *caller) {
    if (pending_)
        settle();
    if (!active_ || bytes == 0)
        return;
    ++uses_;
    const auto address = reinterpret_cast<std::uintptr_t>(pointer);
    Region *region = find(address);
    if (region == nullptr && isOwn(address, bytes))
        return;
    if (region == nullptr && host_ != nullptr) {
        region = adopt(host_->find(address));
        if (region != nullptr && !region->usable())
            return; // no room for what is to be noted
    }
    if (region != nullptr && bytes <= region->end() - address)
        return useRegion(*region, address, bytes, use, caller);
    outside(address, bytes, use, caller);
}

void Checker::useRegion(Region &region, std::uintptr_t address, std::size_t bytes, Use use,
                        const void *caller) {
    const unsigned granule = region.granule();
    const std::size_t first = region.indexOf(address);
    const std::size_t last = region.indexOf(address + bytes - 1);
    if (use.write && region.kind() == RegionKind::input)
        if (Finding *finding = note("input-written", offsetOf(caller), 0, region.name()))
            finding->message = fmt::format("{} {}, an input, which must stay as it is ({})",
                                           verb(use), region.placeOf(address), here());
    std::size_t unwritten = 0;
    for (std::size_t i = first; i <= last; ++i) {
        Cell &cell = region.cell(i);
        std::uint32_t parts = 15;
        if (bytes < granule) {
            const auto within = static_cast<unsigned>(address - region.begin()) & (granule - 1);
            parts = ((1u << bytes) - 1) << within & 15u;
        }
        if (use.read && !region.isWritten(i))
            ++unwritten;
        if (cell.write.segment != order_.now())
            checkPast(region, address, bytes, cell.write, true, parts, use, caller);
        const Past now{order_.now(), Past::pack(offsetOf(caller), parts, use.ordered)};
        if (use.write) {
            for (const Past &past : cell.reads)
                checkPast(region, address, bytes, past, false, parts, use, caller);
            cell.write = now;
            cell.reads[0] = cell.reads[1] = {};
            region.setWritten(i);
            continue;
        }
        if (cell.reads[0].segment == now.segment)
            continue;
        const auto replaces = [&](const Past &past) {
            return !order_.isCurrent(past.segment) ||
                   (order_.isOwnBlock(past.segment) && order_.isBefore(past.segment));
        };
        if (replaces(cell.reads[0]))
            cell.reads[0] = now;
        else
            cell.reads[1] = now;
    }
    // Part of a wide access may be padding, or lanes that nobody looks at.
    const std::size_t granules = last - first + 1;
    if (unwritten == 0 || (bytes > 4 && unwritten < granules))
        return;
    for (std::size_t i = first; i <= last; ++i)
        region.setWritten(i); // said once
    if (Finding *finding = note("uninitialised", offsetOf(caller), 0, region.name()))
        finding->message = fmt::format("{} {}, which {} ({})", verb(use), region.placeOf(address),
                                       region.kind() == RegionKind::shared
                                           ? "no thread of this block has written yet"
                                           : "nobody has written yet",
                                       here());
}

void Checker::checkPast(Region &region, std::uintptr_t address, std::size_t bytes, const Past &past,
                        bool pastWrote, std::uint32_t parts, Use use, const void *caller) {
    if (past.segment == 0 || !order_.isCurrent(past.segment) || !(pastWrote || use.write) ||
        (use.ordered && past.ordered()) || !(past.parts() & parts) ||
        (region.kind() == RegionKind::shared && !order_.isOwnBlock(past.segment)) ||
        order_.isBefore(past.segment))
        return;
    const auto first = offsetOf(caller);
    if (isKnown("race", first, past.offset(), region.name())) {
        note("race", first, past.offset(), region.name()); // counts
        return;
    }
    Finding finding;
    finding.buffer = region.name();
    finding.other = placeOf(past.offset());
    const bool sameBlock = order_.isOwnBlock(past.segment);
    finding.message = fmt::format(
        "{} {} ({}), which {} of {} {} on line {}; nothing orders the two{}", verb(use),
        region.placeOf(address), here(), threadText(order_.threadOf(past.segment)),
        sameBlock ? "the same block" : blockText(order_.blockOf(past.segment)),
        pastWrote ? "writes" : "reads", finding.other ? finding.other->line : 0,
        sameBlock ? ": a __syncthreads() or __syncwarp() is missing between them"
                  : "; blocks run in any order, so use an atomic operation or another kernel");
    Pending race{address, bytes, {}, first, past.offset(), std::move(finding)};
    if (pastWrote && !use.read && !use.ordered && bytes <= race.old.size()) {
        std::memcpy(race.old.data(), reinterpret_cast<const void *>(address), bytes);
        pending_ = std::move(race);
    } else {
        noteRace(race);
    }
}

void Checker::settle() {
    if (!pending_)
        return;
    const Pending race = std::move(*pending_);
    pending_.reset();
    if (std::memcmp(race.old.data(), reinterpret_cast<const void *>(race.address), race.bytes) != 0)
        noteRace(race);
}

void Checker::noteRace(const Pending &race) {
    Finding *finding = note("race", race.first, race.second, race.finding.buffer);
    if (finding == nullptr)
        return;
    finding->other = race.finding.other;
    finding->message = race.finding.message;
}

void Checker::copy(void *to, const void *from, std::size_t bytes, const void *caller) {
    if (!active_ || bytes == 0)
        return;
    use(from, bytes, {.read = true}, caller);
    use(to, bytes, {.write = true}, caller);
}

void Checker::atomic(const void *address, std::size_t bytes, Use kind, int memoryOrder,
                     const void *caller) {
    if (!active_)
        return;
    if (reinterpret_cast<std::uintptr_t>(address) % bytes != 0) {
        if (Finding *finding = note("misaligned", offsetOf(caller), 0, {}))
            finding->message = fmt::format(
                "an atomic operation on {} at an address that is no multiple of {} ({})",
                plural(bytes, "byte"), bytes, here());
        stop();
    }
    kind.ordered = true;
    use(address, bytes, kind, caller);
    const auto place = reinterpret_cast<std::uintptr_t>(address);
    if (kind.read)
        order_.acquire(place);
    if (kind.write)
        order_.release(place, memoryOrder >= __ATOMIC_RELEASE);
}

void Checker::undefined(const char *kind, const Place &place, std::string message, bool fatal) {
    if (!active_)
        return;
    const auto key = std::uint64_t{static_cast<std::uint32_t>(place.line)} << 32 |
                     static_cast<std::uint32_t>(place.column);
    if (Finding *finding = note(kind, key, 1, place.file)) {
        finding->buffer.clear();
        finding->place = place;
        finding->message = fmt::format("{} ({})", message, here());
    }
    message = {};
    if (fatal)
        stop();
}

std::uint64_t Checker::offsetOf(const void *caller) const {
    // One less than where the call returns to: still in the call, and on its line.
    return reinterpret_cast<std::uintptr_t>(caller) - base_ - 1;
}

void Checker::stop() {
    stopped_ = true;
    active_ = false;
    toolchain::host::hostRuntime().fault(0, "stopped by a check");
    std::abort();
}

} // namespace cuda_agent::plan::runner::sanit
