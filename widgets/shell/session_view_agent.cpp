// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

/// What a session has for agents that are language models: the endpoint's key before it starts,
/// messages, permissions, the budget.
#include "widgets/shell/session_view.h"

#include "widgets/bridge/attempts_runner.h"
#include "widgets/budget/budget_strip.h"
#include "widgets/endpoint/endpoint_settings.h"
#include "widgets/shell/message_bar.h"
#include "widgets/tools/approval_bar.h"
#include "widgets/tools/permissions_model.h"
#include "widgets/trace/message_line.h"
#include "widgets/trace/trace_pane.h"
#include "widgets/transformer/transformer_form.h"

#include <QFutureWatcher>
#include <QToolBar>
#include <QtConcurrent>

namespace cuda_agent::widgets {

void SessionView::makeAgentParts() {
    budget_ = new BudgetStrip(document_, this);
    auto *bar = new QToolBar(tr("Budget"), this);
    bar->setObjectName(QStringLiteral("toolbar.budget"));
    bar->setMovable(false);
    bar->addWidget(budget_);
    addToolBar(Qt::BottomToolBarArea, bar);

    ToolPermissions &permissions = ToolPermissions::instance();
    const auto takePermissions = [this] {
        runner_->setAsking(ToolPermissions::instance().asking());
    };
    takePermissions();
    connect(&permissions, &ToolPermissions::changed, this, takePermissions);
    connect(runner_, &SessionRunner::waitingChanged, this, [this] {
        const auto &call = runner_->waiting();
        approval_->setCall(call);
        if (call)
            trace_->setPending(
                tr("%1 waits for your permission").arg(QString::fromStdString(call->tool)));
        update();
    });
    connect(approval_, &ApprovalBar::allowed, this,
            [this](const session::ToolCall &call) { runner_->answer(call.id, {}); });
    connect(approval_, &ApprovalBar::allAllowed, this,
            [this](const session::ToolCall &call) { allowAll(call.tool); });
    connect(approval_, &ApprovalBar::refused, this,
            [this](const session::ToolCall &call, const QString &reason) {
                // The agent reads this; its language is English, whatever the window's is.
                runner_->answer(call.id, reason.isEmpty() ? "The engineer refused this call."
                                                          : "The engineer refused this call: " +
                                                                reason.toStdString());
            });
    connect(trace_, &TracePane::messageWritten, this, &SessionView::tellAgent);
}

/// In this session, until it is closed or the settings change.
void SessionView::allowAll(const std::string &tool) {
    std::set<std::string> asking = runner_->asking();
    asking.erase(tool);
    runner_->setAsking(std::move(asking)); // lets the call that waits go on too
}

void SessionView::tellAgent(const QString &message) {
    runner_->tell(message);
    document_->toEnd();
}

/// Whether somebody reads messages, and when.
void SessionView::showReader() {
    using State = SessionRunner::State;
    const bool model = choices_.policy == QLatin1String("endpoint");
    budget_->setPlanned(choices_.budget, model || choices_.policy == QLatin1String("transformer"));
    MessageLine &line = trace_->message();
    line.setVisible(model);
    const State state = runner_->state();
    const bool reads = runner_->busy() && state != State::stopping;
    if (attemptsRunner_->busy())
        return line.setReader(false, tr("Several attempts at once read no messages"));
    line.setReader(reads, !reads ? tr("The agent reads messages while its session runs")
                          : state == State::paused
                              ? tr("Message to the agent, read when you run on")
                              : tr("Message to the agent, read before its next turn"));
}

/// Calls `then` once everything is there that the policy needs to start; says what is missing.
void SessionView::whenReady(const std::function<void()> &then) {
    if (choices_.policy == QLatin1String("replay") && choices_.recorded.isEmpty()) {
        Q_EMIT recordedWanted();
        return;
    }
    if (choices_.policy == QLatin1String("transformer"))
        return whenWeightsFound(then);
    if (choices_.policy != QLatin1String("endpoint"))
        return then();
    gettingReady_ = true;
    Q_EMIT progress(tr("looking for the key of the endpoint"));
    update();
    EndpointSettings::instance().resolve(
        this, [this, then](const Result<policy::EndpointConfig> &config) {
            gettingReady_ = false;
            Q_EMIT progress(QString());
            const Result<void> usable = config ? policy::checkEndpoint(*config)
                                               : Result<void>(tl::unexpected(config.error()));
            if (usable) {
                endpoint_ = *config;
                then();
                endpoint_.reset(); // the key is not kept longer than it is needed
            }
            update();
            if (!usable) {
                const QString problem = QString::fromStdString(usable.error().message);
                messages_->say(problem, MessageBar::Kind::error);
                Q_EMIT endpointSettingsWanted(problem);
            }
        });
}

void SessionView::whenWeightsFound(const std::function<void()> &then) {
    gettingReady_ = true;
    update();
    const bool named = !choices_.transformer.weights.empty();
    const auto folder = named ? choices_.transformer.weights : policy::defaultWeights();
    using Answer = Result<policy::Weights>;
    auto *watcher = new QFutureWatcher<Answer>(this);
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher, then, folder, named] {
        watcher->deleteLater();
        gettingReady_ = false;
        const QString problem = weightsProblem(watcher->future().takeResult(), folder, named);
        if (problem.isEmpty())
            then();
        update();
        if (problem.isEmpty())
            return;
        messages_->say(problem, MessageBar::Kind::error);
        Q_EMIT weightsWanted(problem);
    });
    watcher->setFuture(QtConcurrent::run([folder] { return policy::findWeights(folder); }));
}

} // namespace cuda_agent::widgets
