// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session_document.h"

namespace cuda_agent::widgets::sample {

/// A session folder that grows event by event, with real blobs.
class CodeSession {
  public:
    explicit CodeSession(std::filesystem::path folder);

    const std::filesystem::path &folder() const { return folder_; }
    std::string putBlob(const std::string &text);
    void add(session::EventType type, int turn, Json data);
    void task(const std::string &text);
    /// One whole turn that writes the files.
    void turn(int number, const std::map<std::string, std::string> &files,
              const Json &diagnostics = Json::array(), const std::string &author = "policy");

    SessionIndex index() const;
    /// Events that came since the last call.
    std::vector<session::Event> fresh();

  private:
    std::filesystem::path folder_;
    std::vector<session::Event> events_;
    std::size_t given_ = 0;
};

} // namespace cuda_agent::widgets::sample
