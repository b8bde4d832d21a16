// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/hash.h"
#include "core/base/names.h"
#include "core/base/paths.h"
#include "core/device/nvrtc_library.h"
#include "core/sandbox/sandbox.h"
#include "core/toolchain/binary_cache.h"
#include "core/toolchain/nvrtc_worker/cubin.h"
#include "core/toolchain/nvrtc_worker/limits.h"
#include "core/toolchain/nvrtc_worker/precompiled.h"
#include "core/toolchain/nvrtc_worker/protocol.h"
#include "core/toolchain/ptx.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <regex>
#include <unistd.h>

namespace cuda_agent::toolchain {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t sourceLimit = 1u << 20;
constexpr std::size_t shownLogLimit = 64u << 10;
constexpr const char *program = "cuda-agent-nvrtc";

/// Where things lie inside the sandbox.
constexpr const char *insideProgram = "/worker/cuda-agent-nvrtc";
constexpr const char *insideLibrary = "/worker/nvrtc";
constexpr const char *insideHeaders = "/worker/include";

/// What the worker is made of on this machine.
struct Installation {
    fs::path program;
    fs::path library; ///< folder
    fs::path headers; ///< folder
};

bool isThere(const fs::path &path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

fs::path real(const fs::path &path) {
    std::error_code error;
    const auto result = fs::canonical(path, error);
    return error ? path : result;
}

Result<Installation> findInstallation() {
    Installation found;
    found.program = real(workerDir() / program);
    if (!isThere(found.program))
        return machineError("{} is missing; build or install the program again",
                            found.program.string());
    CUDA_AGENT_ASSIGN(library, device::cuda::Nvrtc::findFolder(device::cuda::Nvrtc::folders()));
    // Links out of the folder would dangle inside: show the folder where the files are.
    const auto target = real(library / "libnvrtc.so.13").parent_path();
    found.library = isThere(target / "libnvrtc.so.13") ? target : real(library);
    for (const auto &headers :
         {cudaToolkitDir() / "include", library.parent_path() / "include",
          found.library.parent_path() / "include", fs::path("/usr/local/cuda/include")}) {
        if (!isThere(headers / "cuda_fp16.h"))
            continue;
        found.headers = real(headers / "cuda_fp16.h").parent_path();
        return found;
    }
    return machineError("the CUDA headers (cuda_fp16.h) are missing beside {}; run {}, or set "
                        "CUDA_HOME to a CUDA 13 toolkit",
                        library.string(), setupCommand());
}

/// A running compile worker that has greeted.
struct Worker {
    sandbox::Process process;
    int version = 0;
};

Result<std::unique_ptr<Worker>> startWorker(const Installation &installation,
                                            const CompileLimits &limits) {
    sandbox::Policy policy;
    policy.name = "compiler";
    policy.mounts = {{installation.program, insideProgram},
                     {installation.library, insideLibrary},
                     {installation.headers, insideHeaders}};
    // Time and memory of one compile are limited in the worker; these are for the worker as a
    // whole.
    policy.limits.wall = 0ms;
    policy.limits.memoryBytes = limits.memoryBytes + (1ull << 30);
    policy.limits.processes = 32;
    policy.limits.scratchBytes = 512ull << 20; // headers on their way to be precompiled
    policy.limits.outputBytes = 64u << 10;
    CUDA_AGENT_ASSIGN(process, sandbox::start(policy, {insideProgram, insideLibrary}));
    auto greeting = process.channel().receive(30s);
    if (!greeting) {
        process.kill();
        const auto record = process.wait();
        return machineError("the compile worker does not start: {} {}", record.summary(),
                            record.standardError);
    }
    const auto &body = greeting->body;
    if (const auto error = body.find("error"); error != body.end() && error->is_string())
        return machineError("the compile worker does not start: {}", error->get<std::string>());
    const auto version = body.find("version");
    if (version == body.end() || !version->is_number_integer())
        return machineError("the compile worker greets in an unknown way");
    return std::make_unique<Worker>(Worker{std::move(process), version->get<int>()});
}

/// Workers that wait for something to compile. The compilers of a process share them: starting one
/// takes longer than most compiles, and each has headers precompiled. Any thread may call.
class Workers {
  public:
    Workers(Installation installation, const CompileLimits &limits)
        : installation_(std::move(installation)), limits_(limits) {}

    /// Those of such an installation and such limits, which end with their last compiler.
    static std::shared_ptr<Workers> shared(const Installation &installation,
                                           const CompileLimits &limits) {
        static std::mutex mutex;
        static std::map<std::string, std::weak_ptr<Workers>> all;
        const std::lock_guard lock(mutex);
        auto &one = all[fmt::format("{} {}", limits.memoryBytes, installation.library.string())];
        auto workers = one.lock();
        if (!workers)
            one = workers = std::make_shared<Workers>(installation, limits);
        return workers;
    }

    Result<std::unique_ptr<Worker>> take() {
        {
            const std::lock_guard lock(mutex_);
            while (!idle_.empty()) {
                auto worker = std::move(idle_.back()); // the one used last has most in its caches
                idle_.pop_back();
                if (worker->process.running())
                    return worker;
            }
        }
        return startWorker(installation_, limits_);
    }

    void giveBack(std::unique_ptr<Worker> worker) {
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(worker));
    }

  private:
    const Installation installation_;
    const CompileLimits limits_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Worker>> idle_;
};

/// Why the request itself is unusable, or empty.
std::string problemOf(const Source &source) {
    if (source.text.size() > sourceLimit)
        return fmt::format("{} is larger than {} KiB", source.path, sourceLimit >> 10);
    if (source.text.find('\0') != source.text.npos)
        return fmt::format("{} contains a zero byte", source.path);
    for (const auto &[name, value] : source.defines)
        if (!isIdentifier(name) || value.find_first_of(std::string("\n\0", 2)) != value.npos)
            return fmt::format("the define '{}' is not a macro name with a one-line value", name);
    return {};
}

Rejection rejection(const std::string &summary, std::vector<Diagnostic> diagnostics = {},
                    std::string log = {}) {
    Rejection result{std::move(diagnostics), std::move(log), summary};
    if (result.log.size() > shownLogLimit) {
        result.log.resize(shownLogLimit);
        result.log += "\n(cut)\n";
    }
    if (result.diagnostics.empty())
        result.diagnostics.push_back({"error", "", 0, 0, summary});
    return result;
}

std::string firstError(const std::vector<Diagnostic> &diagnostics, const std::string &otherwise) {
    for (const auto &diagnostic : diagnostics) {
        if (diagnostic.severity != "error")
            continue;
        if (diagnostic.line == 0)
            return diagnostic.message;
        if (diagnostic.column == 0)
            return fmt::format("{}:{}: {}", diagnostic.file, diagnostic.line, diagnostic.message);
        return fmt::format("{}:{}:{}: {}", diagnostic.file, diagnostic.line, diagnostic.column,
                           diagnostic.message);
    }
    return otherwise;
}

/// Reads the lent memory file. It is read, not mapped: its lender could cut it short.
Result<std::string> readLent(const UniqueFd &file, std::uint64_t bytes) {
    std::string content(bytes, '\0');
    std::uint64_t done = 0;
    while (done < bytes) {
        const auto count =
            pread(file.get(), content.data() + done, bytes - done, static_cast<off_t>(done));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return machineError("the compile worker lent less than it announced");
        done += static_cast<std::uint64_t>(count);
    }
    return content;
}

/// A rejection that names the missing entries, or none.
std::optional<Rejection> missingEntries(const Source &source, const Binary &binary) {
    std::string missing;
    std::string present;
    for (const auto &entry : binary.entries)
        present += (present.empty() ? "" : ", ") + entry.name;
    for (const auto &wanted : source.entries)
        if (std::none_of(binary.entries.begin(), binary.entries.end(),
                         [&](const auto &entry) { return entry.name == wanted; }))
            missing += (missing.empty() ? "'" : ", '") + wanted + "'";
    if (missing.empty())
        return std::nullopt;
    return rejection(fmt::format("{} has no kernel {}; it has {}. A kernel that a plan launches is "
                                 "declared extern \"C\" __global__",
                                 source.path, missing, present.empty() ? "none" : present));
}

/// "sm_90" -> "sm_90a": the features of this very generation (wgmma, setmaxnreg, ...).
std::string targetOf(const std::string &architecture) {
    const bool plain = isDigit(architecture.back());
    const bool hasFeatures = std::atoi(architecture.c_str() + 3) >= 90;
    return plain && hasFeatures ? architecture + "a" : architecture;
}

class CudaCompiler final : public Compiler {
  public:
    CudaCompiler(std::string target, Installation installation, const CompileLimits &limits,
                 std::shared_ptr<Workers> workers, int version)
        : target_(std::move(target)), installation_(std::move(installation)), limits_(limits),
          version_(version), workers_(std::move(workers)) {
        options_ = {"--gpu-architecture=" + target_, "-std=c++17",
                    // NVRTC has no math.h, whose names every kernel writer expects.
                    "--define-macro=INFINITY=__int_as_float(0x7f800000)",
                    "--define-macro=NAN=__int_as_float(0x7fffffff)", "-lineinfo", "--no-cache",
                    "--ptxas-options=-v", std::string("--include-path=") + insideHeaders};
        if (isThere(installation_.headers / "cccl"))
            options_.push_back(std::string("--include-path=") + insideHeaders + "/cccl");
    }

    std::string description() const override {
        return fmt::format("NVRTC {}.{} for {}", version_ / 1000, version_ % 1000 / 10, target_);
    }

    Result<Outcome> compile(const Source &source, std::stop_token stop) override {
        if (const auto problem = problemOf(source); !problem.empty())
            return rejection(problem);
        auto options = options_;
        for (const auto &[name, value] : source.defines)
            options.push_back(fmt::format("--define-macro={}={}", name, value));
        const auto hash = hashOf(source, options);
        if (auto known = cache_.find(hash)) {
            if (auto missing = missingEntries(source, *known))
                return std::move(*missing);
            return std::move(*known);
        }
        const auto start = std::chrono::steady_clock::now();
        CompileRequest request{source.path, source.text, std::move(options), limits_.memoryBytes,
                               limits_.seconds};
        CUDA_AGENT_ASSIGN(given, ask(request, stop));
        const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
        if (auto *refused = std::get_if<Rejection>(&given))
            return std::move(*refused);
        return judge(source, hash, std::get<Compiled>(given), spent.count());
    }

    /// Its PTX, which no assembler has looked at.
    Result<std::variant<std::string, Rejection>> translate(const Source &source,
                                                           std::stop_token stop) {
        if (const auto problem = problemOf(source); !problem.empty())
            return rejection(problem);
        std::vector<std::string> options;
        for (const auto &option : options_)
            if (!option.starts_with("--gpu-architecture") && !option.starts_with("--ptxas-options"))
                options.push_back(option);
        options.push_back("--gpu-architecture=compute_" + target_.substr(3));
        for (const auto &[name, value] : source.defines)
            options.push_back(fmt::format("--define-macro={}={}", name, value));
        CUDA_AGENT_ASSIGN(given, ask({source.path, source.text, std::move(options),
                                      limits_.memoryBytes, limits_.seconds},
                                     stop));
        if (auto *refused = std::get_if<Rejection>(&given))
            return std::move(*refused);
        auto &compiled = std::get<Compiled>(given);
        CUDA_AGENT_ASSIGN(refused, refusalIn(compiled.answer));
        if (refused)
            return std::move(*refused);
        auto &ptx = compiled.cubin;
        ptx.resize(ptx.find_last_not_of('\0') + 1);
        return std::move(ptx);
    }

  private:
    struct Compiled {
        CompileAnswer answer;
        std::string cubin; ///< or PTX
    };

    std::string hashOf(const Source &source, const std::vector<std::string> &options) const {
        // Lengths first, so that no two lists of parts read the same.
        std::string all = fmt::format("cuda 2 {} {}\n", version_, installation_.library.string());
        for (const auto &option : options)
            all += fmt::format("{} {}\n", option.size(), option);
        all += fmt::format("{} {}\n", source.path.size(), source.path);
        return sha256Hex(all + source.text);
    }

    /// Has one source compiled. A worker in which anything went wrong is not used again.
    Result<std::variant<Compiled, Rejection>> ask(const CompileRequest &request,
                                                  const std::stop_token &stop) {
        if (stop.stop_requested())
            return stoppedError();
        CUDA_AGENT_ASSIGN(worker, workers_->take());
        auto &channel = worker->process.channel();
        auto message = channel.send(toJson(request)).and_then([&] {
            return channel.receive(std::chrono::seconds(limits_.seconds + mostHeaderSeconds + 10),
                                   stop);
        });
        if (!message) {
            if (message.error().kind == ErrorKind::stopped)
                return stoppedError();
            const bool late = message.error().message.starts_with("timed out");
            worker->process.kill();
            const auto record = worker->process.wait();
            const auto hit = [&](const char *limit) {
                return std::find(record.limitsHit.begin(), record.limitsHit.end(), limit) !=
                       record.limitsHit.end();
            };
            if (late)
                return tooLong();
            if (hit("memory"))
                return tooLarge();
            return machineError("the compile worker failed: {} {}", record.summary(),
                                record.standardError);
        }
        CUDA_AGENT_ASSIGN(answer, compileAnswerFromJson(message->body));
        if (answer.end == "time")
            return tooLong();
        if (answer.end == "memory")
            return tooLarge();
        if (answer.end != "done")
            return rejection(
                fmt::format("the compiler crashed on this source ({})", answer.message));
        Compiled compiled{std::move(answer), {}};
        if (compiled.answer.cubinBytes > 0) {
            if (message->fds.size() != 1)
                return machineError("the compile worker sent no cubin");
            CUDA_AGENT_ASSIGN(cubin, readLent(message->fds[0], compiled.answer.cubinBytes));
            compiled.cubin = std::move(cubin);
        }
        workers_->giveBack(std::move(worker));
        return compiled;
    }

    Rejection tooLong() const {
        return rejection(fmt::format("compiling took longer than {} s", limits_.seconds));
    }
    Rejection tooLarge() const {
        return rejection(
            fmt::format("compiling needed more than {} MB of memory", limits_.memoryBytes >> 20));
    }

    /// What the compiler refused, or nothing where it is content. Errors: machine.
    Result<std::optional<Rejection>> refusalIn(const CompileAnswer &answer) const {
        auto log = withoutStatistics(answer.log);
        auto diagnostics = parseDiagnostics(log);
        switch (static_cast<nvrtcResult>(answer.code)) {
        case NVRTC_SUCCESS:
            return std::nullopt;
        case NVRTC_ERROR_INVALID_OPTION:
            // The defines are checked before, so an option of ours is meant.
            return machineError("{} refuses its options: {}", description(), answer.log);
        case NVRTC_ERROR_BUILTIN_OPERATION_FAILURE:
            return machineError("{} lacks its built-in declarations; run {}", description(),
                                setupCommand());
        case NVRTC_ERROR_OUT_OF_MEMORY:
            return tooLarge();
        default:
            if (const auto why = tooMuchShared(answer.log); diagnostics.empty() && !why.empty())
                return rejection(why, {}, std::move(log));
            const auto summary = firstError(diagnostics, answer.message);
            return rejection(summary, std::move(diagnostics), std::move(log));
        }
    }

    Result<Outcome> judge(const Source &source, const std::string &hash, const Compiled &compiled,
                          double seconds) const {
        const auto &answer = compiled.answer;
        CUDA_AGENT_ASSIGN(refused, refusalIn(answer));
        if (refused)
            return std::move(*refused);
        CUDA_AGENT_ASSIGN(names, kernelsOfCubin(compiled.cubin));
        Binary facts;
        facts.entries = entryFacts(names, answer.log);
        facts.warnings = parseDiagnostics(withoutStatistics(answer.log));
        facts.seconds = seconds;
        if (auto missing = missingEntries(source, facts))
            return std::move(*missing);
        CUDA_AGENT_ASSIGN(binary, keep(hash, facts, compiled.cubin));
        return binary;
    }

    Result<Binary> keep(const std::string &hash, const Binary &facts,
                        const std::string &cubin) const {
        const auto folder = fs::temp_directory_path();
        std::string pattern = (folder / "cuda-agent-XXXXXX.cubin").string();
        const UniqueFd file(mkstemps(pattern.data(), 6));
        if (!file)
            return machineError("cannot write to {}: {}", folder.string(), std::strerror(errno));
        Result<Binary> stored;
        std::ofstream stream(pattern, std::ios::binary);
        if (stream << cubin << std::flush)
            stored = cache_.store(hash, facts, pattern);
        else
            stored = machineError("cannot write {} bytes to {}", cubin.size(), folder.string());
        std::error_code ignored;
        fs::remove(pattern, ignored);
        return stored;
    }

    std::string target_;
    Installation installation_;
    CompileLimits limits_;
    int version_;
    std::vector<std::string> options_;
    BinaryCache cache_;
    std::shared_ptr<Workers> workers_;
};

Result<std::unique_ptr<CudaCompiler>> make(const std::string &architecture,
                                           const CompileLimits &limits) {
    static const std::regex form("sm_[0-9]{2,3}[af]?");
    if (!std::regex_match(architecture, form))
        return requestError("'{}' is not a GPU architecture; one looks like sm_90", architecture);
    CUDA_AGENT_ASSIGN(installation, findInstallation());
    auto workers = Workers::shared(installation, limits);
    CUDA_AGENT_ASSIGN(worker, workers->take());
    const int version = worker->version;
    workers->giveBack(std::move(worker));
    return std::make_unique<CudaCompiler>(targetOf(architecture), std::move(installation), limits,
                                          std::move(workers), version);
}

} // namespace

Result<std::unique_ptr<Compiler>> makeCudaCompiler(std::string architecture) {
    return makeCudaCompiler(std::move(architecture), CompileLimits());
}

Result<std::unique_ptr<Compiler>> makeCudaCompiler(std::string architecture,
                                                   const CompileLimits &limits) {
    CUDA_AGENT_ASSIGN(made, make(architecture, limits));
    return std::move(made);
}

Result<std::variant<std::string, Rejection>>
translateToPtx(const Source &source, std::string architecture, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(compiler, make(architecture, CompileLimits()));
    return compiler->translate(source, std::move(stop));
}

} // namespace cuda_agent::toolchain
