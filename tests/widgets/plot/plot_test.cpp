// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/base/theme.h"
#include "widgets/plot/plot.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QToolTip>
#include <QXmlStreamReader>
#include <qcustomplot.h>

#include <random>

using namespace cuda_agent::widgets;

class PlotTest : public QObject {
    Q_OBJECT
  private:
    static std::vector<Series> waves() {
        Series a, b;
        a.name = QStringLiteral("first, \"quoted\"");
        b.name = QStringLiteral("second");
        b.color = 1;
        b.points = true;
        for (int i = 1; i <= 200; ++i) {
            a.x.push_back(i);
            a.y.push_back(std::sin(i * 0.1) + 2);
            b.x.push_back(i);
            b.y.push_back(0.1 * i);
        }
        return {a, b};
    }

  private slots:
    void thinKeepsEverySpike() {
        std::mt19937 random(7);
        for (int round = 0; round < 40; ++round) {
            const std::size_t n = 1000 + random() % 50'000;
            std::vector<double> x(n), y(n);
            for (std::size_t i = 0; i < n; ++i) {
                x[i] = static_cast<double>(i);
                y[i] = static_cast<double>(random() % 1000) / 1000;
            }
            const std::size_t up = random() % n;
            const std::size_t down = random() % n;
            y[up] = 1e6;
            y[down] = -1e6;
            const Thinned shown = thin(x, y, 0, static_cast<double>(n), 200);
            QVERIFY(shown.x.size() <= 4 * 200 + 8);
            QVERIFY(up == down || shown.y.contains(1e6));
            QVERIFY(shown.y.contains(-1e6));
            QVERIFY(std::is_sorted(shown.x.begin(), shown.x.end()));
        }
    }
    void thinTakesNothingAwayFromShortCurves() {
        const std::vector<double> x{1, 2, 3, 4, 5}, y{5, 4, 3, 2, 1};
        const Thinned all = thin(x, y, 0, 10, 100);
        QCOMPARE(all.x.size(), 5);
        const Thinned middle = thin(x, y, 2.5, 3.5, 100);
        QCOMPARE(middle.x, (QVector<double>{2, 3, 4})); // neighbours, so that lines go on
        QVERIFY(thin({}, {}, 0, 1, 10).x.isEmpty());
    }
    void thinKeepsThePictureOfEveryColumn() {
        // Points lie very unevenly: a column of pixels must still show its own extremes.
        std::mt19937 random(11);
        for (const bool log : {false, true}) {
            for (int round = 0; round < 20; ++round) {
                std::vector<double> x, y;
                double at = 1;
                while (x.size() < 40'000) {
                    x.push_back(at);
                    y.push_back(static_cast<double>(random() % 2001) - 500);
                    at += x.size() % 2000 < 1900 ? 1e-3 : 0.5 * static_cast<double>(random() % 9);
                }
                const double from = x[random() % 1000];
                const double to = x[x.size() - 1 - random() % 1000];
                const int pixels = 150;
                const Thinned shown = thin(x, y, from, to, pixels, {log, log});
                QVERIFY(shown.x.size() <= 4 * pixels + 2);
                const auto columnOf = [&](double value) {
                    const double part = log ? std::log(value / from) / std::log(to / from)
                                            : (value - from) / (to - from);
                    return std::clamp(static_cast<int>(part * pixels), 0, pixels - 1);
                };
                std::vector<double> most(pixels, -1e9), drawn(pixels, -1e9);
                for (std::size_t i = 0; i < x.size(); ++i)
                    if (x[i] >= from && x[i] <= to && (!log || y[i] > 0)) {
                        double &value = most[static_cast<std::size_t>(columnOf(x[i]))];
                        value = std::max(value, y[i]);
                    }
                for (qsizetype i = 0; i < shown.x.size(); ++i) {
                    QVERIFY(!log || shown.y[i] > 0);
                    if (shown.x[i] >= from && shown.x[i] <= to) {
                        double &value = drawn[static_cast<std::size_t>(columnOf(shown.x[i]))];
                        value = std::max(value, shown.y[i]);
                    }
                }
                // A point exactly on an edge may fall to either side, by rounding.
                for (int c = 1; c + 1 < pixels; ++c) {
                    const auto i = static_cast<std::size_t>(c);
                    QVERIFY2(std::max({drawn[i - 1], drawn[i], drawn[i + 1]}) >= most[i],
                             qPrintable(QString::number(c)));
                }
            }
        }
    }
    void thinLooksPastGaps() {
        std::vector<double> x(10'000), y(10'000, qQNaN());
        for (std::size_t i = 0; i < x.size(); ++i)
            x[i] = static_cast<double>(i);
        y[5000] = 3;
        QVERIFY(thin(x, y, 0, 10'000, 100).y.contains(3));
    }

    void exportsEveryFormat() {
        QTemporaryDir folder;
        Plot plot(QStringLiteral("Waves"));
        plot.resize(500, 300);
        plot.setTitles(QStringLiteral("step"), QStringLiteral("value"));
        plot.setSeries(waves());
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        const auto path = [&](const char *ending) {
            return folder.filePath(QStringLiteral("plot.") + QLatin1String(ending));
        };
        for (const char *ending : {"png", "svg", "pdf", "csv"})
            QVERIFY2(plot.exportTo(path(ending)), ending);
        const QImage image(path("png"));
        QVERIFY(image.width() >= 2 * 500 - 4);
        QFile svg(path("svg"));
        QVERIFY(svg.open(QIODevice::ReadOnly));
        QXmlStreamReader reader(&svg);
        int paths = 0;
        while (!reader.atEnd())
            if (reader.readNext() == QXmlStreamReader::StartElement)
                paths += reader.name() == QLatin1String("polyline") ||
                         reader.name() == QLatin1String("path");
        QVERIFY(!reader.hasError());
        QVERIFY(paths > 2);
        QFile pdf(path("pdf"));
        QVERIFY(pdf.open(QIODevice::ReadOnly));
        QCOMPARE(pdf.read(5), QByteArray("%PDF-"));
        QFile csv(path("csv"));
        QVERIFY(csv.open(QIODevice::ReadOnly));
        const QList<QByteArray> lines = csv.readAll().split('\n');
        QCOMPARE(lines.size(), 1 + 400 + 1);
        QCOMPARE(lines[0], QByteArray("series,x,y"));
        QVERIFY(lines[1].startsWith("\"first, \"\"quoted\"\"\",1,"));
        QCOMPARE(lines[1].split(',').last().toDouble(), std::sin(0.1) + 2);
        QVERIFY(!plot.exportTo(path("bmp")));
        QVERIFY(!plot.exportTo(QStringLiteral("/nowhere/plot.svg")));
    }

    void followsUntilTheUserZooms() {
        Plot plot(QStringLiteral("Waves"));
        plot.resize(500, 300);
        plot.setSeries(waves());
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        QVERIFY(plot.follow());
        QSignalSpy changed(&plot, &Plot::followChanged);
        const QPoint middle = plot.canvas().rect().center();
        QWheelEvent wheel(middle, plot.canvas().mapToGlobal(middle), {}, {0, 240}, Qt::NoButton,
                          Qt::NoModifier, Qt::NoScrollPhase, false);
        const double before = plot.canvas().xAxis->range().size();
        QApplication::sendEvent(&plot.canvas(), &wheel);
        QVERIFY(plot.canvas().xAxis->range().size() < before * 0.8);
        QVERIFY(!plot.follow());
        QCOMPARE(changed.size(), 1);
        const QCPRange zoomed = plot.canvas().xAxis->range();
        plot.setSeries(waves());
        QCOMPARE(plot.canvas().xAxis->range().lower, zoomed.lower);
        QTest::keyClick(&plot, Qt::Key_F);
        QVERIFY(plot.follow());
        QVERIFY(plot.canvas().xAxis->range().size() >= before * 0.99);
        QTest::keyClick(&plot, Qt::Key_Right);
        QVERIFY(!plot.follow());
    }

    void aClickFindsThePoint() {
        Plot plot(QStringLiteral("Waves"));
        plot.resize(500, 300);
        plot.setSeries(waves());
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        plot.canvas().replot();
        QSignalSpy clicked(&plot, &Plot::pointClicked);
        const QPoint at(static_cast<int>(plot.canvas().xAxis->coordToPixel(100)),
                        static_cast<int>(plot.canvas().yAxis->coordToPixel(10)));
        QTest::mouseClick(&plot.canvas(), Qt::LeftButton, {}, at);
        QCOMPARE(clicked.size(), 1);
        QCOMPARE(clicked[0][0].toInt(), 1);
        QVERIFY(std::abs(clicked[0][1].toInt() - 99) <= 3);
    }

    void theReadoutNamesThePoint() {
        Plot plot(QStringLiteral("Waves"));
        plot.resize(500, 300);
        plot.setTitles(QStringLiteral("step"), QStringLiteral("value"));
        plot.setSeries(waves());
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        plot.canvas().replot();
        const auto at = [&](double x, double y) {
            return QPoint(static_cast<int>(plot.canvas().xAxis->coordToPixel(x)),
                          static_cast<int>(plot.canvas().yAxis->coordToPixel(y)));
        };
        QSignalSpy hovered(&plot, &Plot::pointHovered);
        QTest::mouseMove(&plot.canvas(), at(150, 15));
        QCOMPARE(hovered.size(), 1);
        QCOMPARE(hovered[0][0].toInt(), 1);
        const int point = hovered[0][1].toInt();
        QTRY_VERIFY(QToolTip::text().startsWith(QStringLiteral("second\nstep: ")));
        QVERIFY(QToolTip::text().contains(QLocale().toString(0.1 * (point + 1), 'g', 6)));
        QTest::mouseMove(&plot.canvas(), at(20, 18));
        QCOMPARE(hovered.size(), 2);
        QCOMPARE(hovered[1][0].toInt(), -1);
        plot.setReadout([](int series, int) { return QStringLiteral("of %1").arg(series); });
        QTest::mouseMove(&plot.canvas(), at(150, 15));
        QTRY_COMPARE(QToolTip::text(), QStringLiteral("of 1"));
    }
    void draggingPansAndModifiersChooseTheAxis() {
        Plot plot(QStringLiteral("Waves"));
        plot.resize(500, 300);
        plot.setSeries(waves());
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        plot.canvas().replot();
        const QPoint middle = plot.canvas().axisRect()->center();
        const auto turn = [&](Qt::KeyboardModifiers keys) {
            QWheelEvent wheel(middle, plot.canvas().mapToGlobal(middle), {}, {0, 120}, Qt::NoButton,
                              keys, Qt::NoScrollPhase, false);
            QApplication::sendEvent(&plot.canvas(), &wheel);
        };
        const auto x = [&] { return plot.canvas().xAxis->range(); };
        const auto y = [&] { return plot.canvas().yAxis->range(); };
        QCPRange oldX = x(), oldY = y();
        turn(Qt::ShiftModifier);
        QVERIFY(x().size() < oldX.size() * 0.9);
        QCOMPARE(y().size(), oldY.size());
        oldX = x();
        turn(Qt::ControlModifier);
        QCOMPARE(x().size(), oldX.size());
        QVERIFY(y().size() < oldY.size() * 0.9);
        QTest::mousePress(&plot.canvas(), Qt::LeftButton, {}, middle);
        QMouseEvent drag(QEvent::MouseMove, middle + QPoint(60, 0),
                         plot.canvas().mapToGlobal(middle + QPoint(60, 0)), Qt::NoButton,
                         Qt::LeftButton, Qt::NoModifier);
        QApplication::sendEvent(&plot.canvas(), &drag);
        QTest::mouseRelease(&plot.canvas(), Qt::LeftButton, {}, middle + QPoint(60, 0));
        QVERIFY(x().lower < oldX.lower);
        QCOMPARE(x().size(), oldX.size());
        QTest::mouseDClick(&plot.canvas(), Qt::LeftButton, {}, middle);
        QVERIFY(plot.follow());
        QVERIFY(plot.accessibleDescription().startsWith(QLatin1Char('2')));
        plot.setZoomable(false);
        turn(Qt::NoModifier);
        QVERIFY(plot.follow());
    }

    void logarithmicAxesLeaveOutWhatTheyCannotShow() {
        Plot plot(QStringLiteral("Log"));
        Series series;
        series.x = {0, 1, 10, 100};
        series.y = {1, -1, 10, 100};
        plot.setLogarithmic(true, true);
        plot.setSeries({series});
        QVERIFY(plot.canvas().xAxis->range().lower > 0);
        QVERIFY(plot.canvas().yAxis->range().lower > 0);
        QVERIFY(plot.canvas().yAxis->range().upper >= 100);
    }

    void whatDiffersByRoundingAloneIsOneValue() {
        Plot plot(QStringLiteral("Twice"));
        Series series;
        series.x = {1, 1};
        series.y = {0.398063, 0.398063 + 1e-16};
        plot.setSeries({series});
        const QCPRange y = plot.canvas().yAxis->range();
        QVERIFY(y.lower < 0.39 && y.upper > 0.40);
    }

    void theLegendHidesNoCurve() {
        Plot plot(QStringLiteral("Waves"));
        plot.resize(500, 300);
        plot.setSeries(waves());
        plot.show();
        QVERIFY(QTest::qWaitForWindowExposed(&plot));
        plot.canvas().replot();
        QVERIFY(plot.canvas().legend->visible());
        QVERIFY(plot.canvas().legend->outerRect().bottom() <= plot.canvas().axisRect()->top());
        const int with = plot.canvas().axisRect()->top();
        plot.setSeries({waves()[0]});
        plot.canvas().replot();
        QVERIFY(!plot.canvas().legend->visible());
        QVERIFY(plot.canvas().axisRect()->top() < with);
        plot.resize(200, 100); // no room for words
        plot.setSeries(waves());
        plot.canvas().replot();
        QVERIFY(!plot.canvas().legend->visible());
        plot.resize(500, 300);
        plot.canvas().replot();
        QVERIFY(plot.canvas().legend->visible());
    }
    void logarithmicTicksAreFewAndPresent() {
        for (const auto &[low, high] :
             {std::pair{1.0, 1e9}, {0.3, 40.0}, {3.0, 4.0}, {1e-300, 1e300}, {2.1, 9.0}}) {
            Plot plot(QStringLiteral("Log"));
            plot.resize(400, 300);
            plot.setLogarithmic(false, true);
            Series series;
            series.x = {0, 1};
            series.y = {low, high};
            plot.setSeries({series});
            plot.show();
            plot.canvas().replot();
            int ticks = 0;
            for (const double tick : plot.canvas().yAxis->tickVector())
                ticks += plot.canvas().yAxis->range().contains(tick);
            QVERIFY2(ticks >= 2 && ticks <= 12, qPrintable(QString::number(low)));
        }
    }

    void lightAndDark() {
        const QString folder = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
        Plot plot(QStringLiteral("Waves"));
        plot.resize(640, 360);
        plot.setTitles(QStringLiteral("step"), QStringLiteral("value"));
        plot.setSeries(waves());
        plot.show();
        for (const auto scheme : {Theme::Scheme::light, Theme::Scheme::dark}) {
            Theme::instance().setScheme(scheme);
            QApplication::processEvents(); // plots are drawn once for many changes
            const QImage image = plot.grab().toImage();
            const bool dark = image.pixelColor(3, 3).lightness() < 128;
            QCOMPARE(dark, scheme == Theme::Scheme::dark);
            if (!folder.isEmpty())
                image.save(folder + (dark ? QStringLiteral("/plot-dark.png")
                                          : QStringLiteral("/plot-light.png")));
        }
        Theme::instance().setScheme(Theme::Scheme::system);
    }
};

QTEST_MAIN(PlotTest)
#include "plot_test.moc"
