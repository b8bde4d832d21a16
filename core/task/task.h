// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/json.h"
#include "core/base/tensor_type.h"

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace cuda_agent::task {

/// Which precision both sides declare. Names as on the command line.
enum class Numerics { standard, tf32, published };
std::string_view nameOf(Numerics numerics); ///< "default", "tf32", "published"
Result<Numerics> numericsFromName(std::string_view name);

/// A Python file in KernelBench form (`Model`, `get_inputs()`, `get_init_inputs()`), unmodified,
/// with module-level constants overridden.
struct Spec {
    std::filesystem::path file;                   ///< absolute
    std::map<std::string, std::string> overrides; ///< NAME -> Python literal
    std::string name() const { return file.stem().string(); }
};

/// Checks that the file exists and is a readable .py, parses NAME=VALUE pairs.
/// Errors: request. What the file contains is found out in the sandbox.
Result<Spec> openSpec(const std::filesystem::path &file, const std::vector<std::string> &sets);

/// Where the value of a graph placeholder comes from.
enum class Origin { input, parameter, constant };

/// An argument or attribute of a graph node: a value by name, or a literal.
/// JSON as exported by the reference worker: {"node": "name"} | number | bool | string | null |
/// list | {"dtype": "float32"}.
struct Node {
    std::string name;
    std::string op; ///< "aten.native_group_norm.default", "placeholder", "getitem", "output"
    Json args = Json::array();
    Json kwargs = Json::object();
    std::vector<TensorType> outputs; ///< one for a tensor, several for a tuple, none for scalars
    // placeholder only
    Origin origin = Origin::input;
    int inputIndex = -1; ///< position in get_inputs(), tensors and scalars counted alike
    std::string key;     ///< state_dict key of a parameter or buffer, or constant's name
    Json scalar;         ///< value of a non-tensor input
};

/// "add" of "aten.add.Tensor": an ATen operator without its overload. What is none has its own
/// name.
std::string_view operatorName(std::string_view op);
/// The name of the node that an argument of a node is; null where it is something else.
const std::string *nodeOf(const Json &argument);
/// Calls `read` with the name of each node whose value the node's arguments take, in their order,
/// each as often as they do.
void forEachRead(const Node &node, const std::function<void(const std::string &)> &read);

/// The forward pass as a core-ATen operator graph (torch.export, decomposed), in topological order.
struct Graph {
    std::vector<Node> nodes;
    std::vector<std::string> outputs; ///< names of the nodes that forward() returns, in order

    const Node *find(std::string_view name) const;
    /// The order in which PyTorch leaves an output's dimensions in memory, as memoryOrderOf() has
    /// it; empty for what is returned as it came, too.
    std::vector<int> outputOrder(std::size_t output) const;
};
Result<Graph> graphFromJson(const Json &json);
Json toJson(const Graph &graph);

/// One tensor that crosses the border of forward().
struct Port {
    std::string name; ///< "x", "ln.weight", "out0"
    TensorType type;
    int inputIndex = -1; ///< for inputs: position in get_inputs()
};

/// What the reference worker found out about a task.
struct Description {
    std::string name;
    std::vector<Port> inputs;     ///< tensors of get_inputs(), in order
    std::vector<Json> scalars;    ///< by position in get_inputs(); null where a tensor stands
    std::vector<Port> parameters; ///< parameters, buffers and lifted constants that the graph reads
    std::vector<Port> outputs;    ///< flattened outputs of forward(), in order
    bool singleOutput = true;     ///< forward() returns a tensor, not a tuple
    Graph graph;                  ///< empty nodes when export failed
    std::string graphProblem;     ///< why export failed, or empty
    std::map<std::string, Json> constants; ///< module-level ints/floats that --set may change
    std::uint64_t countedBytes = 0;        ///< inputs + read parameters + outputs, once each
    double matmulFlops = 0;                ///< by PyTorch's flop counter: products
    double convolutionFlops = 0;
    Json toJson() const;
};
Result<Description> descriptionFromJson(const Json &json);

} // namespace cuda_agent::task
