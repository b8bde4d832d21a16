// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/modules/commands.h"

#include "core/base/json.h"
#include "core/base/paths.h"
#include "core/reference/launch.h"
#include "core/toolchain/compiler.h"

#include <cstdlib>
#include <sstream>

namespace cuda_agent::modules {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr const char *hostCompiler = "/usr/bin/g++";

/// Finds PyTorch without importing it, which takes seconds.
constexpr const char *layoutProgram = R"(
import importlib.util, json, os, sysconfig
torch = importlib.util.find_spec("torch")
folder = os.path.dirname(torch.origin) if torch else ""
vendor = os.path.join(os.path.dirname(folder), "nvidia") if folder else ""
parts = sorted(os.listdir(vendor)) if os.path.isdir(vendor) else []
headers = [os.path.join(vendor, part, "include") for part in parts]
version = ""
if folder:
    for line in open(os.path.join(folder, "version.py")):
        if line.startswith("__version__"):
            version = line.split("'")[1]
print(json.dumps({"torch": folder, "version": version,
                  "python": sysconfig.get_paths()["include"],
                  "headers": [path for path in headers if os.path.isdir(path)]}))
)";

bool isThere(const fs::path &path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

/// "sm_90" -> "90a": Hopper and later have instructions of their own.
std::string codeOf(const std::string &architecture) {
    const std::string number = architecture.substr(std::min<std::size_t>(3, architecture.size()));
    return std::atoi(number.c_str()) >= 90 ? number + "a" : number;
}

void addHeaders(Command &command, const fs::path &folder) {
    command.insert(command.end(), {"-isystem", folder.string()});
}

} // namespace

Result<sandbox::Policy> Tools::policy() const {
    sandbox::Policy policy;
    policy.name = "compiler";
    CUDA_AGENT_ASSIGN(mounts, reference::pythonMounts(python));
    policy.mounts = std::move(mounts);
    if (!toolkit.empty())
        reference::showFolder(policy.mounts, toolkit);
    if (device.kind == device::Kind::cpu)
        policy.mounts.push_back({shareDir() / "host-cuda-torch", "/host-cuda-torch"});
    policy.workingDirectory = "/candidate";
    policy.environment = {{"TMPDIR", "/tmp"}};
    policy.limits.wall = 180s;
    policy.limits.memoryBytes = 6ull << 30;
    policy.limits.processes = 256;
    policy.limits.fileBytes = 512ull << 20;
    policy.limits.scratchBytes = 2ull << 30;
    policy.limits.outputBytes = 1ull << 20;
    return policy;
}

Result<Tools> Tools::find(const device::Info &device, std::stop_token stop) {
    Tools tools;
    tools.device = device;
    tools.python = pythonProgram();
    if (!isThere(hostCompiler))
        return machineError("module candidates need a C++ compiler: install g++ (apt install g++)");
    CUDA_AGENT_ASSIGN(policy, tools.policy());
    policy.workingDirectory = "/tmp";
    CUDA_AGENT_ASSIGN(
        record, sandbox::run(policy, {tools.python.string(), "-I", "-c", layoutProgram}, {}, stop));
    const auto layout = parseJson(record.standardOutput, "the layout of Python");
    if (!record.clean() || !layout)
        return machineError("{} does not say where PyTorch is: {}", tools.python.string(),
                            record.summary());
    tools.torch = layout->value("torch", "");
    tools.pythonHeaders = layout->value("python", "");
    for (const auto &folder : layout->value("headers", Json::array()))
        tools.libraryHeaders.emplace_back(folder.get<std::string>());
    if (tools.torch.empty())
        return machineError("{} has no PyTorch; run {}", tools.python.string(), setupCommand());
    if (!isThere(tools.pythonHeaders / "Python.h"))
        return machineError("Python's headers are missing at {}: install them (apt install "
                            "python3-dev)",
                            tools.pythonHeaders.string());
    if (device.kind == device::Kind::cuda) {
        tools.toolkit = cudaToolkitDir();
        if (tools.toolkit.empty() || !isThere(tools.toolkit / "bin" / "nvcc"))
            return machineError("module candidates need nvcc, which is not there{}; run {} or "
                                "install the CUDA toolkit",
                                tools.toolkit.empty() ? "" : " in " + tools.toolkit.string(),
                                setupCommand());
    } else if (!isThere(shareDir() / "host-cuda-torch")) {
        return machineError("{} lacks the headers for bindings on the cpu device; build or install "
                            "the program again",
                            shareDir().string());
    }

    CUDA_AGENT_ASSIGN(version, sandbox::run(policy, {hostCompiler, "--version"}, {}, stop));
    tools.identity =
        fmt::format("{}\n{}\n{}\n{}\n{}", version.standardOutput, layout->value("version", ""),
                    tools.torch.string(), tools.toolkit.string(), device.architecture);
    const auto line = version.standardOutput.substr(0, version.standardOutput.find('\n'));
    tools.description = fmt::format("g++ {}, torch {}", line.substr(line.find_last_of(' ') + 1),
                                    layout->value("version", "?"));
    if (!tools.toolkit.empty())
        tools.description += ", nvcc of " + tools.toolkit.string();
    for (const auto &command : {tools.kernel("x"), tools.binding("x")})
        for (const auto &word : command)
            tools.identity += word + '\n';
    return tools;
}

Command Tools::kernel(const std::string &file, bool ptx) const {
    if (toolkit.empty())
        return {};
    const auto code = codeOf(device.architecture);
    Command command = {(toolkit / "bin" / "nvcc").string(),
                       ptx ? "-ptx" : "-c",
                       "-O3",
                       "-std=c++17",
                       "-lineinfo",
                       "-gencode",
                       fmt::format("arch=compute_{0},code=sm_{0}", code),
                       "-Xcompiler",
                       "-fPIC,-fvisibility=hidden",
                       "-Xptxas",
                       "-v"};
    for (const auto &folder : libraryHeaders)
        addHeaders(command, folder);
    command.insert(command.end(), {"-o", ptx ? "/out/object.ptx" : "/out/object.o", file});
    return command;
}

Command Tools::binding(const std::string &file, bool precompiled) const {
    auto command = bindingCompiler();
    if (precompiled) // before all else, or g++ leaves it alone
        command.insert(command.end(), {"-include", std::string(precompiledFolder) + "/headers.h"});
    if (device.kind == device::Kind::cpu && file != "binding.cpp")
        command.insert(command.end(), {"-include", "cuda_agent_binding.h"});
    command.insert(command.end(), {"-c", "-o", "/out/object.o", file});
    return command;
}

Command Tools::precompile() const {
    auto command = bindingCompiler();
    command.insert(command.end(), {"-x", "c++-header", "-o", "/out/headers.h.gch", "headers.h"});
    return command;
}

Command Tools::bindingCompiler() const {
    Command command = {hostCompiler,
                       "-O1",
                       "-std=c++17",
                       "-fPIC",
                       "-fvisibility=hidden",
                       "-fdiagnostics-color=never",
                       "-fno-diagnostics-show-caret",
                       "-DTORCH_EXTENSION_NAME=cuda_extension"};
    if (device.kind == device::Kind::cpu)
        addHeaders(command, "/host-cuda-torch");
    addHeaders(command, torch / "include");
    addHeaders(command, torch / "include/torch/csrc/api/include");
    addHeaders(command, pythonHeaders);
    if (!toolkit.empty()) {
        addHeaders(command, toolkit / "include");
        for (const auto &folder : libraryHeaders)
            addHeaders(command, folder);
    }
    return command;
}

Command Tools::link(const std::vector<std::string> &objects) const {
    // A C++ library that the compiler puts inside must not mix with the one that PyTorch uses.
    Command command = {hostCompiler, "-shared", "-Wl,--exclude-libs,ALL", "-o",
                       "/out/cuda_extension.so"};
    command.insert(command.end(), objects.begin(), objects.end());
    command.push_back("-L" + (torch / "lib").string());
    for (const char *library : {"-ltorch", "-ltorch_cpu", "-lc10", "-ltorch_python"})
        command.emplace_back(library);
    if (device.kind == device::Kind::cuda) {
        // The run time that PyTorch has loaded; cuBLAS and cuDNN come with it.
        command.emplace_back("-lc10_cuda");
        command.emplace_back("-ltorch_cuda");
        command.push_back("-L" + (toolkit / "lib64").string());
        for (const auto &folder : libraryHeaders)
            command.push_back("-L" + (folder.parent_path() / "lib").string());
        command.emplace_back("-l:libcudart.so");
    } else {
        command.emplace_back("-lmvec");
        command.emplace_back("-lm");
        if (checked)
            for (const auto &option : toolchain::checkedLinkOptions())
                command.push_back(option);
    }
    return command;
}

Command Tools::syntax() const {
    return {python.string(), "-I", "/module-worker/source_rules.py"};
}

} // namespace cuda_agent::modules
