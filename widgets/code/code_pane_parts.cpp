// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of the pane around the editors: tabs, lines that say what is shown, commands.
#include "widgets/code/code_pane.h"

#include "widgets/base/text.h"
#include "widgets/base/theme.h"
#if CUDA_AGENT_CODE_DIFF
#include "widgets/code/diff_view.h"
#endif
#include "widgets/code/find_bar.h"

#include <QInputDialog>
#include <QMessageBox>
#include <QPushButton>
#include <QStackedLayout>
#include <QTabBar>
#include <QToolButton>

namespace cuda_agent::widgets {

namespace {

/// Drawn, because neither the style nor every font has one.
QIcon lockIcon(const QColor &color) {
    QPixmap pixmap(32, 32);
    pixmap.setDevicePixelRatio(2);
    pixmap.fill(Qt::transparent);
    QPainter painter(&pixmap);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(color, 1.6));
    painter.setBrush(Qt::NoBrush);
    painter.drawArc(QRectF(4.8, 2, 6.4, 8), 0, 180 * 16);
    painter.drawLine(QPointF(4.8, 6), QPointF(4.8, 8));
    painter.drawLine(QPointF(11.2, 6), QPointF(11.2, 8));
    painter.setPen(Qt::NoPen);
    painter.setBrush(color);
    painter.drawRoundedRect(QRectF(3, 7.4, 10, 7), 1.4, 1.4);
    return QIcon(pixmap);
}

/// A coloured line over the editors that takes no more room than its text needs.
void paintLine(QWidget &widget, const QColor &back, const QColor &text) {
    QPalette palette = widget.palette();
    palette.setColor(QPalette::Window, back);
    palette.setColor(QPalette::WindowText, text);
    palette.setColor(QPalette::ButtonText, text);
    widget.setPalette(palette);
    widget.setAutoFillBackground(true);
}

QToolButton *buttonOf(QAction *action, QWidget *parent) {
    auto *button = new QToolButton(parent);
    button->setDefaultAction(action);
    button->setAccessibleName(action->text());
    button->setAutoRaise(true);
    button->setFocusPolicy(Qt::TabFocus);
    return button;
}

} // namespace

void CodePane::makeParts() {
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    tabs_ = new QTabBar(this);
    tabs_->setObjectName(QStringLiteral("code.tabs"));
    tabs_->setAccessibleName(tr("Files"));
    tabs_->setDocumentMode(true);
    tabs_->setExpanding(false);
    tabs_->setDrawBase(false);
    tabs_->setElideMode(Qt::ElideMiddle);
    tabs_->setUsesScrollButtons(true);
    connect(tabs_, &QTabBar::currentChanged, this, &CodePane::tabChosen);
    column->addWidget(tabs_);

    auto *line = new QWidget(this);
    line->setObjectName(QStringLiteral("code.line"));
    auto *row = new QHBoxLayout(line);
    row->setContentsMargins(8, 1, 4, 1);
    row->setSpacing(4);
    info_ = new QLabel(line);
    info_->setObjectName(QStringLiteral("code.info"));
    info_->setTextFormat(Qt::PlainText);
    info_->setWordWrap(true);
    info_->setMinimumWidth(60);
    row->addWidget(info_, 1);
    column->addWidget(line);

    notice_ = new QWidget(this);
    notice_->setObjectName(QStringLiteral("code.notice"));
    auto *noticeRow = new QHBoxLayout(notice_);
    noticeRow->setContentsMargins(8, 2, 4, 2);
    noticeRow->setSpacing(4);
    noticeLabel_ = new QLabel(notice_);
    noticeLabel_->setObjectName(QStringLiteral("code.noticeText"));
    noticeLabel_->setTextFormat(Qt::PlainText);
    noticeLabel_->setWordWrap(true);
    noticeRow->addWidget(noticeLabel_, 1);
    const auto button = [&](const char *name, const QString &text) {
        auto *made = new QToolButton(notice_);
        made->setObjectName(QLatin1String(name));
        made->setText(text);
        made->setAccessibleName(text);
        made->setFocusPolicy(Qt::TabFocus);
        noticeRow->addWidget(made, 0, Qt::AlignTop);
        return made;
    };
    keepMine_ = button("code.keepMine", tr("Keep mine"));
    takeTheirs_ = button("code.takeTheirs", tr("Take theirs"));
    dismiss_ = button("code.dismiss", tr("Dismiss"));
    const auto resolve = [this](void (FilePage::*how)()) {
        for (FilePage *file : allPages()) {
            if (file->conflict()) {
                (file->*how)();
                break;
            }
        }
        showNotice();
    };
    connect(keepMine_, &QToolButton::clicked, this, [=] { resolve(&FilePage::keepMine); });
    connect(takeTheirs_, &QToolButton::clicked, this, [=] { resolve(&FilePage::takeTheirs); });
    connect(dismiss_, &QToolButton::clicked, this, [this] { say(QString()); });
    column->addWidget(notice_);

    auto *pages = new QWidget(this);
    stack_ = new QStackedLayout(pages);
    stack_->setContentsMargins(0, 0, 0, 0);
    empty_ = new QLabel(tr("The files that the agent writes appear here, turn by turn, with the "
                           "task file beside them. Run a session or open one."),
                        this);
    empty_->setObjectName(QStringLiteral("code.empty"));
    empty_->setWordWrap(true);
    empty_->setAlignment(Qt::AlignCenter);
    empty_->setMargin(12);
    stack_->addWidget(empty_);
#if CUDA_AGENT_CODE_DIFF
    diff_ = new DiffView(document_, this);
    stack_->addWidget(diff_);
#endif
    column->addWidget(pages, 1);

    find_ = new CodeFindBar(this);
    column->addWidget(find_);
    const auto colors = [this, line] {
        const Colors &c = Theme::instance().colors();
        paintLine(*line, c.panel, c.muted);
        paintLine(*info_, c.panel, c.muted);
        paintLine(*notice_, c.panel, c.text);
        paintLine(*noticeLabel_, c.panel, c.warning);
        paintLine(*empty_, c.base, c.muted);
        for (int tab = 0; tab < tabs_->count(); ++tab) {
            if (task_ && tabs_->tabData(tab).value<void *>() == task_)
                tabs_->setTabIcon(tab, lockIcon(c.muted));
        }
    };
    connect(&Theme::instance(), &Theme::changed, this, colors);
    colors();
}

QAction *CodePane::action(const char *name, const QString &text, const QList<QKeySequence> &keys) {
    auto *made = new QAction(text, this);
    made->setObjectName(QStringLiteral("code.%1").arg(QLatin1String(name)));
    made->setShortcuts(keys);
    made->setShortcutContext(Qt::WidgetWithChildrenShortcut);
    addAction(made);
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
    compare_ = action("compare", tr("Compare with the Turn Before"), {K(Qt::CTRL | Qt::Key_D)});
    connect(compare_, &QAction::triggered, this, &CodePane::compare);
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
        for (FilePage *file : allPages())
            file->editor()->setMessagesShown(shown);
    });
    QWidget *line = info_->parentWidget();
    for (QAction *each : {restore_, discard_, check_})
        line->layout()->addWidget(buttonOf(each, line));
}

FilePage *CodePane::current() const {
    return qobject_cast<FilePage *>(stack_->currentWidget());
}

CodeEditor *CodePane::editor() const {
    FilePage *file = current();
    return file ? file->editor() : nullptr;
}

void CodePane::showTabs() {
    struct Tab {
        QWidget *page;
        QString text;
        QString tip;
    };
    std::vector<Tab> wanted;
    const bool newest = atNewest();
    for (const auto &[path, file] : pages_) {
        if (newest ? !file->inLog() && !file->edited() : file->pastBlob().empty())
            continue;
        const bool marked = newest && file->edited();
        wanted.push_back({file, marked ? tr("%1*").arg(file->path()) : file->path(),
                          marked ? tr("%1, edited").arg(file->path()) : file->path()});
    }
    if (task_ && document_->cursor() > 0)
        wanted.push_back({task_, task_->path(), tr("%1, the task: protected").arg(task_->path())});
    if (diff_ && !pages_.empty())
        wanted.push_back({diff_, tr("Compare"), tr("Two versions of a file side by side")});

    QWidget *before = stack_->currentWidget();
    {
        const QSignalBlocker quiet(tabs_);
        while (tabs_->count() > static_cast<int>(wanted.size()))
            tabs_->removeTab(tabs_->count() - 1);
        int chosen = -1;
        for (int i = 0; i < static_cast<int>(wanted.size()); ++i) {
            const Tab &tab = wanted[static_cast<std::size_t>(i)];
            if (i == tabs_->count())
                tabs_->addTab(QString());
            if (tabs_->tabData(i).value<void *>() != tab.page) {
                tabs_->setTabData(i, QVariant::fromValue<void *>(tab.page));
                tabs_->setTabIcon(i, tab.page == task_ ? lockIcon(Theme::instance().colors().muted)
                                                       : QIcon());
            }
            // A tab's "&" would be taken for a mnemonic.
            const QString text = QString(tab.text).replace(QLatin1Char('&'), QStringLiteral("&&"));
            if (tabs_->tabText(i) != text)
                tabs_->setTabText(i, text);
            tabs_->setTabToolTip(i, tab.tip);
            if (tab.page == before)
                chosen = i;
        }
        if (chosen < 0 && !wanted.empty())
            chosen = 0;
        tabs_->setCurrentIndex(chosen);
    }
    tabs_->setVisible(!wanted.empty());
    tabChosen(tabs_->currentIndex());
}

void CodePane::tabChosen(int tab) {
    QWidget *page = tab < 0 ? empty_ : static_cast<QWidget *>(tabs_->tabData(tab).value<void *>());
    const bool focused = stack_->currentWidget() &&
                         stack_->currentWidget()->isAncestorOf(QApplication::focusWidget());
    stack_->setCurrentWidget(page);
    find_->setEditor(editor());
    if (!editor())
        find_->hide();
    else if (focused)
        editor()->setFocus(Qt::OtherFocusReason);
    showInfo();
}

void CodePane::stepTab(int by) {
    if (const int count = tabs_->count(); count > 0)
        tabs_->setCurrentIndex((tabs_->currentIndex() + by + count) % count);
}

void CodePane::showInfo() {
    const FilePage *file = current();
    const SessionIndex &index = document_->index();
    const int shown = document_->shownTurn();
    const bool newest = atNewest();
    QString text;
    if (file && file->kind() == FilePage::Kind::task && file->problem().isEmpty())
        text = tr("Protected: the task says what is right, so nobody edits it here.");
    else if (file && !file->problem().isEmpty())
        text = file->problem();
    else if (file && !newest && shown != index.turnAt(index.size()))
        text = tr("Read-only: turn %1 of %2.").arg(shown).arg(index.turnCount(index.size()));
    else if (file && !newest)
        text = tr("Read-only: an earlier moment of the session.");
    else if (file && !editable_)
        text = tr("Read-only while the session is at work. Pause to edit.");
    else if (file && hasEdits())
        text = tr("Edited. Check compiles, verifies and times it.");
    else if (file)
        text = tr("Newest version. You can edit it.");
    info_->setText(text);
    info_->parentWidget()->setVisible(file != nullptr);
    const bool workspace = file && file->kind() == FilePage::Kind::workspace;
    check_->setEnabled(newest && editable_ && !pages_.empty());
    restore_->setEnabled(shown > 0 && !newest);
    discard_->setEnabled(hasEdits());
    compare_->setEnabled(diff_ && workspace);
    for (QToolButton *button : info_->parentWidget()->findChildren<QToolButton *>()) {
        const QAction *own = button->defaultAction();
        button->setVisible(workspace && own->isEnabled());
    }
    undo_->setEnabled(file && !file->editor()->isReadOnly());
    redo_->setEnabled(undo_->isEnabled());
}

void CodePane::showNotice() {
    QString text = noticeText_;
    bool conflict = false;
    for (const FilePage *file : allPages()) {
        if (file->conflict()) {
            conflict = true;
            text = tr("The log has a newer %1 than the one you edited.").arg(file->path());
            break;
        }
    }
    keepMine_->setVisible(conflict);
    takeTheirs_->setVisible(conflict);
    dismiss_->setVisible(!conflict);
    noticeLabel_->setText(text);
    notice_->setVisible(!text.isEmpty());
}

void CodePane::say(const QString &notice) {
    noticeText_ = notice;
    showNotice();
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

void CodePane::compare() {
    const FilePage *file = current();
    if (!file || file->kind() != FilePage::Kind::workspace)
        return;
#if CUDA_AGENT_CODE_DIFF
    static_cast<DiffView *>(diff_)->showDiff(std::max(1, document_->shownTurn() - 1),
                                             document_->shownTurn(), file->path());
#endif
    for (int tab = 0; tab < tabs_->count(); ++tab) {
        if (tabs_->tabData(tab).value<void *>() == diff_)
            tabs_->setCurrentIndex(tab);
    }
}

} // namespace cuda_agent::widgets
