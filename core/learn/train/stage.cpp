// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/stage.h"

#include "core/base/elapsed.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace cuda_agent::learn {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

Stage::Stage(const StageInput &input, std::string_view name, std::int64_t steps,
             std::int64_t checkpointEvery, double seconds)
    : input_(input), name_(name), steps_(steps), tokens_(input.tokens),
      checkpointEvery_(checkpointEvery), mostSeconds_(seconds), before_(input.seconds) {}

bool Stage::isDone() {
    return done_ >= steps_ ||
           (mostSeconds_ > 0 && input_.processes.firstSays(seconds_ >= mostSeconds_));
}

Result<StageEnd> Stage::go(const std::optional<Checkpoint> &from, const std::stop_token &stop) {
    bool scored = false;
    if (from) {
        const Json &state = from->state;
        CUDA_AGENT_TRY(restore(*from));
        if (input_.rollouts)
            CUDA_AGENT_TRY(input_.rollouts->restore(from->folder));
        done_ = saved_ = from->step - input_.firstStep;
        tokens_ = state.value("tokens", std::int64_t{0});
        seconds_ = state.value("stage_seconds", 0.0);
        before_ = state.value("seconds", 0.0) - seconds_;
        scored = state.value("scored", false);
    }
    CUDA_AGENT_TRY(tell());
    const bool scores = input_.rollouts && !input_.recipe.scoring.splits.empty();
    if (scores && input_.recipe.scoring.beforeTrain && !from && input_.firstStep == 0) {
        CUDA_AGENT_ASSIGN(end, score(stop));
        if (end == StageEnd::stopped)
            return end;
    }
    bool stopped = input_.processes.firstSays(stop.stop_requested());
    bool done = isDone();
    while (!done && !stopped) {
        const auto begin = Clock::now();
        const auto stepped = step(stop);
        if (!stepped && stepped.error().kind == ErrorKind::stopped)
            break;
        CUDA_AGENT_TRY(stepped);
        seconds_ += secondsSince(begin);
        if (done_ % checkpointEvery_ == 0 || done_ == steps_)
            CUDA_AGENT_TRY(writeCheckpointNow(false));
        CUDA_AGENT_TRY(tell());
        const bool asked =
            input_.run && input_.run->waitWhilePaused(stop) == RunWriter::Asked::stop;
        stopped = input_.processes.firstSays(asked || stop.stop_requested());
        done = isDone();
    }
    if (saved_ != done_)
        CUDA_AGENT_TRY(writeCheckpointNow(false));
    if (!done)
        return StageEnd::stopped;
    if (scores && !scored && input_.recipe.scoring.behind(name_)) {
        CUDA_AGENT_ASSIGN(end, score(stop));
        if (end == StageEnd::stopped)
            return end;
        CUDA_AGENT_TRY(writeCheckpointNow(true));
    }
    return StageEnd::done;
}

Result<StageEnd> Stage::score(const std::stop_token &stop) {
    const auto metrics = input_.rollouts->score(input_.firstStep + done_, stop);
    if (!metrics && metrics.error().kind == ErrorKind::stopped)
        return StageEnd::stopped;
    CUDA_AGENT_TRY(metrics);
    CUDA_AGENT_TRY(log(*metrics));
    return StageEnd::done;
}

Result<void> Stage::log(const Metrics &metrics) {
    return input_.run ? input_.run->log(input_.firstStep + done_, name_, metrics) : Result<void>();
}

Result<void> Stage::saveOptimiser(const fs::path &file, const Optimiser &optimiser) {
    return writeSafetensors(file, {optimiser.state(), {}});
}

Result<void> Stage::restoreOptimiser(const fs::path &file, Optimiser &optimiser) {
    CUDA_AGENT_ASSIGN(content, readSafetensors(file));
    const auto set = optimiser.setState(content.tensors);
    if (!set)
        return requestError("{}: {}", file.string(), set.error().message);
    return {};
}

Result<void> Stage::checkFinite(double loss) const {
    if (!std::isfinite(loss))
        return failedError("the loss of step {} is {}; lower the learning rate, and go on from "
                           "the last checkpoint with --resume",
                           input_.firstStep + done_ + 1, loss);
    return {};
}

Result<void> Stage::writeCheckpointNow(bool scored) {
    saved_ = done_;
    if (!input_.run)
        return {};
    Json state{{"stage", name_},
               {"seconds", seconds()},
               {"stage_seconds", seconds_},
               {"tokens", tokens_},
               {"scored", scored}};
    state.update(this->state());
    const auto model = [&](const fs::path &folder, const Transformer &which) -> Result<void> {
        CUDA_AGENT_TRY(which.save(folder, which.parameters().values().scalar_type()));
        std::error_code error;
        fs::copy_file(input_.tokenizerFile, folder / "tokenizer.json", error);
        if (error)
            return machineError("{}: {}", input_.tokenizerFile.string(), error.message());
        return {};
    };
    return writeCheckpoint(input_.run->folder(), input_.firstStep + done_, state,
                           input_.recipe.checkpointsKept,
                           [&](const fs::path &folder) -> Result<void> {
                               CUDA_AGENT_TRY(model(folder / "actor", input_.actor));
                               if (input_.critic)
                                   CUDA_AGENT_TRY(model(folder / "critic", *input_.critic));
                               if (input_.rollouts)
                                   CUDA_AGENT_TRY(input_.rollouts->save(folder));
                               return save(folder);
                           });
}

Result<void> Stage::tell() {
    if (!input_.run)
        return {};
    RunStatus status;
    status.state = RunState::running;
    status.stage = name_;
    status.step = input_.firstStep + done_;
    status.stageStep = done_;
    status.stageSteps = steps_;
    status.tokens = tokens_;
    status.seconds = seconds();
    if (done_ > 0 && input_.last) {
        status.secondsLeft =
            seconds_ / static_cast<double>(done_) * static_cast<double>(steps_ - done_);
        if (mostSeconds_ > 0)
            status.secondsLeft =
                std::min(status.secondsLeft, std::max(0.0, mostSeconds_ - seconds_));
    }
    return input_.run->setStatus(status);
}

} // namespace cuda_agent::learn
