// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/chat/chat.h"
#include "core/policy/transformer/deviations.h"

#include <array>
#include <functional>
#include <memory>

namespace cuda_agent::policy {

/// What a language model wrote in its turn.
struct Written {
    std::string text; ///< with chat::imEnd behind it where the turn has ended
    enum class End {
        turn,   ///< the model ended it
        length, ///< as long as a turn may be
        full,   ///< nothing more fits into the model's context
        refused ///< the grammar leaves too little (TurnRequest::leastAllowed)
    } end = End::turn;
    std::int64_t readTokens = 0, writtenTokens = 0; ///< neither with what the turn began with
    /// Of a turn of the likeliest tokens all of them, and what nearly came behind its beginning;
    /// empty where they are drawn.
    std::vector<std::int32_t> tokens = {};
    std::vector<Alternative> alternatives = {};
};

/// How a turn is to be written.
struct TurnRequest {
    std::uint64_t seed = 1; ///< of what is drawn
    /// Tokens that it begins with, as if the model had written them; those of the same model.
    std::vector<std::int32_t> begin = {};
    /// Of a turn of the likeliest tokens by a grammar: it ends where the grammar leaves less than
    /// this share of the model's probability. What the model would write there cannot be, most
    /// often for a mistake that it has made before.
    double leastAllowed = 0;
    bool again = false; ///< one that was written in its place is given up; for who shows them
};

/// One conversation that a language model goes on writing, in this process or another. What it has
/// read and written stays as it is: nothing is encoded twice. One thread.
class Conversation {
  public:
    virtual ~Conversation() = default;
    /// Reads `segments`, at least one, behind what stands, and writes one turn. The same
    /// conversation and request give the same turn. Where the segments and the turn's beginning
    /// alone do not fit, nothing is written and the end is `full`. Blocks. Errors: machine (the
    /// model failed), stopped; the conversation is of no more use then.
    virtual Result<Written> write(const std::vector<chat::Segment> &segments,
                                  const TurnRequest &turn, std::stop_token stop) = 0;
};

/// Begins a conversation. `drawn`: after another one of the same session, which is closed by then,
/// with nothing else to make its turns others than that one's, so that they have to be drawn.
/// Blocks. Errors: machine, stopped.
using OpenConversation =
    std::function<Result<std::unique_ptr<Conversation>>(bool drawn, const std::stop_token &stop)>;

/// Which of its turns are the last of their conversation, so that the next one begins anew from the
/// prompt. A small model that sees its own mistake makes it again.
enum class FreshStarts {
    never,
    /// One that brings nothing better than the session has, by its verdict (right and a twentieth
    /// faster) or for a call that was refused; besides, one behind which the context has no room,
    /// and one without a verdict behind which the model ends.
    onFailure,
    /// Besides, one with any verdict: tries that know nothing of each other.
    always
};
/// In the enum's order.
inline constexpr std::array<const char *, 3> freshStartsNames{"never", "on-failure", "always"};
std::string_view nameOf(FreshStarts starts);
/// By its name. Errors: request.
Result<FreshStarts> freshStartsFrom(std::string_view name);

struct TransformerOptions {
    std::uint64_t seed = 1;
    FreshStarts freshStarts = FreshStarts::onFailure;
    chat::PromptLimits prompt;
    std::size_t mostObservation = 600;     ///< bytes of an observation that the model is told
    std::vector<chat::Exemplar> exemplars; ///< that the prompt shows
    /// Where turns are of the likeliest tokens, one that begins anew departs from an earlier one
    /// where another token nearly came (Deviations); else it is drawn, as it is where no such place
    /// is left, and in a session that was resumed before its first turn. So does, up to seven
    /// times, a turn that would go on as the grammar refuses (TurnRequest::leastAllowed), or that
    /// has a function up to a line that did not compile in an earlier one: nobody has to judge it.
    bool deviates = true;
};

/// A language model that was trained on our own chat template: the turns of a session are what it
/// writes. A turn that cannot be read becomes a call that is refused with the reason. The turns of
/// a session that is resumed are told as its log has them. The session ends when the model ends it
/// and, without fresh starts, when its context is full or it hands in a right candidate a second
/// time.
std::unique_ptr<Policy> makeTransformer(Context context, std::string source, OpenConversation open,
                                        TransformerOptions options = {});

/// Places among the turns where a conversation of the policy's begins, 0 first: what is behind the
/// last of them is one. The engineer's turns before a fresh start are told in it. Of no turns: {0}.
std::vector<std::size_t> conversationsOf(const std::vector<session::Turn> &turns);

} // namespace cuda_agent::policy
