// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/plan_parse.h"
#include "core/plan/json_fields.h"

#include <algorithm>
#include <numeric>
#include <set>

namespace cuda_agent::plan {

namespace {

// A plan comes from outside; these bounds are above any honest one: a recurrent net that is written
// out over 256 time steps has 1,032 buffers.
constexpr std::size_t maxBuffers = 4096;
constexpr std::size_t maxSteps = 2048;
constexpr std::size_t maxSymbols = 256;
constexpr std::size_t maxDefines = 64;

bool isReserved(const std::string &name) {
    static const std::set<std::string> words{"cdiv", "min", "max", "and", "or"};
    return words.contains(name);
}

// --- buffers -------------------------------------------------------------------------------

Result<Role> roleFromName(const std::string &name, const std::string &path) {
    if (name == "input")
        return Role::input;
    if (name == "parameter")
        return Role::parameter;
    if (name == "output")
        return Role::output;
    if (name == "scratch")
        return Role::scratch;
    return requestError("{}: '{}' must be one of input, parameter, output, scratch", path,
                        name.substr(0, 60));
}

/// Each of 0, 1, ... once; whether the task's tensor has so many dimensions is not known here.
Result<std::vector<int>> parseOrder(const JsonFields &fields, Role role) {
    const std::string path = fields.path("order");
    if (role != Role::input && role != Role::output)
        return requestError("{}: only inputs and outputs have an order", path);
    CUDA_AGENT_ASSIGN(order, fields.integers("order", 0, 15, 16));
    std::vector<std::int64_t> each(order.size());
    std::iota(each.begin(), each.end(), 0);
    if (order.empty() || !std::ranges::is_permutation(order, each))
        return requestError("{}: must name each dimension of the tensor once, counted from 0, such "
                            "as [0, 2, 1]",
                            path);
    return std::vector<int>(order.begin(), order.end());
}

Result<Buffer> parseBuffer(const Json &json, const std::string &path) {
    CUDA_AGENT_ASSIGN(fields, JsonFields::open(json, path,
                                               {"name", "role", "index", "key", "dtype", "shape",
                                                "order", "alignment"}));
    Buffer buffer;
    CUDA_AGENT_ASSIGN(name, fields.identifier("name"));
    buffer.name = name;
    CUDA_AGENT_ASSIGN(roleName, fields.text("role"));
    CUDA_AGENT_ASSIGN(role, roleFromName(roleName, fields.path("role")));
    buffer.role = role;

    const bool hasIndex = role == Role::input || role == Role::output;
    if (hasIndex) {
        CUDA_AGENT_ASSIGN(index, fields.integer("index", 0, 4096));
        buffer.index = static_cast<int>(index);
    } else if (fields.has("index")) {
        return requestError("{}: only inputs and outputs have an index", fields.path("index"));
    }
    if (role == Role::parameter) {
        CUDA_AGENT_ASSIGN(key, fields.text("key"));
        if (key.empty())
            return requestError("{}: must be the parameter's name in the task", fields.path("key"));
        buffer.key = key;
    } else if (fields.has("key")) {
        return requestError("{}: only parameters have a key", fields.path("key"));
    }

    const bool typeIsOurs = role == Role::output || role == Role::scratch;
    if (typeIsOurs || fields.has("dtype")) {
        CUDA_AGENT_ASSIGN(dtypeName, fields.text("dtype"));
        auto dtype = dtypeFromName(dtypeName);
        if (!dtype)
            return requestError(
                "{}: '{}' must be one of float16, bfloat16, float32, float64, int8, "
                "uint8, int16, int32, int64, bool",
                fields.path("dtype"), dtypeName.substr(0, 60));
        buffer.dtype = *dtype;
        buffer.declaresDtype = !typeIsOurs;
    }
    if (typeIsOurs || fields.has("shape")) {
        CUDA_AGENT_ASSIGN(shape, fields.expressions("shape", 0, 16));
        buffer.shape = std::move(shape);
        buffer.declaresShape = !typeIsOurs;
    }
    if (fields.has("order")) {
        CUDA_AGENT_ASSIGN(order, parseOrder(fields, role));
        buffer.order = std::move(order);
    }
    CUDA_AGENT_ASSIGN(alignment, fields.integer("alignment", 1, 256, 16));
    if ((alignment & (alignment - 1)) != 0)
        return requestError("{}: {} must be a power of two", fields.path("alignment"), alignment);
    buffer.alignment = static_cast<std::uint32_t>(alignment);
    return buffer;
}

Result<void> checkUnique(const Plan &plan) {
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
        const Buffer &later = plan.buffers[i];
        for (std::size_t j = 0; j < i; ++j) {
            const Buffer &earlier = plan.buffers[j];
            if (earlier.name == later.name)
                return requestError("buffers[{}].name: '{}' is already buffers[{}]", i, later.name,
                                    j);
            if (later.role != earlier.role)
                continue;
            if ((later.role == Role::input || later.role == Role::output) &&
                later.index == earlier.index)
                return requestError("buffers[{}].index: {} is already the index of '{}'", i,
                                    later.index, earlier.name);
            if (later.role == Role::parameter && later.key == earlier.key)
                return requestError("buffers[{}].key: '{}' is already the key of '{}'", i,
                                    later.key, earlier.name);
        }
    }
    return {};
}

Result<void> parseSymbols(const JsonFields &fields, Plan &plan) {
    if (!fields.has("symbols"))
        return {};
    const Json &json = fields.at("symbols");
    if (!json.is_object())
        return requestError("symbols: must be an object of name: expression");
    if (json.size() > maxSymbols)
        return requestError("symbols: has {} entries; at most {} are allowed", json.size(),
                            maxSymbols);
    std::vector<std::pair<std::string, Expression>> symbols;
    for (const auto &[name, value] : json.items()) {
        if (!isPlanName(name) || isReserved(name))
            return requestError("symbols: '{}' cannot be a name; use letters, digits and '_', and "
                                "not cdiv, min, max, and, or",
                                name.substr(0, 60));
        CUDA_AGENT_ASSIGN(expression, expressionFromJson(value, "symbols." + name));
        symbols.emplace_back(name, std::move(expression));
    }
    plan.symbols = symbols;
    for (const auto &[name, expression] : symbols)
        CUDA_AGENT_TRY(checkNames(plan, expression, "symbols." + name));

    // JSON objects have no order: each round takes the symbols whose names are all known.
    std::vector<std::pair<std::string, Expression>> sorted;
    std::set<std::string> known;
    while (sorted.size() < symbols.size()) {
        const std::size_t before = sorted.size();
        for (const auto &symbol : symbols) {
            const auto names = symbol.second.names();
            const bool ready = std::all_of(names.begin(), names.end(), [&](const auto &name) {
                return name.find('.') != std::string::npos || known.contains(name);
            });
            if (ready && known.insert(symbol.first).second)
                sorted.push_back(symbol);
        }
        if (sorted.size() == before) {
            std::vector<std::string> left;
            for (const auto &symbol : symbols) {
                if (!known.contains(symbol.first))
                    left.push_back(symbol.first);
            }
            return requestError("symbols: {} depend on each other in a circle", listed(left));
        }
    }
    plan.symbols = std::move(sorted);
    return {};
}

Result<void> checkOutputsAreWritten(const Plan &plan) {
    std::set<std::string> written;
    for (const auto &step : plan.steps) {
        if (const auto *kernel = std::get_if<KernelStep>(&step)) {
            for (const auto &argument : kernel->arguments)
                written.insert(argument.buffer);
        } else if (const auto *gemm = std::get_if<GemmStep>(&step)) {
            written.insert(gemm->c);
        } else if (const auto *convolution = std::get_if<ConvolutionStep>(&step)) {
            written.insert(convolution->output);
        } else {
            written.insert(std::get<FillStep>(step).buffer);
        }
    }
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
        const Buffer &buffer = plan.buffers[i];
        if (buffer.role == Role::output && !written.contains(buffer.name))
            return requestError("buffers[{}]: no step writes the output '{}'", i, buffer.name);
    }
    return {};
}

Result<void> parseDefines(const JsonFields &fields, Plan &plan) {
    if (!fields.has("defines"))
        return {};
    const Json &json = fields.at("defines");
    if (!json.is_object() || json.size() > maxDefines)
        return requestError("defines: must be an object of at most {} name: value", maxDefines);
    for (const auto &[name, value] : json.items()) {
        if (!isPlanName(name))
            return requestError("defines: '{}' cannot be a macro name", name.substr(0, 60));
        if (!value.is_string() && !value.is_number() && !value.is_boolean())
            return requestError("defines.{}: must be a text or a number", name);
        std::string text = value.is_string()    ? value.get<std::string>()
                           : value.is_boolean() ? (value.get<bool>() ? "1" : "0")
                                                : value.dump();
        const bool printable =
            std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
        if (text.size() > 200 || !printable)
            return requestError("defines.{}: must be at most 200 printable ASCII characters", name);
        plan.defines.emplace(name, std::move(text));
    }
    return {};
}

} // namespace

std::vector<std::string> bufferNames(const Plan &plan) {
    std::vector<std::string> names;
    for (const auto &buffer : plan.buffers)
        names.push_back(buffer.name);
    return names;
}

Result<void> checkNames(const Plan &plan, const Expression &expression, const std::string &path) {
    for (const auto &name : expression.names()) {
        const auto dot = name.find('.');
        if (dot == std::string::npos) {
            std::vector<std::string> known;
            for (const auto &symbol : plan.symbols)
                known.push_back(symbol.first);
            if (std::find(known.begin(), known.end(), name) == known.end())
                return requestError("{}: there is no symbol '{}'; the plan has {}", path, name,
                                    listed(known));
            continue;
        }
        const std::string bufferName = name.substr(0, dot);
        const Buffer *buffer = plan.find(bufferName);
        if (buffer == nullptr)
            return requestError("{}: '{}' reads a buffer that does not exist; the plan has {}",
                                path, name, listed(bufferNames(plan)));
        if (buffer->role != Role::input && buffer->role != Role::parameter)
            return requestError("{}: '{}': only inputs and parameters have a shape of their own; "
                                "use a symbol for '{}'",
                                path, name, bufferName);
    }
    return {};
}

Result<Plan> planFromJson(const Json &json) {
    if (json.is_object() && json.contains("version") && json["version"] != 1)
        return requestError("version: this program reads plans of version 1");
    CUDA_AGENT_ASSIGN(fields, JsonFields::open(json, "",
                                               {"version", "name", "symbols", "requires", "buffers",
                                                "steps", "defines"}));
    Plan plan;
    CUDA_AGENT_TRY(fields.integer("version", 1, 1));
    CUDA_AGENT_ASSIGN(name, fields.text("name", ""));
    plan.name = name.substr(0, 200);

    CUDA_AGENT_ASSIGN(buffers, fields.list("buffers", maxBuffers));
    for (std::size_t i = 0; i < buffers->size(); ++i) {
        CUDA_AGENT_ASSIGN(buffer, parseBuffer(buffers->at(i), fmt::format("buffers[{}]", i)));
        plan.buffers.push_back(std::move(buffer));
    }
    CUDA_AGENT_TRY(checkUnique(plan));
    CUDA_AGENT_TRY(parseSymbols(fields, plan));
    for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
        for (std::size_t d = 0; d < plan.buffers[i].shape.size(); ++d)
            CUDA_AGENT_TRY(checkNames(plan, plan.buffers[i].shape[d],
                                      fmt::format("buffers[{}].shape[{}]", i, d)));
    }
    if (fields.has("requires")) {
        CUDA_AGENT_ASSIGN(conditions, fields.expressions("requires", 0, maxSymbols));
        plan.requires_ = std::move(conditions);
        for (std::size_t i = 0; i < plan.requires_.size(); ++i)
            CUDA_AGENT_TRY(checkNames(plan, plan.requires_[i], fmt::format("requires[{}]", i)));
    }
    CUDA_AGENT_TRY(parseDefines(fields, plan));
    CUDA_AGENT_ASSIGN(steps, fields.list("steps", maxSteps));
    if (steps->empty())
        return requestError("steps: a plan needs at least one step");
    for (std::size_t i = 0; i < steps->size(); ++i) {
        CUDA_AGENT_ASSIGN(step, parseStep(plan, steps->at(i), fmt::format("steps[{}]", i)));
        plan.steps.push_back(std::move(step));
    }
    CUDA_AGENT_TRY(checkOutputsAreWritten(plan));
    return plan;
}

} // namespace cuda_agent::plan
