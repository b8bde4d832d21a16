// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/agent/turn_writer.h"

namespace cuda_agent::agent {

using session::EventType;

Result<int> TurnWriter::begin(const std::string &author) {
    if (underWay())
        return number_;
    const auto &turns = recorder_.state().turns;
    const int number =
        turns.empty() ? 1 : (turns.back().ended ? turns.back().number + 1 : turns.back().number);
    CUDA_AGENT_TRY(recorder_.append(EventType::turnStarted, number, {{"author", author}}));
    number_ = number;
    return number;
}

Result<void> TurnWriter::end() {
    const int number = std::exchange(number_, 0);
    return recorder_.append(EventType::turnEnded, number, Json::object());
}

Result<void> TurnWriter::say(EventType type, Json data) {
    CUDA_AGENT_ASSIGN(number, begin());
    return recorder_.append(type, number, std::move(data));
}

} // namespace cuda_agent::agent
