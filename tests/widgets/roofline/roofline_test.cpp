// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/plot/judged_session.h"
#include "widgets/plot/plot.h"
#include "widgets/roofline/profile_model.h"
#include "widgets/roofline/roof_labels.h"
#include "widgets/roofline/roofline_pane.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <QTransform>
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
    static judged::Session levelled(double flops) {
        judged::Session session;
        session.begin(flops).withLevels().correct(1, 0.0022).correct(2, 0.0004);
        return session;
    }
    static QPolygonF outline(const LabelPlace &place, const QSizeF &size) {
        QTransform turn;
        turn.translate(place.centre.x(), place.centre.y());
        turn.rotate(place.angle);
        return turn.map(
            QPolygonF(QRectF(-size.width() / 2, -size.height() / 2, size.width(), size.height())));
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

    void levelsAreReadAndOldLogsHaveNone() {
        SessionDocument document;
        document.replace(levelled(320e6).index());
        const RooflineData data = rooflineOf(document);
        QCOMPARE(data.ceilings.half, 1600e9);
        QCOMPARE(data.ceilings.levels.size(), std::size_t(3));
        QCOMPARE(data.ceilings.levels[1].name, QStringLiteral("L2"));
        QCOMPARE(data.ceilings.levels[1].bandwidth, 210e9);
        document.replace(sample(320e6, true).index());
        QVERIFY(rooflineOf(document).ceilings.levels.empty());
        judged::Session odd;
        odd.begin(320e6);
        odd.events.back().data["ceilings"]["levels"] = {1, {{"name", "L2"}}, Json::object()};
        document.replace(odd.correct(1, 0.001).index());
        QVERIFY(rooflineOf(document).ceilings.levels.empty());
    }

    void labelsNeverCoverEachOther() {
        // Four memories whose lines lie closer together than a line of text is high.
        std::vector<RoofLine> lines;
        for (int i = 0; i < 4; ++i)
            lines.push_back({QLineF(0, 300 - 12 * i, 400 - 40 * i, 110), {QSizeF(90, 14)}});
        for (int i = 0; i < 3; ++i)
            lines.push_back({QLineF(150, 130 - 10 * i, 420, 130 - 10 * i), {QSizeF(140, 17)}});
        const QRectF frame(0, 0, 420, 310);
        const std::vector<QRectF> taken{QRectF(40, 220, 60, 18)};
        const auto places = placeLabels(lines, taken, frame);
        QCOMPARE(places.size(), lines.size());
        std::vector<QPolygonF> covered{QPolygonF(taken[0])};
        for (std::size_t i = 0; i < places.size(); ++i) {
            if (!places[i])
                continue;
            const QPolygonF own = outline(*places[i], lines[i].names[places[i]->name]);
            QVERIFY(frame.contains(own.boundingRect()));
            for (const QPolygonF &other : covered)
                QVERIFY2(!own.intersects(other), qPrintable(QString::number(i)));
            covered.push_back(own);
        }
        QVERIFY(covered.size() >= 7); // all but one at least have a place
        // A line that is not in the frame, and one whose frame is too small for words.
        QVERIFY(!placeLabels({{QLineF(0, 500, 400, 500), {QSizeF(50, 17)}}}, {}, frame)[0]);
        QVERIFY(
            !placeLabels({{QLineF(0, 5, 30, 5), {QSizeF(50, 17)}}}, {}, QRectF(0, 0, 30, 10))[0]);
        QVERIFY(placeLabels({}, {}, frame).empty());
        // The short name where the long one has no room.
        const RoofLine shortened{QLineF(0, 60, 90, 60), {QSizeF(120, 17), QSizeF(30, 17)}};
        const auto place = placeLabels({shortened}, {}, QRectF(0, 0, 100, 100))[0];
        QVERIFY(place);
        QCOMPARE(place->name, std::size_t(1));
    }

    void everyLevelHasItsLine() {
        SessionDocument document;
        document.replace(levelled(320e6).index());
        RooflinePane pane(&document);
        pane.resize(560, 520);
        pane.show();
        QVERIFY(QTest::qWaitForWindowExposed(&pane));
        QTRY_COMPARE(pane.plot().series().size(), std::size_t(4 + 3 + 1 + 2));
        const auto &series = pane.plot().series();
        QVERIFY(series[0].name.startsWith(QLatin1String("L1/shared 430")));
        for (const std::size_t slope : {0, 1, 2, 3}) {
            QCOMPARE(series[slope].y[1], 1600e9); // each ends at the highest roof
            QVERIFY(!series[slope].inLegend);
        }
        QCOMPARE(series[1].y[0] / series[1].x[0], 210e9);
        QCOMPARE(series[6].y[0], 1600e9);
        QCOMPARE(series[6].x[0], 1600e9 / 430e9); // and each roof starts at the fastest memory
        const auto labels = [&] {
            QStringList texts;
            for (int i = 0; i < pane.plot().canvas().itemCount(); ++i)
                if (auto *text = qobject_cast<QCPItemText *>(pane.plot().canvas().item(i)))
                    texts += text->text();
            return texts;
        };
        QCoreApplication::processEvents();
        judged::photograph(pane, QStringLiteral("roofline-levels"));
        for (std::size_t roof = 0; roof < 7; ++roof)
            QVERIFY2(labels().contains(series[roof].name) ||
                         labels().contains(series[roof].name.section(QLatin1Char(' '), 0, 0)),
                     qPrintable(series[roof].name));
        QVERIFY(labels().contains(series[1].name)); // with its figure where there is room
        pane.plot().canvas().xAxis->scaleRange(0.3);
        QTest::qWait(20);
        QVERIFY(!labels().isEmpty());
        pane.plot().showAll();
        QTemporaryDir folder;
        const QString file = folder.filePath(QStringLiteral("roof.csv"));
        QVERIFY(pane.plot().exportTo(file));
        QFile csv(file);
        QVERIFY(csv.open(QIODevice::ReadOnly));
        const QString rows = QString::fromUtf8(csv.readAll());
        QCOMPARE(rows.count(QLatin1String("L1/shared 430")), 2);
        QCOMPARE(rows.count(QLatin1String("16-bit 1.60")), 2);
        const QString drawing = folder.filePath(QStringLiteral("roof.svg"));
        QVERIFY(pane.plot().exportTo(drawing));
        QFile svg(drawing);
        QVERIFY(svg.open(QIODevice::ReadOnly));
        QVERIFY(QString::fromUtf8(svg.readAll()).contains(QLatin1String("L2 210")));
    }

    void cachesAreDrawnWhereTurnsReachThem() {
        SessionDocument document;
        document.replace(levelled(0).index()); // 16 MB in 0.4 ms are 40 GB/s, of copied 20
        RooflinePane pane(&document);
        pane.resize(560, 520);
        pane.show();
        QVERIFY(QTest::qWaitForWindowExposed(&pane));
        QStringList texts;
        for (int i = 0; i < pane.plot().canvas().itemCount(); ++i)
            if (auto *text = qobject_cast<QCPItemText *>(pane.plot().canvas().item(i)))
                texts += text->text();
        QCOMPARE(texts.filter(QStringLiteral("L3")).size(), 1);
        QVERIFY(texts.filter(QStringLiteral("L2")).isEmpty());
        judged::photograph(pane, QStringLiteral("roofline-bandwidth-levels"));
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
        QVERIFY(pane.note().contains(QLatin1String("no hardware counters")));
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
