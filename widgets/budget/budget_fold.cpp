// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/budget/budget_fold.h"

#include "widgets/base/text.h"

#include <algorithm>

namespace cuda_agent::widgets {

using session::EventType;

void BudgetFold::take(const session::Event &event) {
    switch (event.type) {
    case EventType::sessionStarted:
        figures_.begun = true;
        figures_.model = textOf(event.data, "policy") == QLatin1String("endpoint") ||
                         textOf(event.data, "policy") == QLatin1String("transformer");
        [[fallthrough]];
    case EventType::budgetSet: {
        const Json &budget = partOf(event.data, "budget");
        const auto limit = [&](const Json &of, const char *name, double most) {
            return std::clamp(numberOf(of, name), 0.0, most);
        };
        figures_.limits.turns = static_cast<int>(limit(event.data, "turns", 1e6));
        figures_.limits.seconds = limit(budget, "seconds", 1e9);
        figures_.limits.tokens = static_cast<std::int64_t>(limit(budget, "tokens", 1e15));
        figures_.limits.cost = limit(budget, "cost", 1e15);
        break;
    }
    case EventType::baselinesMeasured: // every run measures them, and its time starts after that
        awaitsTurn_ = true;
        break;
    case EventType::turnStarted:
        if (awaitsTurn_ || figures_.since <= 0)
            figures_.since = event.time;
        awaitsTurn_ = false;
        break;
    case EventType::modelAnswered:
        figures_.usage.add(event.data);
        figures_.model = true;
        break;
    default:
        break;
    }
    if (figures_.since > 0)
        figures_.seconds = std::max(0.0, event.time - figures_.since);
}

const BudgetFigures &BudgetFold::at(const SessionIndex &index, std::size_t cursor) {
    cursor = std::min(cursor, index.size());
    if (cursor < folded_)
        clear();
    for (; folded_ < cursor; ++folded_)
        take(index.events()[folded_]);
    const auto turns = index.turns(cursor);
    figures_.turns = static_cast<int>(
        std::ranges::count_if(turns, [](const TurnRange *turn) { return !turn->engineer; }));
    return figures_;
}

} // namespace cuda_agent::widgets
