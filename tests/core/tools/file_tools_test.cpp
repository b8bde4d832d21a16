// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/core/tools/tools_fixture.h"

namespace cuda_agent::tools {
namespace {

namespace fs = std::filesystem;
using testing::TempDir;

TEST_F(ToolsTest, WritesAFileAndLogsIt) {
    const auto observation = call("Write", {{"file_path", "kernels/a.cu"}, {"content", "text"}});
    EXPECT_TRUE(observation.ok);
    EXPECT_EQ(observation.id, "call-1");
    EXPECT_EQ(onDisk("kernels/a.cu"), "text");
    EXPECT_EQ(recorder_->state().files.size(), 1u);
    EXPECT_EQ(inLog("kernels/a.cu"), "text");
}

TEST_F(ToolsTest, TakesPathsInEveryUsualForm) {
    write("/workspace/kernels/a.cu", "1");
    write("./kernels//b.cu", "2");
    EXPECT_TRUE(call("Write", {{"path", "c.cu"}, {"content", "3"}}).ok); // as older logs have it
    EXPECT_EQ(inLog("kernels/a.cu"), "1");
    EXPECT_EQ(inLog("kernels/b.cu"), "2");
    EXPECT_EQ(inLog("c.cu"), "3");
}

TEST_F(ToolsTest, KeepsEveryPathInsideTheWorkspace) {
    for (const auto *path : {"../a.cu", "/etc/passwd", "kernels/../../a.cu", "", ".", ".hidden.cu",
                             "kernels/.git/a.cu", "/workspace/../a", "/workspaces/a", "a\nb"}) {
        for (const auto *tool : {"Read", "Write", "Edit"}) {
            Json arguments{{"file_path", path}};
            if (std::string_view(tool) == "Write")
                arguments["content"] = "text";
            if (std::string_view(tool) == "Edit")
                arguments.update({{"old_string", ""}, {"new_string", "text"}});
            const auto observation = call(tool, arguments);
            EXPECT_FALSE(observation.ok) << tool << " " << path;
            EXPECT_NE(observation.text.find("kernels/fused.cu"), std::string::npos) << path;
        }
    }
    EXPECT_TRUE(recorder_->state().files.empty());
}

TEST_F(ToolsTest, FollowsNoSymbolicLink) {
    const fs::path inside = folder_ / "candidate";
    fs::create_directories(folder_ / "outside");
    ASSERT_TRUE(writeFileAtomically(folder_ / "outside/secret.txt", "secret"));
    fs::create_symlink(folder_ / "outside/secret.txt", inside / "link.txt");
    fs::create_directory_symlink(folder_ / "outside", inside / "folder");
    for (const auto *path : {"link.txt", "folder/secret.txt"}) {
        const auto read = call("Read", {{"file_path", path}});
        EXPECT_FALSE(read.ok);
        EXPECT_EQ(read.text.find("secret\n"), std::string::npos);
        EXPECT_NE(read.text.find("symbolic link"), std::string::npos) << read.text;
        EXPECT_FALSE(call("Write", {{"file_path", path}, {"content", "mine"}}).ok);
        EXPECT_FALSE(
            call("Edit", {{"file_path", path}, {"old_string", "secret"}, {"new_string", "mine"}})
                .ok);
    }
    EXPECT_EQ(readTextFile(folder_ / "outside/secret.txt").value(), "secret");
    EXPECT_FALSE(fs::exists(folder_ / "outside/new"));
}

TEST_F(ToolsTest, ProtectedFilesAreReadAndNotWritten) {
    EXPECT_NE(call("Read", {{"file_path", "model.py"}}).text.find("class Model"),
              std::string::npos);
    const auto observation = call("Write", {{"file_path", "model.py"}, {"content", "mine"}});
    EXPECT_FALSE(observation.ok);
    EXPECT_NE(observation.text.find("protected"), std::string::npos);
    EXPECT_FALSE(
        call("Edit", {{"file_path", "model.py"}, {"old_string", "pass"}, {"new_string", "fail"}})
            .ok);
    EXPECT_EQ(onDisk("model.py"), "class Model: pass\n");
    EXPECT_TRUE(recorder_->state().files.empty());
}

TEST_F(ToolsTest, ReadsWithLineNumbersAndSaysWhatIsLeft) {
    std::string content;
    for (int i = 1; i <= 2500; ++i)
        content += fmt::format("line {}\n", i);
    write("long.txt", content);
    const auto first = call("Read", {{"file_path", "long.txt"}, {"limit", 2}});
    EXPECT_EQ(first.text, "     1\tline 1\n     2\tline 2\n"
                          "[lines 1 to 2 of 2500; read on with offset 3]\n");
    const auto middle = call("Read", {{"file_path", "long.txt"}, {"offset", 2499}});
    EXPECT_EQ(middle.text, "  2499\tline 2499\n  2500\tline 2500\n");
    EXPECT_NE(call("Read", {{"file_path", "long.txt"}}).text.find("[... cut; read on"),
              std::string::npos);
    EXPECT_NE(call("Read", {{"file_path", "long.txt"}, {"offset", 2501}}).text.find("2500 lines"),
              std::string::npos);
    EXPECT_NE(call("Read", {{"file_path", "none.txt"}}).text.find("no file"), std::string::npos);
    write("wide.txt", std::string(5000, 'x') + "\n");
    EXPECT_NE(call("Read", {{"file_path", "wide.txt"}}).text.find("[... 3000 more characters]"),
              std::string::npos);
    write("empty.txt", "");
    EXPECT_EQ(call("Read", {{"file_path", "empty.txt"}}).text, "empty.txt is empty");
    write("binary.bin", std::string("a\0b", 3));
    EXPECT_FALSE(call("Read", {{"file_path", "binary.bin"}}).ok);
}

TEST_F(ToolsTest, EditsExactlyOnce) {
    write("a.cu", "int a;\nint b;\nint b;\n");
    const auto twice =
        call("Edit", {{"file_path", "a.cu"}, {"old_string", "int b;"}, {"new_string", "int c;"}});
    EXPECT_FALSE(twice.ok);
    EXPECT_NE(twice.text.find("occurs 2 times"), std::string::npos) << twice.text;
    const auto none =
        call("Edit", {{"file_path", "a.cu"}, {"old_string", "int z;"}, {"new_string", "x"}});
    EXPECT_NE(none.text.find("does not occur"), std::string::npos);
    const auto same =
        call("Edit", {{"file_path", "a.cu"}, {"old_string", "int a;"}, {"new_string", "int a;"}});
    EXPECT_FALSE(same.ok);
    EXPECT_EQ(onDisk("a.cu"), "int a;\nint b;\nint b;\n");

    const auto once =
        call("Edit", {{"file_path", "a.cu"}, {"old_string", "int a;"}, {"new_string", "float a;"}});
    EXPECT_TRUE(once.ok);
    EXPECT_NE(once.text.find("     1\tfloat a;"), std::string::npos) << once.text;
    EXPECT_TRUE(call("Edit", {{"file_path", "a.cu"},
                              {"old_string", "int b;"},
                              {"new_string", "int bb;"},
                              {"replace_all", true}})
                    .ok);
    EXPECT_EQ(inLog("a.cu"), "float a;\nint bb;\nint bb;\n");
    EXPECT_FALSE(
        call("Edit", {{"file_path", "none.cu"}, {"old_string", "a"}, {"new_string", "b"}}).ok);
    EXPECT_TRUE(
        call("Edit", {{"file_path", "new.cu"}, {"old_string", ""}, {"new_string", "made"}}).ok);
    EXPECT_EQ(inLog("new.cu"), "made");
    EXPECT_FALSE(
        call("Edit", {{"file_path", "a.cu"}, {"old_string", ""}, {"new_string", "made"}}).ok);
}

TEST_F(ToolsTest, MultiEditMakesAllEditsOrNone) {
    write("a.cu", "one two three\n");
    const auto failed = call("MultiEdit", {{"file_path", "a.cu"},
                                           {"edits",
                                            {{{"old_string", "one"}, {"new_string", "1"}},
                                             {{"old_string", "four"}, {"new_string", "4"}}}}});
    EXPECT_FALSE(failed.ok);
    EXPECT_NE(failed.text.find("edit 2 of 2"), std::string::npos) << failed.text;
    EXPECT_EQ(onDisk("a.cu"), "one two three\n");
    EXPECT_EQ(inLog("a.cu"), "one two three\n");
    // Each edit sees what the one before has made.
    EXPECT_TRUE(call("MultiEdit", {{"file_path", "a.cu"},
                                   {"edits",
                                    {{{"old_string", "one"}, {"new_string", "1"}},
                                     {{"old_string", "1 two"}, {"new_string", "12"}}}}})
                    .ok);
    EXPECT_EQ(inLog("a.cu"), "12 three\n");
    EXPECT_FALSE(call("MultiEdit", {{"file_path", "a.cu"}, {"edits", Json::array()}}).ok);
}

TEST_F(ToolsTest, AnswersBadArgumentsWithWhatToChange) {
    const auto text = [&](const std::string &tool, Json arguments) {
        const auto observation = call(tool, std::move(arguments));
        EXPECT_FALSE(observation.ok);
        return observation.text;
    };
    EXPECT_NE(text("Write", {{"file_path", "plan.json"}}).find("needs 'content'"),
              std::string::npos);
    EXPECT_NE(text("Write", Json::array()).find("object"), std::string::npos);
    EXPECT_NE(text("Paint", Json::object()).find("there are Read, Write, Edit"), std::string::npos);
    EXPECT_NE(text("Verify", {{"strength", "some"}}).find("training"), std::string::npos);
    EXPECT_NE(text("Verify", {{"strength", "no UTF-8: \xc3"}}).find("training"), std::string::npos);
    EXPECT_NE(text("Read", {{"file_path", 3}}).find("must be a string, not an integer"),
              std::string::npos);
    EXPECT_NE(text("Read", {{"file_path", "a"}, {"offset", 0}}).find("between 1"),
              std::string::npos);
    EXPECT_NE(text("Read", {{"file_path", "a"}, {"lines", 1}}).find("takes no 'lines'"),
              std::string::npos);
    EXPECT_NE(text("Compile", Json::object()).find("plan.json"), std::string::npos);
    EXPECT_NE(text("Write", {{"file_path", "a"}, {"content", std::string(2u << 20, 'x')}})
                  .find("at most 1048576"),
              std::string::npos);
    EXPECT_NE(text("Edit", {{unparsedArguments, "{\"file_path\": "}, {"cut", true}}).find("cut"),
              std::string::npos);
    EXPECT_NE(text("TodoWrite", {{"todos", {{{"content", "a"}, {"status", "maybe"}}}}})
                  .find("in_progress"),
              std::string::npos);
    EXPECT_TRUE(recorder_->state().files.empty());
}

TEST_F(ToolsTest, KeepsATodoList) {
    const auto observation =
        call("TodoWrite",
             {{"todos",
               {{{"content", "a"}, {"status", "completed"}},
                {{"content", "b"}, {"status", "in_progress"}, {"activeForm", "doing b"}}}}});
    EXPECT_TRUE(observation.ok) << observation.text;
    EXPECT_EQ(observation.text, "kept 2 entries, 1 of them open");
}

TEST_F(ToolsTest, RestoresWhatTheLogSays) {
    write("kernels/a.cu", "mine");
    fs::create_directories(folder_ / "candidate/x/y/z");
    ASSERT_TRUE(writeFileAtomically(folder_ / "candidate/x/y/z/junk", "junk"));
    ASSERT_TRUE(writeFileAtomically(folder_ / "candidate/kernels/a.cu", "changed"));
    fs::remove(folder_ / "candidate/model.py");
    ASSERT_TRUE(workspace_->restore());
    EXPECT_EQ(onDisk("kernels/a.cu"), "mine");
    EXPECT_EQ(onDisk("model.py"), "class Model: pass\n");
    EXPECT_FALSE(fs::exists(folder_ / "candidate/x"));
}

TEST(ToolSchemas, NameEveryToolInTheEndpointsForm) {
    std::vector<std::string> names;
    for (const auto &schema : toolSchemas()) {
        EXPECT_EQ(schema.at("type"), "function");
        const auto &function = schema.at("function");
        names.push_back(function.at("name"));
        EXPECT_FALSE(function.at("description").get<std::string>().empty());
        EXPECT_EQ(function.at("parameters").at("type"), "object");
        for (const auto &name : function.at("parameters").at("required"))
            EXPECT_TRUE(
                function.at("parameters").at("properties").contains(name.get<std::string>()));
    }
    EXPECT_EQ(names, (std::vector<std::string>{"Read", "Write", "Edit", "MultiEdit", "Glob", "Grep",
                                               "Bash", "TodoWrite", "Skill", "Compile", "Verify",
                                               "Profile", "BaselineCode"}));
}

TEST(Clipped, KeepsBothEndsAndWholeCharacters) {
    EXPECT_EQ(clipped("short", 100), "short");
    std::string text;
    for (int i = 0; i < 1000; ++i)
        text += "\u00e4";
    const std::string shown = clipped(text, 301);
    EXPECT_NE(shown.find("of 2000 bytes left out"), std::string::npos);
    EXPECT_NO_THROW(static_cast<void>(Json(shown).dump())); // valid UTF-8
    EXPECT_LT(shown.size(), 400u);
}

} // namespace
} // namespace cuda_agent::tools
