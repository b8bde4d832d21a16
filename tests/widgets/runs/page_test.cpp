// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/learn/run/event_bytes.h"
#include "tests/widgets/loop_watch.h"
#include "widgets/base/theme.h"
#include "widgets/runs/smoothing.h"
#include "widgets/runs/train_page.h"

#include <QComboBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QDropEvent>
#include <QHeaderView>
#include <QLineEdit>
#include <QMimeData>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSlider>
#include <QTemporaryDir>
#include <QTreeView>
#include <QUrl>
#include <QtTest>
#include <qcustomplot.h>

#include <cmath>

namespace cuda_agent::widgets {

class PageTest : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase();
    void cleanup();
    void saysWhatWillBeThere();
    void overlaysRuns();
    void smoothing();
    void axes();
    void nonFiniteIsMarked();
    void followsLive();
    void zoomStopsFollowing();
    void rewrittenAndGone();
    void newRunsBelow();
    void removeAndReload();
    void filterAndChoose();
    void csv();
    void dropAndRecent();
    void millionPointsDoNotBlock();
    void closedInTheMiddle();
    void screenshots();

  private:
    void write(const QString &name, const QByteArray &text, bool append = false);
    QString run(const QString &name, int steps, double scale, bool odd = false);
    QString at(const QString &name) const { return dir_->filePath(name); }
    std::unique_ptr<QTemporaryDir> dir_;
    QTemporaryDir settings_;
};

namespace {

using Numbers = std::vector<double>;

/// The page, shown, with quick polls and the raw values as curves.
std::unique_ptr<TrainPage> shown(double weight = 0) {
    auto page = std::make_unique<TrainPage>();
    page->follower().setInterval(30);
    page->findChild<QDoubleSpinBox *>()->setValue(weight);
    page->resize(1200, 800);
    page->show();
    page->activateWindow();
    if (!QTest::qWaitForWindowActive(page.get()))
        qFatal("no window");
    return page;
}

const Series *seriesOf(TrainPage &page, const QString &metric, const QString &name) {
    PlotCell *cell = page.grid().cell(metric);
    if (cell)
        for (const Series &series : cell->plot().series())
            if (series.name == name)
                return &series;
    return nullptr;
}

bool hasPoints(TrainPage &page, const char *metric, const char *name, std::size_t points) {
    return QTest::qWaitFor(
        [&] {
            const Series *series = seriesOf(page, QLatin1String(metric), QLatin1String(name));
            return series && series->x.size() == points;
        },
        20'000);
}

QAction *action(TrainPage &page, const char *name) {
    return page.findChild<QAction *>(QLatin1String(name));
}

QTreeView *viewOf(TrainPage &page, const char *name) {
    for (QTreeView *view : page.findChildren<QTreeView *>())
        if (view->accessibleName() == QLatin1String(name))
            return view;
    qFatal("no such list");
}

void clickCheck(QTreeView *view, const QModelIndex &index) {
    view->scrollTo(index);
    QStyleOptionViewItem option;
    option.initFrom(view);
    option.rect = view->visualRect(index);
    option.features = QStyleOptionViewItem::HasCheckIndicator;
    const QRect box =
        view->style()->subElementRect(QStyle::SE_ItemViewItemCheckIndicator, &option, view);
    QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, box.center());
}

} // namespace

void PageTest::initTestCase() {
    QCoreApplication::setOrganizationName(QStringLiteral("cuda-agent-test"));
    QCoreApplication::setApplicationName(QStringLiteral("runs"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings_.path());
    Theme::instance().setScheme(Theme::Scheme::light);
    dir_ = std::make_unique<QTemporaryDir>();
}

void PageTest::cleanup() {
    QSettings().clear();
    Theme::instance().setScheme(Theme::Scheme::light);
    dir_ = std::make_unique<QTemporaryDir>();
}

void PageTest::write(const QString &name, const QByteArray &text, bool append) {
    QVERIFY(QDir().mkpath(QFileInfo(at(name)).path()));
    QFile file(at(name));
    QVERIFY(file.open(append ? QIODevice::Append : QIODevice::WriteOnly));
    QCOMPARE(file.write(text), text.size());
}

QString PageTest::run(const QString &name, int steps, double scale, bool odd) {
    QByteArray text;
    for (int step = 1; step <= steps; ++step) {
        const double noise = std::sin(step * 12.9898) * 0.2;
        const QByteArray loss =
            odd && step % 40 == 20
                ? "\"NaN\""
                : QByteArray::number(scale * std::exp(-step / 60.0) + 0.3 + noise * scale * 0.3);
        text += "{\"step\": " + QByteArray::number(step) +
                ", \"time\": " + QByteArray::number(1760000000 + 2.5 * step, 'f', 2) +
                ", \"samples\": " + QByteArray::number(step * 64) + ", \"loss\": " + loss +
                ", \"reward/mean\": " + QByteArray::number(1 - std::exp(-step / 80.0) + noise) +
                ", \"reward/best\": " + QByteArray::number(2 - std::exp(-step / 30.0)) +
                ", \"optimizer/lr\": " + QByteArray::number(1e-3 * std::exp(-step / 50.0)) + "}\n";
    }
    write(name + QStringLiteral("/metrics.jsonl"), text);
    return at(name);
}

void PageTest::saysWhatWillBeThere() {
    auto page = shown();
    const auto says = [&](const char *text) {
        for (const QLabel *label : page->findChildren<QLabel *>())
            if (label->isVisible() && label->text().contains(QLatin1String(text)))
                return true;
        return false;
    };
    QVERIFY(says("Add a run folder"));
    QSignalSpy problem(page.get(), &TrainPage::problem);
    page->addFolder(dir_->path());
    QTRY_COMPARE(problem.size(), 1);
    QVERIFY(page->status().contains(QLatin1String("No runs in")));
    write(QStringLiteral("a/metrics.jsonl"), "");
    page->addFolder(at(QStringLiteral("a")));
    QTRY_VERIFY(says("no values yet"));
    page->addFolder(at(QStringLiteral("missing/deeper")));
    QTRY_COMPARE(problem.size(), 2);
    for (const char *name :
         {"train.add", "train.remove", "train.reload", "train.exportCsv", "train.find",
          "train.logX", "train.logY", "train.follow", "train.checkAll", "train.uncheckAll"})
        QVERIFY2(page->actions().contains(action(*page, name)), name);
}

void PageTest::overlaysRuns() {
    run(QStringLiteral("sweep/a"), 50, 2);
    run(QStringLiteral("sweep/b"), 30, 1);
    auto page = shown();
    page->addFolder(at(QStringLiteral("sweep")));
    QVERIFY(hasPoints(*page, "loss", "a", 50));
    QVERIFY(hasPoints(*page, "loss", "b", 30));
    QCOMPARE(page->grid().cells().size(), 4);
    QVERIFY(hasPoints(*page, "reward/mean", "b", 30));
    for (const char *name : {"Runs", "Metrics"}) { // no column is cut
        auto *view = viewOf(*page, name);
        QCOMPARE(view->header()->length(), view->viewport()->width());
        QVERIFY(!view->horizontalScrollBar()->isVisible());
    }
    // One colour a run, in all plots and in the list.
    const int color = page->runs().find(at(QStringLiteral("sweep/b")))->color;
    QCOMPARE(seriesOf(*page, QStringLiteral("loss"), QStringLiteral("b"))->color, color);
    QCOMPARE(seriesOf(*page, QStringLiteral("reward/mean"), QStringLiteral("b"))->color, color);
    QVERIFY(seriesOf(*page, QStringLiteral("loss"), QStringLiteral("a"))->color != color);
    // Uncheck a by mouse: its curve goes, b keeps its colour.
    auto *list = viewOf(*page, "Runs");
    clickCheck(list, page->runs().index(0, 0));
    QTRY_VERIFY(!seriesOf(*page, QStringLiteral("loss"), QStringLiteral("a")));
    QVERIFY(hasPoints(*page, "loss", "b", 30));
    QCOMPARE(seriesOf(*page, QStringLiteral("loss"), QStringLiteral("b"))->color, color);
    // And check it again by keyboard.
    list->setFocus();
    list->setCurrentIndex(page->runs().index(0, 0));
    QTest::keyClick(list, Qt::Key_Space);
    QVERIFY(hasPoints(*page, "loss", "a", 50));
    // Columns.
    auto *columns = page->findChildren<QComboBox *>().at(1);
    columns->setFocus();
    QTest::keyClick(columns, Qt::Key_End);
    QCOMPARE(page->grid().columns(), 3);
    QTRY_COMPARE(page->grid().cells()[0]->y(), page->grid().cells()[2]->y());
}

void PageTest::smoothing() {
    run(QStringLiteral("a"), 100, 2);
    auto page = shown();
    page->addFolder(at(QStringLiteral("a")));
    QVERIFY(hasPoints(*page, "loss", "a", 100));
    const Numbers raw = seriesOf(*page, QStringLiteral("loss"), QStringLiteral("a"))->y;
    auto *slider = page->findChild<QSlider *>();
    QCOMPARE(slider->maximum(), 999);
    slider->setFocus();
    QTest::keyClick(slider, Qt::Key_End);
    QCOMPARE(page->findChild<QDoubleSpinBox *>()->value(), 0.999);
    slider->setValue(900);
    QTRY_VERIFY(seriesOf(*page, QStringLiteral("loss"), QStringLiteral("a"))->y ==
                smoothed(raw, 0.9));
    const Series *under = seriesOf(*page, QStringLiteral("loss"), QStringLiteral("a (raw)"));
    QVERIFY(under);
    QVERIFY(under->faint);
    QCOMPARE(under->y, raw);
    QVERIFY(!seriesOf(*page, QStringLiteral("loss"), QStringLiteral("a"))->faint);
    // The readout has both.
    const QString text = page->grid().cell(QStringLiteral("loss"))->readout(50.2);
    QVERIFY2(text.contains(QLocale().toString(raw[49], 'g', 6)) &&
                 text.contains(QLocale().toString(smoothed(raw, 0.9)[49], 'g', 6)) &&
                 text.contains(QLatin1String("Step = 50")),
             qPrintable(text));
}

void PageTest::axes() {
    run(QStringLiteral("a"), 100, 2);
    auto page = shown();
    page->addFolder(at(QStringLiteral("a")));
    QVERIFY(hasPoints(*page, "loss", "a", 100));
    const auto x = [&] { return seriesOf(*page, QStringLiteral("loss"), QStringLiteral("a"))->x; };
    QCOMPARE(x()[9], 10.0);
    auto *axis = page->findChildren<QComboBox *>().at(0);
    axis->setFocus();
    QTest::keyClick(axis, Qt::Key_Down);
    QTRY_COMPARE(x()[9], 22.5);
    QCOMPARE(x()[0], 0.0);
    QCustomPlot &canvas = page->grid().cell(QStringLiteral("loss"))->plot().canvas();
    QVERIFY(canvas.xAxis->label().contains(QLatin1String("[s]")));
    QTest::keyClick(axis, Qt::Key_Down);
    QTRY_COMPARE(x()[9], 640.0);
    QCOMPARE(canvas.xAxis->label(), QStringLiteral("Samples"));
    action(*page, "train.logX")->trigger();
    action(*page, "train.logY")->trigger();
    QTRY_COMPARE(canvas.xAxis->scaleType(), QCPAxis::stLogarithmic);
    QCOMPARE(canvas.yAxis->scaleType(), QCPAxis::stLogarithmic);
    // Remembered.
    page.reset();
    page = shown();
    QCOMPARE(page->findChildren<QComboBox *>().at(0)->currentIndex(), 2);
    QVERIFY(action(*page, "train.logY")->isChecked());
    // TensorBoard has no samples: the values are counted, not drawn somewhere.
    using namespace learn::event_bytes;
    write(QStringLiteral("t/events.out.tfevents.1.host"),
          QByteArray::fromStdString(version() + eventOf(1, 1, summary(simple("other", 1))) +
                                    eventOf(2, 2, summary(simple("other", 2)))));
    page->addFolder(at(QStringLiteral("t")));
    QTRY_VERIFY(page->grid().cell(QStringLiteral("other")));
    QTRY_COMPARE(page->grid().cell(QStringLiteral("other"))->note(),
                 QStringLiteral("without samples: 2"));
}

void PageTest::nonFiniteIsMarked() {
    write(QStringLiteral("a/metrics.jsonl"),
          "{\"step\": 1, \"v\": 1}\n{\"step\": 2, \"v\": null}\n{\"step\": 3, \"v\": 3}\n"
          "{\"step\": 4, \"v\": \"Infinity\"}\n{\"step\": 5, \"v\": 2}\n");
    auto page = shown();
    page->addFolder(at(QStringLiteral("a")));
    QVERIFY(hasPoints(*page, "v", "a", 3));
    PlotCell *cell = page->grid().cell(QStringLiteral("v"));
    QCOMPARE(cell->note(), QStringLiteral("not finite: 2"));
    const Series *marks = seriesOf(*page, QStringLiteral("v"), QStringLiteral("a: not finite"));
    QVERIFY(marks && marks->points && !marks->line);
    QCOMPARE(marks->x, (Numbers{2, 4}));
    QCOMPARE(marks->y, (Numbers{1, 3}));
    QVERIFY(cell->readout(2).contains(QLatin1String("NaN (not finite)")));
    QVERIFY(cell->readout(4.1).contains(QStringLiteral("+∞ (not finite)")));
    QVERIFY(cell->readout(5).contains(QStringLiteral("a: 2")));
    // Under the mouse.
    QCustomPlot &canvas = cell->plot().canvas();
    canvas.replot(); // places are those of the last drawing
    QSignalSpy hovered(cell, &PlotCell::hovered);
    QTest::mouseMove(&canvas,
                     QPoint(static_cast<int>(canvas.xAxis->coordToPixel(2)), canvas.height() / 2));
    QTRY_VERIFY(!hovered.isEmpty());
    QVERIFY(hovered.last()[0].toString().contains(QLatin1String("NaN (not finite)")));
}

void PageTest::followsLive() {
    write(QStringLiteral("a/metrics.jsonl"), "{\"step\": 1, \"v\": 1}\n{\"step\": 2, \"v\": 2}\n");
    auto page = shown();
    page->addFolder(at(QStringLiteral("a")));
    QVERIFY(hasPoints(*page, "v", "a", 2));
    PlotCell *cell = page->grid().cell(QStringLiteral("v"));
    write(QStringLiteral("a/metrics.jsonl"), "{\"step\": 900, \"v\": 50}\n{\"step\": 901, \"v",
          true);
    QVERIFY(hasPoints(*page, "v", "a", 3));
    QVERIFY(cell->plot().canvas().xAxis->range().upper >= 900);
    QVERIFY(cell->plot().canvas().yAxis->range().upper >= 50);
    QCOMPARE(page->runs().index(0, RunsModel::stepColumn).data().toString(), QStringLiteral("900"));
    QCOMPARE(page->runs().index(0, RunsModel::stateColumn).data().toString(),
             QStringLiteral("live"));
    write(QStringLiteral("a/metrics.jsonl"), "\": 7}\n", true);
    QVERIFY(hasPoints(*page, "v", "a", 4));
}

void PageTest::zoomStopsFollowing() {
    run(QStringLiteral("a"), 100, 2);
    auto page = shown();
    page->addFolder(at(QStringLiteral("a")));
    QVERIFY(hasPoints(*page, "loss", "a", 100));
    QTRY_VERIFY(action(*page, "train.follow")->isChecked());
    QCustomPlot &canvas = page->grid().cell(QStringLiteral("loss"))->plot().canvas();
    QWheelEvent wheel(QPointF(canvas.rect().center()),
                      QPointF(canvas.mapToGlobal(canvas.rect().center())), QPoint(), QPoint(0, 240),
                      Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
    QApplication::sendEvent(&canvas, &wheel);
    QVERIFY(!action(*page, "train.follow")->isChecked());
    const QCPRange range = canvas.xAxis->range();
    QVERIFY(range.size() < 99);
    write(QStringLiteral("a/metrics.jsonl"), "{\"step\": 5000, \"loss\": 1}\n", true);
    QVERIFY(hasPoints(*page, "loss", "a", 101));
    QCOMPARE(canvas.xAxis->range().upper, range.upper);
    // Ctrl+0 shows everything again.
    QTest::keyClick(page.get(), Qt::Key_0, Qt::ControlModifier);
    QTRY_VERIFY(canvas.xAxis->range().upper >= 5000);
    QVERIFY(action(*page, "train.follow")->isChecked());
}

void PageTest::rewrittenAndGone() {
    run(QStringLiteral("a"), 100, 2);
    auto page = shown();
    page->addFolder(at(QStringLiteral("a")));
    QVERIFY(hasPoints(*page, "loss", "a", 100));
    run(QStringLiteral("a"), 10, 5);
    QVERIFY(hasPoints(*page, "loss", "a", 10));
    write(QStringLiteral("a/metrics.jsonl"), "nonsense\n", true);
    const auto state = [&] {
        return page->runs().index(0, RunsModel::stateColumn).data().toString();
    };
    QTRY_COMPARE(state(), QStringLiteral("live, 1 unreadable"));
    QVERIFY(page->runs()
                .index(0, 0)
                .data(Qt::ToolTipRole)
                .toString()
                .contains(QLatin1String("line 11 is not JSON")));
    QVERIFY(QDir(at(QStringLiteral("a"))).removeRecursively());
    QTRY_COMPARE(state(), QStringLiteral("gone"));
}

void PageTest::newRunsBelow() {
    run(QStringLiteral("sweep/a"), 10, 1);
    auto page = shown();
    page->addFolder(at(QStringLiteral("sweep")));
    QVERIFY(hasPoints(*page, "loss", "a", 10));
    run(QStringLiteral("sweep/later/b"), 12, 1);
    QVERIFY(hasPoints(*page, "loss", "later/b", 12));
}

void PageTest::removeAndReload() {
    run(QStringLiteral("sweep/a"), 10, 1);
    run(QStringLiteral("sweep/b"), 10, 1);
    auto page = shown();
    page->addFolder(at(QStringLiteral("sweep")));
    QVERIFY(hasPoints(*page, "loss", "b", 10));
    auto *list = viewOf(*page, "Runs");
    list->setFocus();
    list->setCurrentIndex(page->runs().index(0, 0));
    QTest::keyClick(list, Qt::Key_Delete);
    QCOMPARE(page->runs().rowCount(), 1);
    QTRY_VERIFY(!seriesOf(*page, QStringLiteral("loss"), QStringLiteral("a")));
    QTest::qWait(500); // more than ten looks for new runs
    QCOMPARE(page->runs().rowCount(), 1);
    page->metrics().setChecked({QStringLiteral("reward/best")});
    QTest::keyClick(page.get(), Qt::Key_F5);
    QTest::qWait(100);
    QVERIFY(hasPoints(*page, "reward/best", "b", 10));
    QCOMPARE(page->metrics().checked(), QStringList{QStringLiteral("reward/best")});
    page->addFolder(at(QStringLiteral("sweep/a")));
    QVERIFY(hasPoints(*page, "reward/best", "a", 10));
}

void PageTest::filterAndChoose() {
    run(QStringLiteral("a"), 10, 1);
    auto page = shown();
    page->addFolder(at(QStringLiteral("a")));
    QVERIFY(hasPoints(*page, "loss", "a", 10));
    page->metrics().setChecked({});
    QCOMPARE(page->grid().cells().size(), 0);
    QTest::keyClick(page.get(), Qt::Key_F, Qt::ControlModifier);
    auto *edit = page->findChild<QLineEdit *>();
    for (QLineEdit *candidate : page->findChildren<QLineEdit *>())
        if (candidate->accessibleName() == QLatin1String("Filter metrics"))
            edit = candidate;
    QTRY_VERIFY(edit->hasFocus());
    QTest::keyClicks(edit, QStringLiteral("mean"));
    QTreeView *tree = viewOf(*page, "Metrics");
    QCOMPARE(tree->model()->rowCount(), 1);
    const QModelIndex group = tree->model()->index(0, 0);
    QCOMPARE(tree->model()->rowCount(group), 1);
    QVERIFY(tree->isExpanded(group));
    clickCheck(tree, tree->model()->index(0, 0, group));
    QCOMPARE(page->metrics().checked(), QStringList{QStringLiteral("reward/mean")});
    QVERIFY(hasPoints(*page, "reward/mean", "a", 10));
}

void PageTest::csv() {
    write(QStringLiteral("s/a, b/metrics.jsonl"),
          "{\"step\": 1, \"time\": 1760000000.5, \"samples\": 4, \"v\": 0.1, \"w\": 5}\n"
          "{\"step\": 2, \"v\": null}\n{\"step\": 3, \"time\": 1760000002, \"v\": 3}\n");
    write(QStringLiteral("s/c/metrics.jsonl"), "{\"step\": 1, \"v\": 9}\n");
    auto page = shown(0.5);
    page->addFolder(at(QStringLiteral("s")));
    QVERIFY(hasPoints(*page, "v", "c", 1));
    page->metrics().setChecked({QStringLiteral("v")});
    const QString out = at(QStringLiteral("out.csv"));
    page->exportCsv(out);
    QTRY_VERIFY(page->status().startsWith(QLatin1String("4 values written")));
    QFile file(out);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const Numbers smooth = smoothed({0.1, std::nan(""), 3}, 0.5);
    QCOMPARE(QString::fromUtf8(file.readAll()).split(u'\n'),
             (QStringList{QStringLiteral("run,metric,step,time,samples,value,smoothed"),
                          QStringLiteral("\"a, b\",v,1,1760000000.5,4,0.1,0.1"),
                          QStringLiteral("\"a, b\",v,2,,,NaN,NaN"),
                          QStringLiteral("\"a, b\",v,3,1760000002,,3,%1")
                              .arg(QString::number(smooth[2], 'g', QLocale::FloatingPointShortest)),
                          QStringLiteral("c,v,1,,,9,9"), QString()}));
    QSignalSpy problem(page.get(), &TrainPage::problem);
    page->exportCsv(at(QStringLiteral("no/folder/out.csv")));
    QTRY_COMPARE(problem.size(), 1);
    // One plot in each form through Plot.
    Plot &plot = page->grid().cell(QStringLiteral("v"))->plot();
    for (const char *ending : {"png", "svg", "pdf", "csv"})
        QVERIFY2(plot.exportTo(at(QStringLiteral("plot.") + QLatin1String(ending))), ending);
}

void PageTest::dropAndRecent() {
    run(QStringLiteral("a"), 10, 1);
    auto page = shown();
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(at(QStringLiteral("a/metrics.jsonl")))});
    QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    enter.ignore();
    QApplication::sendEvent(page.get(), &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop(QPointF(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(page.get(), &drop);
    QVERIFY(hasPoints(*page, "loss", "a", 10));
    QCOMPARE(QSettings().value(QStringLiteral("train/recent")).toStringList(),
             QStringList{at(QStringLiteral("a"))});
    QMimeData other;
    other.setUrls({QUrl(QStringLiteral("https://example.org/a"))});
    QDragEnterEvent refused(QPoint(5, 5), Qt::CopyAction, &other, Qt::LeftButton, Qt::NoModifier);
    refused.ignore();
    QApplication::sendEvent(page.get(), &refused);
    QVERIFY(!refused.isAccepted());
}

void PageTest::millionPointsDoNotBlock() {
    QByteArray text;
    constexpr int steps = 1'000'000;
    text.reserve(40 * steps);
    for (int step = 0; step < steps; ++step)
        text += "{\"step\": " + QByteArray::number(step) +
                ", \"v\": " + (step == 500'000 ? "1000" : QByteArray::number(step % 97)) + "}\n";
    write(QStringLiteral("a/metrics.jsonl"), text);
    run(QStringLiteral("b"), 10, 1);
    auto page = shown(0.9);
    page->addFolder(at(QStringLiteral("b")));
    QVERIFY(hasPoints(*page, "loss", "b", 10));
    page->metrics().setChecked({QStringLiteral("v")});
    QTest::qWait(200);
    LoopWatch watch;
    QElapsedTimer clock;
    clock.start();
    page->metrics().setChecked({QStringLiteral("loss")});
    page->addFolder(at(QStringLiteral("a")));
    QVERIFY(watch.until([&] { return page->metrics().find(QStringLiteral("v")) != nullptr; }));
    page->metrics().setChecked({QStringLiteral("v")});
    const auto points = [&](std::size_t count) {
        const Series *series = seriesOf(*page, QStringLiteral("v"), QStringLiteral("a"));
        return series && series->x.size() == count;
    };
    QVERIFY(watch.until([&] { return points(steps); }));
    watch.wait(200);
    qInfo("1,000,000 values in %lld ms, the event loop waited at most %.1f ms", clock.elapsed(),
          watch.longest);
    QVERIFY2(watch.longest < 50, qPrintable(QString::number(watch.longest)));
    // The one spike is in the picture.
    QCustomPlot &canvas = page->grid().cell(QStringLiteral("v"))->plot().canvas();
    double greatest = 0;
    for (int i = 0; i < canvas.graphCount(); ++i)
        for (const QCPGraphData &point : *canvas.graph(i)->data())
            greatest = std::max(greatest, point.value);
    QCOMPARE(greatest, 1000.0);
    QVERIFY(canvas.graph(0)->data()->size() < 10'000);
    // Smoothing and one more value are no different.
    page->findChild<QSlider *>()->setValue(990);
    watch.wait(300);
    write(QStringLiteral("a/metrics.jsonl"), "{\"step\": 1000000, \"v\": 1}\n", true);
    QVERIFY(watch.until([&] { return points(steps + 1); }));
    watch.wait(200);
    qInfo("with smoothing and growth %.1f ms", watch.longest);
    QVERIFY2(watch.longest < 50, qPrintable(QString::number(watch.longest)));
}

void PageTest::closedInTheMiddle() {
    QByteArray text;
    for (int step = 0; step < 600'000; ++step)
        text += "{\"step\": " + QByteArray::number(step) + ", \"v\": 1}\n";
    write(QStringLiteral("a/metrics.jsonl"), text);
    for (const int wait : {0, 30, 200}) {
        auto page = shown();
        page->addFolder(at(QStringLiteral("a")));
        QTest::qWait(wait);
        page->exportCsv(at(QStringLiteral("out.csv")));
        QElapsedTimer clock;
        clock.start();
        page.reset();
        QVERIFY2(clock.elapsed() < 1000, qPrintable(QString::number(clock.elapsed())));
    }
    QVERIFY(!QDir(dir_->path()).entryList(QDir::Files).contains(QStringLiteral("out.csv.")));
}

void PageTest::screenshots() {
    const QString folder = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
    if (folder.isEmpty())
        QSKIP("CUDA_AGENT_SCREENSHOTS names no folder");
    run(QStringLiteral("sweep/baseline"), 300, 2, true);
    run(QStringLiteral("sweep/lr 3e-4"), 220, 1.4);
    run(QStringLiteral("sweep/no-warmup"), 260, 1);
    for (const bool dark : {false, true}) {
        Theme::instance().setScheme(dark ? Theme::Scheme::dark : Theme::Scheme::light);
        const QString scheme = dark ? QStringLiteral("dark") : QStringLiteral("light");
        for (const QSize size : {QSize(1280, 800), QSize(300, 200)}) {
            auto page = shown(0.8);
            page->resize(size);
            QTest::qWait(50);
            QVERIFY(page->grab().save(
                QStringLiteral("%1/train_empty_%2_%3.png").arg(folder, scheme).arg(size.width())));
            page->addFolder(at(QStringLiteral("sweep")));
            QVERIFY(hasPoints(*page, "loss", "baseline", 292));
            QTest::qWait(300);
            QCustomPlot &canvas = page->grid().cells()[0]->plot().canvas();
            QTest::mouseMove(&canvas, canvas.rect().center());
            QTest::qWait(50);
            QVERIFY(page->grab().save(
                QStringLiteral("%1/train_%2_%3.png").arg(folder, scheme).arg(size.width())));
        }
    }
}

} // namespace cuda_agent::widgets

QTEST_MAIN(cuda_agent::widgets::PageTest)
#include "page_test.moc"
