// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/modules/process.h"

#include "core/modules/standby.h"

namespace cuda_agent::modules {

using std::chrono::milliseconds;

namespace {

constexpr milliseconds auditTimeout{120'000}; ///< the first use of CUPTI takes seconds

std::vector<plan::Slot> slotsOf(const task::Description &description) {
    std::vector<plan::Slot> slots;
    for (std::size_t i = 0; i < description.inputs.size(); ++i)
        slots.push_back({fmt::format("input {}", i), plan::Role::input, static_cast<int>(i), {}});
    for (const auto &port : description.parameters)
        slots.push_back({port.name, plan::Role::parameter, -1, port.name});
    for (std::size_t i = 0; i < description.outputs.size(); ++i)
        slots.push_back({fmt::format("output {}", i), plan::Role::output, static_cast<int>(i), {}});
    return slots;
}

/// How a single file's own compile failed.
Result<toolchain::Rejection> rejectionOf(const Json &rejected) {
    const auto text = [&](const char *field) {
        const auto found = rejected.find(field);
        return found != rejected.end() && found->is_string() ? found->get<std::string>()
                                                             : std::string();
    };
    toolchain::Rejection rejection;
    rejection.summary = plan::tamed(text("summary"));
    rejection.log = text("log").substr(0, 64u << 10);
    rejection.diagnostics = toolchain::parseDiagnostics(rejection.log);
    std::erase_if(rejection.diagnostics, [](const auto &each) { return each.severity != "error"; });
    if (rejection.diagnostics.size() > 20)
        rejection.diagnostics.resize(20);
    if (rejection.diagnostics.empty())
        rejection.diagnostics.push_back({"error", modelFile, 0, 0, rejection.summary});
    return rejection;
}

/// A worker that sees the candidate and has not loaded it.
Result<std::unique_ptr<plan::LinkedCandidate>>
workerFor(const Compiled &compiled, const task::Spec &spec, const device::Info &device,
          const ProcessOptions &options, const std::stop_token &stop) {
    if (compiled.candidate->form == Form::singleFile) {
        CUDA_AGENT_ASSIGN(launched, launchSingleFile(compiled, spec, device, options, stop));
        return std::move(launched.link);
    }
    std::optional<Launched> launched;
    if (options.standby) {
        CUDA_AGENT_ASSIGN(waiting, options.standby->take(stop));
        launched = std::move(waiting);
    }
    if (!launched) {
        CUDA_AGENT_ASSIGN(fresh, launch(spec, device, options, stop));
        launched = std::move(fresh);
    }
    CUDA_AGENT_TRY(place(compiled, *launched));
    return std::move(launched->link);
}

} // namespace

Result<StartOutcome> start(const Compiled &compiled, const task::Spec &spec,
                           const task::Description &description, const plan::Signature &signature,
                           device::Device &device, const ProcessOptions &options,
                           std::stop_token stop) {
    const auto &info = device.info();
    CUDA_AGENT_ASSIGN(link, workerFor(compiled, spec, info, options, stop));
    link->become(slotsOf(description), signature, std::move(stop));

    Json positions = Json::array();
    for (const auto &port : description.inputs)
        positions.push_back(port.inputIndex);
    Json parameters = Json::array();
    for (const auto &port : description.parameters)
        parameters.push_back(port.name);
    CUDA_AGENT_TRY(link->ask({{"op", "hello"},
                              {"task", "/task/" + spec.file.filename().string()},
                              {"overrides", spec.overrides},
                              {"device", device::nameOf(info.kind)},
                              {"tf32", options.numerics != task::Numerics::standard},
                              {"scalars", description.scalars},
                              {"positions", positions},
                              {"parameters", parameters}},
                             startTimeout, "load"));
    Json load{
        {"op", "load"}, {"candidate", insideModel}, {"strict", options.rules == Rules::published}};
    if (info.kind == device::Kind::cpu) {
        load["host_layer"] = insideHostLayer;
        load["checked"] = options.checked;
    }
    CUDA_AGENT_ASSIGN(answer, link->ask(load, options.loadTimeout, "loading model_new.py"));
    if (const auto rejected = answer.find("rejected");
        rejected != answer.end() && rejected->is_object()) {
        CUDA_AGENT_ASSIGN(rejection, rejectionOf(*rejected));
        return StartOutcome(std::move(rejection));
    }
    Started started;
    if (const auto flags = answer.find("flags"); flags != answer.end() && flags->is_array())
        for (const auto &flag : *flags)
            if (flag.is_string() && started.flags.size() < 10)
                started.flags.push_back(plan::tamed(flag.get<std::string>()));
    started.process = std::move(link);
    return StartOutcome(std::move(started));
}

Result<Audit> audit(plan::LinkedCandidate &process, int set) {
    CUDA_AGENT_ASSIGN(answer,
                      process.ask({{"op", "audit"}, {"set", set}}, auditTimeout, "the audit"));
    return auditFromJson(answer);
}

} // namespace cuda_agent::modules
