// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/skills/skill_set.h"

#include "core/skills/front_matter.h"
#include "tests/source_dir.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

namespace cuda_agent::skills {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const fs::path data = testData() / "skills";

SkillSet load(const std::vector<SkillFolder> &folders) {
    auto set = SkillSet::load(folders);
    if (!set) {
        ADD_FAILURE() << set.error().message;
        return {};
    }
    return std::move(*set);
}

std::string problemsOf(const Skill &skill) {
    std::string all;
    for (const auto &problem : skill.problems)
        all += problem + "\n";
    return all;
}

/// A skill whose head is `head`, in a folder `name`.
std::string firstProblem(const std::string &head, const std::string &name = "a") {
    const auto parsed = parseSkill("---\n" + head + "\n---\nText.\n", name);
    return parsed.problems.empty() ? "" : parsed.problems.front();
}

/// For what a repository cannot hold well: links, unreadable and huge files.
class SkillTree : public testing::Test {
  protected:
    void SetUp() override {
        std::string pattern = (fs::temp_directory_path() / "skills-XXXXXX").string();
        ASSERT_NE(mkdtemp(pattern.data()), nullptr);
        root_ = fs::path(pattern) / "skills";
        write("tidy/SKILL.md", text("tidy"));
    }
    void TearDown() override { fs::remove_all(root_.parent_path()); }

    static std::string text(const std::string &name) {
        return "---\nname: " + name + "\ndescription: What and when.\n---\nText.\n";
    }
    void write(const std::string &name, const std::string &content) {
        fs::create_directories((root_ / name).parent_path());
        std::ofstream(root_ / name, std::ios::binary) << content;
    }
    /// The problems of the one skill besides `tidy`.
    std::string problem() {
        const auto set = load({{root_}});
        if (set.skills().size() != 2) {
            ADD_FAILURE() << set.skills().size() << " skills";
            return {};
        }
        return problemsOf(set.skills().back());
    }

    fs::path root_;
};

TEST(Skills, AreReadWithNameAndDescription) {
    const auto set = load({{data / "good"}});
    ASSERT_EQ(set.skills().size(), 2u);
    EXPECT_EQ(set.skills()[0].name, "minimal");
    EXPECT_EQ(set.skills()[0].description,
              "The least there can be: a name, a description, a text.");
    EXPECT_EQ(set.skills()[1].name, "row-sums");
    EXPECT_EQ(set.skills()[1].description,
              "Sums rows without losing digits. Use it when a kernel adds up a row.");
    EXPECT_EQ(set.skills()[1].folder, data / "good" / "row-sums");
    for (const auto &skill : set.skills())
        EXPECT_TRUE(skill.usable()) << problemsOf(skill);
}

TEST(Skills, CatalogueHasOneLineEach) {
    EXPECT_EQ(load({{data / "good"}}).catalogue(),
              "- minimal: The least there can be: a name, a description, a text.\n"
              "- row-sums: Sums rows without losing digits. Use it when a kernel adds up a row.\n");
    EXPECT_EQ(load({}).catalogue(), "");
}

TEST(Skills, EveryBadOneSaysWhatIsWrong) {
    const std::map<std::string, std::string> expected = {
        {"no-front-matter", "SKILL.md: line 1: there is no front matter"},
        {"not-closed", "the front matter has no end"},
        {"wrong-name", "name: 'right-name' is not the folder's name 'wrong-name'"},
        {"Upper-Case", "lower-case letters, digits and hyphens only"},
        {"two--hyphens", "hyphens stand one at a time"},
        {"no-name", "name: missing"},
        {"no-description", "description: missing"},
        {"empty-description", "description: must be text that is not empty"},
        {"unknown-field", "version: no field of this format"},
        {"twice", "description: stands there twice"},
        {"not-yaml", "SKILL.md: line 3: not YAML"},
        {"list", "not a list of 'field: value' lines"},
        {"name-is-a-list", "name: must be text"},
        {"metadata-is-text", "metadata: must be a list"},
        {"no-body", "no text below the front matter"},
        {"no-file", "SKILL.md: there is no such file"},
    };
    const auto set = load({{data / "bad"}});
    EXPECT_EQ(set.skills().size(), expected.size());
    for (const auto &skill : set.skills()) {
        ASSERT_TRUE(expected.contains(skill.name)) << skill.name;
        EXPECT_THAT(problemsOf(skill), HasSubstr(expected.at(skill.name)));
        EXPECT_FALSE(set.read(skill.name)) << skill.name;
    }
    EXPECT_EQ(set.catalogue(), "");
    const auto refused = set.read("twice");
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("cannot be used: SKILL.md: description"));
}

TEST(Skills, AUsersReplacesABuiltInOneAndSaysSo) {
    const auto set = load({{data / "good"}, {data / "user"}});
    std::vector<std::string> names;
    for (const auto &skill : set.skills())
        names.push_back(skill.name);
    EXPECT_THAT(names, ElementsAre("extra", "minimal", "row-sums", "minimal"));
    EXPECT_EQ(set.skills()[0].note, "");
    EXPECT_EQ(set.skills()[2].description, "The user's own way to add rows.");
    EXPECT_EQ(set.skills()[2].note,
              "replaces the skill of the same name in '" + (data / "good").string() + "'");
    // The broken one is told apart and leaves the built-in one in place.
    EXPECT_TRUE(set.skills()[1].usable());
    EXPECT_FALSE(set.skills()[3].usable());
    EXPECT_THAT(set.read("row-sums").value(), HasSubstr("My text."));
    EXPECT_THAT(set.read("minimal").value(), HasSubstr("The least"));
    EXPECT_THAT(set.catalogue(), testing::Not(HasSubstr("Broken")));
}

TEST(Skills, FilesAreReadFromTheSkillsFolderOnly) {
    const auto set = load({{data / "good"}});
    EXPECT_THAT(set.files("row-sums").value(), ElementsAre("SKILL.md", "references/numbers.md"));
    EXPECT_EQ(set.read("row-sums", "references/numbers.md").value(), "Two and two are four.\n");
    EXPECT_EQ(set.read("row-sums").value(), set.read("row-sums", "SKILL.md").value());
    const auto message = [&](std::string_view name, std::string_view file) {
        const auto text = set.read(name, file);
        EXPECT_FALSE(text) << file;
        if (text)
            return std::string();
        EXPECT_EQ(text.error().kind, ErrorKind::request);
        return text.error().message;
    };
    EXPECT_THAT(message("row-sums", "../minimal/SKILL.md"), HasSubstr("without '..'"));
    EXPECT_THAT(message("row-sums", "references/../../notes.txt"), HasSubstr("without '..'"));
    EXPECT_THAT(message("row-sums", "/etc/passwd"), HasSubstr("below the skill's folder"));
    EXPECT_THAT(message("row-sums", std::string_view("a\0b", 3)), HasSubstr("below the skill's"));
    EXPECT_THAT(message("row-sums", "references"), HasSubstr("is no file"));
    EXPECT_THAT(message("row-sums", "nothing.md"),
                HasSubstr("there is no such file; the skill has: SKILL.md, references/numbers.md"));
    EXPECT_THAT(message("sums", ""), HasSubstr("there are: minimal, row-sums"));
    EXPECT_FALSE(set.files("sums"));
}

TEST(Skills, FoldersThatAreNotThere) {
    EXPECT_TRUE(load({{data / "none", false}}).skills().empty());
    const auto missing = SkillSet::load({{data / "none"}});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.error().kind, ErrorKind::request);
    EXPECT_THAT(missing.error().message, HasSubstr("is not a folder of skills"));
    EXPECT_FALSE(SkillSet::load({{data / "good" / "notes.txt", false}}));
    const auto itself = SkillSet::load({{data / "good" / "minimal"}});
    ASSERT_FALSE(itself);
    EXPECT_THAT(itself.error().message, HasSubstr("is a skill itself"));
}

TEST(Skills, StandardFoldersAreBuiltInThenTheUsersThenNamed) {
    setenv("CUDA_AGENT_SHARE", "/share", 1);
    setenv("XDG_CONFIG_HOME", "/config", 1);
    auto folders = standardFolders({"/named"});
    ASSERT_EQ(folders.size(), 3u);
    EXPECT_EQ(folders[0].path, "/share/skills");
    EXPECT_TRUE(folders[0].required);
    EXPECT_EQ(folders[1].path, "/config/cuda-agent/skills");
    EXPECT_FALSE(folders[1].required);
    EXPECT_EQ(folders[2].path, "/named");
    EXPECT_TRUE(folders[2].required);
    unsetenv("XDG_CONFIG_HOME");
    setenv("HOME", "/home/user", 1);
    EXPECT_EQ(standardFolders()[1].path, "/home/user/.config/cuda-agent/skills");
    unsetenv("HOME");
    EXPECT_EQ(standardFolders().size(), 1u);
    unsetenv("CUDA_AGENT_SHARE");
}

TEST(SkillHead, LengthsAreInCharacters) {
    const std::string good = "name: a\ndescription: ";
    EXPECT_EQ(firstProblem(good + std::string(1024, 'x')), "");
    EXPECT_EQ(firstProblem(good + std::string(1025, 'x')),
              "description: has 1025 characters, at most 1024 are allowed");
    std::string wide;
    for (int i = 0; i < 1024; ++i)
        wide += "\u00e4";
    EXPECT_EQ(firstProblem(good + wide), "");
    EXPECT_THAT(firstProblem(good + wide + "\u00e4"), HasSubstr("1025"));
    EXPECT_THAT(firstProblem("name: a\ndescription: b\ncompatibility: " + std::string(501, 'x')),
                HasSubstr("compatibility: has 501"));
    const std::string name(65, 'n');
    EXPECT_THAT(firstProblem("name: " + name + "\ndescription: b", name), HasSubstr("at most 64"));
    const std::string longest(64, 'n');
    EXPECT_EQ(firstProblem("name: " + longest + "\ndescription: b", longest), "");
    EXPECT_THAT(firstProblem(good + "b\n#" + std::string(20000, 'x')),
                HasSubstr("front matter has"));
}

TEST(SkillHead, NamesFollowTheFormat) {
    for (const char *name : {"a", "a1", "1", "a-b-c"})
        EXPECT_EQ(nameProblem(name), "") << name;
    for (const char *name : {"", "-a", "a-", "a--b", "A", "a b", "a_b", "a/b", "..", "\u00e4"})
        EXPECT_NE(nameProblem(name), "") << name;
}

TEST(SkillHead, ADescriptionCannotPassForAnotherLine) {
    const auto parsed = parseSkill(
        "---\nname: a\ndescription: \"first\\n- b: second\\r\\n\\tthird\\u0007\"\n---\nText.\n",
        "a");
    EXPECT_THAT(parsed.problems, IsEmpty());
    EXPECT_EQ(parsed.head.description, "first - b: second third");
}

TEST(SkillHead, KeepsMetadataAndTakesOtherLineEnds) {
    const auto parsed = parseSkill("\xEF\xBB\xBF---\r\nname: a\r\ndescription: b\r\nmetadata:\r\n"
                                   "  version: \"1\"\r\n---\r\nText.\r\n",
                                   "a");
    EXPECT_THAT(parsed.problems, IsEmpty());
    EXPECT_EQ(parsed.head.metadata, (std::map<std::string, std::string>{{"version", "1"}}));
    EXPECT_EQ(parsed.body, "Text.\r\n");
}

TEST(SkillHead, HostileYamlIsAProblemAndNothingMore) {
    EXPECT_THAT(firstProblem("name: " + std::string(5000, '[')), HasSubstr("not YAML"));
    EXPECT_NE(firstProblem("name: \"" + std::string(5000, 'x')), "");
    EXPECT_THAT(firstProblem("? [a, b]\n: c"), HasSubstr("must be text"));
    EXPECT_THAT(firstProblem("*unknown"), HasSubstr("not YAML"));
    std::string doubling = "a0: &a0 [x, x]\n";
    for (int i = 1; i < 60; ++i)
        doubling += fmt::format("a{0}: &a{0} [*a{1}, *a{1}]\n", i, i - 1);
    EXPECT_THAT(firstProblem(doubling), HasSubstr("a0: no field of this format"));
}

TEST_F(SkillTree, LinksOutOfTheFolderAreRefused) {
    const auto outside = root_.parent_path() / "outside";
    fs::create_directories(outside);
    std::ofstream(outside / "SKILL.md") << text("linked");
    fs::create_directory_symlink(outside, root_ / "linked");
    EXPECT_THAT(problem(), HasSubstr("leads out of"));
    fs::remove(root_ / "linked");
    fs::create_directories(root_ / "linked");
    fs::create_symlink(outside / "SKILL.md", root_ / "linked" / "SKILL.md");
    EXPECT_THAT(problem(), HasSubstr("SKILL.md: leads out of the skill's folder"));
    fs::remove_all(root_ / "linked");

    fs::create_symlink(outside / "SKILL.md", root_ / "tidy" / "more.md");
    fs::create_directory_symlink(outside, root_ / "tidy" / "folder");
    const auto set = load({{root_}});
    EXPECT_THAT(set.read("tidy", "more.md").error().message, HasSubstr("leads out"));
    EXPECT_THAT(set.read("tidy", "folder/SKILL.md").error().message, HasSubstr("leads out"));
    EXPECT_THAT(set.files("tidy").value(), ElementsAre("SKILL.md"));
}

TEST_F(SkillTree, LinksInsideAreFollowed) {
    write("tidy/a.md", "A.\n");
    fs::create_symlink("a.md", root_ / "tidy" / "b.md");
    EXPECT_EQ(load({{root_}}).read("tidy", "b.md").value(), "A.\n");
}

TEST_F(SkillTree, FilesThatAreNoTextAreRefused) {
    write("odd/SKILL.md", text("odd") + "\xff");
    EXPECT_THAT(problem(), HasSubstr("SKILL.md: is no UTF-8 text"));
    write("odd/SKILL.md", text("odd") + std::string(1, '\0'));
    EXPECT_THAT(problem(), HasSubstr("is no UTF-8 text"));
    write("odd/SKILL.md", text("odd") + std::string(2u << 20, 'x'));
    EXPECT_THAT(problem(), HasSubstr("SKILL.md: "));
    fs::remove(root_ / "odd" / "SKILL.md");
    fs::create_directories(root_ / "odd" / "SKILL.md");
    EXPECT_THAT(problem(), HasSubstr("is no file"));
    fs::remove_all(root_ / "odd" / "SKILL.md");
    fs::create_symlink("SKILL.md", root_ / "odd" / "SKILL.md"); // a circle
    EXPECT_THAT(problem(), HasSubstr("SKILL.md: "));
}

TEST_F(SkillTree, AnUnreadableFileSaysSo) {
    if (::geteuid() == 0)
        GTEST_SKIP() << "root may read everything";
    write("closed/SKILL.md", text("closed"));
    fs::permissions(root_ / "closed" / "SKILL.md", fs::perms::none);
    EXPECT_THAT(problem(), HasSubstr("ermission denied"));
}

TEST_F(SkillTree, HiddenFoldersAndDanglingLinksAreNoSkills) {
    write(".git/SKILL.md", text("git"));
    fs::create_symlink("nowhere", root_ / "dangling");
    EXPECT_EQ(load({{root_}}).skills().size(), 1u);
}

/// The skills that this program ships.
TEST(BuiltInSkills, AreAllUsable) {
    const auto set = load({{sourceDir() / "skills"}});
    EXPECT_GE(set.skills().size(), 9u);
    for (const auto &skill : set.skills())
        EXPECT_TRUE(skill.usable()) << skill.name << ": " << problemsOf(skill);
    EXPECT_TRUE(set.read("cuda-agent-workflow"));
    // It stands in every system prompt: a few hundred tokens, not thousands.
    EXPECT_LT(set.catalogue().size(), 8000u);
}

} // namespace
} // namespace cuda_agent::skills
