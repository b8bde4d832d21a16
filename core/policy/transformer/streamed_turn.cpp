// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/transformer/streamed_turn.h"

#include "core/policy/chat/chat.h"

#include <algorithm>
#include <array>

namespace cuda_agent::policy {

namespace {

constexpr std::size_t longestName = 64; ///< of a tool or an argument that is shown as one

/// Words of the template with nothing to read in them, and the line ends that they leave.
struct Word {
    std::string_view text;
    std::size_t lineEnds;
};
constexpr std::array words{
    Word{chat::think, 2},           Word{chat::thinkEnd, 2},  Word{chat::toolCall, 2},
    Word{chat::toolCallEnd, 2},     Word{"</function>", 1},   Word{"</parameter>", 1},
    Word{chat::imEnd, 1},           Word{chat::imStart, 1},   Word{chat::toolResponse, 2},
    Word{chat::toolResponseEnd, 2}, Word{chat::endOfText, 1}, Word{chat::padding, 1}};

/// Words with a name, which is read, and what stands behind it then.
struct Named {
    std::string_view open, behind;
};
constexpr std::array named{Named{"<function=", ""}, Named{"<parameter=", ":"}};

bool mayBecome(std::string_view text, std::string_view word) {
    return text.size() < word.size() && word.starts_with(text);
}

} // namespace

std::string StreamedTurn::take(std::string_view piece) {
    held_ += piece;
    std::string out;
    std::string_view rest = held_;
    while (!rest.empty()) {
        const auto at = std::min(rest.find('<'), rest.size());
        show(out, rest.substr(0, at));
        rest.remove_prefix(at);
        if (rest.empty())
            break;
        if (std::ranges::any_of(words,
                                [&](const Word &word) { return mayBecome(rest, word.text); }))
            break;
        if (const auto word = std::ranges::find_if(
                words, [&](const Word &each) { return rest.starts_with(each.text); });
            word != words.end()) {
            leave(word->lineEnds);
            rest.remove_prefix(word->text.size());
            continue;
        }
        const auto opened = std::ranges::find_if(named, [&](const Named &each) {
            return rest.starts_with(each.open) || mayBecome(rest, each.open);
        });
        if (opened == named.end()) {
            show(out, rest.substr(0, 1));
            rest.remove_prefix(1);
            continue;
        }
        const auto end = rest.substr(0, opened->open.size() + longestName).find_first_of(">\n");
        if (end == rest.npos && rest.size() < opened->open.size() + longestName)
            break;
        if (end == rest.npos || rest[end] != '>') { // no name after all
            show(out, rest.substr(0, 1));
            rest.remove_prefix(1);
            continue;
        }
        leave(1);
        show(out, rest.substr(opened->open.size(), end - opened->open.size()));
        show(out, opened->behind);
        leave(1);
        rest.remove_prefix(end + 1);
    }
    held_.erase(0, held_.size() - rest.size());
    return out;
}

/// Line ends on both sides of the template's words are theirs, not the text's.
void StreamedTurn::leave(std::size_t lineEnds) {
    lineEnds_ = behindWord_ ? std::max(lineEnds_, lineEnds) : lineEnds;
    behindWord_ = true;
}

void StreamedTurn::show(std::string &out, std::string_view text) {
    if (behindWord_)
        text.remove_prefix(std::min(text.find_first_not_of('\n'), text.size()));
    const auto size = text.find_last_not_of('\n') + 1; // 0 where it has nothing else
    if (size > 0) {
        out.append(begun_ ? lineEnds_ : 0, '\n');
        out += text.substr(0, size);
        begun_ = true;
        behindWord_ = false;
        lineEnds_ = 0;
    }
    if (!behindWord_)
        lineEnds_ += text.size() - size;
}

} // namespace cuda_agent::policy
