// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/modules/imports.h"
#include "core/modules/rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

// What a library wants from others, and what the rules say to that.

namespace cuda_agent::modules {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Imports, AreReadFromALibrary) {
    const auto names = importedNames("/proc/self/exe");
    ASSERT_TRUE(names) << names.error().message;
    EXPECT_THAT(*names, Contains("memcpy"));
    EXPECT_THAT(*names, testing::Not(Contains("main")));
}

TEST(Imports, DamagedLibrariesAreErrors) {
    const auto file = std::filesystem::path(testing::TempDir()) / "damaged.so";
    const auto whole = [] {
        std::ifstream stream("/proc/self/exe", std::ios::binary);
        return std::string(std::istreambuf_iterator<char>(stream), {});
    }();
    for (const std::string &text :
         {std::string(),
          std::string("\x7f"
                      "ELF"),
          std::string("#!/bin/sh\n"), whole.substr(0, 100), whole.substr(0, whole.size() / 2)}) {
        std::ofstream(file, std::ios::binary) << text;
        const auto names = importedNames(file);
        ASSERT_FALSE(names);
        EXPECT_EQ(names.error().kind, ErrorKind::machine);
        EXPECT_THAT(names.error().message, HasSubstr("damaged.so"));
    }
    EXPECT_FALSE(importedNames(file.string() + ".none"));
    std::filesystem::remove(file);
}

TEST(Imports, KnowsOperatorsByTheirMangledNames) {
    EXPECT_EQ(operatorOf("_ZN2at4_ops10add_Tensor4callERKNS_6TensorES4_RKN3c106ScalarE"),
              "add_Tensor");
    EXPECT_EQ(operatorOf("_ZN2at4_ops5empty"), "empty");
    EXPECT_EQ(operatorOf("_ZN2at4_ops"), "");
    EXPECT_EQ(operatorOf("memcpy"), "");
}

TEST(Imports, MachineryAndOperatorsAreSuspicious) {
    EXPECT_THAT(
        suspiciousImports({"memcpy", "PyObject_CallObject", "_ZN2at4_ops10empty_like4callE",
                           "_ZN2at4_ops19empty_memory_format4callE", "_ZN2at4_ops4view4callE"}),
        IsEmpty());
    const auto found =
        suspiciousImports({"dlsym", "PyRun_SimpleStringFlags", "_ZN2at4_ops10add_Tensor4callE",
                           "cblas_sgemm", "_ZN2at3cpu3addERKNS_6TensorES3_RKN3c106ScalarE"});
    ASSERT_EQ(found.size(), 5u);
    EXPECT_THAT(found, Contains("it uses dlsym"));
    EXPECT_THAT(found, Contains("it calls the framework operator add_Tensor"));
}

} // namespace
} // namespace cuda_agent::modules
