// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session_index.h"

namespace cuda_agent::widgets {

/// Which versions of the files a long session had at any moment, without walking over all that was
/// ever written: replay asks at every step. The answers are those of `SessionIndex::files`.
class FileHistory {
  public:
    /// Reads what the log has more than at the last call; all of it when it is another log.
    void follow(const SessionIndex &index);
    /// The workspace before the event `cursor`, of the log that was followed last.
    std::map<std::string, FileVersion> files(const SessionIndex &index, std::size_t cursor) const;

  private:
    std::map<std::string, std::vector<std::size_t>> writes_; ///< path -> its fileWritten events
    std::size_t known_ = 0;
    double lastTime_ = 0; ///< of the last known event: tells another log from one that grew
};

} // namespace cuda_agent::widgets
