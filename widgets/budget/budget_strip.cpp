// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/budget/budget_strip.h"

#include "widgets/budget/gauge.h"
#include "widgets/session/session_document.h"

#include <QDateTime>
#include <QLocale>

#include <cmath>

namespace cuda_agent::widgets {

namespace {

QString clockText(double seconds) {
    const auto whole = static_cast<qint64>(seconds);
    const QChar zero(QLatin1Char('0'));
    if (whole >= 3600)
        return QStringLiteral("%1:%2:%3")
            .arg(whole / 3600)
            .arg(whole / 60 % 60, 2, 10, zero)
            .arg(whole % 60, 2, 10, zero);
    return QStringLiteral("%1:%2").arg(whole / 60).arg(whole % 60, 2, 10, zero);
}

QString costText(double cost) {
    return QLocale().toString(cost, 'f', cost != 0 && std::fabs(cost) < 0.1 ? 4 : 2);
}

double part(double used, double limit) {
    return limit > 0 ? used / limit : -1;
}

QString ofLimit(const QString &used, const QString &limit, bool limited) {
    return limited ? BudgetStrip::tr("%1 of %2").arg(used, limit) : used;
}

} // namespace

QString countText(std::int64_t count) {
    const auto size = static_cast<double>(count);
    const auto scaled = [](double value, const char *unit) {
        return QString::number(value, 'f',
                               value >= 100  ? 0
                               : value >= 10 ? 1
                                             : 2) +
               QChar(0x202f) + QLatin1String(unit);
    };
    if (size < 1e4)
        return QString::number(count);
    if (size < 1e6 - 500)
        return scaled(size / 1e3, "k");
    return size < 1e9 ? scaled(size / 1e6, "M") : scaled(size / 1e9, "G");
}

BudgetStrip::BudgetStrip(SessionDocument *document, QWidget *parent)
    : QWidget(parent), document_(document), clock_(new QTimer(this)),
      turns_(new Gauge(tr("Turns"), this)), tokens_(new Gauge(tr("Tokens"), this)),
      cost_(new Gauge(tr("Cost"), this)), time_(new Gauge(tr("Time"), this)) {
    setObjectName(QStringLiteral("budgetStrip"));
    setAccessibleName(tr("Budget"));
    auto *row = new QHBoxLayout(this);
    row->setContentsMargins(10, 3, 10, 3);
    row->setSpacing(22);
    for (Gauge *gauge : {turns_, tokens_, cost_, time_})
        row->addWidget(gauge);
    row->addStretch();
    clock_->setInterval(1000);
    connect(clock_, &QTimer::timeout, this, &BudgetStrip::refresh);
    connect(document, &SessionDocument::reset, this, [this] { fold_.clear(); });
    connect(document, &SessionDocument::cursorMoved, this, &BudgetStrip::refresh);
    refresh();
}

void BudgetStrip::setRunning(bool running) {
    if (running == clock_->isActive())
        return;
    running ? clock_->start() : clock_->stop();
    refresh();
}

void BudgetStrip::setPlanned(const agent::Budget &limits, bool model) {
    planned_ = limits;
    plannedModel_ = model;
    if (!figures().begun)
        refresh();
}

const BudgetFigures &BudgetStrip::figures() {
    return fold_.at(document_->index(), document_->cursor());
}

void BudgetStrip::refresh() {
    const BudgetFigures &now = figures();
    const agent::Budget &most = now.begun ? now.limits : planned_;
    const QLocale locale;
    turns_->set(ofLimit(QString::number(now.turns), QString::number(most.turns), most.turns > 0),
                part(now.turns, most.turns),
                most.turns > 0
                    ? tr("Turns of the policy: %1 of at most %2").arg(now.turns).arg(most.turns)
                    : tr("Turns of the policy: %1").arg(now.turns));
    tokens_->setVisible(now.model || most.tokens > 0 || (!now.begun && plannedModel_));
    const session::Usage &usage = now.usage;
    QStringList tokens{tr("Prompt: %1, of them cached: %2")
                           .arg(locale.toString(qlonglong(usage.promptTokens)),
                                locale.toString(qlonglong(usage.cachedTokens))),
                       tr("Answers: %1").arg(locale.toString(qlonglong(usage.answerTokens))),
                       tr("Together: %1, in %n answer(s)", nullptr, usage.answers)
                           .arg(locale.toString(qlonglong(now.tokens())))};
    if (most.tokens > 0)
        tokens += tr("At most: %1").arg(locale.toString(qlonglong(most.tokens)));
    tokens_->set(ofLimit(countText(now.tokens()), countText(most.tokens), most.tokens > 0),
                 part(double(now.tokens()), double(most.tokens)), tokens.join(QLatin1Char('\n')));
    cost_->setVisible(usage.cost > 0 || most.cost > 0);
    cost_->set(ofLimit(costText(usage.cost), costText(most.cost), most.cost > 0),
               part(usage.cost, most.cost), tr("By the prices in the settings of the endpoint"));
    double seconds = now.seconds;
    if (clock_->isActive() && document_->atEnd() && now.since > 0)
        seconds = std::max(seconds, QDateTime::currentMSecsSinceEpoch() / 1000.0 - now.since);
    time_->set(ofLimit(clockText(seconds), clockText(most.seconds), most.seconds > 0),
               part(seconds, most.seconds),
               tr("Of this run, from its first turn; waiting for the model: %1")
                   .arg(clockText(usage.seconds)));
}

} // namespace cuda_agent::widgets
