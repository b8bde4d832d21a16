// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace cuda_agent::policy {

/// A token that nearly came in a turn of the likeliest tokens.
struct Alternative {
    std::int64_t place = 0;  ///< in the turn's tokens
    std::int32_t token = 0;  ///< in place of the one there
    double cost = 0;         ///< of departing here, in nats: at first, how much less likely it was
    std::int64_t offset = 0; ///< bytes of the turn's text before it
    double earlier = 0;      ///< of the cost: for what was uncertain before
    bool operator==(const Alternative &) const = default;
};

/// The `most` cheapest of a turn's alternatives, in the order of their costs, to which it adds what
/// was uncertain before them: half of the sum of exp(-cost) over all alternatives at earlier
/// places. A mistake stands where the model is unsure first; behind it anything may come. Behind
/// these as many others that are the cheapest without what was added, for suspect().
std::vector<Alternative> cheapestOf(std::vector<Alternative> alternatives, std::size_t most);

/// Which turn to try next where the likeliest one has been tried: one that departs from a turn at
/// one token, and goes on by the likeliest ones behind that. A model that is sure of nearly all of
/// a turn has few places where it may be wrong, and what it drew from its distribution would repeat
/// the mistakes that it is sure of.
///
/// Limited discrepancy search (Harvey and Ginsberg, IJCAI 1995): turns are tried by what their
/// departures cost together, and each is so dear that a second one comes late. One thread.
class Deviations {
  public:
    /// A turn that was written: its tokens, which begin as next() had it (the first turn with
    /// nothing), and what nearly came behind that.
    void add(std::vector<std::int32_t> tokens, std::vector<Alternative> alternatives);

    // What came of the turn that was added last; without one, nothing.

    /// It is worth going on from: departures from it cost what they would of a first turn.
    void prefer();
    /// What departs from it at bytes `begin` to `end` of its text would not mend it.
    void drop(std::int64_t begin, std::int64_t end);
    /// Its mistake shows at byte `offset`: shortly before that it may stand, too. What stands
    /// before byte `begin` has little to do with it, however uncertain it was.
    void suspect(std::int64_t offset, std::int64_t begin = 0);

    /// A turn to try.
    struct Departure {
        std::size_t from = 0;            ///< of the turns, in the order in which they were added
        Alternative at;                  ///< where it departs from that one
        std::vector<std::int32_t> begin; ///< that one's tokens up to there, and the alternative
    };
    /// The cheapest; each is given once. Nothing where none is left.
    std::optional<Departure> next();

  private:
    struct Turn {
        std::vector<std::int32_t> tokens;
        std::vector<Alternative> alternatives; ///< not tried
        double cost = 0;                       ///< of its own departures
    };
    std::vector<Turn> turns_;
    double given_ = 0; ///< cost of what next() gave last
};

} // namespace cuda_agent::policy
