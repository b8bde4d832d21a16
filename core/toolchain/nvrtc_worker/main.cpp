// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// cuda-agent-nvrtc FOLDER: compiles CUDA C++ with the NVRTC library in FOLDER, inside the sandbox.
// Requests arrive on the channel (see protocol.h). Each is compiled in a fork of this process,
// which has the library loaded and warm and holds precompiled headers, so that a compile starts at
// once, and what a source does to its compiler ends with it.

#include "core/base/channel.h"
#include "core/device/nvrtc_library.h"
#include "core/toolchain/nvrtc_worker/precompiled.h"
#include "core/toolchain/nvrtc_worker/protocol.h"
#include "core/toolchain/nvrtc_worker/ptx_lines.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cuda_agent;
using namespace cuda_agent::toolchain;
using device::cuda::Nvrtc;
using device::cuda::NvrtcResult;

namespace {

using Clock = std::chrono::steady_clock;

constexpr int channelDescriptor = 3;
/// A process that was this near to its memory limit when it broke, broke for want of memory.
constexpr double nearLimit = 0.6;

/// Head of what the compiling process writes into its pipe; log and cubin follow.
struct ResultHead {
    std::int32_t code;
    std::uint32_t logBytes;
    std::uint64_t cubinBytes;
};

bool writeAll(int fd, const void *data, std::size_t bytes) {
    const auto *place = static_cast<const char *>(data);
    while (bytes > 0) {
        const auto count = write(fd, place, bytes);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return false;
        place += count;
        bytes -= static_cast<std::size_t>(count);
    }
    return true;
}

/// What this process has mapped already: small, but terabytes under a sanitizer.
std::uint64_t addressSpace() {
    unsigned long long pages = 0;
    if (std::FILE *file = std::fopen("/proc/self/statm", "r")) {
        if (std::fscanf(file, "%llu", &pages) != 1)
            pages = 0;
        std::fclose(file);
    }
    return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

[[noreturn]] void compileInChild(const Nvrtc &nvrtc, const CompileRequest &request, int pipe,
                                 int words) {
    close(channelDescriptor);
    dup2(words, STDERR_FILENO);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    limit(RLIMIT_CORE, 0);
    limit(RLIMIT_AS, addressSpace() + request.memoryBytes);
    limit(RLIMIT_CPU, static_cast<std::uint64_t>(request.seconds) + 1);
    NvrtcResult result = nvrtc.compile(request.text, request.name, request.options);
    if (result.code == NVRTC_SUCCESS && result.cubin.empty())
        result.cubin = std::move(result.ptx); // a virtual architecture was asked for
    else if (!result.ptx.empty())
        result.log = withSourceLines(result.log, result.ptx, request.name);
    if (result.log.size() > logLimit) {
        result.log.resize(logLimit);
        result.log += "\n(cut)\n";
    }
    const ResultHead head{result.code, static_cast<std::uint32_t>(result.log.size()),
                          result.cubin.size()};
    const bool written = writeAll(pipe, &head, sizeof head) &&
                         writeAll(pipe, result.log.data(), result.log.size()) &&
                         writeAll(pipe, result.cubin.data(), result.cubin.size());
    // No destructors of the compiler: there is nothing they could leave right.
    _exit(written ? 0 : 1);
}

/// Everything the child writes, until it is silent for good, too long or too large.
/// True when it closed its end in time.
bool collect(int pipe, Clock::time_point deadline, std::string &data) {
    while (true) {
        const auto left =
            std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
        if (left.count() <= 0)
            return false;
        pollfd entry{pipe, POLLIN, 0};
        const int ready = poll(&entry, 1, static_cast<int>(left.count()) + 1);
        if (ready < 0 && errno != EINTR)
            return false;
        if (ready <= 0)
            continue;
        char buffer[1 << 16];
        const auto count = read(pipe, buffer, sizeof buffer);
        if (count == 0)
            return true;
        if (count < 0) {
            if (errno == EINTR)
                continue;
            return false;
        }
        data.append(buffer, static_cast<std::size_t>(count));
        if (data.size() > cubinLimit + 2 * logLimit)
            return false;
    }
}

CompileAnswer interpret(const Nvrtc &nvrtc, const std::string &data, std::string &cubin) {
    CompileAnswer answer;
    ResultHead head{};
    const bool whole = data.size() >= sizeof head &&
                       (std::memcpy(&head, data.data(), sizeof head), true) &&
                       head.logBytes <= data.size() - sizeof head &&
                       head.cubinBytes == data.size() - sizeof head - head.logBytes;
    if (!whole) {
        answer.end = "crash";
        answer.message = "the compiler sent half an answer";
        return answer;
    }
    answer.end = "done";
    answer.code = head.code;
    answer.message = nvrtc.describe(static_cast<nvrtcResult>(head.code));
    answer.log = data.substr(sizeof head, head.logBytes);
    answer.cubinBytes = head.cubinBytes;
    cubin = data.substr(sizeof head + head.logBytes);
    return answer;
}

/// The start of what the compiling process printed before it broke.
std::string lastWords(int file) {
    char text[1024];
    const auto count = pread(file, text, sizeof text, 0);
    std::string words(text, static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    return words.substr(0, words.find('\n'));
}

CompileAnswer compile(const Nvrtc &nvrtc, const CompileRequest &request, std::string &cubin) {
    const auto deadline = Clock::now() + std::chrono::seconds(request.seconds);
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return {"crash", 0, "no pipe", {}, 0};
    UniqueFd reading(ends[0]);
    UniqueFd writing(ends[1]);
    const UniqueFd words(memfd_create("stderr", MFD_CLOEXEC));
    const pid_t child = fork();
    if (child < 0)
        return {"crash", 0, "no process", {}, 0};
    if (child == 0) {
        reading.reset();
        compileInChild(nvrtc, request, writing.get(), words.get());
    }
    writing.reset();
    std::string data;
    const bool closed = collect(reading.get(), deadline, data);
    if (!closed)
        kill(child, SIGKILL);
    int status = 0;
    rusage usage{};
    while (wait4(child, &status, 0, &usage) < 0 && errno == EINTR) {
    }
    (void)endOrphans();
    const bool late =
        Clock::now() >= deadline || (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU);
    if (closed && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return interpret(nvrtc, data, cubin);
    if (late)
        return {"time", 0, "out of time", {}, 0};
    const double used = 1024.0 * static_cast<double>(usage.ru_maxrss);
    std::string how = lastWords(words.get());
    const bool starved = used > nearLimit * static_cast<double>(request.memoryBytes) ||
                         how.find("out of memory") != how.npos || how.find("bad_alloc") != how.npos;
    if (how.empty())
        how = WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "early exit";
    return {starved ? "memory" : "crash", 0, how, {}, 0};
}

/// The cubin as a memory file.
UniqueFd memoryFile(const std::string &content) {
    UniqueFd file(memfd_create("cubin", MFD_CLOEXEC));
    if (file && !writeAll(file.get(), content.data(), content.size()))
        file.reset();
    return file;
}

Result<void> serve(Channel &channel, const Nvrtc &nvrtc) {
    PrecompiledHeaders headers(nvrtc, "/tmp");
    while (true) {
        CUDA_AGENT_ASSIGN(message, channel.receive(std::chrono::milliseconds(0)));
        CUDA_AGENT_ASSIGN(request, compileRequestFromJson(message.body));
        for (auto &option : headers.optionsFor(request.text, request.options))
            request.options.push_back(std::move(option));
        std::string cubin;
        auto answer = compile(nvrtc, request, cubin);
        UniqueFd file;
        if (answer.cubinBytes > 0 && !(file = memoryFile(cubin)))
            answer = {"crash", 0, "no memory for the cubin", {}, 0};
        const int fd = file.get();
        CUDA_AGENT_TRY(channel.send(toJson(answer), std::span(&fd, file ? 1u : 0u)));
    }
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: cuda-agent-nvrtc FOLDER-OF-LIBNVRTC\n"
                             "Started by the engine; it reads requests from descriptor 3.\n");
        return 2;
    }
    // A compiling child must not look into this process or change it.
    prctl(PR_SET_DUMPABLE, 0);
    Channel channel{UniqueFd(channelDescriptor)};
    const auto nvrtc = Nvrtc::load(argv[1]);
    if (!nvrtc) {
        (void)channel.send({{"error", nvrtc.error().message}});
        return 3;
    }
    // The first compile loads what later ones find loaded.
    const auto warm = nvrtc->compile("extern \"C\" __global__ void warm() {}", "warm.cu", {});
    if (warm.code != NVRTC_SUCCESS) {
        (void)channel.send({{"error", nvrtc->describe(warm.code) + ": " + warm.log}});
        return 3;
    }
    if (!channel.send({{"ready", true}, {"version", nvrtc->version()}}))
        return 3;
    (void)serve(channel, *nvrtc); // ends when the engine hangs up
    return 0;
}
