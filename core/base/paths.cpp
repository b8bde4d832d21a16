// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/paths.h"

#include "core/base/json.h"

#include <cstdlib>

namespace cuda_agent {

namespace fs = std::filesystem;

namespace {

fs::path fromEnvironment(const char *name) {
    const char *value = std::getenv(name);
    return value && *value ? fs::path(value) : fs::path();
}

/// First line of a small text file in the share folder, or empty.
fs::path recordedPath(const char *file) {
    auto text = readTextFile(shareDir() / file, 4096);
    if (!text)
        return {};
    return fs::path(text->substr(0, text->find('\n')));
}

fs::path userData() {
    auto data = fromEnvironment("XDG_DATA_HOME");
    if (data.empty())
        data = fromEnvironment("HOME") / ".local" / "share";
    return data / "cuda-agent";
}

/// An installed program's: the one that `setupCommand` makes.
fs::path ownEnvironment() {
    return userData() / "venv";
}

} // namespace

fs::path programDir() {
    std::error_code error;
    return fs::read_symlink("/proc/self/exe", error).parent_path();
}

fs::path workerDir() {
    if (auto path = fromEnvironment("CUDA_AGENT_BIN"); !path.empty())
        return path;
    // Installed: <prefix>/libexec/cuda-agent; in a build tree: beside the programs.
    std::error_code error;
    const fs::path installed = (programDir() / ".." / "libexec" / "cuda-agent").lexically_normal();
    if (fs::exists(installed / "cuda-agent-runner", error))
        return installed;
    return (programDir() / ".." / "bin").lexically_normal();
}

fs::path shareDir() {
    if (auto path = fromEnvironment("CUDA_AGENT_SHARE"); !path.empty())
        return path;
    return (programDir() / ".." / "share" / "cuda-agent").lexically_normal();
}

fs::path cacheDir() {
    if (auto path = fromEnvironment("CUDA_AGENT_CACHE"); !path.empty())
        return path;
    if (auto path = fromEnvironment("XDG_CACHE_HOME"); !path.empty())
        return path / "cuda-agent";
    auto home = fromEnvironment("HOME");
    return (home.empty() ? fs::temp_directory_path() : home) / ".cache" / "cuda-agent";
}

fs::path dataDir() {
    auto path = fromEnvironment("CUDA_AGENT_DATA");
    return path.empty() ? userData() : path;
}

fs::path pythonProgram() {
    if (auto path = fromEnvironment("CUDA_AGENT_PYTHON"); !path.empty())
        return path;
    if (auto path = recordedPath("python.path"); !path.empty())
        return path;
    std::error_code error;
    const fs::path own = ownEnvironment() / "bin" / "python";
    return fs::exists(own, error) ? own : fs::path();
}

fs::path cudaToolkitDir() {
    if (auto path = fromEnvironment("CUDA_HOME"); !path.empty())
        return path;
    std::error_code error;
    if (fs::exists("/usr/local/cuda/include/cuda.h", error))
        return "/usr/local/cuda";
    return recordedPath("cuda.path");
}

std::string setupCommand() {
    std::error_code error;
    const fs::path pins = shareDir() / "requirements.txt"; // only an installed program has them
    if (!fs::exists(pins, error))
        return "packaging/setup";
    const std::string folder = ownEnvironment().string();
    return fmt::format("'python3 -m venv {0} && {0}/bin/pip install -r {1}' (needs python3-venv)",
                       folder, pins.string());
}

} // namespace cuda_agent
