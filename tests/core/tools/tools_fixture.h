// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/base/hash.h"
#include "core/tools/toolbox.h"

#include <gtest/gtest.h>

namespace cuda_agent::tools {

/// A session in a temporary folder with a workspace, and no judge.
class ToolsTest : public testing::Test {
  protected:
    void SetUp() override {
        folder_ =
            std::filesystem::path(testing::TempDir()) / fmt::format("tools-{:x}", randomSeed());
        auto log = session::Log::create(folder_);
        ASSERT_TRUE(log) << log.error().message;
        recorder_.emplace(std::move(*log), session::State());
        Workspace::Parts parts;
        parts.folder = folder_ / "candidate";
        parts.recorder = &*recorder_;
        parts.protectedFiles["model.py"] = "class Model: pass\n";
        if (const auto skills = skillFolder(); !skills.empty()) {
            auto set = skills::SkillSet::load({{skills, true}});
            ASSERT_TRUE(set) << set.error().message;
            parts.skills = std::move(*set);
        }
        auto workspace = Workspace::open(std::move(parts));
        ASSERT_TRUE(workspace) << workspace.error().message;
        workspace_.emplace(std::move(*workspace));
        ASSERT_TRUE(workspace_->restore());
        workspace_->turn = 1;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }
    virtual std::filesystem::path skillFolder() const { return {}; }

    session::Observation call(const std::string &tool, Json arguments, std::stop_token stop = {}) {
        auto observation =
            callTool(*workspace_, {"call-1", tool, std::move(arguments)}, std::move(stop));
        EXPECT_TRUE(observation) << (observation ? "" : observation.error().message);
        return observation.value_or(session::Observation{});
    }
    void write(const std::string &path, const std::string &content) {
        const auto observation = call("Write", {{"file_path", path}, {"content", content}});
        EXPECT_TRUE(observation.ok) << observation.text;
    }
    std::string onDisk(const std::string &path) const {
        return readTextFile(folder_ / "candidate" / path).value_or("(no file)");
    }
    /// The text that the log has for a file.
    std::string inLog(const std::string &path) const {
        const auto &files = recorder_->state().files;
        const auto found = files.find(path);
        return found == files.end() ? "(no file)"
                                    : session::readBlob(folder_, found->second).value_or("?");
    }

    std::filesystem::path folder_;
    std::optional<session::Recorder> recorder_;
    std::optional<Workspace> workspace_;
};

} // namespace cuda_agent::tools
