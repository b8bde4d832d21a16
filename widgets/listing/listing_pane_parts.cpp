// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

/// What the machine code pane is made of, and its actions.
#include "widgets/listing/listing_pane.h"

#include "widgets/base/command.h"
#include "widgets/base/parts.h"

#include "core/device/architectures.h"

#include <QComboBox>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QProgressBar>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QTableView>
#include <QToolButton>

namespace cuda_agent::widgets {

void ListingPane::makeParts() {
    note_ = new QLabel(this);
    note_->setAccessibleName(tr("What is listed"));
    note_->setTextFormat(Qt::PlainText);
    note_->setMinimumWidth(1);
    note_->setContentsMargins(6, 2, 6, 2);
    makeTable();
    nothing_ = pageLabel({}, this);
    nothing_->setAccessibleName(tr("Why nothing is listed"));
    nothing_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    pages_ = new QStackedWidget(this);
    pages_->addWidget(nothing_);
    pages_->addWidget(table_);

    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeBar());
    layout->addWidget(note_);
    layout->addWidget(pages_, 1);
    setFocusProxy(table_);
    makeActions();
}

QWidget *ListingPane::makeBar() {
    auto *bar = new QWidget(this);
    auto *row = new QHBoxLayout(bar);
    row->setContentsMargins(6, 4, 6, 2);
    const auto box = [&](const QString &name, const QString &tip, int letters) {
        auto *made = new QComboBox(bar);
        made->setAccessibleName(name);
        made->setToolTip(tip);
        made->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
        made->setMinimumContentsLength(letters);
        return made;
    };
    source_ = box(tr("Kernel file"), tr("The file whose kernels are listed"), 8);
    architecture_ =
        box(tr("Architecture"), tr("What to compile for; no such card need be in this machine"), 6);
    for (const auto &each : device::architectures()) {
        const auto text = [](std::string_view view) {
            return QString::fromUtf8(view.data(), static_cast<qsizetype>(view.size()));
        };
        architecture_->addItem(text(each.name), text(each.name));
        architecture_->setItemData(
            architecture_->count() - 1,
            tr("%1: %2", "generation: cards").arg(text(each.generation), text(each.example)),
            Qt::ToolTipRole);
    }
    code_ =
        box(tr("Kind of code"), tr("What the machine runs, or what is made on the way there"), 4);
    code_->addItem(tr("SASS"), static_cast<int>(toolchain::Code::sass));
    code_->addItem(tr("PTX"), static_cast<int>(toolchain::Code::ptx));
    find_ = new QLineEdit(bar);
    find_->setPlaceholderText(tr("Find"));
    find_->setClearButtonEnabled(true);
    find_->setAccessibleName(tr("Find in the listing"));
    find_->setMinimumWidth(40);
    busyBar_ = new QProgressBar(bar);
    busyBar_->setRange(0, 0); // nobody knows how long a compiler takes
    busyBar_->setTextVisible(false);
    busyBar_->setMaximumSize(60, 14);
    busyBar_->setAccessibleName(tr("Compiling"));
    stop_ = new QToolButton(bar);
    stop_->setText(tr("Stop"));
    connect(stop_, &QToolButton::clicked, this, &ListingPane::stop);
    row->addWidget(source_, 2);
    row->addWidget(architecture_);
    row->addWidget(code_);
    row->addWidget(find_, 1);
    row->addWidget(busyBar_);
    row->addWidget(stop_);

    connect(architecture_, &QComboBox::currentIndexChanged, this, [this] { chosen_ = true; });
    for (QComboBox *each : {source_, architecture_, code_})
        connect(each, &QComboBox::currentIndexChanged, this, [this] {
            if (isVisible())
                refresh();
            else
                dirty_ = true;
        });
    connect(find_, &QLineEdit::returnPressed, this, [this] { find(true); });
    connect(find_, &QLineEdit::textChanged, find_, [this] { find_->setStyleSheet({}); });
    return bar;
}

void ListingPane::makeTable() {
    table_ = new QTableView(this);
    table_->setAccessibleName(tr("Instructions"));
    table_->setModel(model_);
    table_->setItemDelegateForColumn(ListingModel::Cost, new CostDelegate(table_));
    prepareTable(table_);
    table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    table_->setMinimumHeight(40);
    table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() + 3);
    table_->horizontalHeader()->setStretchLastSection(true);
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            &ListingPane::rowChanged);
    connect(table_, &QTableView::activated, this, [this](const QModelIndex &index) {
        if (const int line = index.data(ListingModel::LineRole).toInt(); line > 0)
            Q_EMIT locationActivated(source_->currentText(), line, 0);
    });
}

void ListingPane::makeActions() {
    copyAction_ = addCommand(this, "listing.copy", tr("Copy Instructions"), QKeySequence::Copy,
                             &ListingPane::copy);
    saveAction_ = addCommand(this, "listing.save", tr("Save Listing As…"), {}, &ListingPane::save);
    addCommand(this, "listing.find", tr("Find in the Listing"), QKeySequence::Find, [this] {
        find_->setFocus();
        find_->selectAll();
    });
    addCommand(this, "listing.findNext", tr("Find Next in the Listing"), QKeySequence::FindNext,
               [this] { find(true); });
    addCommand(this, "listing.findPrevious", tr("Find Previous in the Listing"),
               QKeySequence::FindPrevious, [this] { find(false); });
    sourceAction_ = addCommand(this, "listing.source", tr("Lines of Source in the Listing"));
    sourceAction_->setCheckable(true);
    sourceAction_->setChecked(true);
    connect(sourceAction_, &QAction::toggled, this, [this](bool shown) {
        model_->setSourceShown(shown);
        if (wanted_ > 0)
            selectLine(wanted_);
    });
    table_->setContextMenuPolicy(Qt::ActionsContextMenu);
    table_->addActions({copyAction_, saveAction_, sourceAction_});
}

void ListingPane::fillSources(const std::vector<std::string> &sources, const std::string &chosen) {
    const QSignalBlocker quiet(source_);
    source_->clear();
    for (const auto &each : sources)
        source_->addItem(QString::fromStdString(each));
    source_->setCurrentIndex(source_->findText(QString::fromStdString(chosen)));
    wish_.source = chosen; // what it was made for, should nothing have been chosen then
}

void ListingPane::showState() {
    const bool busy = maker_->busy();
    busyBar_->setVisible(busy);
    stop_->setVisible(busy);
    const bool listed = problem_.isEmpty() && model_->instructions() > 0;
    if (!problem_.isEmpty() || !busy)
        nothing_->setText(problem_);
    else if (!listed)
        nothing_->setText(tr("Compiling…"));
    pages_->setCurrentIndex(listed ? 1 : 0);
    note_->setVisible(listed);
    note_->setText(busy ? tr("Compiling for %1…").arg(QString::fromStdString(wish_.architecture))
                        : noteText_);
    for (QAction *each : {copyAction_, saveAction_, sourceAction_})
        each->setEnabled(listed);
}

} // namespace cuda_agent::widgets
