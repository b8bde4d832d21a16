// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/group_text.h"
#include "core/policy/planner/position_text.h"
#include "core/policy/planner/products.h"
#include "core/policy/planner/reducers.h"
#include "core/policy/planner/schedule_space.h"

namespace cuda_agent::policy {

namespace {

using Factors = std::vector<std::int64_t>;

std::string shapeText(const BufferInfo &buffer) {
    return fmt::format("{} [{}]", buffer.name, fmt::join(buffer.shape, ", "));
}

/// "32 * 8"; "1" of none.
std::string productText(const Factors &factors) {
    std::vector<std::string> parts;
    for (const std::int64_t factor : factors)
        if (factor != 1)
            parts.push_back(fmt::to_string(factor));
    return parts.empty() ? "1" : fmt::format("{}", fmt::join(parts, " * "));
}

/// A number as its text says it, in parentheses where it is more than one word; small ones as they
/// are.
std::string spelled(std::int64_t number, const std::string &text) {
    if (std::abs(number) < leastSpelled)
        return fmt::to_string(number);
    const bool plain = text.find(' ') == text.npos;
    return fmt::format("{}{}", number < 0 ? "-" : "", plain ? text : "(" + text + ")");
}

/// One dimension of a tensor as an access walks it.
struct Walked {
    Axes axes;
    std::int64_t size = 0; ///< 0: unknown
    std::int64_t offset = 0, step = 1;
    Factors inner; ///< of one step along it: sizes of the dimensions behind it
};

/// Of a stride that goes along no dimension of a tensor, as those of windows that overlap: some
/// rows of the largest that it is a multiple of.
Factors factorsOf(std::int64_t stride, const Shape &shape) {
    std::vector<std::int64_t> inner(shape.size(), 1);
    for (std::size_t d = shape.size(); d-- > 1;)
        inner[d - 1] = inner[d] * shape[d];
    for (std::size_t d = 0; d < shape.size(); ++d) {
        if (inner[d] < leastSpelled || stride % inner[d] != 0)
            continue;
        Factors factors{stride / inner[d]};
        factors.insert(factors.end(), shape.begin() + static_cast<std::ptrdiff_t>(d) + 1,
                       shape.end());
        return factors;
    }
    return {stride};
}

std::vector<Walked> walkedBy(const Program &program, const Value &load) {
    const Shape &shape = load.extents.empty() ? program.buffers[load.buffer].shape : load.extents;
    std::vector<Walked> result;
    for (std::size_t d = 0; d < load.dims.size(); ++d) {
        const LoadDim &dim = load.dims[d];
        Walked walked{dim.axes, 0, dim.offset, dim.step, {}};
        if (!load.strides.empty()) {
            walked.inner = factorsOf(load.strides[d], program.buffers[load.buffer].shape);
        } else {
            walked.size = shape[d];
            walked.inner.assign(shape.begin() + static_cast<std::ptrdiff_t>(d) + 1, shape.end());
        }
        result.push_back(std::move(walked));
    }
    return result;
}

std::vector<Walked> walkedBy(const Program &program, const Store &store) {
    const Shape &shape = program.buffers[store.buffer].shape;
    const bool flat = store.dims.size() == 1 && shape.size() != 1;
    std::vector<Walked> result;
    for (std::size_t d = 0; d < store.dims.size(); ++d) {
        const std::int64_t offset = store.offsets.empty() ? 0 : store.offsets[d];
        Walked walked{store.dims[d], flat ? 0 : shape[d], offset, 1, {}};
        if (store.adds() && store.picks[d] >= 0)
            walked.axes.clear();
        if (!flat)
            walked.inner.assign(shape.begin() + static_cast<std::ptrdiff_t>(d) + 1, shape.end());
        result.push_back(std::move(walked));
    }
    return result;
}

/// How far one step along `atom` goes.
std::string strideText(const Program &program, const std::vector<Walked> &walked, Axis atom,
                       std::int64_t stride) {
    std::vector<std::string> terms;
    for (const Walked &dim : walked) {
        const Axes atoms = program.axes.atoms(dim.axes);
        for (std::size_t i = 0; i < atoms.size(); ++i) {
            if (atoms[i] != atom)
                continue;
            Factors factors{std::abs(dim.step)};
            for (std::size_t k = i + 1; k < atoms.size(); ++k)
                factors.push_back(program.axes.size(atoms[k]));
            factors.insert(factors.end(), dim.inner.begin(), dim.inner.end());
            terms.push_back((dim.step < 0) == (stride < 0) ? productText(factors)
                                                           : "-" + productText(factors));
        }
    }
    return spelled(stride, fmt::format("{}", fmt::join(terms, " + ")));
}

/// Where an access begins: behind the tensor's first element, or before it where windows reach over
/// its border.
std::string baseText(const Program &program, const std::vector<Walked> &walked, std::int64_t base,
                     const SizeTexts::Texts &borders) {
    std::vector<std::string> terms;
    for (const Walked &dim : walked) {
        if (dim.offset == 0)
            continue;
        const std::int64_t offset = base < 0 ? -dim.offset : dim.offset;
        if (offset < 0)
            return fmt::to_string(base);
        // A part that reaches the dimension's end begins so much before it, one that walks
        // backwards at the last place.
        const std::int64_t places = dim.step == 1 ? program.axes.size(dim.axes) : 1;
        const bool last = offset >= leastSpelled && offset == dim.size - places;
        // One that lies behind others begins where the last of these ends.
        const auto border = last ? borders.end() : borders.find(offset);
        const auto begin = last                      ? fmt::format("{} - {}", dim.size, places)
                           : border != borders.end() ? border->second
                                                     : fmt::to_string(offset);
        const std::string inner = productText(dim.inner);
        if (inner == "1")
            terms.push_back(begin);
        else if (offset == 1)
            terms.push_back(inner);
        else
            terms.push_back(fmt::format("{} * {}", last ? "(" + begin + ")" : begin, inner));
    }
    return spelled(base, fmt::format("{}", fmt::join(terms, " + ")));
}

/// Of one access, in the order of the nest's loops.
struct AccessText {
    std::string base;
    std::vector<std::string> strides;
};

AccessText textOf(const Program &program, const Nest &nest, const std::vector<Walked> &walked,
                  const Access &access, const SizeTexts::Texts &borders) {
    AccessText text{baseText(program, walked, access.base, borders), {}};
    for (std::size_t i = 0; i < nest.dims.size(); ++i)
        text.strides.push_back(
            strideText(program, walked, nest.dims[i].axes.back(), access.strides[i]));
    return text;
}

/// Every access that the kernels make: `act` gets its buffer, how it walks, the access, and how
/// many neighbours it may take at once.
template <typename Act>
void forAccesses(const Program &program, const ScheduledGroup &group, const Act &act) {
    for (const int id : inOrderFrom(program, group.group->roots())) {
        const Value &value = program.values[id];
        const auto access = group.nest.accesses.find(id);
        if (value.kind == Kind::load && access != group.nest.accesses.end())
            act(value.buffer, walkedBy(program, value), access->second,
                vectorOfLoad(program, group, id));
    }
    for (std::size_t i = 0; i < group.group->stores.size() && i < group.nest.stores.size(); ++i) {
        const Store &store = group.group->stores[i];
        act(store.buffer, walkedBy(program, store), group.nest.stores[i], vectorOfStore(group, i));
    }
}

/// Sizes of the axes of some loops.
Factors sizesOf(const Program &program, const Nest &nest, const std::vector<int> &places) {
    Factors sizes;
    for (const int place : places)
        for (const Axis atom : program.axes.atoms(nest.dims[place].axes))
            sizes.push_back(program.axes.size(atom));
    return sizes;
}

void addProduct(SizeTexts::Texts &texts, const Factors &factors) {
    std::int64_t number = 1;
    for (const std::int64_t factor : factors)
        number *= factor;
    if (const auto words = productText(factors);
        number >= leastSpelled && words.find(' ') != words.npos)
        texts.try_emplace(number, spelled(number, words));
}

/// What a kernel computes on one way along its rows, or behind the last one.
struct Sweep {
    std::vector<int> values;          ///< that it computes, in the order of the task's operators
    std::vector<std::string> results; ///< of the row, or along it: what it ends with
};

std::string resultText(const Program &program, const Reducer &reducer) {
    switch (reducer.kind) {
    case Reducer::Kind::moments:
        return "mean and squares over the row";
    case Reducer::Kind::maxAndSumOfExp:
        return "max and sum of exp over the row";
    default:
        return program.values[reducer.value].op + " over the row";
    }
}

std::vector<Sweep> sweepsOf(const Program &program, const Group &group) {
    std::set<int> ends(group.reduces.begin(), group.reduces.end());
    ends.insert(group.scans.begin(), group.scans.end());
    ends.insert(group.orders.begin(), group.orders.end());
    for (const int number : {group.product, group.scores})
        ends.insert(productValue(program, group, number));
    std::vector<Sweep> sweeps;
    const auto add = [&](const std::vector<int> &roots, std::vector<std::string> results) {
        sweeps.push_back(
            {inOrder(program, reachableFrom(program, roots, ends)), std::move(results)});
    };
    for (const Pass &pass : makePasses(program, group)) {
        std::vector<int> inputs;
        std::vector<std::string> results;
        for (const Reducer &reducer : pass.reducers) {
            inputs.push_back(reducer.input);
            results.push_back(resultText(program, reducer));
        }
        add(inputs, std::move(results));
    }
    std::vector<int> inputs;
    std::vector<std::string> results;
    for (const int id : group.scans) {
        inputs.push_back(program.values[id].args[0]);
        results.push_back(program.values[id].op + " along the row");
    }
    for (const int id : group.orders) {
        const Value &value = program.values[id];
        inputs.push_back(value.args[0]);
        results.push_back(fmt::format("{} {} of the row", value.op,
                                      value.backwards ? "largest first" : "smallest first"));
    }
    if (!inputs.empty())
        add(inputs, std::move(results));
    if (group.logits >= 0)
        add({group.logits}, {});
    std::vector<int> stored;
    for (const Store &store : group.stores)
        stored.push_back(store.value);
    add(stored, {});
    return sweeps;
}

/// Of the product that a group computes itself; empty where there is none.
std::string ownProductText(const Program &program, const Group &group) {
    if (productValue(program, group, group.product) < 0)
        return {};
    const Product &p = *program.library[group.product].product;
    return fmt::format("{} [{}{}, {}] over {} of k",
                       productValue(program, group, group.scores) >= 0
                           ? "softmax of a product, times a third,"
                           : "their product",
                       p.batch > 1 ? fmt::format("{}, ", p.batch) : "", p.m, p.n, p.k);
}

/// Of an operator of the task or a part of one; empty of what is none, and of what positions and
/// borders are computed by, which describePositions() tells.
std::string operatorText(const Value &value) {
    if (value.kind != Kind::pointwise || value.op == "cast" ||
        (value.name.empty() && !isFloating(value.dtype)))
        return {};
    return value.name.empty() ? value.op : value.name;
}

/// What the kernel knows a value by: an operator of the task, a result of a row, what is read, a
/// number. Empty of parts of an operator.
std::string knownAs(const Program &program, const Value &value) {
    if (isItsArgument(program, value))
        return knownAs(program, program.values[value.args[0]]);
    if (!value.name.empty())
        return value.name;
    switch (value.kind) {
    case Kind::load:
        return program.buffers[value.buffer].name;
    case Kind::constant:
        return fmt::format("{}", value.number);
    case Kind::pointwise:
    case Kind::index:
        return {};
    default:
        return value.op;
    }
}

/// Adds what a part of an operator is computed from, without its numbers.
void addSources(const Program &program, int id, std::vector<std::string> &sources) {
    const Value &value = program.values[id];
    if (value.kind == Kind::constant)
        return;
    auto text = knownAs(program, value);
    if (text.empty())
        for (const int arg : value.args)
            addSources(program, arg, sources);
    else if (std::ranges::find(sources, text) == sources.end())
        sources.push_back(std::move(text));
}

/// "(in0, exp2)", "(neg, 0.5)": what an operator of the task is computed from; empty of a part of
/// one, and of nothing.
std::string sourcesText(const Program &program, const Value &value) {
    if (value.name.empty())
        return {};
    std::vector<std::string> sources;
    for (const int arg : value.args) {
        if (auto text = knownAs(program, program.values[arg]); !text.empty())
            sources.push_back(std::move(text));
        else
            addSources(program, arg, sources);
    }
    return sources.empty() ? "" : fmt::format("({})", fmt::join(sources, ", "));
}

/// What a store writes: "softmax", "in0" of a copy, "sum" of a result over the row.
std::string storedText(const Program &program, int id) {
    const Value &value = program.values[id];
    if (!value.name.empty())
        return value.name;
    if (value.op == "cast" || value.op == "place")
        return storedText(program, value.args[0]);
    const auto text = knownAs(program, value);
    return text.empty() ? value.op : text;
}

} // namespace

std::string describeGroup(const Program &program, const ScheduledGroup &scheduled) {
    const Group &group = *scheduled.group;
    std::vector<std::string> parts, writes;
    std::set<int> toldBuffers, toldValues;
    RowValues rowValues(program, scheduled.nest);
    const bool rows = group.product < 0 && !scheduled.nest.elementDims().empty();
    const auto perRow = [&](int value) {
        return rows && rowValues.contains(value) ? " per row" : "";
    };
    for (const Sweep &sweep : sweepsOf(program, group)) {
        std::vector<std::string> reads, ops;
        std::set<int> read;
        const auto tellRead = [&](int buffer, const char *often = "") {
            const BufferInfo &info = program.buffers[buffer];
            if (read.insert(buffer).second)
                reads.push_back((toldBuffers.insert(buffer).second ? shapeText(info) : info.name) +
                                often);
        };
        if (parts.empty()) {
            for (const int buffer : operandsOf(program, group))
                tellRead(buffer);
            if (auto product = ownProductText(program, group); !product.empty())
                ops.push_back(std::move(product));
        }
        std::set<int> readByElement;
        for (const int id : sweep.values)
            if (program.values[id].kind == Kind::load && !rowValues.contains(id))
                readByElement.insert(program.values[id].buffer);
        for (const int id : sweep.values) {
            const Value &value = program.values[id];
            if (value.kind == Kind::load)
                tellRead(value.buffer, readByElement.contains(value.buffer) ? "" : perRow(id));
            else if (const auto text = operatorText(value);
                     !text.empty() && toldValues.insert(id).second)
                ops.push_back(text + sourcesText(program, value) + perRow(id));
        }
        ops.insert(ops.end(), sweep.results.begin(), sweep.results.end());
        if (!reads.empty())
            parts.push_back(fmt::format("reads {}", fmt::join(reads, ", ")));
        if (!ops.empty())
            parts.push_back(fmt::format("{}", fmt::join(ops, ", ")));
    }
    for (const Store &store : group.stores)
        writes.push_back(fmt::format("{} = {}", shapeText(program.buffers[store.buffer]),
                                     storedText(program, store.value)));
    parts.push_back(fmt::format("writes {}", fmt::join(writes, ", ")));
    return fmt::format("{}", fmt::join(parts, "; "));
}

std::string describeLoops(const Program &program, const ScheduledGroup &group) {
    if (group.group->product >= 0)
        return {};
    const auto textOf = [&](const std::vector<int> &places) {
        std::vector<std::string> loops;
        for (const int place : places) {
            const Factors sizes = sizesOf(program, group.nest, {place});
            const auto text = fmt::format("{}", fmt::join(sizes, " * "));
            loops.push_back(sizes.size() > 1 ? fmt::format("({})", text) : text);
        }
        return fmt::format("{}", fmt::join(loops, " * "));
    };
    const std::string rows = textOf(group.nest.rowDims());
    const std::string elements = textOf(group.nest.elementDims());
    if (rows.empty())
        return elements.empty() ? "" : fmt::format("one row of {}", elements);
    return elements.empty() ? fmt::format("rows {}", rows)
                            : fmt::format("rows {}, each of {}", rows, elements);
}

std::string describeAccesses(const Program &program, const ScheduledGroup &group) {
    if (group.group->product >= 0)
        return {};
    std::vector<std::string> lines;
    const SizeTexts::Texts borders = borderTexts(program, group);
    forAccesses(program, group,
                [&](int buffer, const auto &walked, const Access &access, int vector) {
                    const AccessText text = textOf(program, group.nest, walked, access, borders);
                    std::vector<std::string> strides;
                    for (const bool elements : {false, true})
                        for (std::size_t i = 0; i < group.nest.dims.size(); ++i)
                            if (group.nest.dims[i].element == elements)
                                strides.push_back(text.strides[i]);
                    const auto line = fmt::format("{}{}: {}{}", program.buffers[buffer].name,
                                                  access.base == 0 ? "" : " + " + text.base,
                                                  fmt::join(strides, ", "),
                                                  vector == 0 ? "" : fmt::format(" by {}", vector));
                    if (!strides.empty() && std::ranges::find(lines, line) == lines.end())
                        lines.push_back(line);
                });
    return fmt::format("{}", fmt::join(lines, "; "));
}

SizeTexts sizeTextsOf(const Program &program, const ScheduledGroup &group) {
    SizeTexts texts;
    if (group.group->product >= 0)
        return texts;
    texts.borders = borderTexts(program, group);
    const std::vector<int> rows = group.nest.rowDims(), elements = group.nest.elementDims();
    std::vector<int> all = rows;
    all.insert(all.end(), elements.begin(), elements.end());
    for (const auto &places : {elements, rows, all})
        addProduct(texts.totals, sizesOf(program, group.nest, places));
    for (const int place : all)
        addProduct(texts.loops, sizesOf(program, group.nest, {place}));
    forAccesses(program, group, [&](int buffer, const auto &walked, const Access &access, int) {
        SizeTexts::Texts &strides = texts.strides[program.buffers[buffer].name];
        const AccessText text = textOf(program, group.nest, walked, access, texts.borders);
        const auto add = [&](std::int64_t number, const std::string &words) {
            if (std::abs(number) >= leastSpelled && words.find(' ') != words.npos)
                strides.try_emplace(std::abs(number), words.substr(number < 0 ? 1 : 0));
        };
        for (std::size_t i = 0; i < text.strides.size(); ++i)
            add(access.strides[i], text.strides[i]);
        add(access.base, text.base);
        for (const Walked &dim : walked) // where a position is picked along it
            addProduct(strides, dim.inner);
    });
    return texts;
}

} // namespace cuda_agent::policy
