// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/device/device.h"
#include "core/toolchain/diagnostic.h"

#include <filesystem>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

namespace cuda_agent::toolchain {

/// What to compile: CUDA C++ sources of a plan candidate, each compiled alone.
struct Source {
    std::string path; ///< relative name shown in messages, "kernels/fused.cu"
    std::string text;
    std::vector<std::string> entries;           ///< `extern "C" __global__` functions needed
    std::map<std::string, std::string> defines; ///< -DNAME=VALUE
    /// Files beside it that it may `#include "..."`, path to text. Looked at by the compiler of
    /// module candidates alone.
    std::map<std::string, std::string> headers = {};
};

/// Static facts of one kernel entry; -1 where the compiler does not tell (cpu).
struct EntryInfo {
    std::string name;
    int registers = -1;
    int spillBytes = -1;
    int sharedBytes = -1; ///< static
    int stackBytes = -1;
    int barriers = -1; ///< named barriers of a block, that of __syncthreads() included
};

/// A compiled source: a cubin (cuda), a shared library (cpu) or an object (module candidates on the
/// cpu) on disk in the cache.
struct Binary {
    std::filesystem::path file;
    std::string hash; ///< content hash of source, options, compiler and device kind
    std::vector<EntryInfo> entries;
    std::vector<Diagnostic> warnings;
    double seconds = 0;
    bool cached = false;
};

/// A compile that failed because of the source.
struct Rejection {
    std::vector<Diagnostic> diagnostics;
    std::string log;     ///< the compiler's whole output, cut at 64 KiB
    std::string summary; ///< one line: "kernels/a.cu:3:7: expected ';'"
};
using Outcome = std::variant<Binary, Rejection>;

/// Turns plan sources into binaries for one device, inside the sandbox, with a content-addressed
/// cache under cacheDir()/binaries.
/// Blocking; may be called from several threads at once.
class Compiler {
  public:
    virtual ~Compiler() = default;
    /// Errors: machine (compiler missing, sandbox refused), stopped. A source that does not
    /// compile, takes longer than the limit or asks for too much memory is a Rejection.
    virtual Result<Outcome> compile(const Source &source, std::stop_token stop = {}) = 0;
    /// "NVRTC 13.0 for sm_90", "clang 19.1.7 (host)".
    virtual std::string description() const = 0;
};

/// The same CUDA C++ compiled for the host (see core/toolchain/host/README.md).
Result<std::unique_ptr<Compiler>> makeHostCompiler();
/// The same, instrumented: every load, store and atomic operation, index and shift tells
/// cuda-agent-checker (core/plan/runner/sanit_*.cpp), the only program that can load the result.
/// Errors: machine (no clang).
Result<std::unique_ptr<Compiler>> makeCheckedHostCompiler();
/// For whole `.cu` files of module candidates on the cpu device: host functions launch kernels with
/// `<<<...>>>`, which run at once and to their end. `Source::entries` may be empty; `Binary::file`
/// is a position-independent object, to be linked with hostLibrary() and hostLinkOptions().
/// `checked`: instrumented as by makeCheckedHostCompiler(), to be linked with checkedLinkOptions().
Result<std::unique_ptr<Compiler>> makeHostObjectCompiler(bool checked = false);
/// libcuda-agent-host.so (host/abi.h says what it exports), or the library that stands in its place
/// for checked objects. Errors: machine (not installed).
Result<std::filesystem::path> hostLibrary(bool checked = false);
/// What a link with such objects needs beside the library: "-lmvec", "-lm".
std::vector<std::string> hostLinkOptions();
/// What links of checked objects need: functions of the C library that are looked at, too.
std::vector<std::string> checkedLinkOptions();
/// NVRTC in a sandboxed compile worker; `architecture` like "sm_90" ("sm_90a" is used when the
/// device is Hopper). Works without a GPU.
Result<std::unique_ptr<Compiler>> makeCudaCompiler(std::string architecture);
Result<std::unique_ptr<Compiler>> makeCompiler(const device::Info &info);

} // namespace cuda_agent::toolchain
