// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/kernel_writer.h"
#include "core/policy/planner/pointwise_table.h"

namespace cuda_agent::policy {

namespace {

const char *literalSuffix(const std::string &type) {
    return type == "double" ? "" : "f";
}

} // namespace

std::string KernelWriter::stateType(std::size_t pass) const {
    return stateName(p_, passes_[pass], indexType_ == "int", exactSums());
}

std::vector<int> KernelWriter::passRoots(std::size_t pass) const {
    std::vector<int> roots;
    for (const Reducer &reducer : passes_[pass].reducers)
        roots.push_back(reducer.input);
    return roots;
}

void KernelWriter::declareStates(std::size_t pass) {
    const std::string subscript = rowSubscript();
    const std::string name = fmt::format("state{}", pass);
    if (subscript.empty()) {
        line(fmt::format("{0} {1} = {0}::identity();", stateType(pass), name));
        return;
    }
    line(fmt::format("{} {}[{}];", stateType(pass), name, rowsInHand()));
    forRowsInHand(
        [&] { line(fmt::format("{}{} = {}::identity();", name, subscript, stateType(pass))); });
}

void KernelWriter::forLanes(const std::function<void()> &body) {
    if (lanes() == 0) {
        forRowsInHand(body);
        return;
    }
    open(fmt::format("for (int lane = 0; lane < {}; ++lane)", lanes()));
    body();
    close();
}

void KernelWriter::foldLanes(std::size_t pass, bool second) {
    if (lanes() == 0)
        return;
    std::vector<std::string> statements;
    const auto larger = [](const std::string &name, const char *sign, bool floating) {
        return floating ? fmt::format("{0}[lane] = {0}[lane] {1} {0}[lane + half] || {0}[lane] != "
                                      "{0}[lane] ? {0}[lane] "
                                      ": {0}[lane + half];",
                                      name, sign)
                        : fmt::format("{0}[lane] = {0}[lane] {1} {0}[lane + half] ? {0}[lane] : "
                                      "{0}[lane + half];",
                                      name, sign);
    };
    for (const Reducer &r : passes_[pass].reducers) {
        const int n = r.number;
        if (r.second >= 0 && second) {
            statements.push_back(
                fmt::format("{0}{1}[lane] += {0}{1}[lane + half];",
                            r.kind == Reducer::Kind::moments ? "squares" : "sumExp", n));
            if (r.kind == Reducer::Kind::moments)
                statements.push_back(fmt::format("rest{0}[lane] += rest{0}[lane + half];", n));
        } else if (second) {
            continue;
        } else if (r.kind == Reducer::Kind::moments) {
            statements.push_back(fmt::format("count{0}[lane] += count{0}[lane + half];", n));
            statements.push_back(fmt::format("mean{0}[lane] += mean{0}[lane + half];", n));
        } else if (r.kind == Reducer::Kind::maxAndSumOfExp) {
            statements.push_back(larger(fmt::format("max{}", n), ">", true));
        } else if (r.kind == Reducer::Kind::position) {
            statements.push_back(fmt::format("if ({0}(best{1}[lane + half], place{1}[lane + half], "
                                             "best{1}[lane], place{1}[lane])) {{",
                                             r.op == "argmax" ? "isAbove" : "isBelow", n));
            statements.push_back(fmt::format("    best{0}[lane] = best{0}[lane + half];", n));
            statements.push_back(fmt::format("    place{0}[lane] = place{0}[lane + half];", n));
            statements.push_back("}");
        } else {
            const std::string name = fmt::format("{}{}", r.op, n);
            const bool floating = isFloating(p_.values[r.value].dtype);
            if (r.op == "sum" || r.op == "prod")
                statements.push_back(fmt::format("{0}[lane] {1}= {0}[lane + half];", name,
                                                 r.op == "sum" ? "+" : "*"));
            else if (r.op == "any" || r.op == "all")
                statements.push_back(fmt::format("{0}[lane] = {0}[lane] {1} {0}[lane + half];",
                                                 name, r.op == "any" ? "||" : "&&"));
            else
                statements.push_back(larger(name, r.op == "max" ? ">" : "<", floating));
        }
    }
    if (statements.empty())
        return;
    // Pair by pair: in vectors, and with less rounding than one after the other.
    open(fmt::format("for (int half = {}; half > 0; half /= 2)", lanes() / 2));
    open("for (int lane = 0; lane < half; ++lane)");
    for (const std::string &statement : statements)
        line(statement);
    close();
    close();
}

void KernelWriter::tileReductions(std::size_t pass, bool merge) {
    const std::string rows = rowSubscript();
    const std::string at = lanes() > 0 ? "[lane]" : rows;
    const std::string folded = lanes() > 0 ? "[0]" : rows;
    const int inHand = lanes() > 0 ? lanes() : rowsInHand();
    const bool smallIndex = indexType_ == "int";
    std::vector<Field> all;
    for (const Reducer &reducer : passes_[pass].reducers) {
        for (const Field &field : fieldsOf(p_, reducer, smallIndex)) {
            all.push_back(field);
            if (at.empty())
                line(fmt::format("{} {} = {};", field.type, field.name, field.initial));
            else
                line(fmt::format("{} {}[{}];", field.type, field.name, inHand));
        }
    }
    if (!at.empty()) {
        forLanes([&] {
            for (const Field &field : all)
                line(fmt::format("{}{} = {};", field.name, at, field.initial));
        });
    }
    // Only these additions may be taken in any order: elsewhere an order is part of the formula
    // (0 * huge * huge is not NaN from left to right). Lanes are independent as they stand.
    const auto add = [&](const std::string &to, const std::string &x) {
        const bool anyOrder = s_.form == Schedule::Form::loopRow && lanes() == 0;
        line(anyOrder ? fmt::format("{{ CUDA_AGENT_REASSOCIATE {} += {}; }}", to, x)
                      : fmt::format("{} += {};", to, x));
    };
    // Plain loops become vector instructions, which a function would hide.
    const auto extreme = [&](const std::string &a, const std::string &x, bool most, bool floating) {
        const char *sign = most ? ">" : "<";
        if (floating && !exactSums()) {
            const std::string function = most ? "larger" : "smaller";
            out_.helpers.insert(function);
            line(fmt::format("{0} = {1}({0}, {2});", a, function, x));
        } else if (floating) {
            line(fmt::format("{0} = {0} {1} {2} || {0} != {0} ? {0} : {2};", a, sign, x));
        } else {
            line(fmt::format("{0} = {0} {1} {2} ? {0} : {2};", a, sign, x));
        }
    };
    const auto statement = [&](const Reducer &r, const std::string &x) {
        const int n = r.number;
        const std::string a = fmt::format("{}{}{}", r.op, n, at);
        const std::string type = scalarType(p_.values[r.input].dtype);
        const bool floating = type == "float" || type == "double";
        if (r.kind == Reducer::Kind::position) {
            const Access &access = n_.accesses.at(r.value);
            const std::string place = elementOffset(access);
            line(fmt::format("if ({0}({1}, ({4}){2}, best{3}{5}, place{3}{5})) {{",
                             r.op == "argmax" ? "isAbove" : "isBelow", x, place, n,
                             smallIndex ? "int" : "long long", at));
            line(fmt::format("    best{}{} = {};", n, at, x));
            line(fmt::format("    place{}{} = {};", n, at, place));
            line("}");
        } else if (r.kind == Reducer::Kind::moments) {
            add(fmt::format("count{}{}", n, at), fmt::format("1.0{}", literalSuffix(type)));
            add(fmt::format("mean{}{}", n, at), x);
        } else if (r.kind == Reducer::Kind::maxAndSumOfExp) {
            extreme(fmt::format("max{}{}", n, at), x, true, true);
        } else if (r.op == "sum") {
            add(a, x);
        } else if (r.op == "prod") {
            line(fmt::format("{} *= {};", a, x));
        } else if (r.op == "any" || r.op == "all") {
            line(fmt::format("{0} = {0} {1} {2};", a, r.op == "any" ? "||" : "&&", x));
        } else {
            extreme(a, x, r.op == "max", floating);
        }
    };
    const auto inputOf = [&](const Reducer &r) {
        const std::string x = valueOf(r.input);
        const std::string want =
            scalarType(p_.values[r.kind == Reducer::Kind::simple ? r.value : r.input].dtype);
        return scalarType(p_.values[r.input].dtype) == want ? x : fmt::format("({}){}", want, x);
    };
    inLanes_ = lanes() > 0;
    forElements(passRoots(pass), {}, [&] {
        for (const Reducer &r : passes_[pass].reducers)
            statement(r, inputOf(r));
    });
    foldLanes(pass, false);
    // Pairs sweep the tile, which is at hand, a second time.
    std::vector<int> again;
    for (const Reducer &r : passes_[pass].reducers) {
        if (r.second >= 0)
            again.push_back(r.input);
    }
    if (!again.empty()) {
        forRowsInHand([&] {
            for (const Reducer &r : passes_[pass].reducers) {
                if (r.kind == Reducer::Kind::moments)
                    line(fmt::format("mean{0}{1} = count{0}{1} > 0 ? mean{0}{1} / count{0}{1} : 0;",
                                     r.number, folded));
            }
        });
        // What is left over the mean corrects it: sums one after the other round, and numbers that
        // are all the same must have themselves for their mean.
        for (const Reducer &r : passes_[pass].reducers) {
            if (r.kind != Reducer::Kind::moments)
                continue;
            const std::string type = scalarType(p_.values[r.input].dtype);
            line(at.empty() ? fmt::format("{} rest{} = 0;", type, r.number)
                            : fmt::format("{} rest{}[{}] = {{}};", type, r.number, inHand));
        }
        forElements(again, {}, [&] {
            for (const Reducer &r : passes_[pass].reducers) {
                const int n = r.number;
                if (r.second < 0)
                    continue;
                const std::string x = valueOf(r.input);
                const std::string type = scalarType(p_.values[r.input].dtype);
                if (r.kind == Reducer::Kind::moments) {
                    add(fmt::format("squares{}{}", n, at),
                        fmt::format("({2} - mean{0}{1}) * ({2} - mean{0}{1})", n, folded, x));
                    add(fmt::format("rest{}{}", n, at),
                        fmt::format("{2} - mean{0}{1}", n, folded, x));
                } else {
                    // A tile of nothing but -inf adds nothing.
                    add(fmt::format("sumExp{}{}", n, at),
                        fmt::format("exp{3}({2} - (max{0}{1} == -INFINITY ? 0.0{3} : max{0}{1}))",
                                    n, folded, x, literalSuffix(type)));
                }
            }
        });
        foldLanes(pass, true);
        forRowsInHand([&] {
            for (const Reducer &r : passes_[pass].reducers) {
                if (r.kind != Reducer::Kind::moments)
                    continue;
                const std::string type = scalarType(p_.values[r.input].dtype);
                const std::string own = fmt::format("{}{}", r.number, folded);
                line(fmt::format("const {} step{} = rest{} / count{};", type, r.number, own, own));
                open(fmt::format("if (step{0} - step{0} == 0)", r.number)); // finite
                line(fmt::format("mean{} += step{};", own, r.number));
                line(fmt::format("const {} over{} = rest{} * step{};", type, r.number, own,
                                 r.number));
                line(fmt::format("squares{0} = squares{0} <= over{1} ? 0 : squares{0} - over{1};",
                                 own, r.number));
                close();
            }
        });
    }
    inLanes_ = false;
    const std::string state = fmt::format("state{}{}", pass, rows);
    std::vector<std::string> names;
    for (const Field &field : all)
        names.push_back(field.name + folded);
    forRowsInHand([&] {
        if (merge)
            line(fmt::format("{}.combine({}{{{}}});", state, stateType(pass),
                             fmt::join(names, ", ")));
        else
            line(fmt::format("{} = {}{{{}}};", state, stateType(pass), fmt::join(names, ", ")));
    });
}

void KernelWriter::publishResults(std::size_t pass, const std::string &state) {
    const auto result = [&](int value, const std::string &text) {
        const std::string type = scalarType(p_.values[value].dtype);
        remember(value, exactSums() && type == "float" ? fmt::format("(float)({})", text) : text);
    };
    for (const Reducer &r : passes_[pass].reducers) {
        const int n = r.number;
        switch (r.kind) {
        case Reducer::Kind::simple:
            result(r.value, fmt::format("{}.{}{}", state, r.op, n));
            break;
        case Reducer::Kind::position:
            remember(r.value, fmt::format("(long long){}.place{}", state, n));
            break;
        case Reducer::Kind::moments: {
            result(r.value, fmt::format("({0}.mean{1} * {0}.count{1})", state, n));
            result(r.second, fmt::format("{}.squares{}", state, n));
            // The quotient of sum and count: not by way of the sum, which rounds.
            const Value &square = p_.values[p_.values[r.second].args[0]];
            result(p_.values[square.args[0]].args[1], fmt::format("{}.mean{}", state, n));
            break;
        }
        case Reducer::Kind::maxAndSumOfExp:
            result(r.value, fmt::format("{}.max{}", state, n));
            result(r.second, fmt::format("{}.sumExp{}", state, n));
            break;
        }
    }
}

std::vector<int> KernelWriter::keptValues() const {
    const std::set<int> own(g_.reduces.begin(), g_.reduces.end());
    std::map<int, bool> varies, settled;
    std::map<int, double> costs;
    const std::function<void(int)> study = [&](int id) {
        if (settled.contains(id))
            return;
        const Value &value = p_.values[id];
        const auto access = n_.accesses.find(id);
        bool differs = access != n_.accesses.end() && value.kind != Kind::reduce &&
                       n_.variesByElement(access->second);
        bool known = !own.contains(id);
        double cost = value.kind == Kind::pointwise && pointwiseInfo(value.op) != nullptr
                          ? pointwiseInfo(value.op)->cost
                          : 0;
        if (value.kind != Kind::reduce) {
            for (const int arg : value.args) {
                study(arg);
                differs = differs || varies[arg];
                known = known && settled[arg];
                cost += varies[arg] ? costs[arg] : 0;
            }
        }
        varies[id] = differs;
        settled[id] = known;
        costs[id] = cost;
    };
    // Counts the sweeps that compute a value, as a result or on the way to one, stopping at `ends`.
    constexpr double worthKeeping = 6;
    const auto computedTwice = [&](const std::set<int> &ends) {
        std::map<int, int> uses;
        const auto sweep = [&](const std::vector<int> &roots, int times) {
            std::set<int> seen;
            const std::function<void(int)> visit = [&](int id) {
                if (!seen.insert(id).second)
                    return;
                study(id);
                if (varies[id] && settled[id])
                    uses[id] += times;
                if (p_.values[id].kind == Kind::reduce || ends.contains(id))
                    return;
                for (const int arg : p_.values[id].args)
                    visit(arg);
            };
            for (const int root : roots)
                visit(root);
        };
        for (const Pass &pass : passes_) {
            for (const Reducer &r : pass.reducers)
                sweep({r.input}, r.second >= 0 ? 2 : 1);
        }
        sweep(storeRoots(elementStores()), 1);
        std::set<int> result;
        for (const auto &[id, count] : uses) {
            if (count >= 2 && p_.values[id].kind == Kind::pointwise && costs[id] >= worthKeeping)
                result.insert(id);
        }
        return result;
    };
    // What is only needed on the way to a kept value need not be kept.
    const std::set<int> kept = computedTwice(computedTwice({}));
    return {kept.begin(), kept.end()};
}

KernelWriter::Work KernelWriter::workOf(bool partial) const {
    Work work;
    for (std::size_t i = 0; i < g_.stores.size() && !partial; ++i)
        work.stores.push_back(static_cast<int>(i));
    work.roots = g_.reduces;
    for (const int root : storeRoots(work.stores))
        work.roots.push_back(root);
    return work;
}

std::int64_t KernelWriter::stateBytes(std::size_t pass) const {
    std::int64_t bytes = 0;
    std::int64_t widest = 1;
    for (const Reducer &reducer : passes_[pass].reducers) {
        for (const Field &field : stateFieldsOf(p_, reducer, indexType_ == "int", exactSums())) {
            const std::int64_t size = field.type == "bool"                                  ? 1
                                      : field.type == "double" || field.type == "long long" ? 8
                                                                                            : 4;
            bytes = (bytes + size - 1) / size * size + size;
            widest = std::max(widest, size);
        }
    }
    return (bytes + widest - 1) / widest * widest;
}

std::string KernelWriter::declarePartials(std::size_t pass) {
    BufferInfo info;
    info.name = fmt::format("{}_partials{}", name_, pass);
    info.dtype = DType::uint8;
    info.expressions = {fmt::format("{} * {}", n_.rowsExpression(), s_.parts * stateBytes(pass))};
    out_.scratch.push_back(info);
    scratchParameter(stateType(pass), info.name);
    return info.name;
}

std::string KernelWriter::beginCombine(std::size_t pass, int threads) {
    beginKernel("_combine", threads);
    const std::vector<int> stores = rowStores();
    for (const int id : loadsFor(storeRoots(stores)))
        if (perRow(id))
            bufferParameter(p_.values[id].buffer);
    bufferParameters({}, stores);
    std::string name = fmt::format("{}_partials{}", name_, pass);
    scratchParameter("const " + stateType(pass), name);
    return name;
}

void KernelWriter::combineByThreads(std::size_t pass, int threads, bool byPart) {
    const std::string name = beginCombine(pass, threads);
    const std::string rows = sizeParameter(n_.rowsExpression(), "rows");
    line(fmt::format("const long long row = (long long)blockIdx.x * {} + threadIdx.x;", threads));
    line(fmt::format("if (row >= {})", rows));
    line("    return;");
    rowCoordinates("row", "long long");
    line(fmt::format("{0} state{1} = {0}::identity();", stateType(pass), pass));
    line(fmt::format("for (int p = 0; p < {}; ++p)", s_.parts));
    line(fmt::format("    state{}.combine({}[{}]);", pass, name,
                     byPart ? fmt::format("p * {} + row", rows)
                            : fmt::format("row * {} + p", s_.parts)));
    publishResults(pass, fmt::format("state{}", pass));
    for (const int store : rowStores()) {
        const std::string code = stored(store, valueOf(g_.stores[store].value));
        line(fmt::format("{}[{}] = {};", pointer(n_.stores[store], g_.stores[store].buffer),
                         elementOffset(n_.stores[store]), code));
    }
    Launch result;
    result.block[0] = threads;
    result.grid[0] = fmt::format("cdiv({}, {})", n_.rowsExpression(), threads);
    endKernel(result);
}

} // namespace cuda_agent::policy
