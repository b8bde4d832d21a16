// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tasks/task_query.h"

#include "widgets/base/text.h"

#include <QCoreApplication>

#include <algorithm>
#include <cmath>
#include <map>

namespace cuda_agent::widgets {
namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(cuda_agent::widgets::TaskQuery)
};

constexpr qsizetype mostBars = 12;
constexpr double nearly = 1 + 1e-9; ///< edges of neighbours differ in their last bits
constexpr unsigned othersBit = 1U << facetCount;
constexpr unsigned bitOf(Facet facet) {
    return 1U << static_cast<unsigned>(facet);
}

/// Edges of bins within a decade: round numbers, about as far apart on a logarithmic axis.
constexpr std::array<double, 6> timeEdges{1, 1.5, 2, 3, 5, 7};
constexpr std::array<double, 10> factorEdges{1, 1.25, 1.5, 1.75, 2, 2.5, 3, 4, 5, 7};

const QString &nameOf(const TaskRow &row, Facet facet) {
    switch (facet) {
    case Facet::outcome:
        return row.outcome;
    case Facet::reason:
        return row.reason;
    case Facet::level:
        return row.group;
    case Facet::split:
        return row.split;
    case Facet::source:
        return row.source;
    default:
        return row.dtype;
    }
}

double valueOf(const TaskRow &row, Facet facet) {
    return facet == Facet::time ? row.seconds : row.speedUp;
}

constexpr Facet nameFacets[] = {Facet::outcome, Facet::reason, Facet::level,
                                Facet::split,   Facet::source, Facet::dtype};

/// The bin of a value: 6 or 10 a decade.
template <std::size_t count>
Interval binOf(double value, const std::array<double, count> &edges) {
    const double decade = std::pow(10, std::floor(std::log10(value) + 1e-12));
    std::size_t i = count;
    while (i > 1 && value < edges[i - 1] * decade)
        --i;
    return {edges[i - 1] * decade, i < count ? edges[i] * decade : 10 * decade};
}

Interval bin(double value, Facet facet) {
    return facet == Facet::time ? binOf(value, timeEdges) : binOf(value, factorEdges);
}

/// Bins are looked up by their middle.
int slotOf(const Interval &bin) {
    return static_cast<int>(std::lround(std::log10(bin.from * bin.to) * 500));
}

struct Counts {
    int all = 0;
    int left = 0;
};

} // namespace

QString facetTitle(Facet facet) {
    switch (facet) {
    case Facet::outcome:
        return Words::tr("Outcome");
    case Facet::reason:
        return Words::tr("Reason");
    case Facet::operators:
        return Words::tr("Number of operators");
    case Facet::level:
        return Words::tr("Level or folder");
    case Facet::split:
        return Words::tr("Split");
    case Facet::source:
        return Words::tr("Source");
    case Facet::dtype:
        return Words::tr("Dtype");
    case Facet::family:
        return Words::tr("Operator family");
    case Facet::time:
        return Words::tr("Eager time");
    case Facet::speedUp:
        return Words::tr("Compiled over eager");
    }
    return {};
}

unsigned TaskQuery::refusals(const TaskRow &row, bool first) const {
    unsigned refused = 0;
    for (const Facet facet : nameFacets) {
        const auto &name = names[static_cast<std::size_t>(facet)];
        if (name && nameOf(row, facet) != *name)
            refused |= bitOf(facet);
    }
    if (const auto &family = names[static_cast<std::size_t>(Facet::family)];
        family && !row.families.contains(*family))
        refused |= bitOf(Facet::family);
    if (row.operators() < fewest || (most > 0 && row.operators() > most))
        refused |= bitOf(Facet::operators);
    if (!time.everything() && !time.contains(row.seconds))
        refused |= bitOf(Facet::time);
    if (!speedUp.everything() && !speedUp.contains(row.speedUp))
        refused |= bitOf(Facet::speedUp);
    if (first && refused)
        return refused;
    const bool others =
        std::all_of(words.begin(), words.end(),
                    [&](const QString &word) { return row.searchText.contains(word); }) &&
        (operatorName.isEmpty() ||
         std::any_of(row.ops.begin(), row.ops.end(), [&](const QString &name) {
             return name.contains(operatorName, Qt::CaseInsensitive);
         }));
    return others ? refused : refused | othersBit;
}

bool TaskQuery::asks(Facet facet) const {
    switch (facet) {
    case Facet::operators:
        return fewest > 0 || most > 0;
    case Facet::time:
        return !time.everything();
    case Facet::speedUp:
        return !speedUp.everything();
    default:
        return names[static_cast<std::size_t>(facet)].has_value();
    }
}

void TaskQuery::clear(Facet facet) {
    switch (facet) {
    case Facet::operators:
        fewest = most = 0;
        break;
    case Facet::time:
        time = {};
        break;
    case Facet::speedUp:
        speedUp = {};
        break;
    default:
        names[static_cast<std::size_t>(facet)].reset();
    }
}

bool TaskQuery::asksAnything() const {
    for (int i = 0; i < facetCount; ++i)
        if (asks(static_cast<Facet>(i)))
            return true;
    return !operatorName.isEmpty();
}

QVector<Distribution> distributions(const QVector<TaskRow> &rows, const TaskQuery &query) {
    std::array<QHash<QString, Counts>, facetCount> names;
    std::array<std::map<int, std::pair<Interval, Counts>>, facetCount> numbers;
    for (const TaskRow &row : rows) {
        const unsigned refused = query.refusals(row);
        const auto count = [&](Counts &counts, Facet facet) {
            ++counts.all;
            counts.left += (refused & ~bitOf(facet)) == 0 ? 1 : 0;
        };
        for (const Facet facet : nameFacets)
            if (const QString &name = nameOf(row, facet); !name.isEmpty())
                count(names[static_cast<std::size_t>(facet)][name], facet);
        for (const QString &family : row.families)
            count(names[static_cast<std::size_t>(Facet::family)][family], Facet::family);
        if (const int operators = row.operators(); operators > 0) {
            auto &entry = numbers[static_cast<std::size_t>(Facet::operators)][operators];
            entry.first = {static_cast<double>(operators), operators + 1.0};
            count(entry.second, Facet::operators);
        }
        for (const Facet facet : {Facet::time, Facet::speedUp}) {
            const double value = valueOf(row, facet);
            if (!(value >= 1e-9 && value < 1e6))
                continue;
            const Interval within = bin(value, facet);
            auto &entry = numbers[static_cast<std::size_t>(facet)][slotOf(within)];
            entry.first = within;
            count(entry.second, facet);
        }
    }
    QVector<Distribution> result;
    for (std::size_t i = 0; i < facetCount; ++i) {
        Distribution each{static_cast<Facet>(i), {}, 0};
        for (const auto &[slot, entry] : numbers[i]) {
            FacetBar bar{{}, entry.first, entry.second.all, entry.second.left};
            const auto &asked = each.facet == Facet::time ? query.time : query.speedUp;
            const int operators = static_cast<int>(bar.within.from);
            bar.chosen = each.facet == Facet::operators
                             ? query.asks(Facet::operators) && operators >= query.fewest &&
                                   (query.most == 0 || operators <= query.most)
                             : !asked.everything() && bar.within.from * nearly < asked.to &&
                                   bar.within.to > asked.from * nearly;
            each.bars << bar;
        }
        for (auto name = names[i].cbegin(); name != names[i].cend(); ++name) {
            FacetBar bar{name.key(), {}, name->all, name->left};
            bar.chosen = query.names[i] == name.key();
            each.bars << bar;
        }
        if (!names[i].isEmpty()) {
            const bool byName = each.facet == Facet::level;
            std::sort(each.bars.begin(), each.bars.end(),
                      [byName](const FacetBar &a, const FacetBar &b) {
                          return !byName && a.all != b.all ? a.all > b.all : a.key < b.key;
                      });
            each.further = static_cast<int>(std::max<qsizetype>(each.bars.size() - mostBars, 0));
            // The one that is asked for stays.
            const auto chosen = std::find_if(each.bars.begin(), each.bars.end(),
                                             [](const FacetBar &bar) { return bar.chosen; });
            if (chosen != each.bars.end() && chosen - each.bars.begin() >= mostBars)
                std::iter_swap(chosen, each.bars.begin() + mostBars - 1);
            each.bars.resize(std::min(each.bars.size(), mostBars));
        }
        if (!each.bars.isEmpty())
            result << each;
    }
    return result;
}

void toggleBar(TaskQuery &query, Facet facet, const FacetBar &bar) {
    const TaskQuery before = query;
    query.clear(facet);
    switch (facet) {
    case Facet::operators:
        query.fewest = query.most = static_cast<int>(bar.within.from);
        break;
    case Facet::time:
        query.time = bar.within;
        break;
    case Facet::speedUp:
        query.speedUp = bar.within;
        break;
    default:
        query.names[static_cast<std::size_t>(facet)] = bar.key;
    }
    if (query == before)
        query.clear(facet);
}

QString barText(Facet facet, const FacetBar &bar) {
    switch (facet) {
    case Facet::operators:
        return QString::number(static_cast<int>(bar.within.from));
    case Facet::time:
        return Words::tr("%1 to %2", "an interval")
            .arg(timeText(bar.within.from), timeText(bar.within.to));
    case Facet::speedUp:
        return Words::tr("%1 to %2", "an interval")
            .arg(timesText(bar.within.from), timesText(bar.within.to));
    default:
        return bar.key;
    }
}

QString askedText(const TaskQuery &query, Facet facet) {
    if (!query.asks(facet))
        return {};
    const auto range = [](const Interval &asked, QString (*text)(double)) {
        if (!(asked.from > 0))
            return Words::tr("below %1").arg(text(asked.to));
        if (!std::isfinite(asked.to))
            return Words::tr("%1 or more").arg(text(asked.from));
        return Words::tr("%1 to %2", "an interval").arg(text(asked.from), text(asked.to));
    };
    switch (facet) {
    case Facet::operators:
        if (query.fewest == query.most)
            return QString::number(query.most);
        if (query.most == 0)
            return Words::tr("%1 or more").arg(query.fewest);
        return Words::tr("%1 to %2", "an interval").arg(query.fewest).arg(query.most);
    case Facet::time:
        return range(query.time, &timeText);
    case Facet::speedUp:
        return range(query.speedUp, &timesText);
    default:
        break;
    }
    const QString &name = *query.names[static_cast<std::size_t>(facet)];
    return name.isEmpty() ? Words::tr("(none)") : name;
}

} // namespace cuda_agent::widgets
