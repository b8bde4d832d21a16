// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/json_fields.h"
#include "core/plan/plan_parse.h"

#include <cmath>
#include <filesystem>

namespace cuda_agent::plan {

namespace {

constexpr std::size_t maxArguments = 256;

Result<void> checkBuffer(const Plan &plan, const std::string &name, const std::string &path) {
    if (plan.find(name) == nullptr)
        return requestError("{}: no buffer is called '{}'; the plan has {}", path,
                            name.substr(0, 60), listed(bufferNames(plan)));
    return {};
}

Result<std::string> readBuffer(const Plan &plan, const JsonFields &fields, const char *name) {
    CUDA_AGENT_ASSIGN(buffer, fields.text(name));
    CUDA_AGENT_TRY(checkBuffer(plan, buffer, fields.path(name)));
    return buffer;
}

Result<std::string> writtenBuffer(const Plan &plan, const JsonFields &fields, const char *name) {
    CUDA_AGENT_ASSIGN(buffer, readBuffer(plan, fields, name));
    const Role role = plan.find(buffer)->role;
    if (role != Role::output && role != Role::scratch)
        return requestError("{}: '{}' is written here, so it must be an output or scratch",
                            fields.path(name), buffer);
    return buffer;
}

Result<Expression> checkedExpression(const Plan &plan, const JsonFields &fields, const char *name,
                                     std::string_view fallback = {}) {
    CUDA_AGENT_ASSIGN(expression, fallback.empty() ? fields.expression(name)
                                                   : fields.expression(name, fallback));
    CUDA_AGENT_TRY(checkNames(plan, expression, fields.path(name)));
    return expression;
}

/// One number a list may leave out: grid and block pad with 1.
Result<void> parseExtent(const Plan &plan, const JsonFields &fields, const char *name,
                         Expression (&extent)[3]) {
    CUDA_AGENT_ASSIGN(values, fields.expressions(name, 1, 3));
    for (std::size_t i = 0; i < 3; ++i) {
        extent[i] = i < values.size() ? values[i] : Expression(1);
        CUDA_AGENT_TRY(checkNames(plan, extent[i], fmt::format("{}[{}]", fields.path(name), i)));
    }
    return {};
}

Result<Argument> parseArgument(const Plan &plan, const Json &json, const std::string &path) {
    CUDA_AGENT_ASSIGN(
        fields, JsonFields::open(json, path, {"buffer", "int32", "int64", "float32", "float64"}));
    if (json.size() != 1)
        return requestError("{}: give exactly one of buffer, int32, int64, float32, float64", path);
    Argument argument;
    if (fields.has("buffer")) {
        CUDA_AGENT_ASSIGN(buffer, readBuffer(plan, fields, "buffer"));
        argument.buffer = buffer;
        return argument;
    }
    const std::string kind = json.begin().key();
    const Json &value = json.begin().value();
    argument.kind = kind == "int32"     ? Argument::Kind::int32
                    : kind == "int64"   ? Argument::Kind::int64
                    : kind == "float32" ? Argument::Kind::float32
                                        : Argument::Kind::float64;
    if (value.is_object()) {
        CUDA_AGENT_ASSIGN(input, JsonFields::open(value, fields.path(kind), {"input"}));
        CUDA_AGENT_ASSIGN(position, input.integer("input", 0, 4096));
        argument.scalar = fmt::format("in{}", position);
        return argument;
    }
    if (argument.kind == Argument::Kind::int32 || argument.kind == Argument::Kind::int64) {
        CUDA_AGENT_ASSIGN(expression, checkedExpression(plan, fields, kind.c_str()));
        argument.value = std::move(expression);
        return argument;
    }
    // JSON has no word for these three, and kernels are started with -inf often enough.
    if (value == "inf" || value == "-inf" || value == "nan") {
        argument.number = value == "inf" ? INFINITY : value == "-inf" ? -INFINITY : NAN;
        return argument;
    }
    if (!value.is_number())
        return requestError("{}: must be a number, \"inf\", \"-inf\", \"nan\" or "
                            "{{\"input\": position}}",
                            fields.path(kind));
    argument.number = value.get<double>();
    return argument;
}

Result<std::string> parseSource(const JsonFields &fields) {
    CUDA_AGENT_ASSIGN(source, fields.text("source"));
    const std::string path = fields.path("source");
    const bool plain = std::all_of(source.begin(), source.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-' || c == '.' || c == '/';
    });
    if (source.size() > 200 || !plain)
        return requestError("{}: use letters, digits, '_', '-', '.' and '/' only", path);
    if (source.starts_with('/'))
        return requestError("{}: '{}' must be relative to the candidate's folder", path, source);
    for (const auto &part : std::filesystem::path(source)) {
        if (part == "..")
            return requestError("{}: '{}' must stay inside the candidate's folder", path, source);
    }
    if (!source.ends_with(".cu"))
        return requestError("{}: '{}' must be a .cu file", path, source);
    return source;
}

Result<Step> parseKernel(const Plan &plan, const Json &json, const std::string &path) {
    CUDA_AGENT_ASSIGN(fields, JsonFields::open(json, path,
                                               {"kind", "source", "entry", "grid", "block",
                                                "shared", "cluster", "args"}));
    KernelStep step;
    CUDA_AGENT_ASSIGN(source, parseSource(fields));
    step.source = source;
    CUDA_AGENT_ASSIGN(entry, fields.identifier("entry"));
    step.entry = entry;
    CUDA_AGENT_TRY(parseExtent(plan, fields, "grid", step.grid));
    CUDA_AGENT_TRY(parseExtent(plan, fields, "block", step.block));
    CUDA_AGENT_ASSIGN(shared, checkedExpression(plan, fields, "shared", "0"));
    step.shared = std::move(shared);
    CUDA_AGENT_ASSIGN(cluster, fields.integers("cluster", 1, 16, 3));
    int blocks = 1;
    for (std::size_t i = 0; i < cluster.size(); ++i) {
        step.cluster[i] = static_cast<int>(cluster[i]);
        blocks *= step.cluster[i];
    }
    if (blocks > 16)
        return requestError("{}: a cluster of {} blocks is too large; at most 16 are allowed",
                            fields.path("cluster"), blocks);
    CUDA_AGENT_ASSIGN(arguments, fields.list("args", maxArguments));
    for (std::size_t i = 0; i < arguments->size(); ++i) {
        CUDA_AGENT_ASSIGN(argument, parseArgument(plan, arguments->at(i),
                                                  fmt::format("{}[{}]", fields.path("args"), i)));
        step.arguments.push_back(std::move(argument));
    }
    return step;
}

Result<std::string> parseCompute(const JsonFields &fields) {
    CUDA_AGENT_ASSIGN(compute, fields.text("compute", "float32"));
    if (compute != "float32" && compute != "tf32")
        return requestError("{}: '{}' must be float32 or tf32", fields.path("compute"),
                            compute.substr(0, 60));
    return compute;
}

Result<Step> parseGemm(const Plan &plan, const Json &json, const std::string &path) {
    CUDA_AGENT_ASSIGN(
        fields,
        JsonFields::open(json, path, {"kind",        "a",     "b",    "c",        "transpose_a",
                                      "transpose_b", "m",     "n",    "k",        "batch",
                                      "lda",         "ldb",   "ldc",  "stride_a", "stride_b",
                                      "stride_c",    "alpha", "beta", "bias",     "compute"}));
    GemmStep step;
    CUDA_AGENT_ASSIGN(a, readBuffer(plan, fields, "a"));
    CUDA_AGENT_ASSIGN(b, readBuffer(plan, fields, "b"));
    CUDA_AGENT_ASSIGN(c, writtenBuffer(plan, fields, "c"));
    step.a = a, step.b = b, step.c = c;
    if (fields.has("bias")) {
        CUDA_AGENT_ASSIGN(bias, readBuffer(plan, fields, "bias"));
        step.bias = bias;
    }
    if (c == a || c == b || c == step.bias)
        return requestError("{}: '{}' is also read by this step", fields.path("c"), c);
    CUDA_AGENT_ASSIGN(transposeA, fields.flag("transpose_a", false));
    CUDA_AGENT_ASSIGN(transposeB, fields.flag("transpose_b", false));
    step.transposeA = transposeA, step.transposeB = transposeB;

    const auto read = [&](const char *name, Expression &value,
                          const std::string &fallback = {}) -> Result<void> {
        CUDA_AGENT_ASSIGN(expression, checkedExpression(plan, fields, name, fallback));
        value = std::move(expression);
        return {};
    };
    CUDA_AGENT_TRY(read("m", step.m));
    CUDA_AGENT_TRY(read("n", step.n));
    CUDA_AGENT_TRY(read("k", step.k));
    CUDA_AGENT_TRY(read("batch", step.batch, "1"));
    const auto wrapped = [](const Expression &e) { return "(" + e.text() + ")"; };
    const std::string m = wrapped(step.m), n = wrapped(step.n), k = wrapped(step.k);
    CUDA_AGENT_TRY(read("lda", step.lda, transposeA ? m : k));
    CUDA_AGENT_TRY(read("ldb", step.ldb, transposeB ? k : n));
    CUDA_AGENT_TRY(read("ldc", step.ldc, n));
    CUDA_AGENT_TRY(read("stride_a", step.strideA, (transposeA ? k : m) + "*" + wrapped(step.lda)));
    CUDA_AGENT_TRY(read("stride_b", step.strideB, (transposeB ? n : k) + "*" + wrapped(step.ldb)));
    CUDA_AGENT_TRY(read("stride_c", step.strideC, m + "*" + wrapped(step.ldc)));
    CUDA_AGENT_ASSIGN(alpha, fields.number("alpha", 1));
    CUDA_AGENT_ASSIGN(beta, fields.number("beta", 0));
    step.alpha = alpha, step.beta = beta;
    CUDA_AGENT_ASSIGN(compute, parseCompute(fields));
    step.compute = compute;
    return step;
}

Result<Step> parseConvolution(const Plan &plan, const Json &json, const std::string &path) {
    CUDA_AGENT_ASSIGN(fields, JsonFields::open(json, path,
                                               {"kind", "input", "weight", "bias", "output",
                                                "stride", "padding", "dilation", "output_padding",
                                                "groups", "transposed", "compute", "layout"}));
    ConvolutionStep step;
    CUDA_AGENT_ASSIGN(input, readBuffer(plan, fields, "input"));
    CUDA_AGENT_ASSIGN(weight, readBuffer(plan, fields, "weight"));
    CUDA_AGENT_ASSIGN(output, writtenBuffer(plan, fields, "output"));
    step.input = input, step.weight = weight, step.output = output;
    if (fields.has("bias")) {
        CUDA_AGENT_ASSIGN(bias, readBuffer(plan, fields, "bias"));
        step.bias = bias;
    }
    if (output == input || output == weight || output == step.bias)
        return requestError("{}: '{}' is also read by this step", fields.path("output"), output);
    constexpr std::int64_t most = 1 << 20;
    CUDA_AGENT_ASSIGN(stride, fields.integers("stride", 1, most, 3));
    CUDA_AGENT_ASSIGN(padding, fields.integers("padding", 0, most, 3));
    CUDA_AGENT_ASSIGN(dilation, fields.integers("dilation", 1, most, 3));
    CUDA_AGENT_ASSIGN(outputPadding, fields.integers("output_padding", 0, most, 3));
    CUDA_AGENT_ASSIGN(groups, fields.integer("groups", 1, most, 1));
    CUDA_AGENT_ASSIGN(transposed, fields.flag("transposed", false));
    step.stride = stride, step.padding = padding, step.dilation = dilation;
    step.outputPadding = outputPadding, step.groups = groups, step.transposed = transposed;
    CUDA_AGENT_ASSIGN(compute, parseCompute(fields));
    step.compute = compute;
    if (fields.has("layout")) {
        const Json &layout = fields.at("layout");
        if (layout != "channels_first" && layout != "channels_last")
            return requestError("{}: must be \"channels_first\" or \"channels_last\"",
                                fields.path("layout"));
        step.channelsLast = layout == "channels_last";
    }
    return step;
}

Result<Step> parseFill(const Plan &plan, const Json &json, const std::string &path) {
    CUDA_AGENT_ASSIGN(fields, JsonFields::open(json, path, {"kind", "buffer", "value"}));
    FillStep step;
    CUDA_AGENT_ASSIGN(buffer, writtenBuffer(plan, fields, "buffer"));
    step.buffer = buffer;
    if (fields.has("value") && fields.at("value").is_string()) {
        const Json &value = fields.at("value");
        if (value != "inf" && value != "-inf" && value != "nan")
            return requestError("{}: must be a number, \"inf\", \"-inf\" or \"nan\"",
                                fields.path("value"));
        step.value = value == "inf" ? INFINITY : value == "-inf" ? -INFINITY : NAN;
        return step;
    }
    CUDA_AGENT_ASSIGN(value, fields.number("value", 0));
    step.value = value;
    return step;
}

} // namespace

Result<Step> parseStep(const Plan &plan, const Json &json, const std::string &path) {
    if (!json.is_object())
        return requestError("{}: must be an object", path);
    const auto kind = json.find("kind");
    if (kind != json.end() && *kind == "kernel")
        return parseKernel(plan, json, path);
    if (kind != json.end() && *kind == "gemm")
        return parseGemm(plan, json, path);
    if (kind != json.end() && *kind == "convolution")
        return parseConvolution(plan, json, path);
    if (kind != json.end() && *kind == "fill")
        return parseFill(plan, json, path);
    return requestError("{}.kind: must be one of kernel, gemm, convolution, fill", path);
}

} // namespace cuda_agent::plan
