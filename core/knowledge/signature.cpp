// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/knowledge/signature.h"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace cuda_agent::knowledge {

namespace {

using task::Node;

/// A longer chain is told as the set of its kinds: nobody meets the very same chain again.
constexpr std::size_t longestChain = 6;

/// "softmax" of "aten._softmax.default".
std::string_view nameOf(std::string_view op) {
    op = task::operatorName(op);
    while (op.starts_with('_'))
        op.remove_prefix(1);
    return op;
}

const TensorType *typeOf(const task::Graph &graph, const Json &argument) {
    const auto *name = task::nodeOf(argument);
    const Node *node = name ? graph.find(*name) : nullptr;
    return node && !node->outputs.empty() ? &node->outputs[0] : nullptr;
}

/// The dimensions that the operator sums over, in words.
std::string whichDimensions(const task::Graph &graph, const Node &node) {
    const TensorType *input = node.args.empty() ? nullptr : typeOf(graph, node.args[0]);
    if (!input || input->shape.empty())
        return "all";
    const auto rank = static_cast<std::int64_t>(input->shape.size());
    // Vector norms have their order first.
    const std::size_t at = nameOf(node.op) == "linalg_vector_norm" ? 2 : 1;
    Json dims = node.args.size() > at ? node.args[at] : Json();
    if (dims.is_number_integer())
        dims = Json::array({dims});
    if (!dims.is_array() || dims.empty() || static_cast<std::int64_t>(dims.size()) == rank)
        return "all";
    bool last = false;
    bool other = false;
    for (const Json &dim : dims) {
        if (!dim.is_number_integer())
            return "all";
        const auto number = dim.get<std::int64_t>();
        (number == -1 || number == rank - 1 ? last : other) = true;
    }
    return last && other ? "several" : last ? "last" : "inner";
}

template <std::size_t size>
bool among(std::string_view name, const std::array<std::string_view, size> &names) {
    return std::ranges::find(names, name) != names.end();
}

constexpr std::array<std::string_view, 10> products{"mm",     "addmm", "bmm", "baddbmm", "matmul",
                                                    "linear", "dot",   "mv",  "addmv",   "einsum"};
constexpr std::array<std::string_view, 21> reductions{
    "sum",  "mean",    "amax",      "amin",     "max",      "min",    "prod",
    "var",  "std",     "any",       "all",      "argmax",   "argmin", "linalg_vector_norm",
    "norm", "aminmax", "logsumexp", "var_mean", "std_mean", "median", "count_nonzero"};
constexpr std::array<std::string_view, 5> scans{"cumsum", "cumprod", "logcumsumexp", "cummax",
                                                "cummin"};
constexpr std::array<std::string_view, 8> gathers{"gather",    "index",    "index_select",
                                                  "embedding", "scatter",  "scatter_add",
                                                  "index_put", "index_add"};
constexpr std::array<std::string_view, 4> sorts{"sort", "topk", "argsort", "kthvalue"};
/// What only looks at data otherwise, or makes a constant: no class of its own.
constexpr std::array<std::string_view, 34> silent{"view",
                                                  "reshape",
                                                  "permute",
                                                  "transpose",
                                                  "t",
                                                  "expand",
                                                  "squeeze",
                                                  "unsqueeze",
                                                  "clone",
                                                  "slice",
                                                  "select",
                                                  "split",
                                                  "split_with_sizes",
                                                  "chunk",
                                                  "to_copy",
                                                  "full",
                                                  "full_like",
                                                  "arange",
                                                  "scalar_tensor",
                                                  "empty",
                                                  "zeros",
                                                  "ones",
                                                  "zeros_like",
                                                  "ones_like",
                                                  "alias",
                                                  "detach",
                                                  "as_strided",
                                                  "unsafe_view",
                                                  "contiguous",
                                                  "lift_fresh_copy",
                                                  "diagonal",
                                                  "sym_size",
                                                  "assert_tensor_metadata",
                                                  "dropout"};

/// The kind of a node; empty for what does not count.
std::string kindOf(const task::Graph &graph, const Node &node) {
    if (!node.op.starts_with("aten."))
        return {}; // placeholder, getitem, output
    const std::string_view name = nameOf(node.op);
    if (among(name, silent))
        return {};
    if (among(name, products))
        return "gemm";
    if (name == "convolution") {
        const std::size_t rank = node.outputs.empty() ? 0 : node.outputs[0].shape.size();
        const bool transposed =
            node.args.size() > 6 && node.args[6].is_boolean() && node.args[6].get<bool>();
        return fmt::format("{}{}d", transposed ? "conv_transpose" : "conv",
                           rank > 2 ? rank - 2 : 1);
    }
    if (name.starts_with("scaled_dot_product"))
        return "attention";
    if (name.find("norm") != std::string_view::npos && name != "linalg_vector_norm" &&
        name != "norm")
        return "norm";
    if (name == "softmax" || name == "log_softmax" || name == "safe_softmax")
        return "softmax";
    if (name.find("pool") != std::string_view::npos)
        return "pool";
    // max.other and min.other compare two tensors.
    if (among(name, reductions) && !node.op.ends_with(".other"))
        return fmt::format("reduction({})", whichDimensions(graph, node));
    if (among(name, scans))
        return "scan";
    if (among(name, gathers))
        return "gather";
    if (among(name, sorts))
        return "sort";
    if (name == "cat" || name == "stack")
        return "concat";
    return "pointwise";
}

std::string withoutDetail(const std::string &kind) {
    return kind.substr(0, kind.find('('));
}

/// Where the work is: by counted operations, else by what is hard to do well.
std::string dominantOf(const task::Description &task, const std::vector<std::string> &kinds) {
    const auto first = [&](std::string_view start) -> std::string {
        const auto found = std::ranges::find_if(
            kinds, [&](const std::string &kind) { return kind.starts_with(start); });
        return found == kinds.end() ? std::string() : withoutDetail(*found);
    };
    if (const auto found = first("conv");
        !found.empty() && task.convolutionFlops >= task.matmulFlops)
        return found;
    for (const char *kind : {"attention", "gemm", "sort", "scan", "softmax", "norm", "reduction",
                             "pool", "gather", "concat", "pointwise"})
        if (auto found = first(kind); !found.empty())
            return found;
    return kinds.empty() ? std::string() : withoutDetail(kinds.front());
}

int logarithm(std::uint64_t value, int bits) {
    int result = 0;
    while (value >>= bits)
        ++result;
    return result;
}

} // namespace

Signature signatureOf(const task::Description &task) {
    std::vector<std::string> kinds;
    for (const Node &node : task.graph.nodes)
        if (auto kind = kindOf(task.graph, node);
            !kind.empty() && (kinds.empty() || kinds.back() != kind))
            kinds.push_back(std::move(kind));
    Signature signature;
    signature.dominant = dominantOf(task, kinds);
    if (kinds.size() <= longestChain) {
        for (const auto &kind : kinds)
            signature.operators += (signature.operators.empty() ? "" : "+") + kind;
    } else {
        std::vector<std::string> distinct;
        for (const auto &kind : kinds)
            if (std::ranges::find(distinct, kind) == distinct.end())
                distinct.push_back(kind);
        for (const auto &kind : distinct)
            signature.operators += (signature.operators.empty() ? "many: " : "+") + kind;
    }
    const TensorType *largest = nullptr;
    for (const auto &port : task.inputs) {
        if (signature.dtype.empty() && isFloating(port.type.dtype))
            signature.dtype = cuda_agent::nameOf(port.type.dtype);
        if (!largest || port.type.elements() > largest->elements())
            largest = &port.type;
    }
    if (signature.dtype.empty() && largest)
        signature.dtype = cuda_agent::nameOf(largest->dtype);
    signature.bytes = logarithm(task.countedBytes, 2);
    if (largest && !largest->shape.empty())
        signature.row = logarithm(
            static_cast<std::uint64_t>(std::max<std::int64_t>(1, largest->shape.back())), 1);
    return signature;
}

std::string textOf(const Signature &signature) {
    const double bytes =
        static_cast<double>(std::uint64_t{1} << (2 * std::min(signature.bytes, 31)));
    const std::string size = bytes >= 1 << 30   ? fmt::format("{:.0f} GiB", bytes / (1 << 30))
                             : bytes >= 1 << 20 ? fmt::format("{:.0f} MiB", bytes / (1 << 20))
                             : bytes >= 1 << 10 ? fmt::format("{:.0f} KiB", bytes / (1 << 10))
                                                : fmt::format("{:.0f} B", bytes);
    return fmt::format("{} {}, from {}, rows from {}",
                       signature.operators.empty() ? "unknown operators" : signature.operators,
                       signature.dtype, size, std::uint64_t{1} << std::min(signature.row, 62));
}

int sizeDistance(const Signature &a, const Signature &b) {
    return 2 * std::abs(a.bytes - b.bytes) + std::abs(a.row - b.row);
}

} // namespace cuda_agent::knowledge
