// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The parts of the pane around the editors: tabs and the lines that say what is shown.
#include "widgets/code/code_pane.h"

#include "widgets/base/text.h"
#include "widgets/base/theme.h"
#include "widgets/code/edits_dialog.h"
#include "widgets/code/find_bar.h"
#include "widgets/diff/diff_view.h"

#include <QFileInfo>
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

/// One line, cut short where there is no room; the whole text is its tool tip.
class LineLabel : public QLabel {
  public:
    using QLabel::QLabel;
    QSize minimumSizeHint() const override { return {40, QLabel::minimumSizeHint().height()}; }

  protected:
    void paintEvent(QPaintEvent *) override {
        QPainter painter(this);
        painter.setPen(palette().color(QPalette::WindowText));
        painter.drawText(contentsRect(), Qt::AlignVCenter | Qt::AlignLeft,
                         fontMetrics().elidedText(text(), Qt::ElideRight, contentsRect().width()));
    }
};

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
    tabs_->setElideMode(Qt::ElideNone);
    tabs_->setUsesScrollButtons(true);
    connect(tabs_, &QTabBar::currentChanged, this, [this](int tab) {
        chosen_ = static_cast<QWidget *>(tabs_->tabData(tab).value<void *>());
        tabChosen(tab);
    });
    column->addWidget(tabs_);

    auto *line = new QWidget(this);
    line->setObjectName(QStringLiteral("code.line"));
    auto *row = new QHBoxLayout(line);
    row->setContentsMargins(8, 1, 4, 1);
    row->setSpacing(4);
    info_ = new LineLabel(line);
    info_->setObjectName(QStringLiteral("code.info"));
    info_->setTextFormat(Qt::PlainText);
    info_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    info_->setMinimumHeight(QToolButton(line).sizeHint().height());
    row->addWidget(info_, 1);
    column->addWidget(line);

    notice_ = new QWidget(this);
    notice_->setObjectName(QStringLiteral("code.notice"));
    // The pane may become narrow first and the line take its other form then.
    notice_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    noticeRow_ = new QBoxLayout(QBoxLayout::LeftToRight, notice_);
    noticeRow_->setContentsMargins(8, 2, 4, 2);
    noticeRow_->setSpacing(4);
    noticeLabel_ = new QLabel(notice_);
    noticeLabel_->setObjectName(QStringLiteral("code.noticeText"));
    noticeLabel_->setTextFormat(Qt::PlainText);
    noticeLabel_->setWordWrap(true);
    noticeRow_->addWidget(noticeLabel_, 1);
    auto *choices = new QHBoxLayout;
    choices->setSpacing(4);
    choices->addStretch();
    noticeRow_->addLayout(choices);
    const auto button = [&](const char *name, const QString &text) {
        auto *made = new QToolButton(notice_);
        made->setObjectName(QLatin1String(name));
        made->setText(text);
        made->setAccessibleName(text);
        made->setFocusPolicy(Qt::TabFocus);
        choices->addWidget(made, 0, Qt::AlignTop);
        return made;
    };
    keepMine_ = button("code.keepMine", tr("Keep mine"));
    takeTheirs_ = button("code.takeTheirs", tr("Take theirs"));
    showDifference_ = button("code.showDifference", tr("Show difference"));
    dismiss_ = button("code.dismiss", tr("Dismiss"));
    const auto resolve = [this](void (FilePage::*how)()) {
        if (FilePage *file = firstConflict())
            (file->*how)();
        showNotice();
    };
    connect(showDifference_, &QToolButton::clicked, this, [this] {
        if (FilePage *file = firstConflict())
            showDifference(*file);
    });
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
    diff_ = new DiffView(document_, this);
    stack_->addWidget(diff_);
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
    // The name without its folders where it tells the files apart: tabs are narrow.
    std::map<QString, int> uses;
    for (FilePage *file : allPages())
        ++uses[QFileInfo(file->path()).fileName()];
    const auto nameOf = [&](const FilePage *file) {
        const QString name = QFileInfo(file->path()).fileName();
        return uses[name] == 1 && !name.isEmpty() ? name : file->path();
    };
    const bool newest = atNewest();
    for (const auto &[path, file] : pages_) {
        if (newest ? !file->inLog() && !file->edited() : file->pastBlob().empty())
            continue;
        const bool marked = newest && file->edited();
        wanted.push_back({file, marked ? tr("%1*").arg(nameOf(file)) : nameOf(file),
                          marked ? tr("%1, edited").arg(file->path()) : file->path()});
    }
    if (task_ && (!taskPath_.isEmpty() || document_->cursor() > 0))
        wanted.push_back({task_, task_->path(), tr("%1, the task: protected").arg(task_->path())});
    if (!wanted.empty() && wanted.front().page != task_)
        wanted.push_back({diff_, tr("Compare"), tr("Two versions of a file side by side")});

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
            if (tab.page == chosen_) // it comes back when it was away for a while
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
    info_->setToolTip(text);
    info_->parentWidget()->setVisible(file != nullptr);
    const bool workspace = file && file->kind() == FilePage::Kind::workspace;
    check_->setEnabled(newest && editable_ && !pages_.empty());
    restore_->setEnabled(shown > 0 && !newest);
    discard_->setEnabled(hasEdits());
    compare_->setEnabled(workspace);
    showEdits_->setEnabled(workspace && newest && file->edited());
    for (QToolButton *button : info_->parentWidget()->findChildren<QToolButton *>()) {
        const QAction *own = button->defaultAction();
        button->setVisible(workspace && own->isEnabled());
    }
    undo_->setEnabled(file && !file->editor()->isReadOnly());
    redo_->setEnabled(undo_->isEnabled());
}

void CodePane::showNotice() {
    QString text = noticeText_;
    const FilePage *conflict = firstConflict();
    if (conflict)
        text = tr("The log has a newer %1 than the one you edited.").arg(conflict->path());
    keepMine_->setVisible(conflict);
    takeTheirs_->setVisible(conflict);
    showDifference_->setVisible(conflict);
    dismiss_->setVisible(!conflict);
    noticeLabel_->setText(text);
    notice_->setVisible(!text.isEmpty());
}

FilePage *CodePane::firstConflict() const {
    for (FilePage *file : allPages()) {
        if (file->conflict())
            return file;
    }
    return nullptr;
}

void CodePane::showDifference(FilePage &page) {
    auto *dialog = page.findChild<EditsDialog *>(QString(), Qt::FindDirectChildrenOnly);
    if (!dialog)
        dialog = new EditsDialog(&page);
    dialog->show();
    dialog->raise();
    dialog->activateWindow();
}

void CodePane::resizeEvent(QResizeEvent *event) {
    QWidget::resizeEvent(event);
    // Beside its buttons the sentence would be a column of single words in a small dock.
    noticeRow_->setDirection(width() < 560 ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
}

void CodePane::say(const QString &notice) {
    noticeText_ = notice;
    showNotice();
}

} // namespace cuda_agent::widgets
