// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/chat/chat.h"

#include "core/base/names.h"
#include "core/tools/toolbox.h"

#include <algorithm>

namespace cuda_agent::chat {

namespace {

constexpr std::string_view blanks = " \t\r\n";
constexpr std::string_view functionOpen = "<function=";
constexpr std::string_view functionEnd = "</function>";
constexpr std::string_view parameterOpen = "<parameter=";
constexpr std::string_view parameterEnd = "</parameter>";

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(blanks);
    if (first == text.npos)
        return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

bool isName(std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, isNamePart);
}

std::optional<std::string_view> specialIn(std::string_view text) {
    for (const auto special : specialTokens)
        if (text.find(special) != text.npos)
            return special;
    return std::nullopt;
}

Result<void> checkText(std::string_view text, std::string_view what) {
    if (const auto special = specialIn(text))
        return requestError("{} contains {}, which the template has for itself", what, *special);
    return {};
}

const Json *schemaOf(std::string_view tool, std::string_view argument) {
    for (const auto &each : tools::allTools()) {
        if (each.name != tool || !each.parameters.contains("properties"))
            continue;
        const auto &properties = each.parameters["properties"];
        const auto found = properties.find(std::string(argument));
        return found == properties.end() ? nullptr : &*found;
    }
    return nullptr;
}

bool isTool(std::string_view name) {
    return std::ranges::any_of(tools::allTools(),
                               [&](const tools::Tool &tool) { return tool.name == name; });
}

/// Whether an argument stands as it is, without JSON's quotes.
bool isText(std::string_view tool, std::string_view argument) {
    const Json *schema = schemaOf(tool, argument);
    return schema == nullptr || !schema->contains("type") || (*schema)["type"] == "string";
}

/// Reads a policy's text piece by piece. Positions in messages count bytes from 0.
class Reader {
  public:
    Reader(std::string_view text, int turn) : text_(text), turn_(turn) {}

    Result<policy::Step> step() {
        if (!text_.ends_with(imEnd))
            return requestError("the turn does not end with {}", imEnd);
        text_.remove_suffix(imEnd.size());
        policy::Step step;
        skipBlanks();
        if (accept(think)) {
            const auto end = text_.find(thinkEnd, at_);
            if (end == text_.npos)
                return requestError("{} has no {}", think, thinkEnd);
            const auto thought = text_.substr(at_, end - at_);
            CUDA_AGENT_TRY(checkText(thought, "the thought"));
            step.thought = trimmed(thought);
            at_ = end + thinkEnd.size();
        }
        const auto first = std::min(text_.find(toolCall, at_), text_.size());
        const auto said = trimmed(text_.substr(at_, first - at_));
        CUDA_AGENT_TRY(checkText(said, "the text"));
        at_ = first;
        if (at_ == text_.size()) {
            if (said.starts_with(functionOpen))
                return requestError("a call stands outside {} and {}", toolCall, toolCallEnd);
            step.finished = true;
            step.reason = said;
            return step;
        }
        if (!said.empty())
            step.thought += (step.thought.empty() ? "" : "\n") + std::string(said);
        while (at_ < text_.size()) {
            CUDA_AGENT_ASSIGN(call, this->call(step.calls.size() + 1));
            step.calls.push_back(std::move(call));
            skipBlanks();
        }
        return step;
    }

  private:
    void skipBlanks() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }
    bool accept(std::string_view word) {
        if (!text_.substr(at_).starts_with(word))
            return false;
        at_ += word.size();
        return true;
    }
    /// The name up to ">".
    Result<std::string> name(std::string_view what) {
        const auto end = text_.find('>', at_);
        const auto name = text_.substr(at_, end == text_.npos ? 0 : end - at_);
        if (!isName(name))
            return requestError("at byte {}: {} has no name of letters, digits and underscores",
                                at_, what);
        at_ = end + 1;
        return std::string(name);
    }

    Result<session::ToolCall> call(std::size_t number) {
        if (!accept(toolCall))
            return requestError("at byte {}: only {} may stand behind a call", at_, toolCall);
        skipBlanks();
        if (!accept(functionOpen))
            return requestError("at byte {}: {} wants {}NAME>", at_, toolCall, functionOpen);
        session::ToolCall call;
        CUDA_AGENT_ASSIGN(tool, name("the function"));
        if (!isTool(tool))
            return requestError("there is no tool '{}'", tool);
        call.id = fmt::format("{}-{}", turn_, number);
        call.tool = tool;
        skipBlanks();
        while (accept(parameterOpen)) {
            CUDA_AGENT_TRY(parameter(call));
            skipBlanks();
        }
        if (!accept(functionEnd))
            return requestError("at byte {}: the call of {} wants {}NAME> or {}", at_, tool,
                                parameterOpen, functionEnd);
        skipBlanks();
        if (!accept(toolCallEnd))
            return requestError("at byte {}: the call of {} wants {}", at_, tool, toolCallEnd);
        return call;
    }

    Result<void> parameter(session::ToolCall &call) {
        CUDA_AGENT_ASSIGN(key, name("the parameter"));
        if (!accept("\n"))
            return requestError("at byte {}: the text of parameter '{}' does not begin on a line "
                                "of its own",
                                at_, key);
        const auto end = text_.find(parameterEnd, at_);
        if (end == text_.npos)
            return requestError("parameter '{}' of {} has no {}", key, call.tool, parameterEnd);
        // The line end before the closing tag is not the text's; an empty text has one line end.
        if (text_[end - 1] != '\n')
            return requestError("parameter '{}' of {} does not end with a line", key, call.tool);
        const std::string value(text_.substr(at_, end == at_ ? 0 : end - 1 - at_));
        CUDA_AGENT_TRY(checkText(value, fmt::format("parameter '{}' of {}", key, call.tool)));
        at_ = end + parameterEnd.size();
        if (call.arguments.contains(key))
            return requestError("{} has parameter '{}' twice", call.tool, key);
        Json json = value;
        if (!isText(call.tool, key)) {
            if (auto parsed = parseJson(value, key))
                json = std::move(*parsed);
        }
        call.arguments[key] = std::move(json);
        return {};
    }

    std::string_view text_;
    int turn_;
    std::size_t at_ = 0;
};

Result<std::string> callText(const session::ToolCall &call) {
    if (!isTool(call.tool))
        return requestError("there is no tool '{}'", call.tool);
    if (!call.arguments.is_object())
        return requestError("the arguments of {} are no object", call.tool);
    auto text = fmt::format("{}\n{}{}>\n", toolCall, functionOpen, call.tool);
    // What names the place comes before what stands there.
    std::vector<std::string> keys;
    for (const auto &[key, value] : call.arguments.items())
        keys.push_back(key);
    std::ranges::stable_partition(keys, [](const std::string &key) { return key == "file_path"; });
    for (const auto &key : keys) {
        const auto what = fmt::format("parameter '{}' of {}", key, call.tool);
        const Json &value = call.arguments[key];
        if (!isName(key))
            return requestError("{} has a name that cannot be written", what);
        if (value.is_string() != isText(call.tool, key))
            return requestError("{} is {}", what, value.is_string() ? "text" : "not text");
        std::string written;
        if (value.is_string()) {
            written = value.get<std::string>();
        } else {
            written = value.dump(-1, ' ', false, Json::error_handler_t::replace);
        }
        CUDA_AGENT_TRY(checkText(written, what));
        if (written.find(parameterEnd) != written.npos)
            return requestError("{} contains {}, which ends it", what, parameterEnd);
        text += fmt::format("{}{}>\n{}\n{}\n", parameterOpen, key, written, parameterEnd);
    }
    return text + fmt::format("{}\n{}", functionEnd, toolCallEnd);
}

} // namespace

std::string_view nameOf(Author author) {
    return author == Author::policy ? "policy" : "context";
}

Result<Segment> segmentOf(const policy::Step &step) {
    if (step.finished != step.calls.empty())
        return requestError("a step either calls tools or is finished");
    for (const auto &[text, what] :
         {std::pair(&step.thought, "the thought"), std::pair(&step.reason, "the reason")}) {
        CUDA_AGENT_TRY(checkText(*text, what));
        if (trimmed(*text) != *text)
            return requestError("{} starts or ends with blanks", what);
    }
    if (!step.finished && !step.reason.empty())
        return requestError("a step that calls tools has no reason to end");
    if (step.reason.starts_with(functionOpen))
        return requestError("the reason starts like a call");
    std::string text;
    if (!step.thought.empty())
        text = fmt::format("{}\n{}\n{}\n\n", think, step.thought, thinkEnd);
    text += step.reason;
    for (std::size_t i = 0; i < step.calls.size(); ++i) {
        CUDA_AGENT_ASSIGN(call, callText(step.calls[i]));
        text += (i > 0 ? "\n" : "") + call;
    }
    return Segment{Author::policy, text + std::string(imEnd)};
}

Result<policy::Step> stepOf(std::string_view text, int turn) {
    return Reader(text, turn).step();
}

std::string withoutSpecials(std::string_view text) {
    std::string result(text);
    // Making one harmless cannot make another: none begins within another behind its first byte.
    for (const auto special : specialTokens)
        for (auto at = result.find(special); at != result.npos; at = result.find(special, at))
            result.insert(at + 1, " ");
    return result;
}

} // namespace cuda_agent::chat
