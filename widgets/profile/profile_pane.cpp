// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/profile/profile_pane.h"

#include "widgets/base/text.h"
#include "widgets/base/theme.h"
#include "widgets/profile/findings_model.h"
#include "widgets/profile/kernels_model.h"
#include "widgets/profile/profile_words.h"
#include "widgets/profile/roof_plot.h"
#include "widgets/profile/speed_chart.h"

#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QListView>
#include <QPlainTextEdit>
#include <QResizeEvent>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>

#include <algorithm>
#include <numeric>

namespace cuda_agent::widgets {

namespace {

constexpr std::size_t mostDrawn = 7; ///< launches beside each other: as many as have a colour

} // namespace

ProfilePane::ProfilePane(SessionDocument *document, QWidget *parent)
    : QWidget(parent), document_(document), kernels_(new KernelsModel(this)),
      sorted_(new QSortFilterProxyModel(this)), findings_(new FindingsModel(this)) {
    setAccessibleName(tr("Kernel profile"));
    makeParts();
    makeActions();
    timer_.setSingleShot(true);
    timer_.setInterval(60);
    connect(&timer_, &QTimer::timeout, this, [this] {
        if (isVisible())
            refresh();
    });
    connect(document, &SessionDocument::reset, this, &ProfilePane::later);
    connect(document, &SessionDocument::advanced, this, &ProfilePane::later);
    connect(document, &SessionDocument::shownTurnChanged, this, &ProfilePane::later);
    connect(chooser_, &QComboBox::activated, this,
            [this] { setLaunch(chooser_->currentData().toInt()); });
    connect(upper_, &QTabWidget::currentChanged, this, [this](int page) {
        if (!choosing_ && page <= upper_->indexOf(speed_)) // no list
            userChoseSpeed_ = page == upper_->indexOf(speed_);
    });
    connect(findingsList_, &QListView::clicked, this, &ProfilePane::activateFinding);
    connect(findingsList_, &QListView::activated, this, &ProfilePane::activateFinding);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            [this](const QModelIndex &row) {
                if (!choosing_ && row.isValid())
                    setLaunch(sorted_->mapToSource(row).row());
            });
    connect(table_, &QTableView::activated, this, [this](const QModelIndex &row) {
        const ProfiledLaunch &launch = profile_->launch(sorted_->mapToSource(row).row());
        if (!launch.file.isEmpty() && launch.line > 0)
            Q_EMIT locationActivated(launch.file, launch.line, 0);
    });
    connect(roofline_, &RoofPlot::currentMarkChanged, this, [this] { note_->setText(note()); });
    connect(&Theme::instance(), &Theme::changed, this, &ProfilePane::retheme);
    retheme();
    refresh();
}

void ProfilePane::later() {
    dirty_ = true;
    if (!timer_.isActive())
        timer_.start();
}

void ProfilePane::showEvent(QShowEvent *event) {
    QWidget::showEvent(event);
    if (dirty_)
        refresh();
}

void ProfilePane::resizeEvent(QResizeEvent *event) {
    QWidget::resizeEvent(event);
    const QSize size = event->size();
    const bool wide = size.width() > 760 && 5 * size.width() > 8 * size.height();
    splitter_->setOrientation(wide ? Qt::Horizontal : Qt::Vertical);
    setCompact(!wide && size.height() < 430);
}

void ProfilePane::retheme() {
    const Colors &colors = Theme::instance().colors();
    setTextColor(note_, colors.muted);
    setTextColor(nothing_, colors.muted);
    setTextColor(noFindings_, colors.muted);
    findingsList_->viewport()->update();
    table_->viewport()->update();
    // The rows' heights follow the font.
    findingsList_->doItemsLayout();
}

void ProfilePane::refresh() {
    dirty_ = false;
    timer_.stop();
    const RecordedProfile recorded = recordedProfile(*document_);
    if (!recorded.json) {
        shown_ = nullptr;
        profile_.reset();
        showNothing(recorded);
        return;
    }
    noteText_ = noteText(recorded);
    if (profile_ && shown_ == *recorded.json) { // keep what the user looks at
        note_->setText(note());
        return;
    }
    shown_ = *recorded.json;
    profile_ = kernelProfileOf(shown_);
    if (!profile_) {
        showNothing(recorded);
        return;
    }
    noteText_ = noteText(recorded);
    showProfile();
}

void ProfilePane::showNothing(const RecordedProfile &recorded) {
    const int turn = document_->shownTurn();
    other_ = recorded.other;
    QStringList lines;
    if (recorded.json)
        lines += tr("The profile of turn %1 in the log cannot be read.").arg(recorded.turn);
    else if (!recorded.reason.isEmpty())
        lines += tr("Turn %1 was profiled without a result: %2").arg(turn).arg(recorded.reason);
    else if (turn > 0)
        lines += tr("The candidate of turn %1 has not been profiled.").arg(turn);
    lines += tr("A roofline of each kernel with DRAM, L2 and L1, its occupancy and what to do next "
                "are shown here once a candidate is profiled: press Profile, or let the agent call "
                "its tool Profile.");
    nothing_->setText(lines.join(QStringLiteral("\n\n")));
    showOther_->setVisible(other_ > 0);
    showOther_->setText(tr("Show Turn %1, Which Has a Profile").arg(other_));
    roofline_->setProfile(nullptr, {});
    speed_->setLaunch({});
    kernels_->setProfile({});
    findings_->setProfile({});
    for (QAction *action : std::as_const(needProfile_))
        action->setEnabled(false);
    noteText_.clear();
    note_->setText({});
    pages_->setCurrentIndex(0);
    showUnderWay();
}

QString ProfilePane::noteText(const RecordedProfile &recorded) const {
    if (!profile_)
        return {};
    QStringList parts;
    parts += recorded.turn == document_->shownTurn()
                 ? tr("Turn %1").arg(recorded.turn)
                 : tr("Turn %1, whose files are the same").arg(recorded.turn);
    if (!profile_->device.isEmpty())
        parts += profile_->device;
    parts += tr("a call takes %1").arg(timeText(profile_->whole.seconds));
    if (profile_->gapShare && *profile_->gapShare >= 0.01)
        parts += tr("nothing runs in %1 of it").arg(percentText(profile_->gapShare));
    QString text = parts.join(QStringLiteral(", ")) + QLatin1Char('.');
    if (profile_->cpu)
        text += QLatin1Char(' ') +
                tr("Times by the host's clock, which say nothing about a GPU; bytes and operations "
                   "as the plan counts them, ceilings measured on this host.");
    else if (!profile_->source.isEmpty())
        text += QLatin1Char(' ') + tr("Source: %1.").arg(profile_->source);
    if (std::ranges::any_of(profile_->ceilings,
                            [](const Ceiling &ceiling) { return ceiling.datasheet.has_value(); }))
        text += QLatin1Char(' ') +
                tr("Solid ceilings were measured, dashed ones are the data sheet's.");
    return text;
}

QString ProfilePane::note() const {
    if (!profile_)
        return nothing_->text();
    const QString mark = roofline_->markText(roofline_->currentMark());
    if (!mark.isEmpty())
        return mark;
    return launch_ == allKernels && !roofline_->picture().marks.empty()
               ? noteText_ + QLatin1Char('\n') + roofline_->shapesText()
               : noteText_;
}

void ProfilePane::showProfile() {
    choosing_ = true;
    kernels_->setProfile(*profile_);
    findings_->setProfile(*profile_);
    table_->resizeColumnsToContents();
    // Columns that nothing is known of would only push the others away.
    for (int column = 0; column < KernelsModel::columns; ++column) {
        bool any = column == KernelsModel::Name;
        for (int row = 0; row < kernels_->rowCount() && !any; ++row)
            any = !kernels_->index(row, column).data().toString().isEmpty();
        table_->setColumnHidden(column, !any);
    }
    notes_->setPlainText(profile_->notes.join(QStringLiteral("\n\n")));
    nameTab(findingsPages_, tr("Findings (%1)").arg(findings_->rowCount()));
    nameTab(table_, tr("Kernels (%1)").arg(kernels_->rowCount()));
    nameTab(notes_, tr("Notes (%1)").arg(profile_->notes.size()), !profile_->notes.isEmpty());
    const bool found = findings_->rowCount() > 0;
    findingsPages_->setCurrentIndex(found ? 0 : 1);
    noFindings_->setText(profile_->cpu
                             ? tr("The rules read hardware counters, which the CPU device does not "
                                  "have. Kernels says where the time goes.")
                             : tr("The rules find nothing to remark. Notes, where there are any, "
                                  "say which counters could not be read."));
    fillChooser();
    for (QAction *action : std::as_const(needProfile_))
        action->setEnabled(true);
    pages_->setCurrentIndex(1);
    choosing_ = false;
    launch_ = profile_->longest();
    showChosen();
    showUnderWay();
}

void ProfilePane::fillChooser() {
    chooser_->clear();
    for (std::size_t i = 0; i < profile_->launches.size(); ++i) {
        const ProfiledLaunch &launch = profile_->launches[i];
        const auto index = static_cast<int>(i);
        const QString time = timeText(launch.seconds);
        const QString name = launchName(*profile_, index);
        chooser_->addItem(launch.share ? tr("%1, %2 (%3)", "kernel, time, share")
                                             .arg(name, time, percentText(launch.share))
                                       : tr("%1, %2", "kernel, time").arg(name, time),
                          index);
    }
    if (profile_->launches.size() > 1)
        chooser_->addItem(tr("All kernels"), allKernels);
    chooser_->addItem(tr("Whole call, %1").arg(timeText(profile_->whole.seconds)), wholeCall);
}

void ProfilePane::setLaunch(int launch) {
    if (!profile_ || launch >= static_cast<int>(profile_->launches.size()) || launch == launch_)
        return;
    launch_ = launch;
    showChosen();
}

std::vector<int> ProfilePane::drawnLaunches() const {
    if (launch_ != allKernels)
        return {launch_};
    // The longest of them, in the order of the call.
    std::vector<int> drawn;
    for (int index = 0; index < static_cast<int>(profile_->launches.size()); ++index)
        if (profile_->launch(index).performance().value_or(0) > 0)
            drawn.push_back(index);
    std::ranges::stable_sort(drawn, std::greater<>(),
                             [&](int index) { return profile_->launch(index).seconds; });
    drawn.resize(std::min(drawn.size(), mostDrawn));
    std::ranges::sort(drawn);
    return drawn;
}

void ProfilePane::showChosen() {
    choosing_ = true;
    chooser_->setCurrentIndex(chooser_->findData(launch_));
    roofline_->setEmptyText(
        tr("No arithmetic was counted here, so there is no arithmetic intensity to draw it at. "
           "Speed of Light says how near it comes to each ceiling."));
    roofline_->setProfile(&*profile_, drawnLaunches());
    roofline_->showAll();
    const ProfiledLaunch &launch = profile_->launch(launch_);
    speed_->setEmptyText(tr("The profile knows neither bytes nor operations of this."));
    speed_->setLaunch(launch);
    const bool speed =
        (userChoseSpeed_ || roofline_->picture().marks.empty()) && speed_->barCount() > 0;
    if (upper_->currentIndex() <= upper_->indexOf(speed_)) // who reads a list goes on reading
        upper_->setCurrentWidget(speed ? static_cast<QWidget *>(speed_) : roofline_);
    const QModelIndex row =
        launch_ >= 0 ? sorted_->mapFromSource(kernels_->index(launch_, 0)) : QModelIndex();
    table_->setCurrentIndex(row);
    choosing_ = false;
    note_->setText(note());
}

void ProfilePane::activateFinding(const QModelIndex &index) {
    if (const int launch = index.data(FindingsModel::LaunchRole).toInt(); launch >= 0)
        setLaunch(launch);
    const QString file = index.data(FindingsModel::FileRole).toString();
    if (!file.isEmpty())
        Q_EMIT locationActivated(file, index.data(FindingsModel::LineRole).toInt(), 0);
}

void ProfilePane::setProfilingAllowed(bool allowed, const QString &whyNot) {
    profileAction_->setEnabled(allowed);
    profileAction_->setToolTip(
        allowed
            ? tr("Measure where the time of the shown turn's candidate goes; an engineer's turn "
                 "in the log")
            : whyNot);
}

void ProfilePane::setUnderWay(bool underWay, const QString &what) {
    if (underWay == underWay_ && what == what_)
        return;
    underWay_ = underWay;
    what_ = what;
    showUnderWay();
}

} // namespace cuda_agent::widgets
