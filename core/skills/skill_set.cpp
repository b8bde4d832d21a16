// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/skills/skill_set.h"

#include "core/base/json.h"
#include "core/base/paths.h"
#include "core/skills/front_matter.h"

#include <algorithm>
#include <cstdlib>

namespace cuda_agent::skills {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t maxFileBytes = 1u << 20;
constexpr std::size_t maxFiles = 1000;
constexpr std::size_t maxSkills = 1000;

/// True when `path` lies in `folder` or is it, after all links are followed.
bool liesInside(const fs::path &path, const fs::path &folder) {
    std::error_code error;
    const auto real = fs::canonical(path, error);
    if (error)
        return false;
    const auto realFolder = fs::canonical(folder, error);
    if (error)
        return false;
    const auto relative = real.lexically_relative(realFolder);
    return !relative.empty() && *relative.begin() != "..";
}

bool isUtf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const auto lead = static_cast<unsigned char>(text[i]);
        const std::size_t length = lead < 0x80                   ? (lead == 0 ? 0 : 1)
                                   : lead >= 0xC2 && lead < 0xE0 ? 2
                                   : lead >= 0xE0 && lead < 0xF0 ? 3
                                   : lead >= 0xF0 && lead < 0xF5 ? 4
                                                                 : 0;
        if (length == 0 || i + length > text.size())
            return false;
        for (std::size_t j = 1; j < length; ++j)
            if ((text[i + j] & 0xC0) != 0x80)
                return false;
        i += length;
    }
    return true;
}

/// A text file below `folder`; `shown` names it in errors.
Result<std::string> readInside(const fs::path &folder, const fs::path &file,
                               const std::string &shown) {
    std::error_code error;
    if (!fs::exists(file, error))
        return requestError("{}: there is no such file", shown);
    if (!liesInside(file, folder))
        return requestError("{}: leads out of the skill's folder '{}'", shown, folder.string());
    if (!fs::is_regular_file(file, error))
        return requestError("{}: is no file", shown);
    auto text = readTextFile(file, maxFileBytes);
    if (!text)
        return requestError("{}: {}", shown, text.error().message);
    if (!isUtf8(*text))
        return requestError("{}: is no UTF-8 text", shown);
    return text;
}

Skill readSkill(const fs::path &folder, const fs::path &root) {
    Skill skill;
    skill.name = folder.filename().string();
    skill.folder = folder;
    if (!liesInside(folder, root)) {
        skill.problems.push_back(
            fmt::format("'{}' leads out of '{}'; copy the skill there, or name its folder with "
                        "--skills",
                        folder.string(), root.string()));
        return skill;
    }
    auto text = readInside(folder, folder / "SKILL.md", "SKILL.md");
    if (!text) {
        skill.problems.push_back(text.error().message);
        return skill;
    }
    auto parsed = parseSkill(*text, skill.name);
    for (const auto &problem : parsed.problems)
        skill.problems.push_back("SKILL.md: " + problem);
    skill.description = std::move(parsed.head.description);
    return skill;
}

/// Folders of `root`, sorted, so that the result does not depend on the file system.
Result<std::vector<fs::path>> candidateFolders(const SkillFolder &root) {
    std::error_code error;
    if (!fs::exists(root.path, error) && !root.required)
        return std::vector<fs::path>{};
    if (!fs::is_directory(root.path, error))
        return requestError("'{}' is not a folder of skills", root.path.string());
    if (fs::exists(root.path / "SKILL.md", error))
        return requestError("'{}' is a skill itself; name the folder that holds it",
                            root.path.string());
    std::vector<fs::path> found;
    fs::directory_iterator entries(root.path, error), end;
    for (; !error && entries != end && found.size() < maxSkills; entries.increment(error)) {
        std::error_code ignored; // a dangling link is not a folder
        if (entries->path().filename().string().starts_with('.'))
            continue;
        if (entries->is_directory(ignored))
            found.push_back(entries->path());
    }
    if (error)
        return requestError("cannot list '{}': {}", root.path.string(), error.message());
    std::sort(found.begin(), found.end());
    return found;
}

fs::path userFolder() {
    const auto variable = [](const char *name) {
        const char *value = std::getenv(name);
        return fs::path(value ? value : "");
    };
    auto config = variable("XDG_CONFIG_HOME");
    if (config.empty()) {
        const auto home = variable("HOME");
        if (home.empty())
            return {};
        config = home / ".config";
    }
    return config / "cuda-agent" / "skills";
}

} // namespace

std::vector<SkillFolder> standardFolders(const std::vector<fs::path> &named) {
    std::vector<SkillFolder> folders{{shareDir() / "skills", true}};
    if (auto user = userFolder(); !user.empty())
        folders.push_back({std::move(user), false});
    for (const auto &path : named)
        folders.push_back({path, true});
    return folders;
}

Result<SkillSet> SkillSet::load(const std::vector<SkillFolder> &folders) {
    std::vector<Skill> usable, broken;
    for (const auto &root : folders) {
        CUDA_AGENT_ASSIGN(found, candidateFolders(root));
        for (const auto &folder : found) {
            auto skill = readSkill(folder, root.path);
            if (!skill.usable()) {
                broken.push_back(std::move(skill));
                continue;
            }
            const auto same = std::find_if(usable.begin(), usable.end(), [&](const Skill &other) {
                return other.name == skill.name;
            });
            if (same == usable.end()) {
                usable.push_back(std::move(skill));
                continue;
            }
            skill.note = fmt::format("replaces the skill of the same name in '{}'",
                                     same->folder.parent_path().string());
            *same = std::move(skill);
        }
    }
    std::sort(usable.begin(), usable.end(),
              [](const Skill &a, const Skill &b) { return a.name < b.name; });
    SkillSet set;
    set.skills_ = std::move(usable);
    set.skills_.insert(set.skills_.end(), std::make_move_iterator(broken.begin()),
                       std::make_move_iterator(broken.end()));
    return set;
}

std::string SkillSet::catalogue() const {
    std::string text;
    for (const auto &skill : skills_)
        if (skill.usable())
            text += fmt::format("- {}: {}\n", skill.name, skill.description);
    return text;
}

Result<const Skill *> SkillSet::usable(std::string_view name) const {
    std::string names;
    for (const auto &skill : skills_) {
        if (!skill.usable())
            continue;
        if (skill.name == name)
            return &skill;
        names += (names.empty() ? "" : ", ") + skill.name;
    }
    for (const auto &skill : skills_)
        if (skill.name == name)
            return requestError("the skill '{}' cannot be used: {}", name, skill.problems.front());
    return requestError("there is no skill '{}'; there are: {}", name,
                        names.empty() ? "none" : names);
}

Result<std::string> SkillSet::read(std::string_view name, std::string_view file) const {
    CUDA_AGENT_ASSIGN(skill, usable(name));
    const fs::path relative = file.empty() ? "SKILL.md" : std::string(file);
    const auto shown = fmt::format("{}/{}", name, relative.string());
    const bool dots = std::find(relative.begin(), relative.end(), "..") != relative.end();
    if (relative.is_absolute() || dots || file.find('\0') != file.npos)
        return requestError("'{}': give a path below the skill's folder, without '..'", file);
    auto text = readInside(skill->folder, skill->folder / relative, shown);
    if (text)
        return text;
    std::string there;
    if (const auto listed = files(name))
        for (const auto &entry : *listed)
            there += (there.empty() ? "" : ", ") + entry;
    return requestError("{}; the skill has: {}", text.error().message, there);
}

Result<std::vector<std::string>> SkillSet::files(std::string_view name) const {
    CUDA_AGENT_ASSIGN(skill, usable(name));
    std::vector<std::string> found;
    std::error_code error;
    fs::recursive_directory_iterator entries(skill->folder, error), end;
    for (; !error && entries != end && found.size() < maxFiles; entries.increment(error)) {
        std::error_code ignored;
        if (entries->symlink_status(ignored).type() == fs::file_type::regular)
            found.push_back(entries->path().lexically_relative(skill->folder).string());
    }
    if (error)
        return requestError("cannot list '{}': {}", skill->folder.string(), error.message());
    std::sort(found.begin(), found.end());
    return found;
}

} // namespace cuda_agent::skills
