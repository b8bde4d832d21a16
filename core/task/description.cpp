// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/task/fields.h"
#include "core/task/task.h"

namespace cuda_agent::task {

namespace {

constexpr std::size_t mostPorts = 10'000;

Json portsToJson(const std::vector<Port> &ports) {
    Json list = Json::array();
    for (const auto &port : ports) {
        Json entry = cuda_agent::toJson(port.type);
        entry["name"] = port.name;
        if (port.inputIndex >= 0)
            entry["input_index"] = port.inputIndex;
        list.push_back(std::move(entry));
    }
    return list;
}

Result<std::vector<Port>> portsFromJson(const Json &json, const char *key) {
    const std::string what = fmt::format("description.{}", key);
    CUDA_AGENT_ASSIGN(list, listField(json, key, "description"));
    if (list.size() > mostPorts)
        return requestError("{} has {} entries; at most {} are taken", what, list.size(),
                            mostPorts);
    std::vector<Port> ports;
    for (const auto &entry : list) {
        Port port;
        CUDA_AGENT_ASSIGN(type, tensorTypeFromJson(entry, what));
        CUDA_AGENT_ASSIGN(name, stringField(entry, "name", what));
        CUDA_AGENT_ASSIGN(index, integerField(entry, "input_index", what, -1));
        if (name.empty() || index < -1 || index > 100'000)
            return requestError("{} has an entry without a name or with a bad input_index", what);
        port.type = std::move(type);
        port.name = std::move(name);
        port.inputIndex = static_cast<int>(index);
        ports.push_back(std::move(port));
    }
    return ports;
}

bool isPlainNumber(const Json &value) {
    return value.is_number() || value.is_boolean();
}

} // namespace

Json Description::toJson() const {
    return {{"name", name},
            {"inputs", portsToJson(inputs)},
            {"scalars", scalars},
            {"parameters", portsToJson(parameters)},
            {"outputs", portsToJson(outputs)},
            {"single_output", singleOutput},
            {"graph", task::toJson(graph)},
            {"graph_problem", graphProblem},
            {"constants", constants},
            {"counted_bytes", countedBytes},
            {"matmul_flops", matmulFlops},
            {"convolution_flops", convolutionFlops}};
}

Result<Description> descriptionFromJson(const Json &json) {
    if (!json.is_object())
        return requestError("description must be an object");
    constexpr std::string_view what = "description";
    Description description;
    CUDA_AGENT_ASSIGN(name, stringField(json, "name", what));
    description.name = std::move(name);
    CUDA_AGENT_ASSIGN(inputs, portsFromJson(json, "inputs"));
    description.inputs = std::move(inputs);
    CUDA_AGENT_ASSIGN(parameters, portsFromJson(json, "parameters"));
    description.parameters = std::move(parameters);
    CUDA_AGENT_ASSIGN(outputs, portsFromJson(json, "outputs"));
    description.outputs = std::move(outputs);
    CUDA_AGENT_ASSIGN(scalars, listField(json, "scalars", what));
    description.scalars = scalars.get<std::vector<Json>>();
    for (const auto &port : description.inputs)
        if (port.inputIndex < 0 ||
            static_cast<std::size_t>(port.inputIndex) >= description.scalars.size())
            return requestError("description.inputs: {} stands at no position of get_inputs()",
                                port.name);
    if (const auto single = json.find("single_output"); single != json.end()) {
        if (!single->is_boolean())
            return requestError("description.single_output must be true or false");
        description.singleOutput = single->get<bool>();
    }
    if (const auto graph = json.find("graph"); graph != json.end() && !graph->is_null()) {
        CUDA_AGENT_ASSIGN(parsed, graphFromJson(*graph));
        description.graph = std::move(parsed);
    }
    CUDA_AGENT_ASSIGN(problem, stringField(json, "graph_problem", what, false));
    description.graphProblem = std::move(problem);
    if (const auto constants = json.find("constants"); constants != json.end()) {
        if (!constants->is_object() || constants->size() > mostPorts)
            return requestError("description.constants must be an object");
        for (const auto &[key, value] : constants->items()) {
            if (!isPlainNumber(value))
                return requestError("description.constants.{} must be a number or a bool", key);
            description.constants[key] = value;
        }
    }
    CUDA_AGENT_ASSIGN(bytes, amountField(json, "counted_bytes", what));
    if (bytes > 1e18)
        return requestError("description.counted_bytes is too large");
    description.countedBytes = static_cast<std::uint64_t>(bytes);
    CUDA_AGENT_ASSIGN(matmul, amountField(json, "matmul_flops", what));
    description.matmulFlops = matmul;
    CUDA_AGENT_ASSIGN(convolution, amountField(json, "convolution_flops", what));
    description.convolutionFlops = convolution;
    return description;
}

} // namespace cuda_agent::task
