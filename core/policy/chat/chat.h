// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/policy.h"

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::chat {

// The chat template that corpus, rollouts and the Transformer policy share: ChatML as the Qwen3
// models have it, tool calls as raw text in the form of Qwen3-Coder's chat template. Nothing here
// knows tokens; a tokenizer has each of `specialTokens` as one token.

inline constexpr std::string_view endOfText = "<|endoftext|>"; ///< between documents
inline constexpr std::string_view imStart = "<|im_start|>";
inline constexpr std::string_view imEnd = "<|im_end|>";
inline constexpr std::string_view toolCall = "<tool_call>";
inline constexpr std::string_view toolCallEnd = "</tool_call>";
inline constexpr std::string_view toolResponse = "<tool_response>";
inline constexpr std::string_view toolResponseEnd = "</tool_response>";
inline constexpr std::string_view think = "<think>";
inline constexpr std::string_view thinkEnd = "</think>";
/// Fills batches up; never part of a conversation.
inline constexpr std::string_view padding = "<|pad|>";

/// In the order of their ids in a vocabulary of ours.
inline constexpr std::array specialTokens{endOfText,   imStart,      imEnd,           toolCall,
                                          toolCallEnd, toolResponse, toolResponseEnd, think,
                                          thinkEnd,    padding};

/// Who wrote a piece of a conversation.
enum class Author {
    context, ///< prompt and observations: never trained on
    policy   ///< from behind "<|im_start|>assistant\n" up to and including "<|im_end|>"
};
std::string_view nameOf(Author author); ///< "context", "policy"

/// The conversation is the texts of its segments one after the other, and is encoded segment by
/// segment: what was sampled stays the tokens that it was.
struct Segment {
    Author by = Author::context;
    std::string text;
    bool operator==(const Segment &) const = default;
};

/// What a prompt may take of a task, in bytes or lines; more is cut with a line that says so.
struct PromptLimits {
    std::size_t sourceBytes = 6000;
    std::size_t nodes = 160;
};

/// An earlier candidate for the same task, as a prompt shows it.
struct Exemplar {
    std::map<std::string, std::string> files; ///< path -> text
    std::string score;                        ///< one line: what was measured of it
};

/// The beginning: what is to be done, task, device, numerics, the task's text `source` without the
/// comments above it, the buffers that its plan has (names, roles and keys are those of plan.json)
/// and its core ATen operators, one a line, as "relu = aten.relu(in0) f32[64, 128]", with the index
/// maps of views behind them (index_map.h). Ends with
/// "<|im_start|>assistant\n". Depends on the context's task, device and numerics alone; numbers in
/// front of a task's name are left out, and of a CPU only its threads are told. `exemplars` stand
/// behind all that, whole, in their order, for the policy to compare.
Segment promptOf(const policy::Context &context, std::string_view source,
                 const PromptLimits &limits = {}, const std::vector<Exemplar> &exemplars = {});
/// A parameter of a task, as its prompt tells it.
struct ToldParameter {
    std::string key;  ///< in the module's state: "block.weight"
    std::string name; ///< of its buffer: "p_block_weight"
};
/// Those that the conversation's promptOf() tells, in its order.
std::vector<ToldParameter> toldParameters(std::string_view conversation);
/// Whether that tells every operator of the graph, those that stand for the same once.
bool tellsAllOperators(const task::Description &task, const PromptLimits &limits = {});

/// What the tools answered, up to "<|im_start|>assistant\n". An answer takes at most `most` bytes:
/// of a verdict the line `tools::summaryOf` makes, of a failure its first lines, of what went well
/// nothing but "ok", or its text where a tool is asked for it (Read, Grep, ...).
Segment observationsOf(const std::vector<session::ToolCall> &calls,
                       const std::vector<session::Observation> &observations,
                       std::size_t most = 600);

/// The policy's turn as it writes it: the thought between <think> and </think>, then its calls, or,
/// of a step that is finished, the reason. Arguments that are text stand as they are between the
/// line ends of <parameter=NAME> and </parameter>; others stand as JSON.
///
/// There is no escaping, so a text that contains a special token, "</parameter>" or a finished
/// step's reason that starts like a call cannot be written: errors: request, naming it. So that
/// parsing gives the same step, names of tools and arguments are letters, digits and underscores,
/// and thoughts and reasons neither start nor end with blanks.
Result<Segment> segmentOf(const policy::Step &step);

/// Reads what a policy wrote, hostile or cut anywhere. `turn` numbers the calls ("3-1", "3-2").
///
/// The grammar is strict: [<think> text </think>] then text, then calls with nothing but blanks
/// between and behind them, then <|im_end|>; in a call <function=NAME> of a tool that there is, its
/// parameters, each once, </function>. A parameter's text ends at the first "</parameter>", which
/// must follow a line end. Text outside <think> is part of the thought, where calls follow, else
/// the reason of a finished step. Arguments that the tool's schema does not want as text are read
/// as JSON, and what is none stays text, which the tool refuses. Errors: request, one sentence that
/// names the place.
Result<policy::Step> stepOf(std::string_view text, int turn);

/// `text` with a blank behind the "<" of every special token in it: texts from outside cannot speak
/// for anybody.
std::string withoutSpecials(std::string_view text);

} // namespace cuda_agent::chat
