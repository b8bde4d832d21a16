// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/nest.h"
#include "core/policy/planner/products.h"

#include <algorithm>
#include <ranges>

namespace cuda_agent::policy {

std::vector<int> Nest::rowDims() const {
    std::vector<int> result;
    for (std::size_t d = 0; d < dims.size(); ++d) {
        if (!dims[d].element)
            result.push_back(static_cast<int>(d));
    }
    return result;
}

std::vector<int> Nest::elementDims() const {
    std::vector<int> result;
    for (std::size_t d = 0; d < dims.size(); ++d) {
        if (dims[d].element)
            result.push_back(static_cast<int>(d));
    }
    return result;
}

std::int64_t Nest::rows() const {
    std::int64_t product = 1;
    for (const NestDim &dim : dims)
        product *= dim.element ? 1 : dim.size;
    return product;
}

std::int64_t Nest::elements() const {
    std::int64_t product = 1;
    for (const NestDim &dim : dims)
        product *= dim.element ? dim.size : 1;
    return product;
}

std::string Nest::rowsExpression() const {
    std::string text;
    std::int64_t constants = 1;
    for (std::size_t d = 0; d < dims.size(); ++d) {
        if (dims[d].element)
            continue;
        if (d == 0 && runtimeOuter)
            text = dims[d].expression;
        else
            constants *= dims[d].size;
    }
    if (text.empty())
        return std::to_string(constants);
    return constants == 1 ? text : text + " * " + std::to_string(constants);
}

std::optional<std::int64_t> Nest::elementStride(const Access &access) const {
    const std::vector<int> inner = elementDims();
    if (inner.empty())
        return 0;
    const std::int64_t step = access.strides[inner.back()];
    std::int64_t expected = step;
    for (std::size_t i = inner.size(); i-- > 0;) {
        if (access.strides[inner[i]] != expected)
            return std::nullopt;
        expected *= dims[inner[i]].size;
    }
    return step;
}

bool Nest::variesByElement(const Access &access) const {
    for (std::size_t d = 0; d < dims.size(); ++d) {
        if (dims[d].element && access.strides[d] != 0)
            return true;
    }
    return false;
}

bool RowValues::contains(int id) {
    if (const auto known = known_.find(id); known != known_.end())
        return known->second;
    const Value &value = p_.values[id];
    if (value.kind == Kind::reduce || value.kind == Kind::order)
        return known_[id] = value.kind == Kind::reduce;
    const auto access = n_.accesses.find(id);
    bool result = access == n_.accesses.end() || !n_.variesByElement(access->second);
    for (const int arg : value.args)
        result = result && contains(arg);
    return known_[id] = result;
}

std::vector<int> loadsAcross(const Program &program, const Nest &nest) {
    std::vector<int> result;
    for (const auto &[id, access] : nest.accesses) {
        const Value &value = program.values[id];
        const auto varies = [&strides = access.strides](int dim) { return strides[dim] != 0; };
        if (value.kind == Kind::load && goesThroughTiles(program, value) &&
            access.strides[nest.across.back()] == 1 && std::ranges::any_of(nest.along, varies))
            result.push_back(id);
    }
    return result;
}

namespace {

/// Strides by atom, before loops are merged.
struct RawAccess {
    std::int64_t base = 0;
    std::map<Axis, std::int64_t> strides;
    Axes order; ///< atoms from outermost to innermost in memory; -1: a picked position
};

void addDimension(const Program &program, RawAccess &raw, const Axes &axes, std::int64_t stride) {
    const Axes atoms = program.axes.atoms(axes);
    for (std::size_t i = atoms.size(); i-- > 0;) {
        raw.strides[atoms[i]] += stride;
        stride *= program.axes.size(atoms[i]);
    }
    raw.order.insert(raw.order.end(), atoms.begin(), atoms.end());
}

RawAccess loadAccess(const Program &program, const Value &value) {
    RawAccess raw;
    const auto strides = program.stridesOf(value);
    for (std::size_t d = 0; d < value.dims.size(); ++d) {
        raw.base += value.dims[d].offset * strides[d];
        if (value.dims[d].pick >= 0) // a stride that the text holds, along no loop
            raw.order.push_back(-1);
        addDimension(program, raw, value.dims[d].axes, value.dims[d].step * strides[d]);
    }
    return raw;
}

RawAccess positionAccess(const Program &program, const Axes &axes) {
    RawAccess raw;
    addDimension(program, raw, axes, 1);
    return raw;
}

/// All that a group touches, before loops are merged.
struct RawAccesses {
    std::vector<int> values;        ///< that the group computes
    std::map<int, RawAccess> loads; ///< of loads, and of what is a position
    std::vector<RawAccess> stores;
    bool adds = false;

    std::vector<const RawAccess *> all() const {
        std::vector<const RawAccess *> result;
        for (const auto &[id, raw] : loads)
            result.push_back(&raw);
        for (const RawAccess &raw : stores)
            result.push_back(&raw);
        return result;
    }
};

RawAccesses accessesOf(const Program &program, const Group &group) {
    RawAccesses result;
    result.values = reachableFrom(program, group.roots());
    for (const int id : result.values) {
        const Value &value = program.values[id];
        if (value.kind == Kind::load)
            result.loads[id] = loadAccess(program, value);
        else if (value.kind == Kind::index || value.kind == Kind::scan ||
                 (value.kind == Kind::reduce && value.op.starts_with("arg")))
            result.loads[id] = positionAccess(program, value.axes);
    }
    for (const Store &store : group.stores) {
        RawAccess raw;
        const auto strides = program.stridesOf(store.buffer);
        const bool flat = store.dims.size() == 1 && strides.size() != 1;
        for (std::size_t d = 0; d < store.dims.size(); ++d) {
            const std::int64_t stride = flat ? 1 : strides[d];
            raw.base += store.offsets.empty() ? 0 : store.offsets[d] * stride;
            addDimension(program, raw, store.dims[d],
                         store.adds() && store.picks[d] >= 0 ? 0 : stride);
        }
        result.adds = result.adds || store.adds();
        result.stores.push_back(std::move(raw));
    }
    return result;
}

std::int64_t strideOf(const RawAccess &raw, Axis atom) {
    const auto found = raw.strides.find(atom);
    return found == raw.strides.end() ? 0 : found->second;
}

/// Whether one loop over both axes has a single stride in every access.
bool walksOn(const Program &program, const std::vector<const RawAccess *> &everything, Axis outer,
             Axis inner) {
    return std::all_of(everything.begin(), everything.end(), [&](const RawAccess *raw) {
        return strideOf(*raw, outer) == strideOf(*raw, inner) * program.axes.size(inner);
    });
}

void addLoop(const Program &program, Nest &nest, Axis atom, bool element, bool merge) {
    if (!merge)
        nest.dims.push_back({{}, 1, {}, element});
    nest.dims.back().axes.push_back(atom);
    nest.dims.back().size *= program.axes.size(atom);
}

void finishAccesses(Nest &nest, const RawAccesses &raw) {
    const auto finished = [&](const RawAccess &access) {
        Access result{access.base, {}};
        for (const NestDim &dim : nest.dims)
            result.strides.push_back(strideOf(access, dim.axes.back()));
        return result;
    };
    for (const auto &[id, access] : raw.loads)
        nest.accesses[id] = finished(access);
    for (const RawAccess &access : raw.stores)
        nest.stores.push_back(finished(access));
}

/// Whether no stride or offset depends on the size of the outermost loop.
bool mayStayOpen(const Nest &nest, const std::vector<const RawAccess *> &everything) {
    const Axes &outer = nest.dims[0].axes;
    const auto isOuter = [&](Axis atom) {
        return std::find(outer.begin(), outer.end(), atom) != outer.end();
    };
    return std::all_of(everything.begin(), everything.end(), [&](const RawAccess *raw) {
        bool outside = raw->base != 0;
        for (const Axis atom : raw->order) {
            if (isOuter(atom) && outside)
                return false;
            outside = outside || !isOuter(atom);
        }
        return true;
    });
}

/// Notes the sizes that the text will hold as numbers.
void bake(const Program &program, Nest &nest) {
    for (std::size_t d = 0; d < nest.dims.size(); ++d) {
        if (d == 0 && nest.runtimeOuter)
            continue;
        for (const Axis atom : nest.dims[d].axes) {
            nest.baked.insert(atom);
            if (!program.axes.constant(atom))
                nest.requirements.push_back(fmt::format("{} == {}", program.axes.expression(atom),
                                                        program.axes.size(atom)));
        }
    }
}

/// Whether the rows of a group are short windows that overlap, have borders, or lie scattered.
bool overlaps(const Program &program, const Group &group, const std::vector<int> &values) {
    constexpr std::int64_t longestWindow = 128;
    std::int64_t elements = 1;
    for (const Axis atom : group.reduced)
        elements *= program.axes.size(atom);
    if (group.reduces.empty() || elements > longestWindow)
        return false;
    return std::any_of(values.begin(), values.end(), [&](int id) {
        const Value &value = program.values[id];
        if (value.kind != Kind::load || value.strides.empty())
            return false;
        // The window's innermost step, and whether the next window starts where it ends.
        std::int64_t within = 0, length = 1;
        for (std::size_t d = value.dims.size(); d-- > 0 && within == 0;) {
            const Axes atoms = program.axes.atoms(value.dims[d].axes);
            if (!atoms.empty() && group.reduced.contains(atoms.back())) {
                within = value.dims[d].step * value.strides[d];
                length = program.axes.size(atoms);
            }
        }
        bool tight = false;
        for (std::size_t d = 0; d < value.dims.size(); ++d) {
            const Axes atoms = program.axes.atoms(value.dims[d].axes);
            tight = tight || (!atoms.empty() && !group.reduced.contains(atoms.back()) &&
                              value.dims[d].step * value.strides[d] == within * length);
        }
        return within != 0 && (!tight || within != 1 || !value.args.empty());
    });
}

/// The shorter of two axes along which the large accesses of a group have their neighbours; -1 when
/// all have them along one, or the shorter one is too long for the loop of one thread.
Axis shortFastAxis(const Program &program, const std::vector<const RawAccess *> &accesses) {
    constexpr std::int64_t longestLoop = 256, shortestLoop = 2;
    std::map<Axis, std::int64_t> elements; // of the largest access that is fast along an axis
    for (const RawAccess *raw : accesses) {
        std::int64_t size = 1;
        for (const auto &[atom, stride] : raw->strides)
            size *= stride == 0 ? 1 : program.axes.size(atom);
        for (const auto &[atom, stride] : raw->strides) {
            if (stride == 1)
                elements[atom] = std::max(elements[atom], size);
        }
    }
    std::int64_t largest = 0;
    for (const auto &[atom, size] : elements)
        largest = std::max(largest, size);
    std::erase_if(elements, [&](const auto &entry) { return entry.second * 8 < largest; });
    if (elements.size() != 2)
        return -1;
    const Axis a = elements.begin()->first, b = elements.rbegin()->first;
    const Axis shorter = program.axes.size(a) < program.axes.size(b) ? a : b;
    const std::int64_t length = program.axes.size(shorter);
    return length <= longestLoop && length >= shortestLoop ? shorter : -1;
}

/// What of a group goes through tiles in shared memory: `across`, the axes along which the largest
/// read that does not follow the writes has its neighbours, and `along`, those of the writes, both
/// as far as they are one even walk. Nothing where all is in one order or a side is short.
struct TileAxes {
    Axes across, along;
};
std::optional<TileAxes> tileAxes(const Program &program, const std::map<int, RawAccess> &raws,
                                 const std::vector<RawAccess> &stores) {
    constexpr std::int64_t shortest = 16;
    const auto sizeOfAccess = [&](const RawAccess &raw) {
        std::int64_t size = 1;
        for (const auto &[atom, stride] : raw.strides)
            size *= stride == 0 ? 1 : program.axes.size(atom);
        return size;
    };
    const auto fast = [&](const RawAccess &raw) -> Axis {
        for (const auto &[atom, stride] : raw.strides) {
            if (stride == 1 && program.axes.size(atom) > 1)
                return atom;
        }
        return -1;
    };
    const auto larger = [&](const RawAccess *best, const RawAccess &raw) {
        return best == nullptr || sizeOfAccess(raw) > sizeOfAccess(*best);
    };
    const RawAccess *near = nullptr, *far = nullptr;
    for (const RawAccess &raw : stores) {
        if (larger(near, raw))
            near = &raw;
    }
    if (near == nullptr || fast(*near) < 0)
        return std::nullopt;
    for (const auto &[id, raw] : raws) {
        const Value &value = program.values[id];
        if (value.kind == Kind::load && goesThroughTiles(program, value) && fast(raw) >= 0 &&
            fast(raw) != fast(*near) && raw.strides.contains(fast(*near)) &&
            raw.strides.at(fast(*near)) != 0 && larger(far, raw))
            far = &raw;
    }
    if (far == nullptr || sizeOfAccess(*far) * 4 < sizeOfAccess(*near))
        return std::nullopt;
    // The run of an access from its neighbours outwards, up to an axis of the other side.
    const auto run = [&](const RawAccess &raw, const Axes &other) {
        Axes result{fast(raw)};
        std::int64_t expected = program.axes.size(result[0]);
        for (bool more = true; more;) {
            more = false;
            for (const auto &[atom, stride] : raw.strides) {
                if (stride != expected || program.axes.size(atom) == 1 ||
                    std::find(other.begin(), other.end(), atom) != other.end() ||
                    std::find(result.begin(), result.end(), atom) != result.end())
                    continue;
                result.insert(result.begin(), atom);
                expected *= program.axes.size(atom);
                more = true;
                break;
            }
        }
        return result;
    };
    TileAxes tile;
    tile.across = run(*far, {fast(*near)});
    // What lies outside of both belongs to the rows: the run along must leave it alone.
    tile.along = run(*near, tile.across);
    tile.across = run(*far, tile.along);
    if (program.axes.size(tile.across) < shortest || program.axes.size(tile.along) < shortest)
        return std::nullopt;
    return tile;
}

} // namespace

Nest makeNest(const Program &program, const Group &group, std::int64_t shortestRun,
              bool transpose) {
    const RawAccesses raw = accessesOf(program, group);
    const std::vector<int> &values = raw.values;
    const auto &raws = raw.loads;
    const auto &rawStores = raw.stores;

    std::set<Axis> all = group.rows;
    all.insert(group.reduced.begin(), group.reduced.end());
    all.insert(group.places.begin(), group.places.end());
    Axes order = memoryOrder(program, all, values, group.stores);
    if (!group.orders.empty()) { // rows, then elements and places as they are counted
        const Value &first = program.values[group.orders[0]];
        std::erase_if(order, [&](Axis atom) { return !group.rows.contains(atom); });
        for (const Axes &list : {first.axes, first.places}) {
            const Axes atoms = program.axes.atoms(list);
            order.insert(order.end(), atoms.begin(), atoms.end());
        }
    }
    // Windows without a run of memory of their own are walked by one thread each: neighbouring
    // threads take neighbouring windows.
    if (overlaps(program, group, values))
        std::stable_partition(order.begin(), order.end(),
                              [&](Axis atom) { return group.reduced.contains(atom); });

    Nest nest;
    const std::vector<const RawAccess *> everything = raw.all();
    const bool reorders = transpose && !group.hasReductions() && !raw.adds;
    const auto tile = reorders ? tileAxes(program, raws, rawStores) : std::nullopt;
    const auto among = [](const Axes &axes, Axis atom) {
        return std::find(axes.begin(), axes.end(), atom) != axes.end();
    };
    const auto side = [&](Axis atom) { // 1: along, 2: across, of a tile
        return !tile ? 0 : among(tile->along, atom) ? 1 : among(tile->across, atom) ? 2 : 0;
    };
    if (tile) {
        std::erase_if(order, [&](Axis atom) { return side(atom) != 0; });
        order.insert(order.end(), tile->along.begin(), tile->along.end());
        order.insert(order.end(), tile->across.begin(), tile->across.end());
    }
    const Axis loop = reorders && !tile ? shortFastAxis(program, everything) : -1;
    if (loop >= 0) {
        nest.transposing = true;
        std::stable_partition(order.begin(), order.end(), [&](Axis atom) { return atom != loop; });
    }
    for (const Axis atom : order) {
        const bool element = group.reduced.contains(atom) || group.places.contains(atom) ||
                             atom == loop || side(atom) != 0;
        const bool merge =
            !nest.dims.empty() && nest.dims.back().element == element &&
            side(nest.dims.back().axes.back()) == side(atom) &&
            group.places.contains(nest.dims.back().axes.back()) == group.places.contains(atom) &&
            walksOn(program, everything, nest.dims.back().axes.back(), atom);
        addLoop(program, nest, atom, element, merge);
        if (!merge && side(atom) != 0)
            (side(atom) == 1 ? nest.along : nest.across)
                .push_back(static_cast<int>(nest.dims.size()) - 1);
    }
    for (NestDim &dim : nest.dims)
        dim.expression = program.axes.expression(dim.axes);
    if (!group.hasReductions() && !nest.transposing && !tile) {
        std::int64_t run = 1;
        for (std::size_t d = nest.dims.size(); d-- > 0 && run < shortestRun;) {
            nest.dims[d].element = true;
            run *= nest.dims[d].size;
        }
    }
    finishAccesses(nest, raw);

    // The outermost size may stay open when no stride or offset depends on it.
    if (!nest.dims.empty()) {
        nest.runtimeOuter = mayStayOpen(nest, everything);
        if (tile && nest.dims[0].element)
            nest.runtimeOuter = false;
        // A reduced outermost loop is only open when there are no rows: then it is the length.
        if (nest.dims[0].element &&
            (!nest.rowDims().empty() || !group.scans.empty() || !group.orders.empty()))
            nest.runtimeOuter = false;
        if (nest.dims[0].element && nest.elementDims().size() > 1)
            nest.runtimeOuter = nest.runtimeOuter && !group.hasReductions();
    }
    bake(program, nest);
    return nest;
}

std::optional<std::array<Axes, 3>> productSides(const Program &program, int load,
                                                const Product &product) {
    const Value &value = program.values[load];
    if (value.kind != Kind::load || !value.args.empty())
        return std::nullopt;
    const RawAccess raw = loadAccess(program, value);
    if (raw.base != 0)
        return std::nullopt;
    std::map<std::int64_t, Axis, std::greater<>> byStride;
    std::size_t loops = 0;
    for (const auto &[atom, stride] : raw.strides) {
        if (program.axes.size(atom) == 1)
            continue;
        byStride[stride] = atom;
        ++loops;
    }
    if (byStride.size() != loops)
        return std::nullopt;
    std::array<Axes, 3> sides;
    std::int64_t expected = product.batch * product.m * product.n;
    for (const auto &[stride, atom] : byStride) {
        if (stride <= 0 || stride * program.axes.size(atom) != expected)
            return std::nullopt;
        // A loop lies within one side when it does not step over the end of a row or a product.
        const std::int64_t end = expected;
        expected = stride;
        if (stride < product.n && end > product.n)
            return std::nullopt;
        if (stride < product.m * product.n && end > product.m * product.n)
            return std::nullopt;
        sides[stride >= product.m * product.n ? 0 : stride >= product.n ? 1 : 2].push_back(atom);
    }
    if (expected != 1)
        return std::nullopt;
    return sides;
}

Nest makeProductNest(const Program &program, const Group &group) {
    const RawAccesses raw = accessesOf(program, group);
    const std::vector<const RawAccess *> everything = raw.all();
    Nest nest;
    const auto addSides = [&](int step, std::array<std::vector<int>, 3> &loops) {
        const auto sides = *productSides(program, productValue(program, group, step),
                                         *program.library[step].product);
        for (std::size_t side = 0; side < sides.size(); ++side) {
            for (const Axis atom : sides[side]) {
                const bool merge = !loops[side].empty() &&
                                   walksOn(program, everything, nest.dims.back().axes.back(), atom);
                addLoop(program, nest, atom, true, merge);
                if (!merge)
                    loops[side].push_back(static_cast<int>(nest.dims.size()) - 1);
            }
        }
    };
    addSides(group.product, nest.sides);
    if (group.scores >= 0)
        addSides(group.scores, nest.scoreSides);
    for (NestDim &dim : nest.dims)
        dim.expression = program.axes.expression(dim.axes);
    finishAccesses(nest, raw);
    // An open number of rows; the text holds the sizes of a batch.
    nest.runtimeOuter = group.scores < 0 && nest.sides[0].empty() && !nest.sides[1].empty() &&
                        program.library[group.product].product->a.alongK &&
                        mayStayOpen(nest, everything);
    bake(program, nest);
    return nest;
}

} // namespace cuda_agent::policy
