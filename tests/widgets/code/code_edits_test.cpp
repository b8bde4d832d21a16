// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// What happens between the user's text and the log's: differences shown, marks that stay right.
#include "tests/widgets/code/code_bench.h"
#include "widgets/base/theme.h"
#include "widgets/code/edits_dialog.h"
#include "widgets/code/moved_lines.h"
#include "widgets/diff/diff_area.h"

#include <QAction>
#include <QFile>
#include <QPointer>
#include <QPushButton>
#include <QStandardPaths>
#include <QToolButton>

using namespace cuda_agent;
using namespace cuda_agent::widgets;
using namespace cuda_agent::widgets::sample;
using session::EventType;

namespace {

const Json errorInLine5 = Json::array({{{"severity", "error"},
                                        {"file", kernel},
                                        {"line", 5},
                                        {"column", 5},
                                        {"message", "expected an expression"}}});

/// A turn whose kernel has an error in "    if (i < 32) {", its fifth line.
void addFailedTurn(Bench &bench, int turn = 3) {
    bench.session.turn(turn, {{kernel, second}}, errorInLine5);
    bench.grow();
}

QString marked(const Bench &bench) {
    const int line = bench.editor()->lineOf(0);
    return line < 0 ? QString() : bench.editor()->text(line);
}

const QString wrongLine = QStringLiteral("    if (i < 32) {\n");

} // namespace

class CodeEditsTest : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void editsSurviveACrash();
    void agentNeverOverwritesEdits();
    void checkedEditsAreNoEdits();
    void linesMove_data();
    void linesMove();
    void differenceInAConflict();
    void differenceOfEdits();
    void differenceGoesWithTheSession();
    void noticeFitsASmallDock();
    void marksAfterDiscarding();
    void marksOnEditedText();
    void caretStaysWhenTextsAreReplaced();
    void screenshots();
};

void CodeEditsTest::editsSurviveACrash() {
    Bench bench;
    QFile::remove(bench.kept());
    bench.type("int mine;");
    QVERIFY(!QFile::exists(bench.kept()));
    QTRY_VERIFY_WITH_TIMEOUT(QFile::exists(bench.kept()), 3000); // by itself, as before a crash
    const auto edits = bench.pane->edits();
    const QString copy = bench.kept() + QStringLiteral(".copy");
    QFile::remove(copy);
    QVERIFY(QFile::copy(bench.kept(), copy));
    bench.pane.reset();
    QFile::remove(bench.kept());
    QVERIFY(QFile::rename(copy, bench.kept()));
    bench.open();
    QVERIFY(bench.pane->edits() == edits);
    QVERIFY(bench.notice().contains(QLatin1String(kernel)));
    bench.trigger("code.undo");
    QCOMPARE(bench.text(), q(second));
    bench.trigger("code.redo");
    QVERIFY(bench.pane->edits() == edits);
    // They come back also when the folder is known before the log is read, and go with discarding.
    bench.pane.reset();
    SessionDocument late;
    CodePane other(&late);
    late.setFolder(bench.session.folder());
    QVERIFY(!other.hasEdits());
    late.replace(bench.session.index());
    QVERIFY(other.edits() == edits);
    other.discardEdits();
    QVERIFY(!QFile::exists(bench.kept()));
    // A broken file is no edit.
    QFile broken(bench.kept());
    QVERIFY(broken.open(QIODevice::WriteOnly));
    broken.write("{\"files\": [1, {\"a\"");
    broken.close();
    bench.open();
    QVERIFY(!bench.pane->hasEdits());
    QFile::remove(bench.kept());
}

void CodeEditsTest::agentNeverOverwritesEdits() {
    Bench bench;
    bench.type("mine ");
    const QString mine = bench.text();
    const std::string theirs = "// theirs\n" + first;
    bench.session.turn(3, {{kernel, theirs}});
    bench.grow();
    QCOMPARE(bench.document.shownTurn(), 3);
    QCOMPARE(bench.text(), mine);
    QVERIFY(bench.notice().contains(QLatin1String(kernel)));
    bench.part<QToolButton>("code.keepMine")->click();
    QCOMPARE(bench.text(), mine);
    QVERIFY(bench.notice().isEmpty());
    QVERIFY(bench.pane->hasEdits());
    // Kept also over a restart: the base is the newer version now.
    bench.open();
    QCOMPARE(bench.text(), mine);
    QVERIFY(!bench.part<QToolButton>("code.keepMine")->isVisible());
    const std::string third = "// third\n" + first;
    bench.session.turn(4, {{kernel, third}});
    bench.grow();
    QVERIFY(bench.part<QToolButton>("code.takeTheirs")->isVisible());
    bench.part<QToolButton>("code.takeTheirs")->click();
    QCOMPARE(bench.text(), q(third));
    QVERIFY(!bench.pane->hasEdits());
    bench.trigger("code.undo"); // a wrong click is no loss
    QCOMPARE(bench.text(), mine);
    bench.pane->discardEdits();
    // What is not edited follows the agent.
    bench.session.turn(5, {{kernel, theirs}});
    bench.grow();
    QCOMPARE(bench.text(), q(theirs));
    QVERIFY(bench.notice().isEmpty());
}

void CodeEditsTest::checkedEditsAreNoEdits() {
    Bench bench;
    bench.type("int mine;");
    const auto edits = bench.pane->edits();
    bench.session.turn(3, {{kernel, edits.at(kernel)}}, Json::array(), "engineer");
    bench.grow();
    QVERIFY(!bench.pane->hasEdits());
    QVERIFY(bench.notice().isEmpty());
    QCOMPARE(bench.text(), q(edits.at(kernel)));
}

void CodeEditsTest::linesMove_data() {
    QTest::addColumn<QString>("from");
    QTest::addColumn<QString>("to");
    QTest::addColumn<QList<int>>("moved");
    const auto row = [](const char *name, const char *from, const char *to,
                        const QList<int> &moved) {
        QTest::newRow(name) << QString::fromUtf8(from) << QString::fromUtf8(to) << moved;
    };
    row("same", "a\nb\n", "a\nb\n", {0, 1});
    row("before", "a\nb\n", "x\na\nb\n", {1, 2});
    row("changed", "a\nb\nc\n", "a\nB\nc\n", {0, -1, 2});
    row("gone", "a\nb\nc", "a\nc", {0, -1, 1});
    row("both", "a\nb\nc\nd", "x\ny\na\nc\nz\nd", {2, -1, 3, 5});
    row("nothing left", "a\nb\n", "", {-1, -1});
    row("nothing there", "", "a\n", {});
}

void CodeEditsTest::linesMove() {
    QFETCH(QString, from);
    QFETCH(QString, to);
    QFETCH(QList<int>, moved);
    const std::vector<int> found = movedLines(from, to);
    QCOMPARE(QList<int>(found.begin(), found.end()), moved);
}

void CodeEditsTest::differenceInAConflict() {
    Bench bench;
    bench.editor()->setCursorPosition(0, 0);
    bench.type("// mine");
    QTest::keyClick(bench.editor(), Qt::Key_Return);
    const QString mine = bench.text();
    const std::string theirs = first + "// theirs\n";
    bench.session.turn(3, {{kernel, theirs}});
    bench.grow();
    auto *show = bench.part<QToolButton>("code.showDifference");
    QVERIFY(show->isVisible());
    show->click();
    QPointer<EditsDialog> dialog = bench.pane->findChild<EditsDialog *>();
    QVERIFY(dialog && dialog->isVisible());
    // "// mine" and "// second" are ours alone, "// theirs" is theirs alone.
    QCOMPARE(dialog->area().linesAdded(), 2);
    QCOMPARE(dialog->area().linesRemoved(), 1);
    show->click(); // not a second one
    QCOMPARE(bench.pane->findChildren<EditsDialog *>().size(), 1);
    // A still newer version comes while it is open.
    bench.session.turn(4, {{kernel, theirs + "// more\n"}});
    bench.grow();
    QCOMPARE(dialog->area().linesRemoved(), 2);
    QCOMPARE(bench.text(), mine);
    const auto press = [&](const char *text) {
        for (QPushButton *button : dialog->findChildren<QPushButton *>()) {
            if (button->text() == QLatin1String(text))
                QTest::mouseClick(button, Qt::LeftButton);
        }
    };
    QTest::keyClick(dialog->focusWidget(), Qt::Key_Return);
    QVERIFY(bench.part<QToolButton>("code.keepMine")->isVisible()); // decides nothing
    if (!dialog || !dialog->isVisible()) {
        show->click();
        dialog = bench.pane->findChild<EditsDialog *>();
    }
    press("Keep mine");
    QTRY_VERIFY(!dialog);
    QCOMPARE(bench.text(), mine);
    QVERIFY(bench.notice().isEmpty());
    bench.session.turn(5, {{kernel, theirs}});
    bench.grow();
    show->click();
    dialog = bench.pane->findChild<EditsDialog *>();
    QVERIFY(dialog);
    press("Take theirs");
    QTRY_VERIFY(!dialog);
    QCOMPARE(bench.text(), q(theirs));
    QVERIFY(!bench.pane->hasEdits());
    QVERIFY(bench.notice().isEmpty());
}

void CodeEditsTest::differenceOfEdits() {
    Bench bench;
    auto *action = bench.part<QAction>("code.showEdits");
    QVERIFY(!action->isEnabled()); // nothing to show
    bench.type("// mine ");
    QVERIFY(action->isEnabled());
    action->trigger();
    QPointer<EditsDialog> dialog = bench.pane->findChild<EditsDialog *>();
    QVERIFY(dialog);
    QCOMPARE(dialog->area().changeCount(), 1);
    for (QPushButton *button : dialog->findChildren<QPushButton *>())
        QVERIFY(button->isVisible() == (button->text() != QLatin1String("Keep mine") &&
                                        button->text() != QLatin1String("Take theirs")));
    bench.trigger("code.undo");
    QCOMPARE(dialog->area().changeCount(), 0);
    QTest::keyClick(dialog, Qt::Key_Escape);
    QTRY_VERIFY(!dialog);
    bench.choose("softmax.py");
    QVERIFY(!action->isEnabled());
}

void CodeEditsTest::differenceGoesWithTheSession() {
    Bench bench;
    bench.type("x");
    bench.trigger("code.showEdits");
    QPointer<EditsDialog> dialog = bench.pane->findChild<EditsDialog *>();
    QVERIFY(dialog);
    bench.pane->discardEdits();
    bench.document.setFolder(std::filesystem::path(bench.dir.path().toStdString()) / "other");
    QTRY_VERIFY(!dialog);
}

void CodeEditsTest::noticeFitsASmallDock() {
    Bench bench;
    bench.type("mine");
    bench.session.turn(3, {{kernel, first}});
    bench.grow();
    bench.pane->resize(300, 300);
    QTest::qWait(20);
    QCOMPARE(bench.pane->width(), 300);
    const auto *text = bench.part<QLabel>("code.noticeText");
    QVERIFY(text->height() >= text->heightForWidth(text->width()));
    QVERIFY(text->width() > 200);
    for (const char *name : {"code.keepMine", "code.takeTheirs", "code.showDifference"}) {
        const auto *button = bench.part<QToolButton>(name);
        QVERIFY(button->isVisible());
        QVERIFY(button->width() >= button->sizeHint().width());
        QVERIFY(bench.pane->rect().contains(
            QRect(button->mapTo(bench.pane.get(), QPoint()), button->size())));
    }
}

void CodeEditsTest::marksAfterDiscarding() {
    Bench bench;
    addFailedTurn(bench);
    QCOMPARE(marked(bench), wrongLine);
    // The wrong line itself and ones around it are edited.
    bench.editor()->setSelection(3, 0, 6, 4);
    bench.type("y");
    QVERIFY(bench.pane->hasEdits());
    bench.pane->discardEdits();
    QCOMPARE(bench.text(), q(second));
    QCOMPARE(marked(bench), wrongLine);
    QVERIFY(bench.editor()->markersAtLine(4) != 0);
    QCOMPARE(bench.editor()->markersAtLine(0), 0U);
    QVERIFY(bench.editor()->annotation(4).contains(QStringLiteral("expected")));
    bench.trigger("code.undo"); // the discarding: that line is not there any more
    QVERIFY(bench.pane->hasEdits());
    QCoreApplication::processEvents();
    for (int line = 0; line < bench.editor()->lines(); ++line)
        QCOMPARE(bench.editor()->markersAtLine(line), 0U);
    bench.trigger("code.redo");
    QTRY_COMPARE(marked(bench), wrongLine);
    bench.pane->discardEdits();
}

void CodeEditsTest::marksOnEditedText() {
    Bench bench;
    bench.editor()->setCursorPosition(0, 0);
    bench.type("// mine");
    QTest::keyClick(bench.editor(), Qt::Key_Return);
    addFailedTurn(bench); // says line 5 of the log's text, which is line 6 of the user's
    QCOMPARE(bench.editor()->lineOf(0), 5);
    QCOMPARE(marked(bench), wrongLine);
    // Kept edits come back: the same.
    bench.open();
    QVERIFY(bench.pane->hasEdits());
    QCOMPARE(bench.editor()->lineOf(0), 5);
    // An older turn is restored: the line moves with the text.
    bench.document.selectTurn(1);
    bench.pane->discardEdits();
    bench.pane->restoreTurn();
    QCOMPARE(bench.text(), q(first));
    QCOMPARE(bench.editor()->lineOf(0), 3);
    QCOMPARE(marked(bench), wrongLine);
    bench.pane->discardEdits();
}

void CodeEditsTest::caretStaysWhenTextsAreReplaced() {
    Bench bench;
    bench.editor()->setCursorPosition(0, 0);
    bench.type("x");
    bench.editor()->setCursorPosition(7, 3);
    bench.pane->discardEdits();
    int line = 0, column = 0;
    bench.editor()->getCursorPosition(&line, &column);
    QCOMPARE(QPoint(column, line), QPoint(3, 7));
    // Beyond ASCII the bytes before and behind the change are whole characters.
    bench.session.turn(3, {{kernel, "ä\nö\nü\n"}});
    bench.grow();
    bench.editor()->selectAll();
    bench.editor()->replaceSelectedText(QStringLiteral("ä\nß\nü"));
    bench.pane->discardEdits();
    QCOMPARE(bench.text(), QStringLiteral("ä\nö\nü\n"));
    QVERIFY(!bench.pane->hasEdits());
    bench.trigger("code.undo");
    QVERIFY(bench.text().startsWith(QStringLiteral("ä\nß")));
    bench.pane->discardEdits();
}

void CodeEditsTest::screenshots() {
    const QString folder = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
    if (folder.isEmpty())
        QSKIP("set CUDA_AGENT_SCREENSHOTS to a folder");
    Bench bench;
    bench.editor()->setSelection(3, 0, 4, 0);
    bench.type("    const int lane = threadIdx.x;");
    QTest::keyClick(bench.editor(), Qt::Key_Return);
    bench.session.turn(3, {{kernel, "// theirs\n" + first}}, errorInLine5);
    bench.grow();
    for (const bool dark : {false, true}) {
        Theme::instance().setScheme(dark ? Theme::Scheme::dark : Theme::Scheme::light);
        const auto save = [&](const char *what, QWidget *widget) {
            QTest::qWait(30);
            QVERIFY(widget->grab().save(
                QStringLiteral("%1/code-%2-%3.png")
                    .arg(folder, QLatin1String(what),
                         dark ? QStringLiteral("dark") : QStringLiteral("light"))));
        };
        bench.pane->resize(760, 360);
        save("conflict", bench.pane.get());
        bench.pane->resize(300, 300);
        save("conflict-small", bench.pane.get());
        bench.part<QToolButton>("code.showDifference")->click();
        auto *dialog = bench.pane->findChild<EditsDialog *>();
        save("edits", dialog);
        dialog->resize(480, 260);
        save("edits-small", dialog);
        delete dialog;
    }
    Theme::instance().setScheme(Theme::Scheme::system);
    bench.pane->discardEdits();
}

QTEST_MAIN(CodeEditsTest)
#include "code_edits_test.moc"
