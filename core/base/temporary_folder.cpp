// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/temporary_folder.h"

#include <unistd.h>

namespace cuda_agent {

namespace fs = std::filesystem;

Result<TemporaryFolder> TemporaryFolder::make(std::string_view purpose, fs::path root) {
    std::error_code ignored; // mkdtemp will say
    if (root.empty())
        root = fs::temp_directory_path();
    else
        fs::create_directories(root, ignored);
    std::string pattern = (root / fmt::format("cuda-agent-{}-XXXXXX", purpose)).string();
    if (!::mkdtemp(pattern.data()))
        return machineError("cannot make a temporary folder in {}", root.string());
    return TemporaryFolder(pattern);
}

TemporaryFolder::~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty())
        fs::remove_all(path_, ignored);
}

} // namespace cuda_agent
