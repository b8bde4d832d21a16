// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/policy/planner/kernel_writer.h"

namespace cuda_agent::policy {

/// For forms in which a thread walks along a row, or along a strip of neighbouring rows whose
/// values lie in arrays with an element a row.
class StripWriter : public KernelWriter {
  public:
    using KernelWriter::KernelWriter;

  protected:
    bool strip() const { return s_.form == Schedule::Form::loopColumn; }
    std::string rowSubscript() const override { return strip() ? "[e]" : ""; }

    void forRowsInHand(const std::function<void()> &body) override {
        if (!strip() || inStrip_) {
            body();
            return;
        }
        open("for (int e = 0; e < width; ++e)");
        inStrip_ = true;
        push();
        body();
        pop();
        inStrip_ = false;
        close();
    }

    std::string elementOffset(const Access &access) override {
        std::vector<std::pair<std::string, std::int64_t>> terms;
        for (const int d : elementDims_)
            terms.emplace_back(coordinates_[d], access.strides[d]);
        if (inStrip_)
            terms.emplace_back("e", access.strides[rowDims_.back()]);
        return sumOf(terms);
    }

    bool inStrip_ = false;
};

} // namespace cuda_agent::policy
