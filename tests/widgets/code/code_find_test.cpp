// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/code/code_bench.h"
#include "widgets/code/text_finder.h"

#include <QAction>
#include <QLineEdit>
#include <QStandardPaths>
#include <QToolButton>

using namespace cuda_agent;
using namespace cuda_agent::widgets;
using namespace cuda_agent::widgets::sample;

class CodeFindTest : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void finds();
    void findsInText();
    void replacesAllInOneStep();
};

void CodeFindTest::finds() {
    Bench bench;
    bench.editor()->setCursorPosition(0, 0);
    bench.trigger("code.find");
    auto *find = bench.part<QLineEdit>("code.findText");
    auto *count = bench.part<QLabel>("code.findCount");
    QTest::keyClicks(find, QStringLiteral("part"));
    QCOMPARE(count->text(), QStringLiteral("1 of 3"));
    QCOMPARE(bench.editor()->selectedText(), QStringLiteral("part"));
    QTest::keyClick(find, Qt::Key_Return);
    QCOMPARE(count->text(), QStringLiteral("2 of 3"));
    bench.trigger("code.findNext");
    bench.trigger("code.findNext");
    QCOMPARE(count->text(), QStringLiteral("1 of 3")); // round
    bench.trigger("code.findPrevious");
    QCOMPARE(count->text(), QStringLiteral("3 of 3"));
    // Behind a letter of two bytes the place is still right.
    int line = 0, column = 0;
    bench.editor()->getCursorPosition(&line, &column);
    QCOMPARE(line, 8);
    find->clear();
    QTest::keyClicks(find, QStringLiteral("PART"));
    QCOMPARE(count->text(), QStringLiteral("3 of 3"));
    bench.part<QToolButton>("code.findCase")->click();
    QCOMPARE(count->text(), QStringLiteral("No match"));
    bench.part<QToolButton>("code.findRegex")->click();
    find->clear();
    QTest::keyClicks(find, QStringLiteral("(part"));
    QVERIFY(count->text().startsWith(QStringLiteral("Not a regular expression")));
    QTest::keyClick(find, Qt::Key_Escape);
    QVERIFY(!find->isVisible());
    QVERIFY(bench.editor()->hasFocus());
}

void CodeFindTest::findsInText() {
    const QString text = QStringLiteral("ab aB größe ab2\nab");
    const auto count = [&](const Pattern &pattern) {
        return findAll(text, pattern, {}).matches.size();
    };
    QCOMPARE(count({QStringLiteral("ab")}), std::size_t(4));
    QCOMPARE(count({QStringLiteral("ab"), false, true}), std::size_t(3));
    QCOMPARE(count({QStringLiteral("ab"), false, true, true}), std::size_t(2));
    QCOMPARE(count({QStringLiteral("^ab"), true}), std::size_t(2));
    QCOMPARE(count({QStringLiteral("x*"), true}), std::size_t(0)); // nothing but empty ones
    QCOMPARE(count({QStringLiteral(".")}), std::size_t(0));        // not an expression
    QCOMPARE(count({}), std::size_t(0));
    const auto found = findAll(text, {QStringLiteral("(\\w)(b2)"), true}, QStringLiteral("\\2\\1"));
    QCOMPARE(found.matches.size(), std::size_t(1));
    QCOMPARE(found.matches[0].range.begin, 14L); // ö and ß have two bytes each
    QCOMPARE(found.matches[0].range.end, 17L);
    QCOMPARE(found.matches[0].replacement, QStringLiteral("b2a"));
    QVERIFY(!findAll(text, {QStringLiteral("("), true}, {}).problem.isEmpty());
}

void CodeFindTest::replacesAllInOneStep() {
    Bench bench;
    bench.trigger("code.replace");
    QTest::keyClicks(bench.part<QLineEdit>("code.findText"), QStringLiteral("part"));
    bench.part<QLineEdit>("code.replaceText")->setText(QStringLiteral("größe"));
    QTest::mouseClick(bench.part<QToolButton>("code.replaceAll"), Qt::LeftButton);
    QCOMPARE(bench.text(), q(second).replace(QStringLiteral("part"), QStringLiteral("größe")));
    QCOMPARE(bench.part<QLabel>("code.findCount")->text(), QStringLiteral("3 replaced"));
    bench.trigger("code.undo");
    QCOMPARE(bench.text(), q(second));
    QVERIFY(!bench.pane->hasEdits());
    // One by one; the replacement holds the pattern and is not found again.
    bench.editor()->setCursorPosition(0, 0);
    auto *with = bench.part<QLineEdit>("code.replaceText");
    with->setText(QStringLiteral("part2"));
    QTest::keyClick(bench.part<QLineEdit>("code.findText"), Qt::Key_Return);
    QTest::keyClick(with, Qt::Key_Return);
    QTest::keyClick(with, Qt::Key_Return);
    QCOMPARE(bench.text().count(QStringLiteral("part2")), 2);
    QCOMPARE(bench.text().count(QStringLiteral("part22")), 0);
    // A file that is not to be edited offers no replacing.
    bench.choose("softmax.py");
    bench.trigger("code.replace");
    QVERIFY(!with->isVisible());
}

QTEST_MAIN(CodeFindTest)
#include "code_find_test.moc"
