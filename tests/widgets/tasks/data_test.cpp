// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/source_dir.h"
#include "tests/widgets/loop_watch.h"
#include "widgets/base/theme.h"
#include "widgets/tasks/data_page.h"
#include "widgets/tasks/operator_scan.h"
#include "widgets/tasks/python_view.h"

#include <QAbstractItemModelTester>
#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QDropEvent>
#include <QLineEdit>
#include <QMimeData>
#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTableView>
#include <QTemporaryDir>
#include <QtTest>

namespace cuda_agent::widgets {

class DataTest : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase();
    void cleanup() { Theme::instance().setScheme(Theme::Scheme::light); }
    void mentions();
    void folder();
    void lines();
    void unusableSets();
    void sorting();
    void filtering();
    void anotherSetWhileReading();
    void manyTasksDoNotBlock();
    void pageShowsSamples();
    void opensAsSession();
    void opensLineAsFile();
    void csvAndCopy();
    void dropAndRecent();
    void screenshots();

  private:
    void write(const QString &name, const QByteArray &text);
    QTemporaryDir dir_;
    QTemporaryDir settings_;
};

namespace {

const QByteArray task = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n"
                        "# torch.commented\nclass Model(nn.Module):\n"
                        "    def __init__(self):\n        self.conv = nn.Conv2d(3, 4, 3)\n"
                        "        nn.init.xavier_uniform_(self.conv.weight)\n"
                        "    def forward(self, x):\n        '''torch.documented'''\n"
                        "        return torch.nn.functional.gelu(F.relu(self.conv(x))) + "
                        "torch.linalg.norm(x)\n"
                        "def get_inputs():\n    return [torch.randn(1, 3, 8, 8)]\n"
                        "def get_init_inputs():\n    return []\n";

bool loaded(TaskSetModel &model, int within = 20'000) {
    return QTest::qWaitFor([&] { return !model.loading(); }, within);
}

} // namespace

void DataTest::initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("cuda-agent-test"));
    QCoreApplication::setApplicationName(QStringLiteral("tasks"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings_.path());
    QDir(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation)).removeRecursively();
    Theme::instance().setScheme(Theme::Scheme::light);
    write(QStringLiteral("set/level1/10_conv.py"), task);
    write(QStringLiteral("set/level1/2_relu.py"), task);
    write(QStringLiteral("set/level2/1_gemm.py"), task + "# torch.sigmoid\ny = torch.sigmoid\n");
    write(QStringLiteral("set/helper.py"), "def help():\n    return torch.exp(1)\n");
    write(QStringLiteral("set/bytes.py"), "\xff\xfe\x00");
    write(QStringLiteral("set/.hidden/x.py"), task);
    write(QStringLiteral("set/notes.txt"), "no task");
    const QByteArray code = QString::fromUtf8(task).replace(u'\n', QLatin1String("\\n")).toUtf8();
    write(QStringLiteral("tasks.jsonl"),
          "{\"name\": \"one\", \"code\": \"" + code +
              "\", \"level\": 1, \"ops\": [\"conv\", \"gelu\"], \"eager_seconds\": 0.00125, "
              "\"split\": \"train\"}\n"
              "\n"
              "{\"name\": \"two\", \"file\": \"set/level1/2_relu.py\", \"level\": 2, "
              "\"eager_seconds\": 1e-5}\n"
              "{broken\n"
              "[1, 2]\n"
              "{\"name\": \"three\"}\n"
              "{\"name\": \"four\", \"file\": \"nothing.py\"}\n"
              "{\"name\": \"../../five, or \\\"so\\\"\", \"code\": \"" +
              code + "\", \"eager_seconds\": 20, \"count\": 12345678}\n");
}

void DataTest::write(const QString &name, const QByteArray &text) {
    const QString path = dir_.filePath(name);
    QVERIFY(QDir().mkpath(QFileInfo(path).path()));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    QCOMPARE(file.write(text), text.size());
}

void DataTest::mentions() {
    QCOMPARE(operatorsMentioned(QString::fromUtf8(task)),
             (QStringList{QStringLiteral("Conv2d"), QStringLiteral("gelu"), QStringLiteral("norm"),
                          QStringLiteral("relu")}));
    QCOMPARE(operatorsMentioned(QStringLiteral("s = \"torch.a \\\" torch.b\"; u = self.torch.c; "
                                               "torch.d; x.F.e\nF.f('''torch.g\n''')")),
             (QStringList{QStringLiteral("d"), QStringLiteral("f")}));
    // Unfinished strings and names end with the text.
    QCOMPARE(operatorsMentioned(QStringLiteral("'''torch.a")), QStringList());
    QCOMPARE(operatorsMentioned(QStringLiteral("torch.")), QStringList());
    QCOMPARE(operatorsMentioned(QStringLiteral("'a\\")), QStringList());
    QVERIFY(whyNoTask(QString::fromUtf8(task)).isEmpty());
    QVERIFY(
        whyNoTask(QStringLiteral("class Model: pass\n")).contains(QLatin1String("get_inputs()")));
}

void DataTest::folder() {
    TaskSetModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.open(dir_.filePath(QStringLiteral("set")));
    QVERIFY(loaded(model));
    QVERIFY2(model.problem().isEmpty(), qPrintable(model.problem()));
    QMap<QString, TaskRow> rows;
    for (int i = 0; i < model.rowCount(); ++i)
        rows[model.row(i).name] = model.row(i);
    QCOMPARE(rows.keys(), (QStringList{QStringLiteral("10_conv"), QStringLiteral("1_gemm"),
                                       QStringLiteral("2_relu"), QStringLiteral("bytes"),
                                       QStringLiteral("helper")}));
    QCOMPARE(rows[QStringLiteral("10_conv")].group, QStringLiteral("level1"));
    QCOMPARE(rows[QStringLiteral("10_conv")].size, task.size());
    QVERIFY(rows[QStringLiteral("10_conv")].problem.isEmpty());
    QVERIFY(rows[QStringLiteral("1_gemm")].mentions.contains(QStringLiteral("sigmoid")));
    QVERIFY(rows[QStringLiteral("helper")].problem.contains(QLatin1String("class Model")));
    QVERIFY(rows[QStringLiteral("bytes")].problem.contains(QLatin1String("UTF-8")));
    QCOMPARE(model.unusable(), 2);
    QCOMPARE(model.groups(),
             (QStringList{QString(), QStringLiteral("level1"), QStringLiteral("level2")}));
    QCOMPARE(*taskSource(model.path(), rows[QStringLiteral("2_relu")]), QString::fromUtf8(task));
}

void DataTest::lines() {
    TaskSetModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.open(dir_.filePath(QStringLiteral("tasks.jsonl")));
    QVERIFY(loaded(model));
    QCOMPARE(model.rowCount(), 7);
    QCOMPARE(model.row(0).name, QStringLiteral("one"));
    QCOMPARE(model.row(0).group, QStringLiteral("1"));
    QVERIFY(model.row(0).problem.isEmpty());
    QVERIFY(model.row(1).problem.isEmpty());
    QCOMPARE(model.row(1).file, dir_.filePath(QStringLiteral("set/level1/2_relu.py")));
    QCOMPARE(model.row(2).problem, QStringLiteral("line 4 is not JSON"));
    QCOMPARE(model.row(3).problem, QStringLiteral("line 5 is not a JSON object"));
    QCOMPARE(model.row(4).problem, QStringLiteral("line 6 has neither \"code\" nor \"file\""));
    QCOMPARE(model.row(5).problem, QStringLiteral("the file does not exist"));
    QVERIFY(model.row(6).problem.isEmpty());
    QStringList heads;
    for (int i = TaskSetModel::fixedColumns; i < model.columnCount(); ++i)
        heads << model.headerData(i, Qt::Horizontal, Qt::DisplayRole).toString();
    QCOMPARE(heads, (QStringList{QStringLiteral("Split"), QStringLiteral("Operators"),
                                 QStringLiteral("Operator names"), QStringLiteral("count"),
                                 QStringLiteral("eager_seconds")}));
    QCOMPARE(model.index(0, 9).data().toString(), QStringLiteral("0.00125"));
    QCOMPARE(model.index(0, 7).data().toString(), QStringLiteral("conv, gelu"));
    QCOMPARE(model.index(6, 8).data(TaskSetModel::sortRole).toLongLong(), 12345678);
    QCOMPARE(*taskSource(model.path(), model.row(0)), QString::fromUtf8(task));
    QCOMPARE(*taskSource(model.path(), model.row(2)), QStringLiteral("{broken\n"));
    QVERIFY(!taskFile(model.path(), model.row(2), dir_.path()));
}

void DataTest::unusableSets() {
    TaskSetModel model;
    const auto problemOf = [&](const QString &path) {
        model.open(path);
        return loaded(model) ? model.problem() : QStringLiteral("late");
    };
    QVERIFY(
        problemOf(dir_.filePath(QStringLiteral("nothing"))).contains(QLatin1String("not exist")));
    QVERIFY(QDir(dir_.path()).mkpath(QStringLiteral("empty")));
    QVERIFY(
        problemOf(dir_.filePath(QStringLiteral("empty"))).contains(QLatin1String("no .py file")));
    write(QStringLiteral("list.json"), "[\n{}\n]");
    QVERIFY(problemOf(dir_.filePath(QStringLiteral("list.json")))
                .contains(QLatin1String("one JSON list")));
    write(QStringLiteral("empty.jsonl"), "");
    QVERIFY(problemOf(dir_.filePath(QStringLiteral("empty.jsonl")))
                .contains(QLatin1String("is empty")));
    // A line of 17 MiB is named, and what follows it is read.
    write(QStringLiteral("long.jsonl"),
          "{\"name\": \"" + QByteArray(17 << 20, 'x') +
              "\"}\n{\"name\": \"after\", \"file\": \"set/level1/2_relu.py\"}\n");
    QCOMPARE(problemOf(dir_.filePath(QStringLiteral("long.jsonl"))), QString());
    QCOMPARE(model.rowCount(), 2);
    QVERIFY(model.row(0).problem.contains(QLatin1String("line 1 is longer")));
    QVERIFY(model.row(1).problem.isEmpty());
}

void DataTest::sorting() {
    TaskSetModel model;
    TaskSetFilter filter(&model);
    QAbstractItemModelTester tester(&filter,
                                    QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.open(dir_.filePath(QStringLiteral("set")));
    QVERIFY(loaded(model));
    filter.sort(TaskSetModel::nameColumn);
    const auto column = [&](int c) {
        QStringList cells;
        for (int i = 0; i < filter.rowCount(); ++i)
            cells << filter.index(i, c).data().toString();
        return cells;
    };
    QCOMPARE(column(0).mid(0, 3), (QStringList{QStringLiteral("1_gemm"), QStringLiteral("2_relu"),
                                               QStringLiteral("10_conv")}));
    filter.sort(TaskSetModel::sizeColumn, Qt::DescendingOrder);
    QCOMPARE(filter.index(0, 0).data().toString(), QStringLiteral("1_gemm"));
    model.open(dir_.filePath(QStringLiteral("tasks.jsonl")));
    QVERIFY(loaded(model));
    filter.sort(model.columnOf(QStringLiteral("eager_seconds"))); // as numbers
    QCOMPARE(column(0).mid(0, 3), (QStringList{QStringLiteral("two"), QStringLiteral("one"),
                                               QStringLiteral("../../five, or \"so\"")}));
}

void DataTest::filtering() {
    TaskSetModel model;
    TaskSetFilter filter(&model);
    model.open(dir_.filePath(QStringLiteral("set")));
    QVERIFY(loaded(model));
    const auto left = [&](const QStringList &words, const std::optional<QString> &level) {
        TaskQuery query;
        query.words = words;
        query.names[static_cast<std::size_t>(Facet::level)] = level;
        filter.setQuery(query);
        return filter.rowCount();
    };
    // By name and by operator.
    QCOMPARE(left({QStringLiteral("conv"), QStringLiteral("level1")}, {}), 2);
    QCOMPARE(left({QStringLiteral("sigmoid")}, {}), 1);
    QCOMPARE(left({}, QStringLiteral("level1")), 2);
    QCOMPARE(left({}, QString(QLatin1String(""))), 2);
    QCOMPARE(left({}, {}), 5);
}

void DataTest::anotherSetWhileReading() {
    TaskSetModel model;
    for (int i = 0; i < 50; ++i)
        model.open(dir_.filePath(i % 2 ? QStringLiteral("set") : QStringLiteral("tasks.jsonl")));
    QVERIFY(loaded(model));
    QTest::qWait(50);
    QCOMPARE(model.rowCount(), 5);
    // Closed in the middle.
    auto gone = std::make_unique<TaskSetModel>();
    gone->open(dir_.filePath(QStringLiteral("set")));
    gone.reset();
    QTest::qWait(20);
}

void DataTest::manyTasksDoNotBlock() {
    QByteArray text;
    const QByteArray code = QString::fromUtf8(task).replace(u'\n', QLatin1String("\\n")).toUtf8();
    for (int i = 0; i < 10'000; ++i)
        text += "{\"name\": \"task_" + QByteArray::number(i * 7919 % 10'000) + "\", \"code\": \"" +
                code + "\", \"level\": " + QByteArray::number(i % 3) +
                ", \"eager_seconds\": " + QByteArray::number(i * 1e-6) + "}\n";
    write(QStringLiteral("many.jsonl"), text);
    DataPage page;
    page.resize(1200, 700);
    page.openSet(dir_.filePath(QStringLiteral("set")));
    page.show();
    QVERIFY(QTest::qWaitForWindowExposed(&page));
    QVERIFY(loaded(page.model()));
    QTest::qWait(100);
    LoopWatch watch;
    QElapsedTimer clock;
    clock.start();
    page.openSet(dir_.filePath(QStringLiteral("many.jsonl")));
    QVERIFY(watch.until([&] { return !page.model().loading(); }));
    watch.wait(100);
    qInfo("10,000 tasks in %lld ms, the event loop waited at most %.1f ms", clock.elapsed(),
          watch.longest);
    QCOMPARE(page.model().rowCount(), 10'000);
    QVERIFY2(watch.longest < 50, qPrintable(QString::number(watch.longest)));
    // Filtering and sorting as well.
    auto *edit = page.findChild<QLineEdit *>(QStringLiteral("data.text"));
    QTest::keyClicks(edit, QStringLiteral("task_99"));
    QVERIFY(watch.until([&] { return page.countText() == QLatin1String("111 of 10,000"); }));
    edit->clear();
    QVERIFY(watch.until([&] { return page.filtered().rowCount() == 10'000; }));
    watch.wait(50);
    QVERIFY2(watch.longest < 50, qPrintable(QString::number(watch.longest)));
    page.findChild<QTableView *>(QStringLiteral("data.table"))
        ->sortByColumn(page.model().columnOf(QStringLiteral("eager_seconds")), Qt::DescendingOrder);
    watch.wait(50);
    QCOMPARE(page.filtered().index(0, 1).data().toString(), QStringLiteral("0"));
    qInfo("with filter and sort %.1f ms", watch.longest);
    QVERIFY2(watch.longest < 50, qPrintable(QString::number(watch.longest)));
}

void DataTest::pageShowsSamples() {
    qputenv("CUDA_AGENT_SHARE", (sourceDir() / "resources").c_str());
    DataPage page;
    page.resize(1000, 600);
    page.show();
    QVERIFY(QTest::qWaitForWindowExposed(&page));
    QVERIFY(loaded(page.model()));
    qunsetenv("CUDA_AGENT_SHARE");
    QVERIFY(page.model().rowCount() >= 5);
    QCOMPARE(page.model().unusable(), 0);
    // The first row is selected and its source shown.
    auto *source = page.findChild<PythonView *>();
    QTRY_VERIFY(source->text().contains(QLatin1String("class Model")));
    QVERIFY(source->isReadOnly());
    QTest::keyClicks(source, QStringLiteral("x"));
    QVERIFY(!source->isModified());
    for (const char *name : {"data.openFolder", "data.openFile", "data.openAsSession", "data.copy",
                             "data.exportCsv", "data.find", "data.reload", "data.samples"})
        QVERIFY2(page.actions().contains(page.findChild<QAction *>(QLatin1String(name))), name);
}

void DataTest::opensAsSession() {
    DataPage page;
    page.resize(1000, 600);
    page.openSet(dir_.filePath(QStringLiteral("set")));
    page.show();
    page.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&page));
    QVERIFY(loaded(page.model()));
    QSignalSpy asked(&page, &DataPage::openTaskRequested);
    auto *table = page.findChild<QTableView *>(QStringLiteral("data.table"));
    auto *edit = page.findChild<QLineEdit *>(QStringLiteral("data.text"));
    // By keyboard alone: filter, down to the list, Enter.
    QTest::keyClick(&page, Qt::Key_F, Qt::ControlModifier);
    QTRY_VERIFY(edit->hasFocus());
    QTest::keyClicks(edit, QStringLiteral("gemm"));
    QTRY_COMPARE(page.filtered().rowCount(), 1);
    QTest::keyClick(edit, Qt::Key_Down);
    QTest::keyClick(table, Qt::Key_Return);
    QCOMPARE(asked.size(), 1);
    QCOMPARE(asked[0][0].toString(), dir_.filePath(QStringLiteral("set/level2/1_gemm.py")));
    // By double click.
    edit->clear();
    QTRY_COMPARE(page.filtered().rowCount(), 5);
    const QPoint at = table->visualRect(page.filtered().index(2, 0)).center();
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, at);
    QTest::mouseDClick(table->viewport(), Qt::LeftButton, {}, at);
    QCOMPARE(asked.size(), 2);
    QCOMPARE(asked[1][0].toString(), dir_.filePath(QStringLiteral("set/level1/10_conv.py")));
    // By the button; not for what is no task, which says why.
    auto *button = page.findChild<QPushButton *>(QStringLiteral("data.open"));
    QTest::mouseClick(button, Qt::LeftButton);
    QCOMPARE(asked.size(), 3);
    for (int i = 0; i < 5; ++i)
        if (page.filtered().index(i, 0).data().toString() == QLatin1String("helper"))
            table->selectRow(i);
    QVERIFY(!button->isEnabled());
    QTest::keyClick(table, Qt::Key_Return);
    QCOMPARE(asked.size(), 3);
    bool said = false;
    for (const QLabel *label : page.findChildren<QLabel *>())
        said = said || (label->isVisible() && label->text().contains(QLatin1String("not a task")));
    QVERIFY(said);
    // One level only.
    auto *group = page.findChild<QComboBox *>(QStringLiteral("data.level"));
    group->setFocus();
    QTest::keyClick(group, Qt::Key_End);
    QCOMPARE(page.filtered().rowCount(), 1);
    QCOMPARE(page.countText(), QStringLiteral("1 of 5, 2 unusable"));
}

void DataTest::opensLineAsFile() {
    DataPage page;
    page.openSet(dir_.filePath(QStringLiteral("tasks.jsonl")));
    page.show();
    QVERIFY(QTest::qWaitForWindowExposed(&page));
    QVERIFY(loaded(page.model()));
    QSignalSpy asked(&page, &DataPage::openTaskRequested);
    auto *table = page.findChild<QTableView *>(QStringLiteral("data.table"));
    for (int i = 0; i < page.filtered().rowCount(); ++i)
        if (page.filtered().index(i, 0).data().toString().contains(QLatin1String("five"))) {
            table->selectRow(i);
            page.findChild<QAction *>(QStringLiteral("data.openAsSession"))->trigger();
        }
    QCOMPARE(asked.size(), 1);
    const QString path = asked[0][0].toString();
    QVERIFY2(path.startsWith(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation) +
                             QStringLiteral("/tasks/")) &&
                 !path.contains(QLatin1String("..")) && path.endsWith(QLatin1String(".py")),
             qPrintable(path));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), task);
}

void DataTest::csvAndCopy() {
    DataPage page;
    page.openSet(dir_.filePath(QStringLiteral("tasks.jsonl")));
    page.show();
    QVERIFY(QTest::qWaitForWindowExposed(&page));
    QVERIFY(loaded(page.model()));
    // A set that records its operators hides what its sources mention.
    auto *table = page.findChild<QTableView *>(QStringLiteral("data.table"));
    QVERIFY(table->isColumnHidden(TaskSetModel::mentionsColumn));
    table->setColumnHidden(TaskSetModel::mentionsColumn, false);
    table->setColumnHidden(TaskSetModel::sizeColumn, false);
    page.findChild<QLineEdit *>(QStringLiteral("data.text"))->setText(QStringLiteral("conv2d"));
    QTRY_COMPARE(page.filtered().rowCount(), 3);
    const QString out = dir_.filePath(QStringLiteral("out.csv"));
    QVERIFY(page.exportCsv(out));
    QFile file(out);
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QString size = QString::number(task.size());
    const QString mentioned = QStringLiteral("\"Conv2d, gelu, norm, relu\"");
    QCOMPARE(
        QString::fromUtf8(file.readAll()).split(u'\n'),
        (QStringList{
            QStringLiteral("Name,Level / folder,Mentions,Size,Problem,Split,Operators,"
                           "Operator names,count,eager_seconds"),
            QStringLiteral("\"../../five, or \"\"so\"\"\",,%1,%2,,,,,12345678,20")
                .arg(mentioned, size),
            QStringLiteral("one,1,%1,%2,,train,2,\"conv, gelu\",,0.00125").arg(mentioned, size),
            QStringLiteral("two,2,%1,%2,,,,,,1e-05").arg(mentioned, size), QString()}));
    QSignalSpy problem(&page, &DataPage::problem);
    QVERIFY(!page.exportCsv(dir_.filePath(QStringLiteral("no/folder/out.csv"))));
    QCOMPARE(problem.size(), 1);
    table->selectRow(1);
    page.findChild<QAction *>(QStringLiteral("data.copy"))->trigger();
    QVERIFY(QGuiApplication::clipboard()->text().startsWith(QLatin1String("one\t1\tConv2d, gelu")));
}

void DataTest::dropAndRecent() {
    DataPage page;
    page.openSet(dir_.filePath(QStringLiteral("tasks.jsonl")));
    QVERIFY(loaded(page.model()));
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(dir_.filePath(QStringLiteral("set")))});
    QDragEnterEvent enter(QPoint(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    enter.ignore();
    QApplication::sendEvent(&page, &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop(QPointF(5, 5), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QApplication::sendEvent(&page, &drop);
    QVERIFY(loaded(page.model()));
    QCOMPARE(page.model().rowCount(), 5);
    QCOMPARE(QSettings().value(QStringLiteral("data/recent")).toStringList().mid(0, 2),
             (QStringList{dir_.filePath(QStringLiteral("set")),
                          dir_.filePath(QStringLiteral("tasks.jsonl"))}));
    QMimeData other;
    other.setUrls({QUrl::fromLocalFile(dir_.filePath(QStringLiteral("set/notes.txt")))});
    QDragEnterEvent refused(QPoint(5, 5), Qt::CopyAction, &other, Qt::LeftButton, Qt::NoModifier);
    refused.ignore();
    QApplication::sendEvent(&page, &refused);
    QVERIFY(!refused.isAccepted());
}

void DataTest::screenshots() {
    const QString folder = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
    if (folder.isEmpty())
        QSKIP("CUDA_AGENT_SCREENSHOTS names no folder");
    for (const bool dark : {false, true}) {
        Theme::instance().setScheme(dark ? Theme::Scheme::dark : Theme::Scheme::light);
        for (const char *set : {"set", "tasks.jsonl"}) {
            for (const QSize size : {QSize(1200, 700), QSize(300, 200)}) {
                DataPage page;
                page.openSet(dir_.filePath(QLatin1String(set)));
                page.resize(size);
                page.show();
                QVERIFY(QTest::qWaitForWindowExposed(&page));
                QVERIFY(loaded(page.model()));
                QTest::qWait(50);
                QVERIFY(page.grab().save(
                    QStringLiteral("%1/data_%2_%3_%4.png")
                        .arg(folder, QFileInfo(QLatin1String(set)).baseName(),
                             dark ? QStringLiteral("dark") : QStringLiteral("light"))
                        .arg(size.width())));
            }
        }
    }
}

} // namespace cuda_agent::widgets

QTEST_MAIN(cuda_agent::widgets::DataTest)
#include "data_test.moc"
