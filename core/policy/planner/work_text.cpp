// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/group_text.h"
#include "core/policy/planner/products.h"
#include "core/policy/planner/reducers.h"

#include <algorithm>
#include <ranges>

namespace cuda_agent::policy {

namespace {

/// Of an operator that are told; the names of more say nothing.
constexpr std::size_t mostParts = 12;

std::string shapeText(const BufferInfo &buffer) {
    return fmt::format("{} [{}]", buffer.name, fmt::join(buffer.shape, ", "));
}

/// Values and what the row, or a walk along it, has of one of them in the end, or what is written.
struct Step {
    std::vector<int> values; ///< in the order of the task's operators
    int result = -1;         ///< -1: the last of them is written, or is what others are made of
    int input = -1;
    std::string what, where; ///< "sum", "over the row"
    int store = -1;          ///< where one of several values is written, its number in the group
};

/// What a kernel computes on one way along its rows, or behind the last one, in its order.
using Sweep = std::vector<Step>;

/// What is written, store by store: that of rows first.
Sweep written(const Program &program, const ScheduledGroup &scheduled, const std::set<int> &ends) {
    const auto &stores = scheduled.group->stores;
    RowValues rowValues(program, scheduled.nest);
    Sweep sweep;
    for (const bool ofRows : {true, false})
        for (std::size_t i = 0; i < stores.size(); ++i)
            if (rowValues.contains(stores[i].value) == ofRows)
                sweep.push_back({inOrder(program, reachableFrom(program, {stores[i].value}, ends)),
                                 -1,
                                 -1,
                                 {},
                                 {},
                                 stores.size() > 1 ? static_cast<int>(i) : -1});
    return sweep;
}

std::vector<Sweep> sweepsOf(const Program &program, const ScheduledGroup &scheduled) {
    const Group &group = *scheduled.group;
    std::set<int> ends(group.reduces.begin(), group.reduces.end());
    ends.insert(group.scans.begin(), group.scans.end());
    ends.insert(group.orders.begin(), group.orders.end());
    for (const int number : {group.product, group.scores})
        ends.insert(productValue(program, group, number));
    const auto valuesOf = [&](const std::vector<int> &roots) {
        return inOrder(program, reachableFrom(program, roots, ends));
    };
    std::vector<Sweep> sweeps;
    for (const Pass &pass : makePasses(program, group)) {
        Sweep sweep;
        for (const Reducer &reducer : pass.reducers) {
            const auto what = reducer.kind == Reducer::Kind::moments ? "mean and squares"
                              : reducer.kind == Reducer::Kind::maxAndSumOfExp
                                  ? "max and sum of exp"
                                  : program.values[reducer.value].op;
            sweep.push_back({valuesOf({reducer.input}), reducer.value, reducer.input, what,
                             "over the row", -1});
        }
        sweeps.push_back(std::move(sweep));
    }
    Sweep walks;
    const auto walk = [&](int id, const char *where) {
        const Value &value = program.values[id];
        walks.push_back({valuesOf({value.args[0]}), id, value.args[0], value.op, where, -1});
    };
    for (const int id : group.scans)
        walk(id, "along the row");
    for (const int id : group.orders)
        walk(id, program.values[id].backwards ? "largest first" : "smallest first");
    if (!walks.empty())
        sweeps.push_back(std::move(walks));
    if (group.logits >= 0)
        sweeps.push_back({{valuesOf({group.logits}), -1, -1, {}, {}, -1}});
    sweeps.push_back(written(program, scheduled, ends));
    return sweeps;
}

/// As valuesAsTold(), of a group with these sweeps whose values are all `values`.
std::vector<int> asTold(const Program &program, const std::vector<Sweep> &sweeps,
                        const std::vector<int> &values) {
    std::vector<int> order;
    std::set<int> known;
    const auto tell = [&](int id) {
        if (known.insert(id).second)
            order.push_back(id);
    };
    const auto tellSources = [&](auto &&self, int id) -> void {
        for (const int arg : program.values[id].args) {
            tell(arg);
            if (const Value &value = program.values[arg];
                value.kind == Kind::pointwise && value.name.empty())
                self(self, arg); // a part of an operator, told by what it is computed from
        }
    };
    for (const Sweep &sweep : sweeps | std::views::reverse)
        for (const Step &step : sweep | std::views::reverse) {
            if (step.result >= 0) {
                tell(step.result);
                tell(step.input);
            }
            for (const int id : step.values | std::views::reverse) {
                tell(id);
                tellSources(tellSources, id);
            }
        }
    std::ranges::for_each(values, tell);
    return order;
}

/// As namesIn(), of a group whose values are all `values`, as they are told.
std::map<int, std::string> namesOf(const Program &program, const std::vector<int> &values) {
    std::map<int, int> loads; // by buffer, those without a name
    std::map<int, std::string> names;
    for (const int id : values)
        if (const Value &value = program.values[id]; value.kind == Kind::load && value.name.empty())
            ++loads[value.buffer];
    for (const int id : values)
        if (const Value &value = program.values[id]; !value.name.empty())
            names[id] = value.name; // also of what is no name of a kernel's
    for (const auto &[id, number] : numbersOf(program, values)) {
        const Value &value = program.values[id];
        if (value.name.empty())
            names[id] = loads[value.buffer] == 1
                            ? program.buffers[value.buffer].name
                            : numberedName(program.buffers[value.buffer].name + "_x", number);
        else
            names[id] = numberedName(value.name, number);
    }
    return names;
}

/// What a group computes, in words.
class WorkText {
  public:
    WorkText(const Program &program, const ScheduledGroup &scheduled)
        : program_(program), group_(*scheduled.group), sweeps_(sweepsOf(program, scheduled)),
          told_(asTold(program, sweeps_, inOrderFrom(program, group_.roots()))),
          names_(namesOf(program, told_)), rowValues_(program, scheduled.nest),
          rows_(group_.product < 0 && !scheduled.nest.elementDims().empty()) {}

    std::string text() {
        std::vector<std::string> writes;
        for (const Store &store : group_.stores) {
            const BufferInfo &buffer = program_.buffers[store.buffer];
            const auto what = stored(store.value);
            writes.push_back(shapeText(buffer) + (what == buffer.name ? "" : " = " + what));
        }
        std::vector<std::string> parts{fmt::format("writes {}", fmt::join(writes, ", "))};
        std::vector<std::vector<std::string>> ops;
        for (const Sweep &sweep : sweeps_) // an operator is told of the first that computes it
            ops.push_back(operatorsOf(sweep));
        for (std::size_t i = sweeps_.size(); i-- > 0;) {
            std::ranges::reverse(ops[i]);
            if (!ops[i].empty())
                parts.push_back(fmt::format("{}", fmt::join(ops[i], ", ")));
            if (const auto reads = readsOf(sweeps_[i], i == 0); !reads.empty())
                parts.push_back(fmt::format("reads {}", fmt::join(reads, ", ")));
        }
        if (auto product = ownProduct(); !product.empty())
            parts.push_back(std::move(product));
        return fmt::format("{}", fmt::join(parts, "; "));
    }

    /// What is the same for a whole row: what is read, then what is computed, in the kernel's
    /// order.
    std::string rowValues() {
        std::vector<std::string> names;
        std::set<int> known;
        if (group_.product >= 0 || !rows_)
            return {};
        for (const int id : told_)
            if (program_.values[id].kind == Kind::load && rowValues_.contains(id))
                names.push_back(names_.at(id));
        for (const Sweep &sweep : sweeps_)
            for (const Step &step : sweep)
                for (const int id : step.values)
                    if (const auto text = operatorText(id);
                        !text.empty() && known.insert(id).second && rowValues_.contains(id))
                        names.push_back(text);
        return fmt::format("{}", fmt::join(names, ", "));
    }

  private:
    /// What the kernel knows a value by: an operator of the task, a result of a row, what is read,
    /// a number. Empty of parts of an operator.
    std::string knownAs(int id) const {
        const Value &value = program_.values[id];
        if (isItsArgument(program_, value))
            return knownAs(value.args[0]);
        if (const auto name = names_.find(id); name != names_.end())
            return name->second;
        switch (value.kind) {
        case Kind::constant: // as kernels have it
            return isFloating(value.dtype) && value.dtype != DType::float64
                       ? fmt::format("{}", static_cast<float>(value.number))
                       : fmt::format("{}", value.number);
        case Kind::pointwise:
        case Kind::index:
            return {};
        default:
            return value.op;
        }
    }

    /// Adds what a part of an operator is computed from, without its numbers.
    void addSources(int id, std::vector<std::string> &sources) const {
        const Value &value = program_.values[id];
        if (value.kind == Kind::constant)
            return;
        auto text = knownAs(id);
        if (text.empty())
            for (const int arg : value.args)
                addSources(arg, sources);
        else if (std::ranges::find(sources, text) == sources.end())
            sources.push_back(std::move(text));
    }

    /// "(in0, exp2)", "(neg, 0.5)": what an operator of the task is computed from; empty of a part
    /// of one, and of nothing.
    std::string sourcesText(const Value &value) const {
        if (value.name.empty())
            return {};
        std::vector<std::string> sources;
        for (const int arg : value.args) {
            if (auto text = knownAs(arg); !text.empty())
                sources.push_back(std::move(text));
            else
                addSources(arg, sources);
        }
        return sources.empty() ? "" : fmt::format("({})", fmt::join(sources, ", "));
    }

    /// Of an operator of the task or a part of one; empty of what is none, and of what positions
    /// and borders are computed by, which describePositions() tells. A cast is one where a kernel
    /// has it in another type than what it casts, "_to_copy(mul)" of an index, and is no loop's.
    std::string operatorText(int id) const {
        const Value &value = program_.values[id];
        if (value.kind != Kind::pointwise || (value.name.empty() && !isFloating(value.dtype)) ||
            (value.op == "cast" && (value.name.empty() || isItsArgument(program_, value) ||
                                    program_.values[value.args[0]].kind == Kind::index)))
            return {};
        return value.name.empty() ? value.op : knownAs(id);
    }

    /// "sum_1 = sum of mul_1 over the row", of a part of an operator "sum of abs(in0) ...".
    std::string resultText(const Step &step) const {
        auto of = knownAs(step.input);
        if (of.empty()) {
            std::vector<std::string> sources;
            addSources(step.input, sources);
            of = fmt::format("{}({})", program_.values[step.input].op, fmt::join(sources, ", "));
        }
        const bool named = !program_.values[step.result].name.empty();
        return fmt::format("{}{} of {} {}", named ? knownAs(step.result) + " = " : "", step.what,
                           of, step.where);
    }

    /// Of the product that a group computes itself; empty where there is none.
    std::string ownProduct() const {
        if (productValue(program_, group_, group_.product) < 0)
            return {};
        const Product &p = *program_.library[group_.product].product;
        std::vector<std::string> factors;
        for (const int buffer : operandsOf(program_, group_))
            factors.push_back(program_.buffers[buffer].name);
        return fmt::format("{} [{}{}, {}] over {} of k",
                           productValue(program_, group_, group_.scores) >= 0
                               ? "softmax of a product, times a third,"
                               : fmt::format("product of {}", fmt::join(factors, " and ")),
                           p.batch > 1 ? fmt::format("{}, ", p.batch) : "", p.m, p.n, p.k);
    }

    /// What a store writes: "softmax", "in0" of a copy, "sum" of a result over the row.
    std::string stored(int id) const {
        const Value &value = program_.values[id];
        if (value.name.empty() && (value.op == "cast" || value.op == "place"))
            return stored(value.args[0]);
        const auto text = value.name.empty() ? knownAs(id) : names_.at(id);
        return text.empty() ? value.op : text;
    }

    std::string storeText(const Store &store) const {
        return fmt::format("{} = {}", program_.buffers[store.buffer].name, stored(store.value));
    }

    /// What a sweep computes, in its order.
    std::vector<std::string> operatorsOf(const Sweep &sweep) {
        std::vector<std::string> ops;
        std::size_t stores = 0;
        std::size_t end = 0; // of the last one that is no part of another
        for (const Step &step : sweep) {
            for (const int id : step.values) {
                const auto text = operatorText(id);
                if (text.empty() || !named_.insert(id).second)
                    continue;
                const bool part = program_.values[id].name.empty();
                if (!part && ops.size() - end > mostParts)
                    ops.resize(end);
                ops.push_back(text + sourcesText(program_.values[id]));
                end = part ? end : ops.size();
            }
            if (step.result >= 0)
                ops.push_back(resultText(step));
            if (step.store >= 0) {
                ops.push_back(storeText(group_.stores[step.store]));
                ++stores;
            }
            end = ops.size();
        }
        if (ops.size() == stores) // nothing is computed between them
            ops.clear();
        return ops;
    }

    /// What a sweep reads, each buffer once, in the order in which kernels have them as parameters;
    /// the first one of a group also what its product is of.
    std::vector<std::string> readsOf(const Sweep &sweep, bool first) {
        std::vector<std::string> reads;
        if (first)
            for (const int buffer : operandsOf(program_, group_))
                reads.push_back(read(buffer));
        std::set<int> buffers;
        for (const Step &step : sweep)
            for (const int id : step.values)
                if (const Value &value = program_.values[id]; value.kind == Kind::load)
                    buffers.insert(value.buffer);
        for (const int id : told_)
            if (const int buffer = program_.values[id].buffer; buffers.erase(buffer) > 0)
                reads.push_back(read(buffer));
        return reads;
    }

    /// With its shape the first time.
    std::string read(int buffer) {
        const BufferInfo &info = program_.buffers[buffer];
        return shown_.insert(buffer).second ? shapeText(info) : info.name;
    }

    const Program &program_;
    const Group &group_;
    std::vector<Sweep> sweeps_;
    std::vector<int> told_; ///< all values, as valuesAsTold()
    std::map<int, std::string> names_;
    RowValues rowValues_;
    bool rows_ = false;   ///< there are rows of several elements
    std::set<int> shown_; ///< buffers
    std::set<int> named_; ///< values of which operators were told
};

} // namespace

std::vector<int> valuesAsTold(const Program &program, const ScheduledGroup &group) {
    return asTold(program, sweepsOf(program, group), inOrderFrom(program, group.group->roots()));
}

std::string numberedName(const std::string &base, int number) {
    return number == 1 ? base
                       : fmt::format("{}{}{}", base, base.ends_with("_x") ? "" : "_x", number);
}

std::map<int, int> numbersOf(const Program &program, const std::vector<int> &told) {
    std::map<std::string, int> count;
    std::map<int, int> numbers;
    for (const int id : told) {
        const Value &value = program.values[id];
        const bool unnamed = value.name.empty();
        if ((!unnamed || value.kind == Kind::load) && !isItsArgument(program, value))
            numbers[id] = ++count[unnamed ? program.buffers[value.buffer].name + "_x" : value.name];
    }
    return numbers;
}

std::map<int, std::string> namesIn(const Program &program, const ScheduledGroup &group) {
    return namesOf(program, valuesAsTold(program, group));
}

std::string describeGroup(const Program &program, const ScheduledGroup &scheduled) {
    return WorkText(program, scheduled).text();
}

std::string describeRowValues(const Program &program, const ScheduledGroup &scheduled) {
    return WorkText(program, scheduled).rowValues();
}

} // namespace cuda_agent::policy
