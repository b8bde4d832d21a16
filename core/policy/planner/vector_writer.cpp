// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/vector_writer.h"

#include "core/policy/planner/runs.h"

namespace cuda_agent::policy {

void VectorWriter::loadVectors(const std::vector<int> &roots) {
    for (const int load : elementLoads(roots)) {
        const Run run = runOf(n_.accesses.at(load));
        if (run == Run::one) {
            // Where positions or borders are asked for, each row in hand may have its own.
            if (p_.values[load].args.empty() || (s_.rowsEach == 1 && readsAskedInRuns(load)))
                valueOf(load);
        } else if (run == Run::beside && width() > 1) {
            const std::string name = nameFor(load, true);
            line(fmt::format("{} {}[{}];", scalarType(p_.values[load].dtype), name, width()));
            loadVector(load, name, width());
            remember(load, name + "[e]");
        }
    }
}

void VectorWriter::loadVector(int load, const std::string &to, int width) {
    out_.helpers.insert("loadVector");
    const Access &access = n_.accesses.at(load);
    // Positions that it picks are the same for the whole run, also where rows in hand keep one
    // each; the run itself is outside of their loop.
    std::string at;
    withFirstRow([&] { at = withPicks(p_.values[load], elementOffset(access)); });
    const std::string call =
        fmt::format("loadVector({}, {} + {});", to, pointer(access, p_.values[load].buffer), at);
    const Value &value = p_.values[load];
    if (!value.bordered() || holds(value.args.end()[-2]))
        return line(call);
    // The first one's answer is that of all, but not where the first one is.
    const bool apart = !asksOnceForARun(p_, n_, load);
    if (apart) {
        open("");
        push();
    }
    std::string inside;
    withFirstRow([&] { inside = valueOf(value.args.end()[-2]); });
    open(fmt::format("if ({})", inside));
    line(call);
    otherwise();
    const std::string border = valueOf(value.args.back());
    line("#pragma unroll");
    line(fmt::format("for (int e = 0; e < {}; ++e)", width));
    line(fmt::format("    {}[e] = {};", to, border));
    close();
    if (apart) {
        pop();
        close();
    }
}

void VectorWriter::gatherVectors(const std::vector<int> &stores) {
    vectors_.clear();
    for (const int store : stores) {
        if (width() == 1 || runOf(n_.stores[store]) != Run::beside || g_.stores[store].adds())
            continue;
        declareVector(store, width());
    }
}

void VectorWriter::storeVectors(const std::string &function) {
    for (const auto &[store, name] : vectors_) {
        out_.helpers.insert(function);
        const std::string at = elementOffset(n_.stores[store]);
        line(fmt::format("{}({}{}, {});", function,
                         pointer(n_.stores[store], g_.stores[store].buffer),
                         at == "0" ? "" : " + " + at, name));
    }
    vectors_.clear();
}

std::string VectorWriter::declareInHand(int value) {
    std::string name = nameFor(value, true);
    line(fmt::format("{} {}{}{};", scalarType(p_.values[value].dtype), name,
                     s_.unroll > 1 ? fmt::format("[{}]", inHandText()) : "",
                     s_.vector > 1 ? fmt::format("[{}]", s_.vector) : ""));
    return name;
}

std::string VectorWriter::inHandText() const {
    return namesHeld() ? "held" : fmt::to_string(s_.unroll);
}

void VectorWriter::declareHeld() {
    if (!namesHeld())
        return;
    const auto text = s_.heldText(elementsText(), n_.elements());
    if (text.find("cdiv") != text.npos)
        out_.helpers.insert("cdiv");
    line(fmt::format("constexpr int {};", text));
}

} // namespace cuda_agent::policy
