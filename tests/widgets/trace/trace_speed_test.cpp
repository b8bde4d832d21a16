// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/loop_watch.h"
#include "tests/widgets/trace/sample_session.h"
#include "widgets/trace/trace_pane.h"
#include "widgets/trace/trace_view.h"

#include <QLineEdit>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTest>

using namespace cuda_agent;
using namespace cuda_agent::widgets;
using session::EventType;

namespace {

constexpr double longestBlock = 50; // milliseconds

void letItRun(int times = 20) {
    for (int i = 0; i < times; ++i)
        QTest::qWait(2);
}

void show(QWidget &pane, int width = 500, int height = 400) {
    pane.resize(width, height);
    pane.show();
    QVERIFY(QTest::qWaitForWindowExposed(&pane));
    letItRun(3);
}

QAction *action(TracePane &pane, const char *name) {
    return pane.findChild<QAction *>(QLatin1String(name));
}

} // namespace

/// The event loop never stands still, however long the session or a card is.
class TraceSpeedTest : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        QCoreApplication::setOrganizationName(QStringLiteral("cuda-agent-test"));
        QCoreApplication::setApplicationName(QStringLiteral("trace-speed"));
    }
    void init() { QSettings().clear(); }
    void hugeCards();
    void hundredThousandEvents();
};

void TraceSpeedTest::hugeCards() {
    sample::Events events;
    std::string lines;
    while (lines.size() < (20u << 20))
        lines += "ptxas info: 32 registers\n";
    events.add(EventType::observation, 1, {{"ok", true}, {"text", lines}});
    events.add(EventType::thought, 1, {{"text", std::string(20u << 20, 'x')}});
    events.add(EventType::thought, 1, {{"text", std::string(20u << 20, '\n')}});
    SessionDocument document;
    TracePane pane(&document);
    show(pane);
    LoopWatch watchdog;
    letItRun(5);
    watchdog.longest = 0;
    // To copy and fold 60 MB takes the document its time; the cards must not add to it.
    document.append(events.all);
    letItRun(5);
    const auto step = [&](const char *what) {
        letItRun(3);
        qInfo("%s: longest block %.0f ms", what, watchdog.longest);
        QVERIFY2(watchdog.longest < 4 * longestBlock, what);
        watchdog.longest = 0;
    };
    watchdog.longest = 0;
    for (int row = 0; row < 3; ++row) {
        pane.view().showRow(row);
        step("show");
        pane.view().toggleFold(row);
        step("unfold");
        pane.view().showRow(row);
        QTest::keyClick(&pane.view(), Qt::Key_PageDown);
        step("page");
    }
}

void TraceSpeedTest::hundredThousandEvents() {
    SessionIndex index = sample::big(100'000);
    SessionDocument document;
    TracePane pane(&document);
    show(pane, 700, 900);
    LoopWatch watchdog;
    const auto report = [&](const char *what) {
        letItRun(5);
        qInfo("%s: longest block %.0f ms", what, watchdog.longest);
        QVERIFY2(watchdog.longest <= longestBlock, what);
        watchdog.longest = 0;
    };
    letItRun(5);
    watchdog.longest = 0;
    document.replace(std::move(index));
    report("open");
    QVERIFY(pane.model().rowCount() > 50'000);

    TraceView &view = pane.view();
    for (int i = 0; i < 40; ++i) {
        QTest::keyClick(&view, Qt::Key_PageUp);
        QCoreApplication::processEvents();
    }
    report("page up");
    for (int i = 0; i <= 40; ++i) {
        view.verticalScrollBar()->setValue(view.verticalScrollBar()->maximum() / 40 * i);
        QCoreApplication::processEvents();
    }
    report("drag through");
    for (int i = 0; i < 40; ++i) {
        QTest::keyClick(&view, Qt::Key_PageDown);
        QCoreApplication::processEvents();
    }
    report("page down");
    action(pane, "trace.expandAll")->trigger();
    report("expand all");
    for (int i = 0; i < 20; ++i) {
        QTest::keyClick(&view, Qt::Key_PageDown);
        QCoreApplication::processEvents();
    }
    report("page down, expanded");
    action(pane, "trace.collapseAll")->trigger();
    report("collapse all");
    action(pane, "trace.find")->trigger();
    auto *edit = pane.findChild<QLineEdit *>(QStringLiteral("trace.findText"));
    QTest::keyClicks(edit, QStringLiteral("line 59 of"));
    QTRY_VERIFY_WITH_TIMEOUT(!pane.finder().busy(), 20'000);
    QVERIFY(pane.finder().matches().size() > 9'000);
    for (int i = 0; i < 20; ++i) {
        QTest::keyClick(edit, Qt::Key_F3);
        QCoreApplication::processEvents();
    }
    report("find");
    QTest::keyClick(edit, Qt::Key_Escape);
    document.setCursor(document.index().size() / 2);
    report("cursor back");
    document.toEnd();
    report("cursor to the end");
    QSignalSpy copied(&pane, &TracePane::threadCopied);
    action(pane, "trace.copyThread")->trigger();
    QVERIFY(copied.wait(60'000));
    report("copy the thread");
}

QTEST_MAIN(TraceSpeedTest)
#include "trace_speed_test.moc"
