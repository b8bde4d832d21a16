// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/shell/message_bar.h"

#include "widgets/base/theme.h"

#include <QAction>
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
    remedy_ = new QToolButton(this);
    remedy_->setObjectName(QStringLiteral("message.remedy"));
    remedy_->setToolButtonStyle(Qt::ToolButtonTextOnly);
    row->addWidget(remedy_, 0, Qt::AlignTop);
    close_ = new QToolButton(this);
    close_->setText(QStringLiteral("\u2715"));
    close_->setAutoRaise(true);
    close_->setToolTip(tr("Close this message"));
    close_->setAccessibleName(close_->toolTip());
    row->addWidget(close_, 0, Qt::AlignTop);
    connect(close_, &QToolButton::clicked, this, &QWidget::hide);
    connect(&Theme::instance(), &Theme::changed, this, qOverload<>(&QWidget::update));
    hide();
}

void MessageBar::say(const QString &text, Kind kind, QAction *remedy) {
    kind_ = kind;
    label_->setText(text);
    for (QAction *action : remedy_->actions())
        remedy_->removeAction(action);
    if (remedy)
        remedy_->setDefaultAction(remedy);
    remedy_->setVisible(remedy);
    update();
    show();
}

QString MessageBar::text() const {
    return isHidden() ? QString() : label_->text();
}

void MessageBar::paintEvent(QPaintEvent *) {
    const Colors &colors = Theme::instance().colors();
    QPainter painter(this);
    painter.fillRect(rect(), kind_ == Kind::error ? colors.removed : colors.panel);
    painter.fillRect(0, 0, 4, height(),
                     kind_ == Kind::error     ? colors.bad
                     : kind_ == Kind::warning ? colors.warning
                                              : colors.accent);
}

} // namespace cuda_agent::widgets
