// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QAction;
class QLabel;

namespace cuda_agent::widgets {

class FindBar;
class MarkdownJob;
class MessageLine;
class SessionDocument;
class TraceFinder;
class TraceModel;
class TraceView;

/// What the agent thinks, does and sees, as cards, turn by turn, with find and copy. GUI thread;
/// the document outlives it.
class TracePane : public QWidget {
    Q_OBJECT
  public:
    explicit TracePane(SessionDocument *document, QWidget *parent = nullptr);

    TraceModel &model() { return *model_; }
    TraceView &view() { return *view_; }
    TraceFinder &finder() { return *finder_; }
    /// Hidden until somebody shows it.
    MessageLine &message() { return *message_; }

    /// Lines that folded cards show; remembered for all panes that are made later.
    void setFoldLines(int lines);

  public slots:
    /// A card at the end that says what goes on right now; the next event takes it away, as does an
    /// empty text.
    void setPending(const QString &text);

  signals:
    /// The whole trace has been put on the clipboard.
    void threadCopied();
    /// The engineer wrote this to the agent.
    void messageWritten(const QString &message);

  private:
    void makeActions();
    QAction *act(const char *name, const QString &text, const QString &shortcut,
                 void (TracePane::*does)());
    void copyCard();
    void copyTurn();
    void copyThread();
    void expandAll();
    void collapseAll();
    void openFind();
    void writeMessage();
    void findNext();
    void findPrevious();
    void askFoldLines();
    void jumpToLatest();
    void nextTurn();
    void previousTurn();
    void stepTurn(int by);
    void turnChosen(int turn);
    void documentChanged();
    int turnInView() const;

    SessionDocument *document_;
    TraceModel *model_;
    TraceFinder *finder_;
    TraceView *view_;
    FindBar *find_;
    MessageLine *message_;
    MarkdownJob *thread_;
    int selected_ = 0;      ///< the document's selected turn, as it was last
    bool choosing_ = false; ///< the reader clicks here: the view stays where it is
};

} // namespace cuda_agent::widgets
