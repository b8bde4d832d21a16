// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/kernel_writer.h"

namespace cuda_agent::policy {

std::vector<Pass> makePasses(const Program &program, const Group &group) {
    std::map<int, std::size_t> passOf;
    std::map<int, std::size_t> depth; // the first pass whose results a value does not need
    const std::set<int> own(group.reduces.begin(), group.reduces.end());
    std::map<int, std::pair<std::size_t, std::size_t>> place; // reduction -> pass, reducer
    std::vector<Pass> passes;
    const std::function<std::size_t(int)> needs = [&](int id) -> std::size_t {
        if (const auto known = depth.find(id); known != depth.end())
            return known->second;
        std::size_t result = 0;
        if (own.contains(id))
            result = passOf.at(id) + 1;
        else
            for (const int arg : program.values[id].args)
                result = std::max(result, needs(arg));
        return depth[id] = result;
    };
    for (const int id : group.reduces) {
        const Value &value = program.values[id];
        bool paired = false;
        for (const int other : group.reduces) {
            if (other == id || !place.contains(other))
                continue;
            const bool moments = areMoments(program, other, id);
            if (!moments && !areMaxAndSumOfExp(program, other, id))
                continue;
            Reducer &first = passes[place[other].first].reducers[place[other].second];
            if (first.kind != Reducer::Kind::simple)
                continue;
            first.kind = moments ? Reducer::Kind::moments : Reducer::Kind::maxAndSumOfExp;
            first.second = id;
            passOf[id] = passOf[other];
            place[id] = place[other];
            paired = true;
            break;
        }
        if (paired)
            continue;
        const std::size_t pass = needs(value.args[0]);
        passOf[id] = pass;
        passes.resize(std::max(passes.size(), pass + 1));
        Reducer reducer;
        reducer.kind =
            value.op.starts_with("arg") ? Reducer::Kind::position : Reducer::Kind::simple;
        reducer.value = id;
        reducer.input = value.args[0];
        reducer.op = value.op;
        place[id] = {pass, passes[pass].reducers.size()};
        reducer.number = static_cast<int>(place[id].second);
        passes[pass].reducers.push_back(reducer);
    }
    return passes;
}

namespace {

std::string typeOf(const Program &program, int value) {
    return scalarType(program.values[value].dtype);
}

std::string number(const std::string &type, int value) {
    if (type == "float")
        return fmt::format("{}.0f", value);
    return type == "double" ? fmt::format("{}.0", value) : std::to_string(value);
}

} // namespace

std::string lowestOf(const std::string &type) {
    if (type == "float" || type == "double")
        return "-INFINITY";
    return type == "long long" ? "(-9223372036854775807LL - 1)"
           : type == "bool"    ? "false"
                               : "(-2147483647 - 1)";
}

std::string highestOf(const std::string &type) {
    if (type == "float" || type == "double")
        return "INFINITY";
    return type == "long long" ? "9223372036854775807LL" : type == "bool" ? "true" : "2147483647";
}

std::vector<Field> fieldsOf(const Program &program, const Reducer &r, bool smallIndex) {
    const std::string type = typeOf(program, r.kind == Reducer::Kind::simple ? r.value : r.input);
    const auto field = [&](const char *name) { return fmt::format("{}{}", name, r.number); };
    switch (r.kind) {
    case Reducer::Kind::simple: {
        const std::string initial = r.op == "sum"    ? number(type, 0)
                                    : r.op == "prod" ? number(type, 1)
                                    : r.op == "max"  ? lowestOf(type)
                                    : r.op == "min"  ? highestOf(type)
                                    : r.op == "any"  ? "false"
                                                     : "true";
        return {{type, field(r.op.c_str()), initial}};
    }
    case Reducer::Kind::position:
        return {{type, field("best"), r.op == "argmax" ? lowestOf(type) : highestOf(type)},
                {smallIndex ? "int" : "long long", field("place"),
                 smallIndex ? "2147483647" : "9223372036854775807LL"}};
    case Reducer::Kind::moments:
        return {{type, field("count"), number(type, 0)},
                {type, field("mean"), number(type, 0)},
                {type, field("squares"), number(type, 0)}};
    case Reducer::Kind::maxAndSumOfExp:
        return {{type, field("max"), lowestOf(type)}, {type, field("sumExp"), number(type, 0)}};
    }
    return {};
}

std::vector<Field> stateFieldsOf(const Program &program, const Reducer &r, bool smallIndex,
                                 bool exactSums) {
    std::vector<Field> fields = fieldsOf(program, r, smallIndex);
    for (Field &field : fields) {
        const bool sum = (r.kind == Reducer::Kind::simple && r.op == "sum") ||
                         r.kind == Reducer::Kind::moments || field.name.starts_with("sumExp");
        if (exactSums && sum && field.type == "float")
            field.type = "double";
    }
    return fields;
}

std::vector<std::string> combineText(const Program &program, const Reducer &r) {
    const std::string type = typeOf(program, r.input);
    const int n = r.number;
    const bool floating = type == "float" || type == "double";
    const std::string f = type == "double" ? "" : "f";
    switch (r.kind) {
    case Reducer::Kind::simple: {
        const std::string a = fmt::format("{}{}", r.op, n);
        if (r.op == "sum")
            return {fmt::format("{0} += other.{0};", a)};
        if (r.op == "prod")
            return {fmt::format("{0} *= other.{0};", a)};
        if (r.op == "any" || r.op == "all")
            return {fmt::format("{0} = {0} {1} other.{0};", a, r.op == "any" ? "||" : "&&")};
        const char *sign = r.op == "max" ? ">" : "<";
        if (!floating)
            return {fmt::format("{0} = {0} {1} other.{0} ? {0} : other.{0};", a, sign)};
        return {fmt::format("{0} = {0} {1} other.{0} || {0} != {0} ? {0} : other.{0};", a, sign)};
    }
    case Reducer::Kind::position: {
        const char *test = r.op == "argmax" ? "isAbove" : "isBelow";
        return {fmt::format("if ({}(other.best{}, other.place{}, best{}, place{})) {{", test, n, n,
                            n, n),
                fmt::format("    best{0} = other.best{0};", n),
                fmt::format("    place{0} = other.place{0};", n), "}"};
    }
    case Reducer::Kind::moments:
        // Chan, Golub and LeVeque: means and squared distances of two parts make those of the
        // whole.
        return {fmt::format("if (other.count{} > 0) {{", n),
                fmt::format("    const {} all = count{} + other.count{};", type, n, n),
                fmt::format("    const {} shift = other.mean{} - mean{};", type, n, n),
                fmt::format("    mean{0} += shift * (other.count{0} / all);", n),
                // From the right, so that a huge shift from an empty part adds 0 and not inf * 0.
                fmt::format("    squares{0} += other.squares{0} + shift * (shift * (count{0} * "
                            "(other.count{0} / all)));",
                            n),
                fmt::format("    count{} = all;", n), "}"};
    case Reducer::Kind::maxAndSumOfExp:
        // Sums are relative to their own maximum; equal maxima need no scaling, infinite ones none.
        return {fmt::format("const {0} top = max{1} > other.max{1} || max{1} != max{1} ? max{1} : "
                            "other.max{1};",
                            type, n),
                fmt::format("sumExp{0} = (max{0} == top ? sumExp{0} : sumExp{0} * exp{1}(max{0} - "
                            "top)) + (other.max{0} == top ? other.sumExp{0} : other.sumExp{0} * "
                            "exp{1}(other.max{0} - top));",
                            n, f),
                fmt::format("max{} = top;", n)};
    }
    return {};
}

std::string stateName(const Program &program, const Pass &pass, bool smallIndex, bool exactSums) {
    static const std::map<std::string, std::string> types{
        {"float", ""}, {"double", "Double"}, {"int", "Int"}, {"long long", "Long"}, {"bool", ""}};
    std::string name;
    for (const Reducer &reducer : pass.reducers) {
        std::string what = reducer.op;
        if (reducer.kind == Reducer::Kind::moments)
            what = "moments";
        else if (reducer.kind == Reducer::Kind::maxAndSumOfExp)
            what = "maxAndSum";
        what[0] = static_cast<char>(what[0] - 'a' + 'A');
        const auto fields = stateFieldsOf(program, reducer, smallIndex, exactSums);
        name += what + types.at(fields[0].type);
        for (const Field &field : fields)
            name += field.name.starts_with("place") && !smallIndex ? "Wide" : "";
    }
    return name + (exactSums ? "ExactState" : "State");
}

std::string stateText(const Program &program, const Pass &pass, bool smallIndex, bool exactSums,
                      bool shuffles) {
    const std::string name = stateName(program, pass, smallIndex, exactSums);
    std::string text = fmt::format("struct {} {{\n", name);
    std::vector<Field> fields;
    for (const Reducer &reducer : pass.reducers) {
        for (const Field &field : stateFieldsOf(program, reducer, smallIndex, exactSums))
            fields.push_back(field);
    }
    for (const Field &field : fields)
        text += fmt::format("    {} {};\n", field.type, field.name);
    std::vector<std::string> initials, lanes;
    for (const Field &field : fields) {
        initials.push_back(field.initial);
        const std::string exchanged = fmt::format("__shfl_xor_sync(0xffffffffu, {}{}, mask)",
                                                  field.type == "bool" ? "(int)" : "", field.name);
        lanes.push_back(field.type == "bool" ? exchanged + " != 0" : exchanged);
    }
    text +=
        fmt::format("    static __device__ __forceinline__ {} identity() {{ return {{{}}}; }}\n",
                    name, fmt::join(initials, ", "));
    text += fmt::format("    __device__ __forceinline__ void combine(const {} &other) {{\n", name);
    for (const Reducer &reducer : pass.reducers) {
        const bool scoped = reducer.kind == Reducer::Kind::maxAndSumOfExp;
        if (scoped)
            text += "        {\n";
        for (const std::string &statement : combineText(program, reducer))
            text += fmt::format("        {}{}\n", scoped ? "    " : "", statement);
        if (scoped)
            text += "        }\n";
    }
    text += "    }\n";
    if (shuffles)
        text += fmt::format("    __device__ __forceinline__ {} fromLane(int mask) const {{\n"
                            "        return {{{}}};\n    }}\n",
                            name, fmt::join(lanes, ",\n                "));
    return text + "};\n\n";
}

} // namespace cuda_agent::policy
