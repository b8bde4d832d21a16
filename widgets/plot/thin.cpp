// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/plot/plot.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace cuda_agent::widgets {

namespace {

/// The first, the least, the greatest and the last of [begin, stop), in their order.
void putColumn(const std::vector<double> &y, std::size_t begin, std::size_t stop, const auto &seen,
               const auto &put) {
    while (begin < stop && !seen(begin))
        ++begin;
    if (begin == stop)
        return;
    std::size_t least = begin;
    std::size_t greatest = begin;
    std::size_t last = begin;
    for (std::size_t i = begin + 1; i < stop; ++i) {
        if (!seen(i))
            continue;
        last = i;
        // NaN compares false: a gap neither is nor hides an extreme.
        if (y[i] < y[least] || y[least] != y[least])
            least = i;
        if (y[i] > y[greatest] || y[greatest] != y[greatest])
            greatest = i;
    }
    const std::array<std::size_t, 4> chosen{begin, std::min(least, greatest),
                                            std::max(least, greatest), last};
    for (std::size_t i = 0; i < chosen.size(); ++i)
        if (i == 0 || chosen[i] != chosen[i - 1])
            put(chosen[i]);
}

} // namespace

Thinned thin(const std::vector<double> &x, const std::vector<double> &y, double from, double to,
             int pixels, Scales scales) {
    Thinned result;
    const std::size_t size = std::min(x.size(), y.size());
    if (size == 0 || pixels < 1 || !(to >= from))
        return result;
    const auto start = x.begin();
    const auto end = start + static_cast<std::ptrdiff_t>(size);
    const auto place = [&](std::vector<double>::const_iterator at) {
        return static_cast<std::size_t>(at - start);
    };
    // Everything that an axis cannot show is passed over before extremes are looked for, so that it
    // hides none of them.
    const bool logX = scales.logX && from > 0;
    const auto seen = [&](std::size_t i) {
        return (!scales.logX || x[i] > 0) && (!scales.logY || y[i] > 0 || y[i] != y[i]);
    };
    const auto put = [&](std::size_t i) {
        result.x.append(x[i]);
        result.y.append(y[i]);
    };
    // One more on either side, so that lines leave the picture where they should.
    std::size_t first = place(std::lower_bound(start, end, from));
    std::size_t last = place(std::upper_bound(start, end, to));
    const std::size_t inside = first;
    const std::size_t outside = last;
    while (first > 0 && !seen(--first)) {
    }
    if (first < inside && !seen(first))
        first = inside;
    while (last < size && !seen(last))
        ++last;
    last = std::min(size, last + 1);
    if (last - first <= 4 * static_cast<std::size_t>(pixels)) {
        for (std::size_t i = first; i < last; ++i)
            if (seen(i))
                put(i);
        return result;
    }
    result.x.reserve(4 * pixels + 2);
    result.y.reserve(4 * pixels + 2);
    if (first < inside)
        put(first);
    std::size_t begin = inside;
    for (int column = 0; column < pixels && begin < outside; ++column) {
        const double part = static_cast<double>(column + 1) / pixels;
        const double edge = logX ? from * std::pow(to / from, part) : from + (to - from) * part;
        const std::size_t stop =
            column + 1 == pixels
                ? outside
                : place(std::lower_bound(start + static_cast<std::ptrdiff_t>(begin),
                                         start + static_cast<std::ptrdiff_t>(outside), edge));
        putColumn(y, begin, stop, seen, put);
        begin = stop;
    }
    if (outside < last && last - 1 >= outside && seen(last - 1))
        put(last - 1);
    return result;
}

} // namespace cuda_agent::widgets
