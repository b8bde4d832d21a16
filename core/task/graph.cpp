// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/task/fields.h"
#include "core/task/task.h"

#include <set>

namespace cuda_agent::task {

namespace {

constexpr std::size_t mostNodes = 50'000;
constexpr std::size_t mostOutputsOfNode = 4096;
/// Lists inside lists: indices and shapes need two; the rest is slack.
constexpr int deepestArgument = 8;

const char *nameOf(Origin origin) {
    switch (origin) {
    case Origin::input:
        return "input";
    case Origin::parameter:
        return "parameter";
    case Origin::constant:
        return "constant";
    }
    return "input";
}

Result<Origin> originFromName(const std::string &name, std::string_view what) {
    for (const auto origin : {Origin::input, Origin::parameter, Origin::constant})
        if (name == nameOf(origin))
            return origin;
    return requestError("{}.origin is '{}'; it must be input, parameter or constant", what, name);
}

/// Checks the encoding of one argument; a node it refers to must be in `known`.
Result<void> checkArgument(const Json &value, const std::set<std::string> &known,
                           const std::string &what, int depth) {
    if (depth > deepestArgument)
        return requestError("{} is nested too deeply", what);
    if (value.is_array()) {
        for (const auto &item : value)
            CUDA_AGENT_TRY(checkArgument(item, known, what, depth + 1));
        return {};
    }
    if (!value.is_object())
        return {};
    if (value.size() != 1 || !value.begin()->is_string())
        return requestError(R"({} must be {{"node"}}, {{"dtype"}} or {{"float"}} with a string)",
                            what);
    const auto &key = value.begin().key();
    const auto &text = value.begin()->get_ref<const std::string &>();
    if (key == "node") {
        if (!known.contains(text))
            return requestError("{} reads node '{}', which does not come before it", what, text);
    } else if (key == "float") {
        if (text != "inf" && text != "-inf" && text != "nan")
            return requestError("{} has the float '{}'; it must be inf, -inf or nan", what, text);
    } else if (key != "dtype") {
        // Element types beyond ours (complex64) may appear here: the planner refuses them by name.
        return requestError("{} has the unknown kind '{}'", what, key);
    }
    return {};
}

Result<Node> nodeFromJson(const Json &json, const std::set<std::string> &known,
                          const std::string &what) {
    if (!json.is_object())
        return requestError("{} must be an object", what);
    Node node;
    CUDA_AGENT_ASSIGN(name, stringField(json, "name", what));
    CUDA_AGENT_ASSIGN(op, stringField(json, "op", what));
    if (name.empty() || op.empty() || known.contains(name))
        return requestError("{} needs an op and a name of its own (it is '{}')", what, name);
    node.name = std::move(name);
    node.op = std::move(op);
    const std::string place = fmt::format("{} '{}'", what, node.name);
    CUDA_AGENT_ASSIGN(args, listField(json, "args", place));
    node.args = std::move(args);
    CUDA_AGENT_TRY(checkArgument(node.args, known, place + ".args", 0));
    if (const auto kwargs = json.find("kwargs"); kwargs != json.end()) {
        if (!kwargs->is_object())
            return requestError("{}.kwargs must be an object", place);
        for (const auto &[key, value] : kwargs->items())
            CUDA_AGENT_TRY(checkArgument(value, known, place + ".kwargs." + key, 0));
        node.kwargs = *kwargs;
    }
    CUDA_AGENT_ASSIGN(outputs, listField(json, "outputs", place));
    if (outputs.size() > mostOutputsOfNode)
        return requestError("{} has {} outputs; at most {} are taken", place, outputs.size(),
                            mostOutputsOfNode);
    for (const auto &output : outputs) {
        CUDA_AGENT_ASSIGN(type, tensorTypeFromJson(output, place + ".outputs"));
        node.outputs.push_back(std::move(type));
    }
    if (node.op == "placeholder") {
        CUDA_AGENT_ASSIGN(originName, stringField(json, "origin", place));
        CUDA_AGENT_ASSIGN(origin, originFromName(originName, place));
        CUDA_AGENT_ASSIGN(index, integerField(json, "input_index", place, -1));
        CUDA_AGENT_ASSIGN(key, stringField(json, "key", place, false));
        if ((origin == Origin::input) != (index >= 0) || index > 100'000)
            return requestError("{}.input_index must be a position for inputs and absent for "
                                "others",
                                place);
        node.origin = origin;
        node.inputIndex = static_cast<int>(index);
        node.key = std::move(key);
        node.scalar = json.value("scalar", Json());
        CUDA_AGENT_TRY(checkArgument(node.scalar, {}, place + ".scalar", 0));
    }
    return node;
}

void forEachRead(const Json &value, const std::function<void(const std::string &)> &read) {
    if (const auto *node = nodeOf(value))
        read(*node);
    else if (value.is_array() || value.is_object())
        for (const auto &item : value)
            forEachRead(item, read);
}

} // namespace

std::string_view operatorName(std::string_view op) {
    constexpr std::string_view begin = "aten.";
    if (!op.starts_with(begin))
        return op;
    op.remove_prefix(begin.size());
    return op.substr(0, op.find('.'));
}

const std::string *nodeOf(const Json &argument) {
    if (!argument.is_object())
        return nullptr;
    const auto found = argument.find("node");
    return found != argument.end() ? found->get_ptr<const std::string *>() : nullptr;
}

void forEachRead(const Node &node, const std::function<void(const std::string &)> &read) {
    forEachRead(node.args, read);
    forEachRead(node.kwargs, read);
}

const Node *Graph::find(std::string_view name) const {
    for (const auto &node : nodes)
        if (node.name == name)
            return &node;
    return nullptr;
}

std::vector<int> Graph::outputOrder(std::size_t output) const {
    const Node *node = output < outputs.size() ? find(outputs[output]) : nullptr;
    if (node == nullptr || node->op == "placeholder" || node->outputs.empty())
        return {};
    return memoryOrderOf(node->outputs.front());
}

Result<Graph> graphFromJson(const Json &json) {
    if (!json.is_object())
        return requestError("graph must be an object with nodes and outputs");
    CUDA_AGENT_ASSIGN(nodes, listField(json, "nodes", "graph"));
    CUDA_AGENT_ASSIGN(outputs, listField(json, "outputs", "graph"));
    if (nodes.size() > mostNodes)
        return requestError("graph.nodes has {} entries; at most {} are taken", nodes.size(),
                            mostNodes);
    Graph graph;
    std::set<std::string> known;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        CUDA_AGENT_ASSIGN(node, nodeFromJson(nodes[i], known, fmt::format("graph.nodes[{}]", i)));
        known.insert(node.name);
        graph.nodes.push_back(std::move(node));
    }
    for (const auto &output : outputs) {
        if (!output.is_string() || !known.contains(output.get_ref<const std::string &>()))
            return requestError("graph.outputs must hold names of nodes");
        graph.outputs.push_back(output.get<std::string>());
    }
    return graph;
}

Json toJson(const Graph &graph) {
    Json nodes = Json::array();
    for (const auto &node : graph.nodes) {
        Json outputs = Json::array();
        for (const auto &type : node.outputs)
            outputs.push_back(cuda_agent::toJson(type));
        Json entry = {{"name", node.name},
                      {"op", node.op},
                      {"args", node.args},
                      {"kwargs", node.kwargs},
                      {"outputs", std::move(outputs)}};
        if (node.op == "placeholder") {
            entry["origin"] = nameOf(node.origin);
            if (node.inputIndex >= 0)
                entry["input_index"] = node.inputIndex;
            if (!node.key.empty())
                entry["key"] = node.key;
            if (!node.scalar.is_null())
                entry["scalar"] = node.scalar;
        }
        nodes.push_back(std::move(entry));
    }
    return {{"nodes", std::move(nodes)}, {"outputs", graph.outputs}};
}

} // namespace cuda_agent::task
