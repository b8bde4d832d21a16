// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/modules/precompiled.h"

#include "core/base/descriptor_io.h"
#include "core/base/file_lock.h"
#include "core/base/hash.h"
#include "core/base/paths.h"
#include "core/toolchain/nvrtc_worker/precompiled.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace cuda_agent::modules {

namespace fs = std::filesystem;

namespace {

constexpr std::uint64_t leastFreeBytes = 4ull << 30; ///< below it the disk is left alone
constexpr std::size_t mostSets = 4;                  ///< kept; each takes up to 0.8 GB

/// What bindings include most, the larger set first, each headed by what has to be asked for.
struct Set {
    std::vector<std::string> asked;
    std::string includes;
};
const std::vector<Set> &sets() {
    static const std::vector<Set> all = {
        {{"#include <torch/extension.h>\n"}, "#include <torch/extension.h>\n"},
        {{"#include <torch/types.h>\n", "#include <torch/csrc/utils/pybind.h>\n"},
         "#include <torch/types.h>\n#include <torch/csrc/utils/pybind.h>\n"},
    };
    return all;
}

/// Removes the sets used longest ago, and what a process that was killed left behind.
void prune(const fs::path &folder) {
    std::error_code ignored;
    std::vector<std::pair<fs::file_time_type, fs::path>> entries;
    for (const auto &entry : fs::directory_iterator(folder, ignored))
        if (entry.is_directory(ignored))
            entries.emplace_back(fs::last_write_time(entry.path(), ignored), entry.path());
    std::ranges::sort(entries, std::greater());
    for (std::size_t i = mostSets; i < entries.size(); ++i)
        fs::remove_all(entries[i].second, ignored);
}

/// Whether `folder` holds the set afterwards.
Result<bool> make(const Tools &tools, const std::string &includes, const fs::path &folder,
                  std::stop_token stop) {
    const fs::path staging = folder.string() + ".new";
    std::error_code error;
    fs::remove_all(staging, error);
    fs::create_directories(staging, error);
    CUDA_AGENT_TRY(writeFileAtomically(staging / "headers.h", includes));
    CUDA_AGENT_ASSIGN(policy, tools.policy());
    policy.limits.fileBytes = 2ull << 30;
    policy.mounts.push_back({staging / "headers.h", "/candidate/headers.h"});
    policy.mounts.push_back({staging, "/out", true});
    auto record = sandbox::run(policy, tools.precompile(), {}, std::move(stop));
    if (!record || !record->clean()) {
        fs::remove_all(staging, error);
        if (!record && record.error().kind == ErrorKind::stopped)
            return stoppedError();
        return false;
    }
    fs::rename(staging, folder, error);
    return !error;
}

} // namespace

std::string precompilable(std::string_view text, device::Kind device) {
    if (device == device::Kind::cpu)
        return "#include <cuda_agent_binding.h>\n";
    // The engine's own header changes nothing of what comes after it.
    std::string plain(text);
    for (const char *own :
         {"#include \"../binding_registry.h\"", "#include \"binding_registry.h\""})
        if (const auto at = plain.find(own); at != plain.npos)
            plain.replace(at, std::strlen(own), "#include <pybind11/pybind11.h>");
    const auto leading = toolchain::leadingIncludes(plain);
    for (const auto &set : sets())
        if (std::ranges::all_of(
                set.asked, [&](const auto &line) { return leading.find(line) != leading.npos; }))
            return set.includes;
    return {};
}

Result<std::optional<fs::path>> precompiledHeaders(const Tools &tools, const std::string &includes,
                                                   std::stop_token stop) {
    using Found = std::optional<fs::path>;
    const auto all = cacheDir() / "headers";
    std::string identity = includes + tools.identity;
    for (const auto &word : tools.precompile())
        identity += word + '\n';
    const auto folder = all / sha256Hex(identity).substr(0, 32);
    std::error_code error;
    const auto known = [&] {
        if (!fs::exists(folder / "headers.h.gch", error))
            return false;
        fs::last_write_time(folder, fs::file_time_type::clock::now(), error); // of its last use
        return true;
    };
    if (known())
        return Found(folder);
    fs::create_directories(all, error);
    // Beside the folder: "asked" after the first time, "failed" where g++ could not; its lock is
    // held by who makes it.
    const auto asked = folder.string() + ".asked";
    const FileLock lock(UniqueFd(open(asked.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)));
    if (!lock)
        return machineError("cannot write to {}: {}; set CUDA_AGENT_CACHE to a writable folder",
                            all.string(), std::strerror(errno));
    if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0)
        return Found();
    if (known()) // another process has made it meanwhile
        return Found(folder);
    const auto before = readUpTo(lock.get(), 16);
    if (before == "") {
        writeWhole(lock.get(), "asked");
        return Found();
    }
    const auto space = fs::space(all, error);
    if (before == "failed" || error || space.available < leastFreeBytes)
        return Found();
    CUDA_AGENT_ASSIGN(made, make(tools, includes, folder, std::move(stop)));
    if (!made) {
        if (ftruncate(lock.get(), 0) == 0 && lseek(lock.get(), 0, SEEK_SET) == 0)
            writeWhole(lock.get(), "failed");
        return Found();
    }
    prune(all);
    return Found(folder);
}

} // namespace cuda_agent::modules
