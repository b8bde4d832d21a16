// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QPointer>
#include <QWidget>

class QLabel;
class QTableView;
class QToolButton;

namespace cuda_agent::widgets {

class BarChart;
class CrawlDialog;
class RejectionsModel;
class StageBar;
class SynthesisFollower;
class SynthesisProcess;

/// A running synthesis, or one that ran: its state, counts, rates, time left, and on demand its
/// rejections by reason. Owns neither the follower nor the process; both outlive it. GUI thread.
class SynthesisStrip : public QWidget {
    Q_OBJECT
  public:
    SynthesisStrip(SynthesisFollower *follower, SynthesisProcess *process,
                   QWidget *parent = nullptr);

    QString stateText() const;
    QString countsText() const;
    QString ratesText() const;
    void showRejections(bool shown);
    /// Where there is little room the rejections are hidden.
    void setRoomy(bool roomy);

  signals:
    /// Candidates that were rejected for this reason are to be shown.
    void reasonChosen(const QString &reason);

  private:
    QWidget *makeDetails();
    void refresh();
    void openCrawl();

    SynthesisFollower *follower_;
    SynthesisProcess *process_;
    RejectionsModel *rejections_;
    QLabel *state_, *counts_, *rates_, *error_;
    StageBar *bar_;
    QToolButton *detailsButton_, *crawlButton_, *stopButton_;
    QTableView *table_ = nullptr; ///< both in `details_`, whose making sets them
    BarChart *chart_ = nullptr;
    QWidget *details_;
    QPointer<CrawlDialog> crawl_;
    bool roomy_ = true;
};

} // namespace cuda_agent::widgets
