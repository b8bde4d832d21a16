// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/bench/sample_session.h"

#include <QImage>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <cmath>
#include <set>

/// Renders every perspective with the program itself: light and dark, at 1280x800 and at scale 2.
/// The pictures are kept in CUDA_AGENT_SCREENSHOTS for people to look at.
class ScreenshotsTest : public QObject {
    Q_OBJECT
  private:
    QTemporaryDir folder_;
    QString session_, metrics_;

    static QString pictures() { return qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS"); }

    /// Colours in a part of a picture, coarsely: an empty pane has one or two.
    static std::size_t colours(const QImage &image, const QRect &part) {
        std::set<QRgb> found;
        for (int y = part.top(); y <= part.bottom(); ++y)
            for (int x = part.left(); x <= part.right(); ++x)
                found.insert(image.pixel(x, y) & 0xf0f0f0);
        return found.size();
    }

  private slots:
    void initTestCase() {
        QVERIFY(!pictures().isEmpty());
        QVERIFY(QDir().mkpath(pictures()));
        session_ = folder_.filePath(QStringLiteral("session"));
        const auto written = cuda_agent::bench::writeSampleSession(session_.toStdString(), 63);
        QVERIFY2(written, written ? "" : written.error().message.c_str());
        metrics_ = folder_.filePath(QStringLiteral("runs"));
        for (int run = 1; run <= 2; ++run) {
            const QString folder = metrics_ + QStringLiteral("/run-%1").arg(run);
            QVERIFY(QDir().mkpath(folder));
            QFile file(folder + QStringLiteral("/metrics.jsonl"));
            QVERIFY(file.open(QIODevice::WriteOnly));
            for (int step = 0; step < 300; ++step)
                file.write(QStringLiteral("{\"step\": %1, \"time\": %2, \"loss\": %3, \"reward\": "
                                          "%4}\n")
                               .arg(step)
                               .arg(1.7e9 + step)
                               .arg(run + 3 * std::exp(-step / 80.0) + 0.1 * std::sin(step * 1.7))
                               .arg(2 - 3 * std::exp(-step * run / 120.0))
                               .toUtf8());
        }
    }

    void perspective_data() {
        QTest::addColumn<QString>("perspective");
        QTest::addColumn<QString>("colour");
        QTest::addColumn<int>("scale");
        QTest::addColumn<QString>("language");
        for (const char *perspective : {"optimize", "replay", "data", "train"})
            for (const char *colour : {"light", "dark"})
                for (const int scale : {1, 2})
                    QTest::addRow("%s-%s-%d", perspective, colour, scale)
                        << QString::fromLatin1(perspective) << QString::fromLatin1(colour) << scale
                        << QStringLiteral("en");
        for (const char *colour : {"light", "dark"})
            for (const int scale : {1, 2})
                QTest::addRow("optimize-%s-%d-zh", colour, scale)
                    << QStringLiteral("optimize") << QString::fromLatin1(colour) << scale
                    << QStringLiteral("zh_CN");
    }

    void perspective() {
        QFETCH(QString, perspective);
        QFETCH(QString, colour);
        QFETCH(int, scale);
        QFETCH(QString, language);
        const QString file =
            pictures() + QStringLiteral("/%1.png").arg(QLatin1String(QTest::currentDataTag()));
        QFile::remove(file);
        QProcess program;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert(QStringLiteral("QT_SCALE_FACTOR"), QString::number(scale));
        environment.insert(QStringLiteral("LC_ALL"), QStringLiteral("C.UTF-8"));
        program.setProcessEnvironment(environment);
        program.setProcessChannelMode(QProcess::MergedChannels);
        program.start(qEnvironmentVariable("CUDA_AGENT_BIN") +
                          QStringLiteral("/cuda-agent-workbench"),
                      {QStringLiteral("--session"), session_, QStringLiteral("--metrics"), metrics_,
                       QStringLiteral("--perspective"), perspective, QStringLiteral("--language"),
                       language, QStringLiteral("--colours"), colour, QStringLiteral("--size"),
                       QStringLiteral("1280x800"), QStringLiteral("--screenshot"), file});
        QVERIFY(program.waitForFinished(60'000));
        const QByteArray said = program.readAll();
        QVERIFY2(program.exitStatus() == QProcess::NormalExit && program.exitCode() == 0,
                 said.constData());
        const QImage image(file);
        QCOMPARE(image.size(), QSize(1280, 800) * scale);
        const bool dark = qGray(image.pixel(image.width() - 4, 4)) < 128;
        QCOMPARE(dark, colour == QLatin1String("dark"));
        // Left, middle, right; upper and lower: something stands everywhere.
        const int width = image.width() / 3;
        const int height = (image.height() - 100 * scale) / 2;
        for (int column = 0; column < 3; ++column)
            for (int row = 0; row < 2; ++row) {
                if (perspective == QLatin1String("data") && row == 1)
                    continue; // a short task, a short list
                const QRect part(column * width, 60 * scale + row * height, width, height);
                QVERIFY2(colours(image, part) > 8,
                         qPrintable(QStringLiteral("part %1, %2 is empty").arg(column).arg(row)));
            }
    }
};

QTEST_GUILESS_MAIN(ScreenshotsTest)
#include "screenshots_test.moc"
