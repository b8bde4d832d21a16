// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/base/result.h"

#include <nvrtc.h>

#include <filesystem>
#include <string>
#include <vector>

namespace cuda_agent::device::cuda {

/// What one compilation gave. `cubin` is empty when it failed; the log may hold warnings otherwise.
/// `ptx` is set when the source was translated but its PTX not assembled: refused, or not asked for
/// by a virtual architecture (compute_90), which leaves `cubin` empty.
struct NvrtcResult {
    nvrtcResult code = NVRTC_SUCCESS;
    std::string cubin;
    std::string log;
    std::string ptx;
};

/// The run-time compiler's library, loaded at run time. It compiles in the calling process, so only
/// trusted text belongs into the engine's own; other text goes through toolchain::Compiler.
class Nvrtc {
  public:
    /// Folders where set-up or an installed toolkit put it, most specific first.
    static std::vector<std::filesystem::path> folders();
    /// The first of `folders` that holds the library. Errors: machine, naming them all.
    static Result<std::filesystem::path>
    findFolder(const std::vector<std::filesystem::path> &folders);
    /// Loads it (about 50 ms the first time). It stays loaded. Errors: machine.
    static Result<Nvrtc> load(const std::filesystem::path &folder);

    /// 13000 for 13.0.
    int version() const { return version_; }
    /// `name` is the file name that messages carry. Any thread may call.
    NvrtcResult compile(const std::string &text, const std::string &name,
                        const std::vector<std::string> &options) const;
    std::string describe(nvrtcResult code) const;

  private:
    Nvrtc() = default;
    int version_ = 0;
    decltype(&::nvrtcVersion) nvrtcVersion_ = nullptr;
    decltype(&::nvrtcGetErrorString) getErrorString_ = nullptr;
    decltype(&::nvrtcCreateProgram) createProgram_ = nullptr;
    decltype(&::nvrtcDestroyProgram) destroyProgram_ = nullptr;
    decltype(&::nvrtcCompileProgram) compileProgram_ = nullptr;
    decltype(&::nvrtcGetProgramLogSize) getProgramLogSize_ = nullptr;
    decltype(&::nvrtcGetProgramLog) getProgramLog_ = nullptr;
    decltype(&::nvrtcGetPTXSize) getPtxSize_ = nullptr;
    decltype(&::nvrtcGetPTX) getPtx_ = nullptr;
    decltype(&::nvrtcGetCUBINSize) getCubinSize_ = nullptr;
    decltype(&::nvrtcGetCUBIN) getCubin_ = nullptr;
};

} // namespace cuda_agent::device::cuda
