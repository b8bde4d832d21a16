// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/log.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cuda_agent::session {
namespace {

constexpr int skipped = 77;

/// Runs `body` in a process of its own, whose limits and mounts end with it; its answer is the
/// empty string when all is well, else what went wrong.
template <typename Body>
void inChild(Body body) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        ::close(pipe[0]);
        int code = 0;
        const std::string problem = body(code);
        std::ignore = ::write(pipe[1], problem.data(), problem.size());
        ::_exit(code);
    }
    ::close(pipe[1]);
    std::string problem;
    char buffer[4096];
    for (ssize_t got; (got = ::read(pipe[0], buffer, sizeof buffer)) > 0;)
        problem.append(buffer, static_cast<std::size_t>(got));
    ::close(pipe[0]);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status)) << "ended by signal " << WTERMSIG(status);
    if (WEXITSTATUS(status) == skipped)
        GTEST_SKIP() << problem;
    EXPECT_EQ(problem, "");
}

/// Appends until the disk is full, checks what is left, makes room and goes on.
template <typename MakeRoom>
std::string fillAndGoOn(const std::filesystem::path &folder, MakeRoom makeRoom) {
    auto log = Log::create(folder);
    if (!log)
        return "create: " + log.error().message;
    int heard = 0;
    log->setListener([&](const Event &) { ++heard; });
    int written = 0;
    std::string message;
    for (; written < 100'000 && message.empty(); ++written) {
        auto event = log->append(EventType::thought, 1, {{"text", std::string(777, 'x')}});
        if (!event) {
            if (event.error().kind != ErrorKind::machine)
                return "wrong kind of error";
            message = event.error().message;
            --written;
        }
    }
    if (message.find("disk is full") == message.npos || message.find("kept") == message.npos)
        return "unhelpful message: '" + message + "'";
    if (written == 0 || heard != written)
        return fmt::format("{} written, {} heard", written, heard);
    auto contents = readLog(folder);
    if (!contents || !contents->problem.empty() ||
        contents->events.size() != static_cast<std::size_t>(written))
        return "the log is not whole: " + (contents ? contents->problem : contents.error().message);
    if (log->append(EventType::verdictGiven, 1, {{"text", std::string(777, 'x')}}))
        return "appended to a full disk";
    if (log->putBlob(std::string(4 << 20, 'b')))
        return "stored a blob on a full disk";
    for (const auto &entry : std::filesystem::directory_iterator(folder / "blobs"))
        return "left behind: " + entry.path().string();

    makeRoom();
    const auto more = log->append(EventType::note, 1, {{"text", std::string(5000, 'y')}});
    if (!more)
        return "with room again: " + more.error().message;
    contents = readLog(folder);
    if (!contents || contents->events.size() != static_cast<std::size_t>(written) + 1 ||
        contents->events.back().data["text"] != std::string(5000, 'y'))
        return "the event after making room is not there";
    return "";
}

TEST(FullDisk, AFileSizeLimitKeepsTheLogWhole) {
    TemporaryFolder folder;
    inChild([&](int &) -> std::string {
        ::signal(SIGXFSZ, SIG_IGN);
        rlimit limit{100'001, RLIM_INFINITY};
        if (::setrlimit(RLIMIT_FSIZE, &limit) != 0)
            return "setrlimit failed";
        return fillAndGoOn(folder.path() / "session", [&] {
            limit.rlim_cur = RLIM_INFINITY;
            ::setrlimit(RLIMIT_FSIZE, &limit);
        });
    });
}

TEST(FullDisk, ARealFullFileSystemKeepsTheLogWhole) {
    TemporaryFolder folder;
    inChild([&](int &code) -> std::string {
        code = skipped;
        const uid_t user = ::getuid();
        if (::unshare(CLONE_NEWNS | (user == 0 ? 0 : CLONE_NEWUSER)) != 0)
            return "needs a mount namespace of its own, which this machine refuses";
        ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr);
        const auto mounted = folder.path() / "disk";
        std::filesystem::create_directory(mounted);
        if (::mount("tmpfs", mounted.c_str(), "tmpfs", 0, "size=512k") != 0)
            return "needs to mount a small tmpfs, which this machine refuses";
        code = 0;
        // Something to remove later, so that there is room again.
        writeAll(mounted / "ballast", std::string(100'000, 'b'));
        return fillAndGoOn(mounted / "session",
                           [&] { std::filesystem::remove(mounted / "ballast"); });
    });
}

TEST(FullDisk, CreatingOnAFullDiskIsAnError) {
    TemporaryFolder folder;
    inChild([&](int &) -> std::string {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit none{4, RLIM_INFINITY};
        if (::setrlimit(RLIMIT_FSIZE, &none) != 0)
            return "setrlimit failed";
        const auto log = Log::create(folder.path());
        if (log || log.error().kind != ErrorKind::machine)
            return "created a session without room";
        return std::filesystem::exists(folder.path() / "session.jsonl") ? "left a part of it" : "";
    });
}

} // namespace
} // namespace cuda_agent::session
