// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/judge/judge.h"
#include "core/session/recorder.h"
#include "core/skills/skill_set.h"
#include "core/tools/workspace_folder.h"

#include <functional>
#include <map>

namespace cuda_agent::tools {

inline constexpr std::size_t largestFile = 1u << 20; ///< bytes of one file of the workspace
inline constexpr std::size_t mostFiles = 1000;       ///< files that the log follows
inline constexpr std::size_t largestAnswer = 30'000; ///< characters of one observation

/// The one argument of a call whose arguments were no JSON object: their text. With "cut": true
/// when the model's answer was cut off.
inline constexpr const char *unparsedArguments = "unparsed_arguments";
/// The one argument of a call of no tool, in place of what could not be read as calls: why.
inline constexpr const char *unreadableCall = "unreadable_call";

/// What tools act on: the workspace's folder, the session's recorder, the judge. One thread.
///
/// The workspace is the folder that the agent sees as /workspace. Its files are the log's: every
/// change is a `fileWritten` or `fileRemoved` event, so that a resumed or replayed session has the
/// same files. Protected files are put there by the engine, are shown read-only to shells, and are
/// no business of the log's.
class Workspace {
  public:
    struct Parts {
        std::filesystem::path folder;
        session::Recorder *recorder = nullptr; ///< borrowed
        judge::Judge *judge = nullptr;         ///< borrowed; null: the judge's tools say so
        std::map<std::string, std::string> protectedFiles; ///< path -> text
        skills::SkillSet skills; ///< for the tool Skill, and below /skills for shells
    };
    /// Errors: machine.
    static Result<Workspace> open(Parts parts);

    const WorkspaceFolder &folder() const { return folder_; }
    session::Recorder &recorder() const { return *parts_.recorder; }
    judge::Judge *judge() const { return parts_.judge; }
    const std::map<std::string, std::string> &protectedFiles() const {
        return parts_.protectedFiles;
    }
    const skills::SkillSet &skills() const { return parts_.skills; }

    std::string author = "policy"; ///< who acts: "policy" or "engineer"
    int turn = 0;                  ///< of the events that are written

    /// Makes the folder hold exactly the files that the log says, and the protected ones.
    /// Errors: machine.
    Result<void> restore();
    /// Errors: request (see WorkspaceFolder::read).
    Result<std::string> read(const std::string &path) const;
    /// Writes a file and logs it. Errors: request (protected, too large, too many), machine.
    Result<void> write(const std::string &path, const std::string &content);
    /// Logs what a shell changed and puts protected files back. Returns what it found, a line each:
    /// "changed kernels/a.cu", "not kept: core (too large)". Errors: machine.
    Result<std::vector<std::string>> pickUp();

  private:
    Workspace(Parts parts, WorkspaceFolder folder)
        : parts_(std::move(parts)), folder_(std::move(folder)) {}
    Result<void> logWritten(const std::string &path, const std::string &content);

    Parts parts_;
    WorkspaceFolder folder_;
};

/// One thing that a policy can do.
struct Tool {
    std::string name;
    std::string description; ///< as a language model reads it
    Json parameters;         ///< JSON schema of the arguments, an object
    /// Acts and answers with an observation; its id and seconds are filled in by the caller. The
    /// arguments fit the schema. What the policy did wrong is an observation that says what to
    /// change. Errors: machine, stopped.
    std::function<Result<session::Observation>(Workspace &, const Json &arguments,
                                               std::stop_token stop)>
        act;
    bool changes = false; ///< the workspace or anything else outside the session
};

/// Every tool there is, in the order in which they are offered.
const std::vector<Tool> &allTools();

/// The tools in the form that chat endpoints take:
/// [{"type": "function", "function": {"name", "description", "parameters"}}].
Json toolSchemas();

/// Checks the arguments, acts, writes the events of what happened, and answers with an observation.
/// A call that cannot be understood is an observation that says why. Blocks.
/// Errors: machine, stopped.
Result<session::Observation> callTool(Workspace &workspace, const session::ToolCall &call,
                                      std::stop_token stop);

// What tools answer with.
session::Observation answer(std::string text);
session::Observation refuse(std::string text);
/// At most `most` characters of a text: its beginning and its end, and between them a line that
/// says how much is left out. Never cuts a UTF-8 character.
std::string clipped(std::string text, std::size_t most = largestAnswer);

// The tools, by what they need.
std::vector<Tool> fileTools();
std::vector<Tool> searchTools();
std::vector<Tool> shellTools();
std::vector<Tool> planningTools();
std::vector<Tool> judgeTools();

} // namespace cuda_agent::tools
