// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/listing/listing_pane.h"

#include "widgets/base/text.h"
#include "widgets/base/theme.h"
#include "widgets/profile/recorded_profile.h"

#include "core/device/architectures.h"

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QItemSelectionModel>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QSaveFile>
#include <QScopedValueRollback>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QTableView>

namespace cuda_agent::widgets {

namespace {

constexpr int typingPause = 500; ///< ms: many keystrokes are one change
constexpr const char *withoutCard = "sm_90";

} // namespace

ListingPane::ListingPane(SessionDocument *document, Files files, QWidget *parent)
    : QWidget(parent), document_(document), files_(std::move(files)),
      maker_(new ListingMaker(this)), model_(new ListingModel(this)) {
    setAccessibleName(tr("Machine code"));
    makeParts();
    timer_.setSingleShot(true);
    connect(&timer_, &QTimer::timeout, this, &ListingPane::refresh);
    connect(document_, &SessionDocument::reset, this, [this] { chosen_ = false; });
    connect(document_, &SessionDocument::shownTurnChanged, this, &ListingPane::later);
    connect(maker_, &ListingMaker::made, this, &ListingPane::take);
    connect(&Theme::instance(), &Theme::changed, table_->viewport(), qOverload<>(&QWidget::update));
    showState();
}

QString ListingPane::note() const {
    return pages_->currentIndex() == 0 ? nothing_->text() : note_->text();
}

void ListingPane::later() {
    dirty_ = true;
    if (isVisible())
        timer_.start(typingPause);
}

void ListingPane::showEvent(QShowEvent *event) {
    QWidget::showEvent(event);
    if (dirty_)
        timer_.start(0);
}

/// That of the session's card; on a machine without one, that of the data centre's usual card.
QString ListingPane::usualArchitecture() const {
    const QString own = textOf(partOf(document_->start(), "device"), "architecture");
    const auto *known = device::findArchitecture(own.toStdString());
    return known ? QString::fromUtf8(known->name.data(), static_cast<qsizetype>(known->name.size()))
                 : QString::fromLatin1(withoutCard);
}

void ListingPane::refresh() {
    dirty_ = false;
    timer_.stop();
    if (!chosen_) {
        const QSignalBlocker quiet(architecture_);
        architecture_->setCurrentIndex(architecture_->findData(usualArchitecture()));
    }
    ListingWish wish;
    wish.files = files_();
    wish.source = source_->currentText().toStdString();
    wish.architecture = architecture_->currentData().toString().toStdString();
    wish.code = static_cast<toolchain::Code>(code_->currentData().toInt());
    if (!wish.files.contains("plan.json")) {
        maker_->stop();
        wish_ = {};
        problem_ = wish.files.empty()
                       ? tr("The instructions that the compiler makes of a kernel stand here, each "
                            "under its line.\nPress Run, or open a session.")
                       : tr("Only kernels of plan candidates are listed; this turn has no "
                            "plan.json.");
        showState();
        return;
    }
    if (wish == wish_ && (maker_->busy() || problem_.isEmpty())) {
        takeCosts();
        showState();
        return;
    }
    wish_ = std::move(wish);
    maker_->make(wish_);
    showState();
}

void ListingPane::take(const MadeListing &made) {
    problem_ = made.problem;
    if (!made.sources.empty()) // a plan that cannot be read for a moment changes no choice
        fillSources(made.sources, made.listing.source);
    if (made.problem.isEmpty()) {
        const int top = table_->rowAt(0);
        model_->setListing(made, wish_.code);
        takeCosts();
        table_->resizeColumnToContents(ListingModel::Line);
        table_->resizeColumnToContents(ListingModel::Address);
        table_->scrollTo(model_->index(std::max(0, top), 0), QAbstractItemView::PositionAtTop);
        noteText_ = tr("%1 on %2, made in %3")
                        .arg(tr("%n instruction(s)", nullptr, model_->instructions()),
                             QString::fromStdString(wish_.architecture), timeText(made.seconds));
    }
    showState();
    if (wanted_ > 0)
        selectLine(wanted_);
}

void ListingPane::takeCosts() {
    const RecordedProfile recorded = recordedProfile(*document_);
    const auto profile = recorded.json ? kernelProfileOf(*recorded.json) : std::nullopt;
    model_->setCosts(profile ? lineCosts(*profile, source_->currentText())
                             : std::map<int, LineCost>());
    table_->setColumnHidden(ListingModel::Cost, !model_->hasCosts());
    table_->setColumnWidth(ListingModel::Cost, 8 * table_->fontMetrics().averageCharWidth() + 12);
}

void ListingPane::showLine(const QString &path, int line) {
    const int file = source_->findText(path);
    if (file < 0 || line < 1 || (file == source_->currentIndex() && line == wanted_))
        return; // the row that is chosen may be any of the line's
    wanted_ = line;
    if (file != source_->currentIndex())
        source_->setCurrentIndex(file); // lists it
    else
        selectLine(line);
}

void ListingPane::selectLine(int line) {
    const QScopedValueRollback<bool> guard(selecting_, true);
    const QList<int> rows = model_->rowsOf(line);
    QItemSelection selection;
    for (const int row : rows)
        selection.select(model_->index(row, 0), model_->index(row, ListingModel::Columns - 1));
    table_->selectionModel()->select(selection, QItemSelectionModel::ClearAndSelect);
    if (rows.isEmpty())
        return;
    table_->selectionModel()->setCurrentIndex(
        model_->index(rows.first(), ListingModel::Instruction), QItemSelectionModel::NoUpdate);
    table_->scrollTo(model_->index(rows.first(), ListingModel::Instruction),
                     QAbstractItemView::PositionAtCenter);
}

void ListingPane::rowChanged(const QModelIndex &index) {
    const int line = index.data(ListingModel::LineRole).toInt();
    if (selecting_ || line < 1)
        return;
    wanted_ = line;
    Q_EMIT lineChosen(source_->currentText(), line);
}

/// The next row with these words, in any column; from the other end when there is none.
void ListingPane::find(bool forward) {
    const QString words = find_->text();
    const int rows = model_->rowCount();
    if (words.isEmpty() || rows == 0)
        return;
    const int from =
        table_->currentIndex().isValid() ? table_->currentIndex().row() : (forward ? -1 : rows);
    for (int i = 1; i <= rows; ++i) {
        const int row = ((from + (forward ? i : -i)) % rows + rows) % rows;
        const auto cell = model_->index(row, ListingModel::Instruction);
        if (cell.data().toString().contains(words, Qt::CaseInsensitive)) {
            table_->setCurrentIndex(cell);
            table_->scrollTo(cell, QAbstractItemView::PositionAtCenter);
            find_->setStyleSheet({});
            return;
        }
    }
    find_->setStyleSheet(QStringLiteral("color: %1").arg(Theme::instance().colors().bad.name()));
}

void ListingPane::stop() {
    maker_->stop();
    wish_ = {};
    problem_ = tr("Stopped. Choose an architecture, or edit, to compile again.");
    showState();
}

void ListingPane::copy() {
    QList<int> rows;
    for (const QModelIndex &index : table_->selectionModel()->selectedRows())
        rows += index.row();
    QApplication::clipboard()->setText(model_->text(rows));
}

void ListingPane::save() {
    const QString name = QStringLiteral("%1.%2.%3")
                             .arg(QFileInfo(source_->currentText()).completeBaseName(),
                                  QString::fromStdString(wish_.architecture),
                                  wish_.code == toolchain::Code::ptx ? QStringLiteral("ptx.txt")
                                                                     : QStringLiteral("sass.txt"));
    const QString file = QFileDialog::getSaveFileName(this, tr("Save the listing"), name);
    if (file.isEmpty())
        return;
    QSaveFile out(file);
    const QByteArray text = model_->text().toUtf8();
    if (!out.open(QIODevice::WriteOnly) || out.write(text) != text.size() || !out.commit())
        note_->setText(tr("%1 could not be written: %2").arg(file, out.errorString()));
}

} // namespace cuda_agent::widgets
