// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace cuda_agent::policy {

/// Takes a stream of server-sent events apart (HTML standard, section 9.2): the data of each event,
/// whatever pieces it arrives in. Comments and other fields are left out. One thread.
class EventStream {
  public:
    explicit EventStream(std::function<void(std::string_view data)> onData)
        : onData_(std::move(onData)) {}

    void feed(std::string_view bytes);
    /// The stream is over; an event without its closing blank line counts, as many servers leave
    /// the last one out.
    void finish();

  private:
    void line(std::string_view text);
    void dispatch();

    std::function<void(std::string_view)> onData_;
    std::string pending_; ///< of a line that is not whole
    std::string data_;    ///< of the event under way
    bool hasData_ = false;
    bool afterReturn_ = false; ///< the last byte was CR; a LF now belongs to it
};

} // namespace cuda_agent::policy
