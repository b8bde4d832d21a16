// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/task_text.h"

#include "core/base/names.h"

#include <algorithm>
#include <regex>

namespace cuda_agent::exporter {

namespace {

std::string trimmed(const std::string &text) {
    const auto begin = text.find_first_not_of(" \t\r\n");
    if (begin == std::string::npos)
        return {};
    return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

/// Walks Python text and says for each character whether it is code; strings and comments are not.
/// `depth` is the number of open brackets.
class Walk {
  public:
    explicit Walk(const std::string &text, std::size_t at = 0) : text_(text), at_(at) {}
    bool done() const { return at_ >= text_.size(); }
    std::size_t at() const { return at_; }
    int depth() const { return depth_; }

    void step() {
        const char c = text_[at_];
        if (c == '#') {
            at_ = std::min(text_.find('\n', at_), text_.size());
            return;
        }
        if (c == '"' || c == '\'') {
            const bool threefold = text_.compare(at_, 3, std::string(3, c)) == 0;
            const std::string end(threefold ? 3 : 1, c);
            at_ += end.size();
            while (at_ < text_.size() && text_.compare(at_, end.size(), end) != 0)
                at_ += text_[at_] == '\\' ? 2 : 1;
            at_ = std::min(at_ + end.size(), text_.size());
            return;
        }
        if (c == '\\') {
            at_ += 2;
            return;
        }
        depth_ += c == '(' || c == '[' || c == '{' ? 1 : c == ')' || c == ']' || c == '}' ? -1 : 0;
        ++at_;
    }

  private:
    const std::string &text_;
    std::size_t at_;
    int depth_ = 0;
};

/// Where each statement that begins in the first column begins and ends.
std::vector<std::pair<std::size_t, std::size_t>> topLevelLines(const std::string &text) {
    std::vector<std::pair<std::size_t, std::size_t>> lines;
    std::size_t begin = 0;
    for (Walk walk(text); !walk.done();) {
        const std::size_t at = walk.at();
        if (text[at] == '\n' && walk.depth() == 0) {
            lines.emplace_back(begin, at);
            begin = at + 1;
        }
        walk.step();
    }
    lines.emplace_back(begin, text.size());
    return lines;
}

} // namespace

std::vector<ForwardParameter> forwardParameters(const std::string &task) {
    static const std::regex model("(^|\n)class\\s+Model\\b");
    static const std::regex function("\n[ \t]+(async\\s+)?def\\s+forward\\s*\\(");
    std::smatch found;
    if (!std::regex_search(task, found, model))
        return {};
    const auto from = task.begin() + found.position() + found.length();
    if (!std::regex_search(from, task.end(), found, function))
        return {};
    const auto begin = static_cast<std::size_t>(found[0].second - task.begin());
    std::vector<std::string> parts(1);
    for (Walk walk(task, begin); !walk.done();) {
        const std::size_t at = walk.at();
        if (task[at] == ')' && walk.depth() == 0)
            break;
        if (task[at] == ',' && walk.depth() == 0) {
            parts.emplace_back();
            walk.step();
            continue;
        }
        walk.step();
        if (task[at] != '#')
            parts.back() += task.substr(at, walk.at() - at);
    }
    static const std::regex literal(
        "None|True|False|-?[0-9.][0-9.e+-]*|\"[^\"\\\\]*\"|'[^'\\\\]*'");
    std::vector<ForwardParameter> parameters;
    for (const auto &part : parts) {
        const std::string name = trimmed(part.substr(0, part.find_first_of(":=")));
        if (name.empty() && &part == &parts.back())
            break; // a comma before the bracket
        if (!isIdentifier(name))
            return {};
        const auto equals = part.find('=');
        std::string fallback = equals == std::string::npos ? "" : trimmed(part.substr(equals + 1));
        if (!std::regex_match(fallback, literal))
            fallback.clear();
        parameters.push_back({name, std::move(fallback)});
    }
    if (parameters.empty() || parameters.front().name != "self")
        return {};
    parameters.erase(parameters.begin());
    // What stands before one without a default has none.
    const auto last = std::find_if(parameters.rbegin(), parameters.rend(),
                                   [](const auto &each) { return each.fallback.empty(); });
    for (auto it = last; it != parameters.rend(); ++it)
        it->fallback.clear();
    return parameters;
}

Result<std::string> withOverrides(const std::string &task,
                                  const std::map<std::string, std::string> &overrides) {
    std::string text = task;
    for (const auto &[name, value] : overrides) {
        const std::regex single("^" + name + "\\s*(:[^=]*)?=(?!=)");
        const std::regex several("^(?=\\w)[\\w\\s,]*\\b" + name + "\\b[\\w\\s,]*=(?!=)");
        std::string result;
        bool set = false;
        for (const auto &[begin, end] : topLevelLines(text)) {
            const std::string line = text.substr(begin, end - begin);
            if (std::regex_search(line, single, std::regex_constants::match_continuous)) {
                result += fmt::format("{} = {}", name, value);
                set = true;
            } else if (std::regex_search(line, several, std::regex_constants::match_continuous)) {
                result += fmt::format("{}\n{} = {}", line, name, value);
                set = true;
            } else {
                result += line;
            }
            if (end < text.size())
                result += '\n';
        }
        if (!set)
            return requestError("no line of the task sets '{}', which the session overrides", name);
        text = std::move(result);
    }
    return text;
}

bool mentionsTraining(const std::string &task) {
    static const std::regex words("dropout|batch_?norm|rrelu|\\.training|track_running_stats",
                                  std::regex::icase);
    return std::regex_search(task, words);
}

} // namespace cuda_agent::exporter
