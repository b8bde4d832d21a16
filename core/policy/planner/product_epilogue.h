// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/products.h"
#include "core/policy/planner/vector_writer.h"

namespace cuda_agent::policy {

/// For kernels that hold elements of a product in registers and compute on with them.
class ProductEpilogue : public VectorWriter {
  public:
    ProductEpilogue(const Program &program, const Group &group, const Nest &nest,
                    const Schedule &schedule, const std::string &name);

  protected:
    std::string elementOffset(const Access &access) override;
    /// The elements of a vector along a row of the product.
    void forElements(const std::vector<int> &roots, const std::vector<int> &stores,
                     const std::function<void()> &body) override;
    int width() const override { return s_.vector; }
    Run runOf(const Access &access) const override;

    bool loops() const { return s_.form == Schedule::Form::loopProduct; }
    bool batched() const { return product_.batch > 1; }
    /// The head of a function "finish" for neighbours of a row, as the tiles call it.
    std::string finishHead() const;
    /// Parameters and pointers of everything but the products' operands.
    void otherParameters();
    /// Coordinates of the loops in `dims`, which together are one side of a product, from a
    /// position along it.
    void positions(const std::vector<int> &dims, const std::string &prefix,
                   const std::string &flat);
    /// What is computed from `sum` at `batch`, `row` and `column`, and stored.
    void epilogue();
    /// " + batch * 4096", or nothing.
    static std::string batchOffset(const ProductOperand &operand);

    const Product &product_;
    int value_; ///< stands for an element of the product
    std::vector<int> stores_, roots_;

  private:
    std::int64_t lastStride(const Access &access) const;
    /// Whether neighbours along a row of the product may be moved at once.
    bool inRuns(const Access &access) const;
};

} // namespace cuda_agent::policy
