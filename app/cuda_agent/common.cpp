// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "app/cuda_agent/common.h"

namespace cuda_agent::app {

void TaskOptions::add(CLI::App &app) {
    app.add_option("TASK", task, "Python file with Model, get_inputs() and get_init_inputs()")
        ->required();
    app.add_option("--device", device, "Where to run")
        ->check(CLI::IsMember({"auto", "cuda", "cpu"}))
        ->capture_default_str();
    app.add_option("--numerics", numerics, "Precision that both sides declare")
        ->check(CLI::IsMember({"default", "tf32", "published"}))
        ->capture_default_str();
    app.add_option("--rules", rules,
                   "What a module candidate may use: published refuses framework operators, "
                   "kernelbench flags them")
        ->check(CLI::IsMember({"published", "kernelbench"}))
        ->capture_default_str();
    app.add_option("--set", sets, "NAME=VALUE: override a module-level constant of the task")
        ->allow_extra_args(false);
    app.add_flag("--max-autotune", maxAutotune, "Also time torch.compile with max-autotune");
    app.add_flag("--json", json, "Print JSON on standard output; progress goes to standard error");
}

Result<TaskRequest> openTask(const TaskOptions &options) {
    TaskRequest request;
    CUDA_AGENT_ASSIGN(spec, task::openSpec(options.task, options.sets));
    request.spec = std::move(spec);
    CUDA_AGENT_ASSIGN(numerics, task::numericsFromName(options.numerics));
    request.judge.numerics = numerics;
    CUDA_AGENT_ASSIGN(rules, modules::rulesFromName(options.rules));
    request.judge.rules = rules;
    request.judge.maxAutotune = options.maxAutotune;
    return request;
}

void addBaselines(CLI::App &app, std::string &folder) {
    app.add_option(
        "--baselines", folder,
        "Folder of eager's and torch.compile's times from earlier runs on such a device: "
        "what is there is not measured again, what is not is added (default: measure "
        "always)");
}

void EndpointOptions::add(CLI::App &app) {
    app.add_option("--endpoint-config", file,
                   "TOML file with the endpoint's settings (default: " +
                       policy::endpointConfigFile().string() + ")");
    app.add_option("--base-url", baseUrl,
                   "Of an OpenAI-compatible endpoint, such as http://127.0.0.1:8000/v1; the key is "
                   "taken from $CUDA_AGENT_API_KEY, the file, or $OPENAI_API_KEY");
    app.add_option("--model", model, "Language model, as the endpoint names it");
}

Result<policy::EndpointConfig> EndpointOptions::config() const {
    const std::filesystem::path named =
        file.empty() ? policy::endpointConfigFile() : std::filesystem::path(file);
    std::error_code error;
    if (!file.empty() && !std::filesystem::exists(named, error))
        return requestError("there is no file {}", file);
    CUDA_AGENT_ASSIGN(config, policy::readEndpointConfig(named));
    if (!baseUrl.empty())
        config.baseUrl = baseUrl;
    config.baseUrl = policy::trimmedBaseUrl(std::move(config.baseUrl));
    if (!model.empty())
        config.model = model;
    CUDA_AGENT_TRY(policy::checkEndpoint(config));
    return std::move(config);
}

void TransformerOptions::add(CLI::App &app) {
    app.add_option("--weights", weights,
                   "Folder of the transformer's weights, such as a checkpoint's actor/ (default: "
                   "$CUDA_AGENT_WEIGHTS, else the ones that came with the program)");
    app.add_option(
           "--temperature", temperature,
           "How freely the transformer writes; 0: always the likeliest token, and where it begins "
           "anew another one at one place (default: 0, in attempts after the first 1)")
        ->check(CLI::Range(0.0, 10.0));
    app.add_option("--top-p", topP,
                   "The transformer's tokens are among the likeliest that make this probability "
                   "together (default: 1)")
        ->check(CLI::Range(0.01, 1.0));
    app.add_option(
           "--longest-turn", longestTurn,
           "Tokens that the transformer writes in a turn at most (default: 10500, or what its "
           "context has room for)")
        ->check(CLI::Range(1, 1'000'000));
    app.add_flag_function( // add_flag() would set it to false where it is not given
        "--grammar,!--no-grammar", [this](std::int64_t count) { grammar = count > 0; },
        "The transformer writes only what can be read as a turn whose calls the tools take, and "
        "ends it in time (default: where the model has the tokens of such turns)");
    app.add_option_function<std::string>(
           "--fresh-starts",
           [this](const std::string &name) { freshStarts = policy::freshStartsFrom(name).value(); },
           "After which turns the transformer begins anew from the task, with another token where "
           "it hesitated: on-failure, those that brought nothing better, always, all with a "
           "verdict, or never (default: on-failure)")
        ->check(CLI::IsMember(std::vector<std::string>(policy::freshStartsNames.begin(),
                                                       policy::freshStartsNames.end())));
}

agent::TransformerConfig TransformerOptions::config() const {
    agent::TransformerConfig config;
    config.weights = weights;
    config.temperature = temperature;
    config.topP = topP;
    config.longestTurn = longestTurn;
    config.grammar = grammar;
    config.freshStarts = freshStarts;
    return config;
}

Result<void> checkPolicyOptions(const CLI::App &app, const std::string &policy) {
    static const std::pair<const char *, const char *> owners[] = {
        {"--recorded", "replay"},          {"--weights", "transformer"},
        {"--temperature", "transformer"},  {"--top-p", "transformer"},
        {"--longest-turn", "transformer"}, {"--grammar", "transformer"},
        {"--fresh-starts", "transformer"}, {"--endpoint-config", "endpoint"},
        {"--base-url", "endpoint"},        {"--model", "endpoint"},
        {"--skills", "endpoint"}};
    for (const auto &[name, owner] : owners) {
        const auto *option = app.get_option_no_throw(name);
        if (option != nullptr && option->count() > 0 && policy != owner)
            return requestError("{} is for --policy {}, and the policy is {}", name, owner, policy);
    }
    return {};
}

} // namespace cuda_agent::app
