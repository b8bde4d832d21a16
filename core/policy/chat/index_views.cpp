// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/chat/index_writer.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace cuda_agent::chat {

namespace {

constexpr std::size_t mostOperands = 12;

} // namespace

std::vector<std::int64_t> IndexWriter::numbers(std::size_t at) const {
    std::vector<std::int64_t> result;
    if (at >= node_.args.size())
        return result;
    const auto &argument = node_.args[at];
    if (const auto single = whole(argument))
        return {*single};
    if (argument.is_array())
        for (const auto &one : argument)
            if (const auto each = whole(one))
                result.push_back(*each);
    return result;
}

std::optional<View> IndexWriter::permuted() const {
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
    return View{*of, places};
}

std::optional<View> IndexWriter::reshape() const {
    const auto of = operand(0);
    const auto places = of ? reshaped(shape_, letters_, of->type.shape) : std::nullopt;
    if (!places)
        return {};
    return View{*of, *places};
}

std::optional<View> IndexWriter::expanded() const {
    const auto of = operand(0);
    if (!of || of->type.shape.size() > shape_.size())
        return {};
    return View{*of, broadcast(of->type.shape)};
}

std::optional<View> IndexWriter::repeated() const {
    const auto of = operand(0);
    if (!of || of->type.shape.size() > shape_.size())
        return {};
    auto places = broadcast(of->type.shape);
    const auto added = shape_.size() - places.size();
    for (std::size_t d = 0; d < places.size(); ++d)
        if (of->type.shape[d] != 1 && of->type.shape[d] != shape_[added + d])
            places[d] = fmt::format("{} % {}", factor(places[d]), of->type.shape[d]);
    return View{*of, places};
}

std::optional<View> IndexWriter::sliced() const {
    const auto of = operand(0);
    const auto d = dimension(1, shape_.size());
    if (!of || !d || of->type.shape.size() != shape_.size())
        return {};
    auto begin = number(2, 0);
    if (begin < 0)
        begin = std::max<std::int64_t>(0, begin + of->type.shape[*d]);
    auto places = letters_;
    places[*d] = plus(times(places[*d], std::to_string(number(4, 1))), begin);
    return View{*of, places};
}

std::optional<View> IndexWriter::selected() const {
    const auto of = operand(0);
    const auto d = dimension(1, shape_.size() + 1);
    if (!of || !d || of->type.shape.size() != shape_.size() + 1)
        return {};
    const auto at = number(2, 0);
    auto places = letters_;
    places.insert(places.begin() + static_cast<long>(*d),
                  std::to_string(at < 0 ? at + of->type.shape[*d] : at));
    return View{*of, places};
}

std::optional<View> IndexWriter::flipped() const {
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
            places[at] = fmt::format("{} - 1 - {}", shape_[at], factor(places[at]));
    }
    return View{*of, places};
}

std::optional<View> IndexWriter::padded() const {
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
    View view{*of, places};
    if (!conditions.empty())
        view.where = fmt::format(" where {}, else {}", fmt::join(conditions, " and "), otherwise);
    return view;
}

std::string IndexWriter::concatenated() const {
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
        pieces.push_back(read(*of, places, true));
        if (auto condition = within(letters_[*d], first, of->type.shape[*d], shape_[*d]);
            !condition.empty())
            pieces.back() += " where " + condition;
        first += of->type.shape[*d];
    }
    return fmt::format("{}", fmt::join(pieces, "; "));
}

std::optional<View> IndexWriter::part() const {
    const auto split = node_.args.size() == 2 ? operandOf_(node_.args[0]) : std::nullopt;
    if (!split || task::operatorName(split->node->op) != "split_with_sizes" ||
        !node_.args[1].is_number_unsigned())
        return {};
    const IndexWriter whole(*split->node, shape_, letters_, operandOf_);
    const auto of = whole.operand(0);
    const auto d = whole.dimension(2, shape_.size());
    const auto sizes = whole.numbers(1);
    const auto part = node_.args[1].get<std::size_t>();
    if (!of || !d || part >= sizes.size() || of->type.shape.size() != shape_.size())
        return {};
    std::int64_t first = 0;
    for (std::size_t i = 0; i < part; ++i)
        first += sizes[i];
    auto places = letters_;
    places[*d] = plus(places[*d], first);
    return View{*of, places};
}

std::optional<View> IndexWriter::diagonal() const {
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
    return View{*of, places};
}

std::optional<View> IndexWriter::unfolded() const {
    const auto of = operand(0);
    if (!of || shape_.size() < 2 || of->type.shape.size() + 1 != shape_.size())
        return {};
    const auto d = dimension(1, shape_.size() - 1);
    if (!d)
        return {};
    auto places = letters_;
    places.pop_back();
    places[*d] = sum(times(places[*d], std::to_string(number(3, 1))), letters_.back());
    return View{*of, places};
}

std::string IndexWriter::sliceScattered() const {
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
    const auto inner = read(*with, places, true);
    return condition.empty()
               ? inner
               : fmt::format("{} where {}, else {}", inner, condition, read(*of, letters_, true));
}

std::string IndexWriter::diagonalScattered() const {
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
    return fmt::format("{} where {} == {}, else {}", read(*with, places, true), letters_[*d2],
                       plus(letters_[*d1], offset), read(*of, letters_, true));
}

} // namespace cuda_agent::chat
