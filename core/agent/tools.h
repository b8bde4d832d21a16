// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#pragma once

#include "core/agent/recorder.h"
#include "core/judge/judge.h"

namespace cuda_agent::agent {

/// What tools act on: the candidate folder, the judge and the session's recorder. Borrowed.
/// One thread.
struct Workspace {
    std::filesystem::path folder;
    judge::Judge *judge = nullptr;
    Recorder *recorder = nullptr;
    std::string author = "policy"; ///< who acts: "policy" or "engineer"
};

/// One tool call's worth of doing: checks the arguments, acts, writes its events, answers with an
/// observation. Bad arguments are an observation that says what to change; only machine trouble
/// and stops are errors. Blocks.
///
/// | tool | arguments | does |
/// |---|---|---|
/// | Write | path, content | writes one file of the candidate folder |
/// | Compile | - | compiles the candidate folder |
/// | Verify | strength ("training" or "full") | compiles, verifies and times; gives the verdict |
Result<session::Observation> callTool(Workspace &workspace, const session::ToolCall &call, int turn,
                                      std::stop_token stop);

/// JSON schema of every tool, in the form that chat endpoints take.
Json toolSchemas();

/// A verdict in one line, as policies and people read it.
std::string summaryOf(const Json &verdict);

/// "12.3 us", "1.234 ms", "2.00 s".
std::string formatSeconds(double seconds);

} // namespace cuda_agent::agent
