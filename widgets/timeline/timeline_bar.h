// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/timeline/symbol_icon.h"

#include <QWidget>

#include <map>

class QAction;
class QComboBox;
class QLabel;
class QSpinBox;
class QToolButton;

namespace cuda_agent::widgets {

class Replay;
class SessionDocument;
class TurnStrip;

/// Replay of a session, and the place of a running one: play, speed, steps, and a strip of all
/// turns. GUI thread; the document outlives it.
class TimelineBar : public QWidget {
    Q_OBJECT
  public:
    explicit TimelineBar(SessionDocument *document, QWidget *parent = nullptr);

    Replay &replay() { return *replay_; }
    TurnStrip &strip() { return *strip_; }
    /// Events are still being added, and the cursor is at their end.
    bool live() const;

  protected:
    void keyPressEvent(QKeyEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

  private:
    QAction *act(const char *name, const QString &text, Symbol symbol);
    void makeActions();
    void retheme();
    void startOver();
    void refresh();
    void showPlaying();

    SessionDocument *document_;
    Replay *replay_;
    TurnStrip *strip_;
    std::map<QAction *, Symbol> symbols_;
    QAction *play_ = nullptr, *start_ = nullptr, *end_ = nullptr;
    QComboBox *speed_;
    QSpinBox *turn_;
    QLabel *state_;
    QWidget *buttons_;
    std::size_t loaded_ = 0; ///< events that were there when the log was opened
    const void *log_ = nullptr;
};

} // namespace cuda_agent::widgets
