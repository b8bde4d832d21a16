// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <initializer_list>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace cuda_agent::learn {

/// A generator of random numbers that is a function of a few, the same on every machine.
inline std::mt19937_64 randomOf(std::initializer_list<std::uint64_t> numbers) {
    std::seed_seq seeds(numbers);
    return std::mt19937_64(seeds);
}

/// 0 to size - 1 in an order of the generator's. std::shuffle differs among libraries.
inline std::vector<std::int64_t> shuffled(std::int64_t size, std::mt19937_64 &random) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(size));
    std::iota(order.begin(), order.end(), 0);
    for (auto i = order.size(); i > 1; --i)
        std::swap(order[i - 1], order[random() % i]);
    return order;
}

/// The numbers 0 to size - 1 round and round, each round in an order of its own.
class Rounds {
  public:
    Rounds(std::int64_t size, std::uint64_t seed) : size_(size), seed_(seed) {}
    /// The one at place `at` of all rounds; a function of it, size and seed alone.
    std::int64_t operator[](std::int64_t at) {
        if (const auto round = at / size_; round != round_) {
            round_ = round;
            auto random = randomOf({seed_, static_cast<std::uint64_t>(round)});
            order_ = shuffled(size_, random);
        }
        return order_[static_cast<std::size_t>(at % size_)];
    }

  private:
    std::int64_t size_;
    std::uint64_t seed_;
    std::int64_t round_ = -1;
    std::vector<std::int64_t> order_;
};

} // namespace cuda_agent::learn
