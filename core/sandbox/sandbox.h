// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/channel.h"
#include "core/base/result.h"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cuda_agent::sandbox {

/// One host folder or file shown inside.
struct Mount {
    std::filesystem::path host;
    std::filesystem::path inside;
    bool writable = false;
};

/// Zero means no limit of that kind.
///
/// Memory is charged to whoever touches a page first. A shared memory file that the engine filled
/// and lent costs the sandbox nothing; one that the engine only made and the sandbox fills is
/// charged to the sandbox, as are /tmp and /dev/shm inside, which live in memory: a program that
/// fills them runs into `scratchBytes` (its write fails) or `memoryBytes` (it is killed),
/// whichever is less. There is never a limit on address space: CUDA and the sanitizers reserve
/// terabytes of it.
struct Limits {
    std::chrono::milliseconds wall{60'000};
    std::chrono::seconds cpu{0};            ///< all processes together
    std::uint64_t memoryBytes = 4ull << 30; ///< all processes together
    int processes = 256;                    ///< processes and threads together
    /// Largest single file, shared memory files that the program makes itself included.
    std::uint64_t fileBytes = 256ull << 20;
    std::uint64_t scratchBytes = 512ull << 20; ///< private /tmp as a whole, and /dev/shm again
    /// What the run may add to its writable mounts, all together, on disk. Looked at every 250 ms,
    /// so a fast disk takes some more before the program is killed.
    std::uint64_t mountBytes = 2ull << 30;
    std::uint64_t outputBytes = 1ull << 20; ///< kept of each of stdout and stderr
};

/// What a run may see and use. The rest is fixed: own user, mount, pid, net, ipc, uts and cgroup
/// namespaces, no network, read-only /usr, private /tmp and /dev, all capabilities dropped, no new
/// privileges, no controlling terminal, no sockets but Unix ones, dies with the engine; Landlock
/// where the kernel has version 2 or later: writing in /tmp, /dev/shm and writable mounts alone.
/// The environment inside is PATH=/usr/bin:/bin, HOME=/tmp, LANG=C.UTF-8 (and LD_LIBRARY_PATH where
/// the driver's library is found only through it), overridden and joined by `environment`; the
/// user inside is number 1000.
struct Policy {
    std::string name;          ///< for messages and records: "compiler", "task", "candidate"
    std::vector<Mount> mounts; ///< beside the read-only system
    std::vector<std::pair<std::string, std::string>> environment; ///< nothing is inherited
    std::filesystem::path workingDirectory = "/tmp";
    std::optional<int> gpu; ///< bind this one /dev/nvidiaN with nvidiactl and nvidia-uvm
    /// Keeps the one capability CAP_PERFMON, for which the NVIDIA driver (R565 and later) lends the
    /// GPU's performance counters where they are an administrator's. It counts only outside a user
    /// name space, so there is none then and the user inside is root without any other capability.
    /// Has an effect for an engine that is root alone; for a process of ours, never for host code
    /// that somebody else wrote.
    bool performanceCounters = false;
    Limits limits;
};

/// What happened in one sandboxed run.
struct Record {
    std::string name;
    int exitCode = 0; ///< of the program, when it exited
    /// That ended it, or 0. An exit code of 129 to 192 reads as a signal, as in a shell.
    int signal = 0;
    /// "wall", "cpu", "memory", "mounts" (each killed it), "file" (a signal did), "processes" (a
    /// fork was refused), "output" (cut). A program that ignores SIGXFSZ sees an error and hits no
    /// "file".
    std::vector<std::string> limitsHit;
    bool killed = false; ///< by Process::kill, the destructor or a stop token
    bool stuck = false;  ///< outlived SIGKILL by 10 s: a hung driver holds it
    std::string problem; ///< why the program never ran (a bad mount, no such program)
    std::vector<std::string> unenforced; ///< limits this machine could not enforce, with reason
    std::uint64_t peakMemoryBytes = 0;
    double wallSeconds = 0;
    double cpuSeconds = 0;
    std::string standardOutput; ///< cut at Limits::outputBytes, with a line that says so
    std::string standardError;

    bool clean() const {
        return exitCode == 0 && signal == 0 && limitsHit.empty() && !killed && !stuck;
    }
    /// One sentence for a person: "killed after 5.0 s (wall limit)", "exit 1".
    std::string summary() const;
};
Json toJson(const Record &record);

/// A running sandboxed process group. Destroying it kills everything inside.
/// Not thread-safe, except kill(), which any thread may call.
///
/// What is lent over the channel needs care: a program can open a shared memory file again through
/// /proc/self/fd with more rights than the descriptor has, so content that must not change is
/// sealed (F_SEAL_WRITE) before it is lent.
class Process {
  public:
    Process(Process &&) noexcept;
    Process &operator=(Process &&) noexcept;
    ~Process();

    /// The engine's end of the message channel that the program inherits as descriptor 3
    /// (its number is also in the environment as CUDA_AGENT_CHANNEL).
    Channel &channel();
    bool running();
    void kill();
    /// Output so far, as in Record (for diagnosis while it runs).
    std::string standardErrorSoFar();
    /// Blocks until it has ended (its limits make sure that it does) and returns the record.
    Record wait();

  private:
    struct State;
    friend struct ProcessMaker;
    explicit Process(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Starts `argv` (argv[0] is a path inside the sandbox) with a channel. Blocks for about 1 ms.
/// Standard input is empty. What goes wrong inside before the program runs ends up in
/// Record::problem. Any thread may call; the thread may end before the process does.
/// Errors: request (a mount that does not exist, a relative path); machine, when bubblewrap is
/// missing or namespaces are refused; the message says what to install or allow. Nothing ever runs
/// outside a sandbox instead.
Result<Process> start(const Policy &policy, const std::vector<std::string> &argv);

/// Runs to the end and returns the record. A non-zero exit is not an error here.
/// `input` is given on standard input; there is no channel (descriptor 3 is closed).
/// Errors: as start; machine, too, when the program could not be run; stopped (it is killed then).
Result<Record> run(const Policy &policy, const std::vector<std::string> &argv,
                   std::string_view input = {}, std::stop_token stop = {});

/// Probes once what this machine can enforce; empty reasons mean enforced. Used by `doctor`.
/// Any thread may call; the first call takes some tens of milliseconds.
struct Support {
    std::string bubblewrap; ///< its path, or empty
    std::string version;
    std::vector<std::string> unenforced; ///< "memory: no writable cgroup; resident size watched"
    std::string problem;                 ///< why no sandbox can be started, or empty
};
Support probe();

} // namespace cuda_agent::sandbox
