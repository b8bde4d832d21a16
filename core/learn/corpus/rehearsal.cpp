// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/rehearsal.h"

#include "core/base/hash.h"

#include <algorithm>

namespace cuda_agent::learn {

namespace {

/// Of what an observation depends on; another one makes all that are kept useless.
constexpr int version = 1;
/// Failures of the machine after which the task's other candidates are not tried.
constexpr int mostFailures = 2;

std::string keyOf(const TaskJudge::Setting &setting, const Json &files, const Json &arguments) {
    Json key{{"version", version},
             {"program", CUDA_AGENT_VERSION},
             {"device", setting.device.name},
             {"threads", setting.device.multiprocessors},
             {"numerics", task::nameOf(setting.judge.numerics)},
             {"timing", setting.judge.timing},
             {"task", sha256Hex(setting.code)},
             {"files", files},
             {"arguments", arguments}};
    return sha256Hex(key.dump()).substr(0, 32);
}

/// Writes it to a folder and reads it from there, as every candidate is. Errors: request, machine.
Result<judge::Candidate> candidateOf(const CandidateText &text) {
    CUDA_AGENT_ASSIGN(folder, TemporaryFolder::make("candidate"));
    CUDA_AGENT_TRY(writeFileAtomically(folder.path() / "plan.json", text.plan.dump()));
    if (!text.kernels.empty())
        CUDA_AGENT_TRY(writeFileAtomically(folder.path() / kernelFile, text.kernels));
    return judge::readCandidate(folder.path());
}

bool outOfMemory(const session::Observation &observation) {
    const auto kind = Json::json_pointer("/verdict/fault/kind");
    return observation.data.contains(kind) && observation.data.at(kind) == "out_of_memory";
}

} // namespace

Result<judge::Judge *> TaskJudge::judge(const std::stop_token &stop) {
    if (failure_)
        return tl::unexpected(*failure_);
    if (!judge_) {
        auto made = [&]() -> Result<std::unique_ptr<judge::Judge>> {
            CUDA_AGENT_ASSIGN(device, setting_.open());
            return judge::Judge::prepare(setting_.spec, std::move(device), setting_.judge, {},
                                         stop);
        }();
        if (!made) {
            if (made.error().kind != ErrorKind::stopped)
                failure_ = made.error();
            return tl::unexpected(made.error());
        }
        judge_ = std::move(*made);
    }
    return judge_.get();
}

Result<session::Observation> TaskJudge::verify(tools::Workspace::Parts parts, int turn,
                                               const session::ToolCall &call,
                                               const std::stop_token &stop) {
    const Json files = parts.recorder->state().files; // path -> hash of its text
    const auto key = keyOf(setting_, files, call.arguments);
    if (auto known = setting_.known->find(key)) {
        known->id = call.id;
        return std::move(*known);
    }
    CUDA_AGENT_ASSIGN(judge, this->judge(stop));
    parts.judge = judge;
    CUDA_AGENT_ASSIGN(workspace, tools::Workspace::open(std::move(parts)));
    workspace.turn = turn;
    auto observation = tools::callTool(workspace, call, stop);
    if (observation && outOfMemory(*observation))
        observation = machineError("{}", observation->text.substr(0, observation->text.find('\n')));
    if (!observation)
        return failed(observation.error());
    setting_.known->add(key, *observation);
    if (setting_.judged)
        setting_.judged();
    return observation;
}

tl::unexpected<Error> TaskJudge::failed(const Error &error) {
    if (error.kind == ErrorKind::stopped)
        return tl::unexpected(error);
    judge_.reset(); // what failed may have taken its workers with it
    if (++failures_ >= mostFailures)
        failure_ = Error{ErrorKind::machine, error.message};
    return machineError("{}", error.message);
}

Result<double> TaskJudge::gain(const CandidateText &a, const CandidateText &b,
                               const std::stop_token &stop) {
    const auto key = keyOf(setting_, {a.kernels, a.plan, b.kernels, b.plan}, "gain");
    if (const auto known = setting_.known->find(key); known && known->data.is_number())
        return known->data.get<double>();
    CUDA_AGENT_ASSIGN(one, candidateOf(a));
    CUDA_AGENT_ASSIGN(other, candidateOf(b));
    CUDA_AGENT_ASSIGN(judge, this->judge(stop));
    const auto comparison = judge->compare(one, other, stop);
    if (!comparison)
        return failed(comparison.error());
    session::Observation observation;
    observation.ok = comparison->times.has_value();
    observation.data = comparison->times ? 1 + comparison->times->difference.low : 0.0;
    setting_.known->add(key, observation);
    return observation.data.get<double>();
}

Result<Rehearsal> Rehearsal::begin(TaskJudge &judge) {
    CUDA_AGENT_ASSIGN(folder, TemporaryFolder::make("rehearsal"));
    Rehearsal rehearsal(judge, std::move(folder));
    CUDA_AGENT_ASSIGN(log, session::Log::create(rehearsal.folder_.path() / "session"));
    rehearsal.recorder_ = std::make_unique<session::Recorder>(std::move(log), session::State());
    CUDA_AGENT_ASSIGN(workspace, tools::Workspace::open(rehearsal.parts()));
    rehearsal.workspace_.emplace(std::move(workspace));
    CUDA_AGENT_TRY(rehearsal.workspace_->restore());
    return rehearsal;
}

tools::Workspace::Parts Rehearsal::parts() const {
    tools::Workspace::Parts parts;
    parts.folder = folder_.path() / "session" / "candidate";
    parts.recorder = recorder_.get();
    parts.protectedFiles["model.py"] = judge_->setting().code;
    return parts;
}

Result<Observed> Rehearsal::play(const chat::Segment &turn, const std::stop_token &stop) {
    CUDA_AGENT_ASSIGN(step, chat::stepOf(turn.text, ++turns_));
    workspace_->turn = turns_;
    Observed observed;
    std::vector<session::Observation> observations;
    for (const auto &call : step.calls) {
        auto observation = call.tool == "Verify" ? judge_->verify(parts(), turns_, call, stop)
                                                 : tools::callTool(*workspace_, call, stop);
        if (!observation)
            return tl::unexpected(observation.error());
        if (call.tool == "Verify")
            observed.verdict = verdictOf(*observation);
        else
            observed.refused = observed.refused || !observation->ok;
        observations.push_back(std::move(*observation));
    }
    observed.observations = chat::observationsOf(step.calls, observations);
    return observed;
}

} // namespace cuda_agent::learn
