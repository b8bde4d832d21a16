// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/core/reference/worker_fixture.h"

#include <fstream>

namespace cuda_agent::reference {
namespace {

class HostileTasks : public WorkerTest {
  protected:
    std::string attack(const std::string &name, const std::vector<std::string> &more = {}) {
        auto sets = more;
        sets.push_back("attack='" + name + "'");
        options_.caseTimeout = std::chrono::seconds(10);
        const auto text = problem("hostile", sets);
        // The engine goes on; refusing a file needs a sandbox and Python, but not torch.
        EXPECT_NE(problem("not_python").find("not_python.py:5"), std::string::npos)
            << "after the attack '" << name << "'";
        return text;
    }
};

#define EXPECT_SAYS(text, part)                                                                    \
    EXPECT_NE((text).find(part), std::string::npos) << "it says: " << (text)

TEST_F(HostileTasks, opensASocket) {
    const auto text = attack("socket");
    EXPECT_SAYS(text, "hostile.py:");
    EXPECT_EQ(text.find("timed out"), std::string::npos) << "packets left the sandbox: " << text;
}

TEST_F(HostileTasks, readsASecretOfTheHost) {
    const auto file = cache_ / "secret.txt";
    std::ofstream(file) << "the password";
    const auto text = attack("secret", {"secret='" + file.string() + "'"});
    EXPECT_SAYS(text, "FileNotFoundError");
    EXPECT_EQ(text.find("the password"), std::string::npos);
}

TEST_F(HostileTasks, forkBomb) {
    EXPECT_SAYS(attack("fork bomb"), "no answer within 10 s");
}

TEST_F(HostileTasks, writesGarbageToTheChannel) {
    EXPECT_SAYS(attack("garbage"), "disturbed its worker's channel");
}

TEST_F(HostileTasks, forgesAnAnswer) {
    EXPECT_SAYS(attack("forged answer"), "description.name");
}

TEST_F(HostileTasks, closesTheChannel) {
    EXPECT_SAYS(attack("close"), "ended its worker, or closed its channel");
}

TEST_F(HostileTasks, writesItsOwnFile) {
    const auto before = std::filesystem::file_size(spec("hostile").file);
    EXPECT_SAYS(attack("write task"), "hostile.py:");
    EXPECT_EQ(std::filesystem::file_size(spec("hostile").file), before);
}

} // namespace
} // namespace cuda_agent::reference
