// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/train_page.h"

#include "widgets/base/theme.h"
#include "widgets/runs/run_strip.h"

#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QLineEdit>
#include <QMimeData>
#include <QPointer>
#include <QPushButton>
#include <QSettings>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolBar>
#include <QTreeView>
#include <QUrl>

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {
namespace {

constexpr int mostRecent = 10;
const auto recentKey = QStringLiteral("train/recent");

QString folderOf(const QString &path) {
    const QFileInfo info(path);
    return QDir::cleanPath(info.isDir() ? info.absoluteFilePath() : info.absolutePath());
}

} // namespace

TrainPage::TrainPage(QWidget *parent)
    : QWidget(parent), follower_(new RunFollower(this)), runs_(new RunsModel(this)),
      metrics_(new MetricsModel(this)), launcher_(new TrainLauncher(this)),
      rollouts_(new RolloutsModel(this)) {
    setObjectName(QStringLiteral("trainPage"));
    setAcceptDrops(true);
    makeActions();
    makeSteering();

    grid_ = new PlotGrid(this);
    stack_ = new QStackedWidget(this);
    stack_->addWidget(makeEmpty());
    stack_->addWidget(grid_);
    readout_ = new QLabel(this);
    readout_->setTextFormat(Qt::RichText);
    readout_->setWordWrap(true);
    readout_->setAccessibleName(tr("Values under the pointer"));
    readout_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    readout_->setMinimumHeight(2 * fontMetrics().lineSpacing());
    readout_->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    readout_->setContentsMargins(6, 0, 6, 0);
    status_ = new QLabel(this);
    status_->setTextFormat(Qt::PlainText);
    status_->setWordWrap(true);
    status_->setAccessibleName(tr("Status"));
    status_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    status_->setContentsMargins(6, 0, 6, 2);
    status_->hide();

    auto *right = new QWidget(this);
    auto *rightLayout = new QVBoxLayout(right);
    rightLayout->setContentsMargins(0, 0, 0, 0);
    rightLayout->setSpacing(2);
    rightLayout->addWidget(strip_);
    rightLayout->addWidget(makeBar());
    auto *upDown = new QSplitter(Qt::Vertical, right);
    upDown->addWidget(stack_);
    upDown->addWidget(makeRollouts());
    upDown->setStretchFactor(0, 1);
    upDown->setChildrenCollapsible(false);
    upDown->setSizes({700, 200});
    rightLayout->addWidget(upDown, 1);
    rightLayout->addWidget(readout_);
    rightLayout->addWidget(status_);

    splitter_ = new QSplitter(Qt::Horizontal, this);
    splitter_->addWidget(makeLists());
    splitter_->addWidget(right);
    splitter_->setStretchFactor(1, 1);
    splitter_->setSizes({300, 900});
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(splitter_);

    gather_.setSingleShot(true);
    gather_.setInterval(60);
    send_.setSingleShot(true);
    send_.setInterval(20);
    ages_.setInterval(5000);
    connect(&gather_, &QTimer::timeout, this, &TrainPage::gatherMetrics);
    connect(&send_, &QTimer::timeout, this, &TrainPage::requestDirty);
    connect(&ages_, &QTimer::timeout, runs_, &RunsModel::refreshAges);
    ages_.start();

    connect(follower_, &RunFollower::added, this, &TrainPage::added);
    connect(follower_, &RunFollower::summaryChanged, this, &TrainPage::summaryChanged);
    connect(follower_, &RunFollower::curvesReady, this, &TrainPage::curvesReady);
    connect(follower_, &RunFollower::exported, this,
            [this](const QString &file, qsizetype values, const QString &wrong) {
                if (wrong.isEmpty())
                    say(tr("%1 values written to %2").arg(values).arg(file));
                else
                    say(tr("%1 could not be written: %2. Choose another place.").arg(file, wrong),
                        true);
            });
    connect(runs_, &RunsModel::drawnChanged, this, [this] {
        currentChanged();
        gather_.start();
        makeAllDirty();
    });
    connect(metrics_, &MetricsModel::checkedChanged, this, &TrainPage::showMetrics);
    connect(grid_, &PlotGrid::cellMade, this, [this](PlotCell *cell) {
        connect(cell, &PlotCell::hovered, readout_, &QLabel::setText);
        connect(&cell->plot(), &Plot::followChanged, this, &TrainPage::updateFollow);
    });
    connect(runsView_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
            &TrainPage::currentChanged);
    restore();
    updateEmpty();
    currentChanged();
}

TrainPage::~TrainPage() {
    QSettings settings;
    settings.setValue(QStringLiteral("train/splitter"), splitter_->saveState());
    settings.setValue(QStringLiteral("train/x"), x_->currentIndex());
    settings.setValue(QStringLiteral("train/columns"), grid_->columns());
    settings.setValue(QStringLiteral("train/smoothing"), weight_->value());
    settings.setValue(QStringLiteral("train/logX"), logX_->isChecked());
    settings.setValue(QStringLiteral("train/logY"), logY_->isChecked());
}

void TrainPage::restore() {
    const QSettings settings;
    splitter_->restoreState(settings.value(QStringLiteral("train/splitter")).toByteArray());
    x_->setCurrentIndex(std::clamp(settings.value(QStringLiteral("train/x"), 0).toInt(), 0, 3));
    columns_->setCurrentIndex(
        std::clamp(settings.value(QStringLiteral("train/columns"), 2).toInt(), 1, 3) - 1);
    weight_->setValue(settings.value(QStringLiteral("train/smoothing"), 0.6).toDouble());
    logX_->setChecked(settings.value(QStringLiteral("train/logX")).toBool());
    logY_->setChecked(settings.value(QStringLiteral("train/logY")).toBool());
}

XAxis TrainPage::xAxis() const {
    return static_cast<XAxis>(x_->currentIndex());
}
double TrainPage::smoothing() const {
    return weight_->value();
}
QString TrainPage::status() const {
    return status_->text();
}

/// A unit in which the longest run has a readable number.
double TrainPage::timeUnit(QString *title) const {
    double longest = 0;
    for (const RunsModel::Run &run : runs_->runs())
        if (run.checked && run.summary.lastTime > run.summary.firstTime)
            longest = std::max(longest, run.summary.lastTime - run.summary.firstTime);
    if (longest < 300) {
        *title = tr("Time since the first value [s]");
        return 1;
    }
    if (longest < 3 * 3600) {
        *title = tr("Time since the first value [min]");
        return 60;
    }
    *title = tr("Time since the first value [h]");
    return 3600;
}

QHash<QString, RunLook> TrainPage::looks() const {
    QHash<QString, RunLook> looks;
    for (const RunsModel::Run &run : runs_->runs())
        looks[run.summary.folder] = {run.name, run.color};
    return looks;
}

void TrainPage::say(const QString &text, bool bad) {
    setTextColor(status_, bad ? Theme::instance().colors().bad : Theme::instance().colors().muted);
    status_->setText(text);
    status_->setVisible(!text.isEmpty());
    if (bad)
        emit problem(text);
}

void TrainPage::addFolder(const QString &path) {
    const QString folder = folderOf(path);
    say(tr("Looking for runs in %1 …").arg(QDir::toNativeSeparators(folder)));
    QSettings settings;
    QStringList recent = settings.value(recentKey).toStringList();
    recent.removeAll(folder);
    recent.prepend(folder);
    settings.setValue(recentKey, recent.mid(0, mostRecent));
    follower_->add(folder);
}

void TrainPage::added(const QString &folder, const QStringList &runs) {
    for (const QString &run : runs)
        removed_.remove(run);
    if (!QFileInfo::exists(folder))
        say(tr("%1 does not exist any more. Choose another folder.").arg(folder), true);
    else if (runs.isEmpty())
        say(tr("No runs in %1 yet: a run folder holds metrics.jsonl or TensorBoard event files. "
               "New runs are looked for every ten seconds.")
                .arg(folder),
            true);
    else
        say(tr("Runs in %1: %2").arg(folder).arg(runs.size()));
}

void TrainPage::summaryChanged(const RunSummary &summary) {
    if (removed_.contains(summary.folder))
        return;
    runs_->update(summary);
    const RunsModel::Run *run = runs_->find(summary.folder);
    if (run && run->checked)
        for (const QString &metric : summary.changed)
            dirty_.insert(metric);
    if (summary.folder == currentRun())
        currentChanged();
    gather_.start();
    if (!dirty_.isEmpty() && !send_.isActive())
        send_.start();
}

/// The metrics of the checked runs, with the number of their values.
void TrainPage::gatherMetrics() {
    QHash<QString, MetricsModel::Metric> all;
    for (const RunsModel::Run &run : runs_->runs()) {
        for (const MetricSummary &metric : run.summary.metrics) {
            MetricsModel::Metric &sum = all[metric.name];
            sum.name = metric.name;
            if (!run.checked)
                continue;
            sum.points += metric.points;
            sum.nonFinite += metric.nonFinite;
        }
    }
    metrics_->setMetrics({all.begin(), all.end()});
    updateEmpty();
}

void TrainPage::showMetrics() {
    grid_->setMetrics(metrics_->checked());
    updateEmpty();
    makeAllDirty();
    updateFollow();
}

void TrainPage::makeAllDirty() {
    for (const PlotCell *cell : grid_->cells())
        dirty_.insert(cell->metric());
    send_.start();
}

void TrainPage::requestDirty() {
    QString title;
    CurveRequest request;
    request.folders = runs_->checked();
    request.x = xAxis();
    request.xUnit = timeUnit(&title);
    request.smoothing = smoothing();
    for (const PlotCell *cell : grid_->cells()) {
        if (!dirty_.contains(cell->metric()))
            continue;
        request.metric = cell->metric();
        follower_->request(request);
    }
    dirty_.clear();
}

void TrainPage::curvesReady(const std::shared_ptr<Curves> &curves) {
    PlotCell *cell = grid_->cell(curves->request.metric);
    if (!cell || curves->request.x != xAxis())
        return;
    QString title = tr("Step");
    if (xAxis() == XAxis::time)
        timeUnit(&title);
    else if (xAxis() == XAxis::samples)
        title = tr("Samples");
    else if (xAxis() == XAxis::tokens)
        title = tr("Tokens");
    cell->setBands(bands());
    cell->setAxes(title, logX_->isChecked(), logY_->isChecked());
    cell->setCurves(std::move(*curves), looks());
}

void TrainPage::axesChanged() {
    for (PlotCell *cell : grid_->cells())
        cell->plot().showAll(); // the range of another axis says nothing on this one
    makeAllDirty();
}

void TrainPage::followAll() {
    for (PlotCell *cell : grid_->cells())
        cell->plot().showAll();
    updateFollow();
}

void TrainPage::updateFollow() {
    const auto &cells = grid_->cells();
    const bool all = std::all_of(cells.begin(), cells.end(),
                                 [](PlotCell *cell) { return cell->plot().follow(); });
    follow_->setEnabled(!cells.isEmpty());
    follow_->setChecked(!cells.isEmpty() && all);
}

void TrainPage::updateEmpty() {
    const bool any = !runs_->runs().empty();
    if (!any)
        empty_->setText(
            tr("Curves of training runs: loss, reward and whatever else a run writes, several runs "
               "over one another, live while they train.\n\nAdd a run folder, or a "
               "folder above "
               "several, or drop one here. A run folder holds metrics.jsonl (one JSON object a "
               "step) or TensorBoard event files."));
    else if (metrics_->rowCount() == 0)
        empty_->setText(tr("These runs have no values yet. Curves appear as soon as the first "
                           "step is written."));
    else
        empty_->setText(tr("Check a metric in the list on the left to see its curves."));
    stack_->setCurrentIndex(grid_->cells().isEmpty() ? 0 : 1);
    export_->setEnabled(!grid_->cells().isEmpty());
    for (QAction *action : {remove_, reload_, all_, none_})
        action->setEnabled(any);
}

QStringList TrainPage::selectedRuns() const {
    QStringList folders;
    for (const QModelIndex &index : runsView_->selectionModel()->selectedRows())
        folders << runs_->runs()[static_cast<std::size_t>(index.row())].summary.folder;
    return folders;
}

void TrainPage::removeRuns() {
    const QStringList folders = selectedRuns();
    if (folders.isEmpty())
        say(tr("Select the runs to remove in the list; their files stay."));
    for (const QString &folder : folders) {
        removed_.insert(folder);
        follower_->remove(folder);
        rolloutsOf_.remove(folder);
        runs_->remove(folder);
    }
}

void TrainPage::reloadRuns() {
    QStringList folders = selectedRuns();
    if (folders.isEmpty())
        for (const RunsModel::Run &run : runs_->runs())
            folders << run.summary.folder;
    for (const QString &folder : folders)
        follower_->reload(folder);
}

void TrainPage::checkAllRuns() {
    runs_->setAllChecked(true);
}
void TrainPage::uncheckAllRuns() {
    runs_->setAllChecked(false);
}

void TrainPage::selectMetricFilter() {
    filter_->setFocus(Qt::ShortcutFocusReason);
    filter_->selectAll();
}

void TrainPage::askFolder() {
    const QPointer<TrainPage> self(this);
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Add a run folder"));
    if (self && !folder.isEmpty())
        addFolder(folder);
}

void TrainPage::askExport() {
    const QPointer<TrainPage> self(this);
    const QString file = QFileDialog::getSaveFileName(
        this, tr("Export all plots as CSV"), QStringLiteral("runs.csv"), tr("CSV files (*.csv)"));
    if (self && !file.isEmpty())
        exportCsv(file);
}

void TrainPage::exportCsv(const QString &file) {
    QStringList folders, names;
    for (const RunsModel::Run &run : runs_->runs()) {
        if (!run.checked)
            continue;
        folders << run.summary.folder;
        names << run.name;
    }
    say(tr("Writing %1 …").arg(file));
    follower_->exportCsv(file, folders, names, metrics_->checked(), smoothing());
}

void TrainPage::dragEnterEvent(QDragEnterEvent *event) {
    for (const QUrl &url : event->mimeData()->urls()) {
        const QFileInfo info(url.toLocalFile());
        if (url.isLocalFile() &&
            (info.isDir() || info.fileName() == QLatin1String("metrics.jsonl") ||
             info.fileName().contains(QLatin1String("tfevents")))) {
            event->acceptProposedAction();
            return;
        }
    }
}

void TrainPage::dropEvent(QDropEvent *event) {
    for (const QUrl &url : event->mimeData()->urls())
        if (url.isLocalFile())
            addFolder(url.toLocalFile());
    event->acceptProposedAction();
}

} // namespace cuda_agent::widgets
