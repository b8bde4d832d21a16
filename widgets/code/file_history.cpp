// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/code/file_history.h"

#include "widgets/base/text.h"

namespace cuda_agent::widgets {

using session::EventType;

void FileHistory::follow(const SessionIndex &index) {
    const auto &events = index.events();
    if (known_ > events.size() || (known_ > 0 && events[known_ - 1].time != lastTime_)) {
        writes_.clear();
        known_ = 0;
    }
    for (; known_ < events.size(); ++known_) {
        const session::Event &event = events[known_];
        lastTime_ = event.time;
        if (event.type != EventType::fileWritten && event.type != EventType::fileRemoved)
            continue;
        const std::string path = textOf(event.data, "path").toStdString();
        if (!path.empty())
            writes_[path].push_back(known_);
    }
}

std::map<std::string, FileVersion> FileHistory::files(const SessionIndex &index,
                                                      std::size_t cursor) const {
    std::map<std::string, FileVersion> result;
    for (const auto &[path, writes] : writes_) {
        auto at = std::lower_bound(writes.begin(), writes.end(), cursor);
        while (at != writes.begin()) {
            const session::Event &event = index.events()[*--at];
            const bool engineer = textOf(event.data, "author") == QLatin1String("engineer");
            // What a turn wrote that was cut off and done again never happened.
            const TurnRange *turn = event.turn > 0 ? index.turn(event.turn, cursor) : nullptr;
            if (turn && *at < turn->begin && !engineer)
                continue;
            if (event.type != EventType::fileRemoved)
                result[path] = {textOf(event.data, "blob").toStdString(), event.turn, engineer,
                                *at};
            break;
        }
    }
    return result;
}

} // namespace cuda_agent::widgets
