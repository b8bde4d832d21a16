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
