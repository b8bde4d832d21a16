// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/reference/launch.h"

#include "core/base/paths.h"

#include <gtest/gtest.h>

#include <fstream>

namespace cuda_agent::reference {
namespace {

namespace fs = std::filesystem;

class LaunchTest : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "launch.XXXXXX").string();
        folder_ = ::mkdtemp(pattern.data());
    }
    void TearDown() override { fs::remove_all(folder_); }
    fs::path file(const fs::path &name, const std::string &text = "") {
        fs::create_directories((folder_ / name).parent_path());
        std::ofstream(folder_ / name) << text;
        return folder_ / name;
    }
    std::vector<std::string> shown(const fs::path &program) {
        std::vector<std::string> result;
        const auto mounts = pythonMounts(program);
        EXPECT_TRUE(mounts) << mounts.error().message;
        for (const auto &mount : mounts.value()) {
            EXPECT_FALSE(mount.writable);
            result.push_back(mount.inside.string());
        }
        return result;
    }
    fs::path folder_;
};

TEST_F(LaunchTest, virtualEnvironmentOverTheSystemsPython) {
    const auto program = file("venv/bin/python");
    file("venv/pyvenv.cfg", "home = /usr/bin\nversion = 3.11.2\n");
    EXPECT_EQ(shown(program), std::vector<std::string>{folder_ / "venv"});
}

TEST_F(LaunchTest, virtualEnvironmentOverAnInterpreterElsewhere) {
    const auto interpreter = file("python-3.12/bin/python3.12");
    file("venv/pyvenv.cfg", "home=" + (folder_ / "python-3.12/bin").string() + "\n");
    fs::create_directories(folder_ / "venv/bin");
    fs::create_symlink(interpreter, folder_ / "venv/bin/python");
    EXPECT_EQ(shown(folder_ / "venv/bin/python"),
              (std::vector<std::string>{folder_ / "venv", folder_ / "python-3.12"}));
}

TEST_F(LaunchTest, environmentBehindALinkIsShownUnderBothNames) {
    file("real/venv/bin/python");
    file("real/venv/pyvenv.cfg", "home = /usr/bin\n");
    fs::create_directory_symlink(folder_ / "real", folder_ / "link");
    EXPECT_EQ(shown(folder_ / "link/venv/bin/python"),
              (std::vector<std::string>{folder_ / "link/venv", folder_ / "real/venv"}));
}

TEST_F(LaunchTest, saysWhatToDoWithoutPython) {
    const auto missing = pythonMounts(folder_ / "nowhere/bin/python");
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().kind, ErrorKind::machine);
    EXPECT_NE(missing.error().message.find("CUDA_AGENT_PYTHON"), std::string::npos);
    EXPECT_FALSE(pythonMounts({}));
}

TEST_F(LaunchTest, showsOneTaskFileAndKeepsCachesApart) {
    ::setenv("CUDA_AGENT_CACHE", (folder_ / "cache").c_str(), 1);
    device::Info info;
    info.name = "Test CPU";
    const auto one = file("tasks/one.py", "a = 1\n");
    const auto two = file("tasks/two.py", "a = 2\n");
    const auto first = prepareLaunch({one, {}}, info, {});
    const auto second = prepareLaunch({two, {}}, info, {});
    ASSERT_TRUE(first) << first.error().message;
    ASSERT_TRUE(second) << second.error().message;
    EXPECT_EQ(first->taskFile, "/task/one.py");
    const auto cacheOf = [](const Launch &launch) {
        fs::path host;
        for (const auto &mount : launch.policy.mounts) {
            EXPECT_EQ(mount.writable, mount.inside == "/cache") << mount.inside;
            if (mount.inside == "/cache")
                host = mount.host;
        }
        return host;
    };
    EXPECT_NE(cacheOf(*first), cacheOf(*second));
    EXPECT_TRUE(fs::is_directory(cacheOf(*first)));
    for (const auto &mount : first->policy.mounts)
        EXPECT_NE(mount.host, folder_ / "tasks");
    EXPECT_FALSE(first->policy.gpu);
    info.kind = device::Kind::cuda;
    info.index = 3;
    EXPECT_EQ(prepareLaunch({one, {}}, info, {}).value().policy.gpu, 3);
    EXPECT_FALSE(prepareLaunch({folder_ / "gone.py", {}}, info, {}));
}

} // namespace
} // namespace cuda_agent::reference
