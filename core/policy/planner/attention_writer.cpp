// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/planner/attention.h"
#include "core/policy/planner/product_epilogue.h"

namespace cuda_agent::policy {

namespace {

/// softmax(logits of Q K^T) V and what is computed from it, in one kernel.
class AttentionWriter : public ProductEpilogue {
  public:
    AttentionWriter(const Program &program, const Group &group, const Nest &nest,
                    const Schedule &schedule, const std::string &name)
        : ProductEpilogue(program, group, nest, schedule, name),
          scores_(*program.library[group.scores].product),
          score_(productValue(program, group, group.scores)) {}

  protected:
    void writeForm() override {
        out_.helpers.insert({"widen", "loadVector", "storeVector"});
        chooseHelpers();
        beginKernel("", s_.threads, s_.resident > 1 ? s_.resident : 0);
        for (const int buffer : operandsOf(p_, g_))
            bufferParameter(buffer);
        otherParameters();
        comment(fmt::format("Attention of {} queries over {} keys, heads of {} and {} elements; {} "
                            "queries a block, {} keys at a time.",
                            product_.m, product_.k, scores_.k, product_.n, s_.along, s_.chunk));
        line(fmt::format("using Tile = {};", tileText()));
        line(fmt::format("const int m = {}, top = (int)blockIdx.x * {};", product_.m, s_.along));
        std::string q = p_.buffers[scores_.a.buffer].name, k = p_.buffers[scores_.b.buffer].name,
                    v = p_.buffers[product_.b.buffer].name;
        line("[[maybe_unused]] const long long batch = blockIdx.z;");
        if (batched()) {
            q += batchOffset(scores_.a);
            k += batchOffset(scores_.b);
            v += batchOffset(product_.b);
        }
        const bool causal = isCausal(p_, g_);
        line(fmt::format(
            "const int end = {};",
            causal ? fmt::format("top + {0} < {1} ? top + {0} : {1}", s_.along, product_.k)
                   : std::to_string(product_.k)));
        open("const auto logit = [&](int row, int column, float score) -> float");
        logits();
        close("};");
        open(finishHead());
        epilogue();
        close("};");
        Launch launch;
        launch.block[0] = s_.threads;
        launch.grid[0] = std::to_string((product_.m + s_.along - 1) / s_.along);
        launch.grid[2] = std::to_string(product_.batch);
        if (loops()) {
            line(fmt::format("Tile::run({}, {}, {}, m, {}, end, top, logit, finish);", q, k, v,
                             product_.k));
        } else {
            line("extern __shared__ __align__(128) unsigned char tiles[];");
            launch.shared = attentionBytes(s_, scores_, product_);
            line(fmt::format("Tile::template run<{}>({}, {}, {}, m, {}, {}, end, {}, top, tiles, "
                             "logit, finish);",
                             s_.vector, q, k, v, product_.k, scores_.k, product_.n));
        }
        endKernel(std::move(launch));
    }

  private:
    void chooseHelpers() {
        if (loops()) {
            out_.helpers.insert("loopAttention");
            return;
        }
        out_.helpers.insert("attention");
        if (mode() == 0)
            return;
        out_.helpers.insert({"tensorAttention", "alongK", std::string(nameOf(product_.type))});
        const bool narrow = sizeOf(product_.type) == 2;
        if (narrow)
            out_.helpers.insert("shortAcross");
        if (mode() == 2)
            out_.helpers.insert("split");
        else
            out_.helpers.insert(narrow ? "whole" : "rounded");
    }

    /// As the tile's template says it.
    int mode() const { return s_.form == Schedule::Form::product ? 0 : s_.split ? 2 : 1; }

    std::string tileText() const {
        const std::string type = storageType(product_.type);
        if (loops())
            return fmt::format("LoopAttention<{}, {}, {}, {}, {}, {}, {}, {}, {}>", type, s_.along,
                               s_.chunk, scores_.k, product_.n, scores_.a.pitch, scores_.b.pitch,
                               product_.b.pitch, g_.safeSoftmax);
        return fmt::format("AttentionTile<{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}>",
                           type, mode(), s_.threads / 32, s_.chunk, paddedHead(scores_.k),
                           paddedHead(product_.n), widestRead(scores_, scores_.a, scores_.m),
                           scores_.a.pitch, widestRead(scores_, scores_.b, scores_.n),
                           scores_.b.pitch, widestRead(product_, product_.b, product_.n),
                           product_.b.pitch, g_.safeSoftmax);
    }

    /// What the softmax is of, from a score.
    void logits() {
        push();
        positions(n_.scoreSides[0], "c", "batch");
        positions(n_.scoreSides[1], "q", "row");
        positions(n_.scoreSides[2], "k", "column");
        std::string score = "score";
        if (scores_.alpha != 1)
            score = fmt::format("(score * {})", literal(scores_.alpha, DType::float32));
        remember(score_, score);
        line(fmt::format("return {};", valueOf(g_.logits)));
        pop();
        coordinates_.assign(n_.dims.size(), "");
    }

    const Product &scores_;
    int score_;
};

} // namespace

std::unique_ptr<KernelWriter> makeAttentionWriter(const Program &p, const Group &g, const Nest &n,
                                                  const Schedule &s, const std::string &name) {
    return std::make_unique<AttentionWriter>(p, g, n, s, name);
}

} // namespace cuda_agent::policy
