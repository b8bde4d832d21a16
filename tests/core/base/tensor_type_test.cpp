// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/tensor_type.h"

#include <gtest/gtest.h>

namespace cuda_agent {
namespace {

TEST(TensorType, SpansStridesAndKnowsContiguity) {
    auto type = contiguousType(DType::float32, {4, 3});
    EXPECT_TRUE(type.contiguous());
    EXPECT_EQ(type.spanBytes(), 48u);
    type.strides = {1, 4};
    EXPECT_FALSE(type.contiguous());
    EXPECT_EQ(type.spanBytes(), 48u);
    type.strides = {0, 1};
    EXPECT_EQ(type.spanBytes(), 12u);
    EXPECT_EQ(type.elements(), 12);
    EXPECT_EQ(contiguousType(DType::boolean, {}).spanBytes(), 1u);
    EXPECT_EQ(contiguousType(DType::int64, {5, 0}).spanBytes(), 0u);
}

TEST(TensorType, KnowsInWhichOrderItLies) {
    using Order = std::vector<int>;
    const auto lying = [](Shape shape, Shape strides) {
        return memoryOrderOf({DType::float32, std::move(shape), std::move(strides)});
    };
    EXPECT_EQ(lying({4, 3}, {3, 1}), Order{});
    EXPECT_EQ(lying({4, 3}, {1, 4}), (Order{1, 0}));
    EXPECT_EQ(lying({2, 5, 3, 4}, {60, 1, 20, 5}), (Order{0, 2, 3, 1})) << "channels last";
    EXPECT_EQ(lying({4, 3}, {6, 2}), Order{}) << "with gaps";
    EXPECT_EQ(lying({4, 3}, {0, 1}), Order{}) << "expanded";
    EXPECT_EQ(lying({4, 1, 3}, {1, 77, 4}), (Order{1, 2, 0}))
        << "the stride of one element says nothing";
    EXPECT_EQ(lying({0, 3}, {1, 4}), Order{});
    const TensorType transposed{DType::float32, {4, 3}, {1, 4}};
    EXPECT_EQ(permuted(transposed, {1, 0}), contiguousType(DType::float32, {3, 4}));
    EXPECT_EQ(permuted(transposed, {}), transposed);
    EXPECT_EQ(denseType(DType::float32, {4, 3}, {1, 0}), transposed);
    EXPECT_EQ(denseType(DType::float32, {4, 3}, {}), contiguousType(DType::float32, {4, 3}));
    const auto last = denseType(DType::float16, {2, 5, 3, 4}, {0, 2, 3, 1});
    EXPECT_EQ(last.strides, (Shape{60, 1, 20, 5}));
    EXPECT_EQ(memoryOrderOf(last), (Order{0, 2, 3, 1}));
    EXPECT_EQ(inverseOrder({0, 2, 3, 1}), (Order{0, 3, 1, 2}));
}

TEST(TensorType, RoundTripsThroughJson) {
    TensorType type{DType::bfloat16, {2, 1, 5}, {0, 7, 1}};
    EXPECT_EQ(tensorTypeFromJson(toJson(type), "t").value(), type);
}

TEST(TensorType, RefusesHostileJson) {
    for (const char *text :
         {R"([])", R"({"dtype":"float32"})", R"({"dtype":"float31","shape":[1]})",
          R"({"dtype":"float32","shape":[-1]})", R"({"dtype":"float32","shape":[1.5]})",
          R"({"dtype":"float32","shape":"3"})",
          R"({"dtype":"float32","shape":[281474976710656,2]})",
          R"({"dtype":"int8","shape":[281474976710656,65536]})",
          R"({"dtype":"int8","shape":[0,281474976710656,65536]})",
          R"({"dtype":"float32","shape":[2],"strides":[1,1]})",
          R"({"dtype":"float32","shape":[1000000],"strides":[281474976710656]})",
          R"({"dtype":"float32","shape":[2],"strides":[-1]})"}) {
        auto type = tensorTypeFromJson(Json::parse(text), "in0");
        ASSERT_FALSE(type) << text;
        EXPECT_EQ(type.error().kind, ErrorKind::request);
    }
}

} // namespace
} // namespace cuda_agent
