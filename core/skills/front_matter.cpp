// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/skills/front_matter.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <set>

namespace cuda_agent::skills {

namespace {

/// Limits of the format, in characters.
constexpr std::size_t maxName = 64;
constexpr std::size_t maxDescription = 1024;
constexpr std::size_t maxCompatibility = 500;
/// A head is a few lines; a longer one is something else, and YAML aliases multiply.
constexpr std::size_t maxHeadBytes = 16u << 10;

/// Number of characters of UTF-8 text.
std::size_t characters(std::string_view text) {
    return static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

/// One line of it: a description ends up in a system prompt, where a line of its own would look
/// like one of ours.
std::string oneLine(std::string_view text) {
    std::string line;
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (byte > ' ' && byte != 0x7f)
            line += c;
        else if (!line.empty() && line.back() != ' ')
            line += ' ';
    }
    if (line.ends_with(' '))
        line.pop_back();
    return line;
}

/// The first line of `text` without its end, which is cut off `text`.
std::string_view takeLine(std::string_view &text) {
    const auto end = text.find('\n');
    auto line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.ends_with('\r'))
        line.remove_suffix(1);
    return line;
}

struct Parts {
    std::string_view head;
    std::string_view body;
    std::string problem;
};

Parts split(std::string_view text) {
    if (text.starts_with("\xEF\xBB\xBF"))
        text.remove_prefix(3);
    auto rest = text;
    if (takeLine(rest) != "---")
        return {
            {}, {}, "line 1: there is no front matter; begin with '---', name, description, '---'"};
    const auto start = rest;
    while (!rest.empty()) {
        const auto before = rest;
        if (takeLine(rest) == "---")
            return {start.substr(0, start.size() - before.size()), rest, {}};
    }
    return {{}, {}, "line 1: the front matter has no end; close it with a line '---'"};
}

class HeadReader {
  public:
    explicit HeadReader(ParsedSkill &skill) : skill_(skill) {}

    void read(std::string_view text) {
        YAML::Node root;
        try {
            root = YAML::Load(std::string(text));
            if (!root.IsMap())
                return add("line 2: the front matter is not a list of 'field: value' lines");
            for (const auto &entry : root)
                field(entry.first, entry.second);
        } catch (const YAML::Exception &error) {
            // Its lines count from 0 and from below the opening '---'.
            const auto where = error.mark.is_null() ? std::string()
                                                    : fmt::format("line {}: ", error.mark.line + 2);
            return add(fmt::format("{}not YAML: {}; put text that holds ': ' or begins with a "
                                   "special character in quotes",
                                   where, error.msg));
        }
        for (const char *required : {"name", "description"})
            if (!seen_.contains(required))
                add(fmt::format("{0}: missing; add a line '{0}: ...'", required));
    }

  private:
    void add(std::string problem) { skill_.problems.push_back(std::move(problem)); }

    void field(const YAML::Node &key, const YAML::Node &value) {
        if (!key.IsScalar())
            return add(fmt::format("line {}: a field's name must be text", key.Mark().line + 2));
        const std::string name = key.Scalar();
        if (!seen_.insert(name).second)
            return add(fmt::format("{}: stands there twice", oneLine(name)));
        if (name == "name")
            text(name, value, skill_.head.name, maxName);
        else if (name == "description")
            text(name, value, skill_.head.description, maxDescription);
        else if (name == "license")
            text(name, value, skill_.head.license, maxDescription);
        else if (name == "compatibility")
            text(name, value, skill_.head.compatibility, maxCompatibility);
        else if (name == "metadata")
            metadata(value);
        else if (name == "allowed-tools")
            text(name, value, allowedTools_, maxDescription); // tools are the engine's to allow
        else
            add(fmt::format("{}: no field of this format; it has name, description, license, "
                            "compatibility, metadata, allowed-tools",
                            oneLine(name)));
    }

    void text(const std::string &name, const YAML::Node &value, std::string &into,
              std::size_t limit) {
        if (!value.IsScalar() || oneLine(value.Scalar()).empty())
            return add(fmt::format("{}: must be text that is not empty", name));
        const auto count = characters(value.Scalar());
        if (count > limit)
            return add(
                fmt::format("{}: has {} characters, at most {} are allowed", name, count, limit));
        into = oneLine(value.Scalar());
    }

    void metadata(const YAML::Node &value) {
        if (!value.IsMap())
            return add("metadata: must be a list of 'key: text' lines");
        for (const auto &entry : value) {
            if (!entry.first.IsScalar() || !entry.second.IsScalar())
                return add("metadata: keys and values must be text");
            skill_.head.metadata[oneLine(entry.first.Scalar())] = oneLine(entry.second.Scalar());
        }
    }

    ParsedSkill &skill_;
    std::set<std::string> seen_;
    std::string allowedTools_;
};

} // namespace

std::string nameProblem(std::string_view name) {
    const auto allowed = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    };
    if (name.empty() || name.size() > maxName)
        return fmt::format("must have 1 to {} characters", maxName);
    if (!std::all_of(name.begin(), name.end(), allowed))
        return "may hold lower-case letters, digits and hyphens only";
    if (name.starts_with('-') || name.ends_with('-') || name.find("--") != name.npos)
        return "hyphens stand one at a time between letters or digits";
    return {};
}

ParsedSkill parseSkill(std::string_view text, std::string_view folder) {
    ParsedSkill skill;
    const auto parts = split(text);
    if (!parts.problem.empty()) {
        skill.problems.push_back(parts.problem);
        return skill;
    }
    if (parts.head.size() > maxHeadBytes) {
        skill.problems.push_back(
            fmt::format("the front matter has {} bytes, at most {} are allowed", parts.head.size(),
                        maxHeadBytes));
        return skill;
    }
    HeadReader(skill).read(parts.head);
    skill.body = parts.body;
    const auto &name = skill.head.name;
    if (!name.empty()) {
        if (const auto problem = nameProblem(name); !problem.empty())
            skill.problems.push_back(fmt::format("name: '{}' {}", name, problem));
        else if (name != folder)
            skill.problems.push_back(fmt::format(
                "name: '{}' is not the folder's name '{}'; rename one of them", name, folder));
    }
    if (oneLine(skill.body).empty())
        skill.problems.push_back("there is no text below the front matter");
    return skill;
}

} // namespace cuda_agent::skills
