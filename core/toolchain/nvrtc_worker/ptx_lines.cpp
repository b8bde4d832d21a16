// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/nvrtc_worker/ptx_lines.h"

#include "core/toolchain/listing.h"
#include "core/toolchain/nvrtc_worker/for_lines.h"
#include "core/toolchain/ptx_places.h"

#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace cuda_agent::toolchain {

namespace {

/// What one line of the log complains about.
struct Complaint {
    int ptxLine = 0;           ///< 1-based, or 0:
    std::string_view function; ///< called and not there
    std::string_view message;  ///< without where
};

std::optional<Complaint> readComplaint(std::string_view line) {
    constexpr std::string_view unresolved = "Unresolved extern function '";
    Complaint complaint;
    if (!takeWord(line, "ptxas"))
        return {};
    const auto semicolon = line.find("; ");
    const auto place = line.substr(0, semicolon).rfind(", line ");
    if (place != line.npos && semicolon != line.npos) {
        auto number = line.substr(place + 7);
        line = withoutSpace(line.substr(semicolon + 1));
        if (!takeNumber(number, complaint.ptxLine) || !takeWord(line, "error") ||
            !takeWord(line, ":"))
            return {};
        complaint.message = line;
        return complaint;
    }
    if (!takeWord(line, "fatal") || !takeWord(line, ":") || !line.starts_with(unresolved))
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
    const std::vector<PtxPlace> *chainOf(const Complaint &complaint) const {
        if (complaint.ptxLine > 0) {
            const auto found = byLine_.find(complaint.ptxLine);
            return found == byLine_.end() ? nullptr : &found->second;
        }
        const auto found = byFunction_.find(complaint.function);
        return found == byFunction_.end() ? nullptr : &found->second;
    }
    std::string_view file(int number) const { return places_.file(number); }

  private:
    void read(int number, std::string_view line) {
        if (line.empty() || places_.read(line) || line[0] == '.')
            return;
        if (lines_.contains(number))
            byLine_[number] = places_.chain();
        // A call stands on a line that starts with the function's name, or behind "call.uni".
        for (const auto name : functions_)
            if (!byFunction_.contains(name) && calls(line, name))
                byFunction_[name] = places_.chain();
    }

    static bool calls(std::string_view line, std::string_view name) {
        const auto at = line.find(name);
        if (at == line.npos || (at > 0 && !line.starts_with("call")))
            return false;
        const auto after = at + name.size();
        return (at == 0 || !isPartOfName(line[at - 1])) &&
               (after >= line.size() || !isPartOfName(line[after]));
    }

    std::set<int> lines_;
    std::set<std::string_view> functions_;
    PtxPlaces places_;
    std::map<int, std::vector<PtxPlace>> byLine_;
    std::map<std::string_view, std::vector<PtxPlace>> byFunction_;
};

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
        if (!isPathOf(ptx.file(place.file), source))
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
