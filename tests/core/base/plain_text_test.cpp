// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/plain_text.h"

#include <gtest/gtest.h>

namespace cuda_agent {
namespace {

TEST(PlainText, IsOneLineOfAscii) {
    EXPECT_EQ(plainLine("a\nb\t\x7f\xc3\xa4~ ", 100), "a?b????~ ");
    EXPECT_EQ(plainLine("abcdef", 3), "abc");
    EXPECT_EQ(plainLine({}, 3), "");
}

TEST(PlainText, TheLastLineIsTheOneThatNamesTheEnd) {
    EXPECT_EQ(lastPlainLine("Traceback\n  line 3\nValueError: \xff no\n \n\t", 100),
              "ValueError: ? no");
    EXPECT_EQ(lastPlainLine("one", 2), "on");
    EXPECT_EQ(lastPlainLine(" \n\r\n", 100), "no message");
    EXPECT_EQ(lastPlainLine({}, 100), "no message");
}

} // namespace
} // namespace cuda_agent
