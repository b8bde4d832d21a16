// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/chat/index_map.h"

#include "core/policy/chat/index_writer.h"

#include <fmt/ranges.h>

namespace cuda_agent::chat {

std::string IndexWriter::of(std::string_view op) const {
    using Kind = std::function<std::string(const IndexWriter &)>;
    static const std::map<std::string, Kind, std::less<>> kinds{
        {"permute", &IndexWriter::permuted},
        {"view", &IndexWriter::reshape},
        {"squeeze", &IndexWriter::reshape},
        {"unsqueeze", &IndexWriter::reshape},
        {"expand", &IndexWriter::expanded},
        {"repeat", &IndexWriter::repeated},
        {"slice", &IndexWriter::sliced},
        {"select", &IndexWriter::selected},
        {"flip", &IndexWriter::flipped},
        {"constant_pad_nd", &IndexWriter::padded},
        {"cat", &IndexWriter::concatenated},
        {"diagonal", &IndexWriter::diagonal},
        {"unfold", &IndexWriter::unfolded},
        {"slice_scatter", &IndexWriter::sliceScattered},
        {"diagonal_scatter", &IndexWriter::diagonalScattered},
        {"index", &IndexWriter::indexed},
        {"index_select", &IndexWriter::selectedBy},
        {"gather", &IndexWriter::gathered},
        {"embedding", &IndexWriter::embedded},
        {"upsample_nearest2d", [](const IndexWriter &writer) { return writer.resampled(true); }},
        {"upsample_bilinear2d", [](const IndexWriter &writer) { return writer.resampled(false); }},
        {"avg_pool2d", [](const IndexWriter &writer) { return writer.pooled("mean", 0); }},
        {"avg_pool3d", [](const IndexWriter &writer) { return writer.pooled("mean", 0); }},
        {"_adaptive_avg_pool2d", &IndexWriter::adaptivelyPooled},
        {"_adaptive_avg_pool3d", &IndexWriter::adaptivelyPooled},
        {"max_pool2d_with_indices",
         [](const IndexWriter &writer) { return writer.pooled("max", 4); }},
        {"max_pool3d_with_indices",
         [](const IndexWriter &writer) { return writer.pooled("max", 4); }},
        {"sum", [](const IndexWriter &writer) { return writer.reduced("sum", 1); }},
        {"mean", [](const IndexWriter &writer) { return writer.reduced("mean", 1); }},
        {"amax", [](const IndexWriter &writer) { return writer.reduced("max", 1); }},
        {"amin", [](const IndexWriter &writer) { return writer.reduced("min", 1); }},
        {"max", [](const IndexWriter &writer) { return writer.reduced("max", 1); }},
        {"min", [](const IndexWriter &writer) { return writer.reduced("min", 1); }},
        {"any", [](const IndexWriter &writer) { return writer.reduced("any", 1); }},
        {"linalg_vector_norm", [](const IndexWriter &writer) { return writer.reduced("norm", 2); }},
    };
    const auto found = kinds.find(op);
    return found == kinds.end() ? std::string() : found->second(*this);
}

namespace {

constexpr std::size_t mostDimensions = 26;

/// "aten.permute.default" is "permute".
std::string_view kindOf(std::string_view op) {
    if (!op.starts_with("aten."))
        return {};
    op.remove_prefix(5);
    return op.substr(0, op.find('.'));
}

} // namespace

IndexMaps::IndexMaps(const task::Graph &graph, const std::map<std::string, std::string> &names)
    : names_(names) {
    for (const auto &node : graph.nodes)
        nodes_.emplace(node.name, &node);
}

std::string IndexMaps::textOf(const task::Node &node) const {
    const auto lookup = [&](const Json &argument) -> std::optional<IndexWriter::Operand> {
        const auto *name = task::nodeOf(argument);
        if (name == nullptr)
            return {};
        const auto found = nodes_.find(*name);
        if (found == nodes_.end() || found->second->outputs.size() != 1)
            return {};
        const auto called = names_.find(*name);
        return IndexWriter::Operand{called == names_.end() ? *name : called->second,
                                    found->second->outputs[0]};
    };
    if (node.outputs.empty() || node.outputs[0].shape.size() > mostDimensions)
        return {};
    const auto &shape = node.outputs[0].shape;
    std::string text;
    if (node.op == "getitem") {
        const auto *name = node.args.size() == 2 ? task::nodeOf(node.args[0]) : nullptr;
        const auto parts = name == nullptr ? nodes_.end() : nodes_.find(*name);
        if (parts != nodes_.end() && kindOf(parts->second->op) == "split_with_sizes" &&
            node.args[1].is_number_unsigned())
            text =
                IndexWriter(*parts->second, shape, lookup).ofPart(node.args[1].get<std::size_t>());
    } else {
        text = IndexWriter(node, shape, lookup).of(kindOf(node.op));
    }
    const auto place =
        accessOf(node.name + (node.outputs.size() > 1 ? "[0]" : ""), lettersOf(shape));
    return text.empty() ? text : fmt::format("{} = {}", place, text);
}

std::string memoryMap(const std::string &name, const Shape &shape, const std::vector<int> &order) {
    if (order.empty() || shape.size() > mostDimensions)
        return {};
    const auto letters = lettersOf(shape);
    Texts places;
    Shape sizes;
    for (const int d : order) {
        places.push_back(letters[static_cast<std::size_t>(d)]);
        sizes.push_back(shape[static_cast<std::size_t>(d)]);
    }
    return fmt::format("{} at [{}] of [{}]", accessOf(name, letters), fmt::join(places, ", "),
                       fmt::join(sizes, ", "));
}

} // namespace cuda_agent::chat