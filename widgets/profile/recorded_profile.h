// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session_document.h"

namespace cuda_agent::widgets {

/// The profile of the shown turn's candidate as the log has it, at the document's cursor.
struct RecordedProfile {
    const Json *json = nullptr; ///< in the document's index; null when there is none
    int turn = 0;               ///< in which it was taken: the shown one, or another one that
                                ///< judged the very same files
    bool engineer = false;      ///< who asked for it
    int other = 0;              ///< without one: the last turn that has one; 0 when none has
    /// Without one, when it was asked for in the shown turn: why there is none, as the log says.
    QString reason;
};
RecordedProfile recordedProfile(const SessionDocument &document);

} // namespace cuda_agent::widgets
