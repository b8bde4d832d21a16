// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/ncu/unit.h"

#include <gtest/gtest.h>

using namespace cuda_agent::ncu;

TEST(Unit, PrefixesBecomeFactors) {
    struct Case {
        const char *printed, *base;
        double factor;
    };
    for (const auto &[printed, base, factor] : {Case{"byte", "byte", 1},
                                                Case{"Kbyte", "byte", 1e3},
                                                Case{"Mbyte", "byte", 1e6},
                                                Case{"Gbyte", "byte", 1e9},
                                                Case{"nsecond", "second", 1e-9},
                                                Case{"usecond", "second", 1e-6},
                                                Case{"msecond", "second", 1e-3},
                                                Case{"second", "second", 1},
                                                Case{"us", "second", 1e-6},
                                                Case{"s", "second", 1},
                                                Case{"Ghz", "hz", 1e9},
                                                Case{"hz", "hz", 1},
                                                Case{"Gbyte/second", "byte/second", 1e9},
                                                Case{"Tbyte/s", "byte/second", 1e12},
                                                Case{"cycle/nsecond", "cycle/second", 1e9},
                                                Case{"Kbyte/block", "byte/block", 1e3},
                                                Case{"register/thread", "register/thread", 1},
                                                Case{"%", "%", 1},
                                                Case{"inst/cycle", "inst/cycle", 1},
                                                Case{"", "", 1},
                                                Case{"block", "block", 1},
                                                Case{"request", "request", 1}}) {
        const auto unit = baseUnit(printed);
        EXPECT_EQ(unit.name, base) << printed;
        EXPECT_DOUBLE_EQ(unit.factor, factor) << printed;
    }
}

TEST(Number, AsNsightPrintsThem) {
    struct Case {
        const char *printed;
        double value;
    };
    for (const auto &[printed, value] :
         {Case{"0", 0}, Case{"12.5", 12.5}, Case{"1,234", 1234}, Case{"12,345,678.25", 12345678.25},
          Case{"-1,000", -1000}, Case{"1e+06", 1e6}, Case{"-3.5e-2", -0.035}, Case{" 7 ", 7},
          Case{"42 (20; 22)", 42}}) {
        const auto number = numberFrom(printed);
        ASSERT_TRUE(number) << printed;
        EXPECT_DOUBLE_EQ(*number, value) << printed;
    }
}

TEST(Number, OtherTextIsNone) {
    for (const char *text :
         {"", "n/a", "(!) n/a", "inf", "nan", "-inf", "1e999", "1,23", "1,2345", ",123", "1,,000",
          "12,345,", "1.234,5", "0x10", "1 2", "12 %", "-", "1,000x", "CachePreferNone"})
        EXPECT_FALSE(numberFrom(text)) << text;
}
