// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/runs/metrics_model.h"
#include "widgets/runs/plot_grid.h"
#include "widgets/runs/rollouts_model.h"
#include "widgets/runs/run_follower.h"
#include "widgets/runs/runs_model.h"
#include "widgets/runs/train_launcher.h"

#include <QSet>
#include <QTimer>
#include <QWidget>

class QComboBox;
class QDoubleSpinBox;
class QLineEdit;
class QMenu;
class QSlider;
class QSortFilterProxyModel;
class QSplitter;
class QStackedWidget;
class QTableView;
class QToolBar;
class QTreeView;

namespace cuda_agent::widgets {

class RunStrip;

/// The Train perspective: curves of training runs, several runs over one another, live or done.
/// What a run folder holds: README.md of this folder. GUI thread; files are read on another one.
class TrainPage : public QWidget {
    Q_OBJECT
  public:
    explicit TrainPage(QWidget *parent = nullptr);
    ~TrainPage() override;

    /// A run folder, one above run folders, or a file in a run folder.
    void addFolder(const QString &path);
    /// All plots: run, metric, step, time, samples, value, smoothed. Answered in the status line.
    void exportCsv(const QString &file);

    RunsModel &runs() { return *runs_; }
    MetricsModel &metrics() { return *metrics_; }
    PlotGrid &grid() { return *grid_; }
    RunFollower &follower() { return *follower_; }
    RolloutsModel &rollouts() { return *rollouts_; }
    TrainLauncher &launcher() { return *launcher_; }
    /// The run that strip, bands and rollouts are about: the selected one, else the first that is
    /// drawn. Empty without runs.
    QString currentRun() const;
    QString status() const;

  signals:
    /// Something to say in the window's message bar: a folder without runs, an export that failed.
    void problem(const QString &text);
    /// A sampled trajectory is to be looked at.
    void openSessionRequested(const QString &folder);

  protected:
    void dragEnterEvent(QDragEnterEvent *event) override;
    void dropEvent(QDropEvent *event) override;

  private:
    QWidget *makeLists();
    QWidget *makeEmpty();
    QToolBar *makeBar();
    void makeActions();
    void restore();
    QWidget *makeRollouts();
    void makeSteering();

    void askStart();
    void pauseRun();
    void goOnRun();
    void stopRun();
    void askTraining(const QString &recipe, const QString &folder);
    void ask(learn::RunOrder order);
    void currentChanged();
    void showRollouts();
    QVector<StageBand> bands() const;

    void askFolder();
    void askExport();
    void removeRuns();
    void reloadRuns();
    void followAll();
    void checkAllRuns();
    void uncheckAllRuns();
    void selectMetricFilter();
    void fillRecent();

    void added(const QString &folder, const QStringList &runs);
    void summaryChanged(const RunSummary &summary);
    void gatherMetrics();
    void showMetrics();
    void makeAllDirty();
    void requestDirty();
    void curvesReady(const std::shared_ptr<Curves> &curves);
    void axesChanged();
    void updateFollow();
    void updateEmpty();
    void say(const QString &text, bool bad = false);
    QStringList selectedRuns() const;
    XAxis xAxis() const;
    double timeUnit(QString *title) const;
    double smoothing() const;
    QHash<QString, RunLook> looks() const;

    RunFollower *follower_;
    RunsModel *runs_;
    MetricsModel *metrics_;
    QSortFilterProxyModel *filtered_;
    PlotGrid *grid_ = nullptr;
    QStackedWidget *stack_ = nullptr;
    QLabel *empty_ = nullptr;
    QSplitter *splitter_ = nullptr;
    QTreeView *runsView_ = nullptr;
    QTreeView *metricsView_ = nullptr;
    QLineEdit *filter_ = nullptr;
    QComboBox *x_ = nullptr;
    QComboBox *columns_ = nullptr;
    QSlider *slider_ = nullptr;
    QDoubleSpinBox *weight_ = nullptr;
    QMenu *recent_ = nullptr;
    QLabel *readout_ = nullptr;
    QLabel *status_ = nullptr;
    QAction *add_ = nullptr, *remove_ = nullptr, *reload_ = nullptr, *export_ = nullptr;
    QAction *logX_ = nullptr, *logY_ = nullptr, *follow_ = nullptr;
    QAction *all_ = nullptr, *none_ = nullptr, *find_ = nullptr;
    QAction *start_ = nullptr, *pause_ = nullptr, *goOn_ = nullptr, *stop_ = nullptr;
    TrainLauncher *launcher_;
    RolloutsModel *rollouts_;
    RunStrip *strip_ = nullptr;
    QWidget *rolloutsPane_ = nullptr;
    QTableView *rolloutsView_ = nullptr;
    QHash<QString, std::shared_ptr<Rollouts>> rolloutsOf_;
    QTimer gather_, send_, ages_;
    QSet<QString> removed_; ///< runs whose late summaries are of no interest
    QSet<QString> dirty_;   ///< metrics whose curves are to be asked for
};

} // namespace cuda_agent::widgets
