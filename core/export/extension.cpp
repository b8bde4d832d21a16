// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/extension.h"

#include "core/base/json.h"
#include "core/base/paths.h"
#include "core/export/task_text.h"
#include "core/export/template.h"
#include "core/export/writers.h"

#include <algorithm>
#include <sstream>

namespace cuda_agent::exporter {

namespace fs = std::filesystem;

namespace {

constexpr const char *listName = ".exported";

/// Shapes, buffers and launches must be what the engine takes, before they are written as code.
Result<void> checkFits(const Source &source) {
    plan::Signature signature;
    for (const auto &port : source.description.inputs)
        signature.inputs.push_back(port.type);
    for (const auto &port : source.description.parameters)
        signature.parameters[port.name] = port.type;
    for (const auto &port : source.description.outputs)
        signature.outputs.push_back(port.type);
    for (std::size_t i = 0; i < source.description.scalars.size(); ++i) {
        const Json &value = source.description.scalars[i];
        if (value.is_number() || value.is_boolean())
            signature.scalars[static_cast<int>(i)] =
                value.is_boolean() ? (value.get<bool>() ? 1.0 : 0.0) : value.get<double>();
    }
    if (signature.inputs.empty())
        return requestError("the task has no tensor among its inputs");
    CUDA_AGENT_TRY(plan::resolve(source.plan, signature));
    return {};
}

/// The headers and sources that run the translated kernels, with includes among themselves.
Result<void> addHostRuntime(Extension &extension) {
    for (const auto &[folder, into] : {std::pair{"host-cuda", "csrc/cpu/include/"},
                                       std::pair{"host-runtime", "csrc/cpu/runtime/"}}) {
        std::error_code problem;
        fs::directory_iterator entries(shareDir() / folder, problem);
        if (problem)
            return machineError("'{}' is missing; build or install the program again",
                                (shareDir() / folder).string());
        for (const auto &entry : entries) {
            CUDA_AGENT_ASSIGN(text, sharedFile(entry.path()));
            const std::string own = "#include \"core/toolchain/host/";
            for (std::size_t at = 0; (at = text.find(own, at)) != std::string::npos;) {
                const bool abi = text.compare(at + own.size(), 6, "abi.h\"") == 0;
                text.replace(at, own.size(), abi ? "#include \"../include/" : "#include \"");
            }
            extension.files[into + entry.path().filename().string()] = std::move(text);
        }
    }
    return {};
}

Result<void> addHost(const Source &source, const std::vector<Start> &starts, Extension &extension) {
    std::map<std::string, std::string> translated;
    for (const auto &kernel : source.plan.sources()) {
        auto text = hostFile(source, kernel);
        if (!text) {
            if (text.error().kind != ErrorKind::failed)
                return tl::unexpected(text.error());
            if (source.device == device::Kind::cpu)
                return failedError("the host cannot run the candidate: {}", text.error().message);
            extension.hostProblem = text.error().message;
            return {};
        }
        translated[fmt::format("csrc/cpu/{}.cpp", stemOf(kernel))] = std::move(*text);
    }
    if (translated.empty())
        return {}; // library steps only
    extension.files.merge(translated);
    extension.files["csrc/cpu/start.cpp"] = hostStarts(starts);
    CUDA_AGENT_ASSIGN(launch, filledTemplate("host_launch.h.in", {}));
    extension.files["csrc/cpu/host_launch.h"] = std::move(launch);
    return addHostRuntime(extension);
}

Result<void> addKernels(const Source &source, const std::vector<Start> &starts,
                        Extension &extension) {
    std::set<std::string> stems;
    for (const auto &kernel : source.plan.sources()) {
        const auto text = source.kernels.find(kernel);
        if (text == source.kernels.end())
            return requestError("the candidate has no file '{}'", kernel);
        const std::string path =
            "csrc/kernels/" + (kernel.starts_with("kernels/") ? kernel.substr(8) : kernel);
        if (extension.files.contains(path) || !stems.insert(stemOf(kernel)).second ||
            stemOf(kernel) == "start")
            return requestError("'{}' and another kernel file would have the same name in the "
                                "extension; rename one",
                                kernel);
        extension.files[path] = text->second;
        if (source.device == device::Kind::cuda)
            extension.files[fmt::format("csrc/cuda/{}.cu", stemOf(kernel))] =
                cudaFile(source, kernel, starts);
    }
    if (source.device == device::Kind::cuda) {
        CUDA_AGENT_ASSIGN(launch, filledTemplate("cuda_launch.h.in", {}));
        extension.files["csrc/cuda_launch.h"] = std::move(launch);
    }
    return {};
}

/// Files whose text depends on a few words only.
Result<void> addPlainFiles(const Source &source, const Interface &interface, Extension &extension) {
    const std::map<std::string, std::string> values{
        {"PACKAGE", interface.package},
        {"DEVICE", std::string(device::nameOf(source.device))},
        {"CPU_PROBLEM", literalOf(extension.hostProblem)},
        {"DESCRIPTION", fmt::format("The task {} as a PyTorch operator with its own kernels",
                                    stemOf(source.task + ".cu"))},
        {"DIFFERENTIABLE", extension.differentiable ? "True" : "False"},
        {"TF32", source.numerics == task::Numerics::standard ? "False" : "True"}};
    for (const auto &[name, path] :
         std::map<std::string, std::string>{{"LICENSE.in", "LICENSE"},
                                            {"pyproject.toml.in", "pyproject.toml"},
                                            {"setup.py.in", "setup.py"},
                                            {"benchmark.py.in", "benchmark.py"},
                                            {"test_operator.py.in", "tests/test_operator.py"},
                                            {"plan_support.h.in", "csrc/plan_support.h"}}) {
        CUDA_AGENT_ASSIGN(text, filledTemplate(name, values));
        extension.files[path] = std::move(text);
    }
    extension.files["MANIFEST.in"] = "recursive-include csrc *\ninclude LICENSE\n";
    return {};
}

std::vector<std::string> linesOf(const std::string &text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

/// Makes room: what an earlier export wrote goes, all else stays.
void removeEarlier(const fs::path &folder) {
    const auto list = readTextFile(folder / listName);
    if (!list)
        return;
    for (const auto &line : linesOf(*list)) {
        const fs::path path(line);
        if (path.is_absolute() || line.find("..") != std::string::npos)
            continue; // not of our making
        std::error_code ignored;
        fs::remove(folder / path, ignored);
    }
}

} // namespace

Result<Extension> makeExtension(const Source &source) {
    CUDA_AGENT_TRY(checkFits(source));
    CUDA_AGENT_ASSIGN(interface, interfaceOf(source));
    CUDA_AGENT_ASSIGN(starts, startsOf(source.plan));
    CUDA_AGENT_ASSIGN(reference, withOverrides(source.text, source.overrides));
    Extension extension;
    extension.package = interface.package;
    extension.differentiable = interface.differentiable;
    CUDA_AGENT_TRY(addKernels(source, starts, extension));
    CUDA_AGENT_TRY(addHost(source, starts, extension));
    extension.files["csrc/kernels.h"] = kernelsHeader(starts);
    CUDA_AGENT_ASSIGN(host, operatorFile(source, interface));
    extension.files["csrc/operator.cpp"] = std::move(host);
    CUDA_AGENT_TRY(addPlainFiles(source, interface, extension));
    CUDA_AGENT_ASSIGN(package, packageFile(source, interface));
    extension.files["src/" + interface.package + "/__init__.py"] = std::move(package);
    extension.files["src/" + interface.package + "/reference.py"] = std::move(reference);
    CUDA_AGENT_ASSIGN(readme, readmeFile(source, interface, extension.hostProblem));
    extension.files["README.md"] = std::move(readme);
    return extension;
}

Result<void> writeExtension(const Extension &extension, const fs::path &folder, bool force) {
    std::error_code problem;
    if (fs::exists(folder, problem) && !fs::is_directory(folder, problem))
        return requestError("'{}' is a file; give a folder", folder.string());
    if (fs::is_directory(folder, problem) && !fs::is_empty(folder, problem)) {
        if (!force)
            return requestError("'{}' is not empty; give another folder, or --force to write over "
                                "an earlier export",
                                folder.string());
        removeEarlier(folder);
    }
    std::string list;
    for (const auto &[path, text] : extension.files) {
        const fs::path file = folder / path;
        fs::create_directories(file.parent_path(), problem);
        if (problem)
            return machineError("cannot make the folder '{}': {}", file.parent_path().string(),
                                problem.message());
        CUDA_AGENT_TRY(writeFileAtomically(file, text));
        list += path + "\n";
    }
    return writeFileAtomically(folder / listName, list);
}

} // namespace cuda_agent::exporter
