// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/roofline/roof_labels.h"

#include <QPolygonF>
#include <QTransform>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace cuda_agent::widgets {

namespace {

constexpr int steps = 40;         ///< places tried along a line
constexpr double hiddenCost = 10; ///< of a name that lies upon another line in its whole width
constexpr double mostHidden = 0.7;

QTransform frameOf(const LabelPlace &place) {
    QTransform turn;
    turn.translate(place.centre.x(), place.centre.y());
    turn.rotate(place.angle);
    return turn;
}

QRectF boxOf(const QSizeF &size) {
    return {-size.width() / 2, -size.height() / 2, size.width(), size.height()};
}

/// The part of a line inside the frame, or none.
std::optional<QLineF> clipped(const QLineF &line, const QRectF &frame) {
    double first = 0;
    double last = 1;
    const auto keep = [&](double from, double delta, double low, double high) {
        if (delta == 0)
            return from >= low && from <= high;
        const double a = (low - from) / delta;
        const double b = (high - from) / delta;
        first = std::max(first, std::min(a, b));
        last = std::min(last, std::max(a, b));
        return first < last;
    };
    if (!keep(line.x1(), line.dx(), frame.left(), frame.right()) ||
        !keep(line.y1(), line.dy(), frame.top(), frame.bottom()))
        return std::nullopt;
    return QLineF(line.pointAt(first), line.pointAt(last));
}

/// How much of a line lies under a name, as a part of the name's width.
double hidden(const QLineF &line, const LabelPlace &place, const QSizeF &size) {
    const auto part = clipped(frameOf(place).inverted().map(line), boxOf(size));
    return part ? part->length() / size.width() : 0;
}

struct Choice {
    LabelPlace place;
    QPolygonF covers;
    double cost = 0;
};

/// The best place of a name along its line that covers nothing of `used`.
std::optional<Choice> choose(const std::vector<RoofLine> &lines, std::size_t which,
                             std::size_t name, const std::vector<QPolygonF> &used,
                             const QRectF &frame) {
    const auto line = clipped(lines[which].line, frame);
    if (!line || line->length() < 1)
        return std::nullopt;
    const QSizeF size = lines[which].names[name];
    const bool level = lines[which].line.dy() == 0;
    const double half = std::min(size.width(), line->length()) / 2;
    const QPointF along = (line->p2() - line->p1()) / line->length();
    const QPointF up(along.y(), -along.x());
    std::optional<Choice> best;
    for (int step = 0; step <= steps; ++step) {
        const double part = static_cast<double>(step) / steps;
        const QPointF on = line->p1() + along * (half + part * (line->length() - 2 * half));
        for (const int side : {1, -1}) {
            Choice tried;
            tried.place = {on + up * side * (size.height() / 2 + 2), -line->angle(), name};
            tried.covers = frameOf(tried.place).map(QPolygonF(boxOf(size)));
            if (!frame.contains(tried.covers.boundingRect()) ||
                std::ranges::any_of(
                    used, [&](const QPolygonF &other) { return other.intersects(tried.covers); }))
                continue;
            tried.cost = 4 * std::fabs(part - (level ? 1.0 : 0.3)) + (side < 0 ? 1 : 0);
            double most = 0;
            for (std::size_t other = 0; other < lines.size(); ++other)
                if (other != which)
                    most = std::max(most, hidden(lines[other].line, tried.place, size));
            if (most > mostHidden) // one would take it for the name of that line
                continue;
            tried.cost += hiddenCost * most;
            if (!best || tried.cost < best->cost)
                best = std::move(tried);
        }
    }
    return best;
}

} // namespace

std::vector<std::optional<LabelPlace>> placeLabels(const std::vector<RoofLine> &lines,
                                                   const std::vector<QRectF> &taken,
                                                   const QRectF &frame) {
    // Level ones first, from the top: the rising ones have more places to choose from.
    std::vector<std::size_t> order(lines.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
        const QLineF &line = lines[i].line;
        return std::pair(line.dy() != 0, line.dy() != 0 ? 0.0 : line.y1());
    });
    std::vector<std::optional<LabelPlace>> best;
    std::size_t most = 0;
    // Who found no room comes first in the next round.
    for (std::size_t round = 0; round <= lines.size(); ++round) {
        std::vector<std::optional<LabelPlace>> places(lines.size());
        std::vector<QPolygonF> used(taken.begin(), taken.end());
        std::vector<std::size_t> left;
        for (const std::size_t i : order) {
            std::optional<Choice> chosen;
            for (std::size_t name = 0; name < lines[i].names.size(); ++name)
                if (auto found = choose(lines, i, name, used, frame);
                    found &&
                    (!chosen || (chosen->cost > hiddenCost / 2 && found->cost < chosen->cost / 2)))
                    chosen = std::move(found);
            if (!chosen) {
                left.push_back(i);
                continue;
            }
            places[i] = chosen->place;
            used.push_back(chosen->covers);
        }
        const std::size_t placed = lines.size() - left.size();
        if (round == 0 || placed > most) {
            most = placed;
            best = std::move(places);
        }
        if (left.empty())
            break;
        std::ranges::stable_partition(
            order, [&](std::size_t i) { return std::ranges::find(left, i) != left.end(); });
    }
    return best;
}

} // namespace cuda_agent::widgets
