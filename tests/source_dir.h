// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>

namespace cuda_agent {

/// Root of the checkout that the tests were built from. A function, so that an object file of a
/// test is the same in every checkout and comes from the compiler cache there.
std::filesystem::path sourceDir();

/// Its folder tests/data.
inline std::filesystem::path testData() {
    return sourceDir() / "tests/data";
}

} // namespace cuda_agent
