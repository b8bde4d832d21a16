// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/session/session_document.h"

#include "widgets/base/text.h"

#include "core/session/log.h"

namespace cuda_agent::widgets {

using session::EventType;

namespace {

const Json &dataOf(const session::Event *event) {
    static const Json nothing;
    return event ? event->data : nothing;
}

} // namespace

SessionDocument::SessionDocument(QObject *parent) : QObject(parent) {}

void SessionDocument::setFolder(std::filesystem::path folder) {
    folder_ = std::move(folder);
    Q_EMIT titleChanged();
}

QString SessionDocument::title() const {
    const QString name = textOf(partOf(index_.state().start, "task"), "name");
    return name.isEmpty() ? QString::fromStdString(folder_.filename().string()) : name;
}

int SessionDocument::shownTurn() const {
    if (selected_ > 0 && index_.turn(selected_, cursor_))
        return selected_;
    return index_.turnAt(cursor_);
}

Result<QString> SessionDocument::blob(const std::string &name) const {
    CUDA_AGENT_ASSIGN(bytes, session::readBlob(folder_, name));
    return QString::fromUtf8(bytes.data(), static_cast<qsizetype>(bytes.size()));
}

const Json &SessionDocument::start() const {
    return dataOf(index_.last(EventType::sessionStarted, cursor_));
}
const Json &SessionDocument::description() const {
    return dataOf(index_.last(EventType::taskDescribed, cursor_));
}
const Json &SessionDocument::baselines() const {
    return dataOf(index_.last(EventType::baselinesMeasured, cursor_));
}
const Json &SessionDocument::verdictOf(int turn) const {
    return partOf(dataOf(index_.lastIn(turn, EventType::verdictGiven, cursor_)), "verdict");
}
const Json &SessionDocument::compiled() const {
    return dataOf(index_.lastIn(shownTurn(), EventType::compiled, cursor_));
}

void SessionDocument::replace(SessionIndex index) {
    index_ = std::move(index);
    cursor_ = index_.size();
    selected_ = 0;
    Q_EMIT titleChanged();
    Q_EMIT reset();
    Q_EMIT cursorMoved();
    Q_EMIT shownTurnChanged();
}

void SessionDocument::append(const std::vector<session::Event> &events) {
    if (events.empty())
        return;
    const bool follow = atEnd();
    const QString before = title();
    for (const session::Event &event : events)
        index_.append(event);
    if (title() != before)
        Q_EMIT titleChanged();
    if (follow)
        setCursor(index_.size());
    else
        Q_EMIT cursorMoved(); // there is more behind it now
}

void SessionDocument::setCursor(std::size_t events) {
    events = std::min(events, index_.size());
    if (events == cursor_)
        return;
    const std::size_t before = cursor_;
    const int shownBefore = shownTurn();
    cursor_ = events;
    bool touched = shownTurn() != shownBefore;
    if (events < before) {
        Q_EMIT reset();
        touched = true;
    } else {
        Q_EMIT advanced(before, events);
        for (std::size_t i = before; i < events && !touched; ++i)
            touched = index_.events()[i].turn == shownTurn() || index_.events()[i].turn == 0;
    }
    Q_EMIT cursorMoved();
    if (touched)
        Q_EMIT shownTurnChanged();
}

void SessionDocument::selectTurn(int turn) {
    if (turn == selected_ || (turn != 0 && !index_.turn(turn, index_.size())))
        return;
    selected_ = turn;
    const TurnRange *range = turn != 0 ? index_.turn(turn, index_.size()) : nullptr;
    if (range && range->begin >= cursor_)
        setCursor(range->end);
    Q_EMIT shownTurnChanged();
}

Result<LoadedSession> loadSession(const std::filesystem::path &folder) {
    CUDA_AGENT_ASSIGN(contents, session::readLog(folder));
    LoadedSession loaded;
    loaded.index.reserve(contents.events.size());
    for (session::Event &event : contents.events)
        loaded.index.append(std::move(event));
    loaded.problem = QString::fromStdString(contents.problem);
    if (contents.unknownEvents > 0) {
        if (!loaded.problem.isEmpty())
            loaded.problem += QLatin1Char('\n');
        loaded.problem += SessionDocument::tr("%n event(s) are of types that this program does not "
                                              "know and are left out; a newer one shows them.",
                                              nullptr, contents.unknownEvents);
    }
    return loaded;
}

} // namespace cuda_agent::widgets
