// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/tasks/task_set_model.h"

#include <QTimer>
#include <QWidget>

class QComboBox;
class QLabel;
class QLineEdit;
class QMenu;
class QPushButton;
class QSplitter;
class QTableView;
class QToolBar;

namespace cuda_agent::widgets {

class PythonView;

/// The Data perspective: the tasks of a folder or a JSON-lines file, with their sources. GUI
/// thread; files are read on another one.
///
/// A JSON-lines set has one object a line: `name`, and `code` (the source) or `file` (a .py file,
/// relative to the set); `level` groups, every other field is a column.
class DataPage : public QWidget {
    Q_OBJECT
  public:
    explicit DataPage(QWidget *parent = nullptr);
    ~DataPage() override;

    /// A folder, a .py file or a JSON-lines file.
    void openSet(const QString &path);
    /// The tasks that come with the program.
    void openSamples();
    /// The visible rows and columns, in their order. Says in the status line what happened.
    bool exportCsv(const QString &file);

    TaskSetModel &model() { return *model_; }
    TaskSetFilter &filtered() { return *filtered_; }
    QString countText() const;
    QString status() const;

  signals:
    /// The task in this file is to be opened as a session.
    void openTaskRequested(const QString &file);
    /// Something to say in the window's message bar.
    void problem(const QString &text);

  protected:
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dropEvent(QDropEvent *event) override;
    void showEvent(QShowEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

  private:
    void makeActions();
    QAction *addCommand(const char *name, const QString &text, const QKeySequence &key,
                        void (DataPage::*slot)());
    QToolBar *makeBar();
    QWidget *makeList();
    QWidget *makePreview();

    void askFolder();
    void askFile();
    void askExport();
    void reload();
    void openTask();
    void copyRows();
    void focusFilter();
    void fillRecent();
    void loadingChanged(bool loading);
    void fillGroups();
    void filterChanged();
    void updateCount();
    void updateActions();
    void showCurrent();
    void applyTheme();
    void say(const QString &text, bool bad = false);
    const TaskRow *current() const;

    TaskSetModel *model_;
    TaskSetFilter *filtered_;
    QTableView *table_ = nullptr;
    PythonView *source_ = nullptr;
    QLineEdit *text_ = nullptr;
    QComboBox *group_ = nullptr;
    QLabel *set_ = nullptr;
    QLabel *count_ = nullptr;
    QLabel *heading_ = nullptr;
    QLabel *reason_ = nullptr;
    QLabel *status_ = nullptr;
    QPushButton *openButton_ = nullptr;
    QSplitter *splitter_ = nullptr;
    QMenu *recent_ = nullptr;
    QAction *openFolder_ = nullptr, *openFile_ = nullptr, *samples_ = nullptr, *reload_ = nullptr;
    QAction *open_ = nullptr, *copy_ = nullptr, *export_ = nullptr, *find_ = nullptr;
    QTimer debounce_;
    int shown_ = -1; ///< row of the model in the preview
    bool opened_ = false;
};

} // namespace cuda_agent::widgets
