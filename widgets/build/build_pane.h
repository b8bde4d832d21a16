// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/build/build_model.h"

#include <QTimer>
#include <QWidget>

#include <optional>

class QAction;
class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QSplitter;
class QStackedWidget;
class QTableView;
class QTabWidget;
class QToolBar;

namespace cuda_agent::widgets {

/// What the compiler said: messages of all turns as a table, and of the shown turn its whole output
/// and what it tells of each kernel. The document outlives the pane. GUI thread; reads one blob
/// when the shown turn has another log.
class BuildPane : public QWidget {
    Q_OBJECT
  public:
    explicit BuildPane(SessionDocument *document, QWidget *parent = nullptr);

    BuildModel &model() { return *model_; }
    /// Goes to the next error behind the current row (direction 1) or the one before it (-1), round
    /// the end; to any message when there is no error. Also emits `locationActivated`.
    void goToError(int direction);
    /// Writes the log of the shown turn. Errors: request (no log), machine.
    Result<void> saveLog(const QString &path) const;

  signals:
    /// A place in a file of the workspace, 1-based; line and column are 0 when unknown.
    void locationActivated(QString file, int line, int column);

  protected:
    void showEvent(QShowEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

  private:
    void makeTable();
    void makeActions();
    void makeToolBar();
    void refresh();
    void refreshLog(int turn, const Json &compiled);
    QString summaryOf(int turn, const Json &compiled) const;
    void showFilters();
    void showPages();
    void fitColumns();
    void retheme();
    void activate(const QModelIndex &row);
    void copyRows();
    void askWhereToSave();

    SessionDocument *document_;
    BuildModel *model_;
    BuildFilter *filter_;
    KernelModel *kernelModel_;

    QToolBar *bar_ = nullptr;
    QLineEdit *text_ = nullptr;
    QStackedWidget *pages_ = nullptr; ///< nothing yet | the rest
    QLabel *nothing_ = nullptr;
    QLabel *summary_ = nullptr;
    QSplitter *splitter_ = nullptr;
    QStackedWidget *top_ = nullptr; ///< table | nothing passes the filter
    QTableView *table_ = nullptr;
    QTabWidget *bottom_ = nullptr;
    QPlainTextEdit *log_ = nullptr;
    QTableView *kernels_ = nullptr;
    QTimer typing_;

    QAction *show_[3] = {};
    QAction *onlyTurn_ = nullptr;
    QAction *save_ = nullptr;
    QAction *copy_ = nullptr;
    QAction *next_ = nullptr;
    QAction *previous_ = nullptr;

    int refreshedTurn_ = -1;
    std::optional<std::string> logBlob_; ///< shown in `log_`; empty name for none
    QString logText_;
    Json shownKernels_;
    bool dirty_ = true;
};

} // namespace cuda_agent::widgets
