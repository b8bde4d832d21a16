// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/trace/height_tree.h"

#include <algorithm>
#include <bit>

namespace cuda_agent::widgets {

namespace {
std::size_t lowBit(std::size_t value) {
    return value & (~value + 1);
}
} // namespace

void HeightTree::clear() {
    heights_.clear();
    sums_.clear();
}

void HeightTree::append(int height) {
    heights_.push_back(height);
    const std::size_t place = heights_.size(); // counted from 1
    qint64 sum = height;
    for (std::size_t child = 1; child < lowBit(place); child *= 2)
        sum += sums_[place - child - 1];
    sums_.push_back(sum);
}

void HeightTree::shrink(int rows) {
    // A sum covers rows up to its own only: what is left stays right.
    heights_.resize(std::size_t(std::max(rows, 0)));
    sums_.resize(heights_.size());
}

void HeightTree::set(int row, int height) {
    const qint64 more = height - heights_[std::size_t(row)];
    if (more == 0)
        return;
    heights_[std::size_t(row)] = height;
    for (std::size_t place = std::size_t(row) + 1; place <= sums_.size(); place += lowBit(place))
        sums_[place - 1] += more;
}

qint64 HeightTree::offset(int row) const {
    qint64 sum = 0;
    for (std::size_t place = std::size_t(std::max(row, 0)); place > 0; place -= lowBit(place))
        sum += sums_[place - 1];
    return sum;
}

int HeightTree::rowAt(qint64 offset) const {
    if (heights_.empty())
        return -1;
    std::size_t place = 0;
    for (std::size_t step = std::bit_floor(sums_.size()); step > 0; step /= 2) {
        if (place + step <= sums_.size() && sums_[place + step - 1] <= offset) {
            place += step;
            offset -= sums_[place - 1];
        }
    }
    return int(std::min(place, sums_.size() - 1));
}

} // namespace cuda_agent::widgets
