// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/plot/judged_session.h"
#include "widgets/plot/plot.h"
#include "widgets/roofline/profile_model.h"
#include "widgets/roofline/roofline_pane.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QTemporaryDir>
#include <QTest>
#include <qcustomplot.h>

using namespace cuda_agent::widgets;
using cuda_agent::Json;

class RooflineTest : public QObject {
    Q_OBJECT
  private:
    static judged::Session sample(double flops, bool ceilings) {
        judged::Session session;
        session.begin(flops, ceilings)
            .wrong(1)
            .correct(2, 0.0022)
            .notCompiled(3)
            .correct(4, 0.0016);
        return session;
    }
    static QString cell(const ProfileModel &model, const char *fact, int column) {
        for (int row = 0; row < model.rowCount(); ++row)
            if (model.index(row, 0).data().toString() == QLatin1String(fact))
                return model.index(row, column).data().toString();
        return QStringLiteral("no such row");
    }

  private slots:
    void dataAreCounted() {
        SessionDocument document;
        document.replace(sample(320e6, true).index());
        const RooflineData data = rooflineOf(document);
        QCOMPARE(data.intensity(), 20.0);
        QCOMPARE(data.turns.size(), std::size_t(2)); // those that were timed
        QCOMPARE(data.turns[1].turn, 4);
        QCOMPARE(data.turns[1].rate, 320e6 / 0.0016);
        QCOMPARE(data.turns[1].bandwidth, 16e6 / 0.0016);
        QCOMPARE(data.baselines.size(), std::size_t(2));
        QCOMPARE(data.ceilings.bandwidth, 20e9);
        QVERIFY(!data.ceilings.derived);
        document.replace(sample(0, false).index());
        const RooflineData old = rooflineOf(document);
        QVERIFY(old.onlyBandwidth());
        QVERIFY(old.ceilings.derived);
        QCOMPARE(old.ceilings.bandwidth, 16e6 / 0.0008);
        document.replace(SessionIndex());
        QVERIFY(rooflineOf(document).turns.empty());
    }

    void unitsAreScaled() {
        QCOMPARE(rateText(1.234e12), QStringLiteral("1.23\u202fTFLOP/s"));
        QCOMPARE(rateText(45e9), QStringLiteral("45.0\u202fGFLOP/s"));
        QCOMPARE(operationsText(999), QStringLiteral("999\u202fFLOP"));
        QVERIFY(bandwidthText(20e9).endsWith(QLatin1String("GB/s")));
    }

    void theTableComparesWithTheBestStock() {
        SessionDocument document;
        document.replace(sample(320e6, true).index());
        ProfileModel model;
        QAbstractItemModelTester tester(&model);
        model.setData(rooflineOf(document), 4, document.verdictOf(4), document.compiled());
        QCOMPARE(cell(model, "counted bytes", 1), cell(model, "counted bytes", 2));
        QCOMPARE(cell(model, "achieved bandwidth", 3), QStringLiteral("+18.8 %"));
        QCOMPARE(cell(model, "time", 3), QStringLiteral("−15.8 %"));
        QCOMPARE(cell(model, "part of the limit (memory)", 1), QStringLiteral("50.0 %"));
        QCOMPARE(cell(model, "rows: registers a thread", 1), QStringLiteral("32"));
        QVERIFY(model.headerData(2, Qt::Horizontal, Qt::DisplayRole)
                    .toString()
                    .contains(QLatin1String("compile")));
        QCOMPARE(model.text().count(QLatin1Char('\n')), model.rowCount() + 1);
        model.setData(rooflineOf(document), 3, document.verdictOf(3), Json());
        QCOMPARE(cell(model, "achieved bandwidth", 1), QString());
        QVERIFY(!cell(model, "achieved bandwidth", 2).isEmpty());
        model.setData({}, 0, Json(), Json::array({1, 2}));
        QCOMPARE(model.rowCount(), 0);
    }

    void theRoofIsDrawn() {
        SessionDocument document;
        RooflinePane pane(&document);
        pane.resize(560, 520);
        pane.show();
        QVERIFY(QTest::qWaitForWindowExposed(&pane));
        judged::photograph(pane, QStringLiteral("roofline-empty"));
        document.replace(sample(320e6, true).index());
        QTRY_VERIFY(!pane.plot().series().empty());
        QVERIFY(pane.note().contains(QLatin1String("hardware counters arrive with the profiler")));
        const auto &series = pane.plot().series();
        QCOMPARE(series.size(), std::size_t(6)); // three ceilings, turns, two baselines
        for (std::size_t i = 0; i < 3; ++i)
            for (std::size_t point = 0; point < series[i].x.size(); ++point) {
                QVERIFY(series[i].y[point] <= 20e9 * series[i].x[point] * 1.000001);
                QVERIFY(series[i].y[point] <= 900e9 * 1.000001);
            }
        QVERIFY(series[0].name.contains(QLatin1String("GB/s")));
        judged::photograph(pane, QStringLiteral("roofline"));
        pane.resize(300, 200);
        judged::photograph(pane, QStringLiteral("roofline-small"));
        QTemporaryDir folder;
        for (const char *ending : {"png", "svg", "pdf", "csv"})
            QVERIFY(pane.plot().exportTo(
                folder.filePath(QStringLiteral("roof.") + QLatin1String(ending))));
    }

    void withoutOperationsTheBandwidthIsDrawn() {
        SessionDocument document;
        document.replace(sample(0, false).index());
        RooflinePane pane(&document);
        pane.resize(560, 520);
        pane.show();
        QVERIFY(QTest::qWaitForWindowExposed(&pane));
        QVERIFY(pane.note().contains(QLatin1String("only the bandwidth")));
        QVERIFY(pane.note().contains(QLatin1String("Ceiling from the verdict's limit")));
        QCOMPARE(pane.plot().series().size(), std::size_t(1));
        judged::photograph(pane, QStringLiteral("roofline-bandwidth"));
    }

    void aClickSelectsTheTurn() {
        SessionDocument document;
        document.replace(sample(320e6, true).index());
        RooflinePane pane(&document);
        pane.resize(560, 520);
        pane.show();
        QVERIFY(QTest::qWaitForWindowExposed(&pane));
        QCustomPlot &canvas = pane.plot().canvas();
        canvas.replot();
        // Zoom in, for the points of one task lie close together.
        canvas.yAxis->setRange(120e9, 240e9);
        canvas.replot();
        QTest::mouseClick(&canvas, Qt::LeftButton, {},
                          QPoint(static_cast<int>(canvas.xAxis->coordToPixel(20)),
                                 static_cast<int>(canvas.yAxis->coordToPixel(320e6 / 0.0022))));
        QCOMPARE(document.selectedTurn(), 2);
        pane.plot().setFocus();
        QTest::keyClick(&pane.plot(), Qt::Key_PageDown);
        QCOMPARE(document.selectedTurn(), 4);
        pane.findChild<QAction *>(QStringLiteral("roofline.copyTable"))->trigger();
        QVERIFY(QApplication::clipboard()->text().contains(QLatin1String("counted bytes")));
    }
};

QTEST_MAIN(RooflineTest)
#include "roofline_test.moc"
