// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/names.h"

#include <gtest/gtest.h>

namespace cuda_agent {
namespace {

TEST(Names, AreAsciiWhateverTheLocale) {
    for (const char *good : {"a", "_", "Z9", "_0", "in0", "X_launcher"})
        EXPECT_TRUE(isIdentifier(good)) << good;
    for (const char *bad : {"", "9", "0x", "a-b", "a b", "a.b", "\xc3\xa9", "a\xb2", "$x"})
        EXPECT_FALSE(isIdentifier(bad)) << bad;
    EXPECT_FALSE(isIdentifier(std::string_view("a\0b", 3)));
}

TEST(Names, AreMadeOfAnyText) {
    EXPECT_EQ(nameFrom("conv.weight"), "conv_weight");
    EXPECT_EQ(nameFrom("2x \xc3\xa9"), "2x___");
    EXPECT_EQ(nameFrom(""), "");
}

} // namespace
} // namespace cuda_agent
