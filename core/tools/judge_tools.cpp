// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/elapsed.h"
#include "core/judge/profiled.h"
#include "core/profile/text.h"
#include "core/tools/judge_summary.h"
#include "core/tools/schema.h"
#include "core/tools/toolbox.h"

namespace cuda_agent::tools {

namespace {

using Clock = std::chrono::steady_clock;
using session::EventType;
using session::Observation;

Result<judge::Judge *> judgeOf(const Workspace &workspace) {
    if (!workspace.judge())
        return requestError("no judge is at hand in this session");
    return workspace.judge();
}

Result<void> logCompile(Workspace &workspace, bool ok, const Json &diagnostics, const Json &kernels,
                        std::string_view compilerOutput, double seconds) {
    Json data{{"ok", ok}, {"diagnostics", diagnostics}, {"kernels", kernels}, {"seconds", seconds}};
    if (!compilerOutput.empty()) {
        CUDA_AGENT_ASSIGN(blob, workspace.recorder().putBlob(compilerOutput));
        data["log"] = blob;
    }
    return workspace.recorder().append(EventType::compiled, workspace.turn, std::move(data));
}

Json diagnosticsJson(const std::vector<toolchain::Diagnostic> &diagnostics) {
    Json list = Json::array();
    for (const auto &diagnostic : diagnostics)
        list.push_back(toolchain::toJson(diagnostic));
    return list;
}

Result<Observation> compile(Workspace &workspace, const Json &, std::stop_token stop) {
    const auto start = Clock::now();
    CUDA_AGENT_ASSIGN(candidate, judge::readCandidate(workspace.folder().path()));
    CUDA_AGENT_ASSIGN(judge, judgeOf(workspace));
    CUDA_AGENT_ASSIGN(outcome, judge->compile(candidate, std::move(stop)));
    const double seconds = secondsSince(start);
    if (const auto *rejection = std::get_if<toolchain::Rejection>(&outcome)) {
        Json diagnostics = diagnosticsJson(rejection->diagnostics);
        auto observation = refuse("does not compile: " + rejection->summary);
        if (diagnostics.size() > 1)
            observation.text += "\n" + diagnosticLines(diagnostics);
        CUDA_AGENT_TRY(
            logCompile(workspace, false, diagnostics, Json::array(), rejection->log, seconds));
        observation.data["diagnostics"] = std::move(diagnostics);
        return observation;
    }
    CUDA_AGENT_TRY(logCompile(workspace, true, Json::array(), Json::array(), {}, seconds));
    return answer(fmt::format("compiled in {:.2f} s", seconds));
}

/// Judges what the workspace holds and logs it. Errors: request (no candidate there, the plan does
/// not fit the task), machine, stopped.
Result<Json> judgeNow(Workspace &workspace, verify::Strength strength, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(candidate, judge::readCandidate(workspace.folder().path()));
    CUDA_AGENT_ASSIGN(judge, judgeOf(workspace));
    CUDA_AGENT_ASSIGN(verdict, judge->judge(candidate, strength, std::move(stop)));
    Json json = judge::toJson(verdict);
    CUDA_AGENT_TRY(logCompile(workspace, verdict.compiled, diagnosticsJson(verdict.diagnostics),
                              json.value("kernels", Json::array()), verdict.compilerOutput,
                              verdict.compileSeconds));
    auto &recorder = workspace.recorder();
    Json files = Json::object();
    for (const auto &[path, text] : judge::filesOf(candidate)) {
        CUDA_AGENT_ASSIGN(blob, recorder.putBlob(text));
        files[path] = blob;
    }
    CUDA_AGENT_TRY(recorder.append(EventType::verdictGiven, workspace.turn,
                                   {{"verdict", json}, {"candidate", files}}));
    return json;
}

Result<Observation> verify(Workspace &workspace, const Json &arguments, std::stop_token stop) {
    const auto strength = arguments.value("strength", "training") == "full"
                              ? verify::Strength::full
                              : verify::Strength::training;
    CUDA_AGENT_ASSIGN(verdict, judgeNow(workspace, strength, std::move(stop)));
    Observation observation;
    observation.ok = verdict.value("correct", false);
    observation.text = reportOf(verdict);
    observation.data["verdict"] = std::move(verdict);
    return observation;
}

/// What a right plan candidate does launch by launch. A machine that cannot tell is no reason to
/// lose the rest.
Result<void> addLaunches(Workspace &workspace, Observation &observation, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(candidate, judge::readCandidate(workspace.folder().path()));
    CUDA_AGENT_ASSIGN(judge, judgeOf(workspace));
    if (!std::holds_alternative<plan::Candidate>(candidate))
        return {};
    const auto report = judge::profileCandidate(*judge, candidate, std::move(stop));
    if (!report && report.error().kind == ErrorKind::stopped)
        return tl::unexpected(report.error());
    if (!report) {
        observation.text += "launch by launch: " + report.error().message + "\n";
        return {};
    }
    std::string text;
    for (const auto &line : profile::linesOf(*report))
        text += line + "\n";
    observation.text += clipped(std::move(text));
    auto &data = observation.data["profile"] = profile::toJson(*report);
    for (auto &launch : data["launches"])
        launch.erase("counters"); // what is made of them stays
    return {};
}

Result<Observation> profile(Workspace &workspace, const Json &, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(verdict, judgeNow(workspace, verify::Strength::training, stop));
    const auto &state = workspace.recorder().state();
    Observation observation;
    observation.ok = verdict.value("correct", false);
    observation.text = profileOf(verdict, state.baselines, state.description);
    observation.data["verdict"] = std::move(verdict);
    if (observation.ok)
        CUDA_AGENT_TRY(addLaunches(workspace, observation, std::move(stop)));
    return observation;
}

Result<Observation> baselineCode(Workspace &workspace, const Json &, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(judge, judgeOf(workspace));
    CUDA_AGENT_ASSIGN(code, judge->compiledCode(std::move(stop)));
    return answer(clipped(std::move(code)));
}

} // namespace

std::vector<Tool> judgeTools() {
    return {
        {"Compile",
         "Compiles the candidate in the workspace (plan.json and the kernels that it names, or "
         "model_new.py with kernels/X.cu and kernels/X_binding.cpp) and reports diagnostics.",
         objectOf(Json::object(), {}), compile, false},
        {"Verify",
         "Compiles, verifies and times the candidate in the workspace; answers with the "
         "verdict, and with the smallest evidence when it is wrong.",
         objectOf({{"strength", choiceField("training: fewer inputs and short timing, for the way "
                                            "there (default); full: the final protocol",
                                            {"training", "full"})}},
                  {}),
         verify, false},
        {"Profile",
         "Times the candidate and says what limits it: achieved bandwidth and rate "
         "against this machine's measured ceilings, registers, spills and shared memory "
         "of each kernel. Of a right plan candidate also every launch: exact time, occupancy, "
         "bytes and operations from hardware counters where the GPU gives them, stalls, and "
         "findings with the most that mending each can gain.",
         objectOf(Json::object(), {}), profile, false},
        {"BaselineCode",
         "Shows the code that torch.compile generates for the task (Triton on a "
         "GPU, C++ on a CPU): what it fuses, and what it leaves to libraries.",
         objectOf(Json::object(), {}), baselineCode, false},
    };
}

} // namespace cuda_agent::tools
