// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/skills/skill_set.h"

namespace cuda_agent::widgets {

/// The skills on disk as people handle them: those with problems can be read and mended too. A
/// value; every member reads or writes a few small files.
class SkillLibrary {
  public:
    /// The built-in ones and the user's. Errors: request (the built-in ones are not installed).
    static Result<SkillLibrary> load();

    const std::vector<skills::Skill> &skills() const { return skills_; }
    /// Where the user's are; may not exist yet, empty without a home folder.
    const std::filesystem::path &userFolder() const { return userFolder_; }
    /// Lies in the user's folder, and not by way of a link.
    bool editable(const skills::Skill &skill) const;

    /// Errors: request (the name is no skill's, or there is one of that name), machine.
    Result<void> copyToUser(const skills::Skill &skill) const;
    Result<void> create(const std::string &name) const;

  private:
    /// The folder that a new skill of the user's gets.
    Result<std::filesystem::path> placeFor(const std::string &name) const;

    std::vector<skills::Skill> skills_;
    std::filesystem::path userFolder_;
};

/// Files of a skill, relative, SKILL.md first; at most 1000, links left out.
std::vector<std::string> skillFiles(const skills::Skill &skill);
/// Errors: request (not in the skill, no UTF-8 text, larger than 1 MiB).
Result<std::string> readSkillFile(const skills::Skill &skill, const std::string &file);
/// Errors: machine.
Result<void> writeSkillFile(const skills::Skill &skill, const std::string &file,
                            const std::string &text);
/// What a new skill's SKILL.md says.
std::string skillTemplate(const std::string &name);

} // namespace cuda_agent::widgets
