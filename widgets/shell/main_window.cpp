// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/shell/main_window.h"

#include "core/learn/run/metrics_store.h"
#include "widgets/attempts/attempts_data.h"
#include "widgets/base/text.h"
#include "widgets/base/theme.h"
#include "widgets/bridge/attempts_runner.h"
#include "widgets/code/code_pane.h"
#include "widgets/quarantine/quarantine_watch.h"
#include "widgets/runs/train_page.h"
#include "widgets/shell/command_palette.h"
#include "widgets/shell/message_bar.h"
#include "widgets/shell/session_view.h"
#include "widgets/shell/welcome_page.h"
#include "widgets/skills/skills_dialog.h"
#include "widgets/tasks/data_page.h"

#include <QActionGroup>
#include <QCloseEvent>
#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMessageBox>
#include <QMimeData>
#include <QProgressBar>
#include <QSpinBox>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabWidget>
#include <QToolButton>
#include <QUrl>

namespace cuda_agent::widgets {

namespace {

constexpr const char *perspectiveNames[] = {"optimize", "replay", "data", "train"};
constexpr int mostRecent = 12;

} // namespace

const char *MainWindow::perspectiveName(Perspective perspective) {
    return perspectiveNames[static_cast<int>(perspective)];
}

bool MainWindow::perspectiveFromName(const QString &name, Perspective &perspective) {
    for (int i = 0; i < 4; ++i) {
        if (name == QLatin1String(perspectiveNames[i])) {
            perspective = static_cast<Perspective>(i);
            return true;
        }
    }
    return false;
}

MainWindow::MainWindow(QWidget *parent)
    : QMainWindow(parent), quarantine_(new QuarantineWatch(this)) {
    setObjectName(QStringLiteral("mainWindow"));
    setWindowTitle(tr("CUDA Agent Workbench"));
    setAcceptDrops(true);
    Theme::instance();

    pages_ = new QStackedWidget(this);
    sessionsPage_ = new QStackedWidget(pages_);
    welcome_ = new WelcomePage(sessionsPage_);
    tabs_ = new QTabWidget(sessionsPage_);
    tabs_->setDocumentMode(true);
    tabs_->setTabsClosable(true);
    tabs_->setMovable(true);
    tabs_->setAccessibleName(tr("Sessions"));
    sessionsPage_->addWidget(welcome_);
    sessionsPage_->addWidget(tabs_);
    data_ = new DataPage(pages_);
    train_ = new TrainPage(pages_);
    pages_->addWidget(sessionsPage_);
    pages_->addWidget(data_);
    pages_->addWidget(train_);
    auto *center = new QWidget(this);
    auto *column = new QVBoxLayout(center);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    warning_ = new MessageBar(center);
    warning_->setObjectName(QStringLiteral("quarantine.warning"));
    column->addWidget(warning_);
    column->addWidget(pages_, 1);
    setCentralWidget(center);
    palette_ = new CommandPalette(this);

    makeActions();
    makeMenus();
    makeToolBar();
    makeStatusBar();
    makeQuarantineParts();
    // Buttons show no access keys: a translation's "(&X)" stays in the menus.
    for (QAction *action : findChildren<QAction *>()) {
        const QString name = plainName(action->text());
        if (!action->text().contains(QLatin1String("(&")))
            continue;
        if (action->toolTip() == QString(action->text()).remove(QLatin1Char('&')))
            action->setToolTip(name);
        action->setIconText(name);
    }

    connect(tabs_, &QTabWidget::currentChanged, this, &MainWindow::updateActions);
    connect(tabs_, &QTabWidget::tabCloseRequested, this, &MainWindow::closeSession);
    connect(welcome_, &WelcomePage::openWanted, this, &MainWindow::open);
    connect(welcome_, &WelcomePage::askTask, this, &MainWindow::askTask);
    connect(welcome_, &WelcomePage::askSession, this, &MainWindow::askSession);
    connect(data_, &DataPage::problem, this, &MainWindow::refuse);
    connect(train_, &TrainPage::problem, this, &MainWindow::refuse);
    connect(train_, &TrainPage::openSessionRequested, this, [this](const QString &folder) {
        if (openSession(folder))
            setPerspective(Perspective::replay);
    });
    connect(data_, &DataPage::openTaskRequested, this, [this](const QString &file) {
        if (openTask(file))
            setPerspective(Perspective::optimize);
    });

    resize(1280, 800);
    restoreGeometry(QSettings().value(QStringLiteral("window/geometry")).toByteArray());
    setPerspective(Perspective::optimize);
    updateActions();
}

MainWindow::~MainWindow() = default;

QList<QAction *> MainWindow::commands() const {
    QList<QAction *> result = actions();
    if (perspective_ == Perspective::data)
        result += data_->actions();
    else if (perspective_ == Perspective::train)
        result += train_->actions();
    else if (const SessionView *view = current())
        result += view->paneActions();
    return result;
}

// --- state ------------------------------------------------------------------------------------

SessionView *MainWindow::current() const {
    return static_cast<SessionView *>(tabs_->currentWidget());
}

int MainWindow::sessions() const {
    return tabs_->count();
}

void MainWindow::setPerspective(Perspective perspective) {
    perspective_ = perspective;
    perspectives_->actions().at(static_cast<int>(perspective))->setChecked(true);
    switch (perspective) {
    case Perspective::data:
        pages_->setCurrentWidget(data_);
        break;
    case Perspective::train:
        pages_->setCurrentWidget(train_);
        break;
    case Perspective::optimize:
    case Perspective::replay:
        pages_->setCurrentWidget(sessionsPage_);
        for (int i = 0; i < tabs_->count(); ++i)
            static_cast<SessionView *>(tabs_->widget(i))
                ->setPerspective(perspective == Perspective::replay
                                     ? SessionView::Perspective::replay
                                     : SessionView::Perspective::optimize);
        break;
    }
    updateActions();
}

void MainWindow::updateActions() {
    SessionView *view = current();
    const bool sessionsShown = pages_->currentWidget() == sessionsPage_;
    sessionsPage_->setCurrentWidget(tabs_->count() > 0 ? static_cast<QWidget *>(tabs_)
                                                       : static_cast<QWidget *>(welcome_));
    const bool here = view && sessionsShown;
    run_->setEnabled(here && view->canRun());
    step_->setEnabled(here && view->canStep());
    pause_->setEnabled(here && view->canPause());
    stop_->setEnabled(view && view->canStop());
    check_->setEnabled(here && view->canCheck());
    checkQuick_->setEnabled(check_->isEnabled());
    closeTab_->setEnabled(here);
    defaultLayout_->setEnabled(here);
    const bool busy = view && (view->busy() || view->loading()) &&
                      view->runner().state() != SessionRunner::State::paused;
    busy_->setVisible(busy);
    stopButton_->setVisible(view && view->canStop());
    state_->setText(here ? view->status() : QString());
    best_->clear();
    if (here) {
        const auto best = view->document().index().best(view->document().cursor());
        best_->setText(best.turn > 0
                           ? tr("Best: turn %1, %2").arg(best.turn).arg(timeText(best.seconds))
                           : QString());
        setWindowTitle(tr("%1 - CUDA Agent Workbench").arg(view->title()));
    } else {
        setWindowTitle(tr("CUDA Agent Workbench"));
    }
    for (int i = 0; i < tabs_->count(); ++i) {
        auto *each = static_cast<SessionView *>(tabs_->widget(i));
        const QString mark = each->busy() ? QStringLiteral("\u25b8 ") : QString();
        tabs_->setTabText(i, mark + each->title());
        tabs_->setTabToolTip(i, QString::fromStdString(each->wholeFolder().string()));
    }
    showChoices();
}

void MainWindow::showChoices() {
    const SessionView *view = current();
    const bool open = view && !view->begun();
    showingChoices_ = true;
    const Choices choices = view ? view->choices() : Choices{};
    const auto show = [&](QComboBox *box, const QString &value) {
        int at = box->findData(value);
        if (at < 0 && !value.isEmpty()) { // a foreign session's
            box->addItem(value, value);
            at = box->count() - 1;
        }
        box->setCurrentIndex(at);
        box->setEnabled(open);
    };
    show(device_, choices.device);
    show(policy_, choices.policy);
    show(numerics_, choices.numerics);
    showPolicySettings(choices, open);
    turns_->setValue(choices.budget.turns);
    turns_->setEnabled(open);
    attempts_->setValue(choices.attempts);
    attempts_->setEnabled(open);
    maxAutotune_->setChecked(choices.maxAutotune);
    QStringList chosen;
    for (QAction *action : rules_->actions()) {
        action->setChecked(action->data().toString() == choices.rules);
        if (action->isChecked())
            chosen += action->text();
    }
    if (choices.maxAutotune)
        chosen += maxAutotune_->text();
    for (QAction *action : options_->actions())
        action->setEnabled(open);
    optionsButton_->setToolTip(plainName(chosen.join(QLatin1Char('\n'))));
    showingChoices_ = false;
}

void MainWindow::takeChoices() {
    SessionView *view = current();
    if (showingChoices_ || !view || view->begun())
        return;
    Choices choices = view->choices();
    const QString policyBefore = choices.policy;
    choices.device = device_->currentData().toString();
    choices.policy = policy_->currentData().toString();
    choices.numerics = numerics_->currentData().toString();
    choices.budget.turns = turns_->value();
    choices.attempts = attempts_->value();
    choices.maxAutotune = maxAutotune_->isChecked();
    if (const QAction *rules = rules_->checkedAction())
        choices.rules = rules->data().toString();
    if (choices.policy != policyBefore)
        policyChosen(choices);
    rememberChoices(choices);
    view->setChoices(choices);
}

// --- opening and closing ----------------------------------------------------------------------

SessionView *MainWindow::addView() {
    auto *view = new SessionView;
    view->setChoices(rememberedChoices());
    view->resize(tabs_->size());
    view->setPerspective(perspective_ == Perspective::replay ? SessionView::Perspective::replay
                                                             : SessionView::Perspective::optimize);
    connect(view, &SessionView::changed, this, &MainWindow::updateActions);
    connect(view, &SessionView::progress, this, [this, view](const QString &what) {
        if (view == current())
            statusBar()->showMessage(what);
    });
    connect(&view->runner(), &SessionRunner::stateChanged, this, [view] {
        if (view->runner().state() == SessionRunner::State::preparing)
            remember(QStringLiteral("recent/sessions"),
                     QString::fromStdString(view->document().folder().string()));
    });
    connect(&view->attemptsRunner(), &AttemptsRunner::stateChanged, this, [view] {
        if (view->attemptsRunner().state() == AttemptsRunner::State::running)
            remember(QStringLiteral("recent/sessions"),
                     QString::fromStdString(view->wholeFolder().string()));
    });
    connect(&view->attemptsRunner(), &AttemptsRunner::failed, quarantine_,
            &QuarantineWatch::refresh);
    connect(view, &SessionView::endpointSettingsWanted, this, &MainWindow::openEndpointSettings);
    connect(&view->runner(), &SessionRunner::failed, quarantine_, &QuarantineWatch::refresh);
    connect(view, &SessionView::quarantineMet, this, &MainWindow::openQuarantine);
    connect(view, &SessionView::recordedWanted, this, [this, view] { askRecorded(view); });
    connect(view, &SessionView::weightsWanted, this, &MainWindow::openTransformer);
    connect(view, &SessionView::newSessionWanted, this,
            [this](const task::Spec &spec, const Choices &wanted, bool onlyStep) {
                SessionView *next = addView();
                next->openTask(spec);
                next->setChoices(wanted);
                updateActions();
                onlyStep ? next->step() : next->run();
            });
    tabs_->setCurrentIndex(tabs_->addTab(view, QString()));
    sessionsPage_->setCurrentWidget(tabs_);
    return view;
}

SessionView *MainWindow::openTask(const QString &file) {
    const auto spec = task::openSpec(file.toStdString(), {});
    if (!spec) {
        refuse(QString::fromStdString(spec.error().message));
        return nullptr;
    }
    remember(QStringLiteral("recent/tasks"), QString::fromStdString(spec->file.string()));
    SessionView *view = addView();
    view->openTask(*spec);
    if (perspective_ != Perspective::replay)
        setPerspective(Perspective::optimize);
    updateActions();
    return view;
}

SessionView *MainWindow::openSession(const QString &folder) {
    QFileInfo info(folder);
    if (info.isFile())
        info = QFileInfo(info.absolutePath());
    const QString path = info.absoluteFilePath();
    const bool several = holdsAttempts(path.toStdString());
    if (!several && !QFileInfo::exists(path + QStringLiteral("/session.jsonl"))) {
        refuse(tr("There is no session in %1: a session folder holds a file session.jsonl.")
                   .arg(QDir::toNativeSeparators(path)));
        return nullptr;
    }
    for (int i = 0; i < tabs_->count(); ++i) {
        auto *view = static_cast<SessionView *>(tabs_->widget(i));
        if (QString::fromStdString(view->wholeFolder().string()) == path) {
            tabs_->setCurrentIndex(i);
            return view;
        }
    }
    remember(QStringLiteral("recent/sessions"), path);
    SessionView *view = addView();
    if (several)
        view->openAttempts(path.toStdString());
    else
        view->openFolder(path.toStdString());
    if (perspective_ != Perspective::replay)
        setPerspective(Perspective::optimize);
    updateActions();
    return view;
}

bool MainWindow::open(const QString &path) {
    const QFileInfo info(path);
    if (info.isDir() && !QFileInfo::exists(path + QStringLiteral("/session.jsonl")) &&
        !holdsAttempts(path.toStdString())) {
        if (perspective_ == Perspective::train || learn::isRunFolder(path.toStdString())) {
            train_->addFolder(path);
            setPerspective(Perspective::train);
            return true;
        }
        data_->openSet(path);
        setPerspective(Perspective::data);
        return true;
    }
    if (info.isDir() || info.fileName() == QLatin1String("session.jsonl"))
        return openSession(path) != nullptr;
    if (looksLikeTaskSet(path)) {
        data_->openSet(path);
        setPerspective(Perspective::data);
        return true;
    }
    return openTask(path) != nullptr;
}

void MainWindow::askTask() {
    const QString file = QFileDialog::getOpenFileName(
        this, tr("Open Task"), QSettings().value(QStringLiteral("folders/tasks")).toString(),
        tr("PyTorch tasks (*.py)"));
    if (file.isEmpty())
        return;
    QSettings().setValue(QStringLiteral("folders/tasks"), QFileInfo(file).absolutePath());
    openTask(file);
}

void MainWindow::askSession() {
    const QString folder = QFileDialog::getExistingDirectory(
        this, tr("Open Session Folder"),
        QSettings().value(QStringLiteral("folders/sessions")).toString());
    if (folder.isEmpty())
        return;
    QSettings().setValue(QStringLiteral("folders/sessions"), QFileInfo(folder).absolutePath());
    openSession(folder);
}

void MainWindow::remember(const QString &key, const QString &path) {
    QSettings settings;
    QStringList paths = settings.value(key).toStringList();
    paths.removeAll(path);
    paths.prepend(path);
    while (paths.size() > mostRecent)
        paths.removeLast();
    settings.setValue(key, paths);
}

void MainWindow::fillRecent(QMenu *menu, const QString &key, bool) {
    menu->clear();
    for (const QString &path : recentPaths(key))
        menu->addAction(QDir::toNativeSeparators(path), this, [this, path] { open(path); });
    if (menu->isEmpty())
        menu->addAction(tr("None yet"))->setEnabled(false);
}

void MainWindow::fillSamples(QMenu *menu) {
    menu->clear();
    for (const QString &path : sampleTasks())
        menu->addAction(QFileInfo(path).completeBaseName(), this, [this, path] { open(path); });
    if (menu->isEmpty())
        menu->addAction(tr("None are installed"))->setEnabled(false);
}

void MainWindow::refuse(const QString &text) {
    auto *box = new QMessageBox(QMessageBox::Warning, windowTitle(), text, QMessageBox::Ok, this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->open();
}

void MainWindow::closeSession(int index) {
    auto *view = static_cast<SessionView *>(tabs_->widget(index));
    if (!view)
        return;
    view->saveLayout();
    QApplication::setOverrideCursor(Qt::BusyCursor);
    view->stop();
    tabs_->removeTab(index);
    delete view;
    QApplication::restoreOverrideCursor();
    welcome_->refresh();
    updateActions();
}

void MainWindow::closeEvent(QCloseEvent *event) {
    QSettings().setValue(QStringLiteral("window/geometry"), saveGeometry());
    if (skillsDialog_)
        skillsDialog_->saveAll(); // nobody is left to ask
    // All are told to stop before one is waited for.
    data_->stopSynthesis();
    for (int i = 0; i < tabs_->count(); ++i)
        static_cast<SessionView *>(tabs_->widget(i))->stop();
    while (tabs_->count() > 0)
        closeSession(tabs_->count() - 1);
    QApplication::setOverrideCursor(Qt::BusyCursor);
    data_->finishSynthesis();
    QApplication::restoreOverrideCursor();
    event->accept();
}

void MainWindow::dragEnterEvent(QDragEnterEvent *event) {
    if (event->mimeData()->hasUrls())
        event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent *event) {
    for (const QUrl &url : event->mimeData()->urls())
        if (url.isLocalFile())
            open(url.toLocalFile());
    event->acceptProposedAction();
}

// --- looks ------------------------------------------------------------------------------------

void MainWindow::changeFontSize(int by) {
    Theme::instance().setFontSize(QApplication::font().pointSize() + by);
}

void MainWindow::setPresentation(bool on) {
    Theme &theme = Theme::instance();
    if (on) {
        sizeBeforePresentation_ = theme.fontSize();
        theme.setFontSize(QApplication::font().pointSize() * 3 / 2);
        showFullScreen();
    } else {
        theme.setFontSize(sizeBeforePresentation_);
        showNormal();
    }
}

void MainWindow::changeEvent(QEvent *event) {
    QMainWindow::changeEvent(event);
    if (event->type() == QEvent::WindowStateChange && presentation_ && !isFullScreen())
        presentation_->setChecked(false);
}

} // namespace cuda_agent::widgets
