// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/chat/index_map.h"

#include "core/policy/chat/index_text.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

namespace cuda_agent::chat {

namespace {

constexpr std::size_t mostOperands = 12;
constexpr std::size_t mostDimensions = 26;

/// The map of one node: its operands are looked up by `operandOf`.
class Writer {
  public:
    struct Operand {
        std::string name;
        TensorType type;
    };
    using Lookup = std::function<std::optional<Operand>(const Json &)>;

    Writer(const task::Node &node, const Shape &shape, const Lookup &operandOf)
        : node_(node), shape_(shape), letters_(lettersOf(shape)), operandOf_(operandOf) {}

    /// What stands behind "=", or empty.
    std::string of(std::string_view op) const;
    /// Of part `part` of a split.
    std::string ofPart(std::size_t part) const;

  private:
    std::optional<Operand> operand(std::size_t at) const {
        return at < node_.args.size() ? operandOf_(node_.args[at]) : std::nullopt;
    }
    std::int64_t number(std::size_t at, std::int64_t otherwise) const {
        return at < node_.args.size() && node_.args[at].is_number_integer()
                   ? node_.args[at].get<std::int64_t>()
                   : otherwise;
    }
    /// A dimension of `rank`, counted from the end where it is negative.
    std::optional<std::size_t> dimension(std::size_t at, std::size_t rank,
                                         std::int64_t otherwise = 0) const {
        auto d = number(at, otherwise);
        if (d < 0)
            d += static_cast<std::int64_t>(rank);
        if (d < 0 || d >= static_cast<std::int64_t>(rank))
            return {};
        return static_cast<std::size_t>(d);
    }
    std::vector<std::int64_t> numbers(std::size_t at) const;
    /// The places without the one at `d`.
    Texts lettersWithout(std::size_t d) const {
        auto places = letters_;
        places.erase(places.begin() + static_cast<long>(d));
        return places;
    }
    /// Where a tensor of `shape` is read that is broadcast to the node's.
    Texts broadcast(const Shape &shape) const { return broadcast(shape, letters_); }
    static Texts broadcast(const Shape &shape, const Texts &places) {
        Texts result;
        for (std::size_t d = 0; d < shape.size() && shape.size() <= places.size(); ++d)
            result.push_back(shape[d] == 1 ? "0" : places[places.size() - shape.size() + d]);
        return result;
    }

    std::string permuted() const;
    std::string reshape() const;
    std::string expanded() const;
    std::string repeated() const;
    std::string sliced() const;
    std::string selected() const;
    std::string flipped() const;
    std::string padded() const;
    std::string concatenated() const;
    std::string diagonal() const;
    std::string unfolded() const;
    std::string sliceScattered() const;
    std::string diagonalScattered() const;
    std::string indexed() const;
    std::string selectedBy() const;
    std::string gathered() const;
    std::string embedded() const;
    /// Nearest: the element before the place; else what lies between those around it.
    std::string resampled(bool nearest) const;
    /// `dilation`: which argument tells it, 0 for none.
    std::string pooled(std::string_view what, std::size_t dilation) const;
    std::string adaptivelyPooled() const;
    std::string windows(std::string_view what, const Operand &of, const Shape &kernel,
                        const Shape &strides, const Shape &pads, const Shape &steps) const;

    const task::Node &node_;
    const Shape &shape_;
    Texts letters_;
    const Lookup &operandOf_;
};

std::vector<std::int64_t> Writer::numbers(std::size_t at) const {
    std::vector<std::int64_t> result;
    if (at >= node_.args.size())
        return result;
    const auto &argument = node_.args[at];
    if (argument.is_number_integer())
        return {argument.get<std::int64_t>()};
    if (argument.is_array())
        for (const auto &one : argument)
            if (one.is_number_integer())
                result.push_back(one.get<std::int64_t>());
    return result;
}

std::string Writer::permuted() const {
    const auto of = operand(0);
    const auto order = numbers(1);
    if (!of || order.size() != shape_.size() || of->type.shape.size() != shape_.size())
        return {};
    Texts places(shape_.size());
    for (std::size_t d = 0; d < order.size(); ++d) {
        const auto from =
            order[d] < 0 ? order[d] + static_cast<std::int64_t>(order.size()) : order[d];
        if (from < 0 || from >= static_cast<std::int64_t>(order.size()))
            return {};
        places[static_cast<std::size_t>(from)] = letters_[d];
    }
    return accessOf(of->name, places);
}

std::string Writer::reshape() const {
    const auto of = operand(0);
    if (!of || of->type.shape == shape_)
        return {};
    const auto places = reshaped(shape_, letters_, of->type.shape);
    return places ? accessOf(of->name, *places) : "";
}

std::string Writer::expanded() const {
    const auto of = operand(0);
    if (!of || of->type.shape == shape_ || of->type.shape.size() > shape_.size())
        return {};
    return accessOf(of->name, broadcast(of->type.shape));
}

std::string Writer::repeated() const {
    const auto of = operand(0);
    if (!of || of->type.shape == shape_ || of->type.shape.size() > shape_.size())
        return {};
    auto places = broadcast(of->type.shape);
    const auto added = shape_.size() - places.size();
    for (std::size_t d = 0; d < places.size(); ++d)
        if (of->type.shape[d] != 1 && of->type.shape[d] != shape_[added + d])
            places[d] = fmt::format("{} % {}", places[d], of->type.shape[d]);
    return accessOf(of->name, places);
}

std::string Writer::sliced() const {
    const auto of = operand(0);
    const auto d = dimension(1, shape_.size());
    if (!of || !d || of->type.shape == shape_)
        return {};
    auto begin = number(2, 0);
    if (begin < 0)
        begin = std::max<std::int64_t>(0, begin + of->type.shape[*d]);
    auto places = letters_;
    places[*d] = plus(times(places[*d], std::to_string(number(4, 1))), begin);
    return accessOf(of->name, places);
}

std::string Writer::selected() const {
    const auto of = operand(0);
    const auto d = dimension(1, shape_.size() + 1);
    if (!of || !d || of->type.shape.size() != shape_.size() + 1)
        return {};
    const auto at = number(2, 0);
    auto places = letters_;
    places.insert(places.begin() + static_cast<long>(*d),
                  std::to_string(at < 0 ? at + of->type.shape[*d] : at));
    return accessOf(of->name, places);
}

std::string Writer::flipped() const {
    const auto of = operand(0);
    if (!of)
        return {};
    auto places = letters_;
    for (auto d : numbers(1)) {
        if (d < 0)
            d += static_cast<std::int64_t>(shape_.size());
        if (d < 0 || d >= static_cast<std::int64_t>(shape_.size()))
            return {};
        if (const auto at = static_cast<std::size_t>(d); shape_[at] != 1)
            places[at] = fmt::format("{} - 1 - {}", shape_[at], places[at]);
    }
    return accessOf(of->name, places);
}

std::string Writer::padded() const {
    const auto of = operand(0);
    const auto amounts = numbers(1);
    if (!of || of->type.shape.size() != shape_.size() || amounts.size() > 2 * shape_.size())
        return {};
    auto places = letters_;
    Texts conditions;
    for (std::size_t d = 0; d < shape_.size(); ++d) {
        const auto at = 2 * (shape_.size() - 1 - d);
        if (at + 1 >= amounts.size())
            continue;
        places[d] = plus(letters_[d], -amounts[at]);
        const auto first = std::max<std::int64_t>(0, amounts[at]);
        const auto count = of->type.shape[d] + std::min<std::int64_t>(0, amounts[at]);
        if (auto condition = within(letters_[d], first, count, shape_[d]); !condition.empty())
            conditions.push_back(condition);
    }
    const auto value = node_.args.size() > 2 ? node_.args[2] : Json(0);
    const std::string otherwise = value.is_number()   ? fmt::format("{:g}", value.get<double>())
                                  : value.is_object() ? value.value("float", "?")
                                                      : "0";
    auto text = accessOf(of->name, places);
    if (!conditions.empty())
        text += fmt::format(" where {}, else {}", fmt::join(conditions, " and "), otherwise);
    return text;
}

std::string Writer::concatenated() const {
    const auto d = dimension(1, shape_.size());
    if (!d || node_.args.empty() || !node_.args[0].is_array() ||
        node_.args[0].size() > mostOperands)
        return {};
    Texts pieces;
    std::int64_t first = 0;
    for (const auto &argument : node_.args[0]) {
        const auto of = operandOf_(argument);
        if (!of || of->type.shape.size() != shape_.size())
            return {};
        auto places = letters_;
        places[*d] = of->type.shape[*d] == 1 ? "0" : plus(places[*d], -first);
        pieces.push_back(accessOf(of->name, places));
        if (auto condition = within(letters_[*d], first, of->type.shape[*d], shape_[*d]);
            !condition.empty())
            pieces.back() += " where " + condition;
        first += of->type.shape[*d];
    }
    return fmt::format("{}", fmt::join(pieces, "; "));
}

std::string Writer::ofPart(std::size_t part) const {
    const auto of = operand(0);
    const auto d = dimension(2, shape_.size());
    const auto sizes = numbers(1);
    if (!of || !d || part >= sizes.size())
        return {};
    std::int64_t first = 0;
    for (std::size_t i = 0; i < part; ++i)
        first += sizes[i];
    auto places = letters_;
    places[*d] = plus(places[*d], first);
    return accessOf(of->name, places);
}

std::string Writer::diagonal() const {
    const auto of = operand(0);
    const auto rank = shape_.size() + 1;
    const auto offset = number(1, 0);
    const auto d1 = dimension(2, rank, 0);
    const auto d2 = dimension(3, rank, 1);
    if (!of || !d1 || !d2 || *d1 == *d2 || of->type.shape.size() != rank || shape_.empty())
        return {};
    Texts places(rank);
    std::size_t next = 0;
    for (std::size_t d = 0; d < rank; ++d)
        if (d != *d1 && d != *d2)
            places[d] = letters_[next++];
    places[*d1] = plus(letters_.back(), std::max<std::int64_t>(0, -offset));
    places[*d2] = plus(letters_.back(), std::max<std::int64_t>(0, offset));
    return accessOf(of->name, places);
}

std::string Writer::unfolded() const {
    const auto of = operand(0);
    if (!of || shape_.size() < 2 || of->type.shape.size() + 1 != shape_.size())
        return {};
    const auto d = dimension(1, shape_.size() - 1);
    if (!d)
        return {};
    auto places = letters_;
    places.pop_back();
    const auto start = times(places[*d], std::to_string(number(3, 1)));
    const auto &along = letters_.back();
    places[*d] = start == "0" ? along : along == "0" ? start : fmt::format("{} + {}", start, along);
    return accessOf(of->name, places);
}

std::string Writer::sliceScattered() const {
    const auto of = operand(0);
    const auto with = operand(1);
    const auto d = dimension(2, shape_.size());
    if (!of || !with || !d || number(5, 1) != 1 || with->type.shape.size() != shape_.size())
        return {};
    auto begin = number(3, 0);
    if (begin < 0)
        begin = std::max<std::int64_t>(0, begin + shape_[*d]);
    auto places = letters_;
    places[*d] = with->type.shape[*d] == 1 ? "0" : plus(places[*d], -begin);
    const auto condition = within(letters_[*d], begin, with->type.shape[*d], shape_[*d]);
    const auto inner = accessOf(with->name, places);
    return condition.empty() ? inner
                             : fmt::format("{} where {}, else {}", inner, condition,
                                           accessOf(of->name, letters_));
}

std::string Writer::diagonalScattered() const {
    const auto of = operand(0);
    const auto with = operand(1);
    const auto offset = number(2, 0);
    const auto d1 = dimension(3, shape_.size(), 0);
    const auto d2 = dimension(4, shape_.size(), 1);
    if (!of || !with || !d1 || !d2 || *d1 == *d2 || with->type.shape.size() + 1 != shape_.size())
        return {};
    Texts places;
    for (std::size_t d = 0; d < shape_.size(); ++d)
        if (d != *d1 && d != *d2)
            places.push_back(letters_[d]);
    places.push_back(offset >= 0 ? letters_[*d1] : letters_[*d2]);
    return fmt::format("{} where {} == {}, else {}", accessOf(with->name, places), letters_[*d2],
                       plus(letters_[*d1], offset), accessOf(of->name, letters_));
}

std::string Writer::indexed() const {
    const auto of = operand(0);
    if (!of || node_.args.size() < 2 || !node_.args[1].is_array() ||
        node_.args[1].size() > of->type.shape.size())
        return {};
    const auto &list = node_.args[1];
    // Where the indices' own dimensions stand in the result: where the first of them stands if
    // nothing is between them, else in front.
    std::size_t rank = 0;
    std::size_t first = list.size();
    std::size_t last = 0;
    std::size_t count = 0;
    for (std::size_t d = 0; d < list.size(); ++d) {
        if (list[d].is_null())
            continue;
        const auto by = operandOf_(list[d]);
        if (!by || by->type.dtype == DType::boolean)
            return {};
        rank = std::max(rank, by->type.shape.size());
        first = std::min(first, d);
        last = d;
        ++count;
    }
    if (count == 0 || shape_.size() + count != of->type.shape.size() + rank)
        return {};
    const std::size_t at = last - first + 1 == count ? first : 0;
    const Texts indices(letters_.begin() + static_cast<long>(at),
                        letters_.begin() + static_cast<long>(at + rank));
    Texts places;
    std::size_t next = 0;
    for (std::size_t d = 0; d < of->type.shape.size(); ++d) {
        if (d < list.size() && !list[d].is_null()) {
            const auto by = operandOf_(list[d]);
            places.push_back(accessOf(by->name, broadcast(by->type.shape, indices)));
            continue;
        }
        if (next == at)
            next += rank;
        if (next >= letters_.size())
            return {};
        places.push_back(letters_[next++]);
    }
    return accessOf(of->name, places);
}

std::string Writer::selectedBy() const {
    const auto of = operand(0);
    const auto by = operand(2);
    const auto d = dimension(1, shape_.size());
    if (!of || !by || !d || by->type.shape.size() > 1 || of->type.shape.size() != shape_.size())
        return {};
    auto places = letters_;
    places[*d] = by->type.shape.empty() ? by->name : accessOf(by->name, {letters_[*d]});
    return accessOf(of->name, places);
}

std::string Writer::gathered() const {
    const auto of = operand(0);
    const auto by = operand(2);
    const auto d = dimension(1, shape_.size());
    if (!of || !by || !d || of->type.shape.size() != shape_.size())
        return {};
    auto places = letters_;
    places[*d] = accessOf(by->name, letters_);
    return accessOf(of->name, places);
}

std::string Writer::embedded() const {
    const auto of = operand(0);
    const auto by = operand(1);
    if (!of || !by || shape_.empty() || by->type.shape.size() + 1 != shape_.size())
        return {};
    return accessOf(of->name,
                    {accessOf(by->name, lettersWithout(shape_.size() - 1)), letters_.back()});
}

std::string Writer::resampled(bool nearest) const {
    const auto of = operand(0);
    if (!of || of->type.shape.size() != shape_.size() || shape_.size() < 3)
        return {};
    // (input, size, scales) or (input, size, scale, scale, ...), with whether corners are aligned
    // behind the size where it is not the nearest element: a scale that is given counts.
    std::vector<double> scales;
    bool corners = false;
    for (std::size_t at = 2; at < node_.args.size(); ++at) {
        const auto &argument = node_.args[at];
        corners = corners || argument == true;
        if (argument.is_number())
            scales.push_back(argument.get<double>());
        if (argument.is_array())
            for (const auto &one : argument)
                scales.push_back(one.is_number() ? one.get<double>() : 0);
    }
    auto places = letters_;
    for (std::size_t d = 2; d < shape_.size(); ++d) {
        const auto in = static_cast<double>(of->type.shape[d]);
        const auto out = static_cast<double>(shape_[d]);
        const double scale = d - 2 < scales.size() && scales[d - 2] > 0 ? scales[d - 2] : out / in;
        const double step = !corners ? 1 / scale : out > 1 ? (in - 1) / (out - 1) : 0;
        const auto factor = fmt::format("{}", static_cast<float>(step));
        if (of->type.shape[d] == 1)
            places[d] = "0";
        else if (!nearest)
            places[d] =
                corners ? times(letters_[d], factor)
                        : fmt::format("clampmin(({} + 0.5) * {} - 0.5, 0)", letters_[d], factor);
        else if (scale == std::floor(scale))
            places[d] = scale == 1 ? letters_[d] : fmt::format("{} / {}", letters_[d], scale);
        else
            places[d] = times(letters_[d], factor);
    }
    return fmt::format("{}{}", nearest ? "" : "between neighbours of ", accessOf(of->name, places));
}

std::string Writer::pooled(std::string_view what, std::size_t dilation) const {
    const auto of = operand(0);
    const auto kernel = numbers(1);
    if (!of || kernel.empty() || of->type.shape.size() != shape_.size() ||
        kernel.size() > shape_.size())
        return {};
    const auto among = [&](std::vector<std::int64_t> values, std::int64_t otherwise) {
        values.resize(kernel.size(), values.size() == 1 ? values[0] : otherwise);
        return values;
    };
    auto strides = numbers(2);
    strides = strides.empty() ? kernel : among(strides, 1);
    const auto pads = among(numbers(3), 0);
    const auto steps = among(dilation == 0 ? std::vector<std::int64_t>{} : numbers(dilation), 1);
    return windows(what, *of, kernel, strides, pads, steps);
}

std::string Writer::adaptivelyPooled() const {
    const auto of = operand(0);
    const auto sizes = numbers(1);
    if (!of || of->type.shape.size() != shape_.size() || sizes.size() > shape_.size())
        return {};
    Shape kernel;
    for (std::size_t d = shape_.size() - sizes.size(); d < shape_.size(); ++d) {
        if (shape_[d] == 0 || of->type.shape[d] % shape_[d] != 0)
            return {}; // windows of different sizes
        kernel.push_back(of->type.shape[d] / shape_[d]);
    }
    return windows("mean", *of, kernel, kernel, Shape(kernel.size(), 0), Shape(kernel.size(), 1));
}

/// Windows along the last dimensions, as many as `kernel` has.
std::string Writer::windows(std::string_view what, const Operand &of, const Shape &kernel,
                            const Shape &strides, const Shape &pads, const Shape &steps) const {
    auto places = letters_;
    Texts loops;
    for (std::size_t i = 0; i < kernel.size(); ++i) {
        const auto d = shape_.size() - kernel.size() + i;
        std::string along = times(places[d], std::to_string(strides[i]));
        if (kernel[i] != 1) {
            const auto loop = fmt::format("r{}", loops.size());
            loops.push_back(fmt::format("{} < {}", loop, kernel[i]));
            const auto within = times(loop, std::to_string(steps[i]));
            along = along == "0" ? within : fmt::format("{} + {}", along, within);
        }
        places[d] = plus(along, -pads[i]);
    }
    return loops.empty() ? accessOf(of.name, places)
                         : fmt::format("{} over {} of {}", what, fmt::join(loops, ", "),
                                       accessOf(of.name, places));
}

std::string Writer::of(std::string_view op) const {
    using Kind = std::function<std::string(const Writer &)>;
    static const std::map<std::string, Kind, std::less<>> kinds{
        {"permute", &Writer::permuted},
        {"view", &Writer::reshape},
        {"squeeze", &Writer::reshape},
        {"unsqueeze", &Writer::reshape},
        {"expand", &Writer::expanded},
        {"repeat", &Writer::repeated},
        {"slice", &Writer::sliced},
        {"select", &Writer::selected},
        {"flip", &Writer::flipped},
        {"constant_pad_nd", &Writer::padded},
        {"cat", &Writer::concatenated},
        {"diagonal", &Writer::diagonal},
        {"unfold", &Writer::unfolded},
        {"slice_scatter", &Writer::sliceScattered},
        {"diagonal_scatter", &Writer::diagonalScattered},
        {"index", &Writer::indexed},
        {"index_select", &Writer::selectedBy},
        {"gather", &Writer::gathered},
        {"embedding", &Writer::embedded},
        {"upsample_nearest2d", [](const Writer &writer) { return writer.resampled(true); }},
        {"upsample_bilinear2d", [](const Writer &writer) { return writer.resampled(false); }},
        {"avg_pool2d", [](const Writer &writer) { return writer.pooled("mean", 0); }},
        {"avg_pool3d", [](const Writer &writer) { return writer.pooled("mean", 0); }},
        {"_adaptive_avg_pool2d", &Writer::adaptivelyPooled},
        {"_adaptive_avg_pool3d", &Writer::adaptivelyPooled},
        {"max_pool2d_with_indices", [](const Writer &writer) { return writer.pooled("max", 4); }},
        {"max_pool3d_with_indices", [](const Writer &writer) { return writer.pooled("max", 4); }},
    };
    const auto found = kinds.find(op);
    return found == kinds.end() ? std::string() : found->second(*this);
}

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
    const auto lookup = [&](const Json &argument) -> std::optional<Writer::Operand> {
        const auto *name = task::nodeOf(argument);
        if (name == nullptr)
            return {};
        const auto found = nodes_.find(*name);
        if (found == nodes_.end() || found->second->outputs.size() != 1)
            return {};
        const auto called = names_.find(*name);
        return Writer::Operand{called == names_.end() ? *name : called->second,
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
            text = Writer(*parts->second, shape, lookup).ofPart(node.args[1].get<std::size_t>());
    } else {
        text = Writer(node, shape, lookup).of(kindOf(node.op));
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
