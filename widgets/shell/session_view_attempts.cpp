// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

/// Several attempts at a task in one tab: each is a session of its own, the panes show one of them.
#include "widgets/shell/session_view.h"

#include "widgets/attempts/attempts_model.h"
#include "widgets/attempts/attempts_pane.h"
#include "widgets/bridge/attempts_runner.h"
#include "widgets/shell/message_bar.h"
#include "widgets/trace/trace_pane.h"

#include <QDockWidget>
#include <QFutureWatcher>
#include <QtConcurrent>

#include <algorithm>
#include <ranges>

namespace cuda_agent::widgets {

namespace fs = std::filesystem;

void SessionView::makeAttemptsParts() {
    attemptsRunner_ = new AttemptsRunner(this);
    attempts_ = new AttemptsModel(this);
    attemptsPane_ = new AttemptsPane(attempts_, this);
    addPane("attempts", tr("Attempts"), attemptsPane_, Qt::TopDockWidgetArea)->hide();
    connect(attemptsPane_, &AttemptsPane::attemptChosen, this, &SessionView::showAttempt);
    connect(attemptsRunner_, &AttemptsRunner::stateChanged, this, [this] {
        attempts_->setRunning(attemptsRunner_->busy());
        update();
    });
    connect(attemptsRunner_, &AttemptsRunner::placed, this, [this](int atOnce, int gpus) {
        const QString place = gpus > 0 ? tr("%n GPU(s)", nullptr, gpus) : tr("the CPU");
        attemptsPane_->setStatus(tr("%n attempt(s), each with a budget of its own; %1 at once on "
                                    "%2.",
                                    nullptr, attempts_->count())
                                     .arg(atOnce)
                                     .arg(place));
    });
    connect(attemptsRunner_, &AttemptsRunner::eventsArrived, this,
            [this](int attempt, const std::vector<session::Event> &events) {
                attempts_->append(attempt, events);
                if (attempt == shownAttempt_)
                    takeEvents(events);
                else
                    update();
            });
    connect(attemptsRunner_, &AttemptsRunner::progress, this,
            [this](int attempt, const QString &what) {
                attempts_->setDoing(attempt, what);
                if (attempt == shownAttempt_)
                    trace_->setPending(attempts_->doing(attempt));
                if (attempt == 0)
                    busyWith_ = what;
                if (attempt == 0 || attempt == shownAttempt_)
                    Q_EMIT progress(what);
                update();
            });
    const auto over = [this] {
        busyWith_.clear();
        trace_->setPending(QString());
        Q_EMIT progress(QString());
        watchFolder();
        update();
    };
    connect(attemptsRunner_, &AttemptsRunner::failed, this, [this, over](const QString &text) {
        sayFailure(text);
        const bool any =
            std::ranges::any_of(std::views::iota(1, attempts_->count() + 1), [this](int attempt) {
                return attempts_->log(attempt).index.size() > 0;
            });
        if (spec_ && !any) { // choose anew
            begun_ = false;
            setAttempts({});
        }
        over();
    });
    connect(attemptsRunner_, &AttemptsRunner::finished, this,
            [this, over](const agent::BestOf &outcome) {
                Json json = agent::toJson(outcome);
                json["verdict"] = outcome.verdict;
                attempts_->setOutcome(json);
                if (outcome.best > 0) {
                    showAttempt(outcome.best);
                    document_->selectTurn(document_->index().state().bestTurn);
                }
                over();
            });
}

/// What keeps several attempts at once from being made; empty when nothing does.
QString SessionView::attemptsProblem() const {
    const bool model = choices_.policy == QLatin1String("endpoint") ||
                       choices_.policy == QLatin1String("transformer");
    if (!model || runner_->asking().empty())
        return {};
    QStringList tools;
    for (const std::string &tool : runner_->asking())
        tools += QString::fromStdString(tool);
    return tr("Several attempts at once cannot wait for your permission, and these tools ask "
              "first: %1. Choose one attempt, or let no tool ask (Session, Tools That Ask First).")
        .arg(tools.join(QStringLiteral(", ")));
}

/// Begins the attempts, or goes on with those that were stopped.
void SessionView::beginAttempts() {
    if (const QString problem = attemptsProblem(); !problem.isEmpty())
        return messages_->say(problem, MessageBar::Kind::error);
    auto wanted = request();
    if (!wanted) {
        messages_->say(QString::fromStdString(wanted.error().message), MessageBar::Kind::error);
        return;
    }
    if (attempts_->count() == 0) {
        attemptsFolder_ = document_->folder();
        attempts_->clear(attemptsFolder_, choices_.attempts);
        showAttempt(1);
        showAttemptsDock();
    }
    begun_ = true;
    messages_->hide();
    document_->toEnd();
    document_->selectTurn(0);
    wanted->session = attemptsFolder_;
    attemptsRunner_->start({std::move(*wanted), attempts_->count(), choices_.atOnce});
    update();
}

void SessionView::showAttempt(int attempt) {
    if (attempt < 1 || attempt > attempts_->count() || runner_->busy())
        return attemptsPane_->setShown(shownAttempt_);
    shownAttempt_ = attempt;
    const AttemptLog &log = attempts_->log(attempt);
    document_->setFolder(log.folder);
    document_->replace(log.index);
    trace_->setPending(attempts_->doing(attempt));
    attemptsPane_->setShown(attempt);
    update();
}

/// Only where there are attempts.
void SessionView::showAttemptsDock() {
    auto *dock = findChild<QDockWidget *>(QStringLiteral("dock.attempts"));
    const bool any = attempts_->count() > 0;
    dock->setVisible(any);
    if (!any)
        return;
    const int rows = std::clamp(attempts_->count(), 2, 5);
    resizeDocks({dock}, {fontMetrics().height() * (rows + 6)}, Qt::Vertical);
}

QString SessionView::attemptsStatus() const {
    if (attempts_->count() == 0)
        return {};
    const int count = attempts_->count();
    if (attemptsRunner_->state() == AttemptsRunner::State::stopping)
        return tr("Stopping");
    if (attemptsRunner_->busy())
        return busyWith_.isEmpty()
                   ? tr("Running; %1 of %2 attempts are over").arg(attempts_->over()).arg(count)
                   : tr("Comparing the attempts");
    const Json &outcome = attempts_->outcome();
    if (!outcome.is_object())
        return tr("Interrupted; Run resumes it");
    const int best = winnerOf(outcome);
    return best > 0 ? tr("Ended: attempt %1 is the best").arg(best)
                    : tr("Ended without a correct candidate");
}

// --- from the disk ----------------------------------------------------------------------------

/// None: a session of its own again.
void SessionView::setAttempts(LoadedAttempts loaded) {
    if (loaded.attempts.empty()) {
        document_->setFolder(std::exchange(attemptsFolder_, {}));
        document_->replace({});
        shownAttempt_ = 0;
        attemptsPane_->setStatus(QString());
    }
    attempts_->set(std::move(loaded));
    showAttemptsDock();
}

void SessionView::openAttempts(const fs::path &folder) {
    attemptsFolder_ = folder;
    begun_ = true;
    loading_ = true;
    using Answer = Result<LoadedAttempts>;
    auto *watcher = new QFutureWatcher<Answer>(this);
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher] {
        watcher->deleteLater();
        loading_ = false;
        Answer answer = watcher->future().takeResult();
        if (!answer) {
            messages_->say(QString::fromStdString(answer.error().message), MessageBar::Kind::error);
        } else {
            if (!answer->problem.isEmpty())
                messages_->say(answer->problem, MessageBar::Kind::information);
            const int best = winnerOf(answer->outcome);
            setAttempts(std::move(*answer));
            showAttempt(std::clamp(best, 1, attempts_->count()));
            takeChoices(document_->index().state().start);
            watchFolder();
        }
        Q_EMIT progress(QString());
        update();
        Q_EMIT loaded();
    });
    watcher->setFuture(QtConcurrent::run([folder] { return loadAttempts(folder); }));
    Q_EMIT progress(tr("reading %1").arg(QString::fromStdString(folder.string())));
    update();
}

/// Another program works on them: all are read again, what is shown grows.
void SessionView::rereadAttempts() {
    reading_ = true;
    using Answer = Result<LoadedAttempts>;
    auto *watcher = new QFutureWatcher<Answer>(this);
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher] {
        watcher->deleteLater();
        reading_ = false;
        Answer answer = watcher->future().takeResult();
        if (!answer || busy() || static_cast<int>(answer->attempts.size()) < attempts_->count())
            return;
        for (std::size_t i = 0; i < answer->attempts.size(); ++i) {
            const int attempt = static_cast<int>(i) + 1;
            const auto &events = answer->attempts[i].index.events();
            attempts_->append(attempt, events);
            if (attempt == shownAttempt_ && events.size() > document_->index().size())
                document_->append(
                    {events.begin() + static_cast<std::ptrdiff_t>(document_->index().size()),
                     events.end()});
        }
        attempts_->setOutcome(answer->outcome);
        watchFolder(); // those that have begun meanwhile too
        update();
    });
    watcher->setFuture(
        QtConcurrent::run([folder = attemptsFolder_] { return loadAttempts(folder); }));
}

} // namespace cuda_agent::widgets
