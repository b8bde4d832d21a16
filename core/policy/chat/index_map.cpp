// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/chat/index_map.h"

#include "core/policy/chat/index_writer.h"
#include "core/policy/planner/lowering.h"

#include <fmt/ranges.h>

#include <set>

namespace cuda_agent::chat {

namespace {

constexpr std::size_t mostDimensions = 26;

/// In bytes; what is longer is not told.
constexpr std::size_t longestDeepest = 160;

/// What a computed element is told to be of.
constexpr std::size_t mostLeaves = 6;

} // namespace

std::optional<View> IndexWriter::view() const {
    using Kind = std::function<std::optional<View>(const IndexWriter &)>;
    static const std::map<std::string, Kind, std::less<>> kinds{
        {"permute", &IndexWriter::permuted},
        {"view", &IndexWriter::reshape},
        {"squeeze", &IndexWriter::reshape},
        {"unsqueeze", &IndexWriter::reshape},
        {"clone", &IndexWriter::reshape},
        {"expand", &IndexWriter::expanded},
        {"repeat", &IndexWriter::repeated},
        {"slice", &IndexWriter::sliced},
        {"select", &IndexWriter::selected},
        {"flip", &IndexWriter::flipped},
        {"constant_pad_nd", &IndexWriter::padded},
        {"diagonal", &IndexWriter::diagonal},
        {"unfold", &IndexWriter::unfolded},
        {"index", &IndexWriter::indexed},
        {"index_select", &IndexWriter::selectedBy},
        {"gather", &IndexWriter::gathered},
        {"embedding", &IndexWriter::embedded},
        {"getitem", &IndexWriter::part},
        {"upsample_nearest1d", &IndexWriter::nearest},
        {"upsample_nearest2d", &IndexWriter::nearest},
        {"upsample_nearest3d", &IndexWriter::nearest},
        {"_upsample_nearest_exact1d", &IndexWriter::nearest},
        {"_upsample_nearest_exact2d", &IndexWriter::nearest},
        {"_upsample_nearest_exact3d", &IndexWriter::nearest},
        {"upsample_linear1d", &IndexWriter::between},
        {"upsample_bilinear2d", &IndexWriter::between},
        {"upsample_trilinear3d", &IndexWriter::between},
        {"upsample_bicubic2d", &IndexWriter::between},
    };
    const auto found = kinds.find(task::operatorName(node_.op));
    return found == kinds.end() ? std::nullopt : found->second(*this);
}

std::string IndexWriter::text() const {
    if (const auto direct = view()) {
        auto resolved = *this;
        resolved.resolved_ = true;
        const View last = deepest(*resolved.view(), !direct->where.empty());
        const bool same = direct->of.type.shape == shape_ && direct->where.empty() &&
                          textOf(last) == accessOf(direct->of.name, letters_);
        return same ? "" : told(*direct, last);
    }
    using Kind = std::function<std::string(const IndexWriter &)>;
    static const std::map<std::string, Kind, std::less<>> kinds{
        {"cat", &IndexWriter::concatenated},
        {"slice_scatter", &IndexWriter::sliceScattered},
        {"diagonal_scatter", &IndexWriter::diagonalScattered},
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
    const auto found = kinds.find(task::operatorName(node_.op));
    return found == kinds.end() ? std::string() : found->second(*this);
}

View IndexWriter::deepest(View view, bool bordered) const {
    // What only puts places elsewhere does so with those between elements, too.
    static const std::set<std::string, std::less<>> moving{"permute", "expand", "select"};
    while (view.places.size() == view.of.type.shape.size() &&
           (view.whole || moving.contains(task::operatorName(view.of.node->op)))) {
        IndexWriter inner(*view.of.node, view.of.type.shape, view.places, operandOf_);
        inner.resolved_ = true;
        auto next = inner.view();
        if (!next || (bordered && !next->where.empty()) || textOf(*next).size() > longestDeepest)
            break;
        bordered = bordered || !next->where.empty();
        if (next->where.empty())
            next->where = view.where;
        if (!view.whole) {
            next->whole = false;
            next->before = view.before;
        }
        view = std::move(*next);
    }
    return view;
}

bool IndexWriter::addLeaves(const View &computed, Leaves &leaves) const {
    for (const auto &argument : computed.of.node->args) {
        const auto of = operandOf_(argument);
        if (!of)
            continue;
        const View leaf = deepest(
            {*of, broadcast(of->type.shape, computed.places), {}, {}, computed.whole}, true);
        if (!leaves.seen.insert(textOf(leaf)).second)
            continue; // values that several share would be walked once for each way to them
        const bool computes = policy::isPointwise(leaf.of.node->op);
        if (!computes)
            leaves.texts.push_back(leaf.before + placed(leaf));
        if (leaves.texts.size() > mostLeaves || (computes && !addLeaves(leaf, leaves)))
            return false;
    }
    return true;
}

std::string IndexWriter::placed(const View &view) {
    const auto order = memoryOrderOf(view.of.type);
    const bool elsewhere = view.of.node->op == "placeholder" &&
                           view.of.node->origin == task::Origin::input && !order.empty() &&
                           order.size() == view.places.size();
    const auto text = accessOf(view.of.name, view.places);
    return elsewhere ? fmt::format("{} at [{}]", text, fmt::join(ordered(view.places, order), ", "))
                     : text;
}

std::string IndexWriter::told(const View &direct, const View &last) const {
    const auto first = textOf(direct);
    auto text = (textOf(last) == first ? "" : first + " = ") + last.before + placed(last);
    Leaves leaves;
    if (policy::isPointwise(last.of.node->op) && addLeaves(last, leaves) && !leaves.texts.empty())
        if (const auto by = fmt::format(" by {}", fmt::join(leaves.texts, ", "));
            by.size() <= longestDeepest)
            text += by;
    return text + (direct.where.empty() ? last.where : direct.where);
}

std::string IndexWriter::read(const Operand &of, Texts places, bool bordered) const {
    const View direct{of, std::move(places)};
    return told(direct, deepest(direct, bordered));
}

std::string IndexWriter::lookedUp(const Operand &by, Texts places) const {
    View view{by, std::move(places)};
    return textOf(resolved_ ? deepest(std::move(view), true) : view);
}

IndexMaps::IndexMaps(const task::Graph &graph, const std::map<std::string, std::string> &names)
    : names_(names) {
    for (const auto &node : graph.nodes)
        nodes_.emplace(node.name, &node);
}

std::optional<Operand> IndexMaps::operandOf(const Json &argument) const {
    const auto *name = task::nodeOf(argument);
    auto found = name == nullptr ? nodes_.end() : nodes_.find(*name);
    if (found == nodes_.end() || found->second->outputs.empty())
        return {};
    const auto called = names_.find(*name);
    if (called == names_.end())
        return Operand{*name, found->second, found->second->outputs[0]};
    // What is told once has the name of its first node, inputs have one that is no node's.
    if (found->second->op != "placeholder")
        if (const auto first = nodes_.find(called->second); first != nodes_.end())
            found = first;
    return Operand{called->second, found->second, found->second->outputs[0]};
}

std::string IndexMaps::mapOf(const task::Node &node) const {
    const auto lookup = [&](const Json &argument) { return operandOf(argument); };
    const auto &shape = node.outputs[0].shape;
    return IndexWriter(node, shape, lettersOf(shape), lookup).text();
}

std::string IndexMaps::textOf(const task::Node &node) const {
    if (node.outputs.empty() || node.outputs[0].shape.size() > mostDimensions)
        return {};
    const auto text = mapOf(node);
    const auto place = accessOf(node.name + (node.outputs.size() > 1 ? "[0]" : ""),
                                lettersOf(node.outputs[0].shape));
    return text.empty() ? text : fmt::format("{} = {}", place, text);
}

std::string IndexMaps::memoryTextOf(const std::string &output, const std::string &node,
                                    const std::vector<int> &order) const {
    const auto found = nodes_.find(node);
    if (order.empty() || order.size() > mostDimensions || found == nodes_.end() ||
        found->second->outputs.size() != 1)
        return {};
    task::Node inMemory;
    inMemory.op = "aten.permute.default";
    inMemory.args = Json::array({Json{{"node", node}}, order});
    inMemory.outputs = {permuted(found->second->outputs[0], order)};
    const auto text = mapOf(inMemory);
    return text.empty() ? text
                        : fmt::format("{} at [{}] = {}", output,
                                      fmt::join(lettersOf(inMemory.outputs[0].shape), ", "), text);
}

std::string memoryMap(const std::string &name, const Shape &shape, const std::vector<int> &order) {
    if (order.empty() || shape.size() > mostDimensions)
        return {};
    const auto letters = lettersOf(shape);
    const auto type = permuted(contiguousType(DType::float32, shape), order);
    return fmt::format("{} at [{}] of [{}]", accessOf(name, letters),
                       fmt::join(ordered(letters, order), ", "), fmt::join(type.shape, ", "));
}

} // namespace cuda_agent::chat
