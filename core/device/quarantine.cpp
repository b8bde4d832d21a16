// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/quarantine.h"

#include "core/base/paths.h"
#include "core/base/untrusted_json.h"

#include <fmt/chrono.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace cuda_agent::device {

namespace fs = std::filesystem;

namespace {

using namespace std::chrono_literals;

constexpr auto pause = 2s;   ///< before a second probe: a driver may be resetting the GPU
constexpr auto wellFor = 2s; ///< after a fault: what a probe found before counts

fs::path fileOf(const std::string &device) {
    return quarantineFolder() / (device + ".json");
}

/// The number behind "cuda" or "cpu", or nothing for a text that names no device.
std::optional<int> indexOf(const std::string &device, std::string_view kind) {
    if (!device.starts_with(kind) || device.size() == kind.size() || device.size() > 8)
        return std::nullopt;
    int index = 0;
    for (const char c : device.substr(kind.size())) {
        if (c < '0' || c > '9')
            return std::nullopt;
        index = index * 10 + (c - '0');
    }
    return index;
}

std::string text(const Json &json, const char *name) {
    const auto found = json.is_object() ? json.find(name) : json.end();
    return json.is_object() && found != json.end() && found->is_string() ? found->get<std::string>()
                                                                         : std::string();
}

std::string dateOf(double time) {
    if (!(time > 0) || time > 1e11)
        return "an unknown time";
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(static_cast<std::time_t>(time)));
}

/// What a probe's record comes to.
Result<ProbeResult> judged(const sandbox::Record &record, const ProbeOptions &options) {
    if (record.stuck)
        return ProbeResult("the process that probed it did not end after SIGKILL");
    if (record.clean())
        return ProbeResult();
    if (!record.problem.empty())
        return machineError("cannot probe the device: {}", record.problem);
    const auto first = record.standardError.substr(0, record.standardError.find('\n'));
    constexpr int noDriver = 3;
    if (record.signal == 0 && record.exitCode == noDriver)
        return machineError("cannot probe the device: {}", first);
    if (std::find(record.limitsHit.begin(), record.limitsHit.end(), "wall") !=
        record.limitsHit.end())
        return ProbeResult(fmt::format("it did not finish a small kernel within {:g} s",
                                       std::chrono::duration<double>(options.patience).count()));
    return ProbeResult(fmt::format("a probe ended with {}{}{}", record.summary(),
                                   first.empty() ? "" : ": ", first));
}

} // namespace

std::string quarantineName(const Info &info) {
    return fmt::format("{}{}", nameOf(info.kind), info.index);
}

fs::path quarantineFolder() {
    return cacheDir() / "quarantine";
}

Result<void> quarantine(const std::string &device, const std::string &reason) {
    if (quarantineOf(device))
        return {};
    const double now =
        std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
    const Json json{{"device", device}, {"reason", reason}, {"time", now}};
    return writeFileAtomically(fileOf(device),
                               json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::optional<Quarantine> quarantineOf(const std::string &device) {
    const auto file = fileOf(device);
    if (::access(file.c_str(), F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR))
        return std::nullopt;
    Quarantine found{device, "its file says no reason", 0};
    const auto content = readTextFile(file, 1u << 20);
    const Json json = content ? parseUntrusted(*content) : Json();
    if (const auto reason = text(json, "reason"); !reason.empty())
        found.reason = reason;
    if (json.is_object() && json.contains("time") && json["time"].is_number())
        found.time = json["time"].get<double>();
    return found;
}

std::vector<Quarantine> quarantines() {
    std::vector<Quarantine> list;
    std::error_code failed;
    for (fs::directory_iterator entry(quarantineFolder(), failed), end; !failed && entry != end;
         entry.increment(failed)) {
        const auto name = entry->path().stem().string();
        if (entry->path().extension() != ".json" ||
            (!indexOf(name, "cuda") && !indexOf(name, "cpu")))
            continue;
        if (auto found = quarantineOf(name))
            list.push_back(std::move(*found));
    }
    std::sort(list.begin(), list.end(),
              [](const auto &a, const auto &b) { return a.device < b.device; });
    return list;
}

Result<void> checkNotQuarantined(const std::string &device) {
    const auto found = quarantineOf(device);
    if (!found)
        return {};
    return machineError("{} is in quarantine since {}: {}; 'cuda-agent doctor --lift-quarantine "
                        "{}' tries it and, when it is well, lifts that",
                        device, dateOf(found->time), found->reason, device);
}

Result<void> liftQuarantine(const std::string &device) {
    if (::unlink(fileOf(device).c_str()) != 0 && errno != ENOENT && errno != ENOTDIR)
        return machineError("cannot remove {}: {}", fileOf(device).string(), std::strerror(errno));
    return {};
}

Result<ProbeResult> probe(const std::string &device, const ProbeOptions &options,
                          std::stop_token stop) {
    const auto gpu = indexOf(device, "cuda");
    if (!gpu && !indexOf(device, "cpu"))
        return requestError("there is no device '{}'; name it as doctor does, such as cuda0",
                            device);
    const auto program =
        options.program.empty() ? workerDir() / "cuda-agent-probe" : options.program;
    std::error_code error;
    if (!fs::exists(program, error))
        return machineError("'{}' is missing; build the target cuda-agent-probe", program.string());
    sandbox::Policy policy;
    policy.name = "probe";
    policy.gpu = gpu;
    policy.mounts.push_back({program, "/probe/cuda-agent-probe"});
    std::string search;
    for (const auto &folder : options.libraryFolders) {
        policy.mounts.push_back({folder, folder});
        search += (search.empty() ? "" : ":") + folder.string();
    }
    if (!search.empty()) {
        if (const char *outer = std::getenv("LD_LIBRARY_PATH"); outer != nullptr && *outer != '\0')
            search += std::string(":") + outer;
        policy.environment.emplace_back("LD_LIBRARY_PATH", search);
    }
    policy.limits.wall = options.patience;
    policy.limits.processes = 256 + 4 * static_cast<int>(std::thread::hardware_concurrency());
    // Not run(): what became of the process is what is asked for, whatever it is.
    CUDA_AGENT_ASSIGN(process,
                      sandbox::start(policy, {"/probe/cuda-agent-probe", gpu ? "cuda" : "cpu"}));
    const std::stop_callback onStop(stop, [&] { process.kill(); });
    const auto record = process.wait();
    if (record.killed)
        return stoppedError();
    return judged(record, options);
}

Result<ProbeResult> probeUnlessWell(const std::string &device, std::chrono::milliseconds wellFor,
                                    const ProbeOptions &options, std::stop_token stop) {
    using Clock = std::chrono::steady_clock;
    static std::mutex mutex;
    static std::map<std::string, Clock::time_point> well; // when it was asked and found so
    const auto asked = Clock::now();
    {
        const std::lock_guard lock(mutex);
        if (const auto found = well.find(device);
            found != well.end() && asked - found->second < wellFor)
            return ProbeResult();
    }
    CUDA_AGENT_ASSIGN(result, probe(device, options, std::move(stop)));
    const std::lock_guard lock(mutex);
    if (result)
        well.erase(device);
    else
        well[device] = asked;
    return std::move(result);
}

Result<bool> liftAfterProbe(const std::string &device, const ProbeOptions &options,
                            std::stop_token stop) {
    const bool was = quarantineOf(device).has_value();
    CUDA_AGENT_ASSIGN(wrong, probe(device, options, std::move(stop)));
    if (wrong)
        return machineError("{} is not well: {}; {}", device, *wrong,
                            was ? "it stays in quarantine" : "it is not in quarantine");
    CUDA_AGENT_TRY(liftQuarantine(device));
    return was;
}

Result<void> checkAfterFault(const Info &info, const sandbox::Record &record,
                             const ProbeOptions &options, std::stop_token stop) {
    if (info.kind != Kind::cuda && !record.stuck)
        return {};
    const auto name = quarantineName(info);
    CUDA_AGENT_TRY(checkNotQuarantined(name)); // somebody else has been here
    if (record.stuck) {
        CUDA_AGENT_TRY(
            quarantine(name, fmt::format("a process ({}) that used it did not end after SIGKILL",
                                         record.name)));
        return checkNotQuarantined(name);
    }
    CUDA_AGENT_ASSIGN(first, probeUnlessWell(name, wellFor, options, stop));
    if (!first)
        return {};
    std::this_thread::sleep_for(pause);
    CUDA_AGENT_ASSIGN(second, probe(name, options, stop));
    if (!second)
        return {};
    CUDA_AGENT_TRY(quarantine(name, "after a fault of a candidate " + *second));
    return checkNotQuarantined(name);
}

} // namespace cuda_agent::device
