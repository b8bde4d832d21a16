// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/maker_process.h"

#include "core/base/paths.h"
#include "core/base/plain_text.h"
#include "core/device/quarantine.h"
#include "core/reference/launch.h"

#include <algorithm>
#include <thread>

namespace cuda_agent::synthesis {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds endPatience{5'000}; ///< for a process that is about to end by itself
constexpr int mostProcesses = 512;         ///< and threads; a fork bomb is small then
constexpr std::size_t longestMessage = 500;

Refusal refusalFrom(const Json &error) {
    Refusal refusal;
    refusal.message = "it did not say why";
    if (!error.is_object())
        return refusal;
    if (const auto found = error.find("message"); found != error.end() && found->is_string())
        refusal.message = plainLine(found->get<std::string>(), longestMessage);
    if (const auto found = error.find("kind"); found != error.end() && found->is_string())
        refusal.request = found->get<std::string>() == "request";
    if (const auto found = error.find("restart"); found != error.end() && found->is_boolean())
        refusal.restart = found->get<bool>();
    return refusal;
}

} // namespace

Result<MakerProcess> MakerProcess::start(const Options &options) {
    CUDA_AGENT_ASSIGN(
        policy, reference::pythonPolicy(options.device, options.cache, options.hostMemoryBytes));
    policy.name = "task";
    const auto threads = std::to_string(options.threads);
    for (auto &[name, value] : policy.environment)
        if (name == "OMP_NUM_THREADS")
            value = threads;
    std::erase_if(policy.environment,
                  [](const auto &entry) { return entry.first == "TORCHINDUCTOR_COMPILE_THREADS"; });
    // Compilers run in the process itself: there are as many processes as cores.
    policy.environment.emplace_back("TORCHINDUCTOR_COMPILE_THREADS", "1");
    policy.limits.processes = mostProcesses;
    std::error_code error;
    for (const auto *name : {"maker", "worker"}) {
        const auto folder = shareDir() / name;
        if (!std::filesystem::exists(folder, error))
            return machineError("the program's Python files are missing at {}; build or install "
                                "the program again",
                                folder.string());
        policy.mounts.push_back({folder, std::filesystem::path("/tasks") / name, false});
    }
    policy.mounts.insert(policy.mounts.end(), options.mounts.begin(), options.mounts.end());
    MakerProcess process;
    process.memoryBytes_ = policy.limits.memoryBytes;
    process.onGpu_ = options.device.kind == device::Kind::cuda;
    process.deviceName_ = device::quarantineName(options.device);
    CUDA_AGENT_ASSIGN(started, sandbox::start(policy, {pythonProgram().string(), "-I",
                                                       "/tasks/maker/" + options.program}));
    process.process_.emplace(std::move(started));
    return process;
}

Result<Answer> MakerProcess::ask(const Json &request, std::chrono::duration<double> timeout,
                                 std::stop_token stop) {
    if (!process_)
        return Ended{Ended::Kind::died, "it had ended before"};
    auto answer = process_->channel().send(request).and_then([&] {
        return process_->channel().receive(std::chrono::duration_cast<milliseconds>(timeout),
                                           std::move(stop));
    });
    if (!answer) {
        if (answer.error().kind == ErrorKind::stopped) {
            end();
            return tl::unexpected(answer.error());
        }
        return ended(answer.error(), timeout);
    }
    if (const auto error = answer->body.find("error"); error != answer->body.end()) {
        auto refusal = refusalFrom(*error);
        if (refusal.restart)
            end();
        return refusal;
    }
    return std::move(answer->body);
}

Ended MakerProcess::ended(const Error &error, std::chrono::duration<double> timeout) {
    Ended ended;
    const bool late = error.message.starts_with("timed out");
    const bool garbled = error.message.starts_with("the worker sent"); // it ends once we close
    process_->channel().close();
    if (!late) {
        const auto last = std::chrono::steady_clock::now() + endPatience;
        while (process_->running() && std::chrono::steady_clock::now() < last)
            std::this_thread::sleep_for(milliseconds(5));
    }
    const bool byItself = !process_->running();
    process_->kill();
    const auto record = process_->wait();
    process_.reset();
    if (record.stuck && onGpu_)
        (void)device::quarantine(deviceName_, "the process of a task did not end after SIGKILL");
    if (late) {
        ended.kind = Ended::Kind::late;
        ended.what = fmt::format("no answer within {:g} s", timeout.count());
    } else if (std::ranges::find(record.limitsHit, "memory") != record.limitsHit.end()) {
        ended.kind = Ended::Kind::memory;
        ended.what = fmt::format("needs more than {:.1f} GB of host memory",
                                 static_cast<double>(memoryBytes_) / 1e9);
    } else if (byItself && !garbled) {
        ended.kind = Ended::Kind::died;
        ended.what = fmt::format("{}: {}", record.summary(),
                                 lastPlainLine(record.standardError, longestMessage));
    } else {
        ended.kind = Ended::Kind::garbled;
        ended.what = plainLine(error.message, longestMessage);
    }
    return ended;
}

void MakerProcess::end() {
    if (!process_)
        return;
    process_->channel().close();
    if (process_->running())
        process_->kill();
    (void)process_->wait();
    process_.reset();
}

} // namespace cuda_agent::synthesis
