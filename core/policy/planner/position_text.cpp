// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/position_text.h"

#include "core/policy/planner/group_text.h"
#include "core/policy/planner/products.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

namespace cuda_agent::policy {

namespace {

/// Positions with more have a name, in bytes.
constexpr std::size_t longestFormula = 32;

/// The integer of a comparison's right side, which is a constant.
std::optional<std::int64_t> boundOf(const Program &program, const Value &comparison) {
    const Value &right = program.values[comparison.args[1]];
    constexpr double most = 1e15; // doubles up to it have every integer
    if (right.kind != Kind::constant || std::floor(right.number) != right.number ||
        std::abs(right.number) > most)
        return std::nullopt;
    return static_cast<std::int64_t>(right.number);
}

/// The conditions that `id` asks for together.
void addConditions(const Program &program, int id, std::vector<int> &conditions) {
    const Value &value = program.values[id];
    if (value.kind != Kind::pointwise)
        return;
    if (value.op == "and")
        for (const int arg : value.args)
            addConditions(program, arg, conditions);
    else if (value.args.size() == 2)
        conditions.push_back(id);
}

/// Where an access lies along the dimensions of its tensor, as a sum of loops along each.
struct Places {
    struct Dimension {
        std::int64_t size = 1;
        std::int64_t inner = 1;            ///< elements from one place to the next
        std::int64_t first = 0;            ///< place where all loops begin
        std::map<int, std::int64_t> steps; ///< of each loop that walks it
        std::set<int> outer;               ///< loops that walk on from it into a later one
        int pick = -1;                     ///< the value that is the place, if any,
        std::int64_t times = 1;            ///< so often
    };
    std::vector<Dimension> dims;

    explicit Places(const Shape &shape) {
        std::int64_t inner = 1;
        for (std::size_t d = shape.size(); d-- > 0; inner *= shape[d])
            dims.insert(dims.begin(), {shape[d], inner, 0, {}, {}});
    }

    /// The outermost dimension along which `stride` elements are a number of places.
    Dimension &dimensionOf(std::int64_t stride) {
        const auto found = std::ranges::find_if(dims, [&](const Dimension &dim) {
            return dim.size > 1 && std::abs(stride) >= dim.inner && stride % dim.inner == 0;
        });
        return found == dims.end() ? dims.back() : *found;
    }

    /// Whether these are the places of `access`, as what is told must be what is written.
    bool are(const Access &access) const {
        Access sum{0, std::vector<std::int64_t>(access.strides.size(), 0)};
        for (const Dimension &dim : dims) {
            sum.base += dim.first * dim.inner;
            for (const auto &[loop, step] : dim.steps)
                sum.strides[static_cast<std::size_t>(loop)] += step * dim.inner;
        }
        return sum.base == access.base && sum.strides == access.strides;
    }
};

class PositionText {
  public:
    PositionText(const Program &program, const ScheduledGroup &group)
        : program_(program), nest_(group.nest), names_(namesIn(program, group)),
          borders_(borderTexts(program, group)) {
        const auto call = [&](const std::vector<int> &dims, const char *one, char many) {
            for (std::size_t i = 0; i < dims.size(); ++i)
                loopNames_[dims[i]] = dims.size() == 1 ? one : fmt::format("{}{}", many, i);
        };
        if (group.group->product >= 0) {
            call(nest_.sides[0], "batch", 'b');
            call(nest_.sides[1], "row", 'm');
            call(nest_.sides[2], "column", 'n');
            return;
        }
        call(nest_.rowDims(), "row", 'k');
        call(nest_.elementDims(), "i", 'r');
        call(nest_.across, "x", 'a'); // of tiles
        call(nest_.along, "y", 'b');
    }

    /// What places of loads and stores are called since this was last asked: "p0 = (r0 + 1) / 2".
    std::vector<std::string> newDefinitions() { return std::exchange(definitions_, {}); }

    /// "arange_1 = r1": which loop a range of the task's own is; empty of other values.
    std::string ofRange(int id) const {
        const Value &value = program_.values[id];
        const int range = value.op == "cast" ? value.args[0] : id; // in numbers of another type
        if (value.name.empty() || program_.values[range].kind != Kind::index)
            return {};
        return fmt::format("{} = {}", names_.at(id), ofIndex(range, false));
    }

    std::string ofLoad(int id) {
        const Value &load = program_.values[id];
        const BufferInfo &buffer = program_.buffers[load.buffer];
        const bool cut = !load.extents.empty();
        Places places(cut ? load.extents : buffer.shape);
        for (std::size_t d = 0; d < load.dims.size() && !places.dims.empty(); ++d) {
            const LoadDim &walked = load.dims[d];
            const bool own = load.strides.empty();
            Places::Dimension &dim = own ? places.dims[d] : places.dimensionOf(load.strides[d]);
            const std::int64_t scale = own ? 1 : load.strides[d] / dim.inner;
            walk(dim, walked.axes, walked.step * scale);
            dim.first += walked.offset * scale;
            if (walked.pick >= 0) {
                dim.pick = load.args[static_cast<std::size_t>(walked.pick)];
                dim.times = walked.step * scale;
            }
        }
        std::string text = textOf(places, nest_.accesses.at(id), buffer.name, cut);
        if (const auto &name = names_.at(id); name != buffer.name)
            text = fmt::format("{} = {}", name, text);
        if (load.bordered())
            text +=
                fmt::format(" where {}, else {}", of(load.args.end()[-2]), of(load.args.back()));
        return text;
    }

    /// "in0[batch, row, k]", of what a product reads of one side: `line` is "row" or "column".
    std::string ofOperand(const Product &product, const ProductOperand &operand,
                          const std::string &line) const {
        auto places = operand.alongK ? std::vector<std::string>{line, "k"}
                                     : std::vector<std::string>{"k", line};
        if (product.batch > 1 && operand.batchStride != 0)
            places.insert(places.begin(), operand.repeats > 0
                                              ? fmt::format("batch % {}", operand.repeats)
                                              : "batch");
        return fmt::format("{}{}[{}]", operand.windows ? "windows of " : "",
                           program_.buffers[operand.buffer].name, fmt::join(places, ", "));
    }

    std::string ofStore(const Store &store, const Access &access) {
        const BufferInfo &buffer = program_.buffers[store.buffer];
        const bool flat = store.dims.size() == 1 && buffer.shape.size() != 1;
        Places places(flat ? Shape{program_.axes.size(store.dims[0])} : buffer.shape);
        for (std::size_t d = 0; d < store.dims.size(); ++d) {
            Places::Dimension &dim = places.dims[d];
            dim.first = store.offsets.empty() ? 0 : store.offsets[d];
            if (store.adds() && store.picks[d] >= 0)
                dim.pick =
                    program_.values[store.value].args[static_cast<std::size_t>(store.picks[d])];
            else
                walk(dim, store.dims[d], 1);
        }
        return textOf(places, access, buffer.name, flat);
    }

  private:
    /// The text of a value; in parentheses where it is a sum or the like within a product.
    /// Positions whose formula is long have a name, as several accesses have them.
    std::string of(int id, bool inside = false) {
        if (const auto known = positions_.find(id); known != positions_.end())
            return known->second;
        auto text = formulaOf(id, inside);
        const Value &value = program_.values[id];
        if (value.kind != Kind::pointwise || !value.name.empty() || isFloating(value.dtype) ||
            value.dtype == DType::boolean || text.size() <= longestFormula)
            return text;
        const auto name = fmt::format("p{}", positions_.size());
        positions_[id] = name;
        definitions_.push_back(fmt::format("{} = {}", name, formulaOf(id, false)));
        return name;
    }

    std::string formulaOf(int id, bool inside) {
        const Value &value = program_.values[id];
        if (value.kind == Kind::constant)
            return value.dtype == DType::float64 || !isFloating(value.dtype)
                       ? fmt::format("{}", value.number)
                       : fmt::format("{}", static_cast<float>(value.number));
        if (value.kind == Kind::index)
            return ofIndex(id, inside);
        if (const auto name = names_.find(id); name != names_.end())
            return name->second;
        if (value.kind != Kind::pointwise)
            return value.op;
        if (value.op == "cast")
            return of(value.args[0], inside);
        if (const int within = clampedBy(value); within >= 0)
            return fmt::format("clamp({}, {}, {})", of(within),
                               of(program_.values[value.args[0]].args[1]), of(value.args[1]));
        static const std::map<std::string, const char *> signs{
            {"add", "+"}, {"sub", "-"}, {"mul", "*"}, {"idiv", "/"}, {"imod", "%"}, {"and", "and"},
            {"ge", ">="}, {"gt", ">"},  {"le", "<="}, {"lt", "<"},   {"eq", "=="},  {"ne", "!="}};
        const auto sign = signs.find(value.op);
        if (sign == signs.end() || value.args.size() != 2) {
            std::vector<std::string> arguments;
            for (const int arg : value.args)
                arguments.push_back(of(arg));
            return fmt::format("{}({})", value.op, fmt::join(arguments, ", "));
        }
        const bool joins = value.op == "and";
        const auto bound =
            value.op == "lt" || value.op == "ge" ? boundOf(program_, value) : std::nullopt;
        const auto border = bound ? borders_.find(*bound) : borders_.end();
        const bool sum = value.op == "add" || value.op == "sub"; // products bind closer
        const auto part = [&](int arg) {
            const Value &one = program_.values[arg];
            return of(arg, !joins && !(sum && one.kind == Kind::pointwise && one.op == "mul"));
        };
        std::string right = border == borders_.end() ? part(value.args[1]) : border->second;
        const bool less = value.op == "add" && right.starts_with('-');
        if (less)
            right.erase(0, 1);
        const auto text =
            fmt::format("{} {} {}", part(value.args[0]), less ? "-" : sign->second, right);
        return inside ? fmt::format("({})", text) : text;
    }

    /// The value that `value` keeps between two constants; -1 where it is none such.
    int clampedBy(const Value &value) const {
        if (value.op != "iminimum" || value.args.size() != 2)
            return -1;
        const Value &least = program_.values[value.args[0]];
        const bool both = least.kind == Kind::pointwise && least.op == "imaximum" &&
                          program_.values[least.args[1]].kind == Kind::constant &&
                          program_.values[value.args[1]].kind == Kind::constant;
        return both ? least.args[0] : -1;
    }

    std::string ofIndex(int id, bool inside) const {
        const auto access = nest_.accesses.find(id);
        if (access == nest_.accesses.end())
            return "place";
        std::vector<std::string> terms;
        for (std::size_t d = 0; d < access->second.strides.size(); ++d) {
            const std::int64_t stride = access->second.strides[d];
            if (stride != 0)
                terms.push_back(
                    stride == 1
                        ? loopNames_.at(static_cast<int>(d))
                        : fmt::format("{} * {}", loopNames_.at(static_cast<int>(d)), stride));
        }
        if (access->second.base != 0 || terms.empty())
            terms.push_back(fmt::format("{}", access->second.base));
        const auto text = fmt::format("{}", fmt::join(terms, " + "));
        return inside && terms.size() > 1 ? fmt::format("({})", text) : text;
    }

    /// Adds what the loops over `axes` do along a dimension, each place of them `step` places.
    void walk(Places::Dimension &dim, const Axes &axes, std::int64_t step) const {
        const Axes atoms = program_.axes.atoms(axes);
        for (std::size_t i = atoms.size(); i-- > 0;) {
            for (std::size_t d = 0; d < nest_.dims.size(); ++d) {
                const Axes &loop = nest_.dims[d].axes;
                if (loop.back() == atoms[i])
                    dim.steps[static_cast<int>(d)] += step;
                else if (std::ranges::find(loop, atoms[i]) != loop.end())
                    dim.outer.insert(static_cast<int>(d));
            }
            step *= program_.axes.size(atoms[i]);
        }
    }

    /// Whether a loop goes on from `before` into `dim`.
    bool goesOn(const Places::Dimension &before, const Places::Dimension &dim) const {
        const auto continues = [&](int loop) {
            return !before.steps.contains(loop) &&
                   (dim.steps.contains(loop) || dim.outer.contains(loop));
        };
        const auto leaves = [&](const auto &entry) { // windows know only where they are in memory
            return nest_.dims[entry.first].size * std::abs(entry.second) > dim.size;
        };
        return std::ranges::any_of(before.outer, continues) ||
               (before.steps.empty() && before.outer.empty() && before.size > 1 &&
                before.pick < 0 && dim.outer.empty() && std::ranges::any_of(dim.steps, leaves));
    }

    /// "in0[k0, _, r0 * 2 - 1]"; the name alone where it cannot be said so.
    std::string textOf(const Places &places, const Access &access, const std::string &name,
                       bool cut) {
        if (!places.are(access))
            return name;
        std::vector<std::string> coordinates, sizes;
        for (std::size_t d = 0; d < places.dims.size();) {
            std::size_t last = d; // of those that are walked together
            for (std::size_t k = d + 1; k < places.dims.size(); ++k) {
                if (goesOn(places.dims[last], places.dims[k]))
                    last = k;
                else if (places.dims[k].size > 1)
                    break;
            }
            coordinates.push_back(placeText(places, d, last));
            coordinates.insert(coordinates.end(), last - d, "_");
            d = last + 1;
        }
        for (const Places::Dimension &dim : places.dims)
            sizes.push_back(fmt::to_string(dim.size));
        return fmt::format("{}{}[{}]", name,
                           cut ? fmt::format(" [{}]", fmt::join(sizes, ", ")) : "",
                           fmt::join(coordinates, ", "));
    }

    /// Of dimensions `d` to `last`, which are walked as one.
    std::string placeText(const Places &places, std::size_t d, std::size_t last) {
        const std::int64_t inner = places.dims[last].inner;
        std::map<int, std::int64_t> steps;
        for (std::size_t k = d; k <= last; ++k)
            for (const auto &[loop, step] : places.dims[k].steps)
                steps[loop] += step * (places.dims[k].inner / inner);
        std::string text;
        const auto add = [&](std::int64_t number, const std::string &what) {
            const std::string_view sign = number < 0 ? "-" : "+";
            text += text.empty() ? (number < 0 ? "-" : "") : fmt::format(" {} ", sign);
            text += what;
        };
        const auto times = [](std::int64_t number, const std::string &what) {
            return std::abs(number) == 1 ? what : fmt::format("{} * {}", what, std::abs(number));
        };
        const Places::Dimension &only = places.dims[d];
        if (only.pick >= 0)
            add(only.times, times(only.times, of(only.pick, only.times != 1)));
        const auto addLoops = [&](bool forwards) {
            for (const bool element : {false, true})
                for (const auto &[loop, step] : steps)
                    if (nest_.dims[loop].element == element && (step > 0) == forwards)
                        add(step, times(step, loopNames_.at(loop)));
        };
        addLoops(true);
        std::vector<std::int64_t> sizes; // of what begins at its end
        bool ends = true;
        for (std::size_t k = d; k <= last; ++k) {
            ends = ends && places.dims[k].first == places.dims[k].size - 1;
            if (places.dims[k].size > 1)
                sizes.push_back(places.dims[k].size);
        }
        if (ends && sizes.size() > 1)
            add(1, fmt::format("{} - 1", fmt::join(sizes, " * ")));
        else
            for (std::size_t k = d; k <= last; ++k)
                if (const std::int64_t first = places.dims[k].first; first != 0)
                    add(first, firstText(places, k, last, steps));
        if (text.empty() && std::ranges::none_of(steps, [](auto &step) { return step.second < 0; }))
            text = "0";
        addLoops(false);
        return text;
    }

    /// Of the place where all loops begin along dimension `k` of some that end with `last` and are
    /// walked as one, by `steps`, without its sign: "3 * 64" places of the last one.
    std::string firstText(const Places &places, std::size_t k, std::size_t last,
                          const std::map<int, std::int64_t> &steps) const {
        const Places::Dimension &dim = places.dims[k];
        const std::int64_t first = std::abs(dim.first);
        std::vector<std::string> factors;
        if (first != 1 || k == last)
            factors.push_back(fmt::to_string(first));
        std::int64_t count = 1, inner = 1; // places that are walked, of the last dimension
        for (std::size_t behind = k + 1; behind <= last; ++behind) {
            const std::int64_t size = places.dims[behind].size;
            inner *= size;
            if (size != 1)
                factors.push_back(fmt::to_string(size));
        }
        for (const auto &[loop, step] : steps)
            count += std::max<std::int64_t>(step, 0) * (nest_.dims[loop].size - 1);
        // A part that reaches the dimension's end begins so much before it.
        if (dim.first > 0 && beginsBeforeEnd(first, count / inner, dim.size)) {
            const auto begin = fmt::format("{} - {}", dim.size, dim.size - first);
            if (factors.size() == 1)
                return begin;
            factors[0] = "(" + begin + ")";
        }
        // One that lies behind others begins where the last of these ends.
        if (const auto border = borders_.find(first);
            factors.size() == 1 && border != borders_.end())
            return border->second;
        return factors.empty() ? "1" : fmt::format("{}", fmt::join(factors, " * "));
    }

    const Program &program_;
    const Nest &nest_;
    std::map<int, std::string> names_; ///< of values
    std::map<std::int64_t, std::string> borders_;
    std::map<int, std::string> loopNames_;
    std::map<int, std::string> positions_; ///< names of values that are positions
    std::vector<std::string> definitions_; ///< of those, not asked for yet
};

} // namespace

bool beginsBeforeEnd(std::int64_t first, std::int64_t count, std::int64_t size) {
    constexpr std::int64_t few = 4;
    return first >= leastSpelled && first < size && (first + count == size || size - first <= few);
}

std::map<std::int64_t, std::string> borderTexts(const Program &program,
                                                const ScheduledGroup &group) {
    std::map<std::int64_t, std::string> texts;
    if (group.group->product >= 0)
        return texts;
    for (const int id : inOrderFrom(program, group.group->roots())) {
        if (program.values[id].op != "and")
            continue;
        std::vector<int> conditions;
        addConditions(program, id, conditions);
        std::map<int, std::int64_t> begins; // by what is compared
        for (const int condition : conditions) {
            const Value &value = program.values[condition];
            if (const auto bound = boundOf(program, value); bound && value.op == "ge")
                begins.try_emplace(value.args[0], *bound);
        }
        for (const int condition : conditions) {
            const Value &value = program.values[condition];
            const auto end = value.op == "lt" ? boundOf(program, value) : std::nullopt;
            const auto begin = begins.find(value.args[0]);
            if (end && *end >= leastSpelled && begin != begins.end() && begin->second > 0 &&
                begin->second < *end)
                texts.try_emplace(*end,
                                  fmt::format("({} + {})", *end - begin->second, begin->second));
        }
    }
    return texts;
}

std::string describePositions(const Program &program, const ScheduledGroup &group) {
    if (group.group->scores >= 0)
        return {};
    PositionText positions(program, group);
    std::vector<std::string> lines;
    const auto add = [&](std::string line) {
        constexpr std::size_t most = 240; // who cannot say it shorter does not help to copy it
        for (auto &definition : positions.newDefinitions())
            lines.push_back(std::move(definition));
        if (line.size() <= most && std::ranges::find(lines, line) == lines.end())
            lines.push_back(std::move(line));
    };
    int product = -1;
    if (group.group->product >= 0) {
        const Product &p = *program.library[group.group->product].product;
        product = productValue(program, *group.group, group.group->product);
        add(positions.ofOperand(p, p.a, "row"));
        add(positions.ofOperand(p, p.b, "column"));
    }
    for (const int id : valuesAsTold(program, group)) {
        if (auto range = positions.ofRange(id); !range.empty())
            add(std::move(range));
        if (id != product && program.values[id].kind == Kind::load &&
            group.nest.accesses.contains(id))
            add(positions.ofLoad(id));
    }
    for (std::size_t i = 0; i < group.group->stores.size() && i < group.nest.stores.size(); ++i)
        add(positions.ofStore(group.group->stores[i], group.nest.stores[i]));
    return fmt::format("{}", fmt::join(lines, "; "));
}

} // namespace cuda_agent::policy
