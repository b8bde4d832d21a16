// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/attention.h"
#include "core/policy/planner/nest.h"
#include "core/policy/planner/products.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace cuda_agent::policy {

namespace {

constexpr std::int64_t largestBatch = 65535;

Axes flat(const Program &program, const std::vector<Axes> &dims) {
    Axes result;
    for (const Axes &dimension : dims) {
        const Axes atoms = program.axes.atoms(dimension);
        result.insert(result.end(), atoms.begin(), atoms.end());
    }
    return result;
}

/// The unit that runs a library step; nothing when a group does.
std::optional<std::size_t> unitOf(const Fused &fused, int step) {
    for (std::size_t u = 0; u < fused.units.size(); ++u) {
        if (!fused.units[u].group && fused.units[u].library == step)
            return u;
    }
    return std::nullopt;
}

/// The library step that writes a buffer, if it is a product.
int productWriting(const Program &program, int buffer) {
    for (std::size_t i = 0; i < program.library.size(); ++i) {
        if (program.library[i].writes == buffer && program.library[i].product)
            return static_cast<int>(i);
    }
    return -1;
}

bool isNumber(const Value &value, double number) {
    return value.kind == Kind::constant && value.number == number;
}

/// Whether a value is `op` of arguments.
bool isOp(const Value &value, std::string_view op) {
    return value.kind == Kind::pointwise && value.op == op;
}

/// Whether a reduction tells of each row that any of its logits is more than -inf.
bool anyAllowed(const Program &program, int reduction, int logits) {
    const auto &values = program.values;
    const Value &any = values[reduction];
    if (any.kind != Kind::reduce || any.op != "any" || !isOp(values[any.args[0]], "not"))
        return false;
    const Value &masked = values[values[any.args[0]].args[0]];
    return isOp(masked, "eq") && masked.args[0] == logits &&
           isNumber(values[masked.args[1]], -std::numeric_limits<double>::infinity());
}

/// Whether a group does nothing but write softmax weights to one buffer; sets what they are of.
bool readSoftmax(const Program &program, const Group &group, Attention &found) {
    if (group.product >= 0 || !group.scans.empty() || !group.orders.empty() ||
        group.stores.size() != 1 || group.stores[0].adds())
        return false;
    const auto &values = program.values;
    int largest = -1, total = -1, any = -1;
    for (const int id : group.reduces) {
        int &place = values[id].op == "max" ? largest : values[id].op == "sum" ? total : any;
        if (place >= 0)
            return false;
        place = id;
    }
    if (largest < 0 || total < 0 || !areMaxAndSumOfExp(program, largest, total) ||
        values[total].dtype != DType::float32)
        return false;
    found.logits = values[largest].args[0];
    found.largest = largest;
    const auto strip = [&](int id) {
        while (isOp(values[id], "cast") && isFloating(values[id].dtype))
            id = values[id].args[0];
        return id;
    };
    int weight = strip(group.stores[0].value);
    if (any >= 0) {
        const Value &choice = values[weight];
        if (!anyAllowed(program, any, found.logits) || !isOp(choice, "where") ||
            !isOp(values[choice.args[0]], "not") || values[choice.args[0]].args[0] != any ||
            !isNumber(values[strip(choice.args[1])], 0))
            return false;
        found.safe = true;
        weight = strip(choice.args[2]);
    }
    return isOp(values[weight], "div") && values[weight].args[0] == values[total].args[0] &&
           values[weight].args[1] == total;
}

std::optional<Attention> attentionAt(const Fused &fused, std::size_t unit) {
    const Program &program = fused.program;
    const Group &group = *fused.units[unit].group;
    Attention found;
    found.softmax = unit;
    if (!readSoftmax(program, group, found))
        return std::nullopt;
    const int weights = group.stores[0].buffer;
    // Who multiplies the weights.
    std::optional<std::size_t> reader;
    for (std::size_t u = 0; u < fused.units.size(); ++u) {
        const Unit &other = fused.units[u];
        if (!other.group && std::ranges::count(program.library[other.library].reads, weights) > 0) {
            reader = u;
            found.product = other.library;
        }
    }
    if (!reader || !program.library[found.product].product ||
        !staysWithin(fused, weights, {unit, *reader}))
        return std::nullopt;
    const Product &product = *program.library[found.product].product;
    // Which product the logits are computed from.
    int load = -1;
    for (const int id : reachableFrom(program, {found.logits})) {
        const Value &value = program.values[id];
        if (value.kind == Kind::reduce || value.kind == Kind::scan || value.kind == Kind::order)
            return std::nullopt;
        if (value.kind != Kind::load)
            continue;
        const int step = productWriting(program, value.buffer);
        if (step < 0 || program.library[step].product->k > longestHead ||
            program.library[step].product->n != product.k)
            continue;
        if (load >= 0)
            return std::nullopt;
        load = id;
        found.scores = step;
    }
    if (load < 0)
        return std::nullopt;
    const auto scoresUnit = unitOf(fused, found.scores);
    const LibraryStep &step = program.library[found.scores];
    if (!scoresUnit || !staysWithin(fused, step.writes, {*scoresUnit, unit}))
        return std::nullopt;
    const Product &scores = *step.product;
    if (scores.type != product.type || scores.type == DType::float64 || !scores.a.alongK ||
        !scores.b.alongK || product.b.alongK || !product.a.alongK || product.a.buffer != weights ||
        product.b.buffer == weights || product.a.pitch != product.k || product.n > longestHead ||
        product.b.windows || scores.batch != product.batch || scores.m != product.m ||
        product.batch > largestBatch ||
        (product.batch > 1 && product.a.batchStride != product.m * product.k))
        return std::nullopt;
    // The weights lie as the scores do, and rows are those of the scores.
    const auto sides = productSides(program, load, scores);
    if (!sides)
        return std::nullopt;
    Axes all;
    for (const Axes &side : *sides)
        all.insert(all.end(), side.begin(), side.end());
    const Axes over = program.axes.atoms(program.values[found.largest].axes);
    if (over != (*sides)[2] || flat(program, group.stores[0].dims) != all ||
        !group.stores[0].offsets.empty() || program.axesOf(found.logits).size() > all.size())
        return std::nullopt;
    for (const Axis atom : program.axesOf(found.logits)) {
        if (std::find(all.begin(), all.end(), atom) == all.end())
            return std::nullopt;
    }
    return found;
}

} // namespace

std::vector<Attention> attentionsOf(const Fused &fused) {
    std::vector<Attention> result;
    for (std::size_t u = 0; u < fused.units.size(); ++u) {
        if (!fused.units[u].group)
            continue;
        if (auto found = attentionAt(fused, u))
            result.push_back(*found);
    }
    return result;
}

Fused withOwnAttention(Fused fused, const std::vector<Attention> &found) {
    std::set<int> products;
    std::set<std::size_t> gone;
    for (const Attention &attention : found) {
        products.insert(attention.product);
        gone.insert(attention.softmax);
        if (const auto unit = unitOf(fused, attention.scores))
            gone.insert(*unit);
    }
    std::vector<Unit> kept;
    for (std::size_t u = 0; u < fused.units.size(); ++u) {
        if (!gone.contains(u))
            kept.push_back(std::move(fused.units[u]));
    }
    fused.units = std::move(kept);
    fused = withOwnProducts(std::move(fused), products);
    for (Unit &unit : fused.units) {
        for (const Attention &attention : found) {
            if (unit.group && unit.group->product == attention.product) {
                unit.group->scores = attention.scores;
                unit.group->logits = attention.logits;
                unit.group->safeSoftmax = attention.safe;
            }
        }
    }
    return fused;
}

bool isCausal(const Program &program, const Group &group) {
    const auto &values = program.values;
    const auto strip = [&](int id) {
        while (values[id].kind == Kind::pointwise && values[id].op == "cast")
            id = values[id].args[0];
        return id;
    };
    const Value &where = values[strip(group.logits)];
    if (where.kind != Kind::pointwise || where.op != "where")
        return false;
    const Value &otherwise = values[strip(where.args[2])];
    if (otherwise.kind != Kind::constant || !std::isinf(otherwise.number) || otherwise.number > 0)
        return false;
    const Value &test = values[where.args[0]];
    if (test.kind != Kind::pointwise || (test.op != "le" && test.op != "ge"))
        return false;
    const auto sides = productSides(program, productValue(program, group, group.scores),
                                    *program.library[group.scores].product);
    const auto isPosition = [&](int id, const Axes &side) {
        const Value &index = values[strip(id)];
        return index.kind == Kind::index && program.axes.atoms(index.axes) == side;
    };
    const int column = test.args[test.op == "le" ? 0 : 1], row = test.args[test.op == "le" ? 1 : 0];
    return sides && isPosition(column, (*sides)[2]) && isPosition(row, (*sides)[1]);
}

std::int64_t paddedHead(std::int64_t elements) {
    return (elements + 15) / 16 * 16;
}

int attentionBytes(const Schedule &s, const Product &scores, const Product &product) {
    const auto size = static_cast<std::int64_t>(sizeOf(product.type));
    const std::int64_t extra = 16 / size;
    return static_cast<int>(((s.along + s.chunk) * (paddedHead(scores.k) + extra) +
                             s.chunk * (paddedHead(product.n) + extra)) *
                            size);
}

} // namespace cuda_agent::policy
