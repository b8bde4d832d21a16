// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/judge/judge.h"
#include "core/session/log.h"
#include "core/session/state.h"

namespace cuda_agent::agent {

/// The candidate folder of a session plus the judge: what tools act on. One thread.
struct Workspace {
    std::filesystem::path folder;
    judge::Judge *judge = nullptr;
    session::Log *log = nullptr;
};

/// One tool call's worth of doing: checks the arguments, acts, writes its events, answers with an
/// observation. Bad arguments are an observation that says what to change; only machine trouble
/// and stops are errors.
///
/// | tool | arguments | does |
/// |---|---|---|
/// | Write | path, content | writes one file of the candidate folder |
/// | Compile | - | compiles the candidate folder |
/// | Verify | strength ("training" or "full") | compiles, verifies and times; gives the verdict |
Result<session::Observation> callTool(Workspace &workspace, const session::ToolCall &call, int turn,
                                      std::stop_token stop);

/// JSON schema of every tool, in the form chat endpoints take.
Json toolSchemas();

} // namespace cuda_agent::agent
