// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/toolchain/nvrtc_worker/precompiled.h"

#include <cctype>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace cuda_agent::toolchain {

namespace {

using Clock = std::chrono::steady_clock;

/// Of all that a worker keeps; one of cooperative groups is 100 to 140 MB.
constexpr std::uint64_t mostBytes = 512ull << 20;
/// Beginnings that are remembered.
constexpr std::size_t mostEntries = 64;
constexpr int mostOrphanRounds = 100;

constexpr const char *rest = "#pragma nv_hdrstop\nextern \"C\" __global__ void nothing() {}\n";

/// What the compiler says of precompiled headers is of no use to who wrote the source.
std::vector<std::string> quiet() {
    return {"--pch-messages=false", "--diag-suppress=629,630,2226,20282"};
}

/// Removes a file when it goes.
struct Removed {
    std::string path;
    ~Removed() { unlink(path.c_str()); }
};

/// The file's content as memory that nobody can change any more, or none.
UniqueFd sealed(const std::string &path, std::uint64_t &bytes) {
    const UniqueFd file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    UniqueFd memory(memfd_create("precompiled", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    if (!file || !memory)
        return {};
    bytes = 0;
    for (;;) {
        const auto count = sendfile(memory.get(), file.get(), nullptr, 1 << 26);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return {};
        if (count == 0)
            break;
        bytes += static_cast<std::uint64_t>(count);
    }
    constexpr int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (bytes == 0 || fcntl(memory.get(), F_ADD_SEALS, seals) != 0)
        return {};
    return memory;
}

/// Whether it ended well in time; it is not left running.
bool endedWell(pid_t child, int seconds) {
    const auto deadline = Clock::now() + std::chrono::seconds(seconds);
    for (;;) {
        int status = 0;
        const auto ended = waitpid(child, &status, WNOHANG);
        if (ended == child)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (ended < 0 && errno != EINTR)
            return false;
        if (Clock::now() > deadline)
            kill(child, SIGKILL);
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
}

} // namespace

std::string leadingIncludes(std::string_view text) {
    std::string includes;
    std::size_t at = 0;
    const auto skipSpace = [&](bool lines) {
        while (at < text.size()) {
            if (std::isspace(static_cast<unsigned char>(text[at])) != 0 &&
                (lines || text[at] != '\n')) {
                ++at;
            } else if (text.substr(at, 2) == "//") {
                at = std::min(text.find('\n', at), text.size());
            } else if (text.substr(at, 2) == "/*") {
                const auto end = text.find("*/", at + 2);
                at = end == text.npos ? text.size() : end + 2;
            } else {
                break;
            }
        }
    };
    constexpr std::string_view word = "include";
    for (;;) {
        skipSpace(true);
        if (at >= text.size() || text[at] != '#')
            return includes;
        ++at;
        while (at < text.size() && (text[at] == ' ' || text[at] == '\t'))
            ++at;
        if (text.substr(at, word.size()) != word)
            return includes;
        at += word.size();
        while (at < text.size() && (text[at] == ' ' || text[at] == '\t'))
            ++at;
        const auto end = text.find_first_of(">\n\\", at);
        if (at >= text.size() || text[at] != '<' || end == text.npos || text[end] != '>')
            return includes;
        const auto name = text.substr(at, end + 1 - at);
        at = end + 1;
        skipSpace(false);
        if (at < text.size() && text[at] != '\n')
            return includes;
        includes += "#include ";
        includes += name;
        includes += '\n';
    }
}

void limit(int resource, std::uint64_t value) {
    const rlimit both{value, value};
    setrlimit(static_cast<__rlimit_resource>(resource), &both);
}

bool endOrphans() {
    const auto path = "/proc/self/task/" + std::to_string(getpid()) + "/children";
    for (int round = 0; round < mostOrphanRounds; ++round) {
        std::FILE *const file = std::fopen(path.c_str(), "r");
        if (!file)
            return false;
        bool any = false;
        for (long child = 0; std::fscanf(file, "%ld", &child) == 1; any = true)
            kill(static_cast<pid_t>(child), SIGKILL);
        std::fclose(file);
        if (!any)
            return true;
        while (waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
        }
    }
    return false;
}

PrecompiledHeaders::PrecompiledHeaders(const device::cuda::Nvrtc &nvrtc, std::string folder)
    : nvrtc_(nvrtc), folder_(std::move(folder)) {
    // Whoever an ended compiler leaves behind becomes a child of this process.
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 || !endOrphans()) {
        folder_.clear();
        return;
    }
    // The library's heap for precompiled headers is at the same place in all forks only when it is
    // there before them: the first use makes it.
    const Removed header{folder_ + "/first.h"}, made{folder_ + "/first.pch"};
    if (std::FILE *const file = std::fopen(header.path.c_str(), "w")) {
        std::fputs("#define CUDA_AGENT_FIRST 1\n", file);
        std::fclose(file);
    }
    const auto first = nvrtc_.compile("#include \"" + header.path + "\"\n" + rest, "first.cu",
                                      {"--create-pch=" + made.path, "--pch-messages=false"});
    struct stat facts {};
    if (first.code != NVRTC_SUCCESS || stat(made.path.c_str(), &facts) != 0)
        folder_.clear();
}

std::vector<std::string> PrecompiledHeaders::optionsFor(std::string_view text,
                                                        const std::vector<std::string> &options) {
    if (folder_.empty())
        return {};
    const auto includes = leadingIncludes(text);
    if (includes.empty())
        return {};
    std::string key = includes;
    for (const auto &option : options)
        key += std::to_string(option.size()) + ' ' + option;
    if (entries_.size() >= mostEntries && !entries_.contains(key)) {
        entries_.clear();
        order_.clear();
    }
    auto &entry = entries_[key];
    if (++entry.seen > 1 && !entry.tried) {
        make(entry, includes, options);
        if (entry.file)
            order_.push_back(key);
        makeRoom();
    }
    if (!entry.file)
        return {};
    auto use = quiet();
    use.push_back("--use-pch=/proc/self/fd/" + std::to_string(entry.file.get()));
    return use;
}

void PrecompiledHeaders::make(Entry &entry, const std::string &includes,
                              const std::vector<std::string> &options) const {
    entry.tried = true;
    if (!endOrphans()) // it could write to the file that follows
        return;
    const Removed made{folder_ + "/made.pch"};
    unlink(made.path.c_str());
    const pid_t child = fork();
    if (child < 0)
        return;
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        limit(RLIMIT_CORE, 0);
        limit(RLIMIT_CPU, mostHeaderSeconds + 1);
        limit(RLIMIT_FSIZE, mostBytes);
        auto own = options;
        for (auto &option : quiet())
            own.push_back(std::move(option));
        own.push_back("--create-pch=" + made.path);
        const auto result = nvrtc_.compile(includes + rest, "headers.cu", own);
        _exit(result.code == NVRTC_SUCCESS ? 0 : 1);
    }
    if (endedWell(child, mostHeaderSeconds))
        entry.file = sealed(made.path, entry.bytes);
}

void PrecompiledHeaders::makeRoom() {
    const auto all = [&] {
        std::uint64_t bytes = 0;
        for (const auto &[key, entry] : entries_)
            bytes += entry.file ? entry.bytes : 0;
        return bytes;
    };
    while (order_.size() > 1 && all() > mostBytes) {
        entries_.erase(order_.front());
        order_.pop_front();
    }
}

} // namespace cuda_agent::toolchain
