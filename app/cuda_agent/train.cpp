// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/commands.h"

#include "core/base/paths.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace cuda_agent::app {

namespace {

/// The trainer is a program of its own, for it needs LibTorch; this one becomes it.
Result<int> train(std::vector<std::string> words) {
    const auto program = workerDir() / "cuda-agent-learn";
    words.insert(words.begin(), {program.string(), "train"});
    std::vector<char *> arguments;
    for (auto &word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execv(program.c_str(), arguments.data());
    return machineError("{}: {}; it is built with PyTorch's libraries: {}", program.string(),
                        std::strerror(errno), setupCommand());
}

} // namespace

Run addTrain(CLI::App &app) {
    app.set_help_flag(); // cuda-agent-learn explains its own options
    app.allow_extras();
    const auto json = std::make_shared<bool>(false);
    app.add_flag("--json", *json);
    return [&app, json](const std::stop_token &) {
        auto words = app.remaining();
        if (*json)
            words.emplace_back("--json");
        return train(std::move(words));
    };
}

} // namespace cuda_agent::app
