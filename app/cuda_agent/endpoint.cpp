// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/commands.h"
#include "app/cuda_agent/common.h"

namespace cuda_agent::app {

namespace {

struct Options {
    EndpointOptions endpoint;
    bool save = false;
    bool json = false;
};

Result<int> endpoint(const Options &options, std::stop_token stop) {
    CUDA_AGENT_ASSIGN(config, options.endpoint.config());
    if (!options.json) {
        fmt::print("{} with {}, key {}\n", config.baseUrl, config.model,
                   config.key.empty() ? "none" : "from " + config.keySource);
        std::fflush(stdout);
    }
    CUDA_AGENT_ASSIGN(test, policy::testEndpoint(config, std::move(stop)));
    if (options.json) {
        Json json = policy::describeEndpoint(config);
        json["answered_as"] = test.model;
        json["tool_calls"] = test.tools;
        json["counts_tokens"] = test.usage;
        json["seconds"] = test.seconds;
        json["first_token_seconds"] = test.firstSeconds;
        fmt::print("{}\n", json.dump(2));
    } else {
        fmt::print("answers in {:.2f} s, the first piece after {:.2f} s\n", test.seconds,
                   test.firstSeconds);
        fmt::print("tool calls: {}\n",
                   test.tools ? "yes"
                              : "no; it answered in words, and an agent needs a model that calls "
                                "tools (some servers need an option for that)");
        fmt::print("counts tokens: {}\n",
                   test.usage ? "yes" : "no; this program will estimate them");
    }
    if (options.save) {
        const std::filesystem::path file = options.endpoint.file.empty()
                                               ? policy::endpointConfigFile()
                                               : std::filesystem::path(options.endpoint.file);
        CUDA_AGENT_TRY(policy::writeEndpointConfig(file, config));
        if (!options.json)
            fmt::print("saved in {} (without the key)\n", file.string());
    }
    return test.tools ? 0 : 1;
}

} // namespace

Run addEndpoint(CLI::App &app) {
    auto options = std::make_shared<Options>();
    options->endpoint.add(app);
    app.add_flag("--save", options->save, "Keep these settings, all but the key");
    app.add_flag("--json", options->json, "Print JSON");
    return [options](std::stop_token stop) { return endpoint(*options, std::move(stop)); };
}

} // namespace cuda_agent::app
