// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/knowledge/signature.h"

#include <gtest/gtest.h>

namespace cuda_agent::knowledge {
namespace {

/// A graph of one chain: each operator reads what came before.
class Chain {
  public:
    explicit Chain(Shape shape, DType dtype = DType::float32) {
        const auto type = contiguousType(dtype, std::move(shape));
        task_.inputs.push_back({"x", type, 0});
        task_.countedBytes = static_cast<std::uint64_t>(2 * type.elements()) * sizeOf(dtype);
        task::Node node;
        node.name = "x";
        node.op = "placeholder";
        node.outputs = {type};
        task_.graph.nodes.push_back(node);
        type_ = type;
    }
    Chain &op(const std::string &name, const Json &more = Json::array()) {
        task::Node node;
        node.name = fmt::format("n{}", task_.graph.nodes.size());
        node.op = "aten." + name;
        node.args = Json::array({{{"node", task_.graph.nodes.back().name}}});
        for (const Json &argument : more)
            node.args.push_back(argument);
        node.outputs = {type_};
        task_.graph.nodes.push_back(node);
        return *this;
    }
    Chain &flops(double matmul, double convolution) {
        task_.matmulFlops = matmul;
        task_.convolutionFlops = convolution;
        return *this;
    }
    Signature signature() const { return signatureOf(task_); }

  private:
    task::Description task_;
    TensorType type_;
};

TEST(Signature, NamesKindsInOrderAndJoinsNeighbours) {
    const auto signature =
        Chain({64, 500}).op("addmm.default").op("relu.default").op("mul.Tensor").signature();
    EXPECT_EQ(signature.operators, "gemm+pointwise");
    EXPECT_EQ(signature.dominant, "gemm");
    EXPECT_EQ(signature.dtype, "float32");
}

TEST(Signature, ViewsAndConstantsAreSilent) {
    EXPECT_EQ(Chain({8, 8})
                  .op("view.default")
                  .op("permute.default")
                  .op("full_like.default")
                  .op("exp.default")
                  .op("clone.default")
                  .signature()
                  .operators,
              "pointwise");
}

TEST(Signature, ReductionsSayAlongWhat) {
    const auto reduction = [](const std::string &op, const Json &more) {
        return Chain({4, 8, 16}).op(op, more).signature().operators;
    };
    EXPECT_EQ(reduction("sum.dim_IntList", Json::array({Json::array({-1})})), "reduction(last)");
    EXPECT_EQ(reduction("sum.dim_IntList", Json::array({Json::array({2})})), "reduction(last)");
    EXPECT_EQ(reduction("mean.dim", Json::array({Json::array({1})})), "reduction(inner)");
    EXPECT_EQ(reduction("amax.default", Json::array({Json::array({1, 2})})), "reduction(several)");
    EXPECT_EQ(reduction("amax.default", Json::array({Json::array({0, 1, 2})})), "reduction(all)");
    EXPECT_EQ(reduction("argmax.default", Json::array({1})), "reduction(inner)");
    EXPECT_EQ(reduction("mean.default", Json::array()), "reduction(all)");
    EXPECT_EQ(reduction("linalg_vector_norm.default", Json::array({2, Json::array({2})})),
              "reduction(last)");
    EXPECT_EQ(reduction("max.other", Json::array()), "pointwise");
    EXPECT_EQ(reduction("max.dim", Json::array({2})), "reduction(last)");
}

TEST(Signature, ConvolutionsSayTheirDimensions) {
    EXPECT_EQ(Chain({1, 3, 8, 8})
                  .op("convolution.default")
                  .op("_native_batch_norm_legit_no_training.default")
                  .op("max_pool2d_with_indices.default")
                  .flops(0, 1e6)
                  .signature()
                  .operators,
              "conv2d+norm+pool");
    const auto transposed =
        Chain({1, 3, 8})
            .op("convolution.default", {nullptr, nullptr, Json::array(), Json::array(),
                                        Json::array(), true, Json::array(), 1})
            .flops(0, 1e6)
            .signature();
    EXPECT_EQ(transposed.operators, "conv_transpose1d");
    EXPECT_EQ(transposed.dominant, "conv_transpose1d");
}

TEST(Signature, TheDominantKindIsWhereTheWorkIs) {
    auto chain = Chain({1, 3, 8, 8}).op("convolution.default").op("mm.default");
    EXPECT_EQ(chain.flops(1e9, 1e6).signature().dominant, "gemm");
    EXPECT_EQ(chain.flops(1e6, 1e9).signature().dominant, "conv2d");
    EXPECT_EQ(Chain({8, 8}).op("exp.default").op("_softmax.default").signature().dominant,
              "softmax");
    EXPECT_EQ(
        Chain({8, 8}).op("sum.dim_IntList", Json::array({Json::array({1})})).signature().dominant,
        "reduction");
}

TEST(Signature, LongChainsAreSets) {
    Chain chain({8, 8});
    for (int i = 0; i < 5; ++i)
        chain.op("mm.default").op("relu.default");
    EXPECT_EQ(chain.signature().operators, "many: gemm+pointwise");
}

TEST(Signature, SizesFallIntoBuckets) {
    const auto of = [](Shape shape) {
        return Chain(std::move(shape)).op("exp.default").signature();
    };
    EXPECT_EQ(of({64, 1024}), of({64, 1200}));
    EXPECT_EQ(sizeDistance(of({64, 1024}), of({64, 1200})), 0);
    EXPECT_GT(sizeDistance(of({64, 1024}), of({4096, 4096})), 2);
    EXPECT_EQ(textOf(of({256, 4096})), "pointwise float32, from 4 MiB, rows from 4096");
}

TEST(Signature, ATaskWithoutAGraphHasOneToo) {
    const auto signature = signatureOf({});
    EXPECT_TRUE(signature.operators.empty());
    EXPECT_TRUE(signature.dominant.empty());
    EXPECT_NE(textOf(signature), "");
}

} // namespace
} // namespace cuda_agent::knowledge
