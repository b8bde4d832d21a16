// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/code/code_session.h"

#include <QCryptographicHash>

#include <fstream>

namespace cuda_agent::widgets::sample {

using session::EventType;

CodeSession::CodeSession(std::filesystem::path folder) : folder_(std::move(folder)) {
    std::filesystem::create_directories(folder_ / "blobs");
}

std::string CodeSession::putBlob(const std::string &text) {
    const std::string name =
        QCryptographicHash::hash(QByteArray::fromStdString(text), QCryptographicHash::Sha256)
            .toHex()
            .toStdString();
    if (const auto file = folder_ / "blobs" / name; !std::filesystem::exists(file))
        std::ofstream(file, std::ios::binary) << text;
    return name;
}

void CodeSession::add(EventType type, int turn, Json data) {
    session::Event event;
    event.sequence = static_cast<std::int64_t>(events_.size());
    event.time = 1760000000 + 0.1 * double(events_.size());
    event.type = type;
    event.turn = turn;
    event.data = std::move(data);
    events_.push_back(std::move(event));
}

void CodeSession::task(const std::string &text) {
    add(EventType::sessionStarted, 0,
        {{"policy", "planner"},
         {"task", {{"blob", putBlob(text)}, {"file", "/tasks/softmax.py"}, {"name", "softmax"}}}});
}

void CodeSession::turn(int number, const std::map<std::string, std::string> &files,
                       const Json &diagnostics, const std::string &author) {
    add(EventType::turnStarted, number, {{"author", author}});
    for (const auto &[path, text] : files)
        add(EventType::fileWritten, number,
            {{"path", path}, {"blob", putBlob(text)}, {"bytes", text.size()}, {"author", author}});
    add(EventType::compiled, number,
        {{"ok", diagnostics.empty()}, {"diagnostics", diagnostics}, {"seconds", 0.5}});
    add(EventType::turnEnded, number, Json::object());
}

SessionIndex CodeSession::index() const {
    SessionIndex index;
    for (const session::Event &event : events_)
        index.append(event);
    return index;
}

std::vector<session::Event> CodeSession::fresh() {
    const std::vector<session::Event> result(events_.begin() + std::ptrdiff_t(given_),
                                             events_.end());
    given_ = events_.size();
    return result;
}

} // namespace cuda_agent::widgets::sample
