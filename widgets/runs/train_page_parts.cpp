// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The controls of the page: actions, lists and bar.
#include "widgets/runs/train_page.h"

#include "widgets/base/command.h"
#include "widgets/base/theme.h"

#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>
#include <QSignalBlocker>
#include <QSlider>
#include <QSortFilterProxyModel>
#include <QSplitter>
#include <QStackedWidget>
#include <QToolBar>
#include <QToolButton>
#include <QTreeView>

#include <cmath>

namespace cuda_agent::widgets {

namespace {

/// Names get the room that is left: no column lies outside of the view.
void fitColumns(QTreeView &view, int names) {
    view.header()->setStretchLastSection(false);
    view.header()->setSectionResizeMode(QHeaderView::ResizeToContents);
    view.header()->setSectionResizeMode(names, QHeaderView::Stretch);
}

} // namespace

void TrainPage::makeActions() {
    add_ = addCommand(this, "train.add", tr("&Add Folder…"),
                      QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O), &TrainPage::askFolder);
    remove_ = addCommand(this, "train.remove", tr("&Remove Runs"), QKeySequence(Qt::Key_Delete),
                         &TrainPage::removeRuns);
    remove_->setShortcutContext(Qt::WidgetShortcut); // Delete belongs to the list alone
    reload_ = addCommand(this, "train.reload", tr("Re&load Runs"), QKeySequence(Qt::Key_F5),
                         &TrainPage::reloadRuns);
    all_ = addCommand(this, "train.checkAll", tr("&Check All Runs"), {}, &TrainPage::checkAllRuns);
    none_ = addCommand(this, "train.uncheckAll", tr("&Uncheck All Runs"), {},
                       &TrainPage::uncheckAllRuns);
    find_ = addCommand(this, "train.find", tr("&Filter Metrics"), QKeySequence(QKeySequence::Find),
                       &TrainPage::selectMetricFilter);
    export_ = addCommand(this, "train.exportCsv", tr("&Export All Plots as CSV…"),
                         QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_E), &TrainPage::askExport);
    logX_ = addCommand(this, "train.logX", tr("Log &x"), {}, &TrainPage::axesChanged);
    logX_->setToolTip(tr("Logarithmic x axis"));
    logY_ = addCommand(this, "train.logY", tr("Log &y"), {}, &TrainPage::axesChanged);
    logY_->setToolTip(tr("Logarithmic y axis"));
    follow_ = addCommand(this, "train.follow", tr("F&ollow"), QKeySequence(Qt::CTRL | Qt::Key_0),
                         &TrainPage::followAll);
    follow_->setToolTip(tr("Show everything and follow new values in all plots (Ctrl+0)"));
    for (QAction *toggle : {logX_, logY_, follow_})
        toggle->setCheckable(true);
}

QWidget *TrainPage::makeEmpty() {
    auto *page = new QWidget(this);
    empty_ = new QLabel(page);
    empty_->setWordWrap(true);
    empty_->setAlignment(Qt::AlignCenter);
    empty_->setMaximumWidth(560);
    empty_->setMinimumWidth(60);
    empty_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    auto *button = new QPushButton(tr("Add Folder…"), page);
    button->setAccessibleName(tr("Add a run folder"));
    connect(button, &QPushButton::clicked, add_, &QAction::trigger);
    auto *layout = new QVBoxLayout(page);
    layout->setContentsMargins(4, 4, 4, 4);
    auto *row = new QHBoxLayout;
    row->addStretch(1);
    row->addWidget(empty_, 100);
    row->addStretch(1);
    layout->addStretch(1);
    layout->addLayout(row);
    layout->addWidget(button, 0, Qt::AlignHCenter);
    layout->addStretch(1);
    auto *scroll = new QScrollArea(this); // the words stay readable in a small window
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidget(page);
    return scroll;
}

QWidget *TrainPage::makeLists() {
    runsView_ = new QTreeView(this);
    runsView_->setModel(runs_);
    runsView_->setAccessibleName(tr("Runs"));
    runsView_->setRootIsDecorated(false);
    runsView_->setUniformRowHeights(true);
    runsView_->setTextElideMode(Qt::ElideMiddle); // names of runs begin alike, or end so
    runsView_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    runsView_->setContextMenuPolicy(Qt::ActionsContextMenu);
    runsView_->addActions({add_, remove_, reload_, all_, none_});
    fitColumns(*runsView_, RunsModel::nameColumn);

    filter_ = new QLineEdit(this);
    filter_->setPlaceholderText(tr("Filter metrics"));
    filter_->setAccessibleName(tr("Filter metrics"));
    filter_->setClearButtonEnabled(true);
    filtered_ = new QSortFilterProxyModel(this);
    filtered_->setSourceModel(metrics_);
    filtered_->setRecursiveFilteringEnabled(true);
    filtered_->setFilterRole(MetricsModel::nameRole);
    filtered_->setFilterCaseSensitivity(Qt::CaseInsensitive);
    metricsView_ = new QTreeView(this);
    metricsView_->setModel(filtered_);
    metricsView_->setAccessibleName(tr("Metrics"));
    metricsView_->setUniformRowHeights(true);
    fitColumns(*metricsView_, MetricsModel::nameColumn);
    connect(filter_, &QLineEdit::textChanged, this, [this](const QString &text) {
        filtered_->setFilterFixedString(text);
        metricsView_->expandAll();
    });
    connect(filtered_, &QAbstractItemModel::rowsInserted, metricsView_,
            [this](const QModelIndex &parent) {
                if (parent.isValid()) // a group gets its first metrics: open it
                    metricsView_->expand(parent);
            });

    auto *below = new QWidget(this);
    auto *layout = new QVBoxLayout(below);
    layout->setContentsMargins(0, 2, 0, 0);
    layout->setSpacing(2);
    layout->addWidget(filter_);
    layout->addWidget(metricsView_, 1);
    auto *lists = new QSplitter(Qt::Vertical, this);
    lists->addWidget(runsView_);
    lists->addWidget(below);
    lists->setSizes({300, 400});
    return lists;
}

QToolBar *TrainPage::makeBar() {
    auto *bar = new QToolBar(this);
    bar->setAccessibleName(tr("Curves"));
    bar->setToolButtonStyle(Qt::ToolButtonTextOnly);

    auto *addButton = new QToolButton(bar);
    addButton->setDefaultAction(add_);
    addButton->setPopupMode(QToolButton::MenuButtonPopup);
    recent_ = new QMenu(tr("Recent Folders"), addButton);
    addButton->setMenu(recent_);
    connect(recent_, &QMenu::aboutToShow, this, &TrainPage::fillRecent);
    bar->addWidget(addButton);
    bar->addSeparator();

    x_ = new QComboBox(bar);
    x_->addItems({tr("by step"), tr("by wall time"), tr("by samples"), tr("by tokens")});
    x_->setAccessibleName(tr("Horizontal axis"));
    x_->setToolTip(tr("Horizontal axis"));
    connect(x_, &QComboBox::currentIndexChanged, this, &TrainPage::axesChanged);
    bar->addWidget(x_);
    bar->addAction(logX_);
    bar->addAction(logY_);
    bar->addSeparator();

    auto *label = new QLabel(tr("S&moothing"), bar);
    slider_ = new QSlider(Qt::Horizontal, bar);
    slider_->setRange(0, 999);
    slider_->setPageStep(100);
    slider_->setFixedWidth(120);
    slider_->setAccessibleName(tr("Smoothing weight in thousandths"));
    slider_->setToolTip(tr("Weight of the exponential moving average (debiased); the raw values "
                           "stay faintly underneath"));
    label->setBuddy(slider_);
    weight_ = new QDoubleSpinBox(bar);
    weight_->setRange(0, 0.999);
    weight_->setDecimals(3);
    weight_->setSingleStep(0.05);
    weight_->setAccessibleName(tr("Smoothing weight"));
    connect(slider_, &QSlider::valueChanged, this,
            [this](int value) { weight_->setValue(value / 1000.0); });
    connect(weight_, &QDoubleSpinBox::valueChanged, this, [this](double value) {
        const QSignalBlocker quiet(slider_);
        slider_->setValue(static_cast<int>(std::lround(value * 1000)));
        makeAllDirty();
    });
    bar->addWidget(label);
    bar->addWidget(slider_);
    bar->addWidget(weight_);
    bar->addSeparator();

    columns_ = new QComboBox(bar);
    columns_->addItems({tr("1 column"), tr("2 columns"), tr("3 columns")});
    columns_->setAccessibleName(tr("Columns of plots"));
    connect(columns_, &QComboBox::currentIndexChanged, this,
            [this](int index) { grid_->setColumns(index + 1); });
    bar->addWidget(columns_);
    bar->addAction(follow_);
    bar->addAction(export_);
    return bar;
}

void TrainPage::fillRecent() {
    recent_->clear();
    for (const QString &folder : QSettings().value(QStringLiteral("train/recent")).toStringList()) {
        QString text = QDir::toNativeSeparators(folder);
        recent_->addAction(text.replace(u'&', QLatin1String("&&")), this,
                           [this, folder] { addFolder(folder); });
    }
    if (recent_->isEmpty())
        recent_->addAction(tr("No folders yet"))->setEnabled(false);
}

} // namespace cuda_agent::widgets
