// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
//
// usage: window_bench [EVENTS]
// Opens the window and a session of EVENTS events (100000) in it, looks through it as a reader
// would, and prints how long things took and the longest time that the event loop stood still.
// Offscreen unless QT_QPA_PLATFORM says otherwise.
#include "tests/bench/sample_session.h"
#include "tests/widgets/loop_watch.h"
#include "widgets/shell/main_window.h"
#include "widgets/shell/session_view.h"
#include "widgets/timeline/replay.h"
#include "widgets/timeline/timeline_bar.h"
#include "widgets/trace/trace_view.h"

#include <QElapsedTimer>
#include <QScrollBar>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

#include <cstdio>

using namespace cuda_agent;
using namespace cuda_agent::widgets;

int main(int argc, char **argv) {
    QElapsedTimer clock;
    clock.start();
    if (!qEnvironmentVariableIsSet("QT_QPA_PLATFORM"))
        qputenv("QT_QPA_PLATFORM", "offscreen");
    const int events = argc > 1 ? std::atoi(argv[1]) : 100'000;
    if (events < 1) {
        std::fprintf(stderr, "usage: window_bench [EVENTS]\n");
        return 2;
    }
    QApplication application(argc, argv);
    QStandardPaths::setTestModeEnabled(true);
    MainWindow window;
    window.resize(1280, 800);
    window.show();
    QApplication::processEvents();
    std::printf("window up: %lld ms\n", static_cast<long long>(clock.elapsed()));

    QTemporaryDir folder;
    const QString session = folder.filePath(QStringLiteral("session"));
    if (auto written = bench::writeSampleSession(session.toStdString(), events); !written) {
        std::fprintf(stderr, "%s\n", written.error().message.c_str());
        return exitCode(written.error().kind);
    }
    LoopWatch watchdog;
    const auto report = [&](const char *what) {
        QTest::qWait(200);
        std::printf("%-28s longest block %.0f ms\n", what, std::exchange(watchdog.longest, 0.0));
    };
    QTest::qWait(300);
    watchdog.longest = 0;
    clock.restart();
    SessionView *view = window.openSession(session);
    while (view->loading())
        QCoreApplication::processEvents(QEventLoop::WaitForMoreEvents);
    std::printf("%d events open: %lld ms\n", events, static_cast<long long>(clock.elapsed()));
    report("open");

    auto *trace = view->findChild<TraceView *>();
    const auto keys = [&](Qt::Key key, int times) {
        for (int i = 0; i < times; ++i) {
            QTest::keyClick(trace, key);
            QCoreApplication::processEvents();
        }
    };
    keys(Qt::Key_PageUp, 40);
    report("trace: 40 pages up");
    for (int i = 0; i <= 40; ++i) {
        trace->verticalScrollBar()->setValue(trace->verticalScrollBar()->maximum() / 40 * i);
        QCoreApplication::processEvents();
    }
    report("trace: scroll bar dragged");
    SessionDocument &document = view->document();
    for (int i = 1; i <= 10; ++i) {
        document.setCursor(document.index().size() / 10 * static_cast<std::size_t>(i));
        QCoreApplication::processEvents();
    }
    report("ten jumps through the replay");
    for (int i = 0; i < 10; ++i) {
        document.selectTurn(1 + i * (document.index().turnCount(document.cursor()) - 1) / 10);
        QCoreApplication::processEvents();
    }
    report("ten turns selected");
    window.setPerspective(MainWindow::Perspective::replay);
    view->timeline().replay().play();
    QTest::qWait(1000);
    report("a second of replay");
    clock.restart();
    window.close();
    std::printf("closed: %lld ms\n", static_cast<long long>(clock.elapsed()));
    return 0;
}
