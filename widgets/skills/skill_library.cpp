// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/skills/skill_library.h"

#include "core/base/json.h"
#include "core/skills/front_matter.h"

#include <QByteArray>

#include <algorithm>

namespace cuda_agent::widgets {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t mostFiles = 1000;
constexpr std::size_t largestFile = 1u << 20;
const std::string mainFile = "SKILL.md";

} // namespace

Result<SkillLibrary> SkillLibrary::load() {
    const auto folders = skills::standardFolders();
    CUDA_AGENT_ASSIGN(set, skills::SkillSet::load(folders));
    SkillLibrary library;
    library.skills_ = set.skills();
    if (folders.size() > 1)
        library.userFolder_ = folders[1].path;
    return library;
}

bool SkillLibrary::editable(const skills::Skill &skill) const {
    if (userFolder_.empty() || skill.folder.parent_path() != userFolder_)
        return false;
    std::error_code error;
    return fs::symlink_status(skill.folder, error).type() == fs::file_type::directory;
}

Result<fs::path> SkillLibrary::placeFor(const std::string &name) const {
    if (const auto problem = skills::nameProblem(name); !problem.empty())
        return requestError("A skill's name {}.", problem);
    if (userFolder_.empty())
        return machineError("There is no home folder for skills; set HOME.");
    const fs::path place = userFolder_ / name;
    std::error_code error;
    if (fs::symlink_status(place, error).type() != fs::file_type::not_found)
        return requestError("{} is there already.", place.string());
    fs::create_directories(userFolder_, error);
    if (error)
        return machineError("cannot make {}: {}", userFolder_.string(), error.message());
    return place;
}

Result<void> SkillLibrary::copyToUser(const skills::Skill &skill) const {
    CUDA_AGENT_ASSIGN(place, placeFor(skill.folder.filename().string()));
    for (const std::string &file : skillFiles(skill)) {
        std::error_code error;
        fs::create_directories((place / file).parent_path(), error);
        if (!error)
            fs::copy_file(skill.folder / file, place / file, error);
        if (!error) // an installed one may be read-only
            fs::permissions(place / file, fs::perms::owner_write, fs::perm_options::add, error);
        if (error) {
            const std::string why = error.message();
            fs::remove_all(place, error); // half a skill is worse than none
            return machineError("cannot copy {} to {}: {}", file, place.string(), why);
        }
    }
    return {};
}

Result<void> SkillLibrary::create(const std::string &name) const {
    CUDA_AGENT_ASSIGN(place, placeFor(name));
    return writeFileAtomically(place / mainFile, skillTemplate(name));
}

std::vector<std::string> skillFiles(const skills::Skill &skill) {
    std::vector<std::string> files;
    std::error_code error;
    fs::recursive_directory_iterator entries(skill.folder,
                                             fs::directory_options::skip_permission_denied, error);
    const fs::recursive_directory_iterator end;
    for (; !error && entries != end && files.size() < mostFiles; entries.increment(error)) {
        std::error_code ignored;
        if (entries->symlink_status(ignored).type() == fs::file_type::regular)
            files.push_back(entries->path().lexically_relative(skill.folder).string());
    }
    std::ranges::sort(files, [](const std::string &a, const std::string &b) {
        return std::pair(a != mainFile, a) < std::pair(b != mainFile, b);
    });
    return files;
}

Result<std::string> readSkillFile(const skills::Skill &skill, const std::string &file) {
    const auto files = skillFiles(skill);
    if (std::ranges::find(files, file) == files.end())
        return requestError("{} is not in {}", file, skill.folder.string());
    CUDA_AGENT_ASSIGN(text, readTextFile(skill.folder / file, largestFile));
    if (!QByteArray::fromRawData(text.data(), static_cast<qsizetype>(text.size())).isValidUtf8())
        return requestError("{} is no UTF-8 text", file);
    return std::move(text);
}

Result<void> writeSkillFile(const skills::Skill &skill, const std::string &file,
                            const std::string &text) {
    return writeFileAtomically(skill.folder / file, text);
}

std::string skillTemplate(const std::string &name) {
    return fmt::format(R"(---
name: {0}
description: What this skill teaches, and when to read it. The agent sees this line only, until it reads the rest.
---
# {0}

What to do, step by step, with the figures and the code that make the difference.

## When it applies

## How

## What goes wrong
)",
                       name);
}

} // namespace cuda_agent::widgets
