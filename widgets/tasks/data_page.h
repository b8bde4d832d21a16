// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/tasks/task_set_model.h"

#include <QDateTime>
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

class FilterPanel;
class PythonView;
class SynthesisFollower;
class SynthesisProcess;
class SynthesisStrip;
struct SynthesisRequest;

/// The Data perspective: the tasks of a folder or a JSON-lines file, with their sources, what they
/// are like and a filter; a synthesis that makes such a set, while it runs. GUI thread; files are
/// read on another one.
///
/// A JSON-lines set, plain or gzip, has one object a line: `name`, and `code` (the source) or
/// `file` (a .py file, relative to the set); `level` groups, every other field is a column. A
/// folder of a synthesis opens as its set, or while there is none as its candidates.
class DataPage : public QWidget {
    Q_OBJECT
  public:
    explicit DataPage(QWidget *parent = nullptr);
    ~DataPage() override;

    /// A folder, a .py file, a JSON-lines file or a folder of a synthesis.
    void openSet(const QString &path);
    /// The tasks that come with the program.
    void openSamples();
    /// The visible rows and columns, in their order. Says in the status line what happened.
    bool exportCsv(const QString &file);

    /// Starts a synthesis and shows its folder. False, said in the status line, while one runs.
    bool startSynthesis(const SynthesisRequest &request);
    /// Tells a synthesis that was started here to stop; returns at once.
    void stopSynthesis();
    /// The same, and waits for its end.
    void finishSynthesis();
    SynthesisProcess &synthesis() { return *process_; }
    SynthesisFollower &follower() { return *follower_; }

    void setQuery(const TaskQuery &query);
    const TaskQuery &query() const { return query_; }

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
    void resizeEvent(QResizeEvent *event) override;
    bool eventFilter(QObject *watched, QEvent *event) override;

  private:
    void makeActions();
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
    void applyQuery();
    void askedChanged();
    void showSpread();
    void updatePanel();
    void updateColumns();
    bool columnWanted(int column) const;
    QString columnKey(int column) const;
    void askColumns(const QPoint &at);
    void fitColumns();
    void openSynthesis(const QString &folder);
    void showSynthesis(bool candidates);
    void synthesisChanged();
    void processChanged();
    void askSynthesis();
    void updateCount();
    void updateActions();
    void showCurrent();
    void applyTheme();
    void say(const QString &text, bool bad = false);
    const TaskRow *current() const;

    TaskSetModel *model_;
    TaskSetFilter *filtered_;
    SynthesisFollower *follower_;
    SynthesisProcess *process_;
    SynthesisStrip *strip_ = nullptr;
    FilterPanel *panel_ = nullptr;
    QComboBox *view_ = nullptr; ///< set or candidates of a synthesis
    QLabel *asked_ = nullptr;   ///< what the filter asks for
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
    QAction *panelAction_ = nullptr, *newSynthesis_ = nullptr, *stopSynthesis_ = nullptr;
    QTimer debounce_;
    TaskQuery query_;
    QString fitted_;          ///< set whose columns have their widths
    QString synthesis_;       ///< folder of the synthesis that is shown; empty for another set
    QDateTime setTime_;       ///< of the set file that was read
    bool viewChosen_ = false; ///< by the user
    bool wasRunning_ = false;
    bool applying_ = false; ///< the filter is being changed
    bool opened_ = false;
};

} // namespace cuda_agent::widgets
