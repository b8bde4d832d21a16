// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/hash.h"
#include "core/policy/endpoint/endpoint.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace cuda_agent::policy {
namespace {

namespace fs = std::filesystem;

class EndpointConfigTest : public testing::Test {
  protected:
    void SetUp() override {
        file_ = fs::path(testing::TempDir()) / fmt::format("endpoint-{:x}.toml", randomSeed());
        for (const auto *name : {"CUDA_AGENT_API_KEY", "OPENAI_API_KEY", "MY_KEY"})
            ::unsetenv(name);
    }
    void TearDown() override {
        SetUp();
        fs::remove(file_);
    }
    Result<EndpointConfig> read(const std::string &text) {
        EXPECT_TRUE(writeFileAtomically(file_, text));
        return readEndpointConfig(file_);
    }
    std::string problem(const std::string &text) {
        const auto config = read(text);
        EXPECT_FALSE(config) << text;
        return config ? "" : config.error().message;
    }

    fs::path file_;
};

TEST_F(EndpointConfigTest, ReadsEveryField) {
    const auto config = read(R"(base_url = "https://example.org/v1"
model = "some/model"
key = "in-the-file"
temperature = 0.5
answer_tokens = 1000
context_tokens = 9000
stream = false
prompt_price = 1.5
cached_price = 0.15
answer_price = 6
[extra]
reasoning_effort = "high"
top_k = 5
)");
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->baseUrl, "https://example.org/v1");
    EXPECT_EQ(config->model, "some/model");
    EXPECT_EQ(config->key, "in-the-file");
    EXPECT_EQ(config->keySource, file_.string());
    EXPECT_EQ(config->temperature, 0.5);
    EXPECT_EQ(config->answerTokens, 1000);
    EXPECT_EQ(config->contextTokens, 9000);
    EXPECT_FALSE(config->stream);
    EXPECT_EQ(config->answerPrice, 6);
    EXPECT_EQ(config->extra, (Json{{"reasoning_effort", "high"}, {"top_k", 5}}));
    EXPECT_TRUE(checkEndpoint(*config));
    EXPECT_EQ(describeEndpoint(*config).dump().find("in-the-file"), std::string::npos);
}

TEST_F(EndpointConfigTest, FindsTheKeyInItsOrder) {
    ::setenv("OPENAI_API_KEY", "of-openai", 1);
    EXPECT_EQ(read("")->key, "of-openai");
    EXPECT_EQ(read("key = \"file\"")->key, "file");
    ::setenv("CUDA_AGENT_API_KEY", "own", 1);
    EXPECT_EQ(read("key = \"file\"")->key, "own");
    ::setenv("MY_KEY", "mine", 1);
    const auto config = read("key_env = \"MY_KEY\"");
    EXPECT_EQ(config->key, "mine");
    EXPECT_EQ(config->keySource, "$MY_KEY");
}

TEST_F(EndpointConfigTest, NamesWhatIsWrong) {
    EXPECT_NE(problem("base_url = 3").find("base_url must be a text"), std::string::npos);
    EXPECT_NE(problem("url = \"x\"").find("no field 'url'; there are answer_price"),
              std::string::npos);
    EXPECT_NE(problem("answer_tokens = 1.5").find("answer_tokens must be a whole number"),
              std::string::npos);
    EXPECT_NE(problem("stream = \"yes\"").find("true or false"), std::string::npos);
    const auto torn = problem("model = \"m\"\nkey = \"sk-very-secret");
    EXPECT_NE(torn.find(":2: not TOML"), std::string::npos) << torn;
    EXPECT_EQ(torn.find("very-secret"), std::string::npos);
}

TEST_F(EndpointConfigTest, NeedsAnAddressAndAModel) {
    EndpointConfig config;
    const auto words = [&] { return checkEndpoint(config).error().message; };
    EXPECT_NE(words().find("--base-url"), std::string::npos);
    config.baseUrl = "example.org";
    EXPECT_NE(words().find("https://"), std::string::npos);
    config.baseUrl = "http://example.org/v1";
    EXPECT_NE(words().find("--model"), std::string::npos);
    config.model = "m";
    EXPECT_TRUE(checkEndpoint(config));
    config.key = "k-1234";
    EXPECT_NE(words().find("unencrypted"), std::string::npos);
    config.baseUrl = "http://localhost:8000/v1";
    EXPECT_TRUE(checkEndpoint(config));
    config.contextTokens = 1000;
    EXPECT_NE(words().find("context_tokens"), std::string::npos);
}

TEST_F(EndpointConfigTest, WritesAllButTheKeyAndKeepsWhatIsThere) {
    auto config = read("key = \"in-the-file\"\nidle_seconds = 7\n");
    ASSERT_TRUE(config);
    config->baseUrl = "https://example.org/v1";
    config->model = "m";
    config->key = "typed-in";
    ASSERT_TRUE(writeEndpointConfig(file_, *config));
    EXPECT_EQ(readTextFile(file_)->find("typed-in"), std::string::npos);
    const auto again = readEndpointConfig(file_);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->baseUrl, "https://example.org/v1");
    EXPECT_EQ(again->key, "in-the-file");
    EXPECT_EQ(again->idleSeconds, 7);
}

TEST_F(EndpointConfigTest, SlashesAtTheEndOfABaseUrlAreNoPartOfIt) {
    const auto config = read("base_url = \"https://example.org/v1//\"\n");
    ASSERT_TRUE(config) << config.error().message;
    EXPECT_EQ(config->baseUrl, "https://example.org/v1");
}

TEST_F(EndpointConfigTest, AMissingFileIsNoError) {
    const auto config = readEndpointConfig(file_);
    ASSERT_TRUE(config);
    EXPECT_TRUE(config->baseUrl.empty());
    EXPECT_EQ(config->contextTokens, 131072);
}

} // namespace
} // namespace cuda_agent::policy
