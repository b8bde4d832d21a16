// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/event.h"

#include <QString>

#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::widgets {

enum class CardKind {
    session,     ///< what was started, on what, by whom
    task,        ///< inputs, outputs, parameters, operators
    baselines,   ///< times to beat
    turn,        ///< head of a turn, with its verdict
    thought,     ///< what the policy thinks
    action,      ///< a tool call
    observation, ///< what the tool answered
    note,        ///< resumed, machine trouble
    end,         ///< why the session ended
    pending,     ///< what goes on right now; not in the log
};

enum class Tone { plain, good, bad, warning, accent };
struct Chip {
    QString text;
    Tone tone = Tone::plain;
};

/// What one card of the trace says, made from one event (and for a turn's head, its last verdict).
/// Borrows the event: do not keep it longer than the event lives.
struct Card {
    CardKind kind = CardKind::note;
    int turn = 0;
    bool failed = false; ///< a tool that did not do what was asked
    QString title;
    QString details;     ///< short: size, strength
    QString usage;       ///< tokens and cost, when the event says them
    double seconds = -1; ///< how long it took; negative when nobody says
    std::vector<Chip> chips;
    bool code = false;    ///< the body is shown in the fixed-width font
    bool content = false; ///< the body is a whole file, folded to nothing

    /// UTF-8; may be long.
    std::string_view body() const { return shared ? std::string_view(*shared) : own; }
    const std::string *shared = nullptr;
    std::string own;
};

/// Whether the trace shows events of this type as a card. Files, compiles and verdicts are told by
/// the cards of the turn that they belong to.
bool hasCard(session::EventType type);

/// What the trace knows around an event.
struct CardContext {
    const session::Event *verdict = nullptr; ///< turnStarted: the turn's last verdict
    double seconds = -1;                     ///< turnStarted: how long the turn took
    QString tool;                            ///< observation: of the call that it answers
    bool engineer = false;                   ///< thought: the engineer's message to the agent
};
Card cardOf(const session::Event &event, const CardContext &context);

/// "Correct", "Reward 3", "1.715 ms", "1.28× eager", "1.10× torch.compile".
std::vector<Chip> verdictChips(const Json &verdict);

} // namespace cuda_agent::widgets
