// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/toml_fields.h"
#include "core/policy/endpoint/chat_client.h"

#include <cstdlib>

namespace cuda_agent::policy {

namespace fs = std::filesystem;

namespace {

std::string environment(const std::string &name) {
    const char *value = std::getenv(name.c_str());
    return value ? value : "";
}

bool isLoopback(const std::string &url) {
    for (const auto *host : {"http://127.", "http://localhost", "http://[::1]"})
        if (url.starts_with(host))
            return true;
    return false;
}

void findKey(EndpointConfig &config, const std::string &named, const std::string &inFile,
             const std::string &file) {
    const auto from = [&](const std::string &variable) {
        config.key = environment(variable);
        config.keySource = "$" + variable;
        return !config.key.empty();
    };
    if (!named.empty() && from(named))
        return;
    if (from("CUDA_AGENT_API_KEY"))
        return;
    if (!inFile.empty()) {
        config.key = inFile;
        config.keySource = file;
        return;
    }
    if (!from(lastKeyVariable))
        config.keySource.clear();
}

} // namespace

std::string trimmedBaseUrl(std::string baseUrl) {
    while (baseUrl.ends_with('/'))
        baseUrl.pop_back();
    return baseUrl;
}

fs::path endpointConfigFile() {
    if (const auto named = environment("CUDA_AGENT_ENDPOINT_CONFIG"); !named.empty())
        return named;
    const auto xdg = environment("XDG_CONFIG_HOME");
    const fs::path folder = xdg.empty() ? fs::path(environment("HOME")) / ".config" : fs::path(xdg);
    return folder / "cuda-agent" / "endpoint.toml";
}

Result<EndpointConfig> readEndpointConfig(const fs::path &file) {
    EndpointConfig config;
    std::string keyVariable;
    std::string keyInFile;
    std::error_code error;
    if (fs::exists(file, error)) {
        CUDA_AGENT_ASSIGN(text, readTextFile(file, 1u << 20));
        toml::table table;
        try {
            table = toml::parse(text);
        } catch (const toml::parse_error &problem) { // the library's way to say it
            // Its message may quote the line, and the line may hold the key.
            return requestError("{}:{}: not TOML; a line is written as base_url = \"https://...\"",
                                file.string(), problem.source().begin.line);
        }
        TomlFields fields(table, file.string());
        fields.take("base_url", config.baseUrl);
        fields.take("model", config.model);
        fields.take("key", keyInFile);
        fields.take("key_env", keyVariable);
        double temperature = -1;
        fields.take("temperature", temperature, 0, 10);
        if (temperature >= 0)
            config.temperature = temperature;
        fields.take("answer_tokens", config.answerTokens, 16, 1e6);
        fields.take("context_tokens", config.contextTokens, 1024, 1e8);
        fields.take("stream", config.stream);
        fields.takeTable("extra", config.extra);
        fields.take("prompt_price", config.promptPrice, 0, 1e6);
        fields.take("cached_price", config.cachedPrice, 0, 1e6);
        fields.take("answer_price", config.answerPrice, 0, 1e6);
        fields.take("attempts", config.attempts, 1, 100);
        fields.take("connect_seconds", config.connectSeconds, 0.1, 600);
        fields.take("idle_seconds", config.idleSeconds, 1, 3600);
        CUDA_AGENT_TRY(fields.finish());
    }
    config.baseUrl = trimmedBaseUrl(std::move(config.baseUrl));
    findKey(config, keyVariable, keyInFile, file.string());
    return config;
}

Result<void> writeEndpointConfig(const fs::path &file, const EndpointConfig &config) {
    toml::table table;
    std::error_code error;
    if (fs::exists(file, error)) { // the key and whatever a person put there stay
        CUDA_AGENT_ASSIGN(text, readTextFile(file, 1u << 20));
        try {
            table = toml::parse(text);
        } catch (const toml::parse_error &problem) {
            return requestError("{}:{}: not TOML; mend or remove the file", file.string(),
                                problem.source().begin.line);
        }
    }
    table.insert_or_assign("base_url", config.baseUrl);
    table.insert_or_assign("model", config.model);
    table.insert_or_assign("answer_tokens", config.answerTokens);
    table.insert_or_assign("context_tokens", config.contextTokens);
    table.insert_or_assign("stream", config.stream);
    table.insert_or_assign("prompt_price", config.promptPrice);
    table.insert_or_assign("cached_price", config.cachedPrice);
    table.insert_or_assign("answer_price", config.answerPrice);
    if (config.temperature)
        table.insert_or_assign("temperature", *config.temperature);
    else
        table.erase("temperature");
    std::ostringstream text;
    text << "# Language model endpoint of the CUDA Agent Workbench. The key is better kept in the\n"
            "# environment variable CUDA_AGENT_API_KEY, or one that key_env names, than in here.\n"
         << table << "\n";
    return writeFileAtomically(file, text.str());
}

Result<void> checkEndpoint(const EndpointConfig &config) {
    const auto file = endpointConfigFile().string();
    if (config.baseUrl.empty())
        return requestError("no endpoint is set: give --base-url URL, or base_url in {}", file);
    if (!config.baseUrl.starts_with("http://") && !config.baseUrl.starts_with("https://"))
        return requestError("the base URL '{}' must start with https:// or http://",
                            config.baseUrl);
    if (config.model.empty())
        return requestError("no model is named: give --model NAME, or model in {}", file);
    if (!config.key.empty() && config.baseUrl.starts_with("http://") && !isLoopback(config.baseUrl))
        return requestError(
            "the key would travel unencrypted to {}; use https://, or leave the key "
            "out",
            config.baseUrl);
    if (config.key.find_first_of("\r\n") != std::string::npos)
        return requestError("the key from {} holds a line break", config.keySource);
    if (config.contextTokens <= config.answerTokens)
        return requestError("context_tokens ({}) must be more than answer_tokens ({})",
                            config.contextTokens, config.answerTokens);
    return {};
}

Json describeEndpoint(const EndpointConfig &config) {
    return {{"base_url", config.baseUrl},
            {"model", config.model},
            {"answer_tokens", config.answerTokens},
            {"context_tokens", config.contextTokens}};
}

Result<EndpointTest> testEndpoint(const EndpointConfig &config, std::stop_token stop) {
    CUDA_AGENT_TRY(checkEndpoint(config));
    EndpointConfig once = config;
    once.attempts = 1;
    once.answerTokens = std::min(config.answerTokens, 512);
    ChatClient client(once, {}, {});
    const Json messages = Json::array(
        {{{"role", "user"},
          {"content", "This is a connection test. Call the tool 'hello' with word = \"ready\"."}}});
    const Json tools = Json::array({{{"type", "function"},
                                     {"function",
                                      {{"name", "hello"},
                                       {"description", "Says that the connection stands."},
                                       {"parameters",
                                        {{"type", "object"},
                                         {"properties", {{"word", {{"type", "string"}}}}},
                                         {"required", Json::array({"word"})}}}}}}});
    CUDA_AGENT_ASSIGN(outcome, client.ask(messages, tools, stop));
    const auto *asked = std::get_if<Asked>(&outcome);
    if (!asked)
        return requestError("the model's context is too small even for a test: {}",
                            std::get<ContextOverflow>(outcome).message);
    EndpointTest test;
    test.tools = std::ranges::any_of(asked->answer.calls,
                                     [](const auto &call) { return call.tool == "hello"; });
    test.usage = asked->answer.counted;
    test.seconds = asked->seconds;
    test.firstSeconds = asked->answer.firstSeconds;
    test.model = asked->answer.model;
    test.text = asked->answer.text;
    return test;
}

} // namespace cuda_agent::policy
