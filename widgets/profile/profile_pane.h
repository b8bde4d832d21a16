// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "widgets/profile/kernel_profile.h"
#include "widgets/profile/recorded_profile.h"

#include <QTimer>
#include <QWidget>

#include <optional>

class QAction;
class QComboBox;
class QLabel;
class QListView;
class QPlainTextEdit;
class QProgressBar;
class QSortFilterProxyModel;
class QSplitter;
class QStackedWidget;
class QTableView;
class QTabWidget;
class QToolButton;

namespace cuda_agent::widgets {

class FindingsModel;
class KernelsModel;
class RoofPlot;
class SpeedChart;

/// Where the time of the shown turn's candidate goes: the hierarchical roofline of each kernel, its
/// speed of light, the table of kernels, and what the rules find in the counters, from the profile
/// that the log has. The document outlives the pane. GUI thread.
class ProfilePane : public QWidget {
    Q_OBJECT
  public:
    /// Instead of one launch's place: the whole call, or all kernels beside each other.
    enum Choice { wholeCall = -1, allKernels = -2 };

    explicit ProfilePane(SessionDocument *document, QWidget *parent = nullptr);

    /// None while the shown turn has none.
    const std::optional<KernelProfile> &profile() const { return profile_; }
    /// A launch's place or a Choice.
    int launch() const { return launch_; }
    void setLaunch(int launch);
    /// Whether a profile can be asked for, or why not, in words.
    void setProfilingAllowed(bool allowed, const QString &whyNot);
    /// What the engine is at while it profiles; it can be stopped. Not for other work.
    void setUnderWay(bool underWay, const QString &what);

    RoofPlot &roofline() { return *roofline_; }
    SpeedChart &speed() { return *speed_; }
    KernelsModel &kernels() { return *kernels_; }
    FindingsModel &findings() { return *findings_; }
    /// Whose profile this is and where its figures come from; without one, how to get one.
    QString note() const;

  signals:
    /// A place in a file of the workspace, 1-based; a column of 0 is the line's begin.
    void locationActivated(QString file, int line, int column);
    /// The shown turn's candidate is to be profiled.
    void profileRequested();
    void stopRequested();

  protected:
    void showEvent(QShowEvent *event) override;
    void resizeEvent(QResizeEvent *event) override;

  private:
    // profile_pane.cpp
    void later();
    void refresh();
    void showProfile();
    void showNothing(const RecordedProfile &recorded);
    void showChosen();
    void fillChooser();
    QString noteText(const RecordedProfile &recorded) const;
    std::vector<int> drawnLaunches() const;
    void activateFinding(const QModelIndex &index);
    void retheme();
    // profile_pane_parts.cpp
    void makeParts();
    QWidget *makeBar();
    void makeLists();
    void setCompact(bool compact);
    void nameTab(QWidget *page, const QString &text, bool shown = true);
    void makeActions();
    void stepLaunch(int by);
    void showUnderWay();

    SessionDocument *document_;
    KernelsModel *kernels_;
    QSortFilterProxyModel *sorted_;
    FindingsModel *findings_;
    std::optional<KernelProfile> profile_;
    Json shown_;    ///< what `profile_` was read from
    int other_ = 0; ///< a turn that has a profile, while the shown one has none
    int launch_ = wholeCall;
    bool userChoseSpeed_ = false; ///< the upper page that the user wants
    bool choosing_ = false;
    bool underWay_ = false;
    bool dirty_ = true;
    QString what_;     ///< the engine is at
    QString noteText_; ///< while no point is chosen

    QComboBox *chooser_ = nullptr;
    QLabel *underWayLabel_ = nullptr;
    QProgressBar *busy_ = nullptr;
    QToolButton *ask_ = nullptr;
    QToolButton *stop_ = nullptr;
    QLabel *note_ = nullptr;
    QStackedWidget *pages_ = nullptr; ///< nothing yet | the rest
    QLabel *nothing_ = nullptr;
    QToolButton *showOther_ = nullptr;
    QSplitter *splitter_ = nullptr;
    QTabWidget *upper_ = nullptr;
    QTabWidget *lower_ = nullptr;
    RoofPlot *roofline_ = nullptr;
    SpeedChart *speed_ = nullptr;
    QListView *findingsList_ = nullptr;
    QStackedWidget *findingsPages_ = nullptr; ///< the list | why there is none
    QLabel *noFindings_ = nullptr;
    QTableView *table_ = nullptr;
    QPlainTextEdit *notes_ = nullptr;
    QAction *profileAction_ = nullptr;
    QAction *stopAction_ = nullptr;
    QList<QAction *> needProfile_; ///< enabled while there is one
    QTimer timer_;                 ///< many events are one change
};

} // namespace cuda_agent::widgets
