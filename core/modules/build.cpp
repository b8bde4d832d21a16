// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/modules/build.h"

#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/base/paths.h"
#include "core/base/temporary_folder.h"
#include "core/modules/commands.h"
#include "core/modules/imports.h"
#include "core/modules/precompiled.h"
#include "core/modules/ptxas.h"
#include "core/modules/rules.h"
#include "core/toolchain/binary_cache.h"
#include "core/toolchain/nvrtc_worker/ptx_lines.h"

#include <future>
#include <optional>

namespace cuda_agent::modules {

namespace fs = std::filesystem;
using toolchain::Binary;
using toolchain::Diagnostic;
using toolchain::Rejection;

namespace {

constexpr std::size_t logLimit = 64u << 10;
constexpr std::size_t mostDiagnostics = 50;
constexpr std::size_t ptxLimit = 64u << 20;

void add(std::optional<Rejection> &all, Rejection &&more) {
    if (!all) {
        all = std::move(more);
        return;
    }
    all->diagnostics.insert(all->diagnostics.end(), more.diagnostics.begin(),
                            more.diagnostics.end());
    all->log += more.log;
}

std::string lineOf(const Diagnostic &d) {
    if (d.file.empty())
        return d.message;
    if (d.line < 1)
        return fmt::format("{}: {}", d.file, d.message);
    return d.column < 1 ? fmt::format("{}:{}: {}", d.file, d.line, d.message)
                        : fmt::format("{}:{}:{}: {}", d.file, d.line, d.column, d.message);
}

/// What a compiler said, about the candidate's own files.
std::vector<Diagnostic> diagnosticsOf(const std::string &output) {
    std::vector<Diagnostic> kept;
    for (auto &diagnostic : toolchain::parseDiagnostics(output)) {
        if (diagnostic.file.starts_with("./"))
            diagnostic.file.erase(0, 2);
        const bool foreign = diagnostic.file.starts_with('/');
        if (foreign && diagnostic.severity != "error")
            continue;
        if (foreign) { // a template of PyTorch's, given something wrong
            diagnostic.message += " (in " + diagnostic.file + ")";
            diagnostic.file.clear();
            diagnostic.line = diagnostic.column = 0;
        }
        if (kept.size() < mostDiagnostics)
            kept.push_back(std::move(diagnostic));
    }
    return kept;
}

Rejection rejectionOf(const std::string &file, const sandbox::Record &record) {
    Rejection rejection;
    rejection.log = record.standardError;
    if (rejection.log.size() > logLimit)
        rejection.log = rejection.log.substr(0, logLimit) + "\n(cut)\n";
    rejection.diagnostics = diagnosticsOf(record.standardError);
    const auto error =
        std::find_if(rejection.diagnostics.begin(), rejection.diagnostics.end(),
                     [](const Diagnostic &each) { return each.severity == "error"; });
    if (!record.limitsHit.empty())
        rejection.summary = fmt::format("{}: the compiler was stopped: {}", file, record.summary());
    else if (error != rejection.diagnostics.end())
        rejection.summary = lineOf(*error);
    else
        rejection.summary = fmt::format("{}: the compiler failed: {}", file, record.summary());
    if (error == rejection.diagnostics.end())
        rejection.diagnostics.push_back({"error", file, 0, 0, rejection.summary});
    return rejection;
}

} // namespace

struct Builder::State {
    Tools tools;
    std::unique_ptr<toolchain::Compiler> hostKernels; ///< cpu only
    std::map<std::string, std::string> fixed;         ///< the engine's own files
    toolchain::BinaryCache cache;

    using Object = std::variant<Binary, Rejection>;

    /// One command that has run on the candidate's files, and the folder that was /out.
    struct Ran {
        TemporaryFolder folder;
        fs::path out;
        sandbox::Record record;
    };
    Result<Ran> runCommand(const Candidate &candidate, const Command &command,
                           const std::vector<sandbox::Mount> &more, std::stop_token stop) const;
    /// What nvcc's assembler says about its PTX, said about the source.
    Result<std::string> locate(const Candidate &candidate, const std::string &file,
                               const std::string &output, std::stop_token stop) const;
    /// Runs one command on the candidate's files, and on what `more` shows; `produced` is what it
    /// leaves in /out.
    Result<Object> run(const Candidate &candidate, const std::string &file, const Command &command,
                       const std::string &key, const std::string &produced,
                       const std::vector<sandbox::Mount> &more, std::stop_token stop) const;
    Result<Object> kernel(const Candidate &candidate, const std::string &file,
                          std::stop_token stop) const;
    Result<Object> binding(const Candidate &candidate, const std::string &file,
                           std::stop_token stop) const;
    /// Files that are being compiled, each in a thread; its end stops what still runs.
    struct Running {
        std::stop_source stop;
        std::vector<std::future<Result<Object>>> objects;
        using Compile = Result<Object> (State::*)(const Candidate &, const std::string &,
                                                  std::stop_token) const;
        void start(Compile compile, const State &state, const Candidate &candidate,
                   const std::string &file) {
            objects.push_back(std::async(std::launch::async, compile, &state, std::cref(candidate),
                                         file, stop.get_token()));
        }
        Running() = default;
        Running(const Running &) = delete;
        Running &operator=(const Running &) = delete;
        ~Running() { stop.request_stop(); }
    };
    Result<std::optional<Rejection>> checkSource(const Candidate &candidate,
                                                 std::vector<Compiled::Suspicion> &found,
                                                 std::stop_token stop) const;

    std::string keyOf(std::string_view kind, const std::string &file, const std::string &text,
                      const std::map<std::string, std::string> &headers) const {
        Json key{{"kind", kind},
                 {"identity", sha256Hex(tools.identity)},
                 {"file", file},
                 {"text", sha256Hex(text)}};
        for (const auto &[path, header] : headers)
            key["headers"][path] = sha256Hex(header);
        return sha256Hex(key.dump());
    }
};

Result<std::map<std::string, std::string>> fixedFiles() {
    std::map<std::string, std::string> files;
    for (const char *name : {"binding.cpp", "binding_registry.h"}) {
        CUDA_AGENT_ASSIGN(text, readTextFile(shareDir() / "extension" / name));
        files[name] = std::move(text);
    }
    return files;
}

Builder::Builder(std::unique_ptr<State> state) : state_(std::move(state)) {}
Builder::~Builder() = default;

Result<std::unique_ptr<Builder>> Builder::make(const device::Info &device, std::stop_token stop,
                                               bool checked) {
    auto state = std::make_unique<State>();
    CUDA_AGENT_ASSIGN(tools, Tools::find(device, stop));
    state->tools = std::move(tools);
    state->tools.checked = checked;
    if (device.kind == device::Kind::cpu) {
        CUDA_AGENT_ASSIGN(kernels, toolchain::makeHostObjectCompiler(checked));
        state->hostKernels = std::move(kernels);
    }
    CUDA_AGENT_ASSIGN(fixed, fixedFiles());
    state->fixed = std::move(fixed);
    return std::unique_ptr<Builder>(new Builder(std::move(state)));
}

const std::string &Builder::description() const {
    return state_->tools.description;
}

Result<Builder::State::Ran> Builder::State::runCommand(const Candidate &candidate,
                                                       const Command &command,
                                                       const std::vector<sandbox::Mount> &more,
                                                       std::stop_token stop) const {
    CUDA_AGENT_ASSIGN(folder, TemporaryFolder::make("module"));
    const auto in = folder.path() / "in";
    const auto out = folder.path() / "out";
    std::error_code error;
    fs::create_directories(out, error);
    fs::create_directories(in / "kernels", error);
    for (const auto *files : {&candidate.files, &std::as_const(fixed)})
        for (const auto &[path, text] : *files)
            CUDA_AGENT_TRY(writeFileAtomically(in / path, text));
    CUDA_AGENT_ASSIGN(policy, tools.policy());
    policy.mounts.push_back({in, "/candidate"});
    policy.mounts.push_back({out, "/out", true});
    policy.mounts.insert(policy.mounts.end(), more.begin(), more.end());
    CUDA_AGENT_ASSIGN(record, sandbox::run(policy, command, {}, std::move(stop)));
    return Ran{std::move(folder), out, std::move(record)};
}

Result<std::string> Builder::State::locate(const Candidate &candidate, const std::string &file,
                                           const std::string &output, std::stop_token stop) const {
    CUDA_AGENT_ASSIGN(ran, runCommand(candidate, tools.kernel(file, true), {}, std::move(stop)));
    const auto ptx = ran.out / "object.ptx";
    // For some architectures nvcc has the assembler look at what it writes, and fails once more.
    std::error_code error;
    if (fs::symlink_status(ptx, error).type() != fs::file_type::regular)
        return output;
    const auto text = readTextFile(ptx, ptxLimit);
    return text ? toolchain::withSourceLines(output, *text, file) : output;
}

Result<Builder::State::Object>
Builder::State::run(const Candidate &candidate, const std::string &file, const Command &command,
                    const std::string &key, const std::string &produced,
                    const std::vector<sandbox::Mount> &more, std::stop_token stop) const {
    CUDA_AGENT_ASSIGN(ran, runCommand(candidate, command, more, stop));
    auto &[folder, out, record] = ran;
    std::error_code error;
    if (!record.clean()) {
        if (file.ends_with(".cu") && record.limitsHit.empty() &&
            record.standardError.find("ptxas ") != std::string::npos) {
            CUDA_AGENT_ASSIGN(located, locate(candidate, file, record.standardError, stop));
            record.standardError = std::move(located);
        }
        return Object(rejectionOf(file, record));
    }
    if (fs::symlink_status(out / produced, error).type() != fs::file_type::regular)
        return machineError("{} ended without a result", command.front());
    Binary facts;
    facts.seconds = record.wallSeconds;
    facts.entries = entriesFromPtxas(record.standardError);
    for (auto &diagnostic : diagnosticsOf(record.standardError))
        if (diagnostic.severity == "warning")
            facts.warnings.push_back(std::move(diagnostic));
    CUDA_AGENT_ASSIGN(binary, cache.store(key, facts, out / produced));
    cache.prune();
    return Object(std::move(binary));
}

Result<Builder::State::Object> Builder::State::kernel(const Candidate &candidate,
                                                      const std::string &file,
                                                      std::stop_token stop) const {
    const auto &text = candidate.files.at(file);
    if (hostKernels) {
        toolchain::Source source;
        source.path = file;
        source.text = text;
        source.headers = candidate.headers();
        CUDA_AGENT_ASSIGN(outcome, hostKernels->compile(source, std::move(stop)));
        if (auto *rejection = std::get_if<Rejection>(&outcome))
            return Object(std::move(*rejection));
        return Object(std::move(std::get<Binary>(outcome)));
    }
    const auto key = keyOf("kernel", file, text, candidate.headers());
    if (auto known = cache.find(key))
        return Object(std::move(*known));
    return run(candidate, file, tools.kernel(file), key, "object.o", {}, std::move(stop));
}

Result<Builder::State::Object> Builder::State::binding(const Candidate &candidate,
                                                       const std::string &file,
                                                       std::stop_token stop) const {
    const bool own = file == "binding.cpp";
    const auto &text = (own ? fixed : candidate.files).at(file);
    auto headers = own ? std::map<std::string, std::string>() : candidate.headers();
    headers["binding_registry.h"] = fixed.at("binding_registry.h");
    const auto key = keyOf("binding", file, text, headers);
    if (auto known = cache.find(key))
        return Object(std::move(*known));
    std::optional<fs::path> precompiled;
    if (const auto includes = own ? "" : precompilable(text, tools.device.kind);
        !includes.empty()) {
        CUDA_AGENT_ASSIGN(found, precompiledHeaders(tools, includes, stop));
        precompiled = std::move(found);
    }
    if (precompiled) {
        CUDA_AGENT_ASSIGN(object, run(candidate, file, tools.binding(file, true), key, "object.o",
                                      {{*precompiled, precompiledFolder}}, stop));
        // g++ itself can fail on them, where it finds no room at the addresses they were made for.
        const auto *refused = std::get_if<Rejection>(&object);
        if (!refused || refused->log.find("PCH") == std::string::npos)
            return object;
    }
    return run(candidate, file, tools.binding(file), key, "object.o", {}, std::move(stop));
}

Result<std::optional<Rejection>>
Builder::State::checkSource(const Candidate &candidate, std::vector<Compiled::Suspicion> &found,
                            std::stop_token stop) const {
    CUDA_AGENT_ASSIGN(policy, tools.policy());
    policy.workingDirectory = "/tmp";
    policy.mounts.push_back({shareDir() / "module-worker", "/module-worker"});
    CUDA_AGENT_ASSIGN(record, sandbox::run(policy, tools.syntax(), candidate.files.at(modelFile),
                                           std::move(stop)));
    if (!record.clean())
        return std::optional<Rejection>(rejectionOf(modelFile, record));
    CUDA_AGENT_ASSIGN(findings, parseJson(record.standardOutput, "what a source reaches for"));
    for (const auto &each : findings)
        found.push_back({fmt::format("{}:{}: {}", modelFile, each.value("line", 0),
                                     each.value("what", std::string())),
                         each.value("when", std::string()) == "published"});
    return std::optional<Rejection>();
}

Result<std::map<std::string, toolchain::Outcome>>
Builder::compileKernels(const Candidate &candidate, std::stop_token stop) {
    std::map<std::string, toolchain::Outcome> outcomes;
    for (const auto &file : candidate.kernels()) {
        CUDA_AGENT_ASSIGN(object, state_->kernel(candidate, file, stop));
        outcomes.emplace(file, std::move(object));
    }
    return outcomes;
}

Result<CompileOutcome> Builder::compile(const Candidate &candidate, std::stop_token stop) {
    auto &state = *state_;
    std::optional<Rejection> rejection;
    Compiled compiled;
    CUDA_AGENT_ASSIGN(syntax, state.checkSource(candidate, compiled.suspicions, stop));
    if (syntax)
        add(rejection, std::move(*syntax));
    compiled.candidate = &candidate;
    std::vector<fs::path> objects;
    std::string hashes;
    const auto take = [&](State::Object &&outcome) {
        if (auto *refused = std::get_if<Rejection>(&outcome)) {
            add(rejection, std::move(*refused));
            return;
        }
        auto &binary = std::get<Binary>(outcome);
        objects.push_back(binary.file);
        hashes += binary.hash;
        compiled.seconds += binary.cached ? 0 : binary.seconds;
        compiled.kernels.insert(compiled.kernels.end(), binary.entries.begin(),
                                binary.entries.end());
        compiled.warnings.insert(compiled.warnings.end(), binary.warnings.begin(),
                                 binary.warnings.end());
    };
    // All files at once. A binding takes long: what is wrong with the kernels is told before it
    // ends.
    State::Running kernels, bindings;
    const std::stop_callback stopped(stop, [&] {
        kernels.stop.request_stop();
        bindings.stop.request_stop();
    });
    for (const auto &file : candidate.kernels())
        kernels.start(&State::kernel, state, candidate, file);
    if (candidate.form == Form::workspace) {
        for (const auto &file : candidate.bindings())
            bindings.start(&State::binding, state, candidate, file);
        bindings.start(&State::binding, state, candidate, "binding.cpp");
    }
    for (auto *running : {&kernels, &bindings}) {
        for (auto &each : running->objects) {
            CUDA_AGENT_ASSIGN(object, each.get());
            take(std::move(object));
        }
        if (rejection)
            return CompileOutcome(std::move(*rejection));
    }
    if (candidate.form == Form::singleFile)
        return CompileOutcome(std::move(compiled));

    const auto key = state.keyOf(state.tools.checked ? "checked extension" : "extension",
                                 "cuda_extension", hashes, {});
    auto linked = state.cache.find(key);
    if (!linked) {
        std::vector<std::string> inside;
        std::vector<sandbox::Mount> mounts;
        for (const auto &object : objects) {
            inside.push_back(fmt::format("/objects/{}.o", inside.size()));
            mounts.push_back({object, inside.back()});
        }
        CUDA_AGENT_ASSIGN(outcome, state.run(candidate, "cuda_extension", state.tools.link(inside),
                                             key, "cuda_extension.so", mounts, stop));
        if (auto *refused = std::get_if<Rejection>(&outcome))
            return CompileOutcome(std::move(*refused));
        linked = std::move(std::get<Binary>(outcome));
    }
    compiled.extension = linked->file;
    CUDA_AGENT_ASSIGN(names, importedNames(linked->file));
    for (const auto &what : suspiciousImports(names))
        compiled.suspicions.push_back({"kernels/: " + what, true});
    return CompileOutcome(std::move(compiled));
}

} // namespace cuda_agent::modules
