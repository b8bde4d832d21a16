// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/policy.h"
#include "core/skills/skill_set.h"

#include <functional>

namespace cuda_agent::policy {

/// The rules and the way of working, for the system role.
std::string systemPrompt(const Context &context, const skills::SkillSet &skills);
/// The task, its tensors, the machine and the baselines, as the first message. `source`: the task's
/// text.
std::string taskMessage(const Context &context, const std::string &source);

/// How much of a session a request carries.
struct MessageBudget {
    std::int64_t tokens = 100'000; ///< for all messages
    double bytesPerToken = 3.2;    ///< of this model, as its endpoint counted so far
};

struct BuiltMessages {
    Json messages;           ///< list, as chat endpoints take it
    std::size_t bytes = 0;   ///< of the messages as JSON
    std::int64_t tokens = 0; ///< estimated from them
    int shortTurns = 0;      ///< turns up to this one are told in short; 0: none
};

/// The conversation that the turns are: system, task, then for each turn the assistant's words and
/// calls and what the tools answered; what the engineer did in between as a user's message.
///
/// When that is more than the budget, the oldest turns are told in short: first without the texts
/// of files and long answers, then as one line each; the best candidate's files and the last
/// verdict are then given in full, so that nothing of worth is lost. The newest turns stay whole as
/// long as anything fits. Pure but for `blob`. Errors: what `blob` answers.
Result<BuiltMessages>
buildMessages(const std::string &system, const std::string &task, const session::State &state,
              const std::vector<session::Turn> &turns, const MessageBudget &budget,
              const std::function<Result<std::string>(const std::string &)> &blob);

/// How many turns at the end, in a row, made the very same calls as the last one.
int repeatedTurns(const std::vector<session::Turn> &turns);

} // namespace cuda_agent::policy
