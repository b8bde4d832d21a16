// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/nvrtc_library.h"

#include "core/base/paths.h"

#include <dlfcn.h>

namespace cuda_agent::device::cuda {

namespace fs = std::filesystem;

namespace {

constexpr const char *libraryName = "libnvrtc.so.13";

template <typename Function>
bool find(void *library, const char *name, Function &function) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    return function != nullptr;
}

/// The library opens its built-in declarations by file name alone; one that is already loaded is
/// found wherever it lies.
void loadBuiltins(const fs::path &folder) {
    std::error_code error;
    for (const auto &entry : fs::directory_iterator(folder, error)) {
        const auto name = entry.path().filename().string();
        if (name.starts_with("libnvrtc-builtins.so.13"))
            dlopen(entry.path().c_str(), RTLD_NOW | RTLD_LOCAL);
    }
}

} // namespace

std::vector<fs::path> Nvrtc::folders() {
    std::vector<fs::path> result;
    if (const auto toolkit = cudaToolkitDir(); !toolkit.empty())
        for (const char *part : {"lib64", "targets/x86_64-linux/lib", "lib"})
            result.push_back(toolkit / part);
    result.push_back("/usr/local/cuda/targets/x86_64-linux/lib");
    const auto python = pythonProgram();
    if (python.empty())
        return result;
    std::error_code error;
    for (const auto &entry :
         fs::directory_iterator(python.parent_path().parent_path() / "lib", error))
        if (entry.path().filename().string().starts_with("python3"))
            result.push_back(entry.path() / "site-packages/nvidia/cu13/lib");
    return result;
}

Result<fs::path> Nvrtc::findFolder(const std::vector<fs::path> &folders) {
    std::string places;
    std::error_code error;
    for (const auto &folder : folders) {
        if (fs::exists(folder / libraryName, error))
            return folder;
        places += (places.empty() ? "" : ", ") + folder.string();
    }
    return machineError(
        "{} not found (looked in {}); run {}, or set CUDA_HOME to a CUDA 13 toolkit", libraryName,
        places, setupCommand());
}

Result<Nvrtc> Nvrtc::load(const fs::path &folder) {
    loadBuiltins(folder);
    const auto file = folder / libraryName;
    void *library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *why = dlerror();
        return machineError("cannot load {}: {}", file.string(), why ? why : "no reason given");
    }
    Nvrtc nvrtc;
    const bool complete = find(library, "nvrtcVersion", nvrtc.nvrtcVersion_) &&
                          find(library, "nvrtcGetErrorString", nvrtc.getErrorString_) &&
                          find(library, "nvrtcCreateProgram", nvrtc.createProgram_) &&
                          find(library, "nvrtcDestroyProgram", nvrtc.destroyProgram_) &&
                          find(library, "nvrtcCompileProgram", nvrtc.compileProgram_) &&
                          find(library, "nvrtcGetProgramLogSize", nvrtc.getProgramLogSize_) &&
                          find(library, "nvrtcGetProgramLog", nvrtc.getProgramLog_) &&
                          find(library, "nvrtcGetPTXSize", nvrtc.getPtxSize_) &&
                          find(library, "nvrtcGetPTX", nvrtc.getPtx_) &&
                          find(library, "nvrtcGetCUBINSize", nvrtc.getCubinSize_) &&
                          find(library, "nvrtcGetCUBIN", nvrtc.getCubin_);
    int major = 0;
    int minor = 0;
    if (!complete || nvrtc.nvrtcVersion_(&major, &minor) != NVRTC_SUCCESS)
        return machineError("{} is not a usable NVRTC library", file.string());
    nvrtc.version_ = 1000 * major + 10 * minor;
    return nvrtc;
}

std::string Nvrtc::describe(nvrtcResult code) const {
    const char *text = getErrorString_(code);
    return text ? text : fmt::format("NVRTC error {}", static_cast<int>(code));
}

NvrtcResult Nvrtc::compile(const std::string &text, const std::string &name,
                           const std::vector<std::string> &options) const {
    NvrtcResult result;
    nvrtcProgram program = nullptr;
    result.code = createProgram_(&program, text.c_str(), name.c_str(), 0, nullptr, nullptr);
    if (result.code != NVRTC_SUCCESS)
        return result;
    std::vector<const char *> arguments;
    for (const auto &option : options)
        arguments.push_back(option.c_str());
    result.code = compileProgram_(program, static_cast<int>(arguments.size()), arguments.data());
    std::size_t size = 0;
    if (getProgramLogSize_(program, &size) == NVRTC_SUCCESS && size > 1) {
        result.log.resize(size);
        if (getProgramLog_(program, result.log.data()) != NVRTC_SUCCESS)
            result.log.clear();
        result.log.resize(result.log.find_last_not_of('\0') + 1);
    }
    if (result.code == NVRTC_SUCCESS) {
        result.code = getCubinSize_(program, &size);
        if (result.code == NVRTC_SUCCESS && size > 0) {
            result.cubin.resize(size);
            result.code = getCubin_(program, result.cubin.data());
        }
    }
    if (result.cubin.empty() && getPtxSize_(program, &size) == NVRTC_SUCCESS && size > 1) {
        result.ptx.resize(size);
        if (getPtx_(program, result.ptx.data()) != NVRTC_SUCCESS)
            result.ptx.clear();
    }
    destroyProgram_(&program);
    return result;
}

} // namespace cuda_agent::device::cuda
