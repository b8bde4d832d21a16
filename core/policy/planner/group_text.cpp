// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/group_text.h"
#include "core/policy/planner/position_text.h"
#include "core/policy/planner/runs.h"
#include "core/policy/planner/schedule_space.h"

namespace cuda_agent::policy {

namespace {

using Factors = std::vector<std::int64_t>;

/// "32 * 8"; "1" of none.
std::string productText(const Factors &factors) {
    std::vector<std::string> parts;
    for (const std::int64_t factor : factors)
        if (factor != 1)
            parts.push_back(fmt::to_string(factor));
    return parts.empty() ? "1" : fmt::format("{}", fmt::join(parts, " * "));
}

/// Whether a stride or where an access begins is told as what it is made of: small ones, too, where
/// that is a product, as 8 of 2 * 2 * 2 would have to be computed.
bool isSpelled(std::int64_t number, const std::string &text) {
    return std::abs(number) >= leastSpelled || text.find(" * ") != text.npos;
}

/// A number as its text says it, in parentheses where it is more than one word; small ones as they
/// are but for products.
std::string spelled(std::int64_t number, const std::string &text) {
    if (!isSpelled(number, text))
        return fmt::to_string(number);
    // A border brings its own: "(40 + 3)".
    const bool plain =
        text.find(' ') == text.npos || (text[0] == '(' && text.find(')') + 1 == text.size());
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
    const auto backwards = [](const Walked &dim) {
        return dim.step < 0 && dim.offset > 0 && dim.offset == dim.size - 1;
    };
    for (std::size_t d = 0; d < walked.size(); ++d) {
        const Walked &dim = walked[d];
        if (dim.offset == 0)
            continue;
        Factors all; // sizes of neighbours that are walked backwards from their ends
        for (std::size_t k = d; base > 0 && k < walked.size() && backwards(walked[k]); ++k)
            all.push_back(walked[k].size);
        if (all.size() > 1) {
            d += all.size() - 1;
            const auto inner = productText(walked[d].inner);
            terms.push_back(inner == "1" ? fmt::format("{} - 1", productText(all))
                                         : fmt::format("({} - 1) * {}", productText(all), inner));
            continue;
        }
        const std::int64_t offset = base < 0 ? -dim.offset : dim.offset;
        if (offset < 0)
            return fmt::to_string(base);
        // A part that reaches the dimension's end begins so much before it, one that walks
        // backwards at the last place.
        const std::int64_t places = dim.step == 1 ? program.axes.size(dim.axes) : 1;
        const bool last = beginsBeforeEnd(offset, places, dim.size);
        // One that lies behind others begins where the last of these ends.
        const auto border = last ? borders.end() : borders.find(offset);
        const auto begin = last ? fmt::format("{} - {}", dim.size, dim.size - offset)
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

/// Every access that the kernels make: `act` gets the load, -1 of a store, its buffer, how it
/// walks, the access, and how many neighbours it may take at once.
template <typename Act>
void forAccesses(const Program &program, const ScheduledGroup &group, const Act &act) {
    for (const int id : valuesAsTold(program, group)) {
        const Value &value = program.values[id];
        const auto access = group.nest.accesses.find(id);
        if (value.kind == Kind::load && access != group.nest.accesses.end())
            act(id, value.buffer, walkedBy(program, value), access->second,
                widestRun(program, group.nest, id));
    }
    for (std::size_t i = 0; i < group.group->stores.size() && i < group.nest.stores.size(); ++i) {
        const Store &store = group.group->stores[i];
        act(-1, store.buffer, walkedBy(program, store), group.nest.stores[i],
            store.adds() ? 0 : widestRun(group.nest, group.nest.stores[i]));
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

} // namespace

std::map<int, std::string> rowNamesIn(const Program &program, const ScheduledGroup &group) {
    const auto values = namesIn(program, group);
    const auto rowDims = group.nest.rowDims();
    std::map<int, std::map<std::vector<std::int64_t>, std::string>> begins; // by buffer
    std::vector<std::pair<int, std::vector<std::int64_t>>> loads;
    for (const int id : valuesAsTold(program, group)) {
        const Value &value = program.values[id];
        const auto access = group.nest.accesses.find(id);
        if (value.kind != Kind::load || access == group.nest.accesses.end())
            continue;
        std::vector<std::int64_t> begin{access->second.base};
        for (const int d : rowDims)
            begin.push_back(access->second.strides[static_cast<std::size_t>(d)]);
        const auto &buffer = program.buffers[value.buffer].name;
        const auto &name = values.at(id);
        begins[value.buffer].try_emplace(
            begin, name.starts_with(buffer + "_") ? name : fmt::format("{}_{}", buffer, name));
        loads.emplace_back(id, std::move(begin));
    }
    std::map<int, std::string> names;
    for (const auto &[id, begin] : loads) {
        const int buffer = program.values[id].buffer;
        const auto &of = begins.at(buffer);
        const bool whole = std::ranges::all_of(begin, [](std::int64_t by) { return by == 0; });
        names[id] = whole || of.size() == 1 ? program.buffers[buffer].name : of.at(begin);
    }
    return names;
}

std::string describeLoops(const Program &program, const ScheduledGroup &group) {
    const auto textOf = [&](const std::vector<int> &places) {
        std::vector<std::string> loops;
        for (const int place : places) {
            const Factors sizes = sizesOf(program, group.nest, {place});
            const auto text = fmt::format("{}", fmt::join(sizes, " * "));
            loops.push_back(sizes.size() > 1 ? fmt::format("({})", text) : text);
        }
        return fmt::format("{}", fmt::join(loops, " * "));
    };
    if (group.group->product >= 0) {
        std::vector<std::string> sides;
        for (const auto &[side, name] : {std::pair{0, "batches"}, {1, "rows"}, {2, "columns"}})
            if (const auto &loops = group.nest.sides[static_cast<std::size_t>(side)];
                group.group->scores < 0 && loops.size() > 1)
                sides.push_back(fmt::format("{} {}", name, textOf(loops)));
        return fmt::format("{}", fmt::join(sides, ", "));
    }
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
    const auto rows = rowNamesIn(program, group);
    forAccesses(program, group,
                [&](int load, int buffer, const auto &walked, const Access &access, int vector) {
                    const AccessText text = textOf(program, group.nest, walked, access, borders);
                    std::vector<std::string> strides;
                    for (const bool elements : {false, true})
                        for (std::size_t i = 0; i < group.nest.dims.size(); ++i)
                            if (group.nest.dims[i].element == elements)
                                strides.push_back(text.strides[i]);
                    const auto &name = program.buffers[buffer].name;
                    const auto &row = load < 0 ? name : rows.at(load);
                    const auto line = fmt::format(
                        "{}{}{}: {}{}", row == name ? "" : row + "_row = ", name,
                        access.base == 0 ? "" : " + " + text.base, fmt::join(strides, ", "),
                        vector == 0 ? "" : fmt::format(" by {}", vector));
                    if (!strides.empty() && std::ranges::find(lines, line) == lines.end())
                        lines.push_back(line);
                });
    return fmt::format("{}", fmt::join(lines, "; "));
}

std::string describeCounts(const Program &program, const ScheduledGroup &group,
                           const Schedule &schedule) {
    if (schedule.form == Schedule::Form::tile) {
        const auto text = [&](const std::vector<int> &places) {
            return productText(sizesOf(program, group.nest, places));
        };
        return fmt::format("y < {} by {}, x < {} by {}", text(group.nest.along), schedule.along,
                           text(group.nest.across), schedule.across);
    }
    if (!schedule.staged || group.nest.openLength())
        return {};
    return schedule.heldText(productText(sizesOf(program, group.nest, group.nest.elementDims())),
                             group.nest.elements());
}

std::string describeApart(const Program &program, const ScheduledGroup &group,
                          const Schedule &schedule) {
    using Form = Schedule::Form;
    if (schedule.form != Form::row && schedule.form != Form::column)
        return {};
    const auto names = namesIn(program, group);
    std::vector<std::string> apart;
    for (const int id : valuesAsTold(program, group)) {
        const Value &value = program.values[id];
        if (value.kind != Kind::load || value.args.empty())
            continue;
        const int width = widestRun(program, group.nest, id);
        if (width > 0 && width < schedule.vector &&
            !readsAskedInRuns(program, *group.group, group.nest, schedule, id))
            apart.push_back(names.at(id));
    }
    return apart.empty() ? std::string() : fmt::format("{} one by one", fmt::join(apart, ", "));
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
    forAccesses(
        program, group, [&](int, int buffer, const auto &walked, const Access &access, int) {
            SizeTexts::Texts &strides = texts.strides[program.buffers[buffer].name];
            const AccessText text = textOf(program, group.nest, walked, access, texts.borders);
            const auto add = [&](std::int64_t number, const std::string &words) {
                if (isSpelled(number, words) && words.find(' ') != words.npos)
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
