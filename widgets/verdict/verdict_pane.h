// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session_document.h"

#include <QWidget>

class QLabel;
class QScrollArea;
class QStackedWidget;
class QTableView;

namespace cuda_agent::widgets {

class ChecksModel;
class TimesChart;

/// The verdict on the shown turn's candidate: what it is worth, each check with its evidence,
/// remarks, and the times against the baselines. The document outlives the pane. GUI thread.
class VerdictPane : public QWidget {
    Q_OBJECT
  public:
    explicit VerdictPane(SessionDocument *document, QWidget *parent = nullptr);

    ChecksModel &checks() { return *checks_; }
    TimesChart &chart() { return *chart_; }

  protected:
    void showEvent(QShowEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

  private:
    void makeActions();
    void refresh();
    void retheme();
    void fitTable();

    SessionDocument *document_;
    ChecksModel *checks_;
    QStackedWidget *pages_ = nullptr; ///< nothing yet | the verdict
    QLabel *nothing_ = nullptr;
    QScrollArea *area_ = nullptr;
    QLabel *headline_ = nullptr;
    QLabel *circumstances_ = nullptr;
    QLabel *problem_ = nullptr; ///< first compiler message, or what the failed check found
    QTableView *table_ = nullptr;
    QLabel *remarks_ = nullptr;
    TimesChart *chart_ = nullptr;
    QAction *copyText_ = nullptr;
    QAction *copyJson_ = nullptr;
    QAction *exportChart_ = nullptr;
    bool dirty_ = true;
};

} // namespace cuda_agent::widgets
