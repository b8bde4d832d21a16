// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/agent/transformer.h"
#include "core/judge/judge.h"
#include "core/policy/endpoint/endpoint.h"

#include <CLI/CLI.hpp>

namespace cuda_agent::app {

/// Options that every command on a task takes.
struct TaskOptions {
    std::string task;
    std::string device = "auto";
    std::string numerics = "default";
    std::string rules = "published";
    std::vector<std::string> sets;
    bool maxAutotune = false;
    bool json = false;
    void add(CLI::App &app);
};

/// The parsed request of such a command. Errors: request.
struct TaskRequest {
    task::Spec spec;
    judge::Options judge;
};
Result<TaskRequest> openTask(const TaskOptions &options);

/// `--baselines FOLDER`, for judge::Options::baselines.
void addBaselines(CLI::App &app, std::string &folder);

/// Options that say which language model to ask; what they leave open is in the configuration file.
struct EndpointOptions {
    std::string file;
    std::string baseUrl;
    std::string model;

    void add(CLI::App &app);
    /// Errors: request.
    Result<policy::EndpointConfig> config() const;
};

/// Options of the model that is trained here.
struct TransformerOptions {
    std::string weights;
    std::optional<double> temperature, topP;
    std::optional<std::int64_t> longestTurn;
    std::optional<bool> grammar;
    std::optional<policy::FreshStarts> freshStarts;

    void add(CLI::App &app);
    agent::TransformerConfig config() const;
};

/// Options that were given for another policy than the chosen one would do nothing. Errors:
/// request, which names one and its policy.
Result<void> checkPolicyOptions(const CLI::App &app, const std::string &policy);

} // namespace cuda_agent::app
