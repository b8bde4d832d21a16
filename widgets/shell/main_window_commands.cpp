// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

/// The window's commands, menus and bars.
#include "widgets/shell/main_window.h"

#include "widgets/base/theme.h"
#include "widgets/shell/command_palette.h"
#include "widgets/shell/session_view.h"

#include "core/agent/best_of.h"

#include <QActionGroup>
#include <QComboBox>
#include <QDesktopServices>
#include <QDockWidget>
#include <QInputDialog>
#include <QMenuBar>
#include <QMessageBox>
#include <QProgressBar>
#include <QSpinBox>
#include <QStatusBar>
#include <QTabWidget>
#include <QToolBar>
#include <QToolButton>
#include <QUrl>

namespace cuda_agent::widgets {

namespace {

/// Simple line icons drawn in the text colour, sharp at every size and in both themes.
QIcon drawnIcon(const QString &name) {
    QIcon icon(QStringLiteral(":/icons/%1.svg").arg(name));
    if (icon.isNull())
        return {};
    const QColor color = Theme::instance().colors().text;
    QIcon result;
    for (const int size : {16, 24, 32, 48}) {
        QPixmap pixmap = icon.pixmap(size, size);
        QPixmap pale = pixmap;
        for (auto [target, alpha] : {std::pair{&pixmap, 255}, std::pair{&pale, 90}}) {
            QPainter painter(target);
            painter.setCompositionMode(QPainter::CompositionMode_SourceIn);
            QColor with = color;
            with.setAlpha(alpha);
            painter.fillRect(target->rect(), with);
        }
        result.addPixmap(pixmap, QIcon::Normal);
        result.addPixmap(pale, QIcon::Disabled);
    }
    return result;
}

} // namespace

QAction *MainWindow::command(const char *name, const QString &text, const QKeySequence &shortcut,
                             const std::function<void()> &run) {
    auto *action = new QAction(text, this);
    action->setObjectName(QLatin1String(name));
    action->setShortcut(shortcut);
    if (!shortcut.isEmpty())
        action->setToolTip(
            tr("%1 (%2)").arg(plainName(text), shortcut.toString(QKeySequence::NativeText)));
    connect(action, &QAction::triggered, this, run);
    addAction(action);
    return action;
}

void MainWindow::makeActions() {
    const auto session = [this](void (SessionView::*what)()) {
        return [this, what] {
            if (SessionView *view = current())
                (view->*what)();
        };
    };
    run_ = command("session.run", tr("&Run"), Qt::Key_F5, session(&SessionView::run));
    pause_ = command("session.pause", tr("&Pause"), Qt::Key_F6, session(&SessionView::pause));
    step_ = command("session.step", tr("S&tep"), Qt::Key_F10, session(&SessionView::step));
    stop_ =
        command("session.stop", tr("&Stop"), Qt::SHIFT | Qt::Key_F5, session(&SessionView::stop));
    check_ = command("session.check", tr("&Check Kernel"), Qt::CTRL | Qt::Key_B, [this] {
        if (current())
            current()->check(true);
    });
    check_->setIconText(tr("Check")); // on its button
    checkQuick_ = command("session.checkQuick", tr("Check &Quickly"),
                          Qt::CTRL | Qt::SHIFT | Qt::Key_B, [this] {
                              if (current())
                                  current()->check(false);
                          });
    closeTab_ = command("session.close", tr("&Close Session"), QKeySequence::Close,
                        [this] { closeSession(tabs_->currentIndex()); });

    makeAgentActions();
    makeRunOptions();

    perspectives_ = new QActionGroup(this);
    const QString names[] = {tr("Optimize"), tr("Replay"), tr("Data"), tr("Train")};
    for (int i = 0; i < 4; ++i) {
        QAction *action =
            command(QByteArray("perspective.")
                        .append(perspectiveName(static_cast<Perspective>(i)))
                        .constData(),
                    names[i], QKeySequence(Qt::CTRL | static_cast<Qt::Key>(Qt::Key_1 + i)),
                    [this, i] { setPerspective(static_cast<Perspective>(i)); });
        action->setCheckable(true);
        action->setData(i);
        perspectives_->addAction(action);
    }
    defaultLayout_ = command("view.defaultLayout", tr("Restore &Default Layout"), {}, [this] {
        if (current())
            current()->restoreDefaultLayout();
    });
    presentation_ = command("view.presentation", tr("&Presentation Mode"), Qt::Key_F11,
                            [this] { setPresentation(presentation_->isChecked()); });
    presentation_->setCheckable(true);
}

void MainWindow::makeMenus() {
    QMenu *file = menuBar()->addMenu(tr("&File"));
    file->addAction(
        command("file.openTask", tr("&Open Task…"), QKeySequence::Open, [this] { askTask(); }));
    file->addAction(command("file.openSession", tr("Open &Session…"),
                            Qt::CTRL | Qt::SHIFT | Qt::Key_O, [this] { askSession(); }));
    QMenu *samples = file->addMenu(tr("Sample &Tasks"));
    connect(samples, &QMenu::aboutToShow, this, [this, samples] { fillSamples(samples); });
    QMenu *tasks = file->addMenu(tr("&Recent Tasks"));
    connect(tasks, &QMenu::aboutToShow, this,
            [this, tasks] { fillRecent(tasks, QStringLiteral("recent/tasks"), true); });
    QMenu *sessions = file->addMenu(tr("Recent S&essions"));
    connect(sessions, &QMenu::aboutToShow, this,
            [this, sessions] { fillRecent(sessions, QStringLiteral("recent/sessions"), false); });
    file->addSeparator();
    file->addAction(command("file.showFolder", tr("Show Session &Folder"), {}, [this] {
        if (current())
            QDesktopServices::openUrl(
                QUrl::fromLocalFile(QString::fromStdString(current()->wholeFolder().string())));
    }));
    file->addAction(closeTab_);
    file->addSeparator();
    QAction *quit = command("file.quit", tr("&Quit"), QKeySequence::Quit, [this] { close(); });
    quit->setMenuRole(QAction::QuitRole);
    file->addAction(quit);

    QMenu *session = menuBar()->addMenu(tr("&Session"));
    session->addActions({run_, pause_, step_, stop_});
    session->addSeparator();
    session->addActions({check_, checkQuick_});
    session->addSeparator();
    session->addMenu(options_);
    session->addActions({endpoint_, transformer_, budget_, permissions_, skills_, memory_});
    session->addSeparator();
    session->addAction(quarantineAction_);

    QMenu *view = menuBar()->addMenu(tr("&View"));
    view->addActions(perspectives_->actions());
    view->addSeparator();
    panesMenu_ = view->addMenu(tr("P&anes"));
    connect(panesMenu_, &QMenu::aboutToShow, this, [this] {
        panesMenu_->clear();
        if (!current())
            return;
        for (QDockWidget *dock : current()->docks())
            panesMenu_->addAction(dock->toggleViewAction());
    });
    view->addAction(defaultLayout_);
    view->addSeparator();
    QMenu *scheme = view->addMenu(tr("&Colours"));
    auto *schemes = new QActionGroup(this);
    const std::pair<Theme::Scheme, QString> choices[] = {
        {Theme::Scheme::system, tr("As the Desktop")},
        {Theme::Scheme::light, tr("Light")},
        {Theme::Scheme::dark, tr("Dark")}};
    for (const auto &[value, text] : choices) {
        QAction *action = command(QByteArray("view.colours.")
                                      .append(QByteArray::number(static_cast<int>(value)))
                                      .constData(),
                                  tr("Colours: %1").arg(text), {},
                                  [value = value] { Theme::instance().setScheme(value); });
        action->setIconText(text);
        action->setCheckable(true);
        action->setChecked(Theme::instance().scheme() == value);
        schemes->addAction(action);
        scheme->addAction(action);
    }
    view->addAction(command("view.larger", tr("&Larger Text"), QKeySequence::ZoomIn,
                            [this] { changeFontSize(1); }));
    view->addAction(command("view.smaller", tr("S&maller Text"), QKeySequence::ZoomOut,
                            [this] { changeFontSize(-1); }));
    view->addAction(command("view.normalSize", tr("&Normal Text Size"), Qt::CTRL | Qt::Key_0,
                            [] { Theme::instance().setFontSize(0); }));
    view->addAction(presentation_);
    view->addAction(command("view.foldLines", tr("&Fold Long Output…"), {}, [this] {
        bool ok = false;
        const int lines = QInputDialog::getInt(
            this, tr("Fold Long Output"), tr("Lines of a card before it is folded:"),
            QSettings().value(QStringLiteral("trace/foldLines"), 8).toInt(), 1, 1000, 1, &ok);
        if (ok)
            QSettings().setValue(QStringLiteral("trace/foldLines"), lines);
    }));

    QMenu *help = menuBar()->addMenu(tr("&Help"));
    help->addAction(command("help.commands", tr("&Command Palette…"),
                            Qt::CTRL | Qt::SHIFT | Qt::Key_P,
                            [this] { palette_->open(commands()); }));
    help->addAction(command("help.about", tr("&About"), {}, [this] {
        QMessageBox::about(
            this, tr("About CUDA Agent Workbench"),
            tr("<b>CUDA Agent Workbench %1</b><p>Hand over a PyTorch module, get back a CUDA "
               "kernel that is verified and faster.</p><p>Free software under the GNU General "
               "Public License, version 3 or later.</p>")
                .arg(QApplication::applicationVersion()));
    }));
}

void MainWindow::makeToolBar() {
    auto *modes = new QToolBar(tr("Perspectives"), this);
    modes->setObjectName(QStringLiteral("toolbar.perspectives"));
    modes->setMovable(false);
    modes->addActions(perspectives_->actions());
    modes->setToolButtonStyle(Qt::ToolButtonTextOnly);
    auto *bar = new QToolBar(tr("Session"), this);
    bar->setObjectName(QStringLiteral("toolbar.session"));
    bar->setMovable(false);
    bar->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
    bar->addActions({run_, pause_, step_, stop_});
    bar->addSeparator();
    bar->addAction(check_);
    bar->addSeparator();
    const auto box = [&](const QString &name, const QList<std::pair<QString, QString>> &entries) {
        auto *combo = new QComboBox(bar);
        for (const auto &[text, value] : entries)
            combo->addItem(text, value);
        combo->setAccessibleName(name);
        combo->setToolTip(name);
        combo->setSizeAdjustPolicy(QComboBox::AdjustToContents);
        connect(combo, &QComboBox::currentIndexChanged, this, &MainWindow::takeChoices);
        bar->addWidget(combo);
        return combo;
    };
    device_ = box(tr("Device"), {{tr("Best device"), QStringLiteral("auto")},
                                 {tr("GPU"), QStringLiteral("cuda")},
                                 {tr("CPU"), QStringLiteral("cpu")}});
    device_->setObjectName(QStringLiteral("toolbar.device"));
    policy_ = box(tr("Policy: who writes the kernels"),
                  {{tr("Planner"), QStringLiteral("planner")},
                   {tr("Language model"), QStringLiteral("endpoint")},
                   {tr("Trained model"), QStringLiteral("transformer")},
                   {tr("Replay"), QStringLiteral("replay")}});
    policy_->setObjectName(QStringLiteral("toolbar.policy"));
    auto *policySettings = new QToolButton(bar);
    policySettings->setObjectName(QStringLiteral("toolbar.policySettings"));
    policySettings->setDefaultAction(policySettings_);
    policySettings->setToolButtonStyle(Qt::ToolButtonTextOnly);
    policySettings->setAccessibleName(plainName(policySettings_->text()));
    bar->addWidget(policySettings);
    numerics_ = box(tr("Numerics"), {{tr("Default numerics"), QStringLiteral("default")},
                                     {tr("TF32"), QStringLiteral("tf32")},
                                     {tr("As published"), QStringLiteral("published")}});
    turns_ = new QSpinBox(bar);
    turns_->setRange(1, 1000);
    turns_->setSuffix(tr(" turns"));
    turns_->setAccessibleName(tr("Turns at most"));
    turns_->setToolTip(turns_->accessibleName());
    connect(turns_, &QSpinBox::valueChanged, this, &MainWindow::takeChoices);
    bar->addWidget(turns_);
    attempts_ = new QSpinBox(bar);
    attempts_->setObjectName(QStringLiteral("toolbar.attempts"));
    attempts_->setRange(1, agent::mostAttempts);
    attempts_->setSpecialValueText(tr("1 attempt"));
    attempts_->setSuffix(tr(" attempts"));
    attempts_->setAccessibleName(tr("Attempts at the task, of which the best is taken"));
    attempts_->setToolTip(attempts_->accessibleName());
    connect(attempts_, &QSpinBox::valueChanged, this, &MainWindow::takeChoices);
    bar->addWidget(attempts_);
    optionsButton_ = new QToolButton(bar);
    optionsButton_->setObjectName(QStringLiteral("toolbar.options"));
    optionsButton_->setText(tr("Options"));
    optionsButton_->setMenu(options_);
    optionsButton_->setPopupMode(QToolButton::InstantPopup);
    bar->addWidget(optionsButton_);
    addToolBar(Qt::TopToolBarArea, modes);
    addToolBar(Qt::TopToolBarArea, bar);

    const auto icons = [this] {
        run_->setIcon(drawnIcon(QStringLiteral("run")));
        pause_->setIcon(drawnIcon(QStringLiteral("pause")));
        step_->setIcon(drawnIcon(QStringLiteral("step")));
        stop_->setIcon(drawnIcon(QStringLiteral("stop")));
        check_->setIcon(drawnIcon(QStringLiteral("check")));
    };
    icons();
    connect(&Theme::instance(), &Theme::changed, this, icons);
}

void MainWindow::makeStatusBar() {
    busy_ = new QProgressBar(this);
    busy_->setRange(0, 0);
    busy_->setMaximumSize(120, 14);
    busy_->setTextVisible(false);
    busy_->setAccessibleName(tr("Busy"));
    stopButton_ = new QToolButton(this);
    stopButton_->setDefaultAction(stop_);
    stopButton_->setAutoRaise(true);
    best_ = new QLabel(this);
    state_ = new QLabel(this);
    statusBar()->addPermanentWidget(best_);
    statusBar()->addPermanentWidget(state_);
    statusBar()->addPermanentWidget(busy_);
    statusBar()->addPermanentWidget(stopButton_);
}

} // namespace cuda_agent::widgets
