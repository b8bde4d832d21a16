// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/core/tools/tools_fixture.h"

#include <thread>

namespace cuda_agent::tools {
namespace {

namespace fs = std::filesystem;

class ShellTest : public ToolsTest {
  protected:
    std::filesystem::path skillFolder() const override {
        const auto folder = fs::path(testing::TempDir()) / "shell-skills";
        fs::create_directories(folder / "counting");
        EXPECT_TRUE(writeFileAtomically(folder / "counting/SKILL.md",
                                        "---\nname: counting\ndescription: How to count. Use it to "
                                        "count.\n---\n\nOne, two.\n"));
        EXPECT_TRUE(writeFileAtomically(folder / "counting/more.md", "Three.\n"));
        return folder;
    }
    session::Observation bash(const std::string &command, int timeout = 20'000) {
        return call("Bash", {{"command", command}, {"timeout", timeout}});
    }
};

TEST_F(ShellTest, RunsInTheWorkspaceAndLogsWhatChanged) {
    write("kernels/a.cu", "old\n");
    write("gone.txt", "x");
    const auto observation = bash("pwd; cat model.py; echo new > kernels/a.cu; echo made > b.txt; "
                                  "rm gone.txt; echo oops >&2; exit 3");
    EXPECT_FALSE(observation.ok);
    EXPECT_EQ(observation.data.at("exit_code"), 3);
    EXPECT_EQ(observation.text, "/workspace\nclass Model: pass\noops\n[exit 3]\n[files: new b.txt; "
                                "changed kernels/a.cu; removed gone.txt]");
    EXPECT_EQ(inLog("kernels/a.cu"), "new\n");
    EXPECT_EQ(inLog("b.txt"), "made\n");
    EXPECT_EQ(recorder_->state().files.count("gone.txt"), 0u);
    EXPECT_EQ(bash("true").text, "[no output]");
}

TEST_F(ShellTest, CannotTouchWhatIsProtectedOrOutside) {
    const auto observation =
        bash("echo mine > model.py; rm -f model.py; mv model.py x; echo mine > /usr/x; "
             "echo mine > /skills/counting/SKILL.md; cat /etc/shadow; ls /root /home 2>&1");
    EXPECT_EQ(observation.text.find("root:"), std::string::npos);
    EXPECT_EQ(onDisk("model.py"), "class Model: pass\n");
    EXPECT_TRUE(recorder_->state().files.empty()) << observation.text;
    const auto network = bash("timeout 5 bash -c 'exec 3<>/dev/tcp/1.1.1.1/80' && echo connected");
    EXPECT_EQ(network.text.find("connected"), std::string::npos);
    EXPECT_FALSE(network.ok);
}

TEST_F(ShellTest, EndsWhatNeverEnds) {
    const auto observation = bash("echo before; sleep 1000", 500);
    EXPECT_FALSE(observation.ok);
    EXPECT_NE(observation.text.find("before"), std::string::npos);
    EXPECT_NE(observation.text.find("wall limit"), std::string::npos) << observation.text;
    EXPECT_LT(observation.seconds, 10);
}

TEST_F(ShellTest, CutsWhatPrintsWithoutEnd) {
    const auto observation = bash("yes 0123456789 | head -c 3000000000", 4'000);
    EXPECT_LT(observation.text.size(), largestAnswer + 1000);
    EXPECT_NE(observation.text.find("left out"), std::string::npos);
    EXPECT_NE(observation.data.at("limits_hit").dump().find("output"), std::string::npos)
        << observation.data.dump();
}

TEST_F(ShellTest, KeepsNoLinksNoGiantsNoHiddenFiles) {
    const auto observation = bash("ln -s /etc/passwd link; head -c 2000000 /dev/zero > big; "
                                  "echo x > .hidden; mkfifo pipe; mkdir -p d; echo y > d/ok");
    for (const auto *what : {"link (symbolic link)", "big (larger than 1 MiB)", ".hidden (hidden)",
                             "pipe (no regular file)", "new d/ok"})
        EXPECT_NE(observation.text.find(what), std::string::npos) << observation.text;
    EXPECT_EQ(recorder_->state().files.size(), 1u);
    ASSERT_TRUE(workspace_->restore());
    EXPECT_FALSE(fs::exists(fs::symlink_status(folder_ / "candidate/link")));
    EXPECT_TRUE(fs::exists(folder_ / "candidate/d/ok"));
}

TEST_F(ShellTest, ADeepTreeDoesNoHarm) {
    const auto observation =
        bash("for i in $(seq 3000); do mkdir d && cd d || break; done; chmod 000 /workspace/d");
    static_cast<void>(observation);
    ASSERT_TRUE(workspace_->restore());
    EXPECT_TRUE(recorder_->state().files.empty());
    EXPECT_FALSE(fs::exists(folder_ / "candidate/d"));
}

TEST_F(ShellTest, AStopEndsACommand) {
    std::stop_source stop;
    std::jthread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(300));
        stop.request_stop();
    });
    const auto observation =
        callTool(*workspace_, {"1", "Bash", {{"command", "sleep 100"}}}, stop.get_token());
    ASSERT_FALSE(observation);
    EXPECT_EQ(observation.error().kind, ErrorKind::stopped);
}

TEST_F(ShellTest, FindsFilesByPattern) {
    write("kernels/a.cu", "x");
    write("kernels/deep/b.cu", "x");
    write("notes.md", "x");
    EXPECT_EQ(call("Glob", {{"pattern", "*.md"}}).text, "notes.md\n");
    const auto all = call("Glob", {{"pattern", "**/*.cu"}}).text;
    EXPECT_NE(all.find("kernels/a.cu\n"), std::string::npos);
    EXPECT_NE(all.find("kernels/deep/b.cu\n"), std::string::npos);
    EXPECT_EQ(call("Glob", {{"pattern", "*.py"}, {"path", "kernels"}}).text,
              "no file matches *.py");
    EXPECT_NE(call("Glob", {{"pattern", "*.md"}, {"path", "/skills"}}).text.find("counting"),
              std::string::npos);
    EXPECT_FALSE(call("Glob", {{"pattern", "*"}, {"path", "/etc"}}).ok);
    EXPECT_FALSE(call("Glob", {{"pattern", "*"}, {"path", "/skills/../etc"}}).ok);
    EXPECT_FALSE(call("Glob", {{"pattern", "["}}).ok);
}

TEST_F(ShellTest, SearchesContents) {
    write("kernels/a.cu", "one\nfloat x = 1;\nthree\n");
    write("b.txt", "FLOAT\n");
    EXPECT_EQ(call("Grep", {{"pattern", "float"}}).text, "kernels/a.cu\n");
    EXPECT_EQ(call("Grep", {{"pattern", "flo.t"}, {"output_mode", "content"}, {"-C", 1}}).text,
              "kernels/a.cu-1-one\nkernels/a.cu:2:float x = 1;\nkernels/a.cu-3-three\n");
    EXPECT_EQ(call("Grep", {{"pattern", "float"}, {"-i", true}, {"output_mode", "count"}}).text,
              "b.txt:1\nkernels/a.cu:1\n");
    EXPECT_EQ(call("Grep", {{"pattern", "absent"}}).text, "nothing matches absent");
    const auto bad = call("Grep", {{"pattern", "("}});
    EXPECT_FALSE(bad.ok);
    EXPECT_NE(bad.text.find("regex"), std::string::npos) << bad.text;
    EXPECT_EQ(call("Grep", {{"pattern", "Model"}, {"glob", "*.py"}}).text, "model.py\n");
}

TEST_F(ShellTest, LoadsSkillsByNeed) {
    const auto skill = call("Skill", {{"name", "counting"}});
    EXPECT_TRUE(skill.ok) << skill.text;
    EXPECT_NE(skill.text.find("One, two."), std::string::npos);
    EXPECT_NE(skill.text.find("more.md"), std::string::npos);
    EXPECT_EQ(call("Skill", {{"name", "counting"}, {"file", "more.md"}}).text, "Three.\n");
    EXPECT_FALSE(call("Skill", {{"name", "counting"}, {"file", "../../etc/passwd"}}).ok);
    EXPECT_FALSE(call("Skill", {{"name", "flying"}}).ok);
    EXPECT_NE(bash("cat /skills/counting/more.md").text.find("Three."), std::string::npos);
}

} // namespace
} // namespace cuda_agent::tools
