// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/base/names.h"
#include "core/base/paths.h"
#include "core/base/temporary_folder.h"
#include "core/sandbox/sandbox.h"
#include "core/toolchain/binary_cache.h"
#include "core/toolchain/host/launches.h"
#include "core/toolchain/host/rewriter.h"

#include <algorithm>
#include <fstream>

namespace cuda_agent::toolchain {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t sourceLimit = 1u << 20;
constexpr std::size_t logLimit = 64u << 10;
constexpr int diagnosticLimit = 50;

/// The compiler that is used, its options included.
struct Tool {
    std::string program;
    std::string name; ///< "clang 19.1.7"
    bool clang = false;
    std::vector<std::string> options;
};

sandbox::Policy compilerPolicy() {
    sandbox::Policy policy;
    policy.name = "compiler";
    policy.limits.wall = 30s;
    policy.limits.memoryBytes = 2ull << 30;
    policy.limits.processes = 64;
    policy.limits.fileBytes = 64ull << 20;
    policy.limits.scratchBytes = 256ull << 20;
    policy.limits.outputBytes = 256ull << 10;
    return policy;
}

bool isThere(const fs::path &path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

/// The newest clang that is installed under /usr, else g++.
std::optional<Tool> findTool() {
    for (int version = 24; version >= 15; --version) {
        const std::string program = fmt::format("/usr/bin/clang++-{}", version);
        if (isThere(program))
            return Tool{program, {}, true, {}};
    }
    if (isThere("/usr/bin/clang++"))
        return Tool{"/usr/bin/clang++", {}, true, {}};
    if (isThere("/usr/bin/g++"))
        return Tool{"/usr/bin/g++", {}, false, {}};
    return {};
}

/// The fastest linker that this compiler finds.
std::vector<std::string> linkerOptions(const Tool &tool) {
    std::error_code ignored;
    const fs::path own = fs::canonical(tool.program, ignored).parent_path();
    if (tool.clang && (isThere(own / "ld.lld") || isThere("/usr/bin/ld.lld")))
        return {"-fuse-ld=lld", "-Wl,--threads=1"};
    if (isThere("/usr/bin/mold"))
        return {"-fuse-ld=mold", "-Wl,--threads"};
    return {};
}

/// What is made of a source.
enum class Product {
    library, ///< a plan's kernels with their entries
    checked, ///< the same, instrumented for cuda-agent-checker
    object,  ///< a module candidate's file
    checkedObject
};

bool isObject(Product product) {
    return product == Product::object || product == Product::checkedObject;
}
bool isChecked(Product product) {
    return product == Product::checked || product == Product::checkedObject;
}

/// Loads, stores and atomics become calls of `__tsan_...`, undefined behaviour calls of
/// `__ubsan_handle_...`; cuda-agent-checker, and for objects libcuda-agent-host-checked.so, have
/// functions of their own behind these names, so nothing of the compiler's run time is needed.
/// Vectors would be too wide for those calls.
std::vector<std::string> checkedOptions() {
    std::vector<std::string> options = {
        "-O1",
        "-gdwarf-4",
        "-gline-tables-only",
        "-DCUDA_AGENT_HOST_CHECKED=1",
        "-fno-vectorize",
        "-fno-slp-vectorize",
        "-fno-delete-null-pointer-checks",
        "-fsanitize=thread,bounds,shift,signed-integer-overflow,integer-divide-by-zero,alignment,"
        "vla-bound,return,bool",
        "-fno-sanitize-link-runtime"};
    for (const char *setting : {"distinguish-volatile=1", "instrument-read-before-write=1",
                                "instrument-func-entry-exit=0"}) {
        options.emplace_back("-mllvm");
        options.emplace_back(std::string("-tsan-") + setting);
    }
    return options;
}

std::vector<std::string> compileOptions(const Tool &tool, Product product) {
    std::vector<std::string> options = {
        "-x", "c++", "-std=c++20", "-O3", "-march=native", "-fPIC", "-fvisibility=hidden",
        "-fno-stack-protector",
        // Contraction as nvcc does it; everything else as IEEE has it.
        "-ffp-contract=fast", "-fno-math-errno", "-fno-trapping-math",
        // Kernels read memory as other types (float4 from float*).
        "-fno-strict-aliasing", "-pthread"};
    if (tool.clang) {
        for (const char *option :
             {"-fveclib=libmvec", "-fno-caret-diagnostics", "-fno-color-diagnostics",
              "-fmacro-backtrace-limit=1", "-ferror-limit=20", "-Wno-unknown-pragmas",
              "-Wno-pass-failed", "-Wno-unused-command-line-argument",
              // What the driver says of -march=native on some processors is not the source's.
              "-Wno-unknown-warning-option", "-Wno-invalid-feature-combination"})
            options.emplace_back(option);
    } else {
        for (const char *option : {"-fno-diagnostics-show-caret", "-fdiagnostics-color=never",
                                   "-fmax-errors=20", "-Wno-unknown-pragmas"})
            options.emplace_back(option);
    }
    if (!isObject(product)) // with nothing of the C++ run time in it
        for (const char *option : {"-shared", "-nostartfiles", "-nodefaultlibs", "-fno-exceptions",
                                   "-fno-rtti", "-fno-threadsafe-statics"})
            options.emplace_back(option);
    else
        for (const char *option : {"-c", "-DCUDA_AGENT_HOST_OBJECT=1"})
            options.emplace_back(option);
#if defined(__x86_64__)
    // clang would stop at 256 bits; expf and its like gain half again from the full width.
    options.emplace_back("-mprefer-vector-width=512");
#endif
    if (isChecked(product))
        std::ranges::copy(checkedOptions(), std::back_inserter(options));
    if (isObject(product))
        return options;
    std::ranges::copy(linkerOptions(tool), std::back_inserter(options));
    if (product == Product::checked)
        std::ranges::copy(checkedLinkOptions(), std::back_inserter(options));
    else
        options.emplace_back("-Wl,-z,defs");
    return options;
}

/// What -march=native depends on.
std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    std::string result;
    for (std::string line; std::getline(file, line) && !line.empty();)
        if (line.starts_with("model") || line.starts_with("flags") ||
            line.starts_with("Features") || line.starts_with("CPU "))
            result += line + '\n';
    return result;
}

/// "Debian clang version 19.1.7 (3~deb12u1)" -> "clang 19.1.7".
std::string shortName(const std::string &version, bool clang) {
    const auto line = version.substr(0, version.find('\n'));
    const auto digit = clang && line.find("version ") != line.npos ? line.find("version ") + 8
                                                                   : line.find_last_of(' ') + 1;
    return fmt::format("{} {}", clang ? "clang" : "g++",
                       line.substr(digit, line.find(' ', digit) - digit));
}

bool isSafePath(const std::string &text) {
    const fs::path path(text);
    if (text.empty() || path.is_absolute() || text.starts_with("-") ||
        text.find_first_of("\n\"\\:") != text.npos)
        return false;
    return std::none_of(path.begin(), path.end(),
                        [](const fs::path &part) { return part == ".."; });
}

bool isSafeDefine(const std::string &name, const std::string &value) {
    return isIdentifier(name) && value.find('\n') == value.npos && value.find('\0') == value.npos;
}

std::string cut(std::string text, std::size_t limit) {
    if (text.size() > limit) {
        text.resize(limit);
        text += "\n(cut)\n";
    }
    return text;
}

Rejection rejection(std::vector<Diagnostic> diagnostics, std::string log,
                    const std::string &fallback) {
    Rejection result;
    result.diagnostics = std::move(diagnostics);
    result.log = cut(std::move(log), logLimit);
    result.summary = fallback;
    for (const auto &diagnostic : result.diagnostics) {
        if (diagnostic.severity != "error")
            continue;
        result.summary = diagnostic.message;
        if (diagnostic.line > 0 && diagnostic.column > 0)
            result.summary = fmt::format("{}:{}:{}: {}", diagnostic.file, diagnostic.line,
                                         diagnostic.column, diagnostic.message);
        else if (!diagnostic.file.empty())
            result.summary = fmt::format("{}: {}", diagnostic.file, diagnostic.message);
        break;
    }
    return result;
}

/// The diagnostics as a person reads them, with the lines of the source as it was written.
std::string render(const std::vector<Diagnostic> &diagnostics, const Source &source) {
    std::vector<std::string_view> lines;
    for (std::string_view rest = source.text; !rest.empty();) {
        const auto end = rest.find('\n');
        lines.push_back(rest.substr(0, end));
        rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    }
    std::string text;
    for (const auto &d : diagnostics) {
        if (!d.file.empty())
            text += fmt::format("{}:{}:{}: ", d.file, d.line, d.column);
        text += fmt::format("{}: {}\n", d.severity, d.message);
        if (d.file != source.path || d.line < 1 || static_cast<std::size_t>(d.line) > lines.size())
            continue;
        const auto line = lines[static_cast<std::size_t>(d.line - 1)];
        text += fmt::format("    {}\n", line);
        if (d.column > 0 && static_cast<std::size_t>(d.column) <= line.size() + 1) {
            std::string lead(line.substr(0, static_cast<std::size_t>(d.column - 1)));
            std::ranges::replace_if(
                lead, [](char c) { return c != '\t'; }, ' ');
            text += fmt::format("    {}^\n", lead);
        }
    }
    return text;
}

class HostCompiler : public Compiler {
  public:
    HostCompiler(Tool tool, Product product, fs::path headers, std::string identity)
        : tool_(std::move(tool)), product_(product), headers_(std::move(headers)),
          identity_(std::move(identity)) {}

    std::string description() const override { return tool_.name + " (host)"; }

    Result<Outcome> compile(const Source &source, std::stop_token stop) override {
        if (!isSafePath(source.path))
            return requestError("'{}' cannot be the name of a kernel file", source.path);
        std::size_t bytes = source.text.size();
        for (const auto &[path, text] : source.headers) {
            if (!isSafePath(path) || path == source.path ||
                fs::path(path).lexically_normal() != fs::path(path))
                return requestError("'{}' cannot be the name of a header", path);
            bytes += text.size();
        }
        for (const auto &[name, value] : source.defines)
            if (!isSafeDefine(name, value))
                return requestError("'{}' cannot be defined for the compiler", name);
        if (bytes > sourceLimit)
            return Outcome(rejection(
                {{"error", source.path, 0, 0, "the kernel file is larger than 1 MiB"}}, {}, {}));
        if (stop.stop_requested())
            return stoppedError();
        const std::string hash = hashOf(source);
        if (auto cached = cache_.find(hash))
            return Outcome(std::move(*cached));

        auto files = rewriteFiles(source);
        if (auto *problems = std::get_if<std::vector<Diagnostic>>(&files))
            return Outcome(rejection(*problems, render(*problems, source), "not runnable on cpu"));
        const auto &rewritten = std::get<host::RewrittenFiles>(files);
        auto outcome = build(source, rewritten, hash, stop);
        // A candidate may want of the vector types what only plain structs have.
        if (isChecked(product_) && outcome && std::holds_alternative<Rejection>(*outcome))
            return build(source, rewritten, hash, stop, {"-DCUDA_AGENT_HOST_PLAIN_VECTORS=1"});
        return outcome;
    }

  private:
    std::variant<host::RewrittenFiles, std::vector<Diagnostic>>
    rewriteFiles(const Source &source) const {
        if (isObject(product_))
            return host::rewriteObject(source);
        auto rewritten = host::rewrite(source);
        if (auto *problems = std::get_if<std::vector<Diagnostic>>(&rewritten))
            return std::move(*problems);
        return host::RewrittenFiles{{source.path, std::move(std::get<host::Rewritten>(rewritten))}};
    }

    std::string hashOf(const Source &source) const {
        Json key = {{"identity", identity_},
                    {"headers", isObject(product_) ? Json(source.headers) : Json()},
                    {"path", source.path},
                    {"text", sha256Hex(source.text)},
                    {"entries", source.entries},
                    {"defines", source.defines}};
        return sha256Hex(key.dump(-1, ' ', false, Json::error_handler_t::replace));
    }

    const char *product() const { return isObject(product_) ? "kernel.o" : "kernel.so"; }

    std::vector<std::string> arguments(const Source &source,
                                       const std::vector<std::string> &more) const {
        std::vector<std::string> argv = {tool_.program};
        std::ranges::copy(tool_.options, std::back_inserter(argv));
        std::ranges::copy(more, std::back_inserter(argv));
        // Our own headers come before the candidate's macros, which may have any name.
        argv.insert(argv.end(), {"-isystem", "/headers", "-include", "cuda_agent_host.h"});
        for (const char *header : {"cuda_fp16.h", "cuda_bf16.h"})
            if (source.text.find(header) != std::string::npos ||
                std::ranges::any_of(source.headers, [&](const auto &own) {
                    return own.second.find(header) != std::string::npos;
                }))
                argv.insert(argv.end(), {"-include", header});
        argv.insert(argv.end(), {"-include", "/defines/defines.h"});
        if (isObject(product_))
            argv.insert(argv.end(), {"-iquote", "."});
        argv.push_back(source.path);
        argv.insert(argv.end(), {"-o", std::string("/out/") + product()});
        if (isObject(product_))
            return argv;
        if (tool_.clang)
            argv.emplace_back("-lmvec");
        for (const char *option : {"-lm", "-lgcc", "-lc"})
            argv.emplace_back(option);
        return argv;
    }

    static Result<void> writeFile(const fs::path &file, const std::string &text) {
        std::error_code ignored;
        fs::create_directories(file.parent_path(), ignored);
        if (!(std::ofstream(file, std::ios::binary) << text).flush())
            return machineError("cannot write to {}", file.string());
        return {};
    }

    Result<Outcome> build(const Source &source, const host::RewrittenFiles &rewritten,
                          const std::string &hash, std::stop_token stop,
                          const std::vector<std::string> &more = {}) {
        CUDA_AGENT_ASSIGN(folder, TemporaryFolder::make("compile"));
        const fs::path in = folder.path() / "in";
        const fs::path defines = folder.path() / "defines";
        const fs::path out = folder.path() / "out";
        std::error_code error;
        fs::create_directories(defines, error);
        fs::create_directories(out, error);
        if (isObject(product_)) // those that are not rewritten may be asked for, too
            for (const auto &[path, text] : source.headers)
                CUDA_AGENT_TRY(writeFile(in / path, text));
        for (const auto &[path, file] : rewritten)
            CUDA_AGENT_TRY(writeFile(in / path, file.text));
        std::ofstream macros(defines / "defines.h");
        for (const auto &[name, value] : source.defines)
            macros << "#define " << name << ' ' << value << '\n';
        if (!macros.flush())
            return machineError("cannot write to {}", defines.string());

        auto policy = compilerPolicy();
        policy.mounts = {
            {in, "/candidate"}, {headers_, "/headers"}, {defines, "/defines"}, {out, "/out", true}};
        policy.workingDirectory = "/candidate";
        CUDA_AGENT_ASSIGN(record, sandbox::run(policy, arguments(source, more), {}, stop));
        auto diagnostics = readDiagnostics(record.standardError, rewritten);
        if (!record.clean())
            return reject(source, record, std::move(diagnostics));

        Binary facts;
        facts.seconds = record.wallSeconds;
        for (const auto &kernel : rewritten.at(source.path).kernels)
            facts.entries.push_back({.name = kernel.name});
        std::ranges::copy_if(diagnostics, std::back_inserter(facts.warnings),
                             [](const auto &d) { return d.severity == "warning"; });
        if (fs::symlink_status(out / product(), error).type() != fs::file_type::regular)
            return machineError("the host compiler {} ended without a result", tool_.program);
        CUDA_AGENT_ASSIGN(binary, cache_.store(hash, facts, out / product()));
        cache_.prune();
        return Outcome(std::move(binary));
    }

    Result<Outcome> reject(const Source &source, const sandbox::Record &record,
                           std::vector<Diagnostic> diagnostics) const {
        std::string log = render(diagnostics, source);
        const bool named =
            std::ranges::any_of(diagnostics, [](const auto &d) { return d.severity == "error"; });
        // A compiler that was killed has said what led there only by chance: the limit comes first.
        if (!record.limitsHit.empty()) {
            std::string limits;
            for (const auto &limit : record.limitsHit)
                limits += (limits.empty() ? "" : ", ") + limit;
            diagnostics.insert(
                diagnostics.begin(),
                {"error", source.path, 0, 0,
                 fmt::format("compiling went over its limit ({}): {}", limits, record.summary())});
        } else if (!named) {
            diagnostics.insert(diagnostics.begin(),
                               {"error", source.path, 0, 0,
                                fmt::format("the host compiler failed: {}", record.summary())});
            log += cut(record.standardError, 4096);
        }
        return Outcome(rejection(std::move(diagnostics), std::move(log), record.summary()));
    }

    /// Places of the candidate's file as its author wrote it; others become a place there that a
    /// note names, or none.
    std::vector<Diagnostic> readDiagnostics(const std::string &output,
                                            const host::RewrittenFiles &rewritten) const {
        auto all = parseDiagnostics(output);
        for (auto &diagnostic : all) {
            if (diagnostic.file.starts_with("./"))
                diagnostic.file.erase(0, 2);
            // "kernels/../common.cuh"
            if (!diagnostic.file.empty() && diagnostic.file.front() != '/')
                diagnostic.file = fs::path(diagnostic.file).lexically_normal().generic_string();
            for (const std::string_view word : {"__cah_host_", "__CAH_"})
                for (std::size_t at; (at = diagnostic.message.find(word)) != std::string::npos;)
                    diagnostic.message.erase(at, word.size());
            if (auto file = rewritten.find(diagnostic.file);
                file != rewritten.end() && diagnostic.column > 0)
                diagnostic.column = file->second.sourceColumn(diagnostic.line, diagnostic.column);
        }
        std::vector<Diagnostic> result;
        bool launch = false;
        for (std::size_t i = 0; i < all.size() && result.size() < diagnosticLimit; ++i) {
            auto diagnostic = all[i];
            if (!rewritten.contains(diagnostic.file)) {
                if (diagnostic.severity == "note")
                    continue;
                diagnostic.file.clear();
                diagnostic.line = diagnostic.column = 0;
                for (std::size_t n = i + 1; n < all.size() && all[n].severity == "note"; ++n)
                    if (rewritten.contains(all[n].file)) {
                        diagnostic.file = all[n].file;
                        diagnostic.line = all[n].line;
                        diagnostic.column = all[n].column;
                        break;
                    }
            }
            // Neither does what the rewriter has put around a launch say anything.
            if (diagnostic.message.starts_with("expanded from macro") ||
                (diagnostic.severity == "note" &&
                 diagnostic.message.find("__cah_launcher<") != std::string::npos))
                continue;
            // The compiler driver's last line only repeats that there were errors.
            if (diagnostic.file.empty() && !result.empty() &&
                (diagnostic.message.starts_with("linker command failed") ||
                 diagnostic.message.starts_with("ld returned")))
                continue;
            if (diagnostic.severity == "error")
                launch = isAboutKernel(diagnostic.message, rewritten);
            else if (launch && diagnostic.message.starts_with("candidate function"))
                diagnostic.message = host::withoutFirstArgument(diagnostic.message);
            result.push_back(std::move(diagnostic));
        }
        return result;
    }

    /// Only a launch calls a kernel.
    bool isAboutKernel(const std::string &message, const host::RewrittenFiles &rewritten) const {
        if (!isObject(product_))
            return false;
        for (const auto &[path, file] : rewritten)
            for (const auto &kernel : file.kernels)
                if (message == fmt::format("no matching function for call to '{}'", kernel.name))
                    return true;
        return false;
    }

    Tool tool_;
    Product product_;
    fs::path headers_;
    std::string identity_;
    BinaryCache cache_;
};

Result<std::unique_ptr<Compiler>> makeFor(Product product) {
    auto tool = findTool();
    if (!tool)
        return machineError("no host compiler: install clang-19 (apt install clang-19 lld-19), or "
                            "g++");
    if (isChecked(product) && !tool->clang)
        return machineError("checking kernels on the cpu needs clang: install clang-19 and lld-19");
    const fs::path headers = shareDir() / "host-cuda";
    if (!isThere(headers / "cuda_agent_host.h"))
        return machineError("{} lacks the host CUDA headers; build or install the program again",
                            headers.string());
    CUDA_AGENT_ASSIGN(version, sandbox::run(compilerPolicy(), {tool->program, "--version"}));
    if (!version.clean())
        return machineError("{} does not run: {}", tool->program, version.summary());
    tool->name = shortName(version.standardOutput, tool->clang);
    tool->options = compileOptions(*tool, product);

    std::string identity = version.standardOutput + processor();
    for (const auto &option : tool->options)
        identity += option + '\n';
    std::vector<fs::path> files;
    for (const auto &file : fs::directory_iterator(headers))
        files.push_back(file.path());
    std::ranges::sort(files);
    for (const auto &file : files) {
        CUDA_AGENT_ASSIGN(text, readTextFile(file));
        identity += file.filename().string() + '\n' + text;
    }
    return std::make_unique<HostCompiler>(std::move(*tool), product, fs::canonical(headers),
                                          sha256Hex(identity));
}

} // namespace

Result<std::unique_ptr<Compiler>> makeHostCompiler() {
    return makeFor(Product::library);
}

Result<std::unique_ptr<Compiler>> makeCheckedHostCompiler() {
    return makeFor(Product::checked);
}

Result<std::unique_ptr<Compiler>> makeHostObjectCompiler(bool checked) {
    return makeFor(checked ? Product::checkedObject : Product::object);
}

std::vector<std::string> checkedLinkOptions() {
    std::vector<std::string> options;
    for (const char *name : {"memcpy", "memmove", "memset", "malloc", "free"})
        options.emplace_back(std::string("-Wl,--wrap=") + name);
    return options;
}

Result<fs::path> hostLibrary(bool checked) {
    const fs::path library =
        workerDir() / (checked ? "libcuda-agent-host-checked.so" : "libcuda-agent-host.so");
    if (!isThere(library))
        return machineError("{} is missing; build or install the program again", library.string());
    return library;
}

std::vector<std::string> hostLinkOptions() {
    return {"-lmvec", "-lm"};
}

} // namespace cuda_agent::toolchain
