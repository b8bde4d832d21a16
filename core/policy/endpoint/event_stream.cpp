// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/endpoint/event_stream.h"

namespace cuda_agent::policy {

void EventStream::feed(std::string_view bytes) {
    while (!bytes.empty()) {
        if (afterReturn_ && bytes.front() == '\n')
            bytes.remove_prefix(1);
        afterReturn_ = false;
        const auto end = bytes.find_first_of("\r\n");
        if (end == std::string_view::npos) {
            pending_.append(bytes);
            return;
        }
        pending_.append(bytes.substr(0, end));
        afterReturn_ = bytes[end] == '\r';
        bytes.remove_prefix(end + 1);
        const std::string whole = std::exchange(pending_, {});
        line(whole);
    }
}

void EventStream::finish() {
    if (!pending_.empty())
        line(std::exchange(pending_, {}));
    dispatch();
}

void EventStream::line(std::string_view text) {
    if (text.empty())
        return dispatch();
    const auto colon = text.find(':');
    if (colon == 0 || text.substr(0, colon) != "data")
        return;
    auto value = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    if (value.starts_with(' '))
        value.remove_prefix(1);
    if (hasData_)
        data_ += '\n';
    data_ += value;
    hasData_ = true;
}

void EventStream::dispatch() {
    if (std::exchange(hasData_, false)) {
        const std::string data = std::exchange(data_, {});
        onData_(data);
    }
}

} // namespace cuda_agent::policy
