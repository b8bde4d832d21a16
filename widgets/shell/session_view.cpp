// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/shell/session_view.h"

#include "widgets/attempts/attempts_model.h"
#include "widgets/attempts/attempts_pane.h"
#include "widgets/base/text.h"
#include "widgets/bridge/attempts_runner.h"
#include "widgets/budget/budget_strip.h"
#include "widgets/build/build_pane.h"
#include "widgets/code/code_pane.h"
#include "widgets/endpoint/endpoint_settings.h"
#include "widgets/listing/listing_pane.h"
#include "widgets/profile/profile_pane.h"
#include "widgets/progress/progress_pane.h"
#include "widgets/quarantine/quarantine_watch.h"
#include "widgets/roofline/roofline_pane.h"
#include "widgets/shell/message_bar.h"
#include "widgets/timeline/timeline_bar.h"
#include "widgets/tools/approval_bar.h"
#include "widgets/trace/trace_pane.h"
#include "widgets/verdict/verdict_pane.h"

#include "core/knowledge/store.h"
#include "core/session/log.h"

#include <QDateTime>
#include <QDockWidget>
#include <QFileInfo>
#include <QFileSystemWatcher>
#include <QFutureWatcher>
#include <QSettings>
#include <QStandardPaths>
#include <QtConcurrent>

#include <utility>

namespace cuda_agent::widgets {

namespace fs = std::filesystem;

namespace {

constexpr int layoutVersion = 2; ///< one more when there is another dock: older layouts lack it

fs::path newSessionFolder(const task::Spec &spec) {
    const QString base = QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) +
                         QStringLiteral("/sessions/");
    const QString stamp = QDateTime::currentDateTime().toString(QStringLiteral("yyyyMMdd-HHmmss"));
    const QString name = QString::fromStdString(spec.name()) + QLatin1Char('-') + stamp;
    QString folder = base + name;
    for (int i = 2; QFileInfo::exists(folder); ++i)
        folder = base + name + QStringLiteral("-%1").arg(i);
    return fs::path(folder.toStdString());
}

QString fileOf(const fs::path &folder) {
    return QString::fromStdString((folder / "session.jsonl").string());
}

} // namespace

SessionView::SessionView(QWidget *parent) : QMainWindow(parent, Qt::Widget) {
    document_ = new SessionDocument(this);
    runner_ = new SessionRunner(this);
    setDockOptions(AnimatedDocks | AllowNestedDocks | AllowTabbedDocks);
    setDockNestingEnabled(true);
    setTabPosition(Qt::AllDockWidgetAreas, QTabWidget::North);

    auto *center = new QWidget(this);
    auto *column = new QVBoxLayout(center);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    messages_ = new MessageBar(center);
    code_ = new CodePane(document_, center);
    timeline_ = new TimelineBar(document_, center);
    approval_ = new ApprovalBar(center);
    column->addWidget(messages_);
    column->addWidget(approval_);
    column->addWidget(code_, 1);
    column->addWidget(timeline_);
    setCentralWidget(center);

    trace_ = new TracePane(document_, this);
    build_ = new BuildPane(document_, this);
    verdict_ = new VerdictPane(document_, this);
    progress_ = new ProgressPane(document_, this);
    roofline_ = new RooflinePane(document_, this);
    addPane("trace", tr("Trace"), trace_, Qt::LeftDockWidgetArea);
    addPane("verdict", tr("Verdict"), verdict_, Qt::RightDockWidgetArea);
    addPane("roofline", tr("Roofline and Profile"), roofline_, Qt::RightDockWidgetArea);
    addPane("build", tr("Build Log"), build_, Qt::BottomDockWidgetArea);
    addPane("progress", tr("Progress"), progress_, Qt::BottomDockWidgetArea);
    timeline_->hide();
    makeProfileParts();
    makeListingParts();
    makeAgentParts();
    makeAttemptsParts();
    tryDevice_ = new QAction(tr("Try and Lift…"), this);
    connect(tryDevice_, &QAction::triggered, this,
            [this] { Q_EMIT quarantineMet(tryDevice_->data().toString()); });

    connect(build_, &BuildPane::locationActivated, code_, &CodePane::goTo);
    connect(code_, &CodePane::checkRequested, this, [this] { check(true); });
    connect(code_, &CodePane::editsChanged, this, &SessionView::update);
    connect(document_, &SessionDocument::titleChanged, this, &SessionView::changed);
    connect(document_, &SessionDocument::cursorMoved, this, &SessionView::update);
    connect(runner_, &SessionRunner::eventsArrived, this, &SessionView::takeEvents);
    connect(runner_, &SessionRunner::stateChanged, this, &SessionView::update);
    connect(runner_, &SessionRunner::progress, this, [this](const QString &what) {
        busyWith_ = what;
        trace_->setPending(what);
        Q_EMIT progress(what);
    });
    connect(runner_, &SessionRunner::failed, this, &SessionView::sayFailure);
    connect(runner_, &SessionRunner::ended, this, [this] {
        busyWith_.clear();
        checking_.clear();
        profiling_ = false;
        begun_ = begun_ && (!spec_ || document_->index().size() > 0); // else choose anew
        update();
    });
    update();
}

SessionView::~SessionView() {
    runner_->disconnect(this);
    attemptsRunner_->disconnect(this);
    runner_->stop();
    attemptsRunner_->shutDown();
    runner_->shutDown();
}

QDockWidget *SessionView::addPane(const char *name, const QString &title, QWidget *pane,
                                  Qt::DockWidgetArea area) {
    auto *dock = new QDockWidget(title, this);
    dock->setObjectName(QStringLiteral("dock.%1").arg(QLatin1String(name)));
    dock->setWidget(pane);
    dock->setAccessibleName(title);
    addDockWidget(area, dock);
    return dock;
}

QList<QDockWidget *> SessionView::docks() const {
    auto all = findChildren<QDockWidget *>(QString(), Qt::FindDirectChildrenOnly);
    if (attempts_->count() == 0)
        all.removeIf([this](const QDockWidget *dock) { return dock->widget() == attemptsPane_; });
    return all;
}

QList<QAction *> SessionView::paneActions() const {
    QList<QAction *> result;
    for (QWidget *pane :
         std::initializer_list<QWidget *>{approval_, code_, trace_, build_, verdict_, progress_,
                                          roofline_, profile_, listing_, timeline_})
        result += pane->actions();
    return result;
}

// --- layout ---------------------------------------------------------------------------------

QString SessionView::layoutKey() const {
    return perspective_ == Perspective::replay ? QStringLiteral("layout/replay")
                                               : QStringLiteral("layout/optimize");
}

void SessionView::setPerspective(Perspective perspective) {
    if (layoutChosen_ && perspective == perspective_)
        return;
    if (layoutChosen_)
        saveLayout();
    perspective_ = perspective;
    timeline_->setVisible(perspective == Perspective::replay);
    layoutChosen_ = false;
    if (isVisible())
        chooseLayout();
}

void SessionView::chooseLayout() {
    layoutChosen_ = true;
    if (!restoreState(QSettings().value(layoutKey()).toByteArray(), layoutVersion))
        defaultLayout();
    showAttemptsDock(); // whatever the last session was
}

void SessionView::showEvent(QShowEvent *event) {
    QMainWindow::showEvent(event);
    // Docks share out the size that the view has then; the tabs around it give it its own only now.
    QTimer::singleShot(0, this, [this] {
        if (!layoutChosen_ && isVisible())
            chooseLayout();
    });
}

void SessionView::saveLayout() {
    if (layoutChosen_)
        QSettings().setValue(layoutKey(), saveState(layoutVersion));
}

void SessionView::restoreDefaultLayout() {
    QSettings().remove(layoutKey());
    defaultLayout();
}

void SessionView::defaultLayout() {
    const QList<QDockWidget *> all = docks();
    for (QDockWidget *dock : all) {
        dock->setFloating(false);
        removeDockWidget(dock);
    }
    const auto dock = [&](const char *name) {
        return findChild<QDockWidget *>(QStringLiteral("dock.%1").arg(QLatin1String(name)));
    };
    setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    setCorner(Qt::BottomRightCorner, Qt::RightDockWidgetArea);
    addDockWidget(Qt::LeftDockWidgetArea, dock("trace"));
    addDockWidget(Qt::RightDockWidgetArea, dock("verdict"));
    addDockWidget(Qt::RightDockWidgetArea, dock("roofline"));
    tabifyDockWidget(dock("roofline"), dock("profile"));
    tabifyDockWidget(dock("profile"), dock("listing"));
    addDockWidget(Qt::BottomDockWidgetArea, dock("build"));
    addDockWidget(Qt::BottomDockWidgetArea, dock("progress"));
    tabifyDockWidget(dock("build"), dock("progress"));
    addDockWidget(Qt::TopDockWidgetArea, dock("attempts"));
    for (QDockWidget *each : all)
        each->show();
    showAttemptsDock();
    dock("progress")->raise();
    dock("roofline")->raise();
    const int w = std::max(width(), 900);
    const int h = std::max(height(), 500);
    resizeDocks({dock("trace"), dock("verdict")}, {w * 30 / 100, w * 32 / 100}, Qt::Horizontal);
    resizeDocks({dock("verdict"), dock("roofline")}, {h * 55 / 100, h * 45 / 100}, Qt::Vertical);
    resizeDocks({dock("progress")}, {h * 30 / 100}, Qt::Vertical);
}

// --- opening ----------------------------------------------------------------------------------

void SessionView::openTask(const task::Spec &spec) {
    spec_ = spec;
    document_->setFolder(newSessionFolder(spec));
    code_->setTaskFile(spec.file);
    trace_->setPending(QString());
    update();
}

void SessionView::openFolder(const fs::path &folder) {
    document_->setFolder(folder);
    begun_ = true;
    loading_ = true;
    auto *watcher = new QFutureWatcher<Result<LoadedSession>>(this);
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher] {
        watcher->deleteLater();
        loading_ = false;
        Result<LoadedSession> result = watcher->future().takeResult();
        if (!result) {
            messages_->say(QString::fromStdString(result.error().message), MessageBar::Kind::error);
        } else {
            if (!result->problem.isEmpty())
                messages_->say(result->problem, MessageBar::Kind::information);
            document_->replace(std::move(result->index));
            takeChoices(document_->index().state().start);
            watchFolder();
        }
        Q_EMIT progress(QString());
        update();
        Q_EMIT loaded();
    });
    watcher->setFuture(QtConcurrent::run([folder] { return loadSession(folder); }));
    Q_EMIT progress(tr("reading %1").arg(QString::fromStdString(folder.string())));
    update();
}

/// What a session that lies on the disk was asked to be.
void SessionView::takeChoices(const Json &start) {
    choices_.policy = textOf(start, "policy");
    choices_.numerics = textOf(start, "numerics");
    if (const QString rules = textOf(start, "rules"); !rules.isEmpty())
        choices_.rules = rules;
    choices_.device = textOf(partOf(start, "device"), "kind");
    const Json &budget = partOf(start, "budget");
    choices_.budget = {
        std::clamp(static_cast<int>(numberOf(start, "turns", choices_.budget.turns)), 1, 1000),
        std::max(0.0, numberOf(budget, "seconds")),
        static_cast<std::int64_t>(std::clamp(numberOf(budget, "tokens"), 0.0, 1e15)),
        std::max(0.0, numberOf(budget, "cost"))};
    choices_.attempts = std::max(1, attempts_->count());
    // Each of several attempts goes on as its own log says.
    const auto drawing = policy::drawingFrom(partOf(start, "transformer"), {});
    choices_.transformer.temperature.reset();
    choices_.transformer.topP.reset();
    choices_.transformer.longestTurn.reset();
    if (choices_.policy == QLatin1String("transformer") && attempts_->count() == 0 && drawing) {
        choices_.transformer.temperature = drawing->temperature;
        choices_.transformer.topP = drawing->topP;
        choices_.transformer.longestTurn = drawing->longestTurn;
    }
}

void SessionView::watchFolder() {
    if (!watcher_) {
        watcher_ = new QFileSystemWatcher(this);
        growth_ = new QTimer(this);
        growth_->setSingleShot(true);
        growth_->setInterval(300);
        connect(watcher_, &QFileSystemWatcher::fileChanged, growth_, qOverload<>(&QTimer::start));
        connect(watcher_, &QFileSystemWatcher::directoryChanged, growth_,
                qOverload<>(&QTimer::start));
        connect(growth_, &QTimer::timeout, this, &SessionView::readGrowth);
    }
    QStringList paths{fileOf(document_->folder())};
    if (attempts_->count() > 0) {
        paths = {QString::fromStdString(attemptsFolder_.string())}; // new ones, and their outcome
        for (int attempt = 1; attempt <= attempts_->count(); ++attempt)
            paths += fileOf(attempts_->log(attempt).folder);
    }
    for (const QString &path : std::as_const(paths))
        if (QFileInfo::exists(path) && !watcher_->files().contains(path) &&
            !watcher_->directories().contains(path))
            watcher_->addPath(path);
}

/// Another program writes to this session: what it appended is read on another thread.
void SessionView::readGrowth() {
    if (busy() || loading_)
        return;
    if (reading_) {
        growth_->start();
        return;
    }
    if (attempts_->count() > 0)
        return rereadAttempts();
    reading_ = true;
    using Answer = Result<session::Contents>;
    auto *watcher = new QFutureWatcher<Answer>(this);
    connect(watcher, &QFutureWatcherBase::finished, this, [this, watcher] {
        watcher->deleteLater();
        reading_ = false;
        Answer answer = watcher->future().takeResult();
        const std::size_t known = document_->index().size();
        if (!answer || busy() || answer->events.size() <= known)
            return;
        document_->append(
            {answer->events.begin() + static_cast<std::ptrdiff_t>(known), answer->events.end()});
        update();
    });
    watcher->setFuture(
        QtConcurrent::run([folder = document_->folder()] { return session::readLog(folder); }));
}

// --- running ----------------------------------------------------------------------------------

QString SessionView::title() const {
    const bool named = !spec_ || (begun_ && document_->index().size() > 0);
    const QString name = named ? document_->title() : QString::fromStdString(spec_->name());
    return shownAttempt_ > 0 ? tr("%1, attempt %2").arg(name).arg(shownAttempt_) : name;
}

const fs::path &SessionView::wholeFolder() const {
    return attemptsFolder_.empty() ? document_->folder() : attemptsFolder_;
}

bool SessionView::busy() const {
    return runner_->busy() || attemptsRunner_->busy();
}

QString SessionView::status() const {
    const bool ended = document_->index().state().end.has_value();
    if (runner_->waiting() && runner_->state() != SessionRunner::State::stopping)
        return tr("Waiting for your permission");
    switch (runner_->state()) {
    case SessionRunner::State::preparing:
        return tr("Preparing");
    case SessionRunner::State::running:
        return tr("Running");
    case SessionRunner::State::pausing:
        return tr("Pausing after this turn");
    case SessionRunner::State::paused:
        return tr("Paused");
    case SessionRunner::State::stopping:
        return tr("Stopping");
    case SessionRunner::State::idle:
    case SessionRunner::State::ended:
        break;
    }
    if (loading_)
        return tr("Loading");
    if (!begun_)
        return tr("Not started");
    if (const QString text = attemptsStatus(); !text.isEmpty())
        return text;
    if (!ended)
        return tr("Interrupted; Run resumes it");
    return tr("Ended: %1").arg(textOf(*document_->index().state().end, "reason"));
}

void SessionView::sayFailure(const QString &text) {
    const auto quarantine = quarantineBehind(text);
    if (quarantine)
        tryDevice_->setData(QString::fromStdString(quarantine->device));
    messages_->say(quarantine ? refusedText(*quarantine) : text, MessageBar::Kind::error,
                   quarantine ? tryDevice_ : nullptr);
}

void SessionView::setChoices(const Choices &choices) {
    if (begun_)
        return;
    choices_ = choices;
    update();
}

void SessionView::setRecorded(const QString &folder) {
    choices_.recorded = folder;
    update();
}

void SessionView::setWeights(const fs::path &folder) {
    choices_.transformer.weights = folder;
    update();
}

bool SessionView::canRun() const {
    using State = SessionRunner::State;
    const State state = runner_->state();
    return !loading_ && !gettingReady_ && (spec_ || begun_) && !attemptsRunner_->busy() &&
           (state == State::idle || state == State::paused || state == State::pausing ||
            state == State::ended);
}

bool SessionView::canStep() const {
    return canRun() && (runner_->busy() || !isSeveral());
}

bool SessionView::canPause() const {
    const auto state = runner_->state();
    return state == SessionRunner::State::preparing || state == SessionRunner::State::running;
}

Result<agent::RunRequest> SessionView::request() const {
    agent::RunRequest request;
    request.session = document_->folder();
    request.device = choices_.device.toStdString();
    request.policy = choices_.policy.toStdString();
    request.budget = choices_.budget;
    request.wholeBudget = true;
    request.recorded = choices_.recorded.toStdString();
    request.transformer = choices_.transformer;
    if (QSettings().value(QStringLiteral("choices/memory"), true).toBool())
        request.memory = knowledge::defaultFile();
    if (choices_.policy == QLatin1String("endpoint")) {
        if (endpoint_)
            request.endpoint = *endpoint_;
        CUDA_AGENT_ASSIGN(set, skills::SkillSet::load(skills::standardFolders()));
        request.skills = std::move(set);
    }
    request.judge.maxAutotune = choices_.maxAutotune;
    CUDA_AGENT_ASSIGN(numerics, task::numericsFromName(choices_.numerics.toStdString()));
    request.judge.numerics = numerics;
    CUDA_AGENT_ASSIGN(rules, modules::rulesFromName(choices_.rules.toStdString()));
    request.judge.rules = rules;
    if (spec_) {
        request.spec = *spec_;
        return request;
    }
    const Json &start = document_->index().state().start;
    const QString file = textOf(partOf(start, "task"), "file");
    std::vector<std::string> sets;
    for (const auto &[name, value] : partOf(start, "overrides").items())
        if (value.is_string())
            sets.push_back(name + "=" + value.get<std::string>());
    CUDA_AGENT_ASSIGN(spec, task::openSpec(file.toStdString(), sets));
    request.spec = std::move(spec);
    return request;
}

void SessionView::start(SessionRunner::First first) {
    auto wanted = request();
    if (!wanted) {
        messages_->say(QString::fromStdString(wanted.error().message), MessageBar::Kind::error);
        return;
    }
    begun_ = true;
    messages_->hide();
    document_->toEnd();
    document_->selectTurn(0);
    runner_->start(std::move(*wanted), first);
    if (first != SessionRunner::First::rest && !putBack_.empty())
        runner_->write(std::exchange(putBack_, {})); // before the policy's next turn
    update();
}

/// Whether Run makes several attempts. What has begun as one session stays one.
bool SessionView::isSeveral() const {
    return attempts_->count() > 0 || (choices_.attempts > 1 && document_->index().size() == 0);
}

/// Whether Run would have nothing to go on with.
bool SessionView::isComplete() const {
    const auto &end = document_->index().state().end;
    return attempts_->count() > 0 ? attempts_->outcome().is_object()
                                  : end && truthOf(*end, "complete");
}

void SessionView::wantNewSession(bool onlyStep) {
    const auto wanted = request();
    if (wanted)
        Q_EMIT newSessionWanted(wanted->spec, choices_, onlyStep);
    else
        messages_->say(QString::fromStdString(wanted.error().message), MessageBar::Kind::error);
}

void SessionView::begin(bool onlyStep) {
    if (isComplete())
        wantNewSession(onlyStep);
    else if (isSeveral())
        beginAttempts();
    else
        start(onlyStep ? SessionRunner::First::step : SessionRunner::First::run);
}

void SessionView::run() {
    if (!canRun())
        return;
    if (runner_->busy())
        runner_->resume();
    else
        whenReady([this] { begin(false); });
}

void SessionView::step() {
    if (!canStep())
        return;
    if (runner_->busy())
        runner_->step();
    else
        whenReady([this] { begin(true); });
}

void SessionView::pause() {
    runner_->pause();
}

void SessionView::stop() {
    runner_->stop();
    attemptsRunner_->stop();
}

void SessionView::update() {
    using State = SessionRunner::State;
    const State state = runner_->state();
    code_->setEditable(!loading_ && document_->atEnd() && checking_.empty() &&
                       !attemptsRunner_->busy() &&
                       (state == State::idle || state == State::paused || state == State::ended));
    budget_->setRunning(busy());
    showReader();
    showProfiling();
    Q_EMIT changed();
}

} // namespace cuda_agent::widgets
