// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/plot/judged_session.h"
#include "widgets/base/text.h"
#include "widgets/verdict/checks_model.h"
#include "widgets/verdict/times_chart.h"
#include "widgets/verdict/verdict_pane.h"
#include "widgets/verdict/verdict_words.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QLabel>
#include <QTemporaryDir>
#include <QTest>

using namespace cuda_agent::widgets;
using cuda_agent::Json;

namespace {

QString labelText(const QWidget &pane, const char *name) {
    for (const QLabel *label : pane.findChildren<QLabel *>())
        if (label->accessibleName() == QLatin1String(name) && label->isVisibleTo(&pane))
            return label->text();
    return {};
}

} // namespace

class VerdictTest : public QObject {
    Q_OBJECT
  private slots:
    void rewardsAreExplained() {
        const judged::Session session;
        QCOMPARE(kindOf(Json()), VerdictKind::none);
        QVERIFY(headlineText(session.correctVerdict(0.0021)).contains(QLatin1String("reward 1")));
        QVERIFY(headlineText(session.correctVerdict(0.0019)).contains(QLatin1String("reward 2")));
        const QString three = headlineText(session.correctVerdict(0.0015));
        QVERIFY(three.contains(QLatin1String("reward 3")));
        QVERIFY(three.contains(QLatin1String("torch.compile")));
        QCOMPARE(headlineText(session.notCompiledVerdict()),
                 QStringLiteral("Does not compile, reward -1"));
        QVERIFY(headlineText(session.wrongVerdict()).contains(QLatin1String("\"random inputs\"")));
    }

    void faultsAreToldApartFromWrongAnswers() {
        const judged::Session session;
        Json verdict = session.wrongVerdict();
        QVERIFY(faultText(verdict).isEmpty());
        for (const char *kind :
             {"illegal_address", "illegal_instruction", "assertion", "arithmetic", "launch", "hang",
              "out_of_memory", "limit", "died", "raised", "other"}) {
            verdict["fault"] = {{"kind", kind}, {"detail", "as the runner says"}};
            const QString said = headlineText(verdict);
            QVERIFY2(said.startsWith(QLatin1String("Fails, reward -1: ")), qPrintable(said));
            QVERIFY2(faultText(verdict) != QLatin1String(kind), kind); // in words
        }
        verdict["fault"] = {{"kind", "of the future"}};
        QVERIFY(headlineText(verdict).endsWith(QLatin1String("of the future")));
        verdict["fault"] = "odd";
        QVERIFY(headlineText(verdict).contains(QLatin1String("\"random inputs\"")));
    }

    void rulesOfModulesAreNamed() {
        const judged::Session session;
        Json verdict = session.correctVerdict(0.0015);
        QVERIFY(!circumstancesText(verdict).contains(QLatin1String("rules")));
        verdict["rules"] = "published";
        QVERIFY(circumstancesText(verdict).contains(QLatin1String("published rules")));
        verdict["rules"] = "kernelbench";
        QVERIFY(circumstancesText(verdict).contains(QLatin1String("KernelBench's rules")));
    }

    void evidenceIsSaidInWords() {
        const judged::Session session;
        const Json verdict = session.wrongVerdict();
        const QString words = evidenceText(verdict["failed_check"]);
        for (const char *part : {"random 1", "Output 0", "[120, 972]", "expected 10.756",
                                 "got 0.72395", "error is 10.03;", "1.04e-05"})
            QVERIFY2(words.contains(QLatin1String(part)), qPrintable(words));
        QVERIFY(evidenceText({{"evidence", {{"expected", "inf"}, {"got", 1}, {"output", 2}}}})
                    .contains(QLatin1String("expected inf, got 1")));
        QVERIFY(evidenceText({{"evidence", 7}}).isEmpty());
        QCOMPARE(evidenceText({{"evidence", {{"why", "3 of 9 elements differ"}}}}),
                 QStringLiteral("3 of 9 elements differ."));
    }

    void everyFlagOfTheJudgeIsExplained() {
        for (const char *flag :
             {"throttled", "throttling could not be watched: no counter", "host clock disagrees",
              "faster than the limit", "not bitwise deterministic",
              "faster than counted bytes and operations allow (2.11 times the limit)",
              "baselines were not measured again: gone"})
            QVERIFY2(flagText(QLatin1String(flag)).size() > qsizetype(strlen(flag)) + 10, flag);
        QCOMPARE(flagText(QStringLiteral("new")), QStringLiteral("new"));
    }

    void theModelHoldsTheChecks() {
        const judged::Session session;
        ChecksModel model;
        QAbstractItemModelTester tester(&model);
        model.setVerdict(session.correctVerdict(0.0017));
        QCOMPARE(model.rowCount(), 2);
        QCOMPARE(model.state(0), ChecksModel::State::ok);
        QCOMPARE(model.state(1), ChecksModel::State::skipped);
        model.setVerdict(session.wrongVerdict());
        QCOMPARE(model.rowCount(), 1);
        QCOMPARE(model.state(0), ChecksModel::State::failed);
        QVERIFY(model.index(0, ChecksModel::Detail)
                    .data()
                    .toString()
                    .contains(QLatin1String("Output 0 at index")));
        model.setVerdict({{"checks", {1, "two", nullptr}}});
        QCOMPARE(model.rowCount(), 3); // foreign logs may hold anything
        model.setVerdict({});
        QCOMPARE(model.rowCount(), 0);
    }

    void barsAreTheTimes() {
        const judged::Session session;
        TimesChart chart;
        chart.resize(520, 240);
        Json verdict = session.correctVerdict(0.0015);
        verdict["times"]["compile_max_autotune"] = judged::Session::time(0.0016);
        chart.setVerdict(verdict);
        chart.show();
        QVERIFY(QTest::qWaitForWindowExposed(&chart));
        QCOMPARE(chart.barCount(), 4);
        QCOMPARE(chart.series()[0].name, QStringLiteral("candidate"));
        QCOMPARE(chart.series()[1].name, QStringLiteral("max-autotune"));
        QCOMPARE(chart.series()[3].name, QStringLiteral("eager"));
        QVERIFY(chart.barText(0).contains(QLatin1String("53 %")));
        QVERIFY(chart.barText(3).contains(timesText(1.4)));
        QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("times.csv"));
        QVERIFY(chart.exportTo(file));
        QFile csv(file);
        QVERIFY(csv.open(QIODevice::ReadOnly));
        const QList<QByteArray> lines = csv.readAll().trimmed().split('\n');
        QCOMPARE(lines.size(), 1 + 4 * 3);
        QCOMPARE(lines[2].split(',')[0], QByteArray("candidate"));
        QCOMPARE(lines[2].split(',')[1].toDouble(), 0.0015);
        chart.setVerdict(session.notCompiledVerdict());
        QCOMPARE(chart.barCount(), 0);
        chart.setVerdict({{"times", {{"eager", "soon"}, {"compile", {{"seconds", -1}}}}}});
        QCOMPARE(chart.barCount(), 0);
    }

    void thePaneShowsEachKind() {
        SessionDocument document;
        VerdictPane pane(&document);
        pane.resize(460, 620);
        pane.show();
        QVERIFY(QTest::qWaitForWindowExposed(&pane));
        QVERIFY(labelText(pane, "No verdict").contains(QLatin1String("Press Run")));

        judged::Session session;
        session.begin().notCompiled(1).wrong(2).correct(3, 0.0015);
        document.replace(session.index());
        QVERIFY(labelText(pane, "Result").contains(QLatin1String("Turn 3. Correct, reward 3")));
        QVERIFY(labelText(pane, "How the verdict was reached")
                    .contains(QLatin1String("say nothing about GPU times")));
        const QString remarks = labelText(pane, "Flags and limits that were not enforced");
        QVERIFY(remarks.contains(QLatin1String("throttled")));
        QVERIFY(remarks.contains(QLatin1String("memory: watched only")));
        QCOMPARE(pane.checks().rowCount(), 2);
        judged::photograph(pane, QStringLiteral("verdict-correct"));
        pane.resize(300, 200);
        judged::photograph(pane, QStringLiteral("verdict-small"));
        pane.resize(460, 620);

        document.selectTurn(2);
        QVERIFY(labelText(pane, "Result").contains(QLatin1String("Wrong")));
        QVERIFY(labelText(pane, "What went wrong").contains(QLatin1String("[120, 972]")));
        QCOMPARE(pane.chart().barCount(), 2);
        judged::photograph(pane, QStringLiteral("verdict-wrong"));

        document.selectTurn(1);
        QVERIFY(labelText(pane, "What went wrong")
                    .contains(QLatin1String("kernels/row.cu:7:12: error: expected ';'")));
        judged::photograph(pane, QStringLiteral("verdict-not-compiled"));

        document.setCursor(4); // turn 1 has begun, nothing more
        QVERIFY(labelText(pane, "No verdict").contains(QLatin1String("Turn 1 has no verdict yet")));
    }

    void gpuVerdictsAreNotCalledCpuTimes() {
        judged::Session session;
        session.begin(0, true, "cuda").correct(1, 0.0015);
        SessionDocument document;
        document.replace(session.index());
        VerdictPane pane(&document);
        pane.show();
        const QString how = labelText(pane, "How the verdict was reached");
        QVERIFY(how.contains(QLatin1String("On the GPU")));
        QVERIFY(!how.contains(QLatin1String("CPU")));
    }

    void theVerdictIsCopied() {
        judged::Session session;
        session.begin().correct(1, 0.0015);
        SessionDocument document;
        document.replace(session.index());
        VerdictPane pane(&document);
        const auto run = [&](const char *name) {
            auto *action = pane.findChild<QAction *>(QLatin1String(name));
            QVERIFY(action);
            action->trigger();
        };
        run("verdict.copyJson");
        const Json copied = Json::parse(QApplication::clipboard()->text().toStdString());
        QVERIFY(copied == document.verdict());
        run("verdict.copyText");
        const QString text = QApplication::clipboard()->text();
        for (const char *part :
             {"Turn 1", "reward 3", "random inputs: ok", "torch.compile", "53 %"})
            QVERIFY2(text.contains(QLatin1String(part)), qPrintable(text));
    }
};

QTEST_MAIN(VerdictTest)
#include "verdict_test.moc"
