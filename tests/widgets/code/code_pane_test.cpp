// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/code/code_bench.h"
#include "widgets/base/theme.h"
#include "widgets/code/code_editor.h"
#include "widgets/code/code_pane.h"
#include "widgets/code/cuda_lexer.h"
#include "widgets/code/edit_store.h"
#include "widgets/code/text_finder.h"
#include "widgets/diff/diff_view.h"

#include <QElapsedTimer>
#include <QFile>
#include <QInputDialog>
#include <QLabel>
#include <QLineEdit>
#include <QMessageBox>
#include <QSaveFile>
#include <QSignalSpy>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTabBar>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>

using namespace cuda_agent;
using namespace cuda_agent::widgets;
using session::EventType;

using namespace cuda_agent::widgets::sample;

class CodeTest : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void showsTheFilesOfTheTurn();
    void typesAndUndoes();
    void readOnlyWhereItMustBe();
    void taskIsProtected();
    void showsTheTaskBeforeItsSession();
    void lookingBackKeepsEdits();
    void keys();
    void cudaWords();
    void goesToLines();
    void marks();
    void restoresATurn();
    void restoreAsksFirst();
    void compares();
    void replay();
    void longSessions();
    void cutOffTurns();
    void missingAndBinaryFiles();
    void nothingThere();
    void screenshots();
};

void CodeTest::showsTheFilesOfTheTurn() {
    Bench bench;
    QCOMPARE(bench.tabs(), QStringList({QStringLiteral("softmax.cu"), QStringLiteral("plan.json"),
                                        QStringLiteral("softmax.py")}));
    QCOMPARE(bench.text(), q(second));
    bench.document.selectTurn(1);
    QCOMPARE(bench.text(), q(first));
    bench.choose("plan.json");
    QCOMPARE(bench.text(), q(plan));
    bench.document.selectTurn(0);
    QCOMPARE(bench.text(), q(plan));
    bench.session.turn(3, {{"kernels/other.cuh", "#pragma once\n"}});
    bench.grow();
    QCOMPARE(bench.tabs().size(), 4);
    QCOMPARE(bench.text(), q(plan)); // the tab that was looked at stays
    bench.document.selectTurn(2);
    QCOMPARE(bench.tabs().size(), 3); // it was not there then
}

void CodeTest::typesAndUndoes() {
    Bench bench;
    QVERIFY(!bench.pane->hasEdits());
    QSignalSpy changed(bench.pane.get(), &CodePane::editsChanged);
    bench.editor()->setCursorPosition(0, 0);
    bench.type("int a;");
    QVERIFY(changed.count() > 0);
    QVERIFY(bench.pane->hasEdits());
    QCOMPARE(bench.text(), QStringLiteral("int a;") + q(second));
    const std::map<std::string, std::string> edits{{kernel, "int a;" + second}};
    QVERIFY(bench.pane->edits() == edits);
    QVERIFY(bench.tabs()[0].endsWith(QLatin1Char('*')));
    bench.trigger("code.undo");
    QVERIFY(!bench.pane->hasEdits());
    QVERIFY(bench.pane->edits().empty());
    bench.trigger("code.redo");
    QVERIFY(bench.pane->edits() == edits);
    bench.pane->discardEdits();
    QVERIFY(!bench.pane->hasEdits());
    QCOMPARE(bench.text(), q(second));
    QCOMPARE(bench.tabs()[0], QStringLiteral("softmax.cu"));
}

void CodeTest::readOnlyWhereItMustBe() {
    Bench bench;
    bench.document.selectTurn(1);
    bench.type("x");
    QCOMPARE(bench.text(), q(first));
    QVERIFY(bench.info().contains(QStringLiteral("turn 1 of 2")));
    bench.document.selectTurn(0);
    bench.pane->setEditable(false);
    bench.type("x");
    QCOMPARE(bench.text(), q(second));
    QVERIFY(bench.info().contains(QStringLiteral("Pause")));
    bench.pane->setEditable(true);
    bench.type("x");
    QVERIFY(bench.pane->hasEdits());
}

void CodeTest::taskIsProtected() {
    Bench bench;
    bench.choose("softmax.py");
    QCOMPARE(bench.text(), q(taskText));
    bench.type("x");
    QTest::keyClick(bench.editor(), Qt::Key_Delete);
    QTest::keyClick(bench.editor(), Qt::Key_V, Qt::ControlModifier);
    QCOMPARE(bench.text(), q(taskText));
    QVERIFY(bench.info().contains(QStringLiteral("Protected")));
    QVERIFY(bench.part<QLabel>("code.info")->isVisible());
    QVERIFY(!bench.part<QTabBar>("code.tabs")->tabIcon(2).isNull());
    QVERIFY(bench.pane->edits().empty());
}

void CodeTest::showsTheTaskBeforeItsSession() {
    QTemporaryDir dir;
    CodeSession session(dir.path().toStdString() + "/session");
    const QString path = dir.filePath(QStringLiteral("softmax.py"));
    const auto write = [&](const QByteArray &text) {
        QSaveFile file(path); // as editors do: another file in its place
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
        QVERIFY(file.commit());
    };
    write("# first");
    SessionDocument document;
    CodePane pane(&document);
    pane.setEditable(true);
    document.setFolder(session.folder());
    pane.setTaskFile(path.toStdString());
    pane.show();
    auto *tabs = pane.findChild<QTabBar *>(QStringLiteral("code.tabs"));
    QCOMPARE(tabs->count(), 1);
    QCOMPARE(tabs->tabText(0), QStringLiteral("softmax.py"));
    QVERIFY(pane.editor()->isReadOnly());
    QCOMPARE(pane.editor()->text(), QStringLiteral("# first"));
    for (const char *text : {"# second", "# third"}) {
        write(text);
        QTRY_COMPARE(pane.editor()->text(), QString::fromUtf8(text));
    }
    QVERIFY(QFile::remove(path));
    QTRY_VERIFY(pane.findChild<QLabel *>(QStringLiteral("code.info"))
                    ->text()
                    .contains(QLatin1String("cannot be read")));
    QVERIFY(!pane.hasEdits());
    // What is in the log counts, whatever is on the disk.
    session.task(taskText);
    document.replace(session.index());
    QCOMPARE(pane.editor()->text(), q(taskText));
    session.fresh();
    session.turn(1, {{kernel, first}});
    document.append(session.fresh());
    QCOMPARE(pane.editor()->text(), q(first));
    write("# fourth");
    QTest::qWait(50);
    pane.findChild<QTabBar *>(QStringLiteral("code.tabs"))->setCurrentIndex(1);
    QCOMPARE(pane.editor()->text(), q(taskText));
    // Another folder has another task, or none.
    document.setFolder(dir.path().toStdString() + "/other");
    document.replace(SessionIndex());
    QVERIFY(!pane.editor());
}

void CodeTest::lookingBackKeepsEdits() {
    Bench bench;
    bench.type("x");
    bench.type("y");
    const QString mine = bench.text();
    bench.document.selectTurn(1);
    QCOMPARE(bench.text(), q(first));
    QVERIFY(bench.pane->hasEdits());
    bench.document.selectTurn(2);
    QCOMPARE(bench.text(), mine);
    bench.trigger("code.undo");
    QCOMPARE(bench.text(), q(second));
}

void CodeTest::keys() {
    Bench bench;
    bench.editor()->setFocus();
    QSignalSpy check(bench.pane.get(), &CodePane::checkRequested);
    QTest::keyClick(bench.editor(), Qt::Key_Return, Qt::ControlModifier);
    QCOMPARE(check.count(), 1);
    QCOMPARE(bench.text(), q(second));
    QTest::keyClick(bench.editor(), Qt::Key_F, Qt::ControlModifier);
    QVERIFY(bench.part<QLineEdit>("code.findText")->isVisible());
    QVERIFY(!bench.part<QLineEdit>("code.replaceText")->isVisible());
    QTest::keyClick(bench.part<QLineEdit>("code.findText"), Qt::Key_Escape);
    QVERIFY(!bench.part<QLineEdit>("code.findText")->isVisible());
    QTest::keyClick(bench.editor(), Qt::Key_H, Qt::ControlModifier);
    QVERIFY(bench.part<QLineEdit>("code.replaceText")->isVisible());
    bench.trigger("code.find");
    bench.editor()->setFocus();
    QTest::keyClick(bench.editor(), Qt::Key_PageDown, Qt::ControlModifier);
    QCOMPARE(bench.text(), q(plan));
    QTest::keyClick(bench.editor(), Qt::Key_PageUp, Qt::ControlModifier);
    QCOMPARE(bench.text(), q(second));
    bench.editor()->setFocus();
    QTest::keyClick(bench.editor(), Qt::Key_Escape);
    QVERIFY(!bench.part<QLineEdit>("code.findText")->isVisible());
    QTest::keyClick(bench.editor(), Qt::Key_Escape);
    QVERIFY(bench.part<QTabBar>("code.tabs")->hasFocus());
    QCOMPARE(bench.text(), q(second));
    bench.editor()->setFocus();
    const auto zoom = [&] { return bench.editor()->SendScintilla(QsciScintilla::SCI_GETZOOM); };
    QTest::keyClick(bench.editor(), Qt::Key_Plus, Qt::ControlModifier);
    QCOMPARE(zoom(), 1);
    bench.choose("plan.json");
    QCOMPARE(zoom(), 1); // all files alike
    bench.trigger("code.zoomReset");
    QCOMPARE(zoom(), 0);
    for (const QAction *each : bench.pane->actions()) {
        QVERIFY(each->objectName().startsWith(QStringLiteral("code.")));
        QVERIFY(!each->text().isEmpty());
    }
}

void CodeTest::cudaWords() {
    Bench bench;
    CodeEditor &editor = *bench.editor();
    editor.recolor();
    const auto styleOf = [&](const char *word) {
        const auto at = second.find(word);
        return int(editor.SendScintilla(QsciScintilla::SCI_GETSTYLEAT, long(at)));
    };
    QCOMPARE(styleOf("__global__"), int(QsciLexerCPP::Keyword));
    QCOMPARE(styleOf("__shared__"), int(QsciLexerCPP::Keyword));
    QCOMPARE(styleOf("threadIdx"), int(QsciLexerCPP::KeywordSet2));
    QCOMPARE(styleOf("float4"), int(QsciLexerCPP::KeywordSet2));
    QCOMPARE(styleOf("__syncthreads"), int(QsciLexerCPP::GlobalClass));
    QCOMPARE(styleOf("atomicAdd"), int(QsciLexerCPP::GlobalClass));
    QCOMPARE(styleOf("part"), int(QsciLexerCPP::Identifier));
    // The function's body folds.
    const long level = editor.SendScintilla(QsciScintilla::SCI_GETFOLDLEVEL, 1UL);
    QVERIFY(level & QsciScintilla::SC_FOLDLEVELHEADERFLAG);
    bench.trigger("code.foldAll");
    QVERIFY(!editor.SendScintilla(QsciScintilla::SCI_GETLINEVISIBLE, 3UL));
    bench.pane->goTo(QLatin1String(kernel), 4, 1); // unfolds what it goes to
    QVERIFY(editor.SendScintilla(QsciScintilla::SCI_GETLINEVISIBLE, 3UL));
}

void CodeTest::goesToLines() {
    Bench bench;
    const auto place = [&] {
        int line = 0, column = 0;
        bench.editor()->getCursorPosition(&line, &column);
        return QPoint(column + 1, line + 1);
    };
    bench.pane->goTo(QStringLiteral("plan.json"), 1, 4);
    QCOMPARE(bench.text(), q(plan));
    QCOMPARE(place(), QPoint(4, 1));
    bench.pane->goTo(QStringLiteral("/build/x/kernels/softmax.cu"), 5, 9);
    QCOMPARE(bench.text(), q(second));
    QCOMPARE(place(), QPoint(9, 5));
    bench.pane->goTo(QStringLiteral("softmax.cu"), 999, 999);
    QCOMPARE(place(), QPoint(1, 11));
    bench.pane->goTo(QStringLiteral("softmax.cu"), -3, 0);
    QCOMPARE(place(), QPoint(1, 1));
    bench.pane->goTo(QStringLiteral("softmax.py"), 4, 1);
    QCOMPARE(bench.text(), q(taskText));
    bench.pane->goTo(QStringLiteral("nowhere.cu"), 1, 1);
    QVERIFY(bench.notice().contains(QStringLiteral("nowhere.cu")));
    bench.pane->goTo(QLatin1String(kernel), 1, 1);
    QTest::keyClick(bench.editor(), Qt::Key_L, Qt::ControlModifier);
    QCOMPARE(bench.text(), q(second)); // Scintilla would have cut the line
    auto *dialog = bench.part<QInputDialog>("code.lineDialog");
    QVERIFY(dialog);
    dialog->setIntValue(7);
    dialog->accept();
    QCOMPARE(place(), QPoint(1, 7));
}

void CodeTest::marks() {
    Bench bench;
    const Json diagnostics = Json::array(
        {{{"severity", "error"},
          {"file", kernel},
          {"line", 4},
          {"column", 11},
          {"message", "identifier \"<b>i</b>\" is undefined"}},
         {{"severity", "warning"}, {"file", kernel}, {"line", 8}, {"message", "unused"}},
         {{"severity", "error"}, {"file", "/harness/main.cpp"}, {"line", 1}, {"message", "no"}},
         {{"severity", 7}, {"file", kernel}, {"line", "x"}, {"message", Json::array()}}});
    bench.session.turn(3, {{kernel, second}, {"plan.json", plan}}, diagnostics);
    bench.grow();
    CodeEditor &editor = *bench.editor();
    QCOMPARE(editor.lineOf(0), 3);
    QCOMPARE(editor.lineOf(1), 7);
    QVERIFY(editor.markersAtLine(3) != 0);
    QVERIFY(editor.markersAtLine(7) != 0 && editor.markersAtLine(7) != editor.markersAtLine(3));
    QCOMPARE(editor.markersAtLine(0), 0U);
    QCOMPARE(editor.messagesAt(3).size(), 1);
    QVERIFY(editor.annotation(3).contains(QStringLiteral("undefined")));
    QVERIFY(editor.annotation(0).isEmpty());
    const long at = editor.positionFromLineIndex(3, 10);
    QVERIFY(editor.SendScintilla(QsciScintilla::SCI_INDICATORVALUEAT, 8UL, at) != 0);
    QVERIFY(editor.SendScintilla(QsciScintilla::SCI_INDICATORVALUEAT, 8UL, at - 3) == 0);
    // Marks move with their lines.
    editor.setCursorPosition(0, 0);
    bench.type("a");
    QTest::keyClick(&editor, Qt::Key_Return);
    QCOMPARE(editor.lineOf(0), 4);
    QVERIFY(editor.annotation(4).contains(QStringLiteral("undefined")));
    bench.trigger("code.messages");
    QVERIFY(editor.annotation(4).isEmpty());
    bench.trigger("code.messages");
    QVERIFY(editor.annotation(4).contains(QStringLiteral("undefined")));
    bench.pane->discardEdits();
    // Another turn has its own.
    bench.document.selectTurn(2);
    QCOMPARE(bench.editor()->markersAtLine(3), 0U);
    bench.document.selectTurn(3);
    QVERIFY(bench.editor()->markersAtLine(3) != 0);
    bench.session.turn(4, {{kernel, second}});
    bench.document.selectTurn(0);
    bench.grow();
    QCOMPARE(bench.editor()->markersAtLine(3), 0U);
    QVERIFY(bench.editor()->annotation(3).isEmpty());
}

void CodeTest::restoresATurn() {
    Bench bench;
    QVERIFY(!bench.part<QAction>("code.restoreTurn")->isEnabled());
    bench.document.selectTurn(1);
    bench.trigger("code.restoreTurn");
    QCOMPARE(bench.document.shownTurn(), 2);
    QCOMPARE(bench.text(), q(first));
    const std::map<std::string, std::string> edits{{kernel, first}};
    QVERIFY(bench.pane->edits() == edits); // plan.json is what it was
    QVERIFY(bench.notice().contains(QStringLiteral("turn 1")));
    bench.trigger("code.undo");
    QVERIFY(!bench.pane->hasEdits());
}

void CodeTest::restoreAsksFirst() {
    Bench bench;
    bench.type("mine");
    const auto mine = bench.pane->edits();
    bench.document.selectTurn(1);
    const auto answer = [&](QMessageBox::ButtonRole role) {
        auto *box = bench.pane->findChild<QMessageBox *>();
        QVERIFY(box);
        for (QAbstractButton *button : box->buttons()) {
            if (box->buttonRole(button) == role)
                QTest::mouseClick(button, Qt::LeftButton);
        }
        QTRY_VERIFY(!bench.pane->findChild<QMessageBox *>());
    };
    bench.pane->restoreTurn();
    answer(QMessageBox::RejectRole);
    QVERIFY(bench.pane->edits() == mine);
    QCOMPARE(bench.document.shownTurn(), 1);
    bench.pane->restoreTurn();
    answer(QMessageBox::AcceptRole);
    const std::map<std::string, std::string> edits{{kernel, first}};
    QVERIFY(bench.pane->edits() == edits);
    bench.trigger("code.discardEdits");
    answer(QMessageBox::DestructiveRole);
    QVERIFY(!bench.pane->hasEdits());
}

void CodeTest::compares() {
    Bench bench;
    bench.editor()->setFocus();
    QTest::keyClick(bench.editor(), Qt::Key_D, Qt::ControlModifier | Qt::ShiftModifier);
    auto *diff = bench.pane->findChild<DiffView *>();
    QVERIFY(diff && diff->isVisible());
    QVERIFY(!bench.editor());
    QCOMPARE(diff->turnA(), 1);
    QCOMPARE(diff->turnB(), 2);
    QCOMPARE(diff->path(), QLatin1String(kernel));
    bench.choose("softmax.cu");
    QVERIFY(!diff->isVisible());
    QCOMPARE(bench.text(), q(second));
}

void CodeTest::replay() {
    Bench bench;
    bench.type("mine");
    const auto mine = bench.pane->edits();
    for (std::size_t at = bench.document.index().size(); at-- > 0;) {
        bench.document.setCursor(at);
        QVERIFY(bench.pane->edits() == mine);
        QVERIFY(!bench.editor() || bench.editor()->isReadOnly());
    }
    QVERIFY(bench.tabs().isEmpty());
    bench.document.setCursor(3); // the first file is there, the second is not
    QCOMPARE(bench.tabs().size(), 2);
    QCOMPARE(bench.text(), q(first));
    bench.document.toEnd();
    QCOMPARE(bench.text(), q(mine.at(kernel)));
    bench.pane->discardEdits();
}

void CodeTest::longSessions() {
    Bench bench;
    for (int turn = 3; turn < 20'000; ++turn)
        bench.session.turn(turn, {{kernel, turn % 2 ? first : second}, {"plan.json", plan}});
    bench.document.replace(bench.session.index());
    QVERIFY(bench.document.index().size() > 95'000);
    QElapsedTimer clock;
    qint64 worst = 0;
    const auto step = [&](std::size_t cursor) {
        clock.restart();
        bench.document.setCursor(cursor);
        worst = std::max(worst, clock.elapsed());
    };
    for (std::size_t i = 0; i < 30; ++i)
        step(bench.document.index().size() - 1 - i);
    step(50'000);
    bench.document.toEnd();
    qInfo("longest step over the log: %lld ms", static_cast<long long>(worst));
    bench.session.fresh();
    for (int i = 0; i < 20; ++i) {
        bench.session.turn(20'000 + i, {{kernel, first}});
        const auto fresh = bench.session.fresh();
        clock.restart();
        bench.document.append(fresh);
        worst = std::max(worst, clock.elapsed());
    }
    qInfo("longest step: %lld ms", static_cast<long long>(worst));
    QVERIFY(worst < 100); // 50 on a machine that does nothing else

    // The short way to a moment's files gives what the log's index gives.
    const SessionIndex &index = bench.document.index();
    FileHistory history;
    history.follow(index);
    for (std::size_t cursor = 0; cursor < index.size(); cursor += 9'973) {
        const auto expected = index.files(cursor);
        const auto files = history.files(index, cursor);
        QCOMPARE(files.size(), expected.size());
        for (const auto &[path, version] : expected)
            QCOMPARE(files.at(path).event, version.event);
    }
}

void CodeTest::cutOffTurns() {
    Bench bench;
    CodeSession &session = bench.session;
    const auto write = [&](const char *path, const char *author, const std::string &text) {
        session.add(EventType::fileWritten, 3,
                    {{"path", path}, {"blob", session.putBlob(text)}, {"author", author}});
    };
    session.add(EventType::turnStarted, 3, Json::object());
    write(kernel, "policy", "cut off");
    write("plan.json", "engineer", "{}");
    write("new.cu", "policy", "cut off");
    session.add(EventType::turnStarted, 3, Json::object()); // after a crash
    write("plan.json", "policy", "[]");
    session.add(EventType::turnEnded, 3, Json::object());
    const SessionIndex index = session.index();
    FileHistory history;
    for (std::size_t cursor = 0; cursor <= index.size(); ++cursor) {
        history.follow(index);
        const auto expected = index.files(cursor);
        const auto files = history.files(index, cursor);
        QCOMPARE(files.size(), expected.size());
        for (const auto &[path, version] : expected) {
            QCOMPARE(files.at(path).event, version.event);
            QCOMPARE(files.at(path).blob, version.blob);
        }
    }
    bench.grow();
    QCOMPARE(bench.text(), q(second));
    QCOMPARE(bench.tabs().size(), 3);
    // Another log.
    history.follow(SessionIndex());
    QVERIFY(history.files(index, index.size()).empty());
}

void CodeTest::missingAndBinaryFiles() {
    Bench bench;
    bench.session.add(EventType::turnStarted, 3, Json::object());
    bench.session.add(EventType::fileWritten, 3,
                      {{"path", "gone.cu"}, {"blob", std::string(64, 'a')}, {"author", "policy"}});
    bench.session.add(EventType::fileWritten, 3,
                      {{"path", "a&b.bin"},
                       {"blob", bench.session.putBlob(std::string("ab\0cd", 5))},
                       {"author", "policy"}});
    bench.session.add(EventType::fileWritten, 3, {{"path", 7}, {"blob", "../../x"}});
    bench.grow();
    QVERIFY(!bench.pane->hasEdits());
    bench.choose("gone.cu");
    bench.type("x");
    QVERIFY(bench.text().isEmpty());
    QVERIFY(!bench.info().isEmpty());
    bench.choose("a&&b.bin");
    bench.type("x");
    QVERIFY(bench.text().startsWith(QStringLiteral("ab")));
    QVERIFY(bench.info().contains(QStringLiteral("not a text")));
    QVERIFY(!bench.pane->hasEdits());
    // Line ends are the file's own.
    bench.session.turn(4, {{"dos.cu", "a\r\nb\r\n"}, {"empty.cu", ""}});
    bench.grow();
    QVERIFY(!bench.pane->hasEdits());
    bench.choose("empty.cu");
    bench.type("x");
    QCOMPARE(bench.pane->edits().at("empty.cu"), std::string("x"));
    bench.choose("dos.cu");
    bench.editor()->setCursorPosition(0, 1);
    QTest::keyClick(bench.editor(), Qt::Key_Return);
    QCOMPARE(bench.pane->edits().at("dos.cu"), std::string("a\r\n\r\nb\r\n"));
    bench.pane->discardEdits();
}

void CodeTest::nothingThere() {
    SessionDocument document;
    CodePane pane(&document);
    pane.setEditable(true);
    pane.show();
    QVERIFY(pane.findChild<QLabel *>(QStringLiteral("code.empty"))->isVisible());
    QVERIFY(!pane.editor());
    for (QAction *each : pane.actions())
        each->trigger();
    pane.goTo(QStringLiteral("a.cu"), 1, 1);
    pane.restoreTurn();
    pane.discardEdits();
    QVERIFY(pane.edits().empty());
}

void CodeTest::screenshots() {
    const QString folder = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
    if (folder.isEmpty())
        QSKIP("set CUDA_AGENT_SCREENSHOTS to a folder");
    Bench bench;
    bench.session.turn(
        3, {{kernel, second}},
        Json::array(
            {{{"severity", "error"},
              {"file", kernel},
              {"line", 4},
              {"column", 11},
              {"message", "identifier \"i\" is undefined\nin the kernel softmax"}},
             {{"severity", "warning"}, {"file", kernel}, {"line", 8}, {"message", "unused"}}}));
    bench.grow();
    for (const bool dark : {false, true}) {
        Theme::instance().setScheme(dark ? Theme::Scheme::dark : Theme::Scheme::light);
        const auto save = [&](const char *what) {
            QTest::qWait(30);
            QVERIFY(bench.pane->grab().save(
                QStringLiteral("%1/code-%2-%3.png")
                    .arg(folder, QLatin1String(what),
                         dark ? QStringLiteral("dark") : QStringLiteral("light"))));
        };
        bench.pane->resize(760, 480);
        bench.choose("softmax.cu");
        save("marks");
        bench.type("x");
        bench.trigger("code.replace");
        bench.part<QLineEdit>("code.findText")->clear();
        QTest::keyClicks(bench.part<QLineEdit>("code.findText"), QStringLiteral("part"));
        save("find");
        bench.session.turn(dark ? 5 : 4, {{kernel, dark ? first : "// other\n" + first}});
        bench.grow();
        bench.pane->resize(300, 260);
        save("small");
        QTest::keyClick(bench.part<QLineEdit>("code.findText"), Qt::Key_Escape);
        bench.pane->discardEdits();
        bench.pane->resize(760, 480);
        bench.document.selectTurn(1);
        save("past");
        bench.trigger("code.compare");
        save("compare");
        bench.choose("plan.json");
        save("plan");
        bench.choose("softmax.py");
        save("task");
        bench.document.selectTurn(0);
        bench.document.toEnd();
    }
    Theme::instance().setScheme(Theme::Scheme::system);
}

QTEST_MAIN(CodeTest)
#include "code_pane_test.moc"
