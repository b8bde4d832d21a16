// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/learn/serve.h"

#include "core/learn/serve/server.h"

#include <sys/stat.h>

namespace cuda_agent::app {

namespace {

struct Options {
    learn::ServeRequest request;
    std::string weights;
    int channel = 3;
};

Result<int> serve(Options &options, const std::stop_token &stop) {
    struct stat about {};
    if (::fstat(options.channel, &about) != 0 || !S_ISSOCK(about.st_mode))
        return requestError("descriptor {} is no socket: cuda-agent starts this program for "
                            "--policy transformer",
                            options.channel);
    options.request.weights = options.weights;
    CUDA_AGENT_TRY(learn::serve(options.request, Channel(UniqueFd(options.channel)), stop));
    return 0;
}

} // namespace

std::function<Result<int>(const std::stop_token &)> addServe(CLI::App &app) {
    const auto options = std::make_shared<Options>();
    auto &request = options->request;
    app.add_option("--weights", options->weights,
                   "Folder with config.json, model.safetensors and tokenizer.json, such as a "
                   "checkpoint's actor/")
        ->required();
    app.add_option("--device", request.device, "Where to compute")
        ->check(CLI::IsMember({"auto", "cuda", "cpu"}))
        ->capture_default_str();
    app.add_option("--rows", request.rows,
                   "Conversations at once; others wait (default: 64 on a GPU, 4 on a CPU)")
        ->check(CLI::Range(1, 4096));
    app.add_option("--threads", request.threads, "Threads of PyTorch on a CPU")
        ->check(CLI::Range(1, 1024));
    app.add_option("--temperature", request.drawing.temperature,
                   "Of conversations that do not say; 0: always the likeliest token")
        ->check(CLI::Range(0.0, 10.0))
        ->capture_default_str();
    app.add_option("--top-p", request.drawing.topP,
                   "Likewise: the likeliest tokens that make this probability together")
        ->check(CLI::Range(0.01, 1.0))
        ->capture_default_str();
    app.add_flag("--grammar", request.drawing.grammar,
                 "Likewise: only what can be read as a turn whose calls the tools take");
    app.add_option("--channel", options->channel, "Descriptor of the socket that it answers on")
        ->check(CLI::Range(3, 1023))
        ->capture_default_str();
    return [options](const std::stop_token &stop) { return serve(*options, stop); };
}

} // namespace cuda_agent::app
