// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/expression_code.h"

#include "core/plan/expression.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace cuda_agent::exporter {
namespace {

std::string same(const std::string &name) {
    return name;
}

std::string cpp(std::string_view expression) {
    return codeOf(expression, Language::cpp, same).value();
}
std::string python(std::string_view expression) {
    return codeOf(expression, Language::python, same).value();
}

TEST(ExpressionCode, KeepsWhatIsPlain) {
    EXPECT_EQ(cpp("N"), "N");
    EXPECT_EQ(cpp(" ( N ) * ( 4 + R ) "), "N * (4 + R)");
    EXPECT_EQ(python("a - (b - c) - d"), "a - (b - c) - d");
    EXPECT_EQ(cpp("-(a + 1)"), "-(a + 1)");
    EXPECT_EQ(python("a * -b"), "a * -b");
}

TEST(ExpressionCode, NamesAreSpelled) {
    const auto spelled = [](const std::string &name) { return "<" + name + ">"; };
    EXPECT_EQ(codeOf("x.shape[ -1 ] + x.numel * x.ndim", Language::cpp, spelled).value(),
              "<x.shape[-1]> + <x.numel> * <x.ndim>");
}

TEST(ExpressionCode, DivisionFloors) {
    EXPECT_EQ(python("a / b % 3"), "a // b % 3");
    EXPECT_EQ(cpp("x.shape[0] / 4"), "x.shape[0] / 4");
    EXPECT_EQ(cpp("a / b % 3"), "floorModulo(floorDivide(a, b), 3)");
    EXPECT_EQ(cpp("(x.numel - 4) / 4"), "floorDivide(x.numel - 4, 4)");
    EXPECT_EQ(cpp("cdiv(N, 4) * 2"), "cdiv(N, 4) * 2");
}

TEST(ExpressionCode, MinimumAndMaximumTakeAnyNumberOfValues) {
    EXPECT_EQ(cpp("min(a, b, 3)"), "std::min({int64_t{a}, int64_t{b}, int64_t{3}})");
    EXPECT_EQ(python("max(a, min(b, 3))"), "max(a, min(b, 3))");
}

TEST(ExpressionCode, TruthIsZeroOrOne) {
    EXPECT_EQ(cpp("a == 1 and b < 2 or c"), "(a == 1 && b < 2) || c != 0");
    EXPECT_EQ(python("a == 1 and b < 2 or c"), "a == 1 and b < 2 or c != 0");
    EXPECT_EQ(cpp("(a < b) + 1"), "(a < b) + 1");
}

TEST(ExpressionCode, LargeNumbersAreWide) {
    EXPECT_EQ(cpp("4000000000"), "4000000000LL");
    EXPECT_EQ(python("4000000000"), "4000000000");
}

TEST(ExpressionCode, WhatIsNoExpressionIsAnError) {
    const auto code = codeOf("a +", Language::cpp, same);
    ASSERT_FALSE(code);
    EXPECT_EQ(code.error().kind, ErrorKind::request);
}

/// Python's text for these operators is again a plan expression once `//` is `/`, so that it can be
/// evaluated here.
class RandomExpression {
  public:
    explicit RandomExpression(unsigned seed) : random_(seed) {}

    std::string make(int depth) {
        const auto pick = [&](int n) { return static_cast<int>(random_() % n); };
        if (depth == 0)
            return pick(2) ? std::string(1, static_cast<char>('a' + pick(3)))
                           : std::to_string(pick(9));
        static const char *binary[] = {"+", "-", "*", "/", "%", "==", "<", ">=", "and", "or"};
        switch (pick(5)) {
        case 0:
            return "-" + make(depth - 1);
        case 1:
            return "cdiv(" + make(depth - 1) + ", " + make(depth - 1) + ")";
        case 2:
            return "min(" + make(depth - 1) + ", " + make(depth - 1) + ", " + make(0) + ")";
        default:
            return "(" + make(depth - 1) + ")" + binary[pick(10)] + " (" + make(depth - 1) + ")";
        }
    }

  private:
    std::mt19937 random_;
};

TEST(ExpressionCode, RandomOnesKeepTheirValue) {
    const std::map<std::string, std::int64_t> values{{"a", 7}, {"b", -3}, {"c", 2}};
    RandomExpression random(12);
    int compared = 0;
    for (int i = 0; i < 2000; ++i) {
        const std::string text = random.make(1 + i % 4);
        const auto parsed = plan::Expression::parse(text);
        ASSERT_TRUE(parsed) << text;
        std::string back = python(text);
        for (std::size_t at; (at = back.find("//")) != std::string::npos;)
            back.erase(at, 1);
        const auto again = plan::Expression::parse(back);
        ASSERT_TRUE(again) << text << "\n" << back << "\n" << again.error().message;
        const auto expected = parsed->evaluate(values);
        const auto got = again->evaluate(values);
        ASSERT_EQ(expected.has_value(), got.has_value()) << text << "\n" << back;
        if (expected) {
            ASSERT_EQ(*expected, *got) << text << "\n" << back;
            ++compared;
        }
    }
    EXPECT_GT(compared, 1000);
}

} // namespace
} // namespace cuda_agent::exporter
