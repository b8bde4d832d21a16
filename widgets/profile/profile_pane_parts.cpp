// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

/// What the profile pane is made of, and its actions.
#include "widgets/profile/profile_pane.h"

#include "widgets/base/command.h"
#include "widgets/base/parts.h"
#include "widgets/profile/findings_model.h"
#include "widgets/profile/kernels_model.h"
#include "widgets/profile/roof_plot.h"
#include "widgets/profile/speed_chart.h"

#include <QAction>
#include <QApplication>
#include <QBoxLayout>
#include <QClipboard>
#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QListView>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QToolButton>

namespace cuda_agent::widgets {

void ProfilePane::makeParts() {
    note_ = new QLabel(this);
    note_->setAccessibleName(tr("Where the values come from"));
    note_->setTextFormat(Qt::PlainText);
    note_->setWordWrap(true);
    note_->setMinimumWidth(1);
    note_->setContentsMargins(6, 2, 6, 2);

    roofline_ = new RoofPlot(this);
    roofline_->setMinimumHeight(90);
    speed_ = new SpeedChart(this);
    speed_->setMinimumHeight(90);
    upper_ = new QTabWidget(this);
    upper_->setAccessibleName(tr("Roofline and speed of light"));
    upper_->setDocumentMode(true);
    upper_->addTab(roofline_, tr("Roofline"));
    upper_->addTab(speed_, tr("Speed of Light"));
    makeLists();

    splitter_ = new QSplitter(Qt::Vertical, this);
    splitter_->addWidget(upper_);
    splitter_->addWidget(lower_);
    splitter_->setStretchFactor(0, 3);
    splitter_->setStretchFactor(1, 2);
    splitter_->setChildrenCollapsible(false);
    splitter_->setSizes({550, 450}); // whatever the list would like

    nothing_ = pageLabel({}, this);
    nothing_->setAccessibleName(tr("How to get a profile"));
    showOther_ = new QToolButton(this);
    connect(showOther_, &QToolButton::clicked, this, [this] { document_->selectTurn(other_); });
    auto *empty = new QWidget(this);
    auto *column = new QVBoxLayout(empty);
    column->addStretch(1);
    column->addWidget(nothing_);
    column->addWidget(showOther_, 0, Qt::AlignHCenter);
    column->addStretch(1);
    pages_ = new QStackedWidget(this);
    pages_->addWidget(empty);
    pages_->addWidget(splitter_);

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeBar());
    layout->addWidget(note_);
    layout->addWidget(pages_, 1);
    setFocusProxy(chooser_);
}

QWidget *ProfilePane::makeBar() {
    auto *bar = new QWidget(this);
    auto *row = new QHBoxLayout(bar);
    row->setContentsMargins(6, 4, 6, 2);
    chooser_ = new QComboBox(bar);
    chooser_->setAccessibleName(tr("Kernel"));
    chooser_->setToolTip(tr("The kernel that is drawn"));
    chooser_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    chooser_->setMinimumContentsLength(10);
    underWayLabel_ = new QLabel(bar);
    underWayLabel_->setTextFormat(Qt::PlainText);
    underWayLabel_->setAccessibleName(tr("What the profiler is at"));
    underWayLabel_->setMinimumWidth(1);
    busy_ = new QProgressBar(bar);
    busy_->setRange(0, 0); // nobody knows how long a candidate takes
    busy_->setTextVisible(false);
    busy_->setMaximumSize(80, 14);
    busy_->setAccessibleName(tr("Profiling"));
    ask_ = new QToolButton(bar);
    stop_ = new QToolButton(bar);
    row->addWidget(chooser_, 1);
    row->addWidget(underWayLabel_, 1);
    row->addWidget(busy_);
    row->addWidget(ask_);
    row->addWidget(stop_);
    return bar;
}

void ProfilePane::makeLists() {
    findingsList_ = new QListView(this);
    findingsList_->setAccessibleName(tr("Findings, the largest expected gain first"));
    findingsList_->setModel(findings_);
    findingsList_->setItemDelegate(new FindingDelegate(findingsList_));
    findingsList_->setResizeMode(QListView::Adjust);
    findingsList_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    findingsList_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    findingsList_->setFrameShape(QFrame::NoFrame);
    findingsList_->setMinimumHeight(40);
    noFindings_ = pageLabel({}, this);
    findingsPages_ = new QStackedWidget(this);
    findingsPages_->addWidget(findingsList_);
    findingsPages_->addWidget(noFindings_);

    sorted_->setSourceModel(kernels_);
    sorted_->setSortRole(KernelsModel::sortRole);
    table_ = new QTableView(this);
    table_->setAccessibleName(tr("Kernels of one call"));
    table_->setModel(sorted_);
    prepareTable(table_);
    table_->setSelectionMode(QAbstractItemView::SingleSelection);
    table_->setMinimumHeight(40);
    table_->setSortingEnabled(true);
    table_->sortByColumn(-1, Qt::AscendingOrder); // the order of the call until one is chosen
    table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 6);

    notes_ = new QPlainTextEdit(this);
    notes_->setReadOnly(true);
    notes_->setFrameShape(QFrame::NoFrame);
    notes_->setTabChangesFocus(true);
    notes_->setAccessibleName(tr("What could not be measured, and why"));
    notes_->setMinimumHeight(40);

    lower_ = new QTabWidget(this);
    lower_->setAccessibleName(tr("Findings and kernels"));
    lower_->setDocumentMode(true);
    lower_->addTab(findingsPages_, tr("Findings"));
    lower_->addTab(table_, tr("Kernels"));
    lower_->addTab(notes_, tr("Notes"));
}

/// Where there is no room for a plot and a list above each other, they are pages of one.
void ProfilePane::setCompact(bool compact) {
    if (compact == (lower_->count() == 0))
        return;
    choosing_ = true;
    QTabWidget *from = compact ? lower_ : upper_;
    QTabWidget *to = compact ? upper_ : lower_;
    for (QWidget *page : std::initializer_list<QWidget *>{findingsPages_, table_, notes_}) {
        const int tab = from->indexOf(page);
        const QString text = from->tabText(tab);
        const bool shown = from->isTabVisible(tab);
        from->removeTab(tab);
        to->setTabVisible(to->addTab(page, text), shown);
    }
    lower_->setVisible(!compact);
    choosing_ = false;
}

void ProfilePane::nameTab(QWidget *page, const QString &text, bool shown) {
    QTabWidget *tabs = lower_->count() > 0 ? lower_ : upper_;
    tabs->setTabText(tabs->indexOf(page), text);
    tabs->setTabVisible(tabs->indexOf(page), shown);
}

void ProfilePane::makeActions() {
    profileAction_ = addCommand(this, "profile.run", tr("Profile Candidate"), {},
                                [this] { Q_EMIT profileRequested(); });
    profileAction_->setIconText(tr("Profile"));
    stopAction_ = addCommand(this, "profile.stop", tr("Stop Profiling"), {},
                             [this] { Q_EMIT stopRequested(); });
    stopAction_->setIconText(tr("Stop"));
    ask_->setDefaultAction(profileAction_);
    stop_->setDefaultAction(stopAction_);
    needProfile_ = {addCommand(this, "profile.nextKernel", tr("Next Kernel"),
                               Qt::ALT | Qt::Key_Down, [this] { stepLaunch(1); }),
                    addCommand(this, "profile.previousKernel", tr("Kernel Before"),
                               Qt::ALT | Qt::Key_Up, [this] { stepLaunch(-1); }),
                    addCommand(this, "profile.export", tr("Export Roofline…"), {},
                               [this] {
                                   const Plot *plot = upper_->currentWidget() == speed_
                                                          ? static_cast<Plot *>(speed_)
                                                          : roofline_;
                                   for (QAction *action : plot->actions())
                                       if (action->objectName() == QLatin1String("plot.export"))
                                           action->trigger();
                               }),
                    addCommand(this, "profile.copyKernels", tr("Copy Kernel Table"), {},
                               [this] { QApplication::clipboard()->setText(kernels_->text()); }),
                    addCommand(this, "profile.copyFindings", tr("Copy Findings"), {},
                               [this] { QApplication::clipboard()->setText(findings_->text()); }),
                    addCommand(this, "profile.copyJson", tr("Copy Profile as JSON"), {}, [this] {
                        QApplication::clipboard()->setText(QString::fromStdString(
                            shown_.dump(2, ' ', false, Json::error_handler_t::replace)));
                    })};
    const auto offer = [this](QWidget *view, const char *name) {
        for (QAction *action : std::as_const(needProfile_))
            if (action->objectName() == QLatin1String(name))
                view->addAction(action);
        view->setContextMenuPolicy(Qt::ActionsContextMenu);
    };
    offer(table_, "profile.copyKernels");
    offer(findingsList_, "profile.copyFindings");
    setProfilingAllowed(false, {});
}

void ProfilePane::stepLaunch(int by) {
    const int count = chooser_->count();
    if (count > 0)
        setLaunch(chooser_->itemData((chooser_->currentIndex() + by + count) % count).toInt());
}

void ProfilePane::showUnderWay() {
    chooser_->setVisible(!underWay_ && profile_.has_value());
    underWayLabel_->setVisible(underWay_ || !profile_);
    underWayLabel_->setText(underWay_ ? (what_.isEmpty() ? tr("profiling") : what_) : QString());
    busy_->setVisible(underWay_);
    ask_->setVisible(!underWay_);
    stop_->setVisible(underWay_);
    stopAction_->setEnabled(underWay_);
    note_->setVisible(profile_.has_value());
}

} // namespace cuda_agent::widgets
