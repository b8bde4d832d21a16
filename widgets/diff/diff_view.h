// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/session/session_document.h"

#include <QStringList>
#include <QWidget>

#include <string>

class QAction;
class QComboBox;
class QLabel;

namespace cuda_agent::widgets {

class DiffArea;
class TurnList;

/// Two versions of a file of the workspace side by side. Follows the shown turn, against the turn
/// before it that has a verdict, until somebody chooses turns. The document outlives the view. GUI
/// thread; reads two blobs when other versions are shown.
class DiffView : public QWidget {
    Q_OBJECT
  public:
    explicit DiffView(SessionDocument *document, QWidget *parent = nullptr);

    /// Shows these and stops following. Turn 0 is the workspace before the first turn; an empty
    /// path chooses the first file that differs.
    void showDiff(int turnA, int turnB, const QString &path);
    /// Follows the shown turn again.
    void follow();
    bool following() const { return following_; }

    int turnA() const { return turnA_; } ///< -1 when there is none
    int turnB() const { return turnB_; }
    QString path() const { return path_; }
    /// What is said above the texts.
    QString summary() const;
    const DiffArea &area() const { return *area_; }

  protected:
    void showEvent(QShowEvent *event) override;

  private:
    void makeActions();
    void refresh();
    void chooseTurns();
    void showFiles();
    void showTexts();
    void showPosition();
    std::map<std::string, FileVersion> filesOf(int turn) const;
    int turnBefore(int turn) const;
    QString turnName(int turn) const;

    SessionDocument *document_;
    TurnList *turns_;
    QComboBox *fileBox_ = nullptr;
    QComboBox *turnABox_ = nullptr;
    QComboBox *turnBBox_ = nullptr;
    QLabel *summary_ = nullptr;
    QLabel *position_ = nullptr;
    QLabel *nothing_ = nullptr;
    QWidget *rest_ = nullptr;
    DiffArea *area_ = nullptr;
    QAction *next_ = nullptr;
    QAction *previous_ = nullptr;
    QAction *follow_ = nullptr;

    bool following_ = true;
    bool pathChosen_ = false; ///< by somebody: stays while that file exists
    int turnA_ = -1;
    int turnB_ = -1;
    QString path_;
    QStringList fileTexts_; ///< in the box
    std::map<std::string, FileVersion> filesA_;
    std::map<std::string, FileVersion> filesB_;
    std::string shown_; ///< what the area shows, so that the same is not read again
    bool dirty_ = true;
};

} // namespace cuda_agent::widgets
