// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The controls of the page: actions, bar, list and preview.
#include "widgets/tasks/data_page.h"

#include "widgets/base/command.h"
#include "widgets/tasks/python_view.h"

#include <QComboBox>
#include <QDir>
#include <QHeaderView>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSettings>
#include <QTableView>
#include <QToolBar>
#include <QToolButton>

namespace cuda_agent::widgets {

void DataPage::makeActions() {
    openFolder_ = addCommand(this, "data.openFolder", tr("Open &Folder…"),
                             QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_O), &DataPage::askFolder);
    openFile_ = addCommand(this, "data.openFile", tr("Open F&ile…"), {}, &DataPage::askFile);
    samples_ = addCommand(this, "data.samples", tr("&Sample Tasks"), {}, &DataPage::openSamples);
    reload_ =
        addCommand(this, "data.reload", tr("&Reload"), QKeySequence(Qt::Key_F5), &DataPage::reload);
    open_ = addCommand(this, "data.openAsSession", tr("&Open as Session"), {}, &DataPage::openTask);
    copy_ = addCommand(this, "data.copy", tr("&Copy Rows"), QKeySequence(QKeySequence::Copy),
                       &DataPage::copyRows);
    copy_->setShortcutContext(Qt::WidgetShortcut); // in the source Ctrl+C copies source
    export_ = addCommand(this, "data.exportCsv", tr("&Export List as CSV…"),
                         QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_E), &DataPage::askExport);
    newSynthesis_ =
        addCommand(this, "data.newSynthesis", tr("&New Synthesis…"), {}, &DataPage::askSynthesis);
    stopSynthesis_ =
        addCommand(this, "data.stopSynthesis", tr("S&top Synthesis"), {}, &DataPage::stopSynthesis);
    stopSynthesis_->setEnabled(false);
    panelAction_ =
        addCommand(this, "data.panel", tr("Filters and &Distributions"),
                   QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_F), &DataPage::updatePanel);
    panelAction_->setCheckable(true);
    panelAction_->setChecked(QSettings().value(QStringLiteral("data/panel"), true).toBool());
    find_ = addCommand(this, "data.find", tr("Fi&lter Tasks"), QKeySequence(QKeySequence::Find),
                       &DataPage::focusFilter);
}

QToolBar *DataPage::makeBar() {
    auto *bar = new QToolBar(this);
    bar->setAccessibleName(tr("Task set"));
    bar->setToolButtonStyle(Qt::ToolButtonTextOnly);
    auto *folderButton = new QToolButton(bar);
    folderButton->setDefaultAction(openFolder_);
    folderButton->setPopupMode(QToolButton::MenuButtonPopup);
    recent_ = new QMenu(tr("Recent Sets"), folderButton);
    folderButton->setMenu(recent_);
    connect(recent_, &QMenu::aboutToShow, this, &DataPage::fillRecent);
    bar->addWidget(folderButton);
    bar->addAction(openFile_);
    bar->addAction(samples_);
    bar->addAction(reload_);
    bar->addAction(export_);
    bar->addSeparator();
    bar->addAction(panelAction_);
    bar->addAction(newSynthesis_);
    return bar;
}

QWidget *DataPage::makeList() {
    auto *page = new QWidget(this);
    set_ = new QLabel(page);
    set_->setTextFormat(Qt::PlainText);
    set_->setAccessibleName(tr("Open task set"));
    set_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    text_ = new QLineEdit(page);
    text_->setObjectName(QStringLiteral("data.text"));
    text_->setPlaceholderText(tr("Filter: words in any column"));
    text_->setAccessibleName(tr("Filter tasks"));
    text_->setClearButtonEnabled(true);
    text_->setMinimumWidth(90);
    text_->installEventFilter(this);
    group_ = new QComboBox(page);
    group_->setObjectName(QStringLiteral("data.level"));
    group_->setAccessibleName(tr("Level or folder"));
    group_->addItem(tr("All levels and folders"));
    group_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    group_->setMinimumContentsLength(4);
    group_->setEnabled(false);
    count_ = new QLabel(page);
    count_->setAccessibleName(tr("Number of tasks"));

    asked_ = new QLabel(page);
    asked_->setObjectName(QStringLiteral("data.asked"));
    asked_->setAccessibleName(tr("Filters in force"));
    asked_->setTextFormat(Qt::RichText);
    asked_->setWordWrap(true);
    asked_->setTextInteractionFlags(Qt::LinksAccessibleByMouse | Qt::LinksAccessibleByKeyboard);
    asked_->setFocusPolicy(Qt::StrongFocus);
    asked_->hide();
    connect(asked_, &QLabel::linkActivated, this, [this](const QString &link) {
        TaskQuery query = query_;
        if (link == QLatin1String("all")) {
            query = {};
            query.words = query_.words;
        } else if (link == QLatin1String("name")) {
            query.operatorName.clear();
        } else {
            query.clear(static_cast<Facet>(link.toInt()));
        }
        setQuery(query);
    });
    view_ = new QComboBox(page);
    view_->setObjectName(QStringLiteral("data.view"));
    view_->setAccessibleName(tr("Set or candidates"));
    view_->addItems({tr("Set"), tr("Candidates")});
    view_->hide();
    connect(view_, &QComboBox::activated, this, [this](int index) {
        viewChosen_ = true;
        setQuery({});
        showSynthesis(index == 1);
    });

    table_ = new QTableView(page);
    table_->setObjectName(QStringLiteral("data.table"));
    table_->setModel(filtered_);
    table_->setAccessibleName(tr("Tasks"));
    table_->setSelectionBehavior(QAbstractItemView::SelectRows);
    table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    table_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    table_->setTabKeyNavigation(false);
    table_->setShowGrid(false);
    table_->setAlternatingRowColors(true);
    table_->setWordWrap(false);
    table_->setSortingEnabled(true);
    table_->sortByColumn(TaskSetModel::nameColumn, Qt::AscendingOrder);
    table_->verticalHeader()->hide();
    table_->verticalHeader()->setSectionResizeMode(QHeaderView::Fixed);
    table_->verticalHeader()->setDefaultSectionSize(fontMetrics().height() + 6);
    table_->horizontalHeader()->setSectionsMovable(true);
    table_->horizontalHeader()->setHighlightSections(false);
    table_->horizontalHeader()->setContextMenuPolicy(Qt::CustomContextMenu);
    connect(table_->horizontalHeader(), &QWidget::customContextMenuRequested, this,
            &DataPage::askColumns);
    table_->setColumnWidth(TaskSetModel::nameColumn, 190);
    table_->setColumnWidth(TaskSetModel::groupColumn, 110);
    table_->setColumnWidth(TaskSetModel::mentionsColumn, 240);
    table_->setColumnWidth(TaskSetModel::sizeColumn, 75);
    table_->setColumnWidth(TaskSetModel::problemColumn, 260);
    table_->setContextMenuPolicy(Qt::ActionsContextMenu);
    table_->addActions({open_, copy_, export_, reload_});
    table_->installEventFilter(this);
    connect(table_, &QTableView::doubleClicked, open_, &QAction::trigger);

    auto *row = new QHBoxLayout;
    row->addWidget(text_, 2);
    row->addWidget(group_, 1);
    row->addWidget(count_);
    auto *layout = new QVBoxLayout(page);
    layout->setContentsMargins(4, 2, 2, 4);
    layout->setSpacing(4);
    auto *head = new QHBoxLayout;
    head->addWidget(view_);
    head->addWidget(set_, 1);
    layout->addLayout(head);
    layout->addLayout(row);
    layout->addWidget(asked_);
    layout->addWidget(table_, 1);
    return page;
}

QWidget *DataPage::makePreview() {
    auto *page = new QWidget(this);
    heading_ = new QLabel(page);
    heading_->setTextFormat(Qt::PlainText);
    heading_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    QFont bold = heading_->font();
    bold.setBold(true);
    heading_->setFont(bold);
    openButton_ = new QPushButton(tr("Open as Session"), page);
    openButton_->setObjectName(QStringLiteral("data.open"));
    openButton_->setAccessibleName(tr("Open the selected task as a session"));
    connect(openButton_, &QPushButton::clicked, open_, &QAction::trigger);
    reason_ = new QLabel(page);
    reason_->setTextFormat(Qt::PlainText);
    reason_->setWordWrap(true);
    reason_->setAccessibleName(tr("Why this is no task"));
    source_ = new PythonView(page);
    auto *row = new QHBoxLayout;
    row->addWidget(heading_, 1);
    row->addWidget(openButton_);
    auto *layout = new QVBoxLayout(page);
    layout->setContentsMargins(2, 2, 4, 4);
    layout->setSpacing(4);
    layout->addLayout(row);
    layout->addWidget(reason_);
    layout->addWidget(source_, 1);
    return page;
}

void DataPage::fillRecent() {
    recent_->clear();
    for (const QString &path : QSettings().value(QStringLiteral("data/recent")).toStringList()) {
        QString text = QDir::toNativeSeparators(path);
        recent_->addAction(text.replace(u'&', QLatin1String("&&")), this,
                           [this, path] { openSet(path); });
    }
    if (recent_->isEmpty())
        recent_->addAction(tr("No sets yet"))->setEnabled(false);
}

} // namespace cuda_agent::widgets
