// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/build/build_pane.h"

#include "widgets/base/command.h"
#include "widgets/base/parts.h"
#include "widgets/base/text.h"
#include "widgets/base/theme.h"

#include <QAction>
#include <QApplication>
#include <QBoxLayout>
#include <QClipboard>
#include <QFileDialog>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QPlainTextEdit>
#include <QSaveFile>
#include <QScrollBar>
#include <QSplitter>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QToolBar>

#include <algorithm>

namespace cuda_agent::widgets {

namespace {

constexpr qsizetype mostShown = 2 << 20; ///< of a log, in characters; the rest is in the file

} // namespace

BuildPane::BuildPane(SessionDocument *document, QWidget *parent)
    : QWidget(parent), document_(document), model_(new BuildModel(document, this)),
      filter_(new BuildFilter(model_, this)), kernelModel_(new KernelModel(this)) {
    setAccessibleName(tr("Build log"));

    summary_ = new QLabel(this);
    summary_->setAccessibleName(tr("Result of the compiler"));
    summary_->setWordWrap(true);
    summary_->setTextFormat(Qt::PlainText);
    summary_->setTextInteractionFlags(Qt::TextSelectableByMouse);
    summary_->setContentsMargins(6, 3, 6, 3);

    makeTable();
    top_ = new QStackedWidget(this);
    top_->addWidget(table_);
    top_->addWidget(pageLabel(tr("No message passes the filter."), top_));

    log_ = new QPlainTextEdit(this);
    log_->setReadOnly(true);
    log_->setLineWrapMode(QPlainTextEdit::NoWrap);
    log_->setFrameShape(QFrame::NoFrame);
    log_->setUndoRedoEnabled(false);
    log_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    log_->setTabChangesFocus(true);
    log_->setAccessibleName(tr("Output of the compiler"));

    kernels_ = new QTableView(this);
    kernels_->setAccessibleName(tr("Kernels of the shown turn"));
    prepareTable(kernels_);
    kernels_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    kernels_->setModel(kernelModel_);

    bottom_ = new QTabWidget(this);
    bottom_->setDocumentMode(true);
    bottom_->addTab(log_, tr("Output"));
    bottom_->addTab(kernels_, tr("Kernels"));
    bottom_->setAccessibleName(tr("Output and kernels"));

    splitter_ = new QSplitter(Qt::Vertical, this);
    splitter_->addWidget(top_);
    splitter_->addWidget(bottom_);
    splitter_->setStretchFactor(0, 3);
    splitter_->setStretchFactor(1, 2);
    top_->setMinimumHeight(40);
    bottom_->setMinimumHeight(40);

    makeActions();
    makeToolBar();

    auto *rest = new QWidget(this);
    auto *restLayout = new QVBoxLayout(rest);
    restLayout->setContentsMargins(0, 0, 0, 0);
    restLayout->setSpacing(0);
    restLayout->addWidget(bar_);
    restLayout->addWidget(summary_);
    restLayout->addWidget(splitter_, 1);
    nothing_ = pageLabel(tr("What the compiler says is listed here, with its whole output below.\n"
                            "Press Run, or Check after an edit: every turn that compiles adds its "
                            "messages."),
                         this);
    pages_ = new QStackedWidget(this);
    pages_->addWidget(nothing_);
    pages_->addWidget(rest);
    auto *layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->addWidget(pages_);

    typing_.setSingleShot(true);
    typing_.setInterval(120);
    connect(&typing_, &QTimer::timeout, this, [this] {
        filter_->setText(text_->text());
        showPages();
    });
    connect(document, &SessionDocument::shownTurnChanged, this, [this] {
        dirty_ = true;
        if (isVisible())
            refresh();
    });
    const auto grown = [this] {
        dirty_ = true;
        if (isVisible())
            showPages();
    };
    connect(model_, &QAbstractItemModel::rowsInserted, this, grown);
    connect(model_, &QAbstractItemModel::modelReset, this, grown);
    connect(&Theme::instance(), &Theme::changed, this, &BuildPane::retheme);
    retheme();
    refresh();
}

void BuildPane::makeTable() {
    table_ = new QTableView(this);
    table_->setAccessibleName(tr("Messages of the compiler"));
    prepareTable(table_);
    table_->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    table_->setModel(filter_);
    table_->setSortingEnabled(true);
    QHeaderView *header = table_->horizontalHeader();
    header->setSortIndicator(-1, Qt::AscendingOrder); // as they came
    header->setSortIndicatorClearable(true);
    header->setMinimumSectionSize(24);
    header->setSectionResizeMode(BuildModel::Message, QHeaderView::Stretch);
    header->moveSection(header->visualIndex(BuildModel::Message),
                        header->visualIndex(BuildModel::File));
    table_->viewport()->installEventFilter(this);
    connect(table_, &QTableView::clicked, this, &BuildPane::activate);
    connect(table_, &QTableView::activated, this, &BuildPane::activate); // Enter
}

void BuildPane::makeActions() {
    next_ = addCommand(this, "build.nextError", tr("Next Error"), Qt::Key_F8);
    connect(next_, &QAction::triggered, this, [this] { goToError(1); });
    previous_ = addCommand(this, "build.previousError", tr("Previous Error"),
                           QKeySequence(Qt::SHIFT | Qt::Key_F8));
    connect(previous_, &QAction::triggered, this, [this] { goToError(-1); });
    for (QAction *step : {next_, previous_}) // the place takes the focus: the key works there too
        step->setShortcutContext(Qt::WindowShortcut);
    const char *const names[] = {"build.showErrors", "build.showWarnings", "build.showNotes"};
    const QString texts[] = {tr("Show Errors"), tr("Show Warnings"), tr("Show Notes")};
    for (int i = 0; i < 3; ++i) {
        show_[i] = addCommand(this, names[i], texts[i]);
        show_[i]->setCheckable(true);
        show_[i]->setChecked(true);
        connect(show_[i], &QAction::toggled, this, [this, i](bool on) {
            filter_->setShown(static_cast<BuildMessage::Severity>(i), on);
            showPages();
        });
    }
    onlyTurn_ = addCommand(this, "build.onlyTurn", tr("Messages of This Turn Only"));
    onlyTurn_->setIconText(tr("This turn only"));
    onlyTurn_->setCheckable(true);
    connect(onlyTurn_, &QAction::toggled, this, &BuildPane::showFilters);
    copy_ = addCommand(this, "build.copy", tr("Copy Messages"), QKeySequence::Copy);
    copy_->setShortcutContext(Qt::WidgetShortcut); // the log copies its own selection
    removeAction(copy_);
    table_->addAction(copy_);
    table_->setContextMenuPolicy(Qt::ActionsContextMenu);
    connect(copy_, &QAction::triggered, this, &BuildPane::copyRows);
    save_ = addCommand(this, "build.saveLog", tr("Save the Compiler's Output…"));
    save_->setIconText(tr("Save…"));
    connect(save_, &QAction::triggered, this, &BuildPane::askWhereToSave);
    auto *find =
        addCommand(this, "build.filter", tr("Filter Compiler Messages"), QKeySequence::Find);
    connect(find, &QAction::triggered, this, [this] {
        text_->setFocus(Qt::ShortcutFocusReason);
        text_->selectAll();
    });
}

void BuildPane::makeToolBar() {
    bar_ = new QToolBar(this);
    bar_->setToolButtonStyle(Qt::ToolButtonTextOnly);
    bar_->setMovable(false);
    text_ = new QLineEdit(bar_);
    text_->setPlaceholderText(tr("Filter"));
    text_->setAccessibleName(tr("Filter of the messages"));
    text_->setClearButtonEnabled(true);
    text_->setMinimumWidth(70);
    text_->setMaximumWidth(260);
    connect(text_, &QLineEdit::textChanged, &typing_, qOverload<>(&QTimer::start));
    bar_->addWidget(text_);
    for (QAction *action : show_)
        bar_->addAction(action);
    bar_->addAction(onlyTurn_);
    bar_->addSeparator();
    bar_->addAction(save_);
    table_->addActions({next_, previous_}); // its context menu
}

void BuildPane::retheme() {
    log_->setFont(Theme::instance().codeFont());
    const int height = fontMetrics().height() + 6;
    for (QTableView *table : {table_, kernels_})
        table->verticalHeader()->setDefaultSectionSize(height);
    fitColumns();
}

void BuildPane::fitColumns() {
    QHeaderView *header = table_->horizontalHeader();
    const int width = table_->viewport()->width();
    // The tool tip has it all; where it is narrow the message matters most.
    table_->setColumnHidden(BuildModel::File, width < 420);
    table_->setColumnHidden(BuildModel::ColumnColumn, width < 560);
    const auto fit = [&](int column, const QString &sample) {
        header->resizeSection(column, std::max(fontMetrics().horizontalAdvance(sample) + 16,
                                               header->sectionSizeHint(column)));
    };
    fit(BuildModel::Turn, QStringLiteral("000"));
    fit(BuildModel::SeverityColumn, tr("warning"));
    fit(BuildModel::Line, QStringLiteral("0000"));
    fit(BuildModel::ColumnColumn, QStringLiteral("000"));
    fit(BuildModel::File, QStringLiteral("kernels/planner.cu"));
}

void BuildPane::showEvent(QShowEvent *event) {
    QWidget::showEvent(event);
    if (dirty_)
        refresh();
}

bool BuildPane::eventFilter(QObject *watched, QEvent *event) {
    if (event->type() == QEvent::Resize && watched == table_->viewport())
        fitColumns();
    return QWidget::eventFilter(watched, event);
}

void BuildPane::refresh() {
    dirty_ = false;
    const int turn = document_->shownTurn();
    const Json &compiled = document_->compiled();
    summary_->setText(summaryOf(turn, compiled));
    const Json &kernels = partOf(compiled, "kernels");
    if (kernels != shownKernels_) { // else its selection stays
        shownKernels_ = kernels;
        kernelModel_->setKernels(kernels);
        kernels_->resizeColumnsToContents();
    }
    refreshLog(turn, compiled);
    const bool hasLog = !log_->document()->isEmpty(); // or why it cannot be read
    save_->setEnabled(!logText_.isEmpty());
    bottom_->setTabVisible(0, hasLog);
    bottom_->setTabVisible(1, kernelModel_->rowCount() > 0);
    if (turn != refreshedTurn_)
        bottom_->setCurrentIndex(hasLog ? 0 : 1);
    showFilters();
    if (turn != refreshedTurn_) {
        // The shown turn's messages come into sight, unless the reader has just chosen one there.
        const QModelIndex current = filter_->mapToSource(table_->currentIndex());
        const int first = model_->firstOf(turn);
        if (first >= 0 && (!current.isValid() || model_->turn(current.row()) != turn))
            table_->scrollTo(filter_->mapFromSource(model_->index(first, 0)));
    }
    refreshedTurn_ = turn;
}

QString BuildPane::summaryOf(int turn, const Json &compiled) const {
    if (turn == 0)
        return tr("No turn has begun yet.");
    if (!compiled.is_object())
        return tr("Turn %1 has not compiled anything.").arg(turn);
    int counts[3] = {};
    const Json &list = partOf(compiled, "diagnostics");
    for (int row = std::max(model_->firstOf(turn), 0); row < model_->rowCount(); ++row) {
        if (model_->turn(row) == turn)
            ++counts[model_->severity(row)];
    }
    const QString time = timeText(numberOf(compiled, "seconds"));
    const bool ok = truthOf(compiled, "ok");
    if (list.empty())
        return ok ? tr("Turn %1 compiled in %2 without messages.").arg(turn).arg(time)
                  : tr("Turn %1 did not compile (%2); the compiler named no place.")
                        .arg(turn)
                        .arg(time);
    const QString messages = tr("Errors: %1, warnings: %2, notes: %3.")
                                 .arg(counts[BuildMessage::error])
                                 .arg(counts[BuildMessage::warning])
                                 .arg(counts[BuildMessage::note]);
    return ok ? tr("Turn %1 compiled in %2. %3").arg(turn).arg(time, messages)
              : tr("Turn %1 did not compile (%2). %3").arg(turn).arg(time, messages);
}

void BuildPane::refreshLog(int turn, const Json &compiled) {
    const std::string blob = textOf(compiled, "log").toStdString();
    if (logBlob_ == blob)
        return;
    logBlob_ = blob;
    logText_.clear();
    if (blob.empty()) {
        log_->clear();
        return;
    }
    Result<QString> text = document_->blob(blob);
    if (!text) {
        log_->setPlainText(tr("The output of turn %1 cannot be read: %2")
                               .arg(turn)
                               .arg(QString::fromStdString(text.error().message)));
        logBlob_.reset(); // perhaps it can be later
        return;
    }
    logText_ = std::move(*text);
    if (logText_.size() <= mostShown) {
        log_->setPlainText(logText_);
        return;
    }
    log_->setPlainText(logText_.left(mostShown));
    log_->appendPlainText(tr("… the output goes on; save it to read the rest."));
    log_->verticalScrollBar()->setValue(0);
}

void BuildPane::showFilters() {
    const int turn = onlyTurn_->isChecked() ? document_->shownTurn() : 0;
    filter_->setTurn(turn);
    table_->setColumnHidden(BuildModel::Turn, onlyTurn_->isChecked());
    showPages();
}

void BuildPane::showPages() {
    const int turn = onlyTurn_->isChecked() ? document_->shownTurn() : 0;
    const QString texts[] = {tr("Errors: %1"), tr("Warnings: %1"), tr("Notes: %1")};
    for (int i = 0; i < 3; ++i)
        show_[i]->setIconText(
            texts[i].arg(model_->count(static_cast<BuildMessage::Severity>(i), turn)));
    const bool any = model_->rowCount() > 0;
    const bool bottom = bottom_->isTabVisible(0) || bottom_->isTabVisible(1);
    top_->setVisible(any || !bottom);
    top_->setCurrentIndex(filter_->rowCount() > 0 ? 0 : 1);
    static_cast<QLabel *>(top_->widget(1))
        ->setText(any ? tr("No message passes the filter.") : tr("No messages so far."));
    bottom_->setVisible(bottom);
    next_->setEnabled(any);
    previous_->setEnabled(any);
    const bool began = any || document_->compiled().is_object() ||
                       document_->index().last(session::EventType::compiled, document_->cursor());
    pages_->setCurrentIndex(began ? 1 : 0);
}

void BuildPane::activate(const QModelIndex &row) {
    if (!row.isValid())
        return;
    const BuildMessage message = model_->message(filter_->mapToSource(row).row());
    if (message.turn > 0 && message.turn != document_->shownTurn())
        document_->selectTurn(message.turn); // lines are those of that turn's files
    if (!message.file.isEmpty())
        Q_EMIT locationActivated(message.file, message.line, message.column);
}

void BuildPane::goToError(int direction) {
    const int rows = filter_->rowCount();
    if (rows == 0)
        return;
    const auto source = [&](int row) { return filter_->mapToSource(filter_->index(row, 0)).row(); };
    // Focus alone makes the first row the current one; only a selected row was chosen.
    int from = table_->selectionModel()->hasSelection() ? table_->currentIndex().row() : -1;
    if (from < 0) { // begin with the shown turn
        const int first = model_->firstOf(document_->shownTurn());
        const QModelIndex there =
            first >= 0 ? filter_->mapFromSource(model_->index(first, 0)) : QModelIndex();
        if (there.isValid())
            from = direction > 0 ? there.row() - 1 : there.row();
        else
            from = direction > 0 ? -1 : rows;
    }
    for (const bool any : {false, true}) {
        for (int step = 1; step <= rows; ++step) {
            const int row = ((from + direction * step) % rows + rows) % rows;
            if (!any && model_->severity(source(row)) != BuildMessage::error)
                continue;
            const QModelIndex index = filter_->index(row, BuildModel::Message);
            table_->setCurrentIndex(index);
            table_->scrollTo(index);
            activate(index);
            return;
        }
    }
}

void BuildPane::copyRows() {
    QModelIndexList rows = table_->selectionModel()->selectedRows();
    std::sort(rows.begin(), rows.end());
    QStringList lines;
    for (const QModelIndex &row : rows)
        lines << model_->message(filter_->mapToSource(row).row()).text();
    if (!lines.isEmpty())
        QApplication::clipboard()->setText(lines.join(QLatin1Char('\n')));
}

Result<void> BuildPane::saveLog(const QString &path) const {
    if (logText_.isEmpty())
        return requestError(
            "{}", tr("Turn %1 has no output to save.").arg(document_->shownTurn()).toStdString());
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(logText_.toUtf8()) < 0 || !file.commit())
        return machineError(
            "{}", tr("%1 cannot be written: %2").arg(path, file.errorString()).toStdString());
    return {};
}

void BuildPane::askWhereToSave() {
    auto *dialog = new QFileDialog(this, tr("Save the Compiler's Output"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setNameFilters({tr("Logs (*.log)"), tr("All files (*)")});
    dialog->setDefaultSuffix(QStringLiteral("log"));
    dialog->selectFile(QStringLiteral("turn-%1.log").arg(document_->shownTurn()));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString &path) {
        const Result<void> saved = saveLog(path);
        if (saved)
            return;
        auto *box =
            new QMessageBox(QMessageBox::Warning, tr("Not saved"),
                            QString::fromStdString(saved.error().message), QMessageBox::Ok, this);
        box->setAttribute(Qt::WA_DeleteOnClose);
        box->open();
    });
    dialog->open();
}

} // namespace cuda_agent::widgets
