// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/recipe.h"

#include "core/base/toml_fields.h"

namespace cuda_agent::synthesis {

namespace {

Result<void> readSections(const toml::table &file, const std::string &name, Recipe &recipe) {
    TomlFields top(file, name);
    std::string device(device::nameOf(recipe.device));
    top.take("name", recipe.name);
    top.take("seed", recipe.seed, 0, 9e15);
    top.take("tasks", recipe.tasks, 1, 1e7);
    top.take("audited", recipe.audited, 0, 1e7);
    top.take("device", device);
    CUDA_AGENT_TRY(top.section("time", [&](TomlFields &fields) {
        fields.take("least_seconds", recipe.leastSeconds, 1e-6, 10);
        fields.take("most_seconds", recipe.mostSeconds, 1e-5, 100);
        fields.take("calls", recipe.timedCalls, 1, 1000);
    }));
    CUDA_AGENT_TRY(top.section("memory", [&](TomlFields &fields) {
        double gigabytes = static_cast<double>(recipe.memoryBytes) / (1 << 30);
        fields.take("gigabytes", gigabytes, 0.01, 1000);
        recipe.memoryBytes = static_cast<std::uint64_t>(gigabytes * (1 << 30));
    }));
    CUDA_AGENT_TRY(top.section("compose", [&](TomlFields &fields) {
        fields.takeWeights(
            "sources", recipe.sources,
            {"torch", "composed", "expressions", "views", "transformers", "endpoint"});
        fields.takeWeights("operators", recipe.operators, {"2", "3", "4", "5"});
        fields.takeWeights("dtypes", recipe.dtypes, {"float32", "float16", "bfloat16"});
        fields.take("backward", recipe.backward, 0, 1);
        fields.take("irregular", recipe.irregular, 0, 1);
        fields.take("even", recipe.even, 0, 1);
        fields.take("skips", recipe.skips, 0, 1);
    }));
    CUDA_AGENT_TRY(top.section("screen", [&](TomlFields &fields) {
        fields.take("similarity", recipe.similarity, 0, 1);
        fields.take("variants", recipe.variants, 1, 1e6);
    }));
    CUDA_AGENT_TRY(top.section("filter", [&](TomlFields &fields) {
        fields.take("load_seconds", recipe.loadSeconds, 1, 3600);
        fields.take("check_seconds", recipe.checkSeconds, 1, 3600);
        fields.take("compile_seconds", recipe.compileSeconds, 1, 3600);
        fields.take("candidates_per_process", recipe.candidatesPerProcess, 1, 1e6);
    }));
    CUDA_AGENT_TRY(top.section("split", [&](TomlFields &fields) {
        fields.take("held_out", recipe.heldOut, 0, 0.5);
        fields.take("outer", recipe.outer, 0, 0.5);
        fields.take("validation", recipe.validation, 0, 0.5);
    }));
    CUDA_AGENT_TRY(top.section("endpoint", [&](TomlFields &fields) {
        fields.take("attempts", recipe.endpointAttempts, 1, 100);
    }));
    CUDA_AGENT_TRY(top.finish());
    if (device != "cpu" && device != "cuda")
        return requestError("{}: device must be \"cpu\" or \"cuda\"", name);
    recipe.device = device == "cuda" ? device::Kind::cuda : device::Kind::cpu;
    if (recipe.leastSeconds >= recipe.mostSeconds)
        return requestError("{}: [time]: least_seconds must be less than most_seconds", name);
    return {};
}

} // namespace

Result<Recipe> readRecipe(const std::filesystem::path &file) {
    CUDA_AGENT_ASSIGN(text, readTextFile(file, 1u << 20));
    CUDA_AGENT_ASSIGN(table, parseToml(text, file.string()));
    Recipe recipe;
    recipe.name = file.stem().string();
    CUDA_AGENT_TRY(readSections(table, file.string(), recipe));
    return recipe;
}

Json toJson(const Recipe &recipe) {
    return {{"name", recipe.name},
            {"seed", recipe.seed},
            {"tasks", recipe.tasks},
            {"device", device::nameOf(recipe.device)},
            {"seconds", {recipe.leastSeconds, recipe.mostSeconds}},
            {"calls", recipe.timedCalls},
            {"memory_bytes", recipe.memoryBytes},
            {"sources", recipe.sources},
            {"operators", recipe.operators},
            {"dtypes", recipe.dtypes},
            {"backward", recipe.backward},
            {"irregular", recipe.irregular},
            {"even", recipe.even},
            {"skips", recipe.skips},
            {"similarity", recipe.similarity},
            {"variants", recipe.variants},
            {"load_seconds", recipe.loadSeconds},
            {"check_seconds", recipe.checkSeconds},
            {"compile_seconds", recipe.compileSeconds},
            {"candidates_per_process", recipe.candidatesPerProcess},
            {"held_out", recipe.heldOut},
            {"outer", recipe.outer},
            {"validation", recipe.validation},
            {"audited", recipe.audited},
            {"endpoint_attempts", recipe.endpointAttempts}};
}

} // namespace cuda_agent::synthesis
