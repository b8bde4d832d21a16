// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/sandbox/sandbox.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace cuda_agent::sandbox::test {

inline Policy makePolicy() {
    Policy policy;
    policy.name = "test";
    policy.limits.wall = std::chrono::seconds(30);
    return policy;
}

/// Runs a program; a sandbox that cannot start fails the test.
inline Record runProgram(const Policy &policy, const std::vector<std::string> &argv,
                         std::string_view input = {}) {
    auto record = run(policy, argv, input);
    if (!record) {
        ADD_FAILURE() << record.error().message;
        return {};
    }
    return *record;
}

inline Record runShell(const Policy &policy, const std::string &script,
                       std::string_view input = {}) {
    return runProgram(policy, {"/bin/sh", "-c", script}, input);
}

inline Record runPython(const Policy &policy, const std::string &script) {
    return runProgram(policy, {"/usr/bin/python3", "-I", "-c", script});
}

inline bool hit(const Record &record, const std::string &limit) {
    return std::find(record.limitsHit.begin(), record.limitsHit.end(), limit) !=
           record.limitsHit.end();
}

/// A folder of its own under the host's temporary folder, removed with its content.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string name =
            (std::filesystem::temp_directory_path() / "cuda-agent-test-XXXXXX").string();
        if (!::mkdtemp(name.data()))
            ADD_FAILURE() << "no temporary folder";
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;
    const std::filesystem::path &path() const { return path_; }

  private:
    std::filesystem::path path_;
};

} // namespace cuda_agent::sandbox::test
