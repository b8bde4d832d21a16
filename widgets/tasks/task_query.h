// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/tasks/task_row.h"

#include <QVector>

#include <array>
#include <limits>
#include <optional>

namespace cuda_agent::widgets {

/// What a set can be looked at by: each has a distribution and a filter.
enum class Facet {
    outcome,
    reason,
    operators, ///< their number
    level,     ///< or folder
    split,
    source,
    dtype,
    family,
    time,    ///< of eager, on a logarithmic axis
    speedUp, ///< of torch.compile over eager, on a logarithmic axis
};
inline constexpr int facetCount = 10;
QString facetTitle(Facet facet);
/// Intervals of numbers, not names.
constexpr bool isHistogram(Facet facet) {
    return facet == Facet::time || facet == Facet::speedUp;
}

/// from <= value < to.
struct Interval {
    double from = -std::numeric_limits<double>::infinity();
    double to = std::numeric_limits<double>::infinity();
    bool everything() const { return from == Interval{}.from && to == Interval{}.to; }
    bool contains(double value) const { return value >= from && value < to; } ///< not NaN
    bool operator==(const Interval &) const = default;
};

/// What is asked of the tasks of a set; all of it must hold. A value, no thread of its own.
struct TaskQuery {
    QStringList words;    ///< folded, each somewhere in the columns
    QString operatorName; ///< part of the name of an operator, in upper or lower case
    /// By facet, for those that are names; nothing for all.
    std::array<std::optional<QString>, facetCount> names;
    int fewest = 0, most = 0; ///< operators; `most` 0 for no limit
    Interval time, speedUp;   ///< seconds; factor

    bool accepts(const TaskRow &row) const { return refusals(row, true) == 0; }
    /// A bit for each facet that refuses the row (1 << facet), and one above them for the words
    /// and the operator's name. With `first` it stops at the first one.
    unsigned refusals(const TaskRow &row, bool first = false) const;
    bool asks(Facet facet) const;
    void clear(Facet facet);
    /// Any facet or an operator's name.
    bool asksAnything() const;
    bool operator==(const TaskQuery &) const = default;
};

/// One bar of a distribution.
struct FacetBar {
    QString key;     ///< of facets that are names
    Interval within; ///< of histograms, and of the number of operators
    int all = 0;     ///< tasks of the set
    int count = 0;   ///< those that everything else in the query leaves
    bool chosen = false;
};
struct Distribution {
    Facet facet;
    QVector<FacetBar> bars; ///< most frequent names first; numbers ascending
    int further = 0;        ///< names that have no bar
};

/// How the tasks that a query leaves are spread over each facet of which the set says something.
/// A facet's own part of the query is left out, so that its other bars can be seen and chosen.
/// O(rows); 10,000 rows take some milliseconds.
QVector<Distribution> distributions(const QVector<TaskRow> &rows, const TaskQuery &query);

/// Makes the query ask for a bar, or no longer where it already does.
void toggleBar(TaskQuery &query, Facet facet, const FacetBar &bar);

/// Words for a bar: a name, a number, "10.0 ms to 20.0 ms".
QString barText(Facet facet, const FacetBar &bar);
/// Words for what a query asks of a facet; empty when nothing.
QString askedText(const TaskQuery &query, Facet facet);

} // namespace cuda_agent::widgets
