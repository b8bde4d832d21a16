// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/tools/approval_bar.h"

#include "widgets/base/theme.h"

#include <QAccessible>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>

namespace cuda_agent::widgets {

namespace {

constexpr qsizetype longest = 20'000; ///< characters of one argument that are shown
constexpr int linesShown = 7;         ///< before it scrolls

QString clipped(const QString &text) {
    if (text.size() <= longest)
        return text;
    const qsizetype half = longest / 2;
    return text.left(half) +
           ApprovalBar::tr("\n… %1 characters are not shown here …\n").arg(text.size() - longest) +
           text.right(half);
}

} // namespace

QString argumentsText(const Json &arguments) {
    if (!arguments.is_object())
        return clipped(
            QString::fromStdString(arguments.dump(2, ' ', false, Json::error_handler_t::replace)));
    QStringList lines;
    for (const auto &[name, value] : arguments.items()) {
        const QString text = QString::fromStdString(
            value.is_string() ? value.get<std::string>()
                              : value.dump(2, ' ', false, Json::error_handler_t::replace));
        const bool several = text.contains(QLatin1Char('\n'));
        lines += QString::fromStdString(name) + QLatin1Char(':') +
                 (several ? QLatin1Char('\n') : QLatin1Char(' ')) + clipped(text);
    }
    return lines.join(QLatin1Char('\n'));
}

ApprovalBar::ApprovalBar(QWidget *parent) : QFrame(parent) {
    setObjectName(QStringLiteral("approvalBar"));
    setAccessibleName(tr("A call of the agent waits for you"));
    title_ = new QLabel(this);
    title_->setTextFormat(Qt::PlainText);
    title_->setObjectName(QStringLiteral("approval.title"));
    QFont strong = title_->font();
    strong.setBold(true);
    title_->setFont(strong);
    arguments_ = new QPlainTextEdit(this);
    arguments_->setReadOnly(true);
    arguments_->setTabChangesFocus(true);
    arguments_->setLineWrapMode(QPlainTextEdit::NoWrap);
    arguments_->setAccessibleName(tr("Arguments of the call"));
    reason_ = new QLineEdit(this);
    reason_->setObjectName(QStringLiteral("approval.reason"));
    reason_->setAccessibleName(tr("Reason for a refusal"));
    reason_->setPlaceholderText(tr("Reason (optional)"));
    reason_->setToolTip(tr("The agent reads it with the refusal"));
    reason_->setMaxLength(2000);
    allow_ = act("approval.allow", tr("&Allow Call"), QStringLiteral("Ctrl+Shift+Y"));
    allowAll_ = act("approval.allowAll", tr("Allow A&ll of This Tool"), {});
    refuse_ = act("approval.refuse", tr("&Refuse Call"), QStringLiteral("Ctrl+Shift+N"));
    connect(allow_, &QAction::triggered, this, [this] {
        if (call_)
            Q_EMIT allowed(*call_);
    });
    connect(allowAll_, &QAction::triggered, this, [this] {
        if (call_)
            Q_EMIT allAllowed(*call_);
    });
    connect(refuse_, &QAction::triggered, this, [this] {
        if (call_)
            Q_EMIT refused(*call_, reason_->text().trimmed());
    });
    connect(reason_, &QLineEdit::returnPressed, refuse_, &QAction::trigger);

    auto *row = new QHBoxLayout;
    const auto button = [&](QAction *action, const QString &text) {
        auto *push = new QPushButton(text, this);
        push->setObjectName(action->objectName() + QStringLiteral("Button"));
        push->setToolTip(action->toolTip());
        connect(push, &QPushButton::clicked, action, &QAction::trigger);
        row->addWidget(push);
    };
    button(allow_, tr("&Allow"));
    button(allowAll_, tr("Allow A&ll of This Tool"));
    row->addSpacing(16);
    row->addWidget(reason_, 1);
    button(refuse_, tr("&Refuse"));
    auto *column = new QVBoxLayout(this);
    column->setContentsMargins(12, 8, 10, 8);
    column->addWidget(title_);
    column->addWidget(arguments_);
    column->addLayout(row);
    connect(&Theme::instance(), &Theme::changed, this, &ApprovalBar::applyTheme);
    applyTheme();
    setCall({});
}

QAction *ApprovalBar::act(const char *name, const QString &text, const QString &shortcut) {
    auto *action = new QAction(text, this);
    action->setObjectName(QLatin1String(name));
    if (!shortcut.isEmpty()) {
        action->setShortcut(QKeySequence(shortcut, QKeySequence::PortableText));
        action->setToolTip(tr("%1 (%2)").arg(
            tr("Wherever the keyboard is"), action->shortcut().toString(QKeySequence::NativeText)));
    }
    addAction(action);
    return action;
}

void ApprovalBar::setCall(const std::optional<session::ToolCall> &call) {
    if (!call || !call_ || call->id != call_->id)
        reason_->clear();
    call_ = call;
    for (QAction *action : {allow_, allowAll_, refuse_})
        action->setEnabled(call.has_value());
    setVisible(call.has_value());
    if (!call)
        return;
    title_->setText(tr("The agent wants to use %1").arg(QString::fromStdString(call->tool)));
    const QString text = argumentsText(call->arguments);
    arguments_->setPlainText(text);
    applyTheme();
    QAccessibleEvent alert(this, QAccessible::Alert);
    QAccessible::updateAccessibility(&alert);
}

QString ApprovalBar::shownArguments() const {
    return arguments_->toPlainText();
}

void ApprovalBar::paintEvent(QPaintEvent *) {
    const Colors &colors = Theme::instance().colors();
    QPainter painter(this);
    painter.fillRect(rect(), colors.panel);
    painter.fillRect(0, 0, 4, height(), colors.warning);
    painter.fillRect(0, height() - 1, width(), 1, colors.border);
}

void ApprovalBar::applyTheme() {
    const Theme &theme = Theme::instance();
    arguments_->setFont(theme.codeFont());
    const int lines = std::clamp(arguments_->blockCount(), 1, linesShown);
    arguments_->setFixedHeight(QFontMetrics(theme.codeFont()).lineSpacing() * lines + 26);
}

} // namespace cuda_agent::widgets
