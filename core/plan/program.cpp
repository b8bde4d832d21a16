// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/program.h"

namespace cuda_agent::plan {

Shape channelsSecond(Shape shape) {
    if (shape.size() > 2) {
        shape.insert(shape.begin() + 1, shape.back());
        shape.pop_back();
    }
    return shape;
}

namespace {

Json scalarJson(const ProgramScalar &scalar) {
    return {{"bits", scalar.bits}, {"bytes", scalar.bytes}};
}

ProgramScalar scalarFrom(const Json &json) {
    return {json.at("bits"), json.at("bytes")};
}

Json triple(const std::uint32_t (&values)[3]) {
    return {values[0], values[1], values[2]};
}

void readTriple(const Json &json, std::uint32_t (&values)[3]) {
    for (std::size_t i = 0; i < 3; ++i)
        values[i] = json.at(i);
}

Json workJson(const ProgramKernel &kernel) {
    Json arguments = Json::array();
    for (const auto &argument : kernel.arguments)
        arguments.push_back(argument.buffer >= 0 ? Json{{"buffer", argument.buffer}}
                                                 : scalarJson(argument.scalar));
    return {{"kind", "kernel"},
            {"binary", kernel.binary},
            {"entry", kernel.entry},
            {"grid", triple(kernel.grid)},
            {"block", triple(kernel.block)},
            {"cluster", triple(kernel.cluster)},
            {"shared", kernel.sharedBytes},
            {"args", std::move(arguments)}};
}

ProgramKernel kernelFrom(const Json &json) {
    ProgramKernel kernel;
    kernel.binary = json.at("binary");
    kernel.entry = json.at("entry");
    readTriple(json.at("grid"), kernel.grid);
    readTriple(json.at("block"), kernel.block);
    readTriple(json.at("cluster"), kernel.cluster);
    kernel.sharedBytes = json.at("shared");
    for (const auto &each : json.at("args")) {
        ProgramArgument argument;
        if (each.contains("buffer"))
            argument.buffer = each["buffer"];
        else
            argument.scalar = scalarFrom(each);
        kernel.arguments.push_back(argument);
    }
    return kernel;
}

Json workJson(const ProgramFill &fill) {
    return {{"kind", "fill"}, {"buffer", fill.buffer}, {"element", scalarJson(fill.element)}};
}

Json workJson(const ProgramGemm &gemm) {
    return {{"kind", "gemm"},
            {"a", gemm.a},
            {"b", gemm.b},
            {"c", gemm.c},
            {"bias", gemm.bias},
            {"transpose", {gemm.transposeA, gemm.transposeB}},
            {"tf32", gemm.tf32},
            {"sizes", {gemm.m, gemm.n, gemm.k, gemm.batch}},
            {"leads", {gemm.lda, gemm.ldb, gemm.ldc}},
            {"strides", {gemm.strideA, gemm.strideB, gemm.strideC}},
            {"alpha", gemm.alpha},
            {"beta", gemm.beta}};
}

ProgramGemm gemmFrom(const Json &json) {
    ProgramGemm gemm;
    gemm.a = json.at("a");
    gemm.b = json.at("b");
    gemm.c = json.at("c");
    gemm.bias = json.at("bias");
    gemm.transposeA = json.at("transpose").at(0);
    gemm.transposeB = json.at("transpose").at(1);
    gemm.tf32 = json.at("tf32");
    const Json &sizes = json.at("sizes");
    gemm.m = sizes.at(0), gemm.n = sizes.at(1), gemm.k = sizes.at(2), gemm.batch = sizes.at(3);
    const Json &leads = json.at("leads");
    gemm.lda = leads.at(0), gemm.ldb = leads.at(1), gemm.ldc = leads.at(2);
    const Json &strides = json.at("strides");
    gemm.strideA = strides.at(0), gemm.strideB = strides.at(1), gemm.strideC = strides.at(2);
    gemm.alpha = json.at("alpha");
    gemm.beta = json.at("beta");
    return gemm;
}

Json workJson(const ProgramConvolution &convolution) {
    return {{"kind", "convolution"},
            {"input", convolution.input},
            {"weight", convolution.weight},
            {"output", convolution.output},
            {"bias", convolution.bias},
            {"stride", convolution.stride},
            {"padding", convolution.padding},
            {"dilation", convolution.dilation},
            {"output_padding", convolution.outputPadding},
            {"groups", convolution.groups},
            {"transposed", convolution.transposed},
            {"tf32", convolution.tf32},
            {"channels_last", convolution.channelsLast}};
}

ProgramConvolution convolutionFrom(const Json &json) {
    ProgramConvolution convolution;
    convolution.input = json.at("input");
    convolution.weight = json.at("weight");
    convolution.output = json.at("output");
    convolution.bias = json.at("bias");
    convolution.stride = json.at("stride").get<std::vector<std::int64_t>>();
    convolution.padding = json.at("padding").get<std::vector<std::int64_t>>();
    convolution.dilation = json.at("dilation").get<std::vector<std::int64_t>>();
    convolution.outputPadding = json.at("output_padding").get<std::vector<std::int64_t>>();
    convolution.groups = json.at("groups");
    convolution.transposed = json.at("transposed");
    convolution.tf32 = json.at("tf32");
    convolution.channelsLast = json.at("channels_last");
    return convolution;
}

ProgramStep stepFrom(const Json &json) {
    ProgramStep step;
    step.label = json.at("label");
    const std::string kind = json.at("kind");
    if (kind == "kernel")
        step.work = kernelFrom(json);
    else if (kind == "fill")
        step.work = ProgramFill{json.at("buffer"), scalarFrom(json.at("element"))};
    else if (kind == "gemm")
        step.work = gemmFrom(json);
    else
        step.work = convolutionFrom(json);
    return step;
}

} // namespace

Json toJson(const Program &program) {
    Json json{{"device", program.device},
              {"binaries", program.binaries},
              {"library_folders", program.libraryFolders},
              {"cache_bytes", program.cacheBytes},
              {"use_graph", program.useGraph},
              {"own_buffers", program.ownBuffers},
              {"buffers", Json::array()},
              {"steps", Json::array()}};
    for (const auto &buffer : program.buffers)
        json["buffers"].push_back({{"name", buffer.name},
                                   {"scratch", buffer.scratch},
                                   {"written", buffer.written},
                                   {"type", toJson(buffer.type)},
                                   {"alignment", buffer.alignment}});
    for (const auto &step : program.steps) {
        Json work = std::visit([](const auto &value) { return workJson(value); }, step.work);
        work["label"] = step.label;
        json["steps"].push_back(std::move(work));
    }
    return json;
}

Result<Program> programFromJson(const Json &json) {
    try {
        Program program;
        program.device = json.at("device");
        program.binaries = json.at("binaries").get<std::vector<std::string>>();
        program.libraryFolders = json.at("library_folders").get<std::vector<std::string>>();
        program.cacheBytes = json.at("cache_bytes");
        program.useGraph = json.at("use_graph");
        program.ownBuffers = json.at("own_buffers");
        for (const auto &each : json.at("buffers")) {
            ProgramBuffer buffer;
            buffer.name = each.at("name");
            buffer.scratch = each.at("scratch");
            buffer.written = each.at("written");
            CUDA_AGENT_ASSIGN(type, tensorTypeFromJson(each.at("type"), buffer.name));
            buffer.type = type;
            buffer.alignment = each.at("alignment");
            program.buffers.push_back(std::move(buffer));
        }
        for (const auto &each : json.at("steps"))
            program.steps.push_back(stepFrom(each));
        return program;
    } catch (const Json::exception &problem) {
        return machineError("the runner and the engine do not speak the same protocol: {}",
                            problem.what());
    }
}

} // namespace cuda_agent::plan
