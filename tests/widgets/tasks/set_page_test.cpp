// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// The page with sets that core/synthesis makes, and with the folder of a synthesis.
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

#include <QComboBox>
#include <QDialog>
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

class SetPageTest : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase();
    void cleanup() { Theme::instance().setScheme(Theme::Scheme::light); }
    void manyTasks();
    void filtersOnThePage();
    void bars();
    void opensAsSession();
    void folderOfASet();
    void folderOfASynthesis();
    void startsAndStops();
    void closedInTheMiddle();
    void screenshots();

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

} // namespace

void SetPageTest::initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("cuda-agent-test"));
    QCoreApplication::setApplicationName(QStringLiteral("datapage"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings_.path());
    Theme::instance().setScheme(Theme::Scheme::light);
    text_ = madeSet(3000);
    QVERIFY(put(path(QStringLiteral("set.jsonl.gz")), gzipped(text_)));
}

void SetPageTest::manyTasks() {
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
    // 50 on a machine that has nothing else to do
    QVERIFY2(watch.longest < 150, qPrintable(QString::number(watch.longest)));
}

void SetPageTest::filtersOnThePage() {
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
    // What is shown is a task that is left, or none.
    auto *list = page.findChild<QTableView *>(QStringLiteral("data.table"));
    QVERIFY(list->currentIndex().isValid());
    QCOMPARE(list->currentIndex().siblingAtColumn(TaskSetModel::groupColumn).data().toString(),
             QStringLiteral("2"));
    query.words = {QStringLiteral("nowhere")};
    page.setQuery(query);
    QVERIFY(!page.findChild<PythonView *>()->text().contains(QLatin1String("class Model")));
    QVERIFY(!page.findChild<QAction *>(QStringLiteral("data.openAsSession"))->isEnabled());
    page.setQuery({});
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

void SetPageTest::bars() {
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

void SetPageTest::opensAsSession() {
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

void SetPageTest::folderOfASet() {
    QVERIFY(QDir(dir_.path()).mkpath(QStringLiteral("made/synthesis")));
    QVERIFY(put(path(QStringLiteral("made/set.jsonl.gz")), gzipped(madeSet(20))));
    QVERIFY(put(path(QStringLiteral("made/card.md")), "# a card"));
    DataPage page;
    page.openSet(path(QStringLiteral("made")));
    QVERIFY(loaded(page.model()));
    QCOMPARE(page.model().problem(), QString());
    QCOMPARE(page.model().rowCount(), 20);
}

void SetPageTest::folderOfASynthesis() {
    QVERIFY(madeFolder(path(QStringLiteral("run")), "running"));
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

void SetPageTest::startsAndStops() {
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

void SetPageTest::closedInTheMiddle() {
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

void SetPageTest::screenshots() {
    const QString folder = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
    if (folder.isEmpty())
        QSKIP("CUDA_AGENT_SCREENSHOTS names no folder");
    QTranslator chinese;
    for (const bool dark : {false, true}) {
        Theme::instance().setScheme(dark ? Theme::Scheme::dark : Theme::Scheme::light);
        if (dark && chinese.load(qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS_QM")))
            QCoreApplication::installTranslator(&chinese);
        QVERIFY(madeFolder(path(QStringLiteral("pictures")), "running"));
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
                if (synthesis && size.width() == 1280) {
                    page.findChild<QAction *>(QStringLiteral("data.newSynthesis"))->trigger();
                    for (auto *dialog : page.findChildren<QDialog *>())
                        QVERIFY(dialog->grab().save(
                            QStringLiteral("%1/dialog_%2.png").arg(folder).arg(dark)));
                }
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

QTEST_MAIN(cuda_agent::widgets::SetPageTest)
#include "set_page_test.moc"
