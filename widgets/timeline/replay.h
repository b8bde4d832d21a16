// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session_document.h"

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>

namespace cuda_agent::widgets {

/// Moves a document's cursor: by event, by turn, and in time as it happened, with long waits cut
/// short. Whatever moves, other panes follow the cursor (no turn stays selected). GUI thread.
class Replay : public QObject {
    Q_OBJECT
  public:
    /// Seconds that pass at most between two events, at speed 1.
    static constexpr double longestGap = 2;

    explicit Replay(SessionDocument *document, QObject *parent = nullptr);

    bool playing() const { return playing_; }
    double speed() const { return speed_; }
    void setSpeed(double factor);
    /// Seconds that pass before the event comes; at speed 1.
    double gapBefore(std::size_t event) const;

  public slots:
    /// From the cursor to the end, and from the beginning when it is at the end.
    void play();
    void pause();
    void toggle();
    void stepEvent(int by);
    /// Forward: to the end of the turn under way, or of the next one. Back: to the beginning of the
    /// turn under way, or of the one before.
    void stepTurn(int by);
    void toStart();
    void toEnd();
    /// Where the turn's last event has happened.
    void toTurn(int turn);
    /// Any place; playing goes on from there.
    void seek(std::size_t events);

  signals:
    void playingChanged(bool playing);

  private:
    void tick();
    void setPlaying(bool playing);

    SessionDocument *document_;
    QTimer timer_;
    QElapsedTimer clock_;
    double speed_ = 1;
    double waited_ = 0; ///< seconds at speed 1 since the event at the cursor's left
    bool playing_ = false;
};

} // namespace cuda_agent::widgets
