// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/landlock.h"

#include "core/sandbox/entry_program.h"
#include "core/sandbox/policy_arguments.h"

#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>

namespace cuda_agent::sandbox {

namespace {

constexpr long createRuleset = 444; ///< the same number on all machines; newer than some headers
constexpr unsigned askForVersion = 1;

} // namespace

Landlock landlockFrom(long answer) {
    if (answer == -EOPNOTSUPP)
        return {0, "switched off in this kernel (boot with lsm=landlock,...)"};
    if (answer <= 0)
        return {0, "not in this kernel (Linux 5.19 or later has it)"};
    if (answer == 1)
        return {0, "of version 1, which lets no program move files between folders (Linux 5.19 or "
                   "later does)"};
    if (entryProgram().empty())
        return {0, "unused: this build has no entry program for this processor"};
    return {static_cast<int>(answer), {}};
}

const Landlock &landlock() {
    static const Landlock found = [] {
        const long answer = ::syscall(createRuleset, nullptr, 0, askForVersion);
        return landlockFrom(answer < 0 ? -errno : answer);
    }();
    return found;
}

std::string_view entryProgram() {
    return entryProgramBytes;
}

std::vector<std::string> entryRules(const Policy &policy, int version) {
    // What is mounted read-only stays so all the same: a rule only names where Landlock does not
    // object. The driver writes to its own /proc, which others see read-only.
    std::vector<std::string> rules{std::to_string(version), "w/tmp", "w/dev/shm", "f/dev",
                                   "f/proc"};
    for (const auto &mount : policy.mounts)
        if (mount.writable)
            rules.push_back("w" + insidePath(mount));
    return rules;
}

std::string entryProblem(std::string_view report) {
    auto text = std::string(report.substr(0, report.find('\n')));
    constexpr std::string_view before = ": error ";
    if (const auto at = text.rfind(before); at != text.npos) {
        int number = 0;
        const char *digits = text.c_str() + at + before.size();
        std::from_chars(digits, text.c_str() + text.size(), number);
        text = text.substr(0, at) + ": " + std::strerror(number);
    }
    return text;
}

} // namespace cuda_agent::sandbox
