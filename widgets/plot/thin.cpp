// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot/plot.h"

#include <algorithm>
#include <array>

namespace cuda_agent::widgets {

Thinned thin(const std::vector<double> &x, const std::vector<double> &y, double from, double to,
             int pixels) {
    Thinned result;
    const std::size_t size = std::min(x.size(), y.size());
    if (size == 0 || pixels < 1 || !(to >= from))
        return result;
    const auto end = x.begin() + static_cast<std::ptrdiff_t>(size);
    auto first = static_cast<std::size_t>(std::lower_bound(x.begin(), end, from) - x.begin());
    auto last = static_cast<std::size_t>(std::upper_bound(x.begin(), end, to) - x.begin());
    // One more on either side, so that lines leave the picture where they should.
    first = first > 0 ? first - 1 : 0;
    last = std::min(size, last + 1);
    if (last - first <= 4 * static_cast<std::size_t>(pixels)) {
        result.x = QVector<double>(x.begin() + static_cast<std::ptrdiff_t>(first),
                                   x.begin() + static_cast<std::ptrdiff_t>(last));
        result.y = QVector<double>(y.begin() + static_cast<std::ptrdiff_t>(first),
                                   y.begin() + static_cast<std::ptrdiff_t>(last));
        return result;
    }
    result.x.reserve(4 * pixels + 8);
    result.y.reserve(4 * pixels + 8);
    // Columns of equally many points: where points lie evenly they are columns of pixels, and where
    // they do not, none of them is wider than one.
    const auto put = [&](std::size_t at) {
        result.x.append(x[at]);
        result.y.append(y[at]);
    };
    const std::size_t points = last - first;
    const auto columns = static_cast<std::size_t>(pixels);
    for (std::size_t c = 0; c < columns; ++c) {
        const std::size_t begin = first + points * c / columns;
        const std::size_t stop = first + points * (c + 1) / columns;
        std::size_t least = begin;
        std::size_t greatest = begin;
        for (std::size_t i = begin + 1; i < stop; ++i) {
            // NaN compares false: a gap neither is nor hides an extreme.
            if (y[i] < y[least] || y[least] != y[least])
                least = i;
            if (y[i] > y[greatest] || y[greatest] != y[greatest])
                greatest = i;
        }
        std::array<std::size_t, 4> chosen{begin, std::min(least, greatest),
                                          std::max(least, greatest), stop - 1};
        for (std::size_t i = 0; i < chosen.size(); ++i)
            if (i == 0 || chosen[i] != chosen[i - 1])
                put(chosen[i]);
    }
    return result;
}

} // namespace cuda_agent::widgets
