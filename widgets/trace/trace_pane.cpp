// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/trace/trace_pane.h"

#include "widgets/base/command.h"
#include "widgets/session/session_document.h"
#include "widgets/trace/find_bar.h"
#include "widgets/trace/message_line.h"
#include "widgets/trace/trace_markdown.h"
#include "widgets/trace/trace_view.h"

#include <QAction>
#include <QClipboard>
#include <QGuiApplication>
#include <QInputDialog>
#include <QSettings>
#include <QVBoxLayout>

#include <algorithm>

namespace cuda_agent::widgets {

namespace {
constexpr int defaultFoldLines = 8;
QString foldLinesKey() {
    return QStringLiteral("trace/foldLines");
}
} // namespace

TracePane::TracePane(SessionDocument *document, QWidget *parent)
    : QWidget(parent), document_(document), model_(new TraceModel(document, this)),
      finder_(new TraceFinder(model_, this)), view_(new TraceView(model_, finder_, this)),
      find_(new FindBar(finder_, view_, this)), message_(new MessageLine(this)),
      thread_(new MarkdownJob(model_, this)) {
    setObjectName(QStringLiteral("trace"));
    setAccessibleName(tr("Trace"));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(view_, 1);
    column->addWidget(find_);
    column->addWidget(message_);
    message_->hide();
    setFocusProxy(view_);
    setMinimumSize(160, 80);
    view_->setEmptyText(tr("What the agent thinks, does and sees appears here, turn by turn. Open "
                           "a task and press Run, or open the folder of a session."));
    view_->setFoldLines(QSettings().value(foldLinesKey(), defaultFoldLines).toInt());
    view_->setContextMenuPolicy(Qt::ActionsContextMenu);
    makeActions();

    connect(message_, &MessageLine::written, this, &TracePane::messageWritten);
    connect(view_, &TraceView::turnChosen, this, &TracePane::turnChosen);
    connect(view_, &TraceView::jumpRequested, this, &TracePane::jumpToLatest);
    connect(document, &SessionDocument::shownTurnChanged, this, &TracePane::documentChanged);
    connect(thread_, &MarkdownJob::finished, this, [this](const QString &markdown) {
        QGuiApplication::clipboard()->setText(markdown);
        emit threadCopied();
    });
    documentChanged();
}

QAction *TracePane::act(const char *name, const QString &text, const QString &shortcut,
                        void (TracePane::*does)()) {
    auto *action =
        addCommand(this, name, text, QKeySequence(shortcut, QKeySequence::PortableText), does);
    view_->addAction(action); // the context menu
    return action;
}

void TracePane::makeActions() {
    act("trace.copyCard", tr("Copy Card or Selection"), QStringLiteral("Ctrl+C"),
        &TracePane::copyCard);
    act("trace.copyTurn", tr("Copy Turn"), QStringLiteral("Ctrl+Shift+C"), &TracePane::copyTurn);
    act("trace.copyThread", tr("Copy Thread as Markdown"), {}, &TracePane::copyThread);
    act("trace.expandAll", tr("Expand All Cards"), {}, &TracePane::expandAll);
    act("trace.collapseAll", tr("Collapse All Cards"), {}, &TracePane::collapseAll);
    act("trace.foldLines", tr("Lines of Folded Cards…"), {}, &TracePane::askFoldLines);
    act("trace.find", tr("Find in Trace"), QStringLiteral("Ctrl+F"), &TracePane::openFind);
    act("trace.message", tr("Write to the Agent"), QStringLiteral("Ctrl+M"),
        &TracePane::writeMessage)
        ->setShortcutContext(Qt::WindowShortcut); // the message is wanted while reading code
    act("trace.findNext", tr("Find Next in Trace"), QStringLiteral("F3"), &TracePane::findNext);
    act("trace.findPrevious", tr("Find Previous in Trace"), QStringLiteral("Shift+F3"),
        &TracePane::findPrevious);
    act("trace.previousTurn", tr("Previous Turn in Trace"), QStringLiteral("Alt+Up"),
        &TracePane::previousTurn);
    act("trace.nextTurn", tr("Next Turn in Trace"), QStringLiteral("Alt+Down"),
        &TracePane::nextTurn);
    act("trace.jumpToLatest", tr("Jump to Latest Card"), QStringLiteral("Ctrl+End"),
        &TracePane::jumpToLatest);
}

void TracePane::setPending(const QString &text) {
    model_->setPending(text);
}

void TracePane::setFoldLines(int lines) {
    view_->setFoldLines(lines);
    QSettings().setValue(foldLinesKey(), view_->foldLines());
}

void TracePane::askFoldLines() {
    bool chosen = false;
    const int lines = QInputDialog::getInt(this, tr("Lines of Folded Cards"),
                                           tr("Lines that a folded card shows:"),
                                           view_->foldLines(), 1, 1000, 1, &chosen);
    if (chosen)
        setFoldLines(lines);
}

void TracePane::copyCard() {
    if (const QString text = view_->selectedText(); !text.isEmpty()) {
        QGuiApplication::clipboard()->setText(text);
        return;
    }
    const int row = view_->currentRow();
    if (row < 0)
        return;
    const Card card = model_->card(row);
    const std::string_view body = card.body();
    QString text = card.title;
    if (!body.empty())
        text += u'\n' + QString::fromUtf8(body.data(), qsizetype(body.size()));
    QGuiApplication::clipboard()->setText(text);
}

/// The turn of the current card, else the shown one.
int TracePane::turnInView() const {
    const int row = view_->currentRow();
    const int turn = row >= 0 ? model_->turnOf(row) : 0;
    return turn > 0 ? turn : document_->shownTurn();
}

void TracePane::copyTurn() {
    const auto [first, end] = model_->rowsOfTurn(turnInView());
    if (first >= 0)
        QGuiApplication::clipboard()->setText(
            QString::fromStdString(markdownOf(*model_, first, end)));
}

void TracePane::copyThread() {
    thread_->start();
}
void TracePane::expandAll() {
    model_->setAllFolded(false);
}
void TracePane::collapseAll() {
    model_->setAllFolded(true);
}
void TracePane::openFind() {
    find_->open(view_->selectedText());
}
void TracePane::writeMessage() {
    message_->setFocus(Qt::ShortcutFocusReason);
}
void TracePane::findNext() {
    find_->step(1);
}
void TracePane::findPrevious() {
    find_->step(-1);
}
void TracePane::nextTurn() {
    stepTurn(1);
}
void TracePane::previousTurn() {
    stepTurn(-1);
}

void TracePane::stepTurn(int by) {
    const int from = view_->currentRow() >= 0 ? view_->currentRow() : view_->topPlace().first;
    for (int row = from + by; row >= 0 && row < model_->rowCount(); row += by) {
        if (model_->kindOf(row) != CardKind::turn)
            continue;
        view_->setCurrentRow(row);
        view_->showRow(row);
        return turnChosen(model_->turnOf(row));
    }
}

void TracePane::jumpToLatest() {
    document_->selectTurn(0); // the last turn is the one to look at again
    view_->toEnd();
    view_->setCurrentRow(model_->rowCount() - 1);
}

void TracePane::turnChosen(int turn) {
    choosing_ = true;
    document_->selectTurn(turn);
    choosing_ = false;
}

void TracePane::documentChanged() {
    view_->setMarkedTurn(document_->shownTurn());
    const int selected = document_->selectedTurn();
    const bool chosenElsewhere = selected != selected_ && selected > 0 && !choosing_;
    selected_ = selected;
    if (!chosenElsewhere)
        return;
    const int row = model_->rowsOfTurn(selected).first;
    if (row >= 0) {
        view_->setCurrentRow(row);
        view_->showRow(row);
    }
}

} // namespace cuda_agent::widgets
