// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/nvrtc_worker/ptx_lines.h"

#include <charconv>
#include <compare>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace cuda_agent::toolchain {

namespace {

/// Deepest chain of functions inlined into one another that is followed.
constexpr int deepestInlining = 64;

/// A place in a source, as `.loc` gives it.
struct Place {
    int file = 0; ///< number of a `.file`
    int line = 0;
    int column = 0;
    auto operator<=>(const Place &) const = default;
};

/// What one line of the log complains about.
struct Complaint {
    int ptxLine = 0;           ///< 1-based, or 0:
    std::string_view function; ///< called and not there
    std::string_view message;  ///< without where
};

std::string_view withoutSpace(std::string_view text) {
    const auto begin = text.find_first_not_of(" \t\r");
    if (begin == text.npos)
        return {};
    return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

bool take(std::string_view &text, std::string_view what) {
    if (!text.starts_with(what))
        return false;
    text = withoutSpace(text.substr(what.size()));
    return true;
}

bool takeNumber(std::string_view &text, int &number) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number < 0)
        return false;
    text = withoutSpace(text.substr(static_cast<std::size_t>(end - text.data())));
    return true;
}

template <typename Use>
void forLines(std::string_view text, Use use) {
    while (!text.empty()) {
        const auto end = text.find('\n');
        use(text.substr(0, end));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
}

std::optional<Complaint> readComplaint(std::string_view line) {
    constexpr std::string_view unresolved = "Unresolved extern function '";
    Complaint complaint;
    if (!take(line, "ptxas"))
        return {};
    const auto semicolon = line.find("; ");
    const auto place = line.substr(0, semicolon).rfind(", line ");
    if (place != line.npos && semicolon != line.npos) {
        auto number = line.substr(place + 7);
        line = withoutSpace(line.substr(semicolon + 1));
        if (!takeNumber(number, complaint.ptxLine) || !take(line, "error") || !take(line, ":"))
            return {};
        complaint.message = line;
        return complaint;
    }
    if (!take(line, "fatal") || !take(line, ":") || !line.starts_with(unresolved))
        return {};
    complaint.message = line;
    const auto name = line.substr(unresolved.size());
    complaint.function = name.substr(0, name.find('\''));
    return complaint;
}

bool isPartOfName(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$';
}

/// Reads PTX from its beginning to its end once and remembers where the wanted lines are from.
class Ptx {
  public:
    Ptx(std::string_view text, std::set<int> lines, std::set<std::string_view> functions)
        : lines_(std::move(lines)), functions_(std::move(functions)) {
        int number = 0;
        forLines(text, [&](std::string_view line) { read(++number, withoutSpace(line)); });
    }

    /// Null where the line stands before the first `.loc` of its function.
    const std::vector<Place> *chainOf(const Complaint &complaint) const {
        if (complaint.ptxLine > 0) {
            const auto found = byLine_.find(complaint.ptxLine);
            return found == byLine_.end() ? nullptr : &found->second;
        }
        const auto found = byFunction_.find(complaint.function);
        return found == byFunction_.end() ? nullptr : &found->second;
    }
    std::string_view file(int number) const {
        const auto found = files_.find(number);
        return found == files_.end() ? std::string_view() : found->second;
    }

  private:
    void read(int number, std::string_view line) {
        if (line.empty())
            return;
        if (line[0] == '.') {
            auto rest = line;
            if (take(rest, ".loc"))
                readPlace(rest);
            else if (take(rest, ".file"))
                readFile(rest);
            else if (line.starts_with(".visible") || line.starts_with(".entry") ||
                     line.starts_with(".func"))
                now_.reset();
            return;
        }
        if (lines_.contains(number))
            remember(byLine_[number]);
        // A call stands on a line that starts with the function's name, or behind "call.uni".
        for (const auto name : functions_)
            if (!byFunction_.contains(name) && calls(line, name))
                remember(byFunction_[name]);
    }

    static bool calls(std::string_view line, std::string_view name) {
        const auto at = line.find(name);
        if (at == line.npos || (at > 0 && !line.starts_with("call")))
            return false;
        const auto after = at + name.size();
        return (at == 0 || !isPartOfName(line[at - 1])) &&
               (after >= line.size() || !isPartOfName(line[after]));
    }

    void readPlace(std::string_view rest) {
        Place place;
        now_.reset();
        if (!readNumbers(rest, place))
            return;
        now_ = place;
        const auto at = rest.find("inlined_at");
        Place outer;
        if (at != rest.npos) {
            auto numbers = withoutSpace(rest.substr(at + std::string_view("inlined_at").size()));
            if (readNumbers(numbers, outer)) {
                inlinedAt_[place] = outer;
                return;
            }
        }
        inlinedAt_.erase(place);
    }

    static bool readNumbers(std::string_view &rest, Place &place) {
        return takeNumber(rest, place.file) && takeNumber(rest, place.line) &&
               takeNumber(rest, place.column);
    }

    void readFile(std::string_view rest) {
        int number = 0;
        if (!takeNumber(rest, number) || !take(rest, "\""))
            return;
        files_.emplace(number, rest.substr(0, rest.find('"')));
    }

    /// The place of now, then where that was inlined, and so on. What a place was inlined at is
    /// said by the last `.loc` of it, which comes before those inside of it.
    void remember(std::vector<Place> &chain) const {
        std::optional<Place> place = now_;
        for (int depth = 0; place && depth < deepestInlining; ++depth) {
            chain.push_back(*place);
            const auto outer = inlinedAt_.find(*place);
            place = outer == inlinedAt_.end() ? std::nullopt : std::optional(outer->second);
        }
    }

    std::set<int> lines_;
    std::set<std::string_view> functions_;
    std::optional<Place> now_;
    std::map<Place, Place> inlinedAt_;
    std::map<int, std::string_view> files_;
    std::map<int, std::vector<Place>> byLine_;
    std::map<std::string_view, std::vector<Place>> byFunction_;
};

/// Whether NVRTC's path of a file is that of `source`, which it puts behind a folder of its own.
bool isSource(std::string_view path, std::string_view source) {
    return !source.empty() && path.ends_with(source) &&
           (path.size() == source.size() || source.front() == '/' ||
            path[path.size() - source.size() - 1] == '/');
}

std::string_view lastPart(std::string_view path) {
    return path.substr(path.rfind('/') + 1);
}

/// The complaint with its place in the source, or empty where that is not known.
std::string located(const Complaint &complaint, const Ptx &ptx, std::string_view source) {
    const auto *chain = ptx.chainOf(complaint);
    if (!chain || chain->empty() || chain->front().line == 0)
        return {};
    for (std::size_t i = 0; i < chain->size(); ++i) {
        const auto &place = (*chain)[i];
        if (!isSource(ptx.file(place.file), source))
            continue;
        const auto &inner = chain->front();
        const auto header =
            i == 0 ? std::string()
                   : fmt::format(" (in {}:{})", lastPart(ptx.file(inner.file)), inner.line);
        return fmt::format("{}:{}:{}: error: {}{}", source, place.line, place.column,
                           complaint.message, header);
    }
    return {};
}

} // namespace

std::string withSourceLines(std::string_view log, std::string_view ptx, std::string_view source) {
    std::set<int> lines;
    std::set<std::string_view> functions;
    forLines(log, [&](std::string_view line) {
        if (const auto complaint = readComplaint(line)) {
            if (complaint->ptxLine > 0)
                lines.insert(complaint->ptxLine);
            else
                functions.insert(complaint->function);
        }
    });
    if (lines.empty() && functions.empty())
        return std::string(log);
    const Ptx read(ptx, std::move(lines), std::move(functions));
    std::string result;
    std::set<std::string> said; // the same may be said many times of one line
    bool every = true;
    forLines(log, [&](std::string_view line) {
        const auto complaint = readComplaint(line);
        auto text = complaint ? located(*complaint, read, source) : std::string();
        if (complaint && text.empty())
            every = false;
        // Says nothing but that the errors before it are errors.
        if (text.empty() && every && line.starts_with("ptxas fatal") &&
            line.find("aborted due to errors") != line.npos)
            return;
        if (text.empty())
            text = line;
        else if (!said.insert(text).second)
            return;
        result.append(text).push_back('\n');
    });
    return result;
}

} // namespace cuda_agent::toolchain
