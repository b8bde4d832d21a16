// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The commands of the pane.
#include "widgets/base/command.h"
#include "widgets/code/code_pane.h"
#include "widgets/code/find_bar.h"
#include "widgets/diff/diff_view.h"

#include <QInputDialog>
#include <QMessageBox>
#include <QPushButton>
#include <QTabBar>
#include <QToolButton>

namespace cuda_agent::widgets {

namespace {

QToolButton *buttonOf(QAction *action, QWidget *parent) {
    auto *button = new QToolButton(parent);
    button->setDefaultAction(action);
    button->setAccessibleName(action->text());
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::TabFocus);
    return button;
}

} // namespace

QAction *CodePane::action(const char *name, const QString &text, const QList<QKeySequence> &keys) {
    const QByteArray full = QByteArray("code.") + name;
    auto *made = addCommand(this, full.constData(), text);
    made->setShortcuts(keys);
    return made;
}

void CodePane::makeActions() {
    using K = QKeySequence;
    const auto onEditor = [this](auto what) {
        return [this, what] {
            if (CodeEditor *shown = editor())
                what(*shown);
        };
    };
    check_ =
        action("check", tr("Check"), {K(Qt::CTRL | Qt::Key_Return), K(Qt::CTRL | Qt::Key_Enter)});
    check_->setToolTip(tr("Compile, verify and time the files as they are here (Ctrl+Return)"));
    connect(check_, &QAction::triggered, this, &CodePane::checkRequested);
    restore_ = action("restoreTurn", tr("Restore This Turn"));
    restore_->setToolTip(tr("Load the files of this turn as edits of the newest ones"));
    connect(restore_, &QAction::triggered, this, &CodePane::restoreTurn);
    discard_ = action("discardEdits", tr("Discard Edits"));
    discard_->setToolTip(tr("Go back to the newest files of the log"));
    connect(discard_, &QAction::triggered, this, &CodePane::askDiscard);
    compare_ = action("compare", tr("Compare with the Turn Before"),
                      {K(Qt::CTRL | Qt::SHIFT | Qt::Key_D)});
    connect(compare_, &QAction::triggered, this, &CodePane::compare);
    showEdits_ = action("showEdits", tr("Show My Edits of This File"));
    connect(showEdits_, &QAction::triggered, this, &CodePane::showEdits);
    undo_ = action("undo", tr("Undo"), K::keyBindings(K::Undo));
    connect(undo_, &QAction::triggered, this, onEditor([](CodeEditor &e) { e.undo(); }));
    redo_ = action("redo", tr("Redo"), K::keyBindings(K::Redo));
    connect(redo_, &QAction::triggered, this, onEditor([](CodeEditor &e) { e.redo(); }));
    connect(action("find", tr("Find"), {K(Qt::CTRL | Qt::Key_F)}), &QAction::triggered, this,
            onEditor([this](CodeEditor &) { find_->open(false); }));
    connect(action("replace", tr("Replace"), {K(Qt::CTRL | Qt::Key_H)}), &QAction::triggered, this,
            onEditor([this](CodeEditor &) { find_->open(true); }));
    connect(action("findNext", tr("Find Next"), {K(Qt::Key_F3)}), &QAction::triggered, this,
            onEditor([this](CodeEditor &) { find_->step(1); }));
    connect(action("findPrevious", tr("Find Previous"), {K(Qt::SHIFT | Qt::Key_F3)}),
            &QAction::triggered, this, onEditor([this](CodeEditor &) { find_->step(-1); }));
    connect(action("goToLine", tr("Go to Line…"), {K(Qt::CTRL | Qt::Key_L)}), &QAction::triggered,
            this, &CodePane::askLine);
    connect(action("foldAll", tr("Fold or Unfold All")), &QAction::triggered, this,
            onEditor([](CodeEditor &e) { e.foldAll(); }));
    connect(action("zoomIn", tr("Larger Code"), {K(Qt::CTRL | Qt::Key_Plus)}), &QAction::triggered,
            this, onEditor([](CodeEditor &e) { e.zoomIn(); }));
    connect(action("zoomOut", tr("Smaller Code"), {K(Qt::CTRL | Qt::Key_Minus)}),
            &QAction::triggered, this, onEditor([](CodeEditor &e) { e.zoomOut(); }));
    connect(action("zoomReset", tr("Code at Its Own Size"), {K(Qt::CTRL | Qt::Key_0)}),
            &QAction::triggered, this, onEditor([](CodeEditor &e) { e.zoomTo(0); }));
    connect(action("nextFile", tr("Next File"), {K(Qt::CTRL | Qt::Key_PageDown)}),
            &QAction::triggered, this, [this] { stepTab(1); });
    connect(action("previousFile", tr("Previous File"), {K(Qt::CTRL | Qt::Key_PageUp)}),
            &QAction::triggered, this, [this] { stepTab(-1); });
    QAction *messages = action("messages", tr("Compiler Messages in the Code"));
    messages->setCheckable(true);
    messages->setChecked(true);
    connect(messages, &QAction::toggled, this, [this](bool shown) {
        messagesShown_ = shown;
        for (FilePage *file : allPages()) {
            for (CodeEditor *each : file->findChildren<CodeEditor *>())
                each->setMessagesShown(shown);
        }
    });
    QWidget *line = info_->parentWidget();
    for (QAction *each : {restore_, discard_, check_})
        line->layout()->addWidget(buttonOf(each, line));
}

void CodePane::stepTab(int by) {
    if (const int count = tabs_->count(); count > 0)
        tabs_->setCurrentIndex((tabs_->currentIndex() + by + count) % count);
}

void CodePane::askLine() {
    CodeEditor *shown = editor();
    if (!shown)
        return;
    auto *dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setObjectName(QStringLiteral("code.lineDialog"));
    dialog->setWindowTitle(tr("Go to Line"));
    dialog->setLabelText(tr("Line, 1 to %1:").arg(shown->lines()));
    dialog->setInputMode(QInputDialog::IntInput);
    dialog->setIntRange(1, shown->lines());
    int line = 0;
    int column = 0;
    shown->getCursorPosition(&line, &column);
    dialog->setIntValue(line + 1);
    connect(dialog, &QInputDialog::intValueSelected, shown,
            [shown](int chosen) { shown->goTo(chosen, 1); });
    dialog->open();
}

void CodePane::askDiscard() {
    if (!hasEdits())
        return;
    auto *box = new QMessageBox(QMessageBox::Question, tr("Discard edits"),
                                tr("The unsaved edits will be lost."), QMessageBox::NoButton, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->addButton(tr("Discard"), QMessageBox::DestructiveRole);
    box->addButton(QMessageBox::Cancel);
    connect(box, &QMessageBox::buttonClicked, this, [this, box](QAbstractButton *button) {
        if (box->buttonRole(button) == QMessageBox::DestructiveRole)
            discardEdits();
    });
    box->open();
}

void CodePane::zoomAll(int zoom) {
    for (FilePage *file : allPages()) {
        for (CodeEditor *each : file->findChildren<CodeEditor *>()) {
            if (each->SendScintilla(QsciScintilla::SCI_GETZOOM) != zoom)
                each->zoomTo(zoom);
        }
    }
}

void CodePane::showEdits() {
    FilePage *file = current();
    if (file && file->live() && file->edited())
        showDifference(*file);
}

void CodePane::compare() {
    const FilePage *file = current();
    if (!file || file->kind() != FilePage::Kind::workspace)
        return;
    const int shown = document_->shownTurn();
    diff_->showDiff(std::max(0, shown - 1), shown, file->path());
    for (int tab = 0; tab < tabs_->count(); ++tab) {
        if (tabs_->tabData(tab).value<void *>() == diff_)
            tabs_->setCurrentIndex(tab);
    }
}

} // namespace cuda_agent::widgets
