// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The run that is looked at: its trainer, its stages, its rollouts.
#include "widgets/base/command.h"
#include "widgets/base/theme.h"
#include "widgets/runs/run_strip.h"
#include "widgets/runs/train_dialog.h"
#include "widgets/runs/train_page.h"

#include <QDir>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QPointer>
#include <QSortFilterProxyModel>
#include <QStyle>
#include <QTableView>
#include <QTreeView>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {

void TrainPage::makeSteering() {
    start_ = addCommand(this, "train.start", tr("&Start…"), {}, &TrainPage::askStart);
    start_->setToolTip(tr("Start a training run"));
    pause_ = addCommand(this, "train.pause", tr("&Pause"), QKeySequence(Qt::Key_F6),
                        &TrainPage::pauseRun);
    pause_->setToolTip(tr("Pause the run after its current step"));
    goOn_ = addCommand(this, "train.resume", tr("Res&ume"), {}, &TrainPage::goOnRun);
    goOn_->setToolTip(tr("Let a paused run go on, or start an ended one from its last checkpoint"));
    stop_ = addCommand(this, "train.stop", tr("S&top"), {}, &TrainPage::stopRun);
    stop_->setToolTip(tr("Stop the run after its current step; it can be resumed later"));
    strip_ = new RunStrip({start_, pause_, goOn_, stop_}, this);
    connect(launcher_, &TrainLauncher::failed, this,
            [this](const QString &folder, const QString &why) {
                say(tr("Training in %1: %2").arg(QDir::toNativeSeparators(folder), why), true);
            });
    connect(follower_, &RunFollower::asked, this, [this](const QString &, const QString &wrong) {
        if (!wrong.isEmpty())
            say(wrong, true);
    });
    connect(follower_, &RunFollower::rolloutsChanged, this,
            [this](const std::shared_ptr<Rollouts> &rollouts) {
                if (removed_.contains(rollouts->run))
                    return;
                rolloutsOf_[rollouts->run] = rollouts;
                if (rollouts->run == currentRun())
                    showRollouts();
            });
}

QWidget *TrainPage::makeRollouts() {
    rolloutsPane_ = new QWidget(this);
    auto *sorted = new QSortFilterProxyModel(rolloutsPane_);
    sorted->setSourceModel(rollouts_);
    sorted->setSortRole(RolloutsModel::sortRole);
    rolloutsView_ = new QTableView(rolloutsPane_);
    rolloutsView_->setObjectName(QStringLiteral("train.rollouts"));
    rolloutsView_->setAccessibleName(tr("Rollouts"));
    rolloutsView_->setModel(sorted);
    rolloutsView_->setSortingEnabled(true);
    sorted->sort(-1); // as the model has them until somebody sorts
    rolloutsView_->horizontalHeader()->setSortIndicator(-1, Qt::DescendingOrder);
    rolloutsView_->horizontalHeader()->setSectionResizeMode(RolloutsModel::taskColumn,
                                                            QHeaderView::Stretch);
    rolloutsView_->setColumnWidth(RolloutsModel::noteColumn, 220);
    rolloutsView_->horizontalHeader()->setHighlightSections(false);
    rolloutsView_->verticalHeader()->hide();
    rolloutsView_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
    rolloutsView_->setSelectionBehavior(QAbstractItemView::SelectRows);
    rolloutsView_->setSelectionMode(QAbstractItemView::SingleSelection);
    rolloutsView_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    rolloutsView_->setShowGrid(false);
    rolloutsView_->setWordWrap(false);
    const auto open = [this, sorted](const QModelIndex &index) {
        const QString folder = rollouts_->folder(sorted->mapToSource(index).row());
        if (!QFileInfo::exists(folder + QStringLiteral("/session.jsonl")))
            say(tr("There is no session in %1; the trainer keeps a sample of them.")
                    .arg(QDir::toNativeSeparators(folder)),
                true);
        else
            emit openSessionRequested(folder);
    };
    connect(rolloutsView_, &QTableView::activated, this, open);
    if (!rolloutsView_->style()->styleHint(QStyle::SH_ItemView_ActivateItemOnSingleClick))
        rolloutsView_->setToolTip(tr("A double click shows the trajectory as a replay."));
    auto *title = new QLabel(tr("Rollouts"), rolloutsPane_);
    QFont bold = title->font();
    bold.setBold(true);
    title->setFont(bold);
    title->setContentsMargins(6, 2, 6, 0);
    auto *layout = new QVBoxLayout(rolloutsPane_);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    layout->addWidget(title);
    layout->addWidget(rolloutsView_, 1);
    rolloutsPane_->hide();
    return rolloutsPane_;
}

QString TrainPage::currentRun() const {
    if (const QStringList selected = selectedRuns(); !selected.isEmpty())
        return selected.front();
    const QStringList drawn = runs_->checked();
    return drawn.isEmpty() ? QString() : drawn.front();
}

void TrainPage::currentChanged() {
    const RunsModel::Run *run = runs_->find(currentRun());
    RunProgress progress;
    if (run) {
        progress = RunProgress::of(run->summary.trainer);
        strip_->setRun(run->name,
                       Theme::instance().colors().series[static_cast<std::size_t>(run->color)],
                       progress);
    } else {
        strip_->clear();
    }
    pause_->setEnabled(progress.canPause);
    goOn_->setEnabled(progress.canGoOn || progress.canResume);
    stop_->setEnabled(progress.canStop);
    const QVector<StageBand> wanted = bands();
    if (std::any_of(grid_->cells().begin(), grid_->cells().end(),
                    [&](PlotCell *cell) { return cell->bands() != wanted; }))
        makeAllDirty();
    showRollouts();
}

void TrainPage::showRollouts() {
    rollouts_->setRollouts(rolloutsOf_.value(currentRun()));
    rolloutsPane_->setVisible(rollouts_->rowCount() > 0);
}

QVector<StageBand> TrainPage::bands() const {
    const RunsModel::Run *run = runs_->find(currentRun());
    QVector<StageBand> result;
    if (!run || !run->checked)
        return result;
    QString title;
    const double unit = timeUnit(&title);
    const auto place = [&](const learn::MetricSeries::Place &at) {
        switch (xAxis()) {
        case XAxis::time:
            return (at.time - run->summary.firstTime) / unit;
        case XAxis::samples:
            return at.samples;
        case XAxis::tokens:
            return at.tokens;
        case XAxis::step:
            break;
        }
        return at.step;
    };
    for (const learn::StageSpan &span : run->summary.stages) {
        StageBand band{QString::fromStdString(span.stage), place(span.first), place(span.last)};
        if (!std::isfinite(band.from) || !std::isfinite(band.to))
            return {};
        if (!result.isEmpty())
            result.back().to = band.from; // without gaps
        result << band;
    }
    return result;
}

void TrainPage::ask(learn::RunOrder order) {
    if (const QString run = currentRun(); !run.isEmpty())
        follower_->ask(run, order);
}

void TrainPage::pauseRun() {
    ask(learn::RunOrder::pause);
}
void TrainPage::stopRun() {
    ask(learn::RunOrder::stop);
}

void TrainPage::goOnRun() {
    const RunsModel::Run *run = runs_->find(currentRun());
    if (!run)
        return;
    if (RunProgress::of(run->summary.trainer).canGoOn)
        ask(learn::RunOrder::goOn);
    else
        askTraining(QDir(run->summary.folder).filePath(QStringLiteral("recipe.toml")),
                    run->summary.folder);
}

void TrainPage::askStart() {
    askTraining({}, {});
}

void TrainPage::askTraining(const QString &recipe, const QString &folder) {
    const QPointer<TrainPage> self(this);
    const QPointer<TrainDialog> dialog = new TrainDialog(launcher_->missing(), this);
    if (!recipe.isEmpty())
        dialog->setRecipe(recipe);
    if (!folder.isEmpty())
        dialog->setFolder(folder);
    const int answer = dialog->exec();
    if (!self || !dialog)
        return;
    if (answer == QDialog::Accepted) {
        const TrainRequest request = dialog->request();
        launcher_->start(request);
        addFolder(request.folder);
    }
    delete dialog;
}

} // namespace cuda_agent::widgets
