// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/result.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::skills {

/// What the YAML head of a SKILL.md says, in the Agent Skills format (agentskills.io).
struct FrontMatter {
    std::string name;
    std::string description; ///< white space folded into single blanks: it goes into prompts
    std::string license;
    std::string compatibility;
    std::map<std::string, std::string> metadata;
};

/// Front matter of one SKILL.md and all that is wrong with it.
struct ParsedSkill {
    FrontMatter head;
    std::string body;
    std::vector<std::string> problems; ///< "name: ...", "line 3: ..."; empty when all is well
};

/// Parses the whole text of a SKILL.md strictly: every field that the format does not know, every
/// wrong type and every length past its limit is a problem. `folder` is the name of the folder that
/// holds it, which `name` has to equal. Never throws, never allocates more than a few times `text`.
ParsedSkill parseSkill(std::string_view text, std::string_view folder);

/// Why `name` cannot be a skill's name, or empty.
std::string nameProblem(std::string_view name);

} // namespace cuda_agent::skills
