// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/code/find_bar.h"

#include "widgets/base/theme.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QToolButton>

namespace cuda_agent::widgets {

CodeFindBar::CodeFindBar(QWidget *parent) : QWidget(parent) {
    setObjectName(QStringLiteral("code.findBar"));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(4, 3, 4, 3);
    column->setSpacing(3);
    auto *findRow = new QHBoxLayout;
    findRow->setSpacing(2);
    find_ = new QLineEdit(this);
    find_->setObjectName(QStringLiteral("code.findText"));
    find_->setPlaceholderText(tr("Find"));
    find_->setAccessibleName(tr("Find in this file"));
    find_->setClearButtonEnabled(true);
    find_->setMinimumWidth(60);
    find_->installEventFilter(this);
    count_ = new QLabel(this);
    count_->setObjectName(QStringLiteral("code.findCount"));
    count_->setTextFormat(Qt::PlainText);
    count_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
    findRow->addWidget(find_, 3);
    matchCase_ = toggle("code.findCase", tr("Aa"), tr("Match case"));
    wholeWord_ = toggle("code.findWord", tr("W"), tr("Whole words"));
    regex_ = toggle("code.findRegex", tr(".*"), tr("Regular expression"));
    auto *previous = button("code.findUp", QString(), tr("Match before (Shift+F3)"));
    previous->setArrowType(Qt::UpArrow);
    auto *next = button("code.findDown", QString(), tr("Next match (F3)"));
    next->setArrowType(Qt::DownArrow);
    auto *shut = button("code.findClose", tr("×"), tr("Close (Esc)"));
    for (QToolButton *each : {matchCase_, wholeWord_, regex_, previous, next})
        findRow->addWidget(each);
    findRow->addWidget(count_, 2);
    findRow->addWidget(shut);
    column->addLayout(findRow);

    replaceRow_ = new QWidget(this);
    auto *row = new QHBoxLayout(replaceRow_);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(2);
    replace_ = new QLineEdit(replaceRow_);
    replace_->setObjectName(QStringLiteral("code.replaceText"));
    replace_->setPlaceholderText(tr("Replace with"));
    replace_->setAccessibleName(tr("Replace with"));
    replace_->setMinimumWidth(60);
    replace_->installEventFilter(this);
    replaceOne_ = button("code.replaceOne", tr("Replace"), tr("Replace this match"));
    replaceAll_ = button("code.replaceAll", tr("All"), tr("Replace all, as one step of undo"));
    row->addWidget(replace_, 1);
    row->addWidget(replaceOne_);
    row->addWidget(replaceAll_);
    column->addWidget(replaceRow_);

    connect(find_, &QLineEdit::textEdited, this, &CodeFindBar::patternChanged);
    connect(find_, &QLineEdit::textChanged, this, [this](const QString &text) {
        if (text.isEmpty())
            patternChanged();
    });
    for (QToolButton *each : {matchCase_, wholeWord_, regex_})
        connect(each, &QToolButton::toggled, this, &CodeFindBar::patternChanged);
    connect(previous, &QToolButton::clicked, this, [this] { step(-1); });
    connect(next, &QToolButton::clicked, this, [this] { step(1); });
    connect(shut, &QToolButton::clicked, this, &CodeFindBar::close);
    connect(replaceOne_, &QToolButton::clicked, this, &CodeFindBar::replaceOne);
    connect(replaceAll_, &QToolButton::clicked, this, &CodeFindBar::replaceAll);
    hide();
}

QToolButton *CodeFindBar::button(const char *name, const QString &text, const QString &tip) {
    auto *made = new QToolButton(this);
    made->setObjectName(QLatin1String(name));
    made->setText(text);
    made->setToolTip(tip);
    made->setAccessibleName(tip);
    made->setAutoRaise(true);
    made->setFocusPolicy(Qt::TabFocus);
    return made;
}

QToolButton *CodeFindBar::toggle(const char *name, const QString &text, const QString &tip) {
    QToolButton *made = button(name, text, tip);
    made->setCheckable(true);
    return made;
}

void CodeFindBar::setEditor(CodeEditor *editor) {
    if (editor == editor_)
        return;
    if (editor_) {
        disconnect(editor_, nullptr, this, nullptr);
        editor_->setHighlights({});
    }
    editor_ = editor;
    if (editor)
        connect(editor, &QsciScintilla::textChanged, this, [this] {
            if (isVisible() && !own_)
                search();
        });
    if (isVisible())
        search();
}

void CodeFindBar::open(bool replacing) {
    replaceRow_->setVisible(replacing && editor_ && !editor_->isReadOnly());
    if (editor_) {
        const QString selected = editor_->selectedText();
        if (!selected.isEmpty() && !selected.contains(QLatin1Char('\n')))
            find_->setText(selected);
        origin_ = editor_->selection().begin;
    }
    QWidget::show();
    find_->setFocus(Qt::ShortcutFocusReason);
    find_->selectAll();
    search();
}

void CodeFindBar::close() {
    hide();
    if (editor_) {
        editor_->setHighlights({});
        editor_->setFocus(Qt::OtherFocusReason);
    }
}

void CodeFindBar::patternChanged() {
    search();
    if (!editor_ || found_.matches.empty())
        return;
    const auto at = std::find_if(found_.matches.begin(), found_.matches.end(),
                                 [&](const Match &match) { return match.range.begin >= origin_; });
    show(at == found_.matches.end() ? 0 : static_cast<std::size_t>(at - found_.matches.begin()));
}

void CodeFindBar::search() {
    found_ = {};
    if (editor_) {
        const Pattern pattern{find_->text(), regex_->isChecked(), matchCase_->isChecked(),
                              wholeWord_->isChecked()};
        found_ = findAll(editor_->text(), pattern, replace_->text());
        std::vector<ByteRange> ranges;
        for (const Match &match : found_.matches)
            ranges.push_back(match.range);
        editor_->setHighlights(ranges);
    }
    say();
}

void CodeFindBar::show(std::size_t match) {
    editor_->select(found_.matches[match].range);
    say();
}

void CodeFindBar::say() {
    const bool any = !found_.matches.empty();
    const bool writable = editor_ && !editor_->isReadOnly();
    replaceOne_->setEnabled(any && writable);
    replaceAll_->setEnabled(any && writable);
    QString text;
    if (!found_.problem.isEmpty()) {
        text = found_.problem;
    } else if (!find_->text().isEmpty() && !any) {
        text = tr("No match");
    } else if (any) {
        const ByteRange selected = editor_->selection();
        const auto at = std::find_if(found_.matches.begin(), found_.matches.end(),
                                     [&](const Match &match) { return match.range == selected; });
        text = at == found_.matches.end()
                   ? tr("%n match(es)", nullptr, static_cast<int>(found_.matches.size()))
                   : tr("%1 of %2").arg(at - found_.matches.begin() + 1).arg(found_.matches.size());
    }
    count_->setText(text);
    count_->setToolTip(text);
    const bool bad = !found_.problem.isEmpty() || (!any && !find_->text().isEmpty());
    const Colors &theme = Theme::instance().colors();
    setTextColor(count_, bad ? theme.bad : theme.muted);
}

void CodeFindBar::step(int by) {
    if (!editor_)
        return;
    search();
    if (found_.matches.empty())
        return;
    const ByteRange selected = editor_->selection();
    const std::size_t count = found_.matches.size();
    std::size_t next = by > 0 ? 0 : count - 1; // goes round
    if (by > 0) {
        for (std::size_t i = 0; i < count; ++i) {
            if (found_.matches[i].range.begin >= selected.end) {
                next = i;
                break;
            }
        }
    } else {
        for (std::size_t i = count; i-- > 0;) {
            if (found_.matches[i].range.end <= selected.begin) {
                next = i;
                break;
            }
        }
    }
    origin_ = found_.matches[next].range.begin;
    show(next);
}

void CodeFindBar::replaceOne() {
    if (!editor_ || editor_->isReadOnly())
        return;
    search();
    const ByteRange selected = editor_->selection();
    for (const Match &match : found_.matches) {
        if (match.range != selected)
            continue;
        own_ = true;
        editor_->replaceRanges({match.range}, {match.replacement});
        own_ = false;
        const long behind = match.range.begin + match.replacement.toUtf8().size();
        editor_->select({behind, behind});
        break;
    }
    step(1);
}

void CodeFindBar::replaceAll() {
    if (!editor_ || editor_->isReadOnly())
        return;
    search();
    std::vector<ByteRange> ranges;
    QStringList texts;
    for (const Match &match : found_.matches) {
        ranges.push_back(match.range);
        texts += match.replacement;
    }
    if (ranges.empty())
        return;
    own_ = true;
    editor_->replaceRanges(ranges, texts);
    own_ = false;
    search();
    count_->setText(tr("%n replaced", nullptr, static_cast<int>(ranges.size())));
    count_->setToolTip(count_->text());
}

bool CodeFindBar::eventFilter(QObject *watched, QEvent *event) {
    if (event->type() == QEvent::KeyPress) {
        const auto *key = static_cast<QKeyEvent *>(event);
        if (key->key() == Qt::Key_Escape) {
            close();
            return true;
        }
        if (key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter) {
            if (key->modifiers() & Qt::ControlModifier)
                return false; // Check
            if (watched == replace_)
                replaceOne();
            else
                step(key->modifiers() & Qt::ShiftModifier ? -1 : 1);
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace cuda_agent::widgets
