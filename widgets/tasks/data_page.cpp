// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tasks/data_page.h"

#include "core/base/paths.h"
#include "widgets/base/theme.h"
#include "widgets/synthesis/synthesis_follower.h"
#include "widgets/synthesis/synthesis_process.h"
#include "widgets/synthesis/synthesis_strip.h"
#include "widgets/tasks/csv_text.h"
#include "widgets/tasks/filter_panel.h"
#include "widgets/tasks/python_view.h"

#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QDragEnterEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLineEdit>
#include <QLocale>
#include <QMimeData>
#include <QPointer>
#include <QPushButton>
#include <QSaveFile>
#include <QSettings>
#include <QSplitter>
#include <QStandardPaths>
#include <QTableView>
#include <QToolBar>
#include <QUrl>

#include <algorithm>

namespace cuda_agent::widgets {
namespace {

constexpr int mostRecent = 10;
const QString splitterKey = QStringLiteral("data/panes");

} // namespace

DataPage::DataPage(QWidget *parent)
    : QWidget(parent), model_(new TaskSetModel(this)), filtered_(new TaskSetFilter(model_, this)),
      follower_(new SynthesisFollower(this)), process_(new SynthesisProcess(this)) {
    setObjectName(QStringLiteral("dataPage"));
    setAcceptDrops(true);
    makeActions();
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(2);
    layout->addWidget(makeBar());
    strip_ = new SynthesisStrip(follower_, process_, this);
    strip_->hide();
    layout->addWidget(strip_);
    splitter_ = new QSplitter(Qt::Horizontal, this);
    panel_ = new FilterPanel(splitter_);
    panel_->hide();
    splitter_->addWidget(panel_);
    splitter_->addWidget(makeList());
    splitter_->addWidget(makePreview());
    splitter_->setStretchFactor(0, 0);
    splitter_->setStretchFactor(1, 3);
    splitter_->setStretchFactor(2, 2);
    splitter_->setSizes({240, 600, 420});
    splitter_->restoreState(QSettings().value(splitterKey).toByteArray());
    layout->addWidget(splitter_, 1);
    status_ = new QLabel(this);
    status_->setTextFormat(Qt::PlainText);
    status_->setWordWrap(true);
    status_->setAccessibleName(tr("Status"));
    status_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    status_->setContentsMargins(6, 0, 6, 2);
    status_->hide();
    layout->addWidget(status_);

    debounce_.setSingleShot(true);
    debounce_.setInterval(120);
    connect(&debounce_, &QTimer::timeout, this, &DataPage::filterChanged);
    connect(text_, &QLineEdit::textChanged, &debounce_, qOverload<>(&QTimer::start));
    connect(group_, &QComboBox::currentIndexChanged, this, &DataPage::filterChanged);
    connect(model_, &TaskSetModel::loadingChanged, this, &DataPage::loadingChanged);
    for (auto changed : {&QAbstractItemModel::rowsInserted, &QAbstractItemModel::rowsRemoved})
        connect(filtered_, changed, this, [this] {
            if (!applying_)
                updateCount();
        });
    connect(filtered_, &QAbstractItemModel::modelReset, this, &DataPage::updateCount);
    connect(filtered_, &QAbstractItemModel::columnsInserted, this, &DataPage::updateColumns);
    connect(panel_, &FilterPanel::asked, this, &DataPage::setQuery);
    connect(follower_, &SynthesisFollower::changed, this, &DataPage::synthesisChanged);
    connect(process_, &SynthesisProcess::stateChanged, this, &DataPage::processChanged);
    connect(strip_, &SynthesisStrip::reasonChosen, this, [this](const QString &reason) {
        viewChosen_ = true;
        if (QFileInfo(model_->path()).fileName() != QLatin1String("candidates.jsonl"))
            showSynthesis(true);
        TaskQuery query;
        query.names[static_cast<std::size_t>(Facet::reason)] = reason;
        setQuery(query);
    });
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            &DataPage::showCurrent);
    connect(&Theme::instance(), &Theme::changed, this, &DataPage::applyTheme);
    applyTheme();
    showCurrent();
    updateCount();
}

DataPage::~DataPage() {
    finishSynthesis(); // while all that hears of it lives
    QSettings().setValue(splitterKey, splitter_->saveState());
}

void DataPage::applyTheme() {
    setTextColor(reason_, Theme::instance().colors().bad);
    for (QWidget *quiet : std::initializer_list<QWidget *>{count_, set_, asked_})
        setTextColor(quiet, Theme::instance().colors().muted);
}

/// The sample tasks, once somebody looks.
void DataPage::showEvent(QShowEvent *event) {
    QWidget::showEvent(event);
    if (!opened_)
        openSamples();
}

void DataPage::openSamples() {
    opened_ = true;
    openSynthesis({});
    setQuery({});
    model_->open(QString::fromStdString((shareDir() / "tasks").string()));
}

void DataPage::openSet(const QString &path) {
    opened_ = true;
    const QString whole = QDir::cleanPath(QFileInfo(path).absoluteFilePath());
    QSettings settings;
    const QString key = QStringLiteral("data/recent");
    QStringList recent = settings.value(key).toStringList();
    recent.removeAll(whole);
    recent.prepend(whole);
    settings.setValue(key, recent.mid(0, mostRecent));
    setQuery({});
    const bool synthesis =
        SynthesisFollower::isSynthesis(whole) || whole == process_->request().folder;
    openSynthesis(synthesis ? whole : QString());
    if (synthesis)
        return;
    const QFileInfo set(QDir(whole).filePath(QStringLiteral("set.jsonl.gz"))); // a finished one
    model_->open(set.isFile() ? set.filePath() : whole);
}

void DataPage::reload() {
    const QString path = model_->path();
    if (!synthesis_.isEmpty())
        showSynthesis(view_->currentIndex() == 1);
    else if (path.isEmpty())
        openSamples();
    else
        model_->open(path);
}

void DataPage::loadingChanged(bool loading) {
    set_->setText(QDir::toNativeSeparators(model_->path()));
    set_->setToolTip(set_->text());
    // Rows that arrive in sorted places would make the view move things for each of them.
    filtered_->setDynamicSortFilter(!loading);
    if (loading) {
        say(tr("Reading %1 …").arg(set_->text()));
        return;
    }
    if (!synthesis_.isEmpty() && model_->path().isEmpty())
        say(tr("The set is written when the synthesis ends."));
    else
        say(model_->problem(), !model_->problem().isEmpty());
    fillGroups();
    updateColumns();
    fitColumns();
    updatePanel();
    updateCount();
    if (!table_->currentIndex().isValid() && filtered_->rowCount() > 0)
        table_->selectRow(0);
    else
        showCurrent(); // a reset of the model says nothing about the current row
}

void DataPage::updateCount() {
    const int all = model_->rowCount(), shown = filtered_->rowCount();
    QString text = shown == all
                       ? tr("Tasks: %1").arg(QLocale().toString(all))
                       : tr("%1 of %2").arg(QLocale().toString(shown), QLocale().toString(all));
    if (model_->unusable() > 0)
        text = tr("%1, %2 unusable").arg(text, QLocale().toString(model_->unusable()));
    count_->setText(text);
    updateActions();
}

QString DataPage::countText() const {
    return count_->text();
}
QString DataPage::status() const {
    return status_->text();
}

const TaskRow *DataPage::current() const {
    const QModelIndex index = filtered_->mapToSource(table_->currentIndex());
    return index.isValid() ? &model_->row(index.row()) : nullptr;
}

void DataPage::updateActions() {
    const TaskRow *row = current();
    open_->setEnabled(row && row->problem.isEmpty());
    openButton_->setEnabled(open_->isEnabled());
    copy_->setEnabled(row);
    export_->setEnabled(filtered_->rowCount() > 0);
    reload_->setEnabled(!model_->path().isEmpty());
}

void DataPage::showCurrent() {
    updateActions();
    const TaskRow *row = current();
    reason_->setVisible(row && !row->problem.isEmpty());
    if (!row) {
        heading_->setText({});
        source_->show(tr("The source of the selected task will be here.\n"
                         "Open a folder of tasks in KernelBench form, or a JSON-lines file."),
                      false);
        return;
    }
    heading_->setText(row->name);
    heading_->setToolTip(
        row->file.isEmpty() ? tr("line %1 of %2").arg(row->line).arg(model_->path()) : row->file);
    reason_->setText(row->problem);
    const auto text = taskSource(model_->path(), *row);
    if (text)
        source_->show(*text, row->problem.isEmpty() || row->file.endsWith(QLatin1String(".py")));
    else
        source_->show(QString::fromStdString(text.error().message), false);
}

void DataPage::openTask() {
    const TaskRow *row = current();
    if (!row)
        return;
    const QString folder = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) +
                           QStringLiteral("/tasks");
    const auto file = taskFile(model_->path(), *row, folder);
    if (!file) {
        say(QString::fromStdString(file.error().message), true);
        return;
    }
    emit openTaskRequested(*file);
}

void DataPage::copyRows() {
    QModelIndexList rows = table_->selectionModel()->selectedRows();
    if (rows.isEmpty() && table_->currentIndex().isValid())
        rows << table_->currentIndex();
    std::sort(rows.begin(), rows.end());
    QStringList lines;
    for (const QModelIndex &row : rows) {
        QStringList cells;
        for (int column = 0; column < filtered_->columnCount(); ++column)
            if (!table_->isColumnHidden(column))
                cells << row.siblingAtColumn(column).data().toString();
        lines << cells.join(u'\t');
    }
    QGuiApplication::clipboard()->setText(lines.join(u'\n'));
}

bool DataPage::exportCsv(const QString &file) {
    QSaveFile out(file);
    const auto failed = [&] {
        say(tr("%1 could not be written: %2. Choose another place.").arg(file, out.errorString()),
            true);
        return false;
    };
    if (!out.open(QIODevice::WriteOnly))
        return failed();
    QVector<int> columns;
    QStringList head;
    for (int i = 0; i < filtered_->columnCount(); ++i) {
        const int column =
            table_->horizontalHeader()->logicalIndex(i); // as the user has moved them
        if (table_->isColumnHidden(column))
            continue;
        columns << column;
        head << csvField(filtered_->headerData(column, Qt::Horizontal).toString());
    }
    QByteArray text = head.join(u',').toUtf8() + '\n';
    for (int row = 0; row < filtered_->rowCount(); ++row) {
        for (qsizetype i = 0; i < columns.size(); ++i) {
            const QModelIndex cell = filtered_->index(row, columns[i]);
            // Numbers as they are, not as they are shown.
            const QVariant value =
                cell.data(columns[i] == TaskSetModel::nameColumn ? int(Qt::DisplayRole)
                                                                 : int(TaskSetModel::sortRole));
            text += i > 0 ? "," : "";
            text += value.typeId() == QMetaType::Double || value.typeId() == QMetaType::LongLong
                        ? csvNumber(value.toDouble())
                        : csvField(value.toString()).toUtf8();
        }
        text += '\n';
    }
    if (out.write(text) != text.size() || !out.commit())
        return failed();
    say(tr("Tasks written to %1: %2").arg(file).arg(filtered_->rowCount()));
    return true;
}

void DataPage::say(const QString &text, bool bad) {
    setTextColor(status_, bad ? Theme::instance().colors().bad : Theme::instance().colors().muted);
    status_->setText(text);
    status_->setVisible(!text.isEmpty());
    if (bad)
        emit problem(text);
}

void DataPage::askFolder() {
    const QPointer<DataPage> self(this);
    const QString folder = QFileDialog::getExistingDirectory(this, tr("Open a folder of tasks"));
    if (self && !folder.isEmpty())
        openSet(folder);
}

void DataPage::askFile() {
    const QPointer<DataPage> self(this);
    const QString file = QFileDialog::getOpenFileName(
        this, tr("Open a task set"), QString(),
        tr("Task sets (*.jsonl *.jsonl.gz *.ndjson *.json *.py);;All files (*)"));
    if (self && !file.isEmpty())
        openSet(file);
}

void DataPage::askExport() {
    const QPointer<DataPage> self(this);
    const QString file =
        QFileDialog::getSaveFileName(this, tr("Export the visible tasks as CSV"),
                                     QStringLiteral("tasks.csv"), tr("CSV files (*.csv)"));
    if (self && !file.isEmpty())
        exportCsv(file);
}

void DataPage::focusFilter() {
    text_->setFocus(Qt::ShortcutFocusReason);
    text_->selectAll();
}

bool DataPage::eventFilter(QObject *watched, QEvent *event) {
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent *>(event)->key();
        if (watched == table_ && (key == Qt::Key_Return || key == Qt::Key_Enter)) {
            open_->trigger();
            return true;
        }
        if (watched == text_ && (key == Qt::Key_Down || key == Qt::Key_Return)) {
            table_->setFocus();
            if (!table_->currentIndex().isValid())
                table_->selectRow(0);
            return true;
        }
        if (watched == text_ && key == Qt::Key_Escape) {
            text_->clear();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void DataPage::dragEnterEvent(QDragEnterEvent *event) {
    for (const QUrl &url : event->mimeData()->urls())
        if (url.isLocalFile() && looksLikeTaskSet(url.toLocalFile())) {
            event->acceptProposedAction();
            return;
        }
}

void DataPage::dropEvent(QDropEvent *event) {
    for (const QUrl &url : event->mimeData()->urls())
        if (url.isLocalFile() && looksLikeTaskSet(url.toLocalFile())) {
            openSet(url.toLocalFile());
            event->acceptProposedAction();
            return;
        }
}

} // namespace cuda_agent::widgets
