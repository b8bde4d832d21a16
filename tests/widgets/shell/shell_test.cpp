// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/log.h"
#include "widgets/base/theme.h"
#include "widgets/code/code_pane.h"
#include "widgets/shell/command_palette.h"
#include "widgets/shell/main_window.h"
#include "widgets/shell/session_view.h"
#include "widgets/shell/welcome_page.h"
#include "widgets/synthesis/synthesis_process.h"
#include "widgets/tasks/data_page.h"

#include <QAbstractButton>
#include <QAbstractItemModelTester>
#include <QAbstractSpinBox>
#include <QDockWidget>
#include <QLineEdit>
#include <QMessageBox>
#include <QMimeData>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace cuda_agent;
using namespace cuda_agent::widgets;
using session::EventType;

/// The window with recorded sessions: no engine runs here.
class ShellTest : public QObject {
    Q_OBJECT
  private:
    QTemporaryDir folder_;

    QString recorded(const QString &name, int turns) {
        const QString path = folder_.filePath(name);
        auto log = session::Log::create(path.toStdString());
        const auto add = [&](EventType type, int turn, Json data) {
            return log->append(type, turn, std::move(data)).has_value();
        };
        bool ok = add(EventType::sessionStarted, 0,
                      {{"task", {{"name", name.toStdString()}, {"file", "/tasks/x.py"}}},
                       {"policy", "planner"},
                       {"numerics", "default"},
                       {"device", {{"kind", "cpu"}}}});
        for (int turn = 1; turn <= turns; ++turn) {
            ok = ok && add(EventType::turnStarted, turn, Json::object());
            ok = ok && add(EventType::thought, turn, {{"text", "a thought"}});
            const auto blob = log->putBlob("// kernel of turn " + std::to_string(turn) + "\n");
            ok = ok && add(EventType::fileWritten, turn,
                           {{"path", "kernels/a.cu"}, {"blob", *blob}, {"bytes", 20}});
            ok = ok && add(EventType::verdictGiven, turn,
                           {{"verdict",
                             {{"correct", true},
                              {"compiled", true},
                              {"reward", 3},
                              {"device", "cpu"},
                              {"times", {{"candidate", {{"seconds", 1e-3 / turn}}}}}}},
                            {"candidate", {{"kernels/a.cu", *blob}}}});
            ok = ok && add(EventType::turnEnded, turn, Json::object());
        }
        ok = ok && add(EventType::sessionEnded, 0, {{"reason", "done"}, {"complete", true}});
        return ok ? path : QString();
    }

  private slots:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init() { QSettings().clear(); }

    void opensWhatIsGiven() {
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QVERIFY(!window.open(folder_.filePath(QStringLiteral("nothing.py"))));
        auto *box = window.findChild<QMessageBox *>();
        QVERIFY(box && box->isVisible());
        QVERIFY(box->text().contains(QStringLiteral("nothing.py")));
        box->close();
        const QString path = recorded(QStringLiteral("opened"), 3);
        QVERIFY(window.open(path));
        QVERIFY(window.open(path + QStringLiteral("/session.jsonl")));
        QCOMPARE(window.sessions(), 1); // the same
        SessionView *view = window.current();
        QTRY_VERIFY(!view->loading());
        QCOMPARE(view->document().index().turnCount(view->document().cursor()), 3);
        QCOMPARE(view->title(), QStringLiteral("opened"));
        QVERIFY(view->canRun());
        QVERIFY(!view->canPause());
        QVERIFY(view->canCheck());
        QCOMPARE(recentPaths(QStringLiteral("recent/sessions")), QStringList{path});
        window.closeSession(0);
        QCOMPARE(window.sessions(), 0);
    }

    void dropsOpenFiles() {
        const QString path = recorded(QStringLiteral("dropped"), 1);
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QMimeData data;
        data.setUrls({QUrl::fromLocalFile(path)});
        QDragEnterEvent enter({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, {});
        QApplication::sendEvent(&window, &enter);
        QVERIFY(enter.isAccepted());
        QDropEvent drop({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, {});
        QApplication::sendEvent(&window, &drop);
        QCOMPARE(window.sessions(), 1);
    }

    void replayIsTheSameView() {
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QVERIFY(window.open(recorded(QStringLiteral("replayed"), 4)));
        SessionView *view = window.current();
        QTRY_VERIFY(!view->loading());
        window.setPerspective(MainWindow::Perspective::replay);
        view->document().setCursor(6);
        QCOMPARE(view->document().shownTurn(), 1);
        view->document().selectTurn(3);
        QCOMPARE(view->document().shownTurn(), 3);
        window.setPerspective(MainWindow::Perspective::optimize);
        QCOMPARE(view->document().shownTurn(), 3);
    }

    void followsASessionThatAnotherProgramWrites() {
        const QString path = folder_.filePath(QStringLiteral("growing"));
        auto log = session::Log::create(path.toStdString());
        QVERIFY(log->append(EventType::sessionStarted, 0, {{"task", {{"name", "growing"}}}}));
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QVERIFY(window.open(path));
        SessionView *view = window.current();
        QTRY_VERIFY(!view->loading());
        QVERIFY(log->append(EventType::turnStarted, 1, Json::object()));
        QVERIFY(log->append(EventType::thought, 1, {{"text", "more"}}));
        QTRY_COMPARE_WITH_TIMEOUT(view->document().cursor(), std::size_t{3}, 5000);
    }

    void paletteFindsCommandsByTheirLetters() {
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QVERIFY(window.open(recorded(QStringLiteral("palette"), 1)));
        QTRY_VERIFY(!window.current()->loading());
        QTest::keyClick(&window, Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
        auto *palette = window.findChild<CommandPalette *>();
        QTRY_VERIFY(palette->isVisible());
        auto *line = palette->findChild<QLineEdit *>();
        const int all = palette->matches();
        QVERIFY(all > 30);
        QTest::keyClicks(line, QStringLiteral("dark"));
        QVERIFY(palette->matches() >= 1 && palette->matches() < all);
        Theme::instance().setScheme(Theme::Scheme::light);
        QTest::keyClick(line, Qt::Key_Return);
        QVERIFY(!palette->isVisible());
        QVERIFY(Theme::instance().dark());
        Theme::instance().setScheme(Theme::Scheme::system);
    }

    void everyCommandHasANameAndEveryControlToo() {
        MainWindow window;
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QVERIFY(window.open(recorded(QStringLiteral("names"), 1)));
        QTRY_VERIFY(!window.current()->loading());
        QStringList without;
        QSet<QString> names;
        for (const QAction *action : window.commands()) {
            if (action->isSeparator())
                continue;
            if (action->text().isEmpty() || action->objectName().isEmpty())
                without += action->text() + QLatin1Char('/') + action->objectName();
        }
        for (const QWidget *control : window.findChildren<QWidget *>())
            if (control->focusPolicy() & Qt::TabFocus && control->isVisible() &&
                (qobject_cast<const QAbstractButton *>(control) ||
                 qobject_cast<const QLineEdit *>(control)) &&
                control->accessibleName().isEmpty() &&
                !control->objectName().startsWith(QLatin1String("qt_")) &&
                !qobject_cast<const QAbstractSpinBox *>(control->parentWidget()) &&
                (!qobject_cast<const QAbstractButton *>(control) ||
                 qobject_cast<const QAbstractButton *>(control)->text().isEmpty()))
                without += QString::fromLatin1(control->metaObject()->className()) +
                           QLatin1Char(' ') + control->objectName();
        QVERIFY2(without.isEmpty(), qPrintable(without.join(QStringLiteral(", "))));
    }

    void panesMoveAreRememberedAndComeBack() {
        const QString path = recorded(QStringLiteral("docks"), 1);
        {
            MainWindow window;
            window.resize(1280, 800);
            window.show();
            QVERIFY(QTest::qWaitForWindowActive(&window));
            QVERIFY(window.open(path));
            QTRY_VERIFY(!window.current()->loading());
            for (QDockWidget *dock : window.current()->docks())
                if (dock->objectName() == QLatin1String("dock.trace"))
                    dock->hide();
            window.close();
        }
        MainWindow window;
        window.resize(1280, 800);
        window.show();
        QVERIFY(QTest::qWaitForWindowActive(&window));
        QVERIFY(window.open(path));
        const auto hidden = [&] {
            int count = 0;
            for (const QDockWidget *dock : window.current()->docks())
                count += dock->isHidden();
            return count;
        };
        QCOMPARE(hidden(), 1);
        window.current()->restoreDefaultLayout();
        QCOMPARE(hidden(), 0);
    }

    void actionModelHoldsItsContract() {
        ActionModel model;
        const QAbstractItemModelTester tester(
            &model, QAbstractItemModelTester::FailureReportingMode::QtTest);
        QAction first(QStringLiteral("&First…"), nullptr);
        auto *second = new QAction(QStringLiteral("Second"), nullptr);
        model.setActions({&first, second});
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(model.index(0, 0).data().toString(), QStringLiteral("First"));
        QCOMPARE(plainName(QStringLiteral("\u68c0\u67e5(&C)\u2026")),
                 QStringLiteral("\u68c0\u67e5"));
        delete second;
        QVERIFY(model.action(1) == nullptr);
        QCOMPARE(model.flags(model.index(1, 0)), Qt::NoItemFlags);
    }

    void closingStopsASynthesis() {
        const QString program = folder_.filePath(QStringLiteral("fake"));
        const QString out = folder_.filePath(QStringLiteral("made"));
        QFile file(program);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("#!/bin/bash\nmkdir -p \"$4\"\n"
                   "trap 'touch \"$4/heard\"; exit 130' INT\ntouch \"$4/up\"\n"
                   "while true; do sleep 0.05; done\n");
        file.close();
        QVERIFY(file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        MainWindow window;
        window.show();
        window.data().synthesis().setProgram(program);
        QVERIFY(window.data().startSynthesis({QStringLiteral("r.toml"), out, {}, {}, 0}));
        QTRY_VERIFY(QFileInfo::exists(out + QStringLiteral("/up")));
        QVERIFY(window.close());
        QCOMPARE(window.data().synthesis().state(), SynthesisProcess::State::idle);
        QVERIFY(QFileInfo::exists(out + QStringLiteral("/heard")));
    }

    void opensSetsInTheDataPerspective() {
        QFile file(folder_.filePath(QStringLiteral("some.jsonl")));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write("{\"name\": \"a\", \"code\": \"x\"}\n");
        file.close();
        MainWindow window;
        QVERIFY(window.open(file.fileName()));
        QCOMPARE(window.perspective(), MainWindow::Perspective::data);
        QTRY_COMPARE(window.data().model().rowCount(), 1);
    }
};

QTEST_MAIN(ShellTest)
#include "shell_test.moc"
