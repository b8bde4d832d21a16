// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cuda_agent::chat {

// Places of elements as text: what index maps are made of.

using Shape = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

/// "a", "b", ...: of a dimension with one element "0". At most 26 dimensions.
Texts lettersOf(const Shape &shape);

/// "in0[a, b]"; of a tensor without dimensions its name.
std::string accessOf(const std::string &name, const Texts &places);

/// The places of dimensions in an order, outermost first, that is a permutation of them.
Texts ordered(const Texts &places, const std::vector<int> &order);

/// The number that a place is; nothing of what depends on others.
std::optional<std::int64_t> wholeOf(std::string_view place);

/// As it stands in a product: a sum in parentheses.
std::string factor(const std::string &place);

/// "b + 3", "b - 3", "b"; of a number, and of a sum that ends with one, the sum: "b" of "b + 3" and
/// -3.
std::string plus(const std::string &place, std::int64_t by);

/// "a * 2 + b"; of a place 0 the other one.
std::string sum(const std::string &place, const std::string &other);

/// "b * 3", "(b + 1) * 3"; of a place 0, or times "1", the place.
std::string times(const std::string &place, const std::string &by);

/// "b >= 3 and b < (16 + 3)": whether a place is one of the `count` ones from `first` on, of a
/// dimension of `size`. Empty where each is.
std::string within(const std::string &place, std::int64_t first, std::int64_t count,
                   std::int64_t size);

/// The places, in a tensor of the shape `of`, of what stands at `places` of one of `shape` that has
/// the same elements in the same order. Nothing where their counts differ.
std::optional<Texts> reshaped(const Shape &shape, const Texts &places, const Shape &of);

} // namespace cuda_agent::chat
