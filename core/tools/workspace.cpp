// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/hash.h"
#include "core/tools/toolbox.h"

#include <set>

namespace cuda_agent::tools {

using session::EventType;

Result<Workspace> Workspace::open(Parts parts) {
    CUDA_AGENT_ASSIGN(folder, WorkspaceFolder::open(parts.folder));
    return Workspace(std::move(parts), std::move(folder));
}

Result<void> Workspace::restore() {
    CUDA_AGENT_TRY(folder_.clear());
    for (const auto &[path, text] : parts_.protectedFiles)
        CUDA_AGENT_TRY(folder_.write(path, text));
    for (const auto &[path, blob] : recorder().state().files) {
        CUDA_AGENT_ASSIGN(text, session::readBlob(recorder().folder(), blob));
        // A log that somebody else wrote must not write outside.
        CUDA_AGENT_ASSIGN(inside, workspacePath(path));
        CUDA_AGENT_TRY(folder_.write(inside, text));
    }
    return {};
}

Result<std::string> Workspace::read(const std::string &path) const {
    return folder_.read(path, largestFile);
}

Result<void> Workspace::logWritten(const std::string &path, const std::string &content) {
    CUDA_AGENT_ASSIGN(blob, recorder().putBlob(content));
    return recorder().append(
        EventType::fileWritten, turn,
        {{"path", path}, {"blob", blob}, {"bytes", content.size()}, {"author", author}});
}

Result<void> Workspace::write(const std::string &path, const std::string &content) {
    if (protectedFiles().contains(path))
        return requestError("'{}' is protected: it belongs to the task; write another file", path);
    if (content.size() > largestFile)
        return requestError("{} bytes are too much for one file; at most {} are taken",
                            content.size(), largestFile);
    const auto &files = recorder().state().files;
    if (files.size() >= mostFiles && !files.contains(path))
        return requestError("the workspace holds {} files already; remove some first", mostFiles);
    CUDA_AGENT_TRY(folder_.write(path, content));
    return logWritten(path, content);
}

Result<std::vector<std::string>> Workspace::pickUp() {
    std::vector<std::string> found;
    for (const auto &[path, text] : protectedFiles()) {
        const auto now = folder_.read(path, text.size());
        if (now && *now == text)
            continue;
        // Something else may lie in its place, or in the place of its folder.
        if (const auto written = folder_.write(path, text); !written)
            found.push_back(fmt::format("not put back: {}", written.error().message));
        else
            found.push_back(fmt::format("put back {} (protected)", path));
    }
    CUDA_AGENT_ASSIGN(listing, folder_.list(4 * mostFiles));
    std::set<std::string> there;
    std::size_t kept = 0;
    for (const auto &entry : listing.files) {
        if (protectedFiles().contains(entry.path))
            continue;
        const auto path = workspacePath(entry.path);
        if (!path || *path != entry.path) {
            found.push_back(fmt::format("not kept: a file with an unusable name"));
            continue;
        }
        if (entry.bytes > largestFile || ++kept > mostFiles) {
            found.push_back(
                fmt::format("not kept: {} ({})", entry.path,
                            entry.bytes > largestFile ? "larger than 1 MiB" : "too many files"));
            continue;
        }
        const auto text = folder_.read(entry.path, largestFile);
        if (!text)
            continue; // gone, or not ours to read
        there.insert(entry.path);
        const auto &files = recorder().state().files;
        const auto known = files.find(entry.path);
        if (known != files.end() && known->second == sha256Hex(*text))
            continue;
        found.push_back((known == files.end() ? "new " : "changed ") + entry.path);
        CUDA_AGENT_TRY(logWritten(entry.path, *text));
    }
    std::vector<std::string> gone;
    for (const auto &[path, blob] : recorder().state().files)
        if (!there.contains(path))
            gone.push_back(path);
    for (const auto &path : gone) {
        found.push_back("removed " + path);
        CUDA_AGENT_TRY(
            recorder().append(EventType::fileRemoved, turn, {{"path", path}, {"author", author}}));
    }
    for (const auto &skipped : listing.skipped)
        found.push_back("not kept: " + skipped);
    constexpr std::size_t mostLines = 40;
    if (found.size() > mostLines) {
        const std::size_t more = found.size() - mostLines;
        found.resize(mostLines);
        found.push_back(fmt::format("and {} more", more));
    }
    return found;
}

} // namespace cuda_agent::tools
