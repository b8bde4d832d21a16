// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/code/edits_dialog.h"

#include "widgets/code/file_page.h"
#include "widgets/diff/diff_area.h"

#include <QClipboard>
#include <QDialogButtonBox>
#include <QPushButton>
#include <QToolButton>

namespace cuda_agent::widgets {

EditsDialog::EditsDialog(FilePage *page) : QDialog(page), page_(page) {
    setObjectName(QStringLiteral("code.editsDialog"));
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Edits of %1").arg(page->path()));
    resize(860, 520);

    summary_ = new QLabel(this);
    summary_->setObjectName(QStringLiteral("code.editsSummary"));
    summary_->setTextFormat(Qt::PlainText);
    summary_->setWordWrap(true);
    area_ = new DiffArea(this);
    area_->setAccessibleName(
        tr("The newest version of the log on the left, your text on the right"));

    const auto command = [this](const char *name, const QString &text, const QKeySequence &key) {
        auto *action = new QAction(text, this);
        action->setObjectName(QLatin1String(name));
        action->setShortcut(key);
        addAction(action);
        area_->addAction(action);
        return action;
    };
    previous_ =
        command("code.previousEdit", tr("Previous Change"), QKeySequence(Qt::SHIFT | Qt::Key_F7));
    connect(previous_, &QAction::triggered, area_, [this] { area_->step(-1); });
    next_ = command("code.nextEdit", tr("Next Change"), Qt::Key_F7);
    connect(next_, &QAction::triggered, area_, [this] { area_->step(1); });
    QAction *copy = command("code.copyEdit", tr("Copy Lines"), QKeySequence::Copy);
    connect(copy, &QAction::triggered, area_, [this] {
        if (const QString text = area_->selectedText(); !text.isEmpty())
            QApplication::clipboard()->setText(text);
    });
    area_->setContextMenuPolicy(Qt::ActionsContextMenu);

    auto *top = new QHBoxLayout;
    top->addWidget(summary_, 1);
    for (const auto &[action, arrow] :
         {std::pair{previous_, Qt::UpArrow}, std::pair{next_, Qt::DownArrow}}) {
        auto *button = new QToolButton(this);
        button->setDefaultAction(action);
        button->setArrowType(arrow);
        button->setAutoRaise(true);
        button->setAccessibleName(action->text());
        top->addWidget(button);
    }
    auto *buttons = new QDialogButtonBox(QDialogButtonBox::Close, this);
    keepMine_ = buttons->addButton(tr("Keep mine"), QDialogButtonBox::ActionRole);
    takeTheirs_ = buttons->addButton(tr("Take theirs"), QDialogButtonBox::ActionRole);
    connect(keepMine_, &QPushButton::clicked, page, &FilePage::keepMine);
    connect(takeTheirs_, &QPushButton::clicked, page, &FilePage::takeTheirs);
    for (QPushButton *button : {keepMine_, takeTheirs_}) {
        button->setAutoDefault(false); // Return while reading decides nothing
        connect(button, &QPushButton::clicked, this, &QDialog::accept);
    }
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);

    auto *column = new QVBoxLayout(this);
    column->addLayout(top);
    column->addWidget(area_, 1);
    column->addWidget(buttons);
    connect(page, &FilePage::edit, this, &EditsDialog::refresh);
    connect(page, &FilePage::newestChanged, this, &EditsDialog::refresh);
    refresh();
    area_->setFocus(Qt::OtherFocusReason);
}

void EditsDialog::refresh() {
    const QString mine = page_->text();
    if (!compared_ || log_ != page_->newestText() || mine_ != mine) {
        log_ = page_->newestText();
        mine_ = mine;
        area_->setTexts(log_, mine_, compared_);
        compared_ = true;
    }
    const bool any = area_->changeCount() > 0;
    next_->setEnabled(any);
    previous_->setEnabled(any);
    keepMine_->setVisible(page_->conflict());
    takeTheirs_->setVisible(page_->conflict());
    summary_->setText(any ? tr("Left: the newest %1 of the log. Right: yours. Lines added: %2, "
                               "removed: %3.")
                                .arg(page_->path())
                                .arg(area_->linesAdded())
                                .arg(area_->linesRemoved())
                          : tr("Your %1 has the same lines as the log's.").arg(page_->path()));
}

} // namespace cuda_agent::widgets
