// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/session/state.h"

#include <optional>

namespace cuda_agent::policy {

/// Where a turn's mistake shows, in bytes of its text.
struct ShownMistake {
    std::int64_t end = 0;  ///< of the line, or the kernel
    std::int64_t over = 0; ///< up to here nothing of the text can be the reason, either
    bool near = false;     ///< it may well be in the lines before `end`
    /// What stands before has little to do with it. 0: nothing is told of that.
    std::int64_t begin = 0;
    /// Of a line that does not compile: where its function begins. What stands from there to `end`
    /// does not compile in another turn, either, or hardly ever.
    std::optional<std::int64_t> function = {};
};

/// What the turn's verdict says of a source that its text `text` holds: the first line that does
/// not compile, behind which all that the turn wrote is out of the question; or the kernel that a
/// launch failed in, behind which the rest of the source is. Or, where the plan that it wrote was
/// refused, what of that the refusal names: kernels and thoughts were not looked at yet. Nothing
/// where no such place is named.
std::optional<ShownMistake> mistakeOf(const session::Turn &turn, const std::string &text);

/// Of a turn's text behind which the grammar refuses what the model would write: that place. Where
/// it is in a plan, only names of buffers are refused, and kernels are seldom the reason.
ShownMistake refusedBehind(std::string_view text);

} // namespace cuda_agent::policy
