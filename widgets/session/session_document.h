// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session_index.h"

#include "core/base/result.h"

#include <QObject>
#include <QString>

#include <filesystem>
#include <memory>

namespace cuda_agent::widgets {

/// What the panes of one session look at: its events, the moment that is shown (the cursor) and the
/// turn that is selected. Live and replay are the same: a running session appends events, and the
/// cursor follows the end unless somebody looks back. GUI thread.
class SessionDocument : public QObject {
    Q_OBJECT
  public:
    explicit SessionDocument(QObject *parent = nullptr);

    const std::filesystem::path &folder() const { return folder_; }
    void setFolder(std::filesystem::path folder);
    /// The task's name, or the folder's while the log is empty.
    QString title() const;

    const SessionIndex &index() const { return index_; }
    std::size_t cursor() const { return cursor_; }
    bool atEnd() const { return cursor_ == index_.size(); }

    /// The selected turn; 0 when the last one is followed.
    int selectedTurn() const { return selected_; }
    /// The selected turn if it has begun at the cursor, else the last one; 0 before the first.
    int shownTurn() const;

    /// Content of a blob of this session. Blocks for a small read. Errors: request, machine.
    Result<QString> blob(const std::string &name) const;
    Result<QString> fileText(const FileVersion &version) const { return blob(version.blob); }

    /// Payloads at the cursor; null when there are none yet.
    const Json &start() const;
    const Json &description() const;
    const Json &baselines() const;
    /// Of the shown turn.
    const Json &verdict() const { return verdictOf(shownTurn()); }
    const Json &verdictOf(int turn) const;
    const Json &compiled() const;

  public slots:
    /// Everything is another: a log was read.
    void replace(SessionIndex index);
    void append(const std::vector<session::Event> &events);
    void setCursor(std::size_t events);
    void toEnd() { setCursor(index_.size()); }
    /// Any turn that exists; the cursor goes to its end when it lies behind the cursor. 0 follows.
    void selectTurn(int turn);

  signals:
    /// All panes start over (another log, or the cursor went back).
    void reset();
    /// Events [first, last) have happened.
    void advanced(std::size_t first, std::size_t last);
    /// The shown turn is another one, or has another verdict, compile log or files: panes that show
    /// one turn read it again. Also sent after `reset` and when `advanced` touched the shown turn.
    void shownTurnChanged();
    void cursorMoved();
    void titleChanged();

  private:
    std::filesystem::path folder_;
    SessionIndex index_;
    std::size_t cursor_ = 0;
    int selected_ = 0;
};

/// Reads a session folder on another thread and indexes it. Errors as `session::readLog`.
struct LoadedSession {
    SessionIndex index;
    QString problem; ///< a torn last line, unknown events; or empty
};
Result<LoadedSession> loadSession(const std::filesystem::path &folder);

} // namespace cuda_agent::widgets
