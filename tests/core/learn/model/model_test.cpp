// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/temporary_folder.h"
#include "core/learn/model/transformer.h"
#include "tests/core/learn/model/tiny_model.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>
#include <gtest/gtest.h>

namespace cuda_agent::learn {
namespace {

at::Tensor someTokens(std::int64_t rows, std::int64_t length) {
    return at::arange(rows * length, at::kLong).remainder(50).view({rows, length});
}

TEST(Model, CountsItsParameters) {
    for (const bool tied : {true, false}) {
        auto config = tinyConfig();
        config.tied = tied;
        const auto model =
            Transformer::drawn(config, Transformer::Head::logits, 1, at::kCPU, at::kFloat);
        EXPECT_EQ(model.parameters().values().numel(), config.parameters());
    }
    EXPECT_EQ(ModelConfig().parameters(), 15'736'192); // "15.7M"
}

TEST(Model, DrawsTheSameForASeed) {
    const auto draw = [](std::uint64_t seed) {
        return Transformer::drawn(tinyConfig(), Transformer::Head::logits, seed, at::kCPU,
                                  at::kFloat)
            .parameters()
            .values();
    };
    EXPECT_TRUE(at::equal(draw(3), draw(3)));
    EXPECT_FALSE(at::equal(draw(3), draw(4)));
}

TEST(Model, NoTokenSeesLaterOnes) {
    const at::NoGradGuard noGradients;
    const auto model =
        Transformer::drawn(tinyConfig(), Transformer::Head::logits, 1, at::kCPU, at::kFloat);
    const auto tokens = someTokens(1, 20);
    auto changed = tokens.clone();
    changed.select(1, 12).fill_(49);
    const auto before = model.hidden(tokens), after = model.hidden(changed);
    EXPECT_TRUE(at::allclose(before.narrow(1, 0, 12), after.narrow(1, 0, 12), 1e-5, 1e-6));
    EXPECT_FALSE(at::allclose(before.narrow(1, 12, 1), after.narrow(1, 12, 1), 1e-3, 1e-3));
}

TEST(Model, GradientsLandInTheFlatBuffer) {
    const auto model =
        Transformer::drawn(tinyConfig(), Transformer::Head::logits, 1, at::kCPU, at::kFloat);
    model.logits(model.hidden(someTokens(2, 9))).square().mean().backward();
    const auto &gradients = model.parameters().gradients();
    for (const auto &parameter : model.parameters().all()) {
        EXPECT_GT(parameter.value.grad().abs().max().item<float>(), 0) << parameter.name;
        EXPECT_TRUE(parameter.value.grad().storage().is_alias_of(gradients.storage()));
    }
    const auto once = gradients.clone();
    model.logits(model.hidden(someTokens(2, 9))).square().mean().backward();
    EXPECT_TRUE(at::allclose(gradients, once * 2, 1e-4, 1e-8)) << "they add up";
}

TEST(Model, ACriticStaysWithinItsBoundsAndStartsFromAnActor) {
    const at::NoGradGuard noGradients;
    const auto folder = TemporaryFolder::make("model-test");
    ASSERT_TRUE(folder);
    const auto actor =
        Transformer::drawn(tinyConfig(), Transformer::Head::logits, 1, at::kCPU, at::kFloat);
    ASSERT_TRUE(actor.save(folder->path() / "actor", at::kFloat));
    auto critic =
        Transformer::load(folder->path() / "actor", Transformer::Head::value, at::kCPU, at::kFloat);
    ASSERT_TRUE(critic) << critic.error().message;
    const auto hidden = critic->hidden(someTokens(2, 5));
    EXPECT_TRUE(at::equal(hidden, actor.hidden(someTokens(2, 5))));
    const auto values = critic->value(hidden);
    EXPECT_EQ(values.sizes(), hidden.sizes().slice(0, 2));
    EXPECT_TRUE(at::allclose(values, at::ones_like(values))) << "the middle, before it has learned";
    critic->parameters().at("valueWeight").detach().fill_(1e3);
    const auto extreme = critic->value(hidden);
    EXPECT_LE(extreme.max().item<double>(), Transformer::mostValue);
    EXPECT_GE(extreme.min().item<double>(), Transformer::leastValue);
    ASSERT_TRUE(critic->save(folder->path() / "critic", at::kFloat));
    const auto again = Transformer::load(folder->path() / "critic", Transformer::Head::value,
                                         at::kCPU, at::kFloat);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_TRUE(at::equal(again->value(hidden), extreme));
}

TEST(Model, MissingAndMisshapenTensorsAreNamed) {
    const auto folder = TemporaryFolder::make("model-test");
    ASSERT_TRUE(folder);
    const auto model =
        Transformer::drawn(tinyConfig(), Transformer::Head::logits, 1, at::kCPU, at::kFloat);
    ASSERT_TRUE(model.save(folder->path(), at::kFloat));
    const auto file = folder->path() / "model.safetensors";
    const auto whole = readSafetensors(file);
    ASSERT_TRUE(whole);
    const auto load = [&](const char *name, const at::Tensor &other) {
        auto content = *whole;
        if (other.defined())
            content.tensors[name] = other;
        else
            content.tensors.erase(name);
        EXPECT_TRUE(writeSafetensors(file, content));
        const auto loaded =
            Transformer::load(folder->path(), Transformer::Head::logits, at::kCPU, at::kFloat);
        return loaded ? std::string() : loaded.error().message;
    };
    EXPECT_NE(load("model.layers.1.self_attn.k_proj.weight", {}).find("layers.1.self_attn.k_proj"),
              std::string::npos);
    EXPECT_NE(load("model.norm.weight", at::ones({3})).find("model.norm.weight"),
              std::string::npos);
    const auto whole8 = at::ones({tinyConfig().inner, tinyConfig().hidden}, at::kChar);
    EXPECT_NE(load("model.layers.0.mlp.up_proj.weight", whole8).find("0.mlp.up_proj"),
              std::string::npos)
        << "integers without a scale";
    EXPECT_EQ(load("something.else", at::ones({3})), "") << "what is not asked for does not matter";
}

TEST(Safetensors, KeepsEveryType) {
    const auto folder = TemporaryFolder::make("model-test");
    ASSERT_TRUE(folder);
    Safetensors content;
    content.metadata["a"] = "b";
    for (const auto type : {at::kDouble, at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt,
                            at::kShort, at::kChar, at::kByte, at::kBool})
        content.tensors[fmt::format("t{}", static_cast<int>(type))] =
            at::arange(6).view({2, 3}).t().to(type);
    content.tensors["empty"] = at::zeros({0, 4});
    content.tensors["scalar"] = at::scalar_tensor(3);
    ASSERT_TRUE(writeSafetensors(folder->path() / "a.safetensors", content));
    const auto read = readSafetensors(folder->path() / "a.safetensors");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->metadata, content.metadata);
    ASSERT_EQ(read->tensors.size(), content.tensors.size());
    for (const auto &[name, tensor] : content.tensors) {
        EXPECT_EQ(read->tensors.at(name).scalar_type(), tensor.scalar_type()) << name;
        EXPECT_TRUE(at::equal(read->tensors.at(name), tensor)) << name;
    }
}

TEST(Safetensors, HostileFilesAreRefused) {
    const auto folder = TemporaryFolder::make("model-test");
    ASSERT_TRUE(folder);
    const auto file = folder->path() / "bad.safetensors";
    const auto told = [&](const std::string &header, std::size_t data) {
        std::string bytes(8, '\0');
        bytes[0] = static_cast<char>(header.size() & 255);
        bytes[1] = static_cast<char>(header.size() >> 8);
        EXPECT_TRUE(writeFileAtomically(file, bytes + header + std::string(data, 'x')));
        const auto read = readSafetensors(file);
        EXPECT_FALSE(read) << header;
        return read ? std::string() : read.error().message;
    };
    const auto entry = [](const char *dtype, const char *shape, const char *offsets) {
        return fmt::format(R"({{"w":{{"dtype":"{}","shape":{},"data_offsets":{}}}}})", dtype, shape,
                           offsets);
    };
    EXPECT_NE(told(entry("F32", "[4]", "[0,16]"), 15).find("not in the file"), std::string::npos);
    EXPECT_NE(told(entry("F32", "[4]", "[8,16]"), 16).find("not its size"), std::string::npos);
    EXPECT_NE(told(entry("F32", "[4]", "[16,0]"), 16).find("not its size"), std::string::npos);
    EXPECT_NE(told(entry("F32", "[4611686018427387904,4]", "[0,0]"), 0).find("too large"),
              std::string::npos);
    told(entry("F32", "[4]", "[-4,12]"), 64);
    told(entry("F32", "[-1]", "[0,4]"), 64);
    told(entry("Q4", "[4]", "[0,16]"), 16);
    told(R"({"w":3})", 16);
    told(R"({"w":{"dtype":"F32"}})", 16);
    told("[1]", 0);
    told("{", 0);
    ASSERT_TRUE(writeFileAtomically(file, std::string(8, '\xff')));
    EXPECT_FALSE(readSafetensors(file));
    ASSERT_TRUE(writeFileAtomically(file, "abc"));
    EXPECT_FALSE(readSafetensors(file));
    EXPECT_FALSE(readSafetensors(folder->path()));
}

TEST(Transformer, ItsLossIsTheSumOfWeightedLogProbabilities) {
    const auto model =
        Transformer::drawn(tinyConfig(), Transformer::Head::logits, 1, at::kCPU, at::kFloat);
    const auto hidden = at::ones({1, 2, 16}) * at::tensor({1.0f, -3.0f}).view({1, 2, 1});
    const auto targets = at::tensor({7, 0}, at::kLong).view({1, 2});
    const auto weights = at::tensor({1.0f, 0.5f}).view({1, 2});
    const auto log = at::log_softmax(model.logits(hidden), -1);
    EXPECT_NEAR(model.weightedCrossEntropy(hidden, targets, weights).item<double>(),
                -(log[0][0][7] + 0.5 * log[0][1][0]).item<double>(), 1e-5);
}

} // namespace
} // namespace cuda_agent::learn
