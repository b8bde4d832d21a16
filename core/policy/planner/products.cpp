// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/products.h"
#include "core/policy/planner/nest.h"

#include <algorithm>

namespace cuda_agent::policy {

namespace {

/// blockIdx.z counts the products of a batch, or the tiles of one in a second kernel.
constexpr std::int64_t largestBatch = 65535, largestSize = 1ll << 30;

bool readsBuffer(const Program &program, const Group &group, int buffer) {
    const std::vector<int> values = reachableFrom(program, group.roots());
    return std::any_of(values.begin(), values.end(), [&](int id) {
        return program.values[id].kind == Kind::load && program.values[id].buffer == buffer;
    });
}

/// Whether a group can take a product over: it does no more than compute with its elements.
bool takesOver(const Program &program, const Group &group, const LibraryStep &step) {
    if (group.hasReductions() || group.product >= 0 || !group.reduced.empty() ||
        std::any_of(group.stores.begin(), group.stores.end(),
                    [](const Store &store) { return store.adds(); }))
        return false;
    int load = -1;
    for (const int id : reachableFrom(program, group.roots())) {
        const Value &value = program.values[id];
        if (value.kind != Kind::load || value.buffer != step.writes)
            continue;
        if (load >= 0)
            return false; // two elements of the product for one of the result
        load = id;
    }
    if (load < 0 || program.axesOf(load) != group.rows)
        return false;
    return productSides(program, load, *step.product).has_value();
}

/// Elements from one place of each loop to the next, of a load and of a store.
std::map<Axis, std::int64_t> stridesOf(const Program &program, const std::vector<Axes> &dims,
                                       const Shape &strides) {
    std::map<Axis, std::int64_t> result;
    for (std::size_t d = 0; d < dims.size(); ++d) {
        std::int64_t stride = strides[d];
        const Axes atoms = program.axes.atoms(dims[d]);
        for (std::size_t i = atoms.size(); i-- > 0;) {
            result[atoms[i]] += stride;
            stride *= program.axes.size(atoms[i]);
        }
    }
    return result;
}

/// Whether a group copies all of a buffer, element by element in the same order, to another one.
bool copies(const Program &program, const Group &group, int buffer) {
    if (group.hasReductions() || group.product >= 0 || group.stores.size() != 1 ||
        group.stores[0].adds() || !group.stores[0].offsets.empty())
        return false;
    const Store &store = group.stores[0];
    const Value &value = program.values[store.value];
    if (value.kind != Kind::load || value.buffer != buffer || !value.args.empty() ||
        program.buffers[buffer].dtype != program.buffers[store.buffer].dtype ||
        program.bytesOf(buffer) != program.bytesOf(store.buffer) ||
        store.dims.size() != program.buffers[store.buffer].shape.size())
        return false;
    std::vector<Axes> dims;
    for (const LoadDim &dimension : value.dims) {
        if (dimension.offset != 0 || dimension.step != 1)
            return false;
        dims.push_back(dimension.axes);
    }
    return stridesOf(program, dims, program.stridesOf(value)) ==
           stridesOf(program, store.dims, program.stridesOf(store.buffer));
}

} // namespace

Fused withoutCopies(Fused fused) {
    Program &program = fused.program;
    for (std::size_t u = 0; u < fused.units.size(); ++u) {
        if (!fused.units[u].group)
            continue;
        const Group &group = *fused.units[u].group;
        for (std::size_t writer = 0; writer < u; ++writer) {
            if (fused.units[writer].group)
                continue;
            LibraryStep &step = program.library[fused.units[writer].library];
            if (!step.product || !copies(program, group, step.writes) ||
                !staysWithin(fused, step.writes, {writer, u}))
                continue;
            step.writes = group.stores[0].buffer;
            step.step[step.step.contains("c") ? "c" : "output"] = program.buffers[step.writes].name;
            fused.units.erase(fused.units.begin() + static_cast<std::ptrdiff_t>(u--));
            break;
        }
    }
    return fused;
}

std::vector<int> productsOf(const Fused &fused) {
    std::vector<int> result;
    for (const Unit &unit : fused.units) {
        if (unit.group)
            continue;
        const auto &product = fused.program.library[unit.library].product;
        if (!product || product->batch > largestBatch || product->m > largestSize ||
            product->n > largestSize || product->k > largestSize || product->k < 1 ||
            product->m < 1 || product->n < 1)
            continue;
        if (product->type == DType::float32 || product->type == DType::float16 ||
            product->type == DType::bfloat16)
            result.push_back(unit.library);
    }
    return result;
}

int productValue(const Program &program, const Group &group, int step) {
    if (step < 0)
        return -1;
    for (const int id : reachableFrom(program, group.roots())) {
        const Value &value = program.values[id];
        if (value.kind == Kind::load && value.buffer == program.library[step].writes)
            return id;
    }
    return -1;
}

std::vector<int> operandsOf(const Program &program, const Group &group) {
    if (group.product < 0)
        return {};
    const Product &product = *program.library[group.product].product;
    if (group.scores < 0)
        return {product.a.buffer, product.b.buffer};
    const Product &scores = *program.library[group.scores].product;
    return {scores.a.buffer, scores.b.buffer, product.b.buffer};
}

bool staysWithin(const Fused &fused, int buffer, const std::set<std::size_t> &units) {
    const Program &program = fused.program;
    if (program.buffers[buffer].role != BufferRole::scratch)
        return false;
    for (std::size_t u = 0; u < fused.units.size(); ++u) {
        const Unit &unit = fused.units[u];
        const bool touches =
            unit.group ? readsBuffer(program, *unit.group, buffer) ||
                             std::ranges::count(operandsOf(program, *unit.group), buffer) > 0
                       : std::ranges::count(program.library[unit.library].reads, buffer) > 0;
        if (touches && !units.contains(u))
            return false;
    }
    return true;
}

Fused withOwnProducts(Fused fused, const std::set<int> &steps) {
    Program &program = fused.program;
    for (std::size_t u = 0; u < fused.units.size(); ++u) {
        if (fused.units[u].group || !steps.contains(fused.units[u].library))
            continue;
        const int number = fused.units[u].library;
        const LibraryStep &step = program.library[number];
        std::vector<std::size_t> readers;
        for (std::size_t other = 0; other < fused.units.size(); ++other) {
            const Unit &unit = fused.units[other];
            if (unit.group
                    ? readsBuffer(program, *unit.group, step.writes)
                    : std::ranges::count(program.library[unit.library].reads, step.writes) > 0)
                readers.push_back(other);
        }
        const bool scratch = program.buffers[step.writes].role == BufferRole::scratch;
        if (scratch && readers.size() == 1 && fused.units[readers[0]].group &&
            takesOver(program, *fused.units[readers[0]].group, step)) {
            fused.units[readers[0]].group->product = number;
            fused.units.erase(fused.units.begin() + static_cast<std::ptrdiff_t>(u--));
            continue;
        }
        Group group;
        group.product = number;
        const BufferInfo &buffer = program.buffers[step.writes];
        std::vector<Axes> dims;
        for (std::size_t d = 0; d < buffer.shape.size(); ++d) {
            dims.emplace_back();
            if (buffer.shape[d] == 1)
                continue;
            std::string text = d < buffer.expressions.size() ? buffer.expressions[d] : "";
            if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos)
                text.clear();
            const Axis axis = program.axes.add(buffer.shape[d], text);
            dims.back().push_back(axis);
            group.rows.insert(axis);
        }
        const int load = program.load(step.writes, dims);
        if (!productSides(program, load, *step.product))
            continue; // of no layout that tiles are written in: the library's
        group.stores.push_back({load, dims, step.writes});
        fused.units[u] = {std::move(group), -1};
    }
    return fused;
}

} // namespace cuda_agent::policy
