// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/host/left_out.h"

#include "core/toolchain/host/abi.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <vector>

namespace {

constexpr int off = -2;

struct LeftOut {
    std::mutex mutex;
    std::vector<std::string> places;
    std::atomic<int> place{off};
};
LeftOut &leftOut() {
    static auto *instance = new LeftOut; // launches may outlive main()
    return *instance;
}

} // namespace

namespace cuda_agent::toolchain::host {

bool leavingOut() {
    return leftOut().place != off;
}

bool leavesOut(const std::string &name) {
    auto &out = leftOut();
    std::lock_guard lock(out.mutex);
    const int place = out.place;
    if (place == off)
        return false;
    const auto found = std::find(out.places.begin(), out.places.end(), name);
    const auto index = found - out.places.begin();
    if (found == out.places.end())
        out.places.push_back(name);
    return place < 0 || place == index;
}

} // namespace cuda_agent::toolchain::host

void cuda_agent_host_leave_out(int place) {
    auto &out = leftOut();
    std::lock_guard lock(out.mutex);
    out.place = place;
    if (place != off)
        out.places.clear();
}

int cuda_agent_host_places(char *names, size_t bytes) {
    auto &out = leftOut();
    std::lock_guard lock(out.mutex);
    std::string text;
    for (const auto &place : out.places)
        text += place + '\n';
    if (names && bytes > 0) {
        const std::size_t size = std::min(text.size(), bytes - 1);
        std::memcpy(names, text.data(), size);
        names[size] = 0;
    }
    return static_cast<int>(out.places.size());
}
