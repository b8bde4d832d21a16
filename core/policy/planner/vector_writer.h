// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/kernel_writer.h"

namespace cuda_agent::policy {

/// For forms in which a thread has several elements in hand that it moves at once where they lie
/// next to each other: arrays are filled before a loop over `e`, or written after it.
class VectorWriter : public KernelWriter {
  public:
    using KernelWriter::KernelWriter;

  protected:
    /// How the elements of one vector lie in memory.
    enum class Run {
        one,    ///< all are the same one
        beside, ///< next to each other and, where it matters, at a multiple of their size
        apart
    };
    virtual Run runOf(const Access &access) const = 0;
    virtual int width() const = 0; ///< elements of a vector

    /// Reads, before the loop, what `roots` need that is the same for all or lies side by side.
    void loadVectors(const std::vector<int> &roots);
    /// Reads a vector of `width` elements from the current one on.
    void loadVector(int load, const std::string &to, int width);
    /// Declares arrays for those stores whose elements lie side by side.
    void gatherVectors(const std::vector<int> &stores);
    /// Writes them, after the loop.
    void storeVectors(const std::string &function = "storeVector");
    /// Declares an array with all that a thread has in hand of a value: [unroll][vector].
    std::string declareInHand(int value);
    /// Vectors that a thread has in hand: a number or, once it is declared, `held`.
    std::string inHandText() const;
    /// Declares `held` where the schedule names it.
    void declareHeld();
    bool namesHeld() const { return s_.namesHeld(openLength()); }
};

} // namespace cuda_agent::policy
