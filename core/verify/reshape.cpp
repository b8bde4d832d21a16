// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/verify/reshape.h"

#include "core/base/hash.h"

#include <random>

namespace cuda_agent::verify {

namespace {

/// Each costs at least another run of the task's file.
constexpr std::size_t mostTries = 6;

std::vector<std::pair<std::string, std::int64_t>> sizesOf(const task::Description &description) {
    std::vector<std::pair<std::string, std::int64_t>> sizes;
    for (const auto &[name, value] : description.constants)
        if (value.is_number_integer() && value.get<std::int64_t>() > 1)
            sizes.emplace_back(name, value.get<std::int64_t>());
    std::shuffle(sizes.begin(), sizes.end(), std::mt19937_64(randomSeed()));
    return sizes;
}

} // namespace

std::int64_t otherSize(std::int64_t size, std::uint64_t random) {
    if (size < 4)
        return size + 1;
    const auto low = size / 2;
    const auto drawn =
        low + static_cast<std::int64_t>((random >> 1) % static_cast<std::uint64_t>(size - low));
    const auto even = drawn / 8 * 8;
    return random % 2 == 0 && even > 0 ? even : drawn;
}

Result<void> drawReshaped(reference::Worker &worker, device::Share &share, Pool &pool,
                          std::stop_token stop) {
    std::string last = "the task has no constant to change";
    std::size_t tries = 0;
    for (const auto &[name, size] : sizesOf(pool.description)) {
        if (pool.reshaped.size() == mostReshaped || tries++ == mostTries)
            break;
        const auto value = otherSize(size, randomSeed());
        reference::CaseRequest request;
        request.name = fmt::format("{} = {}", name, value);
        request.seed = randomSeed() >> 1;
        CUDA_AGENT_TRY(share.step());
        auto made = worker.makeReshaped(request, name, value, stop);
        if (!made) {
            if (made.error().kind != ErrorKind::request)
                return tl::unexpected(made.error());
            last = made.error().message;
        } else if (!made->entry.skipped.empty()) {
            last = made->entry.skipped;
        } else {
            pool.reshaped.push_back(std::move(*made));
        }
    }
    if (pool.reshaped.empty())
        pool.notes.push_back(fmt::format("no case of other shapes: {}", last));
    return {};
}

} // namespace cuda_agent::verify
