// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/chat/index_text.h"
#include "core/task/task.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace cuda_agent::chat {

/// The map of one node: its operands are looked up by `operandOf`, which has to outlive this.
class IndexWriter {
  public:
    struct Operand {
        std::string name;
        TensorType type;
    };
    using Lookup = std::function<std::optional<Operand>(const Json &)>;

    IndexWriter(const task::Node &node, const Shape &shape, const Lookup &operandOf)
        : node_(node), shape_(shape), letters_(lettersOf(shape)), operandOf_(operandOf) {}

    /// What stands behind "=", or empty.
    std::string of(std::string_view op) const;
    /// Of part `part` of a split.
    std::string ofPart(std::size_t part) const;

  private:
    std::optional<Operand> operand(std::size_t at) const {
        return at < node_.args.size() ? operandOf_(node_.args[at]) : std::nullopt;
    }
    /// A whole number that can be added to another one; nothing where it is none.
    static std::optional<std::int64_t> whole(const Json &argument) {
        constexpr std::int64_t most = std::int64_t{1} << 53;
        if (!argument.is_number_integer())
            return {};
        const auto number = argument.get<std::int64_t>();
        return number >= -most && number <= most ? std::optional(number) : std::nullopt;
    }
    std::int64_t number(std::size_t at, std::int64_t otherwise) const {
        return at < node_.args.size() ? whole(node_.args[at]).value_or(otherwise) : otherwise;
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
    /// `dimensions`: which argument tells those that it goes over; none or an empty list is all.
    std::string reduced(std::string_view what, std::size_t dimensions) const;
    /// Windows along the last dimensions, as many as `kernel` has.
    std::string windows(std::string_view what, const Operand &of, const Shape &kernel,
                        const Shape &strides, const Shape &pads, const Shape &steps) const;

    const task::Node &node_;
    const Shape &shape_;
    Texts letters_;
    const Lookup &operandOf_;
};

} // namespace cuda_agent::chat
