// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/agent/tools.h"

namespace cuda_agent::agent {

namespace fs = std::filesystem;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t largestFile = 1u << 20;

session::Observation refuse(std::string text) {
    session::Observation observation;
    observation.text = std::move(text);
    return observation;
}

/// The candidate's own file names: plan.json and .cu/.cuh files below it, nothing that leaves it.
bool isCandidateFile(const fs::path &path) {
    if (path.empty() || path.is_absolute())
        return false;
    for (const auto &part : path)
        if (part == ".." || part == "." || part.string().starts_with('.'))
            return false;
    const auto extension = path.extension();
    return path == "plan.json" || extension == ".cu" || extension == ".cuh";
}

Result<session::Observation> write(Workspace &workspace, const Json &arguments, int turn) {
    if (!arguments.contains("path") || !arguments.at("path").is_string() ||
        !arguments.contains("content") || !arguments.at("content").is_string())
        return refuse("Write needs two texts: path and content");
    const fs::path path = arguments.at("path").get<std::string>();
    const auto &content = arguments.at("content").get_ref<const std::string &>();
    if (!isCandidateFile(path))
        return refuse(fmt::format("Write may write plan.json and .cu files inside the candidate "
                                  "folder, such as kernels/fused.cu; not '{}'",
                                  path.string()));
    if (content.size() > largestFile)
        return refuse(fmt::format("{} bytes are too much for one file; at most {} are taken",
                                  content.size(), largestFile));
    CUDA_AGENT_ASSIGN(blob, workspace.recorder->putBlob(content));
    CUDA_AGENT_TRY(writeFileAtomically(workspace.folder / path, content));
    CUDA_AGENT_TRY(workspace.recorder->append(session::EventType::fileWritten, turn,
                                              {{"path", path.string()},
                                               {"blob", blob},
                                               {"bytes", content.size()},
                                               {"author", workspace.author}}));
    session::Observation observation;
    observation.ok = true;
    observation.text = fmt::format("wrote {} ({} bytes)", path.string(), content.size());
    return observation;
}

Result<void> logCompile(Workspace &workspace, int turn, bool ok, const Json &diagnostics,
                        const Json &kernels, std::string_view compilerOutput, double seconds) {
    Json data{{"ok", ok}, {"diagnostics", diagnostics}, {"kernels", kernels}, {"seconds", seconds}};
    if (!compilerOutput.empty()) {
        CUDA_AGENT_ASSIGN(blob, workspace.recorder->putBlob(compilerOutput));
        data["log"] = blob;
    }
    CUDA_AGENT_TRY(workspace.recorder->append(session::EventType::compiled, turn, std::move(data)));
    return {};
}

Json diagnosticsJson(const std::vector<toolchain::Diagnostic> &diagnostics) {
    Json list = Json::array();
    for (const auto &diagnostic : diagnostics)
        list.push_back(toolchain::toJson(diagnostic));
    return list;
}

Result<session::Observation> compile(Workspace &workspace, int turn, std::stop_token stop) {
    const auto start = Clock::now();
    auto candidate = plan::readCandidate(workspace.folder);
    if (!candidate)
        return refuse(candidate.error().message);
    CUDA_AGENT_ASSIGN(outcome, workspace.judge->compile(*candidate, stop));
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    session::Observation observation;
    if (const auto *rejection = std::get_if<toolchain::Rejection>(&outcome)) {
        observation.text = "does not compile: " + rejection->summary;
        observation.data["diagnostics"] = diagnosticsJson(rejection->diagnostics);
        CUDA_AGENT_TRY(logCompile(workspace, turn, false, observation.data["diagnostics"],
                                  Json::array(), rejection->log, seconds));
        return observation;
    }
    observation.ok = true;
    observation.text = fmt::format("compiled in {:.2f} s", seconds);
    CUDA_AGENT_TRY(logCompile(workspace, turn, true, Json::array(), Json::array(), {}, seconds));
    return observation;
}

Result<session::Observation> verify(Workspace &workspace, const Json &arguments, int turn,
                                    std::stop_token stop) {
    const std::string strength = arguments.value("strength", "training");
    if (strength != "training" && strength != "full")
        return refuse(fmt::format("strength is \"training\" or \"full\", not \"{}\"", strength));
    auto candidate = plan::readCandidate(workspace.folder);
    if (!candidate)
        return refuse(candidate.error().message);
    auto verdict = workspace.judge->judge(
        *candidate, strength == "full" ? verify::Strength::full : verify::Strength::training, stop);
    if (!verdict) {
        if (verdict.error().kind == ErrorKind::request) // the plan does not fit the task
            return refuse(verdict.error().message);
        return tl::unexpected(verdict.error());
    }
    const Json json = judge::toJson(*verdict);
    CUDA_AGENT_TRY(logCompile(
        workspace, turn, verdict->compiled, diagnosticsJson(verdict->diagnostics),
        json.value("kernels", Json::array()), verdict->compilerOutput, verdict->compileSeconds));
    Json files = Json::object();
    CUDA_AGENT_ASSIGN(planText, readTextFile(workspace.folder / "plan.json", largestFile));
    CUDA_AGENT_ASSIGN(planBlob, workspace.recorder->putBlob(planText));
    files["plan.json"] = planBlob;
    for (const auto &[path, text] : candidate->files) {
        CUDA_AGENT_ASSIGN(blob, workspace.recorder->putBlob(text));
        files[path] = blob;
    }
    CUDA_AGENT_TRY(workspace.recorder->append(session::EventType::verdictGiven, turn,
                                              {{"verdict", json}, {"candidate", files}}));
    session::Observation observation;
    observation.ok = verdict->correct;
    observation.text = summaryOf(json);
    observation.data["verdict"] = json;
    return observation;
}

} // namespace

std::string summaryOf(const Json &verdict) {
    if (!verdict.value("correct", false))
        return verdict.value("problem", "not correct");
    const auto &times = verdict.at("times");
    std::string text = fmt::format("correct, reward {}: {}", verdict.at("reward").get<int>(),
                                   formatSeconds(times.at("candidate").at("seconds")));
    const auto speedup = verdict.value("speedup", Json::object());
    for (const auto *name : {"eager", "compile"})
        if (speedup.contains(name))
            text += fmt::format(", {:.2f}x {}", speedup.at(name).get<double>(),
                                std::string_view(name) == "eager" ? "eager" : "torch.compile");
    if (verdict.contains("fraction_of_limit"))
        text += fmt::format(", {:.0f} % of this machine's limit",
                            100 * verdict.at("fraction_of_limit").get<double>());
    return text;
}

std::string formatSeconds(double seconds) {
    if (seconds < 1e-3)
        return fmt::format("{:.1f} us", seconds * 1e6);
    if (seconds < 1)
        return fmt::format("{:.3f} ms", seconds * 1e3);
    return fmt::format("{:.2f} s", seconds);
}

Result<session::Observation> callTool(Workspace &workspace, const session::ToolCall &call, int turn,
                                      std::stop_token stop) {
    const auto start = Clock::now();
    const auto act = [&]() -> Result<session::Observation> {
        if (!call.arguments.is_object())
            return refuse("the arguments must be a JSON object");
        if (call.tool == "Write")
            return write(workspace, call.arguments, turn);
        if (call.tool == "Compile")
            return compile(workspace, turn, stop);
        if (call.tool == "Verify")
            return verify(workspace, call.arguments, turn, stop);
        return refuse(
            fmt::format("there is no tool '{}'; use Write, Compile or Verify", call.tool));
    };
    auto observation = act();
    if (observation) {
        observation->id = call.id;
        observation->seconds = std::chrono::duration<double>(Clock::now() - start).count();
    }
    return observation;
}

Json toolSchemas() {
    const auto text = [](const char *what) {
        return Json{{"type", "string"}, {"description", what}};
    };
    const auto tool = [](const char *name, const char *what, Json properties, Json required) {
        return Json{{"type", "function"},
                    {"function",
                     {{"name", name},
                      {"description", what},
                      {"parameters",
                       {{"type", "object"},
                        {"properties", std::move(properties)},
                        {"required", std::move(required)},
                        {"additionalProperties", false}}}}}};
    };
    return Json::array(
        {tool("Write", "Write one file of the candidate, replacing it.",
              {{"path", text("plan.json or a .cu file such as kernels/fused.cu")},
               {"content", text("the whole text of the file")}},
              {"path", "content"}),
         tool("Compile", "Compile the candidate and report diagnostics.", Json::object(),
              Json::array()),
         tool("Verify", "Compile, verify and time the candidate; answers with the verdict.",
              {{"strength",
                {{"type", "string"},
                 {"enum", {"training", "full"}},
                 {"description", "training: short timing; full: the final protocol"}}}},
              Json::array())});
}

} // namespace cuda_agent::agent
