// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/mutation.h"

#include <algorithm>
#include <array>
#include <functional>
#include <regex>
#include <vector>

namespace cuda_agent::learn {

namespace {

/// One mistake that could be made: what it says, and how it is made.
struct Place {
    Mutation mutation;
    std::function<void(CandidateText &)> make;
};
using Places = std::vector<Place>;

struct Line {
    std::size_t at = 0;
    std::string text;
};

std::vector<Line> linesOf(const std::string &text) {
    std::vector<Line> lines;
    for (std::size_t at = 0; at < text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        lines.push_back({at, text.substr(at, end - at)});
        at = end + 1;
    }
    return lines;
}

std::string trimmed(const std::string &text) {
    const auto first = text.find_first_not_of(' ');
    return first == text.npos ? std::string() : text.substr(first);
}

/// A line of the kernels in another wording; empty: without it.
void addLine(Places &places, const char *kind, const Line &line, const std::string &becomes) {
    if (line.text == becomes)
        return;
    places.push_back(
        {{kind, trimmed(line.text), trimmed(becomes)}, [line, becomes](CandidateText &candidate) {
             const bool gone = becomes.empty();
             candidate.kernels.replace(line.at, line.text.size() + (gone ? 1 : 0), becomes);
         }});
}

/// All matches of a pattern in the kernels, each replaced by itself.
void addMatches(Places &places, const char *kind, const std::vector<Line> &lines,
                const std::regex &pattern,
                const std::function<std::string(const std::smatch &)> &become,
                const std::function<bool(const std::string &)> &wanted = {}) {
    for (const Line &line : lines) {
        if (line.text.starts_with("#") || (wanted && !wanted(line.text)))
            continue;
        for (auto match = std::sregex_iterator(line.text.begin(), line.text.end(), pattern);
             match != std::sregex_iterator(); ++match)
            addLine(places, kind, line,
                    line.text.substr(0, static_cast<std::size_t>(match->position())) +
                        become(*match) + match->suffix().str());
    }
}

std::string otherOf(const std::string &text,
                    const std::vector<std::pair<std::string, std::string>> &pairs) {
    for (const auto &[one, other] : pairs)
        if (text == one)
            return other;
    return text;
}

void barriers(Places &places, const std::vector<Line> &lines) {
    for (const Line &line : lines)
        if (trimmed(line.text) == "__syncthreads();")
            addLine(places, "dropped barrier", line, "");
}

void bounds(Places &places, const std::vector<Line> &lines) {
    static const std::regex comparison(R"( (<|<=|>|>=) (?=[\w(]))");
    addMatches(
        places, "bound off by one", lines, comparison,
        [](const std::smatch &match) {
            return " " +
                   otherOf(match[1].str(), {{"<", "<="}, {"<=", "<"}, {">", ">="}, {">=", ">"}}) +
                   " ";
        },
        [](const std::string &line) {
            const auto text = trimmed(line);
            return text.starts_with("if (") ||
                   (text.starts_with("for (") && text.find("mask") == text.npos);
        });
}

void strides(Places &places, const std::vector<Line> &lines) {
    static const std::regex factor(R"( ([*/%]) (\d+)(?![\w.]))");
    addMatches(
        places, "wrong stride", lines, factor,
        [](const std::smatch &match) {
            const auto number = std::stoll(match[2].str().substr(0, 17));
            return fmt::format(" {} {}", match[1].str(), number > 2 ? number - 1 : number + 1);
        },
        [](const std::string &line) {
            return line.find("row") != line.npos || line.find(" i ") != line.npos ||
                   line.find("lane") != line.npos || line.find(" k") != line.npos;
        });
}

void operators(Places &places, const std::vector<Line> &lines) {
    static const std::regex binary(R"( ([-+*/]|\+=) (?=[\w(]))");
    const auto arithmetic = [](const std::string &line) {
        const auto text = trimmed(line);
        return text.starts_with("const float ") || text.starts_with("const double ") ||
               text.find(" += ") != text.npos;
    };
    addMatches(
        places, "wrong operator", lines, binary,
        [](const std::smatch &match) {
            return " " +
                   otherOf(match[1].str(),
                           {{"+", "-"}, {"-", "+"}, {"*", "+"}, {"/", "*"}, {"+=", "="}}) +
                   " ";
        },
        arithmetic);
    static const std::regex function(R"(\b(fmaxf|fminf|expf|logf|tanhf|sinf|cosf|sqrtf|rsqrtf)\()");
    addMatches(places, "wrong operator", lines, function, [](const std::smatch &match) {
        return otherOf(match[1].str(), {{"fmaxf", "fminf"},
                                        {"fminf", "fmaxf"},
                                        {"expf", "exp2f"},
                                        {"logf", "log2f"},
                                        {"tanhf", "sinhf"},
                                        {"sinf", "cosf"},
                                        {"cosf", "sinf"},
                                        {"sqrtf", "rsqrtf"},
                                        {"rsqrtf", "sqrtf"}}) +
               "(";
    });
}

void slips(Places &places, const std::vector<Line> &lines) {
    static const std::regex name(R"(\b([A-Za-z_]\w{3,})(?=[\[(]))");
    for (const Line &line : lines) {
        const auto text = trimmed(line.text);
        if (line.text.starts_with("#") || !text.ends_with(";"))
            continue;
        addLine(places, "syntax slip", line, line.text.substr(0, line.text.size() - 1));
        if (const auto last = line.text.rfind(')'); last != line.text.npos)
            addLine(places, "syntax slip", line, std::string(line.text).erase(last, 1));
        std::smatch match;
        if (text.find("asm") == text.npos && std::regex_search(line.text, match, name))
            addLine(places, "syntax slip", line,
                    std::string(line.text).erase(
                        static_cast<std::size_t>(match.position() + match.length(1) - 2), 1));
    }
}

void requirements(Places &places, const Json &plan) {
    if (!plan.contains("requires"))
        return;
    for (std::size_t i = 0; i < plan["requires"].size(); ++i)
        places.push_back({{"missing requirement", plan["requires"][i].get<std::string>(), ""},
                          [i](CandidateText &candidate) {
                              Json &list = candidate.plan["requires"];
                              list.erase(i);
                              if (list.empty())
                                  candidate.plan.erase("requires");
                          }});
}

void grids(Places &places, const Json &plan) {
    static const std::regex rounded(R"(cdiv\(([^(),]+), ([^(),]+)\))");
    for (std::size_t s = 0; s < plan["steps"].size(); ++s) {
        const Json &step = plan["steps"][s];
        if (!step.contains("grid"))
            continue;
        for (std::size_t d = 0; d < step["grid"].size(); ++d) {
            const auto text = step["grid"][d].is_string() ? step["grid"][d].get<std::string>()
                                                          : step["grid"][d].dump();
            std::vector<std::string> others{fmt::format("max(1, {} - 1)", text)};
            if (const auto times = text.rfind(" * "); times != text.npos)
                others.push_back(text.substr(0, times));
            if (std::regex_search(text, rounded))
                others.push_back(std::regex_replace(text, rounded, "max(1, ($1) / ($2))"));
            for (const auto &other : others)
                places.push_back({{"wrong grid", text, other}, [s, d, other](CandidateText &c) {
                                      c.plan["steps"][s]["grid"][d] = other;
                                  }});
        }
    }
}

void orders(Places &places, const Json &plan) {
    for (std::size_t s = 0; s < plan["steps"].size(); ++s) {
        const Json &step = plan["steps"][s];
        if (!step.contains("args"))
            continue;
        for (std::size_t a = 0; a + 1 < step["args"].size(); ++a) {
            const Json &one = step["args"][a], &next = step["args"][a + 1];
            if (!one.contains("buffer") || !next.contains("buffer") || one == next)
                continue;
            places.push_back(
                {{"wrong order of arguments", fmt::format("{}, {}", one.dump(), next.dump()),
                  fmt::format("{}, {}", next.dump(), one.dump())},
                 [s, a](CandidateText &candidate) {
                     Json &args = candidate.plan["steps"][s]["args"];
                     std::swap(args[a], args[a + 1]);
                 }});
        }
    }
}

} // namespace

Json toJson(const Mutation &mutation) {
    return {{"kind", mutation.kind}, {"where", mutation.where}, {"became", mutation.became}};
}

std::optional<Mutation> mutate(CandidateText &candidate, std::mt19937_64 &generator) {
    const auto lines = linesOf(candidate.kernels);
    std::vector<Places> kinds(8);
    barriers(kinds[0], lines);
    bounds(kinds[1], lines);
    strides(kinds[2], lines);
    operators(kinds[3], lines);
    requirements(kinds[4], candidate.plan);
    grids(kinds[5], candidate.plan);
    orders(kinds[6], candidate.plan);
    slips(kinds[7], lines);
    std::erase_if(kinds, [](const Places &places) { return places.empty(); });
    if (kinds.empty())
        return std::nullopt;
    const Places &places = kinds[generator() % kinds.size()];
    const Place &place = places[generator() % places.size()];
    place.make(candidate);
    return place.mutation;
}

} // namespace cuda_agent::learn
