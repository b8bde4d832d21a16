// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QtGlobal>

#include <cstddef>
#include <vector>

namespace cuda_agent::widgets {

/// Heights of rows, pixels: offset of a row and row at an offset in logarithmic time, also while
/// single heights change (a Fenwick tree). Grows and shrinks at the end.
class HeightTree {
  public:
    int size() const { return int(heights_.size()); }
    void clear();
    void append(int height);
    void shrink(int rows);
    void set(int row, int height);
    int height(int row) const { return heights_[std::size_t(row)]; }
    /// Pixels above `row`; row may be size().
    qint64 offset(int row) const;
    qint64 total() const { return offset(size()); }
    /// The row that covers `offset`, clamped to the rows there are; -1 when there are none.
    int rowAt(qint64 offset) const;

  private:
    std::vector<int> heights_;
    std::vector<qint64> sums_; ///< sums_[i] of the rows (i - lowbit(i + 1), i]
};

} // namespace cuda_agent::widgets
