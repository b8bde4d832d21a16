// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::skills {

/// One folder with a SKILL.md. One that has problems is listed, so that people can mend it, and is
/// never offered to an agent.
struct Skill {
    std::string name; ///< of the folder where the file does not give a usable one
    std::string description;
    std::filesystem::path folder;
    std::vector<std::string> problems; ///< each names the file: "SKILL.md: name: ..."
    std::string note;                  ///< "replaces the skill of the same name in '...'", or empty

    bool usable() const { return problems.empty(); }
};

/// Where skills are looked for.
struct SkillFolder {
    std::filesystem::path path;
    bool required = true; ///< false: may be missing
};

/// The built-in skills (`<shareDir>/skills`), then the user's (`$XDG_CONFIG_HOME/cuda-agent/skills`
/// or `~/.config/cuda-agent/skills`, may be missing), then those named on the command line.
std::vector<SkillFolder> standardFolders(const std::vector<std::filesystem::path> &named = {});

/// All skills of some folders, read once. A value; const calls may come from several threads.
class SkillSet {
  public:
    /// Reads `<folder>/<name>/SKILL.md` of every folder in order. A usable skill of a later folder
    /// replaces one of the same name and says so in its note; one with problems replaces nothing.
    /// Errors: request (a required folder is missing or cannot be listed).
    static Result<SkillSet> load(const std::vector<SkillFolder> &folders);

    /// Usable ones by name, then those with problems.
    const std::vector<Skill> &skills() const { return skills_; }

    /// For a system prompt: a line "- name: description" for every usable skill; empty when there
    /// is none. Descriptions are one line each, whatever their file holds.
    std::string catalogue() const;

    /// The text of a file of a usable skill; `file` is relative to the skill's folder, "SKILL.md"
    /// when empty. Paths that lead out of the folder, also through links, are refused, and so are
    /// files that are no UTF-8 text or larger than 1 MiB. Reads from disk.
    /// Errors: request; the message names what there is instead.
    Result<std::string> read(std::string_view name, std::string_view file = {}) const;

    /// Relative paths of the files of a usable skill, sorted; at most 1000, links left out.
    /// Errors: request.
    Result<std::vector<std::string>> files(std::string_view name) const;

  private:
    Result<const Skill *> usable(std::string_view name) const;

    std::vector<Skill> skills_;
};

} // namespace cuda_agent::skills
