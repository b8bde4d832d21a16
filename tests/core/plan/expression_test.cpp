// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/expression.h"

#include <gtest/gtest.h>

#include <limits>

namespace cuda_agent::plan {
namespace {

using Values = std::map<std::string, std::int64_t>;

std::int64_t valueOf(std::string_view text, const Values &values = {}) {
    const auto expression = Expression::parse(text);
    EXPECT_TRUE(expression) << text << ": " << expression.error().message;
    if (!expression)
        return -999;
    const auto value = expression->evaluate(values);
    EXPECT_TRUE(value) << text << ": " << value.error().message;
    return value.value_or(-999);
}

std::string problemOf(std::string_view text, const Values &values = {}) {
    const auto expression = Expression::parse(text);
    if (!expression)
        return expression.error().message;
    const auto value = expression->evaluate(values);
    return value ? "" : value.error().message;
}

bool mentions(const std::string &text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

TEST(Expression, Precedence) {
    EXPECT_EQ(valueOf("2 + 3 * 4"), 14);
    EXPECT_EQ(valueOf("(2 + 3) * 4"), 20);
    EXPECT_EQ(valueOf("20 - 3 - 2"), 15);
    EXPECT_EQ(valueOf("64 / 4 / 2"), 8);
    EXPECT_EQ(valueOf("-2 * -3"), 6);
    EXPECT_EQ(valueOf("--5"), 5);
    EXPECT_EQ(valueOf("1 + 2 == 3"), 1);
    EXPECT_EQ(valueOf("1 or 0 and 0"), 1);
    EXPECT_EQ(valueOf("2 < 1 or 5 >= 5 and 3 != 4"), 1);
}

TEST(Expression, DivisionFloors) {
    EXPECT_EQ(valueOf("7 / 2"), 3);
    EXPECT_EQ(valueOf("-7 / 2"), -4);
    EXPECT_EQ(valueOf("7 / -2"), -4);
    EXPECT_EQ(valueOf("-7 % 3"), 2);
    EXPECT_EQ(valueOf("7 % -3"), -2);
    EXPECT_EQ(valueOf("6 % -3"), 0);
    EXPECT_EQ(valueOf("cdiv(7, 2)"), 4);
    EXPECT_EQ(valueOf("cdiv(-7, 2)"), -3);
    EXPECT_EQ(valueOf("cdiv(8, 2)"), 4);
}

TEST(Expression, NamesAndFunctions) {
    const Values values{{"N", 100}, {"in0.shape[1]", 7}, {"in0.numel", 700}, {"order", 3}};
    EXPECT_EQ(valueOf("cdiv(in0.shape[1] * N, 256)", values), 3);
    EXPECT_EQ(valueOf("in0.numel / in0.shape[1]", values), 100);
    EXPECT_EQ(valueOf("max(1, N, 5) - min(3, order + 1, 9)", values), 97);
    EXPECT_EQ(valueOf("order or N", values), 1) << "a name may start with a word";
}

TEST(Expression, AndOrSkipWhatDoesNotMatter) {
    const Values values{{"N", 0}, {"M", 12}};
    EXPECT_EQ(valueOf("N != 0 and M % N == 0", values), 0);
    EXPECT_EQ(valueOf("N == 0 or M % N == 0", values), 1);
    EXPECT_EQ(valueOf("7 and 9"), 1);
    EXPECT_EQ(valueOf("0 or 9"), 1);
}

TEST(Expression, NamesAreListedOnce) {
    const auto expression = Expression::parse("N*in0.shape[ 1 ] + N + in0.numel + x.shape[-1]");
    ASSERT_TRUE(expression);
    EXPECT_EQ(expression->names(),
              (std::vector<std::string>{"N", "in0.shape[1]", "in0.numel", "x.shape[-1]"}));
}

TEST(Expression, ConstantNeedsNoText) {
    EXPECT_EQ(Expression(42).evaluate({}).value(), 42);
    EXPECT_EQ(Expression(42).text(), "42");
    EXPECT_EQ(Expression().evaluate({}).value(), 0);
}

TEST(Expression, OverflowIsAnError) {
    const Values values{{"big", std::numeric_limits<std::int64_t>::max()},
                        {"low", std::numeric_limits<std::int64_t>::min()}};
    for (const char *text : {"big + 1", "low - 1", "big * 2", "-low", "low / -1", "cdiv(low, -1)"})
        EXPECT_TRUE(mentions(problemOf(text, values), "overflows")) << text;
    EXPECT_EQ(valueOf("low % -1", values), 0);
    EXPECT_EQ(valueOf("1 % low", values), std::numeric_limits<std::int64_t>::min() + 1);
    EXPECT_EQ(valueOf("low / 2", values), std::numeric_limits<std::int64_t>::min() / 2);
}

TEST(Expression, DivisionByZeroIsAnError) {
    for (const char *text : {"1 / 0", "1 % 0", "cdiv(1, 0)"})
        EXPECT_TRUE(mentions(problemOf(text), "divides by zero")) << text;
}

TEST(Expression, UnknownNameIsAnError) {
    EXPECT_TRUE(mentions(problemOf("M + 1"), "'M' is not known"));
}

TEST(Expression, BadTextNamesTheColumn) {
    EXPECT_TRUE(mentions(problemOf("N + * 2"), "column 5"));
    EXPECT_TRUE(mentions(problemOf("(1 + 2"), "')' is missing"));
    EXPECT_TRUE(mentions(problemOf("1 2"), "column 3"));
    for (const char *text : {"",
                             "1.5",
                             "0x10",
                             "99999999999999999999",
                             "1 <",
                             "a < b < c",
                             "sin(1)",
                             "cdiv(1)",
                             "cdiv(1,2,3)",
                             "min(1)",
                             "in0.size",
                             "in0.shape",
                             "in0.shape[",
                             "in0.shape[x]",
                             "7 // 2",
                             "2 ** 3",
                             "N $ 2",
                             "and 1",
                             "1 and",
                             "__import__('os')"})
        EXPECT_FALSE(Expression::parse(text)) << text;
}

TEST(Expression, HostileTextIsBounded) {
    EXPECT_TRUE(mentions(problemOf(std::string(500, '(') + "1" + std::string(499, ')')), "nested"));
    EXPECT_TRUE(mentions(problemOf(std::string(5000, '1')), "at most"));
    EXPECT_EQ(valueOf(std::string(60, '(') + "1" + std::string(60, ')')), 1);
}

} // namespace
} // namespace cuda_agent::plan
