// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/interface.h"

#include <algorithm>
#include <optional>

namespace cuda_agent::exporter {

namespace {

using plan::Expression;

/// Every expression of the plan.
std::vector<const Expression *> expressionsOf(const plan::Plan &plan) {
    std::vector<const Expression *> all;
    for (const auto &[name, expression] : plan.symbols)
        all.push_back(&expression);
    for (const auto &expression : plan.requires_)
        all.push_back(&expression);
    for (const auto &buffer : plan.buffers)
        for (const auto &extent : buffer.shape)
            all.push_back(&extent);
    for (const auto &step : plan.steps) {
        if (const auto *kernel = std::get_if<plan::KernelStep>(&step)) {
            for (int i = 0; i < 3; ++i) {
                all.push_back(&kernel->grid[i]);
                all.push_back(&kernel->block[i]);
            }
            all.push_back(&kernel->shared);
            for (const auto &argument : kernel->arguments)
                all.push_back(&argument.value);
        } else if (const auto *gemm = std::get_if<plan::GemmStep>(&step)) {
            for (const auto *each :
                 {&gemm->m, &gemm->n, &gemm->k, &gemm->batch, &gemm->lda, &gemm->ldb, &gemm->ldc,
                  &gemm->strideA, &gemm->strideB, &gemm->strideC})
                all.push_back(each);
        }
    }
    return all;
}

struct Extent {
    std::size_t argument;
    std::size_t dimension;
    bool operator==(const Extent &) const = default;
};

class Ties {
  public:
    Ties(const Source &source, const std::vector<OperatorArgument> &arguments)
        : arguments_(arguments) {
        for (const auto *expression : expressionsOf(source.plan))
            for (const auto &name : expression->names())
                mentioned_.insert(name);
    }

    std::vector<Condition> conditions() const {
        std::vector<Condition> result;
        for (std::size_t a = 0; a < arguments_.size(); ++a) {
            if (!varies(a))
                continue;
            for (std::size_t d = 0; d < shape(a).size(); ++d) {
                if (isMentioned({a, d}))
                    continue;
                const auto partner = shape(a)[d] == 1 ? std::nullopt : partnerOf({a, d});
                if (!partner && shape(a)[d] != 1)
                    return allFixed();
                const std::string other = partner ? text(*partner) : fmt::format("{}", shape(a)[d]);
                result.push_back({fmt::format("{} == {}", text({a, d}), other),
                                  "the kernels take this size to be " + other});
            }
        }
        for (auto &condition : fixedByParameters())
            result.push_back(std::move(condition));
        return result;
    }

  private:
    /// Parameters keep their sizes, and so does a size of an input that goes with one.
    std::vector<Condition> fixedByParameters() const {
        std::vector<Condition> result;
        for (std::size_t a = 0; a < arguments_.size(); ++a) {
            if (arguments_[a].kind != OperatorArgument::Kind::parameter)
                continue;
            for (std::size_t d = 0; d < shape(a).size(); ++d) {
                const auto partner = partnerOf({a, d});
                if (shape(a)[d] == 1 || !partner || !varies(partner->argument))
                    continue;
                Condition condition{fmt::format("{} == {}", text(*partner), shape(a)[d]),
                                    "a parameter has this size"};
                if (std::none_of(result.begin(), result.end(), [&](const auto &each) {
                        return each.expression == condition.expression;
                    }))
                    result.push_back(std::move(condition));
            }
        }
        return result;
    }

    const Shape &shape(std::size_t argument) const { return arguments_[argument].type.shape; }

    /// Parameters have the sizes that were verified in any case; what is not read cannot matter.
    bool varies(std::size_t argument) const {
        return arguments_[argument].kind == OperatorArgument::Kind::input &&
               !arguments_[argument].planName.empty();
    }

    std::string text(Extent extent) const {
        return fmt::format("{}.shape[{}]", arguments_[extent.argument].planName, extent.dimension);
    }

    bool isMentioned(Extent extent) const {
        const std::string &name = arguments_[extent.argument].planName;
        const auto rank = static_cast<int>(shape(extent.argument).size());
        const int d = static_cast<int>(extent.dimension);
        return mentioned_.contains(name + ".numel") ||
               mentioned_.contains(fmt::format("{}.shape[{}]", name, d)) ||
               mentioned_.contains(fmt::format("{}.shape[{}]", name, d - rank));
    }

    /// The mentioned size that this one most likely stands for: the same place of a tensor of the
    /// same shape, the same place from the right, any equal one; inputs before parameters.
    std::optional<Extent> partnerOf(Extent extent) const {
        const Shape &own = shape(extent.argument);
        std::optional<Extent> best;
        int bestRank = 0;
        for (std::size_t a = 0; a < arguments_.size(); ++a) {
            if (!arguments_[a].isTensor() || arguments_[a].planName.empty() || a == extent.argument)
                continue;
            for (std::size_t d = 0; d < shape(a).size(); ++d) {
                if (shape(a)[d] != own[extent.dimension] || !isMentioned({a, d}))
                    continue;
                int rank = varies(a) ? 10 : 1;
                if (shape(a) == own && d == extent.dimension)
                    rank += 3;
                else if (shape(a).size() - d == own.size() - extent.dimension)
                    rank += 2;
                if (rank > bestRank) {
                    bestRank = rank;
                    best = {a, d};
                }
            }
        }
        return best;
    }

    std::vector<Condition> allFixed() const {
        std::vector<Condition> result;
        for (std::size_t a = 0; a < arguments_.size(); ++a) {
            if (!varies(a))
                continue;
            for (std::size_t d = 0; d < shape(a).size(); ++d)
                result.push_back({fmt::format("{} == {}", text({a, d}), shape(a)[d]),
                                  "the kernels were made for this size only"});
        }
        return result;
    }

    const std::vector<OperatorArgument> &arguments_;
    std::set<std::string> mentioned_;
};

} // namespace

std::vector<Condition> shapeConditions(const Source &source,
                                       const std::vector<OperatorArgument> &arguments) {
    return Ties(source, arguments).conditions();
}

} // namespace cuda_agent::exporter
