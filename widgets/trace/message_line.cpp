// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/trace/message_line.h"

#include "widgets/base/theme.h"

#include <QKeyEvent>
#include <QMimeData>
#include <QToolButton>

#include <algorithm>
#include <cmath>

namespace cuda_agent::widgets {

namespace {
constexpr int mostLines = 6;
constexpr int longest = 20'000; ///< characters: a message, not a file

/// Takes no more from the clipboard than a message may hold: laying out megabytes takes seconds.
class MessageEdit : public QPlainTextEdit {
  public:
    using QPlainTextEdit::QPlainTextEdit;

  protected:
    void insertFromMimeData(const QMimeData *source) override {
        const int room = std::max(0, longest - document()->characterCount());
        insertPlainText(source->text().left(room));
    }
};

} // namespace

MessageLine::MessageLine(QWidget *parent)
    : QWidget(parent), edit_(new MessageEdit(this)), send_(new QToolButton(this)) {
    setObjectName(QStringLiteral("messageLine"));
    edit_->setObjectName(QStringLiteral("message.text"));
    edit_->setAccessibleName(tr("Message to the agent"));
    edit_->setTabChangesFocus(true);
    edit_->setVerticalScrollBarPolicy(Qt::ScrollBarAsNeeded);
    edit_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    edit_->installEventFilter(this);
    send_->setObjectName(QStringLiteral("message.send"));
    send_->setText(tr("Send"));
    send_->setToolTip(tr("Enter sends, Shift+Enter begins a new line"));
    send_->setFocusPolicy(Qt::TabFocus);
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(6, 4, 6, 6);
    row->addWidget(edit_, 1);
    row->addWidget(send_, 0, Qt::AlignBottom);
    setFocusProxy(edit_);
    connect(send_, &QToolButton::clicked, this, &MessageLine::send);
    connect(edit_, &QPlainTextEdit::textChanged, this, [this] {
        fit();
        showState();
    });
    connect(&Theme::instance(), &Theme::changed, this, &MessageLine::fit);
    fit();
    showState();
}

void MessageLine::setReader(bool reads, const QString &hint) {
    reads_ = reads;
    edit_->setPlaceholderText(hint);
    edit_->setAccessibleDescription(hint);
    showState();
}

/// What was typed stays while nobody reads: it can be sent later.
void MessageLine::showState() {
    edit_->setEnabled(reads_);
    send_->setEnabled(reads_ && !edit_->toPlainText().trimmed().isEmpty());
}

void MessageLine::fit() {
    // Wrapped lines count: the document of a QPlainTextEdit measures in lines.
    const double lines = std::clamp(std::ceil(edit_->document()->size().height()), 1.0,
                                    static_cast<double>(mostLines));
    const double around = 2 * (edit_->frameWidth() + edit_->document()->documentMargin());
    edit_->setFixedHeight(static_cast<int>(lines * edit_->fontMetrics().lineSpacing() + around) +
                          2);
}

void MessageLine::send() {
    const QString text = edit_->toPlainText().trimmed();
    if (!reads_ || text.isEmpty())
        return;
    edit_->clear();
    Q_EMIT written(text.left(longest));
}

bool MessageLine::eventFilter(QObject *watched, QEvent *event) {
    if (watched == edit_ && event->type() == QEvent::KeyPress) {
        const auto *key = static_cast<QKeyEvent *>(event);
        const bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
        if (enter && !(key->modifiers() & Qt::ShiftModifier)) {
            send();
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void MessageLine::resizeEvent(QResizeEvent *event) {
    QWidget::resizeEvent(event);
    fit();
}

} // namespace cuda_agent::widgets
