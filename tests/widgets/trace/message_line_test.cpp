// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/trace/message_line.h"

#include <QClipboard>
#include <QElapsedTimer>
#include <QGuiApplication>
#include <QPlainTextEdit>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

using namespace cuda_agent::widgets;

class MessageLineTest : public QObject {
    Q_OBJECT
  private slots:
    void enterSendsAndShiftEnterBreaksTheLine() {
        MessageLine line;
        line.setReader(true, QStringLiteral("say"));
        line.resize(300, 100);
        line.show();
        QVERIFY(QTest::qWaitForWindowActive(&line));
        QSignalSpy written(&line, &MessageLine::written);
        auto *edit = line.findChild<QPlainTextEdit *>();
        const int height = edit->height();
        QTest::keyClicks(edit, QStringLiteral("one"));
        QTest::keyClick(edit, Qt::Key_Return, Qt::ShiftModifier);
        QTest::keyClicks(edit, QStringLiteral("two"));
        QVERIFY(edit->height() > height);
        QVERIFY(written.isEmpty());
        QTest::keyClick(edit, Qt::Key_Return);
        QCOMPARE(written.size(), 1);
        QCOMPARE(written[0][0].toString(), QStringLiteral("one\ntwo"));
        QVERIFY(line.text().isEmpty());
        QCOMPARE(edit->height(), height);
        QTest::keyClicks(edit, QStringLiteral("  ")); // nothing to say
        QTest::keyClick(edit, Qt::Key_Enter);
        QCOMPARE(written.size(), 1);
    }

    void nobodyReadsNothingIsSent() {
        MessageLine line;
        line.setReader(true, {});
        auto *edit = line.findChild<QPlainTextEdit *>();
        auto *send = line.findChild<QToolButton *>();
        QSignalSpy written(&line, &MessageLine::written);
        edit->setPlainText(QStringLiteral("later"));
        QVERIFY(send->isEnabled());
        line.setReader(false, QStringLiteral("nobody"));
        QVERIFY(!edit->isEnabled() && !send->isEnabled());
        line.send();
        QVERIFY(written.isEmpty());
        QCOMPARE(line.text(), QStringLiteral("later")); // kept
        line.setReader(true, {});
        send->click();
        QCOMPARE(written.size(), 1);
    }

    void aLongMessageScrollsAndIsCut() {
        MessageLine line;
        line.setReader(true, {});
        line.resize(200, 400);
        line.show();
        auto *edit = line.findChild<QPlainTextEdit *>();
        QString words;
        while (words.size() < 1'000'000)
            words += QStringLiteral("many words ");
        QGuiApplication::clipboard()->setText(words);
        QElapsedTimer time;
        time.start();
        edit->paste();
        QVERIFY2(time.elapsed() < 2000, qPrintable(QString::number(time.elapsed())));
        QVERIFY(edit->height() < 250);
        QSignalSpy written(&line, &MessageLine::written);
        line.send();
        const qsizetype sent = written[0][0].toString().size();
        QVERIFY2(sent > 19'000 && sent <= 20'000, qPrintable(QString::number(sent)));
    }
};

QTEST_MAIN(MessageLineTest)
#include "message_line_test.moc"
