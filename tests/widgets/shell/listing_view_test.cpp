// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/log.h"
#include "tests/widgets/plot/judged_session.h"
#include "widgets/code/code_editor.h"
#include "widgets/code/code_pane.h"
#include "widgets/listing/listing_pane.h"
#include "widgets/shell/main_window.h"
#include "widgets/shell/session_view.h"

#include <QDockWidget>
#include <QStandardPaths>
#include <QTabBar>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>

using namespace cuda_agent;
using namespace cuda_agent::widgets;

/// A session folder with a plan, opened in the window: its machine code beside its source.
class ListingViewTest : public QObject {
    Q_OBJECT
  private:
    QTemporaryDir folder_;
    static constexpr int storeLine = 3;

    /// Errors: machine.
    static Result<void> write(const std::filesystem::path &folder) {
        CUDA_AGENT_ASSIGN(log, session::Log::create(folder));
        CUDA_AGENT_ASSIGN(kernel, log.putBlob("extern \"C\" __global__ void scale(float *y) {\n"
                                              "    const int i = threadIdx.x;\n"
                                              "    y[i] = 3.0f * i;\n"
                                              "}\n"));
        CUDA_AGENT_ASSIGN(plan, log.putBlob(R"({"version": 1, "name": "x", "buffers": [
                {"name": "out0", "role": "output", "index": 0, "dtype": "float32", "shape": ["64"]}],
                "steps": [{"kind": "kernel", "source": "kernels/k.cu", "entry": "scale",
                "grid": ["1", "1", "1"], "block": [64, 1, 1], "args": [{"buffer": "out0"}]}]})"));
        judged::Session made;
        made.begin();
        for (const auto &[path, blob] :
             {std::pair{"kernels/k.cu", kernel}, std::pair{"plan.json", plan}})
            made.add(session::EventType::fileWritten, 1,
                     {{"path", path}, {"blob", blob}, {"bytes", 1}, {"author", "policy"}});
        made.correct(1, 0.001);
        std::swap(made.events[3], made.events[5]); // a turn begins before it writes
        for (const session::Event &event : made.events)
            CUDA_AGENT_TRY(log.append(event.type, event.turn, event.data));
        return {};
    }

  private slots:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        QSettings().clear();
    }

    void codeAndMachineCodeLeadToEachOther() {
        const QString session = folder_.filePath(QStringLiteral("session"));
        const auto written = write(session.toStdString());
        QVERIFY2(written, written ? "" : written.error().message.c_str());
        MainWindow window;
        window.resize(1500, 950);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        SessionView *view = window.openSession(session);
        QVERIFY(view);
        QTRY_VERIFY(!view->loading());
        auto *dock = view->findChild<QDockWidget *>(QStringLiteral("dock.listing"));
        QVERIFY(dock);
        ListingPane &pane = view->listingPane();
        QCOMPARE(pane.model().instructions(), 0); // nobody has seen it yet
        dock->raise();
        QTRY_VERIFY_WITH_TIMEOUT(pane.model().instructions() > 4, 60000);

        // Down in the code, and what was made of the line is selected.
        view->code().goTo(QStringLiteral("kernels/k.cu"), 1, 0);
        CodeEditor *editor = view->code().editor();
        QVERIFY(editor);
        for (int line = 1; line < storeLine; ++line)
            QTest::keyClick(editor, Qt::Key_Down);
        auto *table = pane.findChild<QTableView *>();
        QTRY_COMPARE(table->currentIndex().data(ListingModel::LineRole).toInt(), storeLine);
        QVERIFY(table->selectionModel()->selectedRows().size() > 1);
        QVERIFY(editor->hasFocus());
        judged::photograph(window, QStringLiteral("window-listing"));

        // A row is clicked, and the code shows its line.
        const int row = pane.model().rowsOf(2).value(0, -1);
        QVERIFY(row >= 0);
        const auto cell = pane.model().index(row, ListingModel::Instruction);
        table->scrollTo(cell);
        QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, table->visualRect(cell).center());
        int line = 0, column = 0;
        editor->getCursorPosition(&line, &column);
        QCOMPARE(line, 1);
        QCOMPARE(table->currentIndex().row(), row);
    }

    void editsAreListed() {
        MainWindow window;
        window.resize(1500, 950);
        window.show();
        QVERIFY(QTest::qWaitForWindowExposed(&window));
        SessionView *view = window.openSession(folder_.filePath(QStringLiteral("session")));
        QVERIFY(view);
        QTRY_VERIFY(!view->loading());
        view->findChild<QDockWidget *>(QStringLiteral("dock.listing"))->raise();
        ListingPane &pane = view->listingPane();
        QTRY_VERIFY_WITH_TIMEOUT(pane.model().instructions() > 4, 60000);
        view->code().goTo(QStringLiteral("kernels/k.cu"), storeLine, 1);
        CodeEditor *editor = view->code().editor();
        QTRY_VERIFY(!editor->isReadOnly());
        QTest::keyClicks(editor, QStringLiteral("oops "));
        QTRY_VERIFY_WITH_TIMEOUT(pane.note().contains(QLatin1String("kernels/k.cu:3:")), 60000);
        view->code().discardEdits();
        QTRY_VERIFY_WITH_TIMEOUT(pane.note().contains(QLatin1String("sm_90")), 60000);
    }
};

QTEST_MAIN(ListingViewTest)
#include "listing_view_test.moc"
