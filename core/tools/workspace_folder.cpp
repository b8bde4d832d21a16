// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/tools/workspace_folder.h"

#include "core/base/descriptor_io.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace cuda_agent::tools {

namespace fs = std::filesystem;

namespace {

constexpr int folderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

std::vector<std::string> partsOf(std::string_view path) {
    std::vector<std::string> parts;
    while (!path.empty()) {
        const auto end = std::min(path.find('/'), path.size());
        if (end > 0)
            parts.emplace_back(path.substr(0, end));
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return parts;
}

std::string nameOf(const std::string &file) {
    return file.substr(file.find_last_of('/') + 1);
}

tl::unexpected<Error> cannot(const char *what, const std::string &file, int error) {
    if (error == ENOENT)
        return requestError("there is no file '{}' in the workspace", file);
    if (error == ELOOP || error == ENOTDIR)
        return requestError("'{}' goes through a symbolic link or a file that is no folder; only "
                            "plain folders and files of the workspace are used",
                            file);
    return machineError("cannot {} '{}' in the workspace: {}", what, file, std::strerror(error));
}

struct CloseFolder {
    void operator()(DIR *folder) const { ::closedir(folder); }
};
using Folder = std::unique_ptr<DIR, CloseFolder>;

/// Takes the descriptor over.
Folder folderOf(UniqueFd fd) {
    DIR *folder = ::fdopendir(fd.get());
    if (folder)
        fd.release();
    return Folder(folder);
}

constexpr int deepest = 32;

void walk(int parent, const std::string &prefix, std::size_t most, int depth,
          WorkspaceFolder::Listing &listing) {
    Folder folder = folderOf(UniqueFd(::openat(parent, ".", folderFlags)));
    if (!folder)
        return;
    while (const dirent *entry = ::readdir(folder.get())) {
        const std::string name = entry->d_name;
        if (name == "." || name == "..")
            continue;
        if (listing.files.size() + listing.skipped.size() >= most) {
            const std::string note = fmt::format("more than {} entries: the rest", most);
            if (listing.skipped.empty() || listing.skipped.back() != note)
                listing.skipped.push_back(note);
            return;
        }
        const std::string path = prefix + name;
        struct stat status {};
        if (::fstatat(::dirfd(folder.get()), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        if (name.starts_with('.'))
            listing.skipped.push_back(path + " (hidden)");
        else if (S_ISREG(status.st_mode))
            listing.files.push_back({path, static_cast<std::uint64_t>(status.st_size)});
        else if (S_ISDIR(status.st_mode) && depth == deepest)
            listing.skipped.push_back(path + " (too deep)");
        else if (S_ISDIR(status.st_mode)) {
            const UniqueFd below(::openat(::dirfd(folder.get()), name.c_str(), folderFlags));
            if (below)
                walk(below.get(), path + "/", most, depth + 1, listing);
        } else {
            listing.skipped.push_back(
                path + (S_ISLNK(status.st_mode) ? " (symbolic link)" : " (no regular file)"));
        }
    }
}

/// Everything inside goes, whatever it is; links are unlinked, not followed. Folders inside folders
/// are first moved up, so that no depth of them is too much.
bool empty(int root) {
    int moved = 0;
    for (bool folders = true; folders;) {
        folders = false;
        const Folder top = folderOf(UniqueFd(::openat(root, ".", folderFlags)));
        if (!top)
            return false;
        while (const dirent *entry = ::readdir(top.get())) {
            const std::string name = entry->d_name;
            if (name == "." || name == ".." || ::unlinkat(root, name.c_str(), 0) == 0)
                continue;
            ::fchmodat(root, name.c_str(), 0700, 0); // one without rights goes, too
            const Folder below = folderOf(UniqueFd(::openat(root, name.c_str(), folderFlags)));
            if (!below)
                return false;
            while (const dirent *inner = ::readdir(below.get())) {
                const std::string part = inner->d_name;
                if (part == "." || part == ".." ||
                    ::unlinkat(::dirfd(below.get()), part.c_str(), 0) == 0)
                    continue;
                folders = true;
                const std::string to = fmt::format(".gone-{}", moved++);
                ::fchmodat(::dirfd(below.get()), part.c_str(), 0700, 0);
                if (::renameat(::dirfd(below.get()), part.c_str(), root, to.c_str()) != 0)
                    return false;
            }
            if (::unlinkat(root, name.c_str(), AT_REMOVEDIR) != 0)
                return false;
        }
    }
    return true;
}

} // namespace

Result<std::string> workspacePath(std::string_view path) {
    const auto refuse = [&] {
        return requestError("'{}' is no path of the workspace; give a relative one such as "
                            "kernels/fused.cu, without '..' and without names that start with '.'",
                            path);
    };
    constexpr std::string_view root = "/workspace";
    std::string_view rest = path;
    if (rest.starts_with(root) && (rest.size() == root.size() || rest[root.size()] == '/'))
        rest.remove_prefix(root.size());
    else if (rest.starts_with('/'))
        return refuse();
    std::string result;
    for (const auto &part : partsOf(rest)) {
        if (part == ".")
            continue;
        const bool printable = std::ranges::none_of(
            part, [](char c) { return static_cast<unsigned char>(c) < 32 || c == 127; });
        if (part.starts_with('.') || !printable || part.size() > 200)
            return refuse();
        result += (result.empty() ? "" : "/") + part;
    }
    if (result.empty() || result.size() > 1000)
        return refuse();
    return result;
}

Result<WorkspaceFolder> WorkspaceFolder::open(fs::path path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error)
        return machineError("cannot make {}: {}", path.string(), error.message());
    WorkspaceFolder folder;
    folder.path_ = std::move(path);
    folder.root_ = UniqueFd(::open(folder.path_.c_str(), folderFlags));
    if (!folder.root_)
        return machineError("cannot open {}: {}", folder.path_.string(), std::strerror(errno));
    return folder;
}

Result<UniqueFd> WorkspaceFolder::openParent(const std::string &file, bool make) const {
    auto parts = partsOf(file);
    parts.pop_back();
    UniqueFd at(::openat(root_.get(), ".", folderFlags));
    for (const auto &part : parts) {
        if (make && ::mkdirat(at.get(), part.c_str(), 0755) != 0 && errno != EEXIST)
            return cannot("make a folder for", file, errno);
        UniqueFd next(::openat(at.get(), part.c_str(), folderFlags));
        if (!next)
            return cannot("reach", file, errno);
        at = std::move(next);
    }
    return at;
}

Result<std::string> WorkspaceFolder::read(const std::string &file, std::size_t limit) const {
    CUDA_AGENT_ASSIGN(parent, openParent(file, false));
    // A pipe must not block the engine, nor a device do anything.
    const UniqueFd fd(::openat(parent.get(), nameOf(file).c_str(),
                               O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd)
        return cannot("read", file, errno);
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0)
        return cannot("read", file, errno);
    if (!S_ISREG(status.st_mode))
        return requestError("'{}' is no file{}", file,
                            S_ISDIR(status.st_mode) ? " but a folder" : "");
    if (static_cast<std::uint64_t>(status.st_size) > limit)
        return requestError("'{}' has {} bytes; at most {} are read", file, status.st_size, limit);
    auto text = readUpTo(fd.get(), static_cast<std::size_t>(status.st_size));
    if (!text)
        return cannot("read", file, errno);
    return std::move(*text);
}

Result<void> WorkspaceFolder::write(const std::string &file, std::string_view content) const {
    CUDA_AGENT_ASSIGN(parent, openParent(file, true));
    const std::string name = nameOf(file);
    struct stat status {};
    if (::fstatat(parent.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        !S_ISREG(status.st_mode))
        return requestError("'{}' is there already and is no regular file", file);
    const std::string temporary = "." + name.substr(0, 180) + ".new";
    ::unlinkat(parent.get(), temporary.c_str(), 0);
    const UniqueFd fd(::openat(parent.get(), temporary.c_str(),
                               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!fd)
        return cannot("write", file, errno);
    if (!writeWhole(fd.get(), content) ||
        ::renameat(parent.get(), temporary.c_str(), parent.get(), name.c_str()) != 0) {
        const int error = errno;
        ::unlinkat(parent.get(), temporary.c_str(), 0);
        return machineError("cannot write '{}' in the workspace: {}", file, std::strerror(error));
    }
    return {};
}

Result<void> WorkspaceFolder::remove(const std::string &file) const {
    CUDA_AGENT_ASSIGN(parent, openParent(file, false));
    if (::unlinkat(parent.get(), nameOf(file).c_str(), 0) != 0 && errno != ENOENT)
        return cannot("remove", file, errno);
    return {};
}

Result<void> WorkspaceFolder::clear() const {
    if (!empty(root_.get()))
        return machineError("cannot empty {}: {}", path_.string(), std::strerror(errno));
    return {};
}

Result<WorkspaceFolder::Listing> WorkspaceFolder::list(std::size_t most) const {
    Listing listing;
    walk(root_.get(), "", most, 1, listing);
    std::ranges::sort(listing.files, {}, &Entry::path);
    return listing;
}

} // namespace cuda_agent::tools
