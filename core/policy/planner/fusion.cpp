// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/fusion.h"

#include <algorithm>

namespace cuda_agent::policy {

namespace {

class Fusion {
  public:
    Fusion(Program program, const FusionOptions &options)
        : program_(std::move(program)), options_(options) {}

    Fused run() {
        for (std::size_t i = 0; i < program_.library.size(); ++i)
            libraryWriting_[program_.library[i].writes] = static_cast<int>(i);
        const std::vector<Store> stores = program_.stores;
        for (const Store &store : stores) {
            for (const int id : reachableFrom(program_, {store.value})) {
                if (walks(id) && !groupOfReduce_.contains(id))
                    placeReduce(id);
            }
            placeStore(store);
        }
        turnLoads();
        return finish();
    }

  private:
    // Units are numbered: groups 0, 1, ..., library steps -1, -2, ...
    static int libraryUnit(int index) { return -1 - index; }

    /// Whether a value belongs to one group that walks along rows for it.
    bool walks(int value) const {
        const Kind kind = program_.values[value].kind;
        return kind == Kind::reduce || kind == Kind::scan || kind == Kind::order;
    }
    /// Those of a group that the kind of value belongs to.
    static std::vector<int> &walking(Group &group, Kind kind) {
        return kind == Kind::scan    ? group.scans
               : kind == Kind::order ? group.orders
                                     : group.reduces;
    }

    const std::set<Axis> &axesOf(int value) {
        if (!axesCache_.contains(value))
            axesCache_[value] = program_.axesOf(value);
        return axesCache_[value];
    }

    /// Units whose results a value reads directly.
    const std::set<int> &directUnits(int value) {
        if (const auto known = unitsCache_.find(value); known != unitsCache_.end())
            return known->second;
        std::set<int> units;
        const Value &v = program_.values[value];
        if (walks(value)) {
            units.insert(groupOfReduce_.at(value));
        } else if (v.kind == Kind::load) {
            if (const auto step = libraryWriting_.find(v.buffer); step != libraryWriting_.end())
                units.insert(libraryUnit(step->second));
            else if (const auto writers = groupsWriting_.find(v.buffer);
                     writers != groupsWriting_.end())
                units.insert(writers->second.begin(), writers->second.end());
        }
        if (!walks(value)) {
            for (const int arg : v.args) {
                for (const int unit : directUnits(arg))
                    units.insert(unit);
            }
        }
        return unitsCache_[value] = units;
    }

    std::set<int> needs(int unit) {
        if (unit < 0) {
            std::set<int> result;
            for (const int buffer : program_.library[-1 - unit].reads) {
                if (const auto writers = groupsWriting_.find(buffer);
                    writers != groupsWriting_.end())
                    result.insert(writers->second.begin(), writers->second.end());
                if (const auto step = libraryWriting_.find(buffer); step != libraryWriting_.end())
                    result.insert(libraryUnit(step->second));
            }
            return result;
        }
        return needsOfGroup_[unit];
    }

    /// Whether one of the units needs `to`, directly or through others, or is it.
    bool reach(const std::vector<int> &units, int to) {
        // Library steps count from -1 downwards.
        const auto place = [&](int unit) {
            return static_cast<std::size_t>(unit + static_cast<int>(program_.library.size()));
        };
        std::vector<char> seen(program_.library.size() + groups_.size());
        std::vector<int> open;
        const auto add = [&](int unit) {
            if (!std::exchange(seen[place(unit)], 1))
                open.push_back(unit);
        };
        std::ranges::for_each(units, add);
        while (!open.empty()) {
            const int unit = open.back();
            open.pop_back();
            if (unit == to)
                return true;
            if (unit < 0)
                std::ranges::for_each(needs(unit), add);
            else
                std::ranges::for_each(needsOfGroup_[unit], add);
        }
        return false;
    }

    /// Whether a value that needs memory which `group` writes is among what it is computed from:
    /// then it waits for the whole group, not only for its own thread.
    bool rereads(int group, int value) {
        std::set<int> seen;
        const std::function<bool(int)> look = [&](int id) {
            const Value &v = program_.values[id];
            if (walks(id) || !seen.insert(id).second)
                return false; // the group of a reduction was chosen with the same care
            if (v.kind == Kind::load) {
                const auto writers = groupsWriting_.find(v.buffer);
                if (writers != groupsWriting_.end() && writers->second.contains(group))
                    return true;
            }
            return std::any_of(v.args.begin(), v.args.end(), look);
        };
        return look(value);
    }

    /// Whether a value computed from `units` may be computed in `group` without a cycle.
    bool mayJoin(int group, int value, const std::set<int> &units) {
        if (units.contains(group) && rereads(group, value))
            return false;
        std::vector<int> others(units.begin(), units.end());
        std::erase(others, group);
        return !reach(others, group);
    }

    int makeGroup(std::set<Axis> rows, std::set<Axis> reduced) {
        Group group;
        group.rows = std::move(rows);
        group.reduced = std::move(reduced);
        groups_.push_back(std::move(group));
        needsOfGroup_.emplace_back();
        return static_cast<int>(groups_.size()) - 1;
    }

    bool longRows(const Group &group) const {
        std::int64_t length = 1;
        for (const Axis atom : group.reduced)
            length *= program_.axes.size(atom);
        return length > options_.longestFusedRow;
    }

    void join(int group, const std::set<int> &units) {
        for (const int unit : units) {
            if (unit != group)
                needsOfGroup_[group].insert(unit);
        }
    }

    void placeReduce(int id) {
        const Value &value = program_.values[id];
        const Axes over = program_.axes.atoms(value.axes);
        const std::set<Axis> reduced(over.begin(), over.end());
        std::set<Axis> rows = axesOf(id);
        for (const Axis atom : over)
            rows.erase(atom);
        const Axes made = program_.axes.atoms(value.places);
        for (const Axis atom : made)
            rows.erase(atom);
        const std::set<Axis> places(made.begin(), made.end());
        const std::set<int> units = directUnits(value.args[0]);
        int chosen = -1;
        for (int g = 0; g < static_cast<int>(groups_.size()) && chosen < 0; ++g) {
            Group &group = groups_[g];
            const std::vector<int> &same = walking(group, value.kind);
            if (same.empty() || group.reduced != reduced || group.rows != rows ||
                group.places != places || !mayJoin(g, value.args[0], units))
                continue;
            // One sweep does scans that run side by side, and no reductions.
            if (value.kind != Kind::reduce &&
                (units.contains(g) || program_.values[same[0]].backwards != value.backwards))
                continue;
            // Elements are put in order once.
            if (value.kind == Kind::order && (program_.values[same[0]].args != value.args ||
                                              program_.values[same[0]].first != value.first))
                continue;
            if (units.contains(g) && longRows(group)) {
                const bool together =
                    std::any_of(group.reduces.begin(), group.reduces.end(), [&](int other) {
                        return areMoments(program_, other, id) ||
                               areMaxAndSumOfExp(program_, other, id);
                    });
                if (!together)
                    continue;
            }
            chosen = g;
        }
        if (chosen < 0) {
            chosen = makeGroup(rows, reduced);
            groups_[chosen].places = places;
        }
        walking(groups_[chosen], value.kind).push_back(id);
        groupOfReduce_[id] = chosen;
        join(chosen, units);
    }

    /// Whether what the group reads has its neighbours elsewhere than what would be stored.
    bool reorders(const Group &group, const Store &store) {
        const std::vector<int> &walked = group.scans.empty() ? group.reduces : group.scans;
        if (walked.empty() || program_.bytesOf(store.buffer) < options_.leastReordered)
            return false;
        std::set<Axis> all = group.rows;
        all.insert(group.reduced.begin(), group.reduced.end());
        return runElsewhere(walkedAxes(program_, store),
                            memoryOrder(program_, all, reachableFrom(program_, walked), {}));
    }

    /// Whether what goes through memory in the one order has its neighbours far apart in the other.
    bool runElsewhere(const Axes &one, const Axes &other) const {
        constexpr std::int64_t run = 8; // shorter ones hardly matter
        return !one.empty() && !other.empty() && one.back() != other.back() &&
               std::find(one.begin(), one.end(), other.back()) != one.end() &&
               program_.axes.size(other.back()) >= run && program_.axes.size(one.back()) >= run;
    }

    /// What a group goes through: axes of a plain load or a store, outermost first, and bytes.
    struct Walk {
        int load = -1; ///< -1: a store, which cannot be turned
        Axes order;
        std::int64_t bytes = 0;
    };
    std::vector<Walk> walksOf(int group) {
        std::vector<Walk> result;
        const auto add = [&](int load, int buffer, Axes order) {
            if (const std::int64_t bytes = program_.bytesOf(buffer);
                bytes >= options_.leastReordered)
                result.push_back({load, std::move(order), bytes});
        };
        std::set<int> others; // which hand over what is computed of them
        for (const auto &[id, maker] : groupOfReduce_) {
            if (maker != group)
                others.insert(id);
        }
        for (const int id : reachableFrom(program_, groups_[group].roots(), others)) {
            const Value &load = program_.values[id];
            if (load.kind == Kind::load && goesThroughTiles(program_, load) &&
                load.extents.empty() && load.strides.empty())
                add(id, load.buffer, walkedAxes(program_, load));
        }
        for (const Store &store : groups_[group].stores)
            add(-1, store.buffer, walkedAxes(program_, store));
        return result;
    }

    /// What a group that walks along rows reads in another order than the rest is first copied in
    /// that order, by a kernel which changes it in tiles.
    void turnLoads() {
        const auto count = static_cast<int>(groups_.size());
        for (int g = 0; g < count; ++g) {
            if (groups_[g].reduces.empty() && groups_[g].scans.empty())
                continue;
            // The order for which least has to be turned; of equal ones that in which a reduction
            // has its rows one after the other, and a scan side by side.
            const std::vector<Walk> walks = walksOf(g);
            const Walk *best = nullptr;
            std::pair<std::int64_t, bool> least;
            for (const Walk &candidate : walks) {
                std::int64_t bytes = 0;
                for (const Walk &walk : walks)
                    if (runElsewhere(walk.order, candidate.order))
                        bytes += walk.load < 0 ? 2 * walk.bytes : walk.bytes;
                const bool along =
                    !candidate.order.empty() && groups_[g].reduced.contains(candidate.order.back());
                const std::pair cost{bytes, along != groups_[g].scans.empty()};
                if (best == nullptr || cost < least) {
                    best = &candidate;
                    least = cost;
                }
            }
            for (const Walk &walk : walks)
                if (walk.load >= 0 && runElsewhere(walk.order, best->order))
                    turned_[{g, walk.load}] = turnedLoad(g, walk.load, best->order);
        }
    }

    /// A load of a copy that a group of its own makes of what `id` reads, in that order.
    int turnedLoad(int reader, int id, const Axes &order) {
        std::vector<Axes> dims;
        std::set<Axis> rest = axesOf(id);
        for (const Axis atom : order) {
            if (rest.erase(atom) > 0)
                dims.push_back({atom});
        }
        for (const Axis atom : rest) // what the order says nothing of lies outside
            dims.insert(dims.begin(), {atom});
        const auto key = std::pair{id, dims};
        if (!copies_.contains(key)) {
            const int copy = makeGroup(axesOf(id), {});
            join(copy, directUnits(id));
            copies_[key] = {copy, readBack(copy, id, dims)};
        }
        const auto [copy, load] = copies_.at(key);
        join(reader, {copy});
        return load;
    }

    void placeStore(const Store &store) {
        std::set<Axis> space;
        for (const Axes &dimension : store.dims) {
            for (const Axis atom : program_.axes.atoms(dimension))
                space.insert(atom);
        }
        const std::set<int> units = directUnits(store.value);
        int chosen = -1;
        // Elements that meet others in memory have a kernel without rows to themselves.
        for (int g = 0; g < static_cast<int>(groups_.size()) && !store.adds(); ++g) {
            const Group &group = groups_[g];
            if (!group.stores.empty() && group.stores[0].adds())
                continue;
            const bool walksOnce = !group.scans.empty() || !group.orders.empty();
            const bool perRow =
                group.hasReductions() && group.orders.empty() && space == group.rows;
            const bool perElement = space == group.elements();
            if ((!perRow && !perElement) || !mayJoin(g, store.value, units))
                continue;
            if (perElement && !perRow && !walksOnce && longRows(group))
                continue;
            if (walksOnce && !units.contains(g))
                continue;
            // Join what it depends on, or what works on the same space anyway.
            if (perRow && !units.contains(g))
                continue;
            if (reorders(group, store))
                continue;
            chosen = g;
            if (units.contains(g))
                break;
        }
        if (chosen < 0)
            chosen = makeGroup(space, {});
        groups_[chosen].stores.push_back(store);
        groupsWriting_[store.buffer].insert(chosen);
        join(chosen, units);
    }

    // --- what crosses between groups ---------------------------------------------------------

    /// Lets `group` store a value to new scratch memory of these dimensions; a load of it.
    int readBack(int group, int value, const std::vector<Axes> &dims) {
        const int buffer = program_.addScratch(program_.values[value].dtype, dims);
        groups_[group].stores.push_back({value, dims, buffer});
        groupsWriting_[buffer].insert(group);
        const int load = program_.load(buffer, dims);
        program_.values[load].rank = program_.values[value].rank;
        return load;
    }

    /// The value as a load from scratch memory that `group` fills.
    int crossing(int group, int value) {
        const auto key = std::pair{group, value};
        if (const auto known = crossings_.find(key); known != crossings_.end())
            return known->second;
        const Group &g = groups_[group];
        std::vector<int> roots = g.reduces;
        roots.push_back(value);
        const Axes order = memoryOrder(program_, axesOf(value), reachableFrom(program_, roots), {});
        std::vector<Axes> dims;
        for (const Axis atom : order)
            dims.push_back({atom});
        return crossings_[key] = readBack(group, value, dims);
    }

    /// The group that could hand this value over ready-made, or -1.
    int makerOf(int value, int reader) {
        const std::set<int> units = directUnits(value);
        // A place is of its store, not a value that memory holds.
        if (units.contains(reader) || program_.values[value].op == "place")
            return -1;
        for (const int unit : units) {
            if (unit >= 0 && groups_[unit].hasReductions() && groups_[unit].rows == axesOf(value) &&
                mayJoin(unit, value, units))
                return unit;
        }
        return -1;
    }

    int rewrite(int group, int id) {
        auto &done = rewritten_[group];
        if (const auto known = done.find(id); known != done.end())
            return known->second;
        if (const auto turned = turned_.find({group, id}); turned != turned_.end())
            return done[id] = turned->second;
        const Value value = program_.values[id];
        int result = id;
        if (walks(id) && groupOfReduce_.at(id) != group) {
            result = crossing(groupOfReduce_.at(id), id);
        } else if (const int maker = value.kind == Kind::pointwise ? makerOf(id, group) : -1;
                   maker >= 0) {
            join(maker, directUnits(id)); // it waits for them now, which rules others out
            result = crossing(maker, id);
        } else if (!value.args.empty()) {
            Value copy = value;
            for (int &arg : copy.args)
                arg = rewrite(group, arg);
            if (copy.args != value.args) {
                result = program_.add(std::move(copy));
                unitsCache_.erase(result);
            }
        }
        return done[id] = result;
    }

    Fused finish() {
        rewritten_.resize(groups_.size());
        std::vector<std::size_t> storesDone(groups_.size(), 0);
        std::vector<std::size_t> reducesDone(groups_.size(), 0);
        for (bool again = true; again;) {
            again = false;
            for (int g = 0; g < static_cast<int>(groups_.size()); ++g) {
                std::vector<int> &own =
                    walking(groups_[g], !groups_[g].scans.empty()    ? Kind::scan
                                        : !groups_[g].orders.empty() ? Kind::order
                                                                     : Kind::reduce);
                while (reducesDone[g] < own.size()) {
                    const int renamed = rewrite(g, own[reducesDone[g]]);
                    own[reducesDone[g]++] = renamed;
                    again = true;
                }
                while (storesDone[g] < groups_[g].stores.size()) {
                    const int renamed = rewrite(g, groups_[g].stores[storesDone[g]].value);
                    groups_[g].stores[storesDone[g]++].value = renamed;
                    again = true;
                }
            }
        }
        auto units = ordered(); // reads program_, so it comes before the move
        std::vector<int> written;
        for (const Unit &unit : units) {
            if (unit.library >= 0)
                written.push_back(program_.library[unit.library].writes);
            else
                std::ranges::transform(unit.group->stores, std::back_inserter(written),
                                       &Store::buffer);
        }
        program_.numberScratch(written);
        return {std::move(program_), std::move(units)};
    }

    /// Units in an order in which everything is written before it is read.
    std::vector<Unit> ordered() {
        std::vector<Unit> units;
        for (std::size_t i = 0; i < program_.library.size(); ++i)
            units.push_back({std::nullopt, static_cast<int>(i)});
        for (Group &group : groups_)
            units.push_back({group, -1});
        std::multimap<int, std::size_t> writers;
        for (std::size_t u = 0; u < units.size(); ++u) {
            if (units[u].library >= 0)
                writers.emplace(program_.library[units[u].library].writes, u);
            else
                for (const Store &store : units[u].group->stores)
                    writers.emplace(store.buffer, u);
        }
        std::vector<Unit> result;
        std::set<std::size_t> done;
        const std::function<void(std::size_t)> visit = [&](std::size_t u) {
            if (!done.insert(u).second)
                return;
            std::vector<int> reads;
            if (units[u].library >= 0) {
                reads = program_.library[units[u].library].reads;
            } else {
                for (const int id : reachableFrom(program_, units[u].group->roots())) {
                    if (program_.values[id].kind == Kind::load)
                        reads.push_back(program_.values[id].buffer);
                }
            }
            for (const int buffer : reads) {
                const auto [first, last] = writers.equal_range(buffer);
                for (auto writer = first; writer != last; ++writer) {
                    if (writer->second != u)
                        visit(writer->second);
                }
            }
            result.push_back(units[u]);
        };
        for (std::size_t u = 0; u < units.size(); ++u)
            visit(u);
        return result;
    }

    Program program_;
    FusionOptions options_;
    std::vector<Group> groups_;
    std::vector<std::set<int>> needsOfGroup_;
    std::map<int, int> groupOfReduce_;
    std::map<int, std::set<int>> groupsWriting_; ///< buffer -> groups, each a part of it
    std::map<int, int> libraryWriting_;          ///< buffer -> library step
    std::map<int, std::set<int>> unitsCache_;
    std::map<int, std::set<Axis>> axesCache_;
    std::map<std::pair<int, int>, int> crossings_;
    std::map<std::pair<int, int>, int> turned_; ///< group, load -> the load that takes its place
    struct Copy {
        int group = -1, load = -1;
    };
    std::map<std::pair<int, std::vector<Axes>>, Copy> copies_;
    std::vector<std::map<int, int>> rewritten_;
};

} // namespace

Fused fuse(Program program, const FusionOptions &options) {
    return Fusion(std::move(program), options).run();
}

} // namespace cuda_agent::policy
