// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/trace/find_bar.h"

#include "widgets/trace/trace_view.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QLocale>
#include <QToolButton>

#include <algorithm>

namespace cuda_agent::widgets {

FindBar::FindBar(TraceFinder *finder, TraceView *view, QWidget *parent)
    : QWidget(parent), finder_(finder), view_(view) {
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(4, 2, 4, 2);
    row->setSpacing(4);
    edit_ = new QLineEdit;
    edit_->setObjectName(QStringLiteral("trace.findText"));
    edit_->setPlaceholderText(tr("Find in trace"));
    edit_->setAccessibleName(tr("Text to find in the trace"));
    edit_->setClearButtonEnabled(true);
    edit_->setMinimumWidth(60);
    row->addWidget(edit_, 1);
    count_ = new QLabel;
    count_->setObjectName(QStringLiteral("trace.findCount"));
    count_->setAccessibleName(tr("Matches"));
    row->addWidget(count_);
    const auto button = [&](Qt::ArrowType arrow, const QString &text, int by) {
        auto *made = new QToolButton;
        made->setAutoRaise(true);
        made->setArrowType(arrow);
        made->setToolTip(text);
        made->setAccessibleName(text);
        connect(made, &QToolButton::clicked, this, [this, by] { step(by); });
        row->addWidget(made);
    };
    button(Qt::UpArrow, tr("Previous match"), -1);
    button(Qt::DownArrow, tr("Next match"), 1);
    auto *shut = new QToolButton;
    shut->setAutoRaise(true);
    shut->setText(QStringLiteral("✕"));
    shut->setToolTip(tr("Close find"));
    shut->setAccessibleName(tr("Close find"));
    connect(shut, &QToolButton::clicked, this, &FindBar::close);
    row->addWidget(shut);
    setFocusProxy(edit_);
    hide();

    connect(edit_, &QLineEdit::textChanged, this, &FindBar::patternChanged);
    connect(finder, &TraceFinder::changed, this, &FindBar::finderChanged);
}

void FindBar::open(const QString &text) {
    if (isHidden())
        from_ = view_->currentRow() >= 0 ? view_->currentRow() : view_->topPlace().first;
    show();
    if (!text.isEmpty() && !text.contains(u'\n'))
        edit_->setText(text);
    else if (finder_->pattern() != edit_->text())
        patternChanged(edit_->text());
    edit_->selectAll();
    edit_->setFocus(Qt::ShortcutFocusReason);
}

void FindBar::close() {
    hide();
    match_ = -1;
    fresh_ = false;
    finder_->setPattern({}); // no marks without a bar that says why
    view_->clearMatch();
    view_->setFocus(Qt::OtherFocusReason);
}

void FindBar::patternChanged(const QString &pattern) {
    match_ = -1;
    fresh_ = !pattern.isEmpty();
    view_->clearMatch();
    finder_->setPattern(pattern);
    showCount();
}

void FindBar::finderChanged() {
    const int count = int(finder_->matches().size());
    if (match_ >= count)
        match_ = -1;
    // The first match at or behind where the search began; from the top when there is none.
    if (fresh_ && !isHidden()) {
        const int found = firstFrom(from_);
        if (found < count || (!finder_->busy() && count > 0)) {
            fresh_ = false;
            match_ = found < count ? found : 0;
            view_->showMatch(match_);
        } else if (!finder_->busy()) {
            fresh_ = false; // a match that comes later does not take the reader away
        }
    }
    showCount();
}

int FindBar::firstFrom(int row) const {
    return finder_->matchesOf(row).first;
}

void FindBar::step(int by) {
    if (isHidden())
        return open({});
    const int count = int(finder_->matches().size());
    if (count == 0)
        return;
    fresh_ = false;
    if (match_ < 0) {
        const int found = firstFrom(view_->topPlace().first);
        match_ = by > 0 ? found % count : (found + count - 1) % count;
    } else {
        match_ = (match_ + by + count) % count;
    }
    from_ = finder_->matches()[std::size_t(match_)].row;
    view_->showMatch(match_);
    showCount();
}

void FindBar::showCount() {
    const QLocale locale;
    const auto count = finder_->matches().size();
    const QString all = count >= TraceFinder::most
                            ? tr("%1 or more").arg(locale.toString(qulonglong(count)))
                            : locale.toString(qulonglong(count));
    if (finder_->pattern().isEmpty())
        count_->clear();
    else if (count == 0)
        count_->setText(finder_->busy() ? tr("Searching…") : tr("No match"));
    else if (match_ >= 0)
        count_->setText(tr("%1 of %2").arg(locale.toString(match_ + 1), all));
    else
        count_->setText(all);
}

void FindBar::keyPressEvent(QKeyEvent *event) {
    switch (event->key()) {
    case Qt::Key_Escape:
        return close();
    case Qt::Key_Return:
    case Qt::Key_Enter:
        return step(event->modifiers() & Qt::ShiftModifier ? -1 : 1);
    default:
        QWidget::keyPressEvent(event);
    }
}

} // namespace cuda_agent::widgets
