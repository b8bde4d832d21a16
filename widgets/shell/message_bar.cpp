// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/shell/message_bar.h"

#include "widgets/base/theme.h"

#include <QToolButton>

namespace cuda_agent::widgets {

MessageBar::MessageBar(QWidget *parent) : QFrame(parent) {
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(10, 6, 6, 6);
    label_ = new QLabel(this);
    label_->setWordWrap(true);
    label_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    label_->setAccessibleName(tr("Message"));
    row->addWidget(label_, 1);
    close_ = new QToolButton(this);
    close_->setText(QStringLiteral("\u2715"));
    close_->setAutoRaise(true);
    close_->setToolTip(tr("Close this message"));
    close_->setAccessibleName(close_->toolTip());
    row->addWidget(close_, 0, Qt::AlignTop);
    connect(close_, &QToolButton::clicked, this, &QWidget::hide);
    connect(&Theme::instance(), &Theme::changed, this, &MessageBar::applyTheme);
    setAutoFillBackground(true);
    hide();
}

void MessageBar::say(const QString &text, Kind kind) {
    kind_ = kind;
    label_->setText(text);
    applyTheme();
    show();
}

QString MessageBar::text() const {
    return isHidden() ? QString() : label_->text();
}

void MessageBar::applyTheme() {
    const Colors &colors = Theme::instance().colors();
    const QColor edge = kind_ == Kind::error ? colors.bad : colors.accent;
    QPalette palette = QApplication::palette();
    palette.setColor(QPalette::Window, kind_ == Kind::error ? colors.removed : colors.panel);
    setPalette(palette);
    setStyleSheet(QStringLiteral("cuda_agent--widgets--MessageBar { border-left: 4px solid %1; }")
                      .arg(edge.name()));
}

} // namespace cuda_agent::widgets
