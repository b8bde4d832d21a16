// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/product_epilogue.h"

namespace cuda_agent::policy {

ProductEpilogue::ProductEpilogue(const Program &program, const Group &group, const Nest &nest,
                                 const Schedule &schedule, const std::string &name)
    : VectorWriter(program, group, nest, schedule, name),
      product_(*program.library[group.product].product),
      value_(productValue(program, group, group.product)) {
    for (std::size_t i = 0; i < group.stores.size(); ++i)
        stores_.push_back(static_cast<int>(i));
    roots_ = storeRoots(stores_);
    if (group.scores < 0)
        return;
    // Loops of the scores and of the result have nothing in common that is counted.
    std::int64_t reach = 1;
    const auto consider = [&](const Access &access) {
        std::int64_t span = 1;
        for (std::size_t d = 0; d < access.strides.size(); ++d)
            span += std::abs(access.strides[d]) * (nest.dims[d].size - 1);
        reach = std::max(reach, span);
    };
    for (const auto &[id, access] : nest.accesses)
        consider(access);
    for (const Access &access : nest.stores)
        consider(access);
    indexType_ = reach < (1ll << 31) - (1ll << 24) ? "int" : "long long";
}

std::string ProductEpilogue::elementOffset(const Access &access) {
    std::vector<std::pair<std::string, std::int64_t>> terms;
    for (const int d : elementDims_)
        terms.emplace_back(coordinates_[d], access.strides[d]);
    return sumOf(terms);
}

void ProductEpilogue::forElements(const std::vector<int> &roots, const std::vector<int> &stores,
                                  const std::function<void()> &body) {
    const bool vectors = s_.vector > 1, apart = vectors && !loops();
    loadVectors(roots);
    gatherVectors(stores);
    const std::vector<std::string> first = coordinates_;
    if (vectors) {
        if (apart)
            line("#pragma unroll");
        open(fmt::format("for (int e = 0; e < {}; ++e)",
                         loops() ? "width" : std::to_string(s_.vector)));
        std::string &last = coordinates_[n_.sides[2].back()];
        last = fmt::format("({} + e)", last);
    }
    push();
    body();
    pop();
    if (vectors) {
        close();
        coordinates_ = first;
    }
    storeVectors();
}

VectorWriter::Run ProductEpilogue::runOf(const Access &access) const {
    if (s_.vector == 1 || lastStride(access) == 0)
        return Run::one;
    return !loops() && inRuns(access) ? Run::beside : Run::apart;
}

std::int64_t ProductEpilogue::lastStride(const Access &access) const {
    return n_.sides[2].empty() ? 0 : access.strides[n_.sides[2].back()];
}

bool ProductEpilogue::inRuns(const Access &access) const {
    if (lastStride(access) != 1 || access.base % s_.vector != 0)
        return false;
    for (std::size_t d = 0; d < access.strides.size(); ++d) {
        if (static_cast<int>(d) != n_.sides[2].back() && access.strides[d] % s_.vector != 0)
            return false;
    }
    return true;
}

std::string ProductEpilogue::finishHead() const {
    if (loops())
        return "const auto finish = [&](int row, int column, int width, const float *sum)";
    return fmt::format("const auto finish = [&](int row, int column, const float (&sum)[{}])",
                       s_.vector);
}

std::string ProductEpilogue::batchOffset(const ProductOperand &operand) {
    if (operand.batchStride == 0)
        return {};
    const std::string number =
        operand.repeats > 0 ? fmt::format("batch % {}", operand.repeats) : "batch";
    return fmt::format(" + {} * {}", number, operand.batchStride);
}

void ProductEpilogue::otherParameters() {
    std::set<int> own;
    for (const int step : {g_.product, g_.scores}) {
        if (step >= 0 && productValue(p_, g_, step) >= 0)
            own.insert(p_.library[step].writes);
    }
    for (const int id : loadsFor(g_.roots())) {
        if (own.contains(p_.values[id].buffer))
            continue;
        bufferParameter(p_.values[id].buffer);
        pointer(n_.accesses.at(id), p_.values[id].buffer);
    }
    for (const int store : stores_) {
        bufferParameter(g_.stores[store].buffer);
        pointer(n_.stores[store], g_.stores[store].buffer);
    }
}

void ProductEpilogue::positions(const std::vector<int> &dims, const std::string &prefix,
                                const std::string &flat) {
    if (dims.empty())
        return;
    if (dims.size() == 1) {
        coordinates_[dims[0]] = fmt::format("({}){}", indexType_, flat);
        return;
    }
    std::string rest = fmt::format("({}){}", indexType_, flat);
    for (std::size_t k = dims.size(); k-- > 0;) {
        const std::int64_t size = n_.dims[dims[k]].size;
        const std::string name = fmt::format("{}{}", prefix, k);
        line(fmt::format("[[maybe_unused]] const {} {} = {};", indexType_, name,
                         k == 0 ? rest : fmt::format("{} % {}", rest, size)));
        coordinates_[dims[k]] = name;
        rest = fmt::format("{} / {}", rest, size);
    }
}

void ProductEpilogue::epilogue() {
    push();
    positions(n_.sides[0], "b", "batch");
    positions(n_.sides[1], "m", "row");
    const bool single = loops() && s_.vector == 1; // loops that no vector goes along
    if (single)
        open("for (int e = 0; e < width; ++e)");
    positions(n_.sides[2], "n", single ? "(column + e)" : "column");
    std::string sum = s_.vector > 1 || single ? "sum[e]" : "sum[0]";
    if (product_.alpha != 1)
        sum = fmt::format("({} * {})", sum, literal(product_.alpha, DType::float32));
    remember(value_, sum);
    storeElements(stores_);
    if (single)
        close();
    pop();
    coordinates_.assign(n_.dims.size(), "");
}

} // namespace cuda_agent::policy
