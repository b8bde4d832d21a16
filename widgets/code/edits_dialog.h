// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

class QAction;
class QLabel;
class QPushButton;

namespace cuda_agent::widgets {

class DiffArea;
class FilePage;

/// What the log has newest of a file beside what the user made of it, with the choice between the
/// two when they conflict. Follows both while it is open and goes with the page. GUI thread.
class EditsDialog : public QDialog {
    Q_OBJECT
  public:
    explicit EditsDialog(FilePage *page);

    const DiffArea &area() const { return *area_; }

  private:
    void refresh();

    FilePage *page_;
    QLabel *summary_ = nullptr;
    DiffArea *area_ = nullptr;
    QAction *next_ = nullptr;
    QAction *previous_ = nullptr;
    QPushButton *keepMine_ = nullptr;
    QPushButton *takeTheirs_ = nullptr;
    QString log_; ///< as they are compared
    QString mine_;
    bool compared_ = false;
};

} // namespace cuda_agent::widgets
