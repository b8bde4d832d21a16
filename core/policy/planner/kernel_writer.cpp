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
    rough_ = forgivesRoundoff(program, group);
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
        coordinates_[rowDims_[0]] = tiled < 0 ? row : "k0";
        if (tiled >= 0)
            line(fmt::format("const {} k0 = {} * {};", type, row, each));
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

bool KernelWriter::readsAskedInRuns(int load) const {
    return policy::readsAskedInRuns(p_, g_, n_, s_, load);
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
