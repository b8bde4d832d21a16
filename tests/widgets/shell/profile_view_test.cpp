// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/log.h"
#include "tests/widgets/profile/profiled_session.h"
#include "widgets/code/code_editor.h"
#include "widgets/code/code_pane.h"
#include "widgets/profile/findings_model.h"
#include "widgets/profile/profile_pane.h"
#include "widgets/profile/roof_plot.h"
#include "widgets/shell/main_window.h"
#include "widgets/shell/session_view.h"

#include <QDockWidget>
#include <QListView>
#include <QStandardPaths>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>

using namespace cuda_agent;
using namespace cuda_agent::widgets;

/// A session folder in which an agent profiled its candidate, opened in the window.
class ProfileViewTest : public QObject {
    Q_OBJECT
  private:
    QTemporaryDir folder_;

    /// Writes the events of a made session with kernels that exist. Errors: machine.
    static Result<void> write(const std::filesystem::path &folder) {
        CUDA_AGENT_ASSIGN(log, session::Log::create(folder));
        std::string kernel = "// Three kernels.\n";
        for (int line = 2; line <= 40; ++line)
            kernel += line == 12 ? "extern \"C\" __global__ void softmax() {}\n"
                                 : fmt::format("// line {}\n", line);
        CUDA_AGENT_ASSIGN(blob, log.putBlob(kernel));
        profiled::Session made;
        made.turn(1, blob.c_str(), nullptr).turn(2, blob.c_str(), profiled::onGpu());
        for (const session::Event &event : made.events)
            CUDA_AGENT_TRY(log.append(event.type, event.turn, event.data));
        return {};
    }

  private slots:
    void initTestCase() {
        QStandardPaths::setTestModeEnabled(true);
        QSettings().clear();
    }

    void aRecordedProfileIsShownAndLeadsToTheCode() {
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
        auto *dock = view->findChild<QDockWidget *>(QStringLiteral("dock.profile"));
        QVERIFY(dock);
        dock->raise();
        ProfilePane &pane = view->profilePane();
        QTRY_VERIFY(pane.isVisible() && pane.profile());
        QVERIFY(view->profilingProblem().isEmpty());

        // The finding about softmax is clicked: its kernel is drawn, the editor is at its line.
        auto *list = pane.findChild<QListView *>();
        for (QTabWidget *tabs : pane.findChildren<QTabWidget *>())
            if (tabs->indexOf(list->parentWidget()) >= 0)
                tabs->setCurrentWidget(list->parentWidget());
        QTRY_VERIFY(list->isVisible());
        int row = -1;
        for (int i = list->model()->rowCount() - 1; i >= 0; --i)
            if (list->model()->index(i, 0).data(FindingsModel::LineRole).toInt() == 12)
                row = i;
        QVERIFY(row >= 0);
        const QModelIndex finding = list->model()->index(row, 0);
        list->scrollTo(finding);
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {},
                          list->visualRect(finding).topLeft() + QPoint(20, 8));
        QCOMPARE(pane.launch(), 0);
        QCOMPARE(pane.roofline().picture().marks.size(), std::size_t(3));
        QVERIFY(view->code().editor());
        int line = -1, column = -1;
        view->code().editor()->getCursorPosition(&line, &column);
        QCOMPARE(line + 1, 12);
        judged::photograph(window, QStringLiteral("profile-window"));

        // Looking back to before there was one, and to the turn whose files were the same.
        SessionDocument &document = view->document();
        document.selectTurn(1);
        QTRY_VERIFY(pane.note().contains(QLatin1String("whose files are the same")));
        document.setCursor(document.index().turn(1, document.index().size())->end);
        QTRY_VERIFY(!pane.profile());
        document.toEnd();
        QTRY_VERIFY(pane.profile());
    }

    void modulesAreNotProfiled() {
        const QString session = folder_.filePath(QStringLiteral("module"));
        auto log = session::Log::create(session.toStdString());
        QVERIFY(log.has_value());
        const auto blob = log->putBlob("class ModelNew: pass\n");
        QVERIFY(blob.has_value());
        judged::Session made;
        made.begin().add(session::EventType::turnStarted, 1, {{"author", "policy"}});
        made.add(session::EventType::fileWritten, 1,
                 {{"path", "model_new.py"}, {"blob", *blob}, {"author", "policy"}});
        for (const session::Event &event : made.events)
            QVERIFY(log->append(event.type, event.turn, event.data).has_value());
        MainWindow window;
        window.show();
        SessionView *view = window.openSession(session);
        QTRY_VERIFY(!view->loading());
        QVERIFY(view->profilingProblem().contains(QLatin1String("Only plan candidates")));
        auto *ask = view->profilePane().findChild<QAction *>(QStringLiteral("profile.run"));
        QVERIFY(!ask->isEnabled());
        QVERIFY(ask->toolTip().contains(QLatin1String("PyTorch's process")));
    }
};

QTEST_MAIN(ProfileViewTest)
#include "profile_view_test.moc"
