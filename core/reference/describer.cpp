// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/reference/describer.h"

#include "core/base/paths.h"
#include "core/base/plain_text.h"
#include "core/reference/launch.h"

namespace cuda_agent::reference {

namespace {

using std::chrono::milliseconds;

constexpr milliseconds startTimeout{180'000};
constexpr milliseconds margin{10'000}; ///< for the process to say itself that a task was late
constexpr int mostProcesses = 64;      ///< and threads
constexpr std::size_t longestMessage = 500;

tl::unexpected<Error> errorFrom(const Json &error) {
    std::string message = "the task failed and its process did not say why";
    auto kind = ErrorKind::request;
    if (error.is_object()) {
        if (const auto found = error.find("message"); found != error.end() && found->is_string())
            message = plainLine(found->get<std::string>(), longestMessage);
        if (const auto found = error.find("kind"); found != error.end() && *found == "machine")
            kind = ErrorKind::machine;
    }
    return tl::unexpected(Error{kind, std::move(message)});
}

} // namespace

Result<Describer> Describer::make(Options options) {
    device::Info device; // no GPU is shown
    CUDA_AGENT_ASSIGN(policy, pythonPolicy(device, cacheDir() / "describer", options.memoryBytes));
    policy.name = "task";
    for (auto &[name, value] : policy.environment)
        if (name == "OMP_NUM_THREADS")
            value = "1"; // threads do not live through a fork
    policy.limits.processes = mostProcesses;
    std::error_code error;
    const auto worker = shareDir() / "worker";
    if (!std::filesystem::exists(worker / "describe_main.py", error))
        return machineError("the program's Python files are missing at {}; build or install the "
                            "program again",
                            worker.string());
    policy.mounts.push_back({worker, "/reference/worker", false});
    return Describer(options, std::move(policy), pythonProgram().string());
}

Result<void> Describer::begin(std::stop_token stop) {
    CUDA_AGENT_ASSIGN(
        started, sandbox::start(policy_, {program_, "-I", "/reference/worker/describe_main.py"}));
    process_.emplace(std::move(started));
    auto hello = process_->channel().send({{"request", "hello"}}).and_then([&] {
        return process_->channel().receive(startTimeout, std::move(stop));
    });
    if (hello && !hello->body.contains("error"))
        return {};
    if (!hello && hello.error().kind == ErrorKind::stopped) {
        process_.reset();
        return tl::unexpected(hello.error());
    }
    process_->kill();
    const auto record = process_->wait();
    process_.reset();
    if (hello)
        return errorFrom(hello->body["error"]);
    return machineError("the process that describes tasks did not start ({}): {}", record.summary(),
                        lastPlainLine(record.standardError, longestMessage));
}

Result<task::Description> Describer::describe(const std::string &name, const std::string &code,
                                              std::stop_token stop) {
    if (process_ && !process_->running())
        process_.reset();
    if (!process_)
        CUDA_AGENT_TRY(begin(stop));
    const double seconds = std::chrono::duration<double>(options_.timeout).count();
    auto answer =
        process_->channel()
            .send({{"request", "describe"},
                   {"name", name},
                   {"code", code},
                   {"device", device::nameOf(options_.kind)},
                   {"seconds", seconds}})
            .and_then([&] { return process_->channel().receive(options_.timeout + margin, stop); });
    if (!answer) {
        const auto error = answer.error();
        process_.reset();
        if (error.kind == ErrorKind::stopped)
            return tl::unexpected(error);
        return requestError("{}: the task took down the process that describes it ({})", name,
                            plainLine(error.message, longestMessage));
    }
    if (const auto error = answer->body.find("error"); error != answer->body.end())
        return errorFrom(*error);
    const auto found = answer->body.find("description");
    if (found == answer->body.end())
        return requestError("{}: the task's process sent no description", name);
    auto description = task::descriptionFromJson(*found);
    if (description)
        description->name = name;
    return description;
}

} // namespace cuda_agent::reference
