// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/chat/index_text.h"
#include "core/task/task.h"

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace cuda_agent::chat {

/// A tensor of the graph that another node reads.
struct Operand {
    std::string name;
    const task::Node *node = nullptr;
    TensorType type; ///< of its first output
};

/// One element of an operand, or what lies between several.
struct View {
    Operand of;
    Texts places;            ///< one for each of its dimensions
    std::string before = {}; ///< "between neighbours of ", "cubic ...", or empty
    std::string where = {};  ///< " where b >= 1, else 0", or empty
    bool whole = true;       ///< whether all places are whole numbers
};

/// The map of one node. `operandOf` looks operands up and has to outlive this.
class IndexWriter {
  public:
    using Lookup = std::function<std::optional<Operand>(const Json &)>;

    /// Of its elements at `places`, one for each dimension of `shape`, which has to outlive this.
    IndexWriter(const task::Node &node, const Shape &shape, Texts places, const Lookup &operandOf)
        : node_(node), shape_(shape), letters_(std::move(places)), operandOf_(operandOf) {}

    /// What stands behind "=", or empty.
    std::string text() const;

  private:
    std::optional<Operand> operand(std::size_t at) const {
        const auto found = at < node_.args.size() ? operandOf_(node_.args[at]) : std::nullopt;
        return found && found->node->outputs.size() == 1 ? found : std::nullopt;
    }
    /// Where the node is a view of one operand: which.
    std::optional<View> view() const;
    /// What a view of views is of: the last operand that is none, or the one before a second
    /// condition. `bordered`: there is one already.
    View deepest(View view, bool bordered) const;
    static std::string textOf(const View &view) {
        return view.before + accessOf(view.of.name, view.places);
    }
    /// "in0[b, a] at [a, b]": an element, and where it lies in an input of another memory order.
    static std::string placed(const View &view);
    struct Leaves {
        Texts texts;                ///< different ones
        std::set<std::string> seen; ///< these and what is computed on the way
    };
    /// Elements that a computed one is of, through all that computes elements one by one and
    /// through views without conditions; whether that are all.
    bool addLeaves(const View &computed, Leaves &leaves) const;
    /// "permute[a, b] = mul[b, a] by in0[b, a], in1[a]": a view, the last one if it is another, and
    /// what that is computed of; then the condition.
    std::string told(const View &direct, const View &last) const;
    /// The same of one element of an operand. `bordered`: conditions follow, so that none may be
    /// there.
    std::string read(const Operand &of, Texts places, bool bordered = false) const;
    /// The element of an index, "_to_copy[c]".
    std::string lookedUp(const Operand &by, Texts places) const;
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

    std::optional<View> permuted() const;
    std::optional<View> reshape() const;
    std::optional<View> expanded() const;
    std::optional<View> repeated() const;
    std::optional<View> sliced() const;
    std::optional<View> selected() const;
    std::optional<View> flipped() const;
    std::optional<View> padded() const;
    std::string concatenated() const;
    /// A part of a split.
    std::optional<View> part() const;
    std::optional<View> diagonal() const;
    std::optional<View> unfolded() const;
    std::string sliceScattered() const;
    std::string diagonalScattered() const;
    std::optional<View> indexed() const;
    std::optional<View> selectedBy() const;
    std::optional<View> gathered() const;
    std::optional<View> embedded() const;
    /// The element at or before a place between elements.
    std::optional<View> nearest() const;
    /// What lies between those around it.
    std::optional<View> between() const;
    /// What is resized.
    std::optional<Operand> resized() const;
    /// How many times as many elements a result has along dimension `d` as an input of `size`.
    double scaleOf(std::size_t d, std::int64_t size) const;
    /// The same where the operator was told so; else 0.
    double givenScaleOf(std::size_t d) const;
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
    Texts letters_; ///< or other places
    const Lookup &operandOf_;
    bool resolved_ = false; ///< whether indices are told as what they are views of
};

} // namespace cuda_agent::chat
