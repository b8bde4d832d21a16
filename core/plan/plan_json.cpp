// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/plan.h"

#include <cmath>

namespace cuda_agent::plan {

namespace {

Json toJson(const Expression &expression) {
    if (expression.names().empty()) {
        if (const auto value = expression.evaluate({}))
            return *value;
    }
    return expression.text();
}

Json toJson(const Expression (&values)[3]) {
    return Json::array({toJson(values[0]), toJson(values[1]), toJson(values[2])});
}

Json numberToJson(double value) {
    if (std::isnan(value))
        return "nan";
    if (std::isinf(value))
        return value > 0 ? "inf" : "-inf";
    return value;
}

std::string_view nameOf(Role role) {
    switch (role) {
    case Role::input:
        return "input";
    case Role::parameter:
        return "parameter";
    case Role::output:
        return "output";
    case Role::scratch:
        break;
    }
    return "scratch";
}

std::string_view nameOf(Argument::Kind kind) {
    switch (kind) {
    case Argument::Kind::buffer:
        return "buffer";
    case Argument::Kind::int32:
        return "int32";
    case Argument::Kind::int64:
        return "int64";
    case Argument::Kind::float32:
        return "float32";
    case Argument::Kind::float64:
        break;
    }
    return "float64";
}

Json toJson(const Buffer &buffer) {
    Json json{{"name", buffer.name}, {"role", nameOf(buffer.role)}};
    if (buffer.role == Role::input || buffer.role == Role::output)
        json["index"] = buffer.index;
    if (buffer.role == Role::parameter)
        json["key"] = buffer.key;
    const bool typeIsOurs = buffer.role == Role::output || buffer.role == Role::scratch;
    if (typeIsOurs || buffer.declaresDtype)
        json["dtype"] = cuda_agent::nameOf(buffer.dtype);
    if (typeIsOurs || buffer.declaresShape) {
        json["shape"] = Json::array();
        for (const auto &extent : buffer.shape)
            json["shape"].push_back(toJson(extent));
    }
    if (!buffer.order.empty())
        json["order"] = buffer.order;
    if (buffer.alignment != Buffer{}.alignment)
        json["alignment"] = buffer.alignment;
    return json;
}

Json toJson(const Argument &argument) {
    Json value;
    if (argument.kind == Argument::Kind::buffer)
        value = argument.buffer;
    else if (!argument.scalar.empty())
        value = {{"input", std::stoi(argument.scalar.substr(2))}};
    else if (argument.kind == Argument::Kind::int32 || argument.kind == Argument::Kind::int64)
        value = toJson(argument.value);
    else
        value = numberToJson(argument.number);
    return {{nameOf(argument.kind), value}};
}

Json toJson(const KernelStep &step) {
    Json json{
        {"kind", "kernel"},          {"source", step.source},       {"entry", step.entry},
        {"grid", toJson(step.grid)}, {"block", toJson(step.block)}, {"shared", toJson(step.shared)},
        {"args", Json::array()}};
    if (step.cluster[0] * step.cluster[1] * step.cluster[2] > 1)
        json["cluster"] = {step.cluster[0], step.cluster[1], step.cluster[2]};
    for (const auto &argument : step.arguments)
        json["args"].push_back(toJson(argument));
    return json;
}

Json toJson(const GemmStep &step) {
    Json json{{"kind", "gemm"},
              {"a", step.a},
              {"b", step.b},
              {"c", step.c},
              {"transpose_a", step.transposeA},
              {"transpose_b", step.transposeB},
              {"m", toJson(step.m)},
              {"n", toJson(step.n)},
              {"k", toJson(step.k)},
              {"batch", toJson(step.batch)},
              {"lda", toJson(step.lda)},
              {"ldb", toJson(step.ldb)},
              {"ldc", toJson(step.ldc)},
              {"stride_a", toJson(step.strideA)},
              {"stride_b", toJson(step.strideB)},
              {"stride_c", toJson(step.strideC)},
              {"alpha", step.alpha},
              {"beta", step.beta},
              {"compute", step.compute}};
    if (!step.bias.empty())
        json["bias"] = step.bias;
    return json;
}

Json toJson(const ConvolutionStep &step) {
    Json json{{"kind", "convolution"},  {"input", step.input},   {"weight", step.weight},
              {"output", step.output},  {"groups", step.groups}, {"transposed", step.transposed},
              {"compute", step.compute}};
    if (step.channelsLast)
        json["layout"] = "channels_last";
    if (!step.bias.empty())
        json["bias"] = step.bias;
    if (!step.stride.empty())
        json["stride"] = step.stride;
    if (!step.padding.empty())
        json["padding"] = step.padding;
    if (!step.dilation.empty())
        json["dilation"] = step.dilation;
    if (!step.outputPadding.empty())
        json["output_padding"] = step.outputPadding;
    return json;
}

Json toJson(const FillStep &step) {
    return {{"kind", "fill"}, {"buffer", step.buffer}, {"value", numberToJson(step.value)}};
}

} // namespace

const Buffer *Plan::find(std::string_view wanted) const {
    for (const auto &buffer : buffers) {
        if (buffer.name == wanted)
            return &buffer;
    }
    return nullptr;
}

std::vector<std::string> Plan::sources() const {
    std::vector<std::string> sources;
    for (const auto &step : steps) {
        const auto *kernel = std::get_if<KernelStep>(&step);
        if (kernel != nullptr &&
            std::find(sources.begin(), sources.end(), kernel->source) == sources.end())
            sources.push_back(kernel->source);
    }
    return sources;
}

Json toJson(const Plan &plan) {
    Json json{{"version", plan.version},
              {"name", plan.name},
              {"symbols", Json::object()},
              {"buffers", Json::array()},
              {"steps", Json::array()}};
    for (const auto &[name, expression] : plan.symbols)
        json["symbols"][name] = toJson(expression);
    for (const auto &condition : plan.requires_)
        json["requires"].push_back(condition.text());
    for (const auto &buffer : plan.buffers)
        json["buffers"].push_back(toJson(buffer));
    for (const auto &step : plan.steps)
        json["steps"].push_back(std::visit([](const auto &value) { return toJson(value); }, step));
    for (const auto &[name, value] : plan.defines)
        json["defines"][name] = value;
    return json;
}

} // namespace cuda_agent::plan
