// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// Sets that core/synthesis makes: reading, filtering, distributions.
#include "tests/widgets/tasks/made_set.h"
#include "widgets/tasks/task_set_model.h"

#include <QAbstractItemModelTester>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>

namespace cuda_agent::widgets {

class SetTest : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase();
    void words();
    void gzip();
    void brokenFiles();
    void wrongTypes();
    void columns();
    void query();
    void spread();
    void candidates();

  private:
    QString path(const QString &name) const { return dir_.filePath(name); }
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
    text_ = madeSet(3000);
    QVERIFY(put(path(QStringLiteral("set.jsonl.gz")), gzipped(text_)));
}

void SetTest::words() {
    const auto text = [](const Json &value) { return fieldValue(value).toString(); };
    QCOMPARE(text({{"reward", -1.0}, {"turns", 2}}), QStringLiteral("reward -1, turns 2"));
    QCOMPARE(text(Json::array({"relu", Json{{"at", 0.5}}})), QStringLiteral("relu, {\"at\":0.5}"));
    QCOMPARE(text({{"of", {{"a", true}}}, {"no", nullptr}}), QStringLiteral("no , of a yes"));
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

void SetTest::candidates() {
    QVERIFY(madeFolder(path(QStringLiteral("cand")), "running"));
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

} // namespace cuda_agent::widgets

QTEST_MAIN(cuda_agent::widgets::SetTest)
#include "set_test.moc"
