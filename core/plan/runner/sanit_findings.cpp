// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What the checker has found, in words.

#include "core/plan/runner/sanit_checker.h"

#include <algorithm>

namespace cuda_agent::plan::runner::sanit {

namespace {

/// Beyond this many different findings only their number is kept.
constexpr std::size_t mostFindings = 100;
/// A wild address farther than this from every buffer has nothing to do with any.
constexpr std::uintptr_t farAway = 64u << 20;

} // namespace

std::string plural(std::uint64_t count, const char *what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

const char *verb(Use use) {
    return use.read && use.write ? "updates" : use.write ? "writes" : "reads";
}

void Checker::expectWritten(const void *begin) {
    for (auto &region : buffers_) {
        if (region.begin() != reinterpret_cast<std::uintptr_t>(begin))
            continue;
        std::uint64_t first = 0;
        const auto missing = region.countUnwritten(&first);
        noteUnwritten(region.name(), missing, first);
    }
}

void Checker::expectWritten(const std::string &name, std::uintptr_t begin, std::uint64_t bytes,
                            unsigned elementBytes) {
    const Region *region = host_ != nullptr ? adopt(host_->find(begin)) : nullptr;
    if (region == nullptr || !region->usable())
        return;
    std::uint64_t missing = 0, first = 0;
    for (auto at = begin; at < std::min(begin + bytes, region->end()); at += elementBytes)
        if (!region->isWritten(region->indexOf(at)) && missing++ == 0)
            first = (at - begin) / elementBytes;
    noteUnwritten(name, missing, first);
}

void Checker::noteUnwritten(const std::string &name, std::uint64_t missing, std::uint64_t first) {
    if (missing == 0)
        return;
    auto &finding = findings_.emplace_back();
    finding.kind = "unwritten";
    finding.buffer = name;
    finding.message =
        fmt::format("{} of {} {} never written, the first is element {}",
                    plural(missing, "element"), name, missing == 1 ? "is" : "are", first);
}

Json Checker::report() const {
    const auto placeJson = [](const Place &place) {
        return Json{{"file", place.file}, {"line", place.line}, {"column", place.column}};
    };
    Json list = Json::array();
    for (const auto &finding : findings_) {
        Json json{{"kind", finding.kind},
                  {"step", finding.step},
                  {"buffer", finding.buffer},
                  {"message", finding.message},
                  {"count", finding.count}};
        if (finding.place)
            json["place"] = placeJson(*finding.place);
        if (finding.other)
            json["other"] = placeJson(*finding.other);
        list.push_back(std::move(json));
    }
    return {{"findings", std::move(list)}, {"left_out", leftOut_}, {"accesses", uses_}};
}

void Checker::outside(std::uintptr_t address, std::size_t bytes, Use use, const void *caller) {
    if (host_ != nullptr)
        adopt(host_->below(address));
    const Region *nearest = nullptr;
    std::uintptr_t distance = farAway;
    for (const Region *region : regions_) {
        const std::uintptr_t gap = address >= region->end()    ? address - region->end()
                                   : address < region->begin() ? region->begin() - address
                                                               : 0;
        if (gap < distance) {
            distance = gap;
            nearest = region;
        }
    }
    Finding *finding =
        note("out-of-bounds", offsetOf(caller), 0, nearest ? nearest->name() : std::string());
    if (finding != nullptr) {
        std::string where = address < 4096 ? "at a null pointer" : "where there is no buffer";
        if (nearest != nullptr) {
            const auto size = nearest->end() - nearest->begin();
            const unsigned element = std::max(nearest->elementBytes(), 1u);
            const auto offset = static_cast<std::int64_t>(address - nearest->begin());
            where = nearest->contains(address)
                        ? fmt::format("across the end of {}", nearest->name())
                    : address >= nearest->end()
                        ? fmt::format("{} after the end of {}", plural(distance, "byte"),
                                      nearest->name())
                        : fmt::format("{} before the start of {}", plural(distance, "byte"),
                                      nearest->name());
            where += fmt::format(" (byte offset {} of {}", offset, plural(size, "byte"));
            if (nearest->elementBytes() > 0)
                where += fmt::format(
                    "; index {} of {}",
                    offset < 0 ? -static_cast<std::int64_t>((distance + element - 1) / element)
                               : offset / element,
                    plural(size / element, "element"));
            where += ")";
        }
        finding->message =
            fmt::format("{} {} {} ({})", verb(use), plural(bytes, "byte"), where, here());
    }
    stop();
}

std::optional<Place> Checker::placeOf(std::uint64_t offset) const {
    return image_->placeOf(offset);
}

std::string Checker::threadText(int thread) const {
    const auto t = static_cast<std::uint32_t>(thread);
    const auto *dim = block_->blockDim;
    return fmt::format("thread ({},{},{})", t % dim[0], t / dim[0] % dim[1], t / (dim[0] * dim[1]));
}

std::string Checker::blockText(std::uint64_t block) const {
    const auto *grid = block_->gridDim;
    return fmt::format("block ({},{},{})", block % grid[0], block / grid[0] % grid[1],
                       block / grid[0] / grid[1]);
}

std::string Checker::here() const {
    const auto *index = block_->blockIdx;
    return fmt::format("{} of block ({},{},{})", threadText(order_.thread()), index[0], index[1],
                       index[2]);
}

/// The first offset that was seen of the same place: loops are unrolled, and accesses to vectors
/// are cut in pieces.
std::uint64_t Checker::samePlace(std::uint64_t offset) {
    const auto [known, isNew] = same_.try_emplace({image_, offset}, offset);
    if (isNew)
        if (const auto place = placeOf(offset))
            known->second =
                firsts_.try_emplace({image_, place->file, place->line, place->column}, offset)
                    .first->second;
    return known->second;
}

/// The step and the buffer tell two launches of one kernel apart, too.
Checker::Key Checker::keyOf(const char *kind, std::uint64_t first, std::uint64_t second,
                            const std::string &buffer) {
    return {kind, step_ + '\n' + buffer, samePlace(first), samePlace(second)};
}

bool Checker::isKnown(const char *kind, std::uint64_t first, std::uint64_t second,
                      const std::string &buffer) {
    return known_.contains(keyOf(kind, first, second, buffer));
}

/// A new finding to be filled in, or null where one of the kind is known at that place.
Checker::Finding *Checker::note(const char *kind, std::uint64_t first, std::uint64_t second,
                                const std::string &buffer) {
    const auto [known, isNew] = known_.try_emplace(keyOf(kind, first, second, buffer), nullptr);
    if (!isNew) {
        if (known->second != nullptr)
            ++known->second->count;
        return nullptr;
    }
    if (findings_.size() >= mostFindings) {
        ++leftOut_;
        return nullptr;
    }
    Finding &finding = findings_.emplace_back();
    finding.kind = kind;
    finding.step = step_;
    finding.buffer = buffer;
    finding.place = placeOf(first);
    known->second = &finding;
    return &finding;
}

} // namespace cuda_agent::plan::runner::sanit
