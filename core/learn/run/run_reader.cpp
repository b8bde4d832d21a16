// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/run/run_reader.h"

#include <algorithm>
#include <sys/stat.h>
#include <time.h>

namespace cuda_agent::learn {

namespace {

/// Seconds since the file was written; by this machine's clock, which another one's may be ahead
/// of.
double ageOf(const std::filesystem::path &path) {
    struct stat status {};
    timespec now{};
    if (::stat(path.c_str(), &status) != 0 || ::clock_gettime(CLOCK_REALTIME, &now) != 0)
        return 0;
    return std::max(0.0, static_cast<double>(now.tv_sec - status.st_mtim.tv_sec) +
                             static_cast<double>(now.tv_nsec - status.st_mtim.tv_nsec) * 1e-9);
}

/// The text of a small file; nothing when it is not there. `problem` gets why it cannot be read.
std::optional<std::string> textOf(const std::filesystem::path &path, std::string &problem) {
    std::error_code ignored;
    if (!std::filesystem::exists(path, ignored))
        return std::nullopt;
    auto text = readSmallFile(path);
    if (text)
        return std::move(*text);
    if (problem.empty())
        problem = text.error().message;
    return std::nullopt;
}

} // namespace

RunReader::RunReader(std::filesystem::path folder)
    : metrics_(folder), rollouts_(std::move(folder)) {}

RunReader::Change RunReader::read(std::size_t limit) {
    Change change;
    change.metrics = metrics_.read(limit);
    change.rollouts = rollouts_.read();
    const auto before = std::tuple(infoText_, statusText_, controlText_, problem_, life_);
    readState();
    change.state = before != std::tuple(infoText_, statusText_, controlText_, problem_, life_);
    return change;
}

void RunReader::readState() {
    std::string problem;
    if (const auto text = textOf(runInfoFile(folder()), problem)) {
        auto info = parseRunInfo(*text, runInfoFile(folder()).string());
        if (!info && problem.empty())
            problem = info.error().message;
        if (info && *text != infoText_) {
            if (auto recipe = readSmallFile(recipeFile(folder())))
                info->recipe = std::move(*recipe);
            info_ = std::move(*info);
            infoText_ = *text;
        }
    }
    if (const auto text = textOf(statusFile(folder()), problem)) {
        statusAge_ = ageOf(statusFile(folder()));
        auto status = parseStatus(*text, statusFile(folder()).string());
        if (!status && problem.empty())
            problem = status.error().message;
        if (status) {
            status_ = std::move(*status);
            statusText_ = *text;
        }
    }
    open_.reset();
    controlText_.clear();
    std::string ignored;
    if (const auto text = textOf(controlFile(folder()), ignored); text && status_) {
        const auto request = parseRequest(*text, "control.json");
        if (request && request->start == status_->start && request->id != status_->answered) {
            open_ = *request;
            controlText_ = *text;
        }
    }
    problem_ = std::move(problem);
    life_ = lifeNow();
}

RunReader::Life RunReader::lifeNow() const {
    if (!status_)
        return Life::none;
    if (status_->state != RunState::running && status_->state != RunState::paused)
        return Life::ended;
    // One that rests has nothing to write, and one in a long step neither: the lock tells them from
    // one that was killed.
    if (statusAge_ < silence)
        return Life::alive;
    if (!isHeld(folder()))
        return Life::lost;
    return status_->state == RunState::paused ? Life::alive : Life::silent;
}

} // namespace cuda_agent::learn
