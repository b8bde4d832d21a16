// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Sets that core/synthesis makes: reading, filtering, distributions, the folder of a synthesis.
#include "tests/widgets/loop_watch.h"
#include "tests/widgets/tasks/made_set.h"
#include "widgets/base/theme.h"
#include "widgets/plot/bar_chart.h"
#include "widgets/synthesis/synthesis_follower.h"
#include "widgets/synthesis/synthesis_process.h"
#include "widgets/synthesis/synthesis_strip.h"
#include "widgets/tasks/data_page.h"
#include "widgets/tasks/filter_panel.h"
#include "widgets/tasks/python_view.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QElapsedTimer>
#include <QLineEdit>
#include <QSignalSpy>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTableView>
#include <QTemporaryDir>
#include <QTranslator>
#include <QtTest>

#include <qcustomplot.h>

namespace cuda_agent::widgets {

class SetTest : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase();
    void cleanup() { Theme::instance().setScheme(Theme::Scheme::light); }
    void gzip();
    void brokenFiles();
    void wrongTypes();
    void columns();
    void query();
    void spread();
    void manyTasks();
    void filtersOnThePage();
    void bars();
    void opensAsSession();
    void folderOfASynthesis();
    void candidates();
    void startsAndStops();
    void closedInTheMiddle();
    void screenshots();

  private:
    QString path(const QString &name) const { return dir_.filePath(name); }
    void writeFolder(const QString &name, const QByteArray &state);
    QTemporaryDir dir_, settings_;
    QByteArray text_;
};

namespace {

bool loaded(TaskSetModel &model) {
    return QTest::qWaitFor([&] { return !model.loading(); }, 20'000);
}

constexpr std::size_t at(Facet facet) {
    return static_cast<std::size_t>(facet);
}

const Distribution *find(const QVector<Distribution> &list, Facet facet) {
    for (const Distribution &each : list)
        if (each.facet == facet)
            return &each;
    return nullptr;
}

} // namespace

void SetTest::initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("cuda-agent-test"));
    QCoreApplication::setApplicationName(QStringLiteral("tasksets"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings_.path());
    Theme::instance().setScheme(Theme::Scheme::light);
    text_ = madeSet(3000);
    QVERIFY(put(path(QStringLiteral("set.jsonl.gz")), gzipped(text_)));
}

void SetTest::gzip() {
    TaskSetModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.open(path(QStringLiteral("set.jsonl.gz")));
    QVERIFY(loaded(model));
    QVERIFY2(model.problem().isEmpty(), qPrintable(model.problem()));
    QCOMPARE(model.rowCount(), 3000);
    QCOMPARE(model.unusable(), 0);
    QVERIFY(model.hasFacts());
    // Sources come out of the rows, also when the file is gone.
    for (const int row : {0, 1, 249, 250, 2999})
        QCOMPARE(taskSource(model.path(), model.row(row))->toStdString(), madeSource(row));
    const auto file = taskFile(QStringLiteral("/nowhere"), model.row(1234), dir_.path());
    QVERIFY(file);
    QFile source(*file);
    QVERIFY(source.open(QIODevice::ReadOnly));
    QCOMPARE(source.readAll().toStdString(), madeSource(1234));
    // Several members, padded with zeros, and a name that does not say gzip.
    QVERIFY(put(path(QStringLiteral("parts.jsonl")), gzipped(text_, 5) + QByteArray(512, '\0')));
    model.open(path(QStringLiteral("parts.jsonl")));
    QVERIFY(loaded(model));
    QVERIFY2(model.problem().isEmpty(), qPrintable(model.problem()));
    QCOMPARE(model.rowCount(), 3000);
}

void SetTest::brokenFiles() {
    TaskSetModel model;
    const auto problemOf = [&](const char *name, const QByteArray &bytes) {
        const QString file = path(QLatin1String(name));
        if (!put(file, bytes))
            return QStringLiteral("not written");
        model.open(file);
        return loaded(model) ? model.problem() : QStringLiteral("late");
    };
    const QByteArray whole = gzipped(text_);
    QVERIFY(problemOf("cut.jsonl.gz", whole.left(whole.size() / 2))
                .contains(QLatin1String("is cut off")));
    QVERIFY2(model.rowCount() > 1000 && model.rowCount() < 2000,
             qPrintable(QString::number(model.rowCount())));
    QCOMPARE(model.unusable(), 0);
    QByteArray damaged = whole;
    for (qsizetype i = damaged.size() / 2; i < damaged.size() / 2 + 200; ++i)
        damaged[i] = static_cast<char>(damaged[i] ^ 0x5a);
    QVERIFY(problemOf("damaged.jsonl.gz", damaged).contains(QLatin1String("is damaged")));
    QVERIFY(model.rowCount() > 0);
    QVERIFY(problemOf("text.jsonl.gz", "{\"name\": 1}\n")
                .contains(QLatin1String("is not a gzip file")));
    QVERIFY(problemOf("head.jsonl.gz", whole.left(5)).contains(QLatin1String("is cut off")));
    QVERIFY(problemOf("none.jsonl.gz", {}).contains(QLatin1String("is empty")));
    QVERIFY(problemOf("zero.jsonl.gz", gzipped({})).contains(QLatin1String("is empty")));
    QCOMPARE(model.rowCount(), 0);
    QVERIFY(problemOf("set.parquet", "PAR1").endsWith(QLatin1String("holds the same tasks")));
    QVERIFY(model.problem().contains(path(QStringLiteral("set.jsonl.gz"))));
    QVERIFY(problemOf("other.parquet", "PAR1").contains(QLatin1String("Parquet")));
    // A line that nests without end is no JSON, and is not walked.
    QCOMPARE(problemOf("deep.jsonl.gz", gzipped("{\"a\": " + QByteArray(1 << 20, '[') + "\n")),
             QString());
    QCOMPARE(model.rowCount(), 1);
    QCOMPARE(model.row(0).problem, QStringLiteral("line 1 is not JSON"));
    QVERIFY(taskSource(model.path(), model.row(0)));
}

void SetTest::wrongTypes() {
    const QByteArray code = QByteArray::fromStdString(Json(madeSource(1)).dump());
    QVERIFY(put(path(QStringLiteral("odd.jsonl.gz")),
                gzipped("{\"name\": [1], \"code\": " + code +
                        ", \"ops\": 7, \"split\": {\"a\": 1}, \"seconds\": \"fast\", "
                        "\"compile_seconds\": -1, \"families\": [1, \"x\", \"x\"], \"level\": "
                        "[2], \"dtype\": null, \"backward\": 3, \"memory_bytes\": 1e400}\n"
                        "no json\n[1]\n\n{\"name\": \"b\"}\n"
                        "{\"name\": \"published\", \"code\": " +
                        code +
                        ", \"ops\": \"['torch.nn.Linear', 'torch.relu']\", \"seconds\": 0.002, "
                        "\"compile_seconds\": 0.001}\n")));
    TaskSetModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.open(path(QStringLiteral("odd.jsonl.gz")));
    QVERIFY(loaded(model));
    QCOMPARE(model.rowCount(), 5);
    const TaskRow &odd = model.row(0);
    // 1e400 is no number that JSON's reader takes: the whole line is none.
    QCOMPARE(odd.problem, QStringLiteral("line 1 is not JSON"));
    QCOMPARE(model.row(1).problem, QStringLiteral("line 2 is not JSON"));
    QCOMPARE(model.row(3).problem, QStringLiteral("line 5 has neither \"code\" nor \"file\""));
    const TaskRow &published = model.row(4);
    QCOMPARE(published.operators(), 2);
    QCOMPARE(published.ops[1], QStringLiteral("torch.relu"));
    QCOMPARE(published.speedUp, 2.0);
    QVERIFY(put(path(QStringLiteral("odd2.jsonl")),
                "{\"name\": [1], \"code\": " + code +
                    ", \"ops\": 7, \"split\": {\"a\": 1}, \"seconds\": \"fast\", "
                    "\"compile_seconds\": -1, \"families\": [1, \"x\", \"x\"], \"level\": [2], "
                    "\"dtype\": null, \"backward\": 3}\n"));
    model.open(path(QStringLiteral("odd2.jsonl")));
    QVERIFY(loaded(model));
    QCOMPARE(model.rowCount(), 1);
    const TaskRow &row = model.row(0);
    QVERIFY(row.problem.isEmpty());
    QCOMPARE(row.operators(), 0);
    QVERIFY(row.split.isEmpty() && row.dtype.isEmpty());
    QCOMPARE(row.families, QStringList{QStringLiteral("x")});
    QVERIFY(std::isnan(row.seconds) && std::isnan(row.speedUp));
    QCOMPARE(model.index(0, model.columnOf(QStringLiteral("seconds"))).data().toString(),
             QStringLiteral("fast"));
}

void SetTest::columns() {
    QVERIFY(put(path(QStringLiteral("one.jsonl")),
                "{\"zeta\": 1, \"seconds\": 0.00125, \"compile_seconds\": 0.000625, \"level\": "
                "\"2\", \"ops\": [\"a\", \"b\"], \"split\": \"train\", \"data_source\": \"torch\", "
                "\"dtype\": \"bf16\", \"backward\": true, \"memory_bytes\": 2500000, "
                "\"operations\": 3200000000, \"alpha\": 2, \"name\": \"x\"}\n"));
    TaskSetModel model;
    model.open(path(QStringLiteral("one.jsonl")));
    QVERIFY(loaded(model));
    QStringList titles, cells;
    for (int i = TaskSetModel::fixedColumns; i < model.columnCount(); ++i) {
        titles << model.headerData(i, Qt::Horizontal, Qt::DisplayRole).toString();
        cells << model.index(0, i).data().toString().replace(QChar(0x202f), u' ');
    }
    QCOMPARE(titles.join(u'|'),
             QStringLiteral("Split|Operators|Operator names|Source|Dtype|Backward|Eager (ms)|"
                            "Compiled (ms)|Compiled over eager|Memory|Operations|alpha|zeta"));
    QCOMPARE(cells.join(u'|'), QString::fromUtf8("train|2|a, b|torch|bf16|yes|1.25|0.625|2.00×|"
                                                 "2.50 MB|3.2 G|2|1"));
    QCOMPARE(model.index(0, model.columnOf(QStringLiteral("seconds")))
                 .data(TaskSetModel::sortRole)
                 .toDouble(),
             1.25);
}

void SetTest::query() {
    TaskSetModel model;
    TaskSetFilter filter(&model);
    QAbstractItemModelTester tester(&filter,
                                    QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.open(path(QStringLiteral("set.jsonl.gz")));
    QVERIFY(loaded(model));
    const auto counted = [&](const auto &holds) {
        return static_cast<int>(std::count_if(model.rows().begin(), model.rows().end(), holds));
    };
    TaskQuery query;
    query.names[at(Facet::split)] = QStringLiteral("train");
    query.names[at(Facet::dtype)] = QStringLiteral("bf16");
    query.fewest = 2;
    query.most = 3;
    query.time = {0.005, 0.02};
    query.operatorName = QStringLiteral("RELU");
    query.names[at(Facet::family)] = QStringLiteral("gemm");
    filter.setQuery(query);
    const int expected = counted([](const TaskRow &row) {
        return row.split == QLatin1String("train") && row.dtype == QLatin1String("bf16") &&
               row.operators() >= 2 && row.operators() <= 3 && row.seconds >= 0.005 &&
               row.seconds < 0.02 && row.families.contains(QLatin1String("gemm")) &&
               std::any_of(row.ops.begin(), row.ops.end(),
                           [](const QString &op) { return op.endsWith(QLatin1String("relu")); });
    });
    QVERIFY(expected > 0 && expected < 300);
    QCOMPARE(filter.rowCount(), expected);
    query.most = 0;
    query.words = {QStringLiteral("task_1"), QStringLiteral("composed")};
    filter.setQuery(query);
    QVERIFY(filter.rowCount() < expected);
    filter.setQuery({});
    QCOMPARE(filter.rowCount(), 3000);
    // Tasks that say nothing are none of any time.
    TaskRow empty;
    TaskQuery times;
    times.time = {0, 1};
    QVERIFY(!times.accepts(empty));
    QVERIFY(TaskQuery{}.accepts(empty));
}

void SetTest::spread() {
    TaskSetModel model;
    model.open(path(QStringLiteral("set.jsonl.gz")));
    QVERIFY(loaded(model));
    auto all = distributions(model.rows(), {});
    QVERIFY(!find(all, Facet::outcome) && !find(all, Facet::reason));
    for (const Facet facet : {Facet::operators, Facet::level, Facet::split, Facet::source,
                              Facet::dtype, Facet::time, Facet::speedUp}) {
        QVERIFY(find(all, facet));
        int sum = 0;
        for (const FacetBar &bar : find(all, facet)->bars) {
            QCOMPARE(bar.count, bar.all);
            sum += bar.count;
        }
        QCOMPARE(sum, 3000);
    }
    // A chosen bar leaves its own facet's others to be seen, and narrows the rest.
    TaskQuery query;
    const Distribution splits = *find(all, Facet::split);
    QCOMPARE(splits.bars[0].key, QStringLiteral("train"));
    toggleBar(query, Facet::split, splits.bars[1]);
    auto narrowed = distributions(model.rows(), query);
    const Distribution &again = *find(narrowed, Facet::split);
    QCOMPARE(again.bars[0].count, splits.bars[0].count);
    QVERIFY(!again.bars[0].chosen && again.bars[1].chosen);
    int levels = 0;
    for (const FacetBar &bar : find(narrowed, Facet::level)->bars)
        levels += bar.count;
    QCOMPARE(levels, splits.bars[1].count);
    // Bins of the time join without a gap, and each asks for exactly the tasks it counts.
    const Distribution &times = *find(all, Facet::time);
    for (qsizetype i = 0; i < times.bars.size(); ++i) {
        TaskQuery one;
        toggleBar(one, Facet::time, times.bars[i]);
        QCOMPARE(
            static_cast<int>(std::count_if(model.rows().begin(), model.rows().end(),
                                           [&](const TaskRow &row) { return one.accepts(row); })),
            times.bars[i].count);
        const auto bars = find(distributions(model.rows(), one), Facet::time)->bars;
        QCOMPARE(
            std::count_if(bars.begin(), bars.end(), [](const FacetBar &bar) { return bar.chosen; }),
            1);
        QVERIFY(bars[i].chosen);
        toggleBar(one, Facet::time, times.bars[i]);
        QVERIFY(!one.asksAnything());
    }
    toggleBar(query, Facet::split, splits.bars[1]);
    QCOMPARE(query, TaskQuery{});
}

void SetTest::manyTasks() {
    QVERIFY(put(path(QStringLiteral("many.jsonl.gz")), gzipped(madeSet(10'000))));
    DataPage page;
    page.resize(1200, 700);
    page.openSet(path(QStringLiteral("set.jsonl.gz")));
    page.show();
    QVERIFY(QTest::qWaitForWindowExposed(&page));
    QVERIFY(loaded(page.model()));
    QTest::qWait(100);
    LoopWatch watch;
    QElapsedTimer clock;
    clock.start();
    page.openSet(path(QStringLiteral("many.jsonl.gz")));
    QVERIFY(watch.until([&] { return !page.model().loading(); }));
    qInfo("10,000 tasks in %lld ms, the event loop waited at most %.1f ms", clock.elapsed(),
          watch.longest);
    QCOMPARE(page.model().rowCount(), 10'000);
    watch.wait(100);
    clock.restart();
    const auto all = distributions(page.model().rows(), {});
    qInfo("distributions in %lld ms", clock.elapsed());
    watch.wait(20);
    watch.longest = 0;
    TaskQuery query;
    query.names[at(Facet::split)] = QStringLiteral("train");
    query.fewest = 2;
    page.setQuery(query);
    watch.wait(100);
    page.setQuery({});
    watch.wait(100);
    page.findChild<QTableView *>(QStringLiteral("data.table"))
        ->sortByColumn(page.model().columnOf(QStringLiteral("seconds")), Qt::DescendingOrder);
    watch.wait(100);
    qInfo("with filter and sort %.1f ms", watch.longest);
    QVERIFY2(watch.longest < 150, qPrintable(QString::number(watch.longest)));
}

void SetTest::filtersOnThePage() {
    DataPage page;
    page.resize(1200, 800);
    page.openSet(path(QStringLiteral("set.jsonl.gz")));
    page.show();
    QVERIFY(QTest::qWaitForWindowExposed(&page));
    QVERIFY(loaded(page.model()));
    auto *panel = page.findChild<FilterPanel *>();
    QVERIFY(panel->isVisible());
    auto *name = panel->findChild<QLineEdit *>();
    name->setText(QStringLiteral("softmax"));
    QVERIFY(page.filtered().rowCount() > 0 && page.filtered().rowCount() < 3000);
    const int named = page.filtered().rowCount();
    auto *fewest = panel->findChild<QSpinBox *>();
    fewest->setValue(3);
    QVERIFY(page.filtered().rowCount() < named);
    auto *asked = page.findChild<QLabel *>(QStringLiteral("data.asked"));
    QVERIFY(asked->isVisible() && asked->text().contains(QLatin1String("softmax")));
    emit asked->linkActivated(QStringLiteral("all"));
    QCOMPARE(page.filtered().rowCount(), 3000);
    QVERIFY(name->text().isEmpty() && fewest->value() == 0 && !asked->isVisible());
    // The level above the list and the charts ask for the same thing.
    TaskQuery query;
    query.names[at(Facet::level)] = QStringLiteral("2");
    page.setQuery(query);
    bool shown = false;
    for (const QComboBox *box : page.findChildren<QComboBox *>())
        shown = shown || box->currentText() == QLatin1String("2");
    QVERIFY(shown);
    // Hidden, and remembered as hidden.
    page.findChild<QAction *>(QStringLiteral("data.panel"))->trigger();
    QVERIFY(!panel->isVisible());
    DataPage next;
    QVERIFY(!next.findChild<QAction *>(QStringLiteral("data.panel"))->isChecked());
    page.findChild<QAction *>(QStringLiteral("data.panel"))->trigger();
    QVERIFY(panel->isVisible());
    // What few look at is hidden, what the source mentions too.
    auto *table = page.findChild<QTableView *>(QStringLiteral("data.table"));
    QVERIFY(table->isColumnHidden(TaskSetModel::mentionsColumn));
    QVERIFY(table->isColumnHidden(page.model().columnOf(QStringLiteral("graph_hash"))));
    QVERIFY(!table->isColumnHidden(page.model().columnOf(QStringLiteral("seconds"))));
}

void SetTest::bars() {
    DataPage page;
    page.resize(1200, 900);
    page.openSet(path(QStringLiteral("set.jsonl.gz")));
    page.show();
    QVERIFY(QTest::qWaitForWindowExposed(&page));
    QVERIFY(loaded(page.model()));
    auto *panel = page.findChild<FilterPanel *>();
    BarChart *splits = panel->chart(Facet::split);
    BarChart *times = panel->chart(Facet::time);
    QVERIFY(splits && times && !panel->chart(Facet::reason));
    const auto click = [](BarChart *chart, int bar) {
        QTest::qWait(60); // the axes have their places
        QTest::mouseClick(&chart->canvas(), Qt::LeftButton, {}, chart->placeOf(bar).toPoint());
    };
    const int count = static_cast<int>(splits->bars()[1].count);
    click(splits, 1);
    QTRY_COMPARE(page.filtered().rowCount(), count);
    QVERIFY(splits->bars()[1].chosen);
    // A second chart narrows further.
    const int bar = static_cast<int>(times->bars().size()) / 2;
    const int fewer = static_cast<int>(times->bars()[bar].count);
    QVERIFY(fewer > 0 && fewer < count);
    click(times, bar);
    QTRY_COMPARE(page.filtered().rowCount(), fewer);
    click(times, bar);
    QTRY_COMPARE(page.filtered().rowCount(), count);
    // By keyboard.
    splits->setFocus(Qt::TabFocusReason);
    QTest::keyClick(splits, Qt::Key_Home);
    QTest::keyClick(splits, Qt::Key_Return);
    QVERIFY(page.query().names[at(Facet::split)] == QStringLiteral("train"));
    QTest::keyClick(splits, Qt::Key_Space);
    QCOMPARE(page.filtered().rowCount(), 3000);
    // Saved as the other plots are.
    for (const char *ending : {"png", "svg", "pdf", "csv"})
        for (BarChart *chart : {splits, times}) {
            const QString file = path(QStringLiteral("chart.") + QLatin1String(ending));
            QFile::remove(file);
            QVERIFY2(chart->exportTo(file), ending);
            QVERIFY(QFileInfo(file).size() > 50);
        }
    QFile csv(path(QStringLiteral("chart.csv")));
    QVERIFY(splits->exportTo(csv.fileName()) && csv.open(QIODevice::ReadOnly));
    QVERIFY(csv.readAll().contains(
        "train," + QByteArray::number(static_cast<int>(splits->bars()[0].count)) + ",1\n"));
}

void SetTest::opensAsSession() {
    DataPage page;
    page.resize(1000, 600);
    page.openSet(path(QStringLiteral("set.jsonl.gz")));
    page.show();
    page.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&page));
    QVERIFY(loaded(page.model()));
    QSignalSpy asked(&page, &DataPage::openTaskRequested);
    auto *table = page.findChild<QTableView *>(QStringLiteral("data.table"));
    table->selectRow(41);
    table->setFocus();
    QTRY_VERIFY(page.findChild<PythonView *>()->text().contains(QLatin1String("# task 41\n")));
    QTest::keyClick(table, Qt::Key_Return);
    QCOMPARE(asked.size(), 1);
    QFile file(asked[0][0].toString());
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll().toStdString(), madeSource(41));
}

void SetTest::writeFolder(const QString &name, const QByteArray &state) {
    const QString folder = path(name);
    QVERIFY(put(folder + QStringLiteral("/synthesis.json"), "{\"format\": 1}"));
    QVERIFY(put(folder + QStringLiteral("/progress.json"),
                "{\"state\": \"" + state +
                    "\", \"stage\": \"filter\", \"wanted\": 3000, \"proposed\": 9000, "
                    "\"checked\": 6400, \"timed\": 3900, \"compiled\": 2600, \"accepted\": 2310, "
                    "\"rejected\": "
                    "{\"too_fast\": 1800, \"not_deterministic\": 230, \"unused_input\": 610, "
                    "\"weak_check\": 420, \"duplicate\": 950, \"out_of_memory\": 80}, "
                    "\"seconds\": 412, \"left\": 190}"));
    QVERIFY(put(folder + QStringLiteral("/crawl.json"),
                "{\"operators\": [{\"name\": \"torch.relu\", \"source\": \"torch\", \"family\": "
                "\"activation\", \"kept\": true, \"reason\": \"\"}, {\"name\": \"torch.rand\", "
                "\"source\": \"torch\", \"family\": \"random\", \"kept\": false, \"reason\": "
                "\"random\"}]}"));
    QByteArray candidates, checked;
    for (int i = 0; i < 400; ++i) {
        Json row{{"index", i},
                 {"id", "c" + std::to_string(i)},
                 {"source", i % 2 ? "torch" : "composed"},
                 {"ops", {"torch.relu", "torch.nn.functional.linear"}},
                 {"kinds", {"a"}},
                 {"families", {"activation", "gemm"}},
                 {"dtype", "fp32"},
                 {"backward", false},
                 {"code", madeSource(i)},
                 {"small", Json::object()},
                 {"estimated_seconds", 0.004},
                 {"rejected", nullptr}};
        if (i % 10 == 9)
            row["rejected"] = "duplicate";
        candidates += QByteArray::fromStdString(row.dump()) + '\n';
        if (i % 10 == 9 || i >= 300)
            continue;
        const bool good = i % 3 == 0;
        const Json check{{"index", i},
                         {"stage", good ? "time" : "check"},
                         {"outcome", good ? "passed" : "rejected"},
                         {"reason", good ? "" : "too_fast"},
                         {"detail", good ? "" : "0.2 ms a call"},
                         {"seconds", 0.002 + 1e-4 * i}};
        checked += QByteArray::fromStdString(check.dump()) + '\n';
        if (good)
            checked += "{\"index\": " + QByteArray::number(i) +
                       ", \"stage\": \"compile\", \"outcome\": \"passed\", "
                       "\"seconds\": 0.001, \"took_seconds\": 7.5}\n";
    }
    QVERIFY(put(folder + QStringLiteral("/candidates.jsonl"), candidates + "{\"index\": 400, \"i"));
    QVERIFY(put(folder + QStringLiteral("/checked.jsonl"), checked + "{\"inde"));
}

void SetTest::candidates() {
    writeFolder(QStringLiteral("cand"), "running");
    TaskSetModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.open(path(QStringLiteral("cand/candidates.jsonl")));
    QVERIFY(loaded(model));
    QCOMPARE(model.rowCount(), 400); // the line that is being written is none yet
    QCOMPARE(model.unusable(), 0);
    QCOMPARE(model.row(9).outcome, QStringLiteral("rejected"));
    QCOMPARE(model.row(9).reason, QStringLiteral("duplicate"));
    QCOMPARE(model.row(1).reason, QStringLiteral("too_fast"));
    QCOMPARE(model.row(1).fields[QStringLiteral("detail")].toString(),
             QStringLiteral("0.2 ms a call"));
    QCOMPARE(model.row(0).outcome, QStringLiteral("passed"));
    QCOMPARE(model.row(0).fields[QStringLiteral("stage")].toString(), QStringLiteral("compile"));
    QCOMPARE(model.row(0).speedUp, 2.0);
    QCOMPARE(model.row(301).outcome, QStringLiteral("waiting"));
    QCOMPARE(model.row(1).name, QStringLiteral("c1"));
    QCOMPARE(taskSource(model.path(), model.row(1))->toStdString(), madeSource(1));
    const auto all = distributions(model.rows(), {});
    QCOMPARE(find(all, Facet::reason)->bars.size(), 2);
    QCOMPARE(find(all, Facet::outcome)->bars.size(), 3);
}

void SetTest::folderOfASynthesis() {
    writeFolder(QStringLiteral("run"), "running");
    DataPage page;
    page.follower().setInterval(50);
    page.resize(1200, 800);
    page.openSet(path(QStringLiteral("run")));
    page.show();
    QVERIFY(QTest::qWaitForWindowExposed(&page));
    auto *strip = page.findChild<SynthesisStrip *>();
    QTRY_VERIFY(strip->stateText().contains(QLatin1String("running: filter")));
    QVERIFY(strip->isVisible() && strip->countsText().contains(QLatin1String("2,310")));
    // While there is no set its candidates are shown.
    QVERIFY(loaded(page.model()));
    QCOMPARE(page.model().rowCount(), 400);
    auto *view = page.findChild<QComboBox *>(QStringLiteral("data.view"));
    QCOMPARE(view->currentIndex(), 1);
    // A reason shows its candidates.
    emit strip->reasonChosen(QStringLiteral("duplicate"));
    QCOMPARE(page.filtered().rowCount(), 40);
    page.setQuery({});
    // It ends: the set is there, and is shown where the user has not asked for the candidates.
    DataPage other;
    other.follower().setInterval(50);
    other.openSet(path(QStringLiteral("run")));
    QTRY_VERIFY(other.follower().progress().has_value());
    QVERIFY(put(path(QStringLiteral("run/set.jsonl.gz")), gzipped(text_)));
    QVERIFY(put(path(QStringLiteral("run/progress.json")),
                "{\"state\": \"done\", \"wanted\": 3000, \"accepted\": 3000, \"seconds\": 900}"));
    QTRY_COMPARE(strip->stateText(), QStringLiteral("Synthesis is done"));
    QTRY_COMPARE(other.model().rowCount(), 3000);
    QVERIFY(loaded(page.model()));
    QCOMPARE(view->currentIndex(), 1);
    view->setFocus();
    QTest::keyClick(view, Qt::Key_Home);
    QTRY_COMPARE(page.model().rowCount(), 3000);
    // The folder goes away: what was read stays, and it is said.
    QVERIFY(QDir(path(QStringLiteral("run"))).removeRecursively());
    QTRY_VERIFY(strip->stateText().contains(QLatin1String("gone")));
    QCOMPARE(page.model().rowCount(), 3000);
    // Another set has no strip.
    page.openSet(path(QStringLiteral("set.jsonl.gz")));
    QVERIFY(!strip->isVisible() && !view->isVisible());
    QVERIFY(loaded(page.model()));
}

namespace {

/// A program that takes the place of cuda-agent: writes what it was asked for and its progress,
/// ends at Ctrl-C.
QString fakeProgram(const QString &file, const QByteArray &body) {
    put(file, "#!/bin/bash\n" + body);
    QFile::setPermissions(file, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return file;
}

const QByteArray obedient =
    "mkdir -p \"$4\"; echo \"$@\" > \"$4/asked\"; echo '{}' > \"$4/synthesis.json\"\n"
    "trap 'echo \"{\\\"state\\\": \\\"stopped\\\"}\" > \"$4/progress.json\"; exit 130' INT\n"
    "echo '{\"state\": \"running\", \"stage\": \"filter\", \"wanted\": 10}' > "
    "\"$4/progress.json\"\n"
    "while true; do sleep 0.05; done\n";

} // namespace

void SetTest::startsAndStops() {
    DataPage page;
    page.follower().setInterval(50);
    page.resize(1000, 600);
    page.show();
    QVERIFY(QTest::qWaitForWindowExposed(&page));
    page.synthesis().setProgram(fakeProgram(path(QStringLiteral("fake")), obedient));
    SynthesisRequest request{QStringLiteral("r.toml"), path(QStringLiteral("made")),
                             QStringLiteral("cpu"), 5, 20};
    QVERIFY(page.startSynthesis(request));
    QVERIFY(!page.startSynthesis(request)); // one at a time
    auto *strip = page.findChild<SynthesisStrip *>();
    QTRY_COMPARE(strip->stateText(), QStringLiteral("Synthesis is running: filter"));
    QFile asked(path(QStringLiteral("made/asked")));
    QVERIFY(asked.open(QIODevice::ReadOnly));
    QCOMPARE(asked.readAll().trimmed(), "synthesize r.toml --out " + request.folder.toUtf8() +
                                            " --seed 5 --tasks 20 --device cpu");
    page.findChild<QAction *>(QStringLiteral("data.stopSynthesis"))->trigger();
    QTRY_COMPARE(page.synthesis().state(), SynthesisProcess::State::idle);
    QVERIFY(page.synthesis().error().isEmpty());
    QTRY_COMPARE(strip->stateText(), QStringLiteral("Synthesis was stopped"));
    // One that fails says why, in its last line.
    page.synthesis().setProgram(fakeProgram(
        path(QStringLiteral("bad")),
        "echo first >&2\necho 'cuda-agent: the recipe has no field \"x\"' >&2\nexit 2\n"));
    QVERIFY(page.startSynthesis(request));
    QTRY_COMPARE(page.synthesis().error(),
                 QStringLiteral("cuda-agent: the recipe has no field \"x\""));
    bool said = false;
    for (const QLabel *label : strip->findChildren<QLabel *>())
        said = said || (label->isVisible() && label->text() == page.synthesis().error());
    QVERIFY(said);
}

void SetTest::closedInTheMiddle() {
    auto page = std::make_unique<DataPage>();
    page->synthesis().setProgram(fakeProgram(path(QStringLiteral("fake")), obedient));
    QVERIFY(page->startSynthesis(
        {QStringLiteral("r.toml"), path(QStringLiteral("closed")), {}, {}, 0}));
    QTRY_VERIFY(QFileInfo::exists(path(QStringLiteral("closed/progress.json"))));
    QElapsedTimer clock;
    clock.start();
    page.reset();
    QVERIFY(clock.elapsed() < 5000);
    QFile file(path(QStringLiteral("closed/progress.json")));
    QVERIFY(file.open(QIODevice::ReadOnly));
    QVERIFY(file.readAll().contains("stopped")); // it came to its end before the page did
    // Also while it reads a set.
    page = std::make_unique<DataPage>();
    page->openSet(path(QStringLiteral("set.jsonl.gz")));
    page.reset();
}

void SetTest::screenshots() {
    const QString folder = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
    if (folder.isEmpty())
        QSKIP("CUDA_AGENT_SCREENSHOTS names no folder");
    QTranslator chinese;
    for (const bool dark : {false, true}) {
        Theme::instance().setScheme(dark ? Theme::Scheme::dark : Theme::Scheme::light);
        if (dark && chinese.load(qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS_QM")))
            QCoreApplication::installTranslator(&chinese);
        writeFolder(QStringLiteral("pictures"), "running");
        for (const bool synthesis : {false, true}) {
            for (const QSize size : {QSize(1280, 800), QSize(1500, 1500), QSize(700, 480)}) {
                DataPage page;
                page.openSet(synthesis ? path(QStringLiteral("pictures"))
                                       : path(QStringLiteral("set.jsonl.gz")));
                page.resize(size);
                page.show();
                QVERIFY(QTest::qWaitForWindowExposed(&page));
                QVERIFY(loaded(page.model()));
                if (!synthesis && dark) {
                    TaskQuery query;
                    query.names[at(Facet::split)] = QStringLiteral("held_out");
                    query.fewest = 2;
                    page.setQuery(query);
                }
                QTest::qWait(1500);
                QVERIFY(page.grab().save(
                    QStringLiteral("%1/set_%2_%3_%4.png")
                        .arg(folder,
                             synthesis ? QStringLiteral("running") : QStringLiteral("whole"),
                             dark ? QStringLiteral("dark") : QStringLiteral("light"))
                        .arg(size.width())));
            }
        }
    }
    QCoreApplication::removeTranslator(&chinese);
}

} // namespace cuda_agent::widgets

QTEST_MAIN(cuda_agent::widgets::SetTest)
#include "set_test.moc"
