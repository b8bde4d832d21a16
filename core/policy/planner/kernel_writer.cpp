// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/kernel_writer.h"

#include "core/base/names.h"
#include "core/policy/planner/group_text.h"
#include "core/policy/planner/pointwise_table.h"
#include "core/policy/planner/runs.h"

#include <cstdlib>

namespace cuda_agent::policy {

KernelWriter::KernelWriter(const Program &program, const Group &group, const Nest &nest,
                           const Schedule &schedule, std::string name)
    : p_(program), g_(group), n_(nest), s_(schedule), name_(std::move(name)),
      passes_(makePasses(program, group)), elementDims_(nest.elementDims()),
      rowDims_(nest.rowDims()), coordinates_(nest.dims.size()), rowValues_(program, nest) {
    for (const int id : reachableFrom(program, group.roots()))
        double_ = double_ || program.values[id].dtype == DType::float64;
    // Positions within a row fit 32 bits unless rows are huge.
    std::int64_t reach = nest.elements();
    for (const auto &[id, access] : nest.accesses) {
        std::int64_t span = 1;
        for (const int d : elementDims_)
            span += std::abs(access.strides[d]) * (nest.dims[d].size - 1);
        reach = std::max(reach, span);
    }
    for (const Access &access : nest.stores) {
        std::int64_t span = 1;
        for (const int d : elementDims_)
            span += std::abs(access.strides[d]) * (nest.dims[d].size - 1);
        reach = std::max(reach, span);
    }
    const bool open = nest.openLength();
    // An open length gets room to grow; the unrolled tail may step past the end.
    indexType_ = reach < (open ? (1ll << 28) : (1ll << 31) - (1ll << 24)) ? "int" : "long long";
}

KernelSource KernelWriter::write() {
    for (std::size_t i = 0; i < passes_.size(); ++i) {
        const bool warps = s_.form == Schedule::Form::row;
        out_.states[stateType(i)] =
            stateText(p_, passes_[i], indexType_ == "int", exactSums(), warps);
        for (const Reducer &reducer : passes_[i].reducers) {
            if (reducer.kind == Reducer::Kind::position)
                out_.helpers.insert(reducer.op == "argmax" ? "isAbove" : "isBelow");
        }
    }
    for (const Store &store : g_.stores) {
        if (store.adds())
            out_.zeroed.push_back(p_.buffers[store.buffer].name);
    }
    writeForm();
    return std::move(out_);
}

// --- parameters ------------------------------------------------------------------------------

void KernelWriter::beginKernel(const std::string &suffix, int threads, int blocks) {
    entry_ = name_ + suffix;
    threads_ = threads;
    blocks_ = blocks;
    body_.clear();
    parameters_.clear();
    parameterNames_.clear();
    arguments_ = Json::array();
    scopes_.clear();
    pointers_.clear();
    names_.clear();
    temporaries_ = 0;
    coordinates_.assign(n_.dims.size(), "");
    depth_ = 1;
    push();
}

void KernelWriter::endKernel(Launch launch) {
    std::string text = fmt::format(
        "extern \"C\" __global__ void __launch_bounds__({}) {}(\n    ",
        blocks_ > 0 ? fmt::format("{}, {}", threads_, blocks_) : std::to_string(threads_), entry_);
    text += fmt::format("{}", fmt::join(parameters_, ",\n    "));
    text += ") {\n" + body_ + "}\n\n";
    out_.text += text;
    launch.entry = entry_;
    launch.arguments = arguments_;
    out_.launches.push_back(std::move(launch));
    depth_ = 0;
}

void KernelWriter::bufferParameter(int buffer) {
    const BufferInfo &info = p_.buffers[buffer];
    if (!parameterNames_.insert(info.name).second)
        return;
    bool written = false;
    for (const Store &store : g_.stores)
        written = written || store.buffer == buffer;
    parameters_.push_back(fmt::format("{}{} *__restrict__ {}", written ? "" : "const ",
                                      storageType(info.dtype), info.name));
    arguments_.push_back({{"buffer", info.name}});
}

void KernelWriter::scratchParameter(const std::string &type, const std::string &name) {
    if (!parameterNames_.insert(name).second)
        return;
    parameters_.push_back(fmt::format("{} *{}", type, name));
    arguments_.push_back({{"buffer", name}});
}

std::string KernelWriter::sizeParameter(const std::string &expression, const std::string &name) {
    if (parameterNames_.insert(name).second) {
        parameters_.push_back("long long " + name);
        arguments_.push_back({{"int64", expression}});
    }
    return name;
}

// --- values ----------------------------------------------------------------------------------

std::string KernelWriter::sumOf(const std::vector<std::pair<std::string, std::int64_t>> &terms) {
    std::string text;
    for (const auto &[name, stride] : terms) {
        if (stride == 0 || name.empty())
            continue;
        text += (text.empty() ? "" : " + ") + name;
        if (stride != 1)
            text += fmt::format(" * {}", stride);
    }
    return text.empty() ? "0" : text;
}

std::string KernelWriter::pointer(const Access &access, int buffer, const std::string &row) {
    std::vector<std::pair<std::string, std::int64_t>> terms;
    for (const int d : rowDims_)
        terms.emplace_back(coordinates_[d], access.strides[d]);
    std::string offset = sumOf(terms);
    if (access.base != 0)
        offset = offset == "0" ? std::to_string(access.base)
                               : fmt::format("{} + {}", offset, access.base);
    const std::string base = p_.buffers[buffer].name;
    if (offset == "0")
        return base;
    const std::string expression = base + " + " + offset;
    for (const auto &scope : pointers_) {
        if (const auto known = scope.find(expression); known != scope.end())
            return known->second;
    }
    const std::string wanted = (row.empty() ? base : row) + "_row";
    std::string name = wanted;
    for (int i = 2; parameterNames_.contains(name); ++i)
        name = fmt::format("{}{}", wanted, i);
    parameterNames_.insert(name);
    bool written = false;
    for (const Store &store : g_.stores)
        written = written || store.buffer == buffer;
    line(fmt::format("{}{} *{} = {};", written ? "" : "const ",
                     storageType(p_.buffers[buffer].dtype), name, expression));
    return pointers_.back()[expression] = name;
}

const std::vector<int> &KernelWriter::told() {
    if (told_.empty())
        told_ = valuesAsTold(p_, {&g_, n_, name_});
    return told_;
}

std::vector<int> KernelWriter::loadsFor(const std::vector<int> &roots) {
    const auto reached = reachableFrom(p_, roots);
    const std::set<int> needed(reached.begin(), reached.end());
    std::vector<int> loads;
    for (const int id : told())
        if (p_.values[id].kind == Kind::load && needed.contains(id))
            loads.push_back(id);
    return loads;
}

void KernelWriter::bufferParameters(const std::vector<int> &roots, const std::vector<int> &stores) {
    for (const int id : loadsFor(roots))
        bufferParameter(p_.values[id].buffer);
    for (const int store : stores)
        bufferParameter(g_.stores[store].buffer);
}

void KernelWriter::rowPointers(const std::vector<int> &roots, const std::vector<int> &stores) {
    if (rowNames_.empty())
        rowNames_ = rowNamesIn(p_, {&g_, n_, name_});
    for (const int id : loadsFor(roots)) {
        bufferParameter(p_.values[id].buffer);
        pointer(n_.accesses.at(id), p_.values[id].buffer, rowNames_.at(id));
    }
    for (const int store : stores) {
        bufferParameter(g_.stores[store].buffer);
        pointer(n_.stores[store], g_.stores[store].buffer);
    }
}

void KernelWriter::rowCoordinates(const std::string &row, const std::string &type, int tiled,
                                  int each) {
    if (rowDims_.empty())
        return;
    if (rowDims_.size() == 1) {
        coordinates_[rowDims_[0]] = row;
        return;
    }
    // Division of 32 bits is several times faster; strides then still are 64 bits wide.
    const std::int64_t most = n_.runtimeOuter ? 1ll << 28 : 1ll << 31;
    const std::string divided = n_.rows() < most ? "unsigned" : type;
    std::string rest = row;
    if (divided != type)
        rest = fmt::format("({})({})", divided, row);
    for (std::size_t i = rowDims_.size(); i-- > 0;) {
        const int d = rowDims_[i];
        const std::string name = fmt::format("k{}", i);
        const std::string size = fmt::format("{}{}", n_.dims[d].size / (d == tiled ? each : 1),
                                             divided == "unsigned" ? "u" : "");
        const std::string place = i == 0 ? rest : fmt::format("{} % {}", rest, size);
        line(fmt::format("const {} {} = {};", type, name,
                         d == tiled ? fmt::format("({}) * {}", place, each) : place));
        coordinates_[d] = name;
        if (i == 0)
            break;
        if (i > 1) {
            const std::string next = fmt::format("rest{}", i);
            line(fmt::format("const {} {} = {} / {};", divided, next, rest, size));
            rest = next;
        } else {
            rest = fmt::format("{} / {}", rest, size);
        }
    }
}

std::string KernelWriter::movedBy(int position, std::int64_t stride, int buffer,
                                  const std::string &index) {
    const BufferInfo &info = p_.buffers[buffer];
    const bool large =
        p_.bytesOf(buffer) / static_cast<std::int64_t>(sizeOf(info.dtype)) >= (1ll << 31);
    const std::string name = fmt::format("({}){}", large ? "long long" : "int", valueOf(position));
    const std::string term = sumOf({{name, stride}});
    return index == "0" ? term : term == "0" ? index : index + " + " + term;
}

std::string KernelWriter::withPicks(const Value &load, const std::string &index) {
    std::string text = index;
    const auto strides = p_.stridesOf(load);
    for (std::size_t d = 0; d < load.dims.size(); ++d) {
        const LoadDim &dim = load.dims[d];
        if (dim.pick >= 0)
            text = movedBy(load.args[dim.pick], strides[d] * dim.step, load.buffer, text);
    }
    return text;
}

std::string KernelWriter::placeText(int store) {
    const Store &target = g_.stores[store];
    std::string text = elementOffset(n_.stores[store]);
    const auto strides = p_.stridesOf(target.buffer);
    for (std::size_t d = 0; d < target.picks.size(); ++d) {
        if (target.picks[d] >= 0)
            text = movedBy(p_.values[target.value].args[target.picks[d]], strides[d], target.buffer,
                           text);
    }
    return text;
}

std::string KernelWriter::loadText(int id, const std::string &index) {
    const Value &value = p_.values[id];
    std::string at =
        fmt::format("{}[{}]", pointer(n_.accesses.at(id), value.buffer), withPicks(value, index));
    if (value.dtype == DType::float16)
        at = "__half2float(" + at + ")";
    if (value.dtype == DType::bfloat16)
        at = "__bfloat162float(" + at + ")";
    if (!value.bordered())
        return at;
    const std::string inside = valueOf(value.args.end()[-2]);
    if (inside == "true")
        return at;
    const std::string otherwise = valueOf(value.args.back());
    return fmt::format("{} ? {} : {}", inside, at, otherwise);
}

std::string KernelWriter::stored(int store, const std::string &value) {
    const DType type = p_.buffers[g_.stores[store].buffer].dtype;
    const DType have = p_.values[g_.stores[store].value].dtype;
    const bool floating = isFloating(have);
    if (type == DType::float16)
        return fmt::format("__float2half_rn({}{})", floating ? "" : "(float)", value);
    if (type == DType::bfloat16)
        return fmt::format("__float2bfloat16_rn({}{})", floating ? "" : "(float)", value);
    return scalarType(type) == scalarType(have) ? value
                                                : fmt::format("({}){}", storageType(type), value);
}

bool KernelWriter::holds(int condition) const {
    const std::string *known = recall(condition);
    const Value &value = p_.values[condition];
    return known != nullptr ? *known == "true" : value.kind == Kind::constant && value.number != 0;
}

std::vector<int> KernelWriter::neededFor(int root) const {
    std::vector<int> needed;
    std::set<int> seen;
    const std::function<void(int)> visit = [&](int id) {
        if (!seen.insert(id).second || recall(id) != nullptr)
            return;
        needed.push_back(id);
        const Value &value = p_.values[id];
        std::vector<int> args = value.args;
        if (value.kind == Kind::pointwise && value.op == "where" && holds(args[0]))
            args = {args[1]};
        else if (value.kind == Kind::load && value.bordered() && holds(args.end()[-2]))
            args.resize(value.picks());
        for (const int arg : args)
            visit(arg);
    };
    visit(root);
    return inOrder(p_, needed);
}

std::string KernelWriter::valueOf(int id) {
    if (!ordering_ && recall(id) == nullptr) {
        ordering_ = true;
        for (const int needed : neededFor(id))
            evaluate(needed);
        ordering_ = false;
    }
    return evaluate(id);
}

std::string KernelWriter::evaluate(int id) {
    const Value &value = p_.values[id];
    const std::string type = scalarType(value.dtype);
    const auto named = [&](const std::string &code) {
        const std::string name = nameFor(id);
        line(fmt::format("const {} {} = {};", type, name, code));
        remember(id, name);
        return name;
    };
    if (const std::string *known = recall(id))
        return wantsName(id, *known) ? named(*known) : *known;
    std::string code;
    switch (value.kind) {
    case Kind::constant:
        return literal(value.number, value.dtype);
    case Kind::count: {
        std::int64_t fixed = 1;
        std::string open;
        for (const Axis atom : p_.axes.atoms(value.axes)) {
            if (p_.axes.constant(atom) || n_.baked.contains(atom))
                fixed *= p_.axes.size(atom);
            else
                open += (open.empty() ? "" : " * ") + p_.axes.expression(atom);
        }
        if (open.empty())
            return literal(static_cast<double>(fixed), value.dtype);
        if (fixed != 1)
            open += fmt::format(" * {}", fixed);
        return fmt::format("({}){}", type, sizeParameter(open, fmt::format("count{}", id)));
    }
    case Kind::index: {
        const Access &access = n_.accesses.at(id);
        std::vector<std::pair<std::string, std::int64_t>> terms;
        for (const int d : rowDims_)
            terms.emplace_back(coordinates_[d], access.strides[d]);
        const std::string row = sumOf(terms);
        const std::string element = elementOffset(access);
        // Loop variables are ints.
        if (type == "int" && row == "0" && value.name.empty() && isIdentifier(element))
            return element;
        code = row == "0" ? element : element == "0" ? row : row + " + " + element;
        code = fmt::format("({})({})", type, code);
        break;
    }
    case Kind::load:
        code = loadText(id, elementOffset(n_.accesses.at(id)));
        break;
    case Kind::pointwise: {
        if (value.op == "where" && valueOf(value.args[0]) == "true")
            return valueOf(value.args[1]);
        std::vector<std::string> operands;
        for (const int arg : value.args)
            operands.push_back(valueOf(arg));
        if (isItsArgument(p_, value))
            return operands[0];
        if (value.op == "cast") {
            code =
                type == "bool" ? operands[0] + " != 0" : fmt::format("({}){}", type, operands[0]);
        } else {
            if (value.op == "remainder")
                out_.helpers.insert("floorModulo");
            if (value.op == "hypot")
                out_.helpers.insert("hypotenuse");
            code = pointwiseText(value.op, operands, type == "double");
        }
        break;
    }
    case Kind::reduce:
    case Kind::scan:
    case Kind::order:
        return "/* reduction used before it is known */";
    }
    return named(code);
}

bool KernelWriter::wantsName(int id, const std::string &code) const {
    const Value &value = p_.values[id];
    return (value.kind == Kind::reduce || value.kind == Kind::scan) && !value.name.empty() &&
           code.find_first_of(".(") != code.npos;
}

bool KernelWriter::readsAskedInRuns(int load) const {
    if (s_.form == Schedule::Form::tile || !g_.scans.empty())
        return false;
    const Value &value = p_.values[load];
    if (asksOnceForARun(p_, n_, load) && !(value.bordered() && g_.hasReductions()))
        return !value.bordered() || p_.values[value.args.back()].kind == Kind::constant;
    return (s_.form == Schedule::Form::row || s_.form == Schedule::Form::column) &&
           widestRun(p_, n_, load) >= s_.vector;
}

std::vector<int> KernelWriter::elementLoads(const std::vector<int> &roots) {
    std::set<int> loads, seen;
    const std::function<void(int)> visit = [&](int id) {
        if (!seen.insert(id).second || recall(id) != nullptr || perRow(id))
            return;
        // What is read only within borders, or here and there, is read element by element.
        const Value &value = p_.values[id];
        if (value.kind == Kind::load &&
            (s_.vector == 1 || value.args.empty() || readsAskedInRuns(id)))
            loads.insert(id);
        for (const int arg : p_.values[id].args)
            visit(arg);
    };
    for (const int root : roots)
        visit(root);
    // As parameters, but what says where something is read before it.
    std::vector<int> ordered;
    std::set<int> taken;
    const std::function<void(int)> take = [&](int id) {
        if (!loads.contains(id) || !taken.insert(id).second)
            return;
        for (const int other : reachableFrom(p_, p_.values[id].args))
            take(other);
        ordered.push_back(id);
    };
    for (const auto &ids : {loadsFor(roots), std::vector<int>(loads.begin(), loads.end())})
        for (const int id : ids)
            take(id);
    return ordered;
}

void KernelWriter::hoist(const std::vector<int> &roots) {
    // The largest per-row values that element code reads.
    std::vector<int> wanted;
    std::set<int> seen;
    const std::function<void(int)> visit = [&](int id) {
        const Kind kind = p_.values[id].kind;
        if (!seen.insert(id).second)
            return;
        if (const std::string *known = recall(id); known != nullptr) {
            // Results of several rows at once are copied out of their structs, into arrays that
            // loops over rows can read with vector instructions.
            if (rowSubscript().empty() ? wantsName(id, *known) : known->find('.') < known->size())
                wanted.push_back(id);
            return;
        }
        if (perRow(id)) {
            if (kind != Kind::constant && kind != Kind::count && kind != Kind::reduce)
                wanted.push_back(id);
            return;
        }
        for (const int arg : p_.values[id].args)
            visit(arg);
    };
    for (const int root : roots)
        visit(root);
    if (wanted.empty())
        return;
    std::ranges::sort(wanted, {}, [&](int id) { return p_.orderOf(id); });
    const std::string subscript = rowSubscript();
    if (subscript.empty()) {
        for (const int id : wanted)
            valueOf(id);
        return;
    }
    std::map<int, std::string> names;
    for (const int id : wanted) {
        names[id] = nameFor(id, true);
        line(fmt::format("{} {}[{}];", scalarType(p_.values[id].dtype), names[id], rowsInHand()));
    }
    forRowsInHand([&] {
        for (const int id : wanted) {
            const std::string code = valueOf(id);
            line(fmt::format("{}{} = {};", names[id], subscript, code));
        }
    });
    for (const int id : wanted)
        remember(id, names[id] + subscript);
}

void KernelWriter::declareVector(int store, int width) {
    const BufferInfo &buffer = p_.buffers[g_.stores[store].buffer];
    std::string name = buffer.name + "_y";
    const auto taken = [&](const auto &other) { return other.second == name; };
    for (int i = 2; std::ranges::any_of(vectors_, taken); ++i)
        name = fmt::format("{}_y{}", buffer.name, i);
    line(fmt::format("{} {}[{}];", storageType(buffer.dtype), name, width));
    vectors_[store] = std::move(name);
}

void KernelWriter::put(int store, const std::string &code) {
    if (const auto vector = vectors_.find(store); vector != vectors_.end())
        line(fmt::format("{}[e] = {};", vector->second, code));
    else
        line(fmt::format("{}[{}] = {};", pointer(n_.stores[store], g_.stores[store].buffer),
                         elementOffset(n_.stores[store]), code));
}

void KernelWriter::storeElements(const std::vector<int> &stores) {
    const std::vector<int> roots = storeRoots(stores);
    forElements(roots, stores, [&] {
        for (const int store : stores) {
            const std::string code = stored(store, valueOf(g_.stores[store].value));
            if (g_.stores[store].adds())
                line(fmt::format("atomicAdd({} + {}, {});",
                                 pointer(n_.stores[store], g_.stores[store].buffer),
                                 placeText(store), code));
            else
                put(store, code);
        }
    });
}

void KernelWriter::storeRows() {
    forRowsInHand([&] {
        for (const int store : rowStores())
            put(store, stored(store, valueOf(g_.stores[store].value)));
    });
}

std::string KernelWriter::elementsExpression() const {
    if (!openLength())
        return std::to_string(n_.elements());
    const std::int64_t inner = n_.elements() / n_.dims[0].size;
    return inner == 1 ? n_.dims[0].expression
                      : fmt::format("{} * {}", n_.dims[0].expression, inner);
}

void KernelWriter::declareSteps(const std::string &name, std::int64_t length,
                                const std::string &step) {
    out_.helpers.insert("cdiv");
    line(fmt::format("constexpr int {} = cdiv({}, {});", name, length, step));
}

std::string KernelWriter::elementsText() {
    if (!openLength())
        return std::to_string(n_.elements());
    return sizeParameter(elementsExpression(), "n");
}

std::vector<int> KernelWriter::rowStores() const {
    std::vector<int> result;
    for (std::size_t i = 0; i < g_.stores.size(); ++i) {
        if (!n_.variesByElement(n_.stores[i]) && g_.hasReductions())
            result.push_back(static_cast<int>(i));
    }
    return result;
}

std::vector<int> KernelWriter::elementStores() const {
    std::vector<int> result;
    const std::vector<int> perRowOnes = rowStores();
    for (std::size_t i = 0; i < g_.stores.size(); ++i) {
        if (std::find(perRowOnes.begin(), perRowOnes.end(), static_cast<int>(i)) ==
            perRowOnes.end())
            result.push_back(static_cast<int>(i));
    }
    return result;
}

std::vector<int> KernelWriter::storeRoots(const std::vector<int> &stores) const {
    std::vector<int> roots;
    for (const int store : stores)
        roots.push_back(g_.stores[store].value);
    return roots;
}

} // namespace cuda_agent::policy
