// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/base/theme.h"
#include "widgets/plot/bar_chart.h"
#include "widgets/synthesis/crawl_dialog.h"
#include "widgets/synthesis/rejections_model.h"
#include "widgets/synthesis/synthesis_dialog.h"
#include "widgets/synthesis/synthesis_follower.h"
#include "widgets/synthesis/synthesis_process.h"
#include "widgets/synthesis/synthesis_strip.h"

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QDir>
#include <QElapsedTimer>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>
#include <QtTest>

#include <cmath>

namespace cuda_agent::widgets {

class SynthesisTest : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase();
    void progress();
    void badProgress();
    void rates();
    void rejections();
    void crawl();
    void badCrawl();
    void follows();
    void silent();
    void strip();
    void stopsWhatDoesNotListen();
    void lastWords();
    void dialog();

  private:
    QString path(const QString &name) const { return dir_.filePath(name); }
    bool put(const QString &name, const QByteArray &text) const;
    QString program(const QString &name, const QByteArray &body) const;
    QTemporaryDir dir_, settings_;
};

namespace {

const QByteArray running =
    R"({"state": "running", "stage": "filter", "wanted": 100, "proposed": 400, "checked": 300,
        "timed": 200, "compiled": 120, "accepted": 60, "rejected": {"too_fast": 20, "unused_input": 90},
        "seconds": 30, "left": 40})";

using Rejections = QVector<SynthesisProgress::Rejection>;

} // namespace

void SynthesisTest::initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("cuda-agent-test"));
    QCoreApplication::setApplicationName(QStringLiteral("synthesis"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings_.path());
    Theme::instance().setScheme(Theme::Scheme::light);
}

bool SynthesisTest::put(const QString &name, const QByteArray &text) const {
    QDir().mkpath(QFileInfo(path(name)).path());
    QFile file(path(name));
    return file.open(QIODevice::WriteOnly) && file.write(text) == text.size();
}

QString SynthesisTest::program(const QString &name, const QByteArray &body) const {
    put(name, "#!/bin/bash\n" + body);
    QFile::setPermissions(path(name), QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
    return path(name);
}

void SynthesisTest::progress() {
    const auto read = SynthesisProgress::parse(running);
    QVERIFY(read);
    QCOMPARE(read->state, SynthesisProgress::State::running);
    QCOMPARE(read->stage, QStringLiteral("filter"));
    QCOMPARE(read->wanted, 100.0);
    QCOMPARE(read->timed, 200.0);
    QCOMPARE(read->accepted, 60.0);
    QCOMPARE(read->left, 40.0);
    QCOMPARE(read->rejected,
             (Rejections{{QStringLiteral("unused_input"), 90}, {QStringLiteral("too_fast"), 20}}));
}

void SynthesisTest::badProgress() {
    for (const QByteArray &text :
         {QByteArray(), QByteArray("{\"state\": \"runn"), QByteArray("[]"), QByteArray("7"),
          QByteArray("{\"state\": \"dancing\"}"), QByteArray("{\"state\": 1}")})
        QVERIFY2(!SynthesisProgress::parse(text), text.constData());
    const auto odd = SynthesisProgress::parse(
        R"({"state": "done", "wanted": "many", "proposed": -5, "checked": null, "compiled": 1e300,
            "rejected": [1], "seconds": {}, "left": "soon", "stage": 3})");
    QVERIFY(odd);
    QVERIFY(odd->wanted == 0 && odd->proposed == 0 && odd->checked == 0 && odd->seconds == 0);
    QVERIFY(odd->compiled <= 1e15 && std::isnan(odd->left) && odd->rejected.isEmpty());
}

void SynthesisTest::rates() {
    SynthesisRates rates;
    SynthesisProgress now;
    QVERIFY(std::isnan(rates.of(&SynthesisProgress::checked)));
    for (int i = 0; i <= 100; ++i) { // 5 a second, then 20
        now.seconds = i;
        now.checked = i <= 60 ? 5 * i : 300 + 20 * (i - 60);
        rates.add(now);
    }
    QCOMPARE(rates.of(&SynthesisProgress::checked), 20.0);
    QCOMPARE(rates.of(&SynthesisProgress::accepted), 0.0);
    now.seconds = 1; // another run in the same folder
    rates.add(now);
    QVERIFY(std::isnan(rates.of(&SynthesisProgress::checked)));
}

void SynthesisTest::rejections() {
    RejectionsModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    const QString a = QStringLiteral("a"), b = QStringLiteral("b"), c = QStringLiteral("c");
    model.set({{a, 6}, {b, 4}});
    QCOMPARE(model.index(0, RejectionsModel::shareColumn).data().toString(),
             QStringLiteral("60.0 %"));
    const QPersistentModelIndex kept(model.index(0, RejectionsModel::countColumn));
    model.set({{c, 20}, {b, 11}, {a, 9}});
    QCOMPARE(kept.row(), 2);
    QCOMPARE(kept.data().toString(), QStringLiteral("9"));
    QCOMPARE(model.reason(0), c);
    model.set({{a, 10}});
    QCOMPARE(kept.row(), 0);
    model.set({});
    QVERIFY(!kept.isValid());
    QCOMPARE(model.rowCount(), 0);
}

void SynthesisTest::crawl() {
    QVERIFY(put(QStringLiteral("crawl.json"), R"({"operators": [
        {"name": "torch.relu", "source": "torch", "family": "activation", "kept": true, "reason": ""},
        {"name": "torch.rand", "source": "torch", "family": "random", "kept": false,
         "reason": "is random"},
        7, {"name": 3, "kept": "yes"},
        {"name": "LlamaAttention", "source": "transformers", "family": "attention", "kept": true}]})"));
    CrawlDialog dialog(path(QStringLiteral("crawl.json")));
    dialog.setAttribute(Qt::WA_DeleteOnClose, false);
    dialog.show();
    auto &model = const_cast<CrawlModel &>(dialog.model());
    auto &filtered = const_cast<CrawlFilter &>(dialog.filtered());
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QAbstractItemModelTester second(&filtered,
                                    QAbstractItemModelTester::FailureReportingMode::QtTest);
    QTRY_COMPARE(model.rowCount(), 4);
    QCOMPARE(model.kept(), 2);
    auto *text = dialog.findChild<QLineEdit *>();
    text->setText(QStringLiteral("RANDOM is"));
    QCOMPARE(filtered.rowCount(), 1);
    QCOMPARE(filtered.index(0, CrawlModel::reasonColumn).data().toString(),
             QStringLiteral("is random"));
    text->clear();
    auto *which = dialog.findChild<QComboBox *>();
    which->setCurrentIndex(1);
    QCOMPARE(filtered.rowCount(), 2);
    which->setCurrentIndex(2);
    QCOMPARE(filtered.rowCount(), 2);
    text->setText(QStringLiteral("rand"));
    QCOMPARE(filtered.rowCount(), 1);
}

void SynthesisTest::badCrawl() {
    for (const char *text : {"", "{\"operators\": 3}", "[1", "{}"}) {
        QVERIFY(put(QStringLiteral("bad.json"), text));
        QVERIFY2(!readCrawl(path(QStringLiteral("bad.json"))), text);
    }
    QVERIFY(!readCrawl(path(QStringLiteral("missing.json"))));
    // Closed while it reads.
    auto dialog = std::make_unique<CrawlDialog>(path(QStringLiteral("bad.json")));
    dialog.reset();
}

void SynthesisTest::follows() {
    SynthesisFollower follower;
    follower.setInterval(50);
    const QString folder = path(QStringLiteral("run"));
    follower.follow(folder); // before it is there
    QTest::qWait(150);
    QVERIFY(!follower.progress() && !follower.files().folder);
    QVERIFY(!SynthesisFollower::isSynthesis(folder));
    QVERIFY(put(QStringLiteral("run/synthesis.json"), "{}"));
    QVERIFY(SynthesisFollower::isSynthesis(folder));
    QVERIFY(put(QStringLiteral("run/progress.json"), running));
    QTRY_VERIFY(follower.progress() && follower.progress()->accepted == 60);
    // Half written: the last whole one stays.
    QVERIFY(put(QStringLiteral("run/progress.json"), running.left(100)));
    QTest::qWait(200);
    QVERIFY(follower.progress() && follower.progress()->accepted == 60);
    QByteArray later = running;
    later.replace("\"accepted\": 60", "\"accepted\": 80")
        .replace("\"seconds\": 30", "\"seconds\": 40");
    QVERIFY(put(QStringLiteral("run/progress.json"), later));
    QTRY_COMPARE(follower.progress()->accepted, 80.0);
    QCOMPARE(follower.rates().of(&SynthesisProgress::accepted), 2.0);
    // The folder goes away and comes back.
    QVERIFY(QDir(folder).removeRecursively());
    QTRY_VERIFY(!follower.files().folder);
    QCOMPARE(follower.progress()->accepted, 80.0);
    QVERIFY(put(QStringLiteral("run/progress.json"), "{\"state\": \"done\", \"accepted\": 100}"));
    QTRY_COMPARE(follower.progress()->state, SynthesisProgress::State::done);
    // Another folder, and none, while a look is on its way.
    follower.follow(path(QStringLiteral("elsewhere")));
    QVERIFY(!follower.progress());
    follower.follow({});
    QTest::qWait(100);
    QVERIFY(!follower.progress());
}

void SynthesisTest::silent() {
    QVERIFY(put(QStringLiteral("quiet/progress.json"), running));
    QFile file(path(QStringLiteral("quiet/progress.json")));
    QVERIFY(file.open(QIODevice::ReadWrite));
    QVERIFY(file.setFileTime(QDateTime::currentDateTime().addSecs(-75),
                             QFileDevice::FileModificationTime));
    file.close();
    SynthesisFollower follower;
    follower.setInterval(50);
    follower.follow(path(QStringLiteral("quiet")));
    QTRY_VERIFY(follower.progress());
    QVERIFY2(follower.silentFor() >= 75 && follower.silentFor() < 90,
             qPrintable(QString::number(follower.silentFor())));
    SynthesisProcess process;
    SynthesisStrip view(&follower, &process);
    QVERIFY2(view.stateText().contains(QLatin1String("not heard of for 7")),
             qPrintable(view.stateText()));
    QVERIFY(put(QStringLiteral("quiet/progress.json"), running + " "));
    QTRY_COMPARE(follower.silentFor(), 0.0);
    QTRY_COMPARE(view.stateText(), QStringLiteral("Synthesis is running: filter"));
}

void SynthesisTest::strip() {
    QVERIFY(put(QStringLiteral("shown/progress.json"), running));
    QVERIFY(put(QStringLiteral("shown/crawl.json"), R"({"operators": []})"));
    SynthesisFollower follower;
    SynthesisProcess process;
    follower.setInterval(50);
    SynthesisStrip view(&follower, &process);
    view.resize(900, 260);
    view.show();
    follower.follow(path(QStringLiteral("shown")));
    QTRY_VERIFY(view.countsText().contains(QLatin1String("60")));
    QVERIFY(view.ratesText().contains(QLatin1String("40 s left")));
    auto *table = view.findChild<QTableView *>(QStringLiteral("synthesis.reasons"));
    auto *chart = view.findChild<BarChart *>();
    QVERIFY(table->isVisible());
    QCOMPARE(table->model()->rowCount(), 2);
    QCOMPARE(chart->bars().size(), 2);
    QSignalSpy chosen(&view, &SynthesisStrip::reasonChosen);
    table->setFocus();
    table->setCurrentIndex(table->model()->index(1, 0));
    QTest::keyClick(table, Qt::Key_Return);
    QCOMPARE(chosen.size(), 1);
    QCOMPARE(chosen[0][0].toString(), QStringLiteral("too_fast"));
    emit chart->barActivated(0);
    QCOMPARE(chosen[1][0].toString(), QStringLiteral("unused_input"));
    view.showRejections(false);
    QVERIFY(!table->isVisible());
    view.showRejections(true);
    auto *operators = view.findChild<QToolButton *>(QStringLiteral("synthesis.operators"));
    QVERIFY(operators->isVisible());
    operators->click();
    auto *dialog = view.findChild<CrawlDialog *>();
    QVERIFY(dialog && dialog->isVisible());
    dialog->close();
    QVERIFY(!view.findChild<QToolButton *>(QStringLiteral("synthesis.stop"))->isVisible());
    QVERIFY(put(QStringLiteral("shown/progress.json"),
                R"({"state": "stopped", "accepted": 61, "seconds": 90})"));
    QTRY_COMPARE(view.stateText(), QStringLiteral("Synthesis was stopped"));
}

void SynthesisTest::stopsWhatDoesNotListen() {
    SynthesisProcess process;
    process.setPatience(200);
    // Ctrl-C is not heard: the next signal ends it.
    process.setProgram(program(QStringLiteral("deaf"),
                               "trap '' INT\ntrap 'exit 3' TERM\ntouch \"$4\"\n"
                               "while true; do sleep 0.02; done\n"));
    QVERIFY(process.start({QStringLiteral("r"), path(QStringLiteral("up")), {}, {}, 0}));
    QTRY_VERIFY(QFileInfo::exists(path(QStringLiteral("up"))));
    QSignalSpy changed(&process, &SynthesisProcess::stateChanged);
    process.stop();
    QCOMPARE(process.state(), SynthesisProcess::State::stopping);
    QTRY_COMPARE(process.state(), SynthesisProcess::State::idle);
    QCOMPARE(changed.size(), 2);
    QVERIFY(process.error().isEmpty());
    // Nothing is heard: it is killed, also by the destructor.
    auto deaf = std::make_unique<SynthesisProcess>();
    deaf->setPatience(150);
    deaf->setProgram(program(QStringLiteral("deafer"),
                             "trap '' INT TERM\ntouch \"$4\"\nwhile true; do sleep 0.02; done\n"));
    QVERIFY(deaf->start({QStringLiteral("r"), path(QStringLiteral("up2")), {}, {}, 0}));
    QTRY_VERIFY(QFileInfo::exists(path(QStringLiteral("up2"))));
    QElapsedTimer clock;
    clock.start();
    deaf.reset();
    QVERIFY2(clock.elapsed() >= 250 && clock.elapsed() < 5000,
             qPrintable(QString::number(clock.elapsed())));
}

void SynthesisTest::lastWords() {
    SynthesisProcess process;
    process.setProgram(program(QStringLiteral("loud"),
                               "for i in $(seq 5000); do echo \"noise $i\" >&2; done\n"
                               "echo 'out is not looked at'\n"
                               "printf 'cuda-agent: no such recipe\\n\\n' >&2\nexit 2\n"));
    const SynthesisRequest request{QStringLiteral("r"), path(QStringLiteral("o")), {}, {}, 0};
    QVERIFY(process.start(request));
    QVERIFY(!process.start(request));
    QTRY_COMPARE(process.state(), SynthesisProcess::State::idle);
    QCOMPARE(process.error(), QStringLiteral("cuda-agent: no such recipe"));
    process.setProgram(program(QStringLiteral("mute"), "exit 7\n"));
    QVERIFY(process.start(request));
    QTRY_COMPARE(process.state(), SynthesisProcess::State::idle);
    QVERIFY(process.error().contains(QLatin1String("exit code 7")));
    process.setProgram(program(QStringLiteral("short"), "exit 1\n"));
    QVERIFY(process.start(request));
    QTRY_COMPARE(process.state(), SynthesisProcess::State::idle);
    QVERIFY(process.error().contains(QLatin1String("not whole")));
    process.setProgram(program(QStringLiteral("killed"), "kill -9 $$\n"));
    QVERIFY(process.start(request));
    QTRY_VERIFY(process.error().contains(QLatin1String("by a signal")));
    process.setProgram(program(QStringLiteral("good"), "exit 0\n"));
    QVERIFY(process.start(request));
    QTRY_COMPARE(process.state(), SynthesisProcess::State::idle);
    QVERIFY(process.error().isEmpty());
    process.setProgram(path(QStringLiteral("not-there")));
    process.start(request);
    QTRY_COMPARE(process.state(), SynthesisProcess::State::idle);
    QVERIFY(process.error().contains(QLatin1String("cannot be started")));
}

void SynthesisTest::dialog() {
    QVERIFY(put(QStringLiteral("r.toml"), ""));
    QVERIFY(put(QStringLiteral("old/synthesis.json"), "{}"));
    SynthesisDialog dialog;
    dialog.show();
    QPushButton *start = nullptr;
    for (QPushButton *button : dialog.findChildren<QPushButton *>())
        if (button->isDefault())
            start = button;
    QVERIFY(start && !start->isEnabled());
    auto *recipe = dialog.findChild<QLineEdit *>(QStringLiteral("synthesis.recipe"));
    auto *folder = dialog.findChild<QLineEdit *>(QStringLiteral("synthesis.folder"));
    const auto says = [&](const char *text) {
        for (const QLabel *label : dialog.findChildren<QLabel *>())
            if (label->text().contains(QLatin1String(text)))
                return true;
        return false;
    };
    recipe->setText(path(QStringLiteral("nothing.toml")));
    folder->setText(path(QStringLiteral("new")));
    QVERIFY(!start->isEnabled() && says("There is no file"));
    recipe->setText(path(QStringLiteral("r.toml")));
    QVERIFY(start->isEnabled());
    folder->setText(path(QStringLiteral("r.toml")));
    QVERIFY(!start->isEnabled() && says("is a file"));
    folder->setText(path(QStringLiteral("old")));
    QVERIFY(start->isEnabled() && says("gone on with"));
    QCOMPARE(dialog.request().arguments(),
             (QStringList{QStringLiteral("synthesize"), path(QStringLiteral("r.toml")),
                          QStringLiteral("--out"), path(QStringLiteral("old"))}));
    QTest::keyClicks(dialog.findChild<QLineEdit *>(QStringLiteral("synthesis.seed")),
                     QStringLiteral("x12"));
    dialog.findChild<QSpinBox *>(QStringLiteral("synthesis.tasks"))->setValue(50);
    dialog.findChild<QComboBox *>(QStringLiteral("synthesis.device"))->setCurrentIndex(2);
    QCOMPARE(
        dialog.request().arguments().mid(4),
        (QStringList{QStringLiteral("--seed"), QStringLiteral("12"), QStringLiteral("--tasks"),
                     QStringLiteral("50"), QStringLiteral("--device"), QStringLiteral("cpu")}));
    QSignalSpy accepted(&dialog, &QDialog::accepted);
    QTest::mouseClick(start, Qt::LeftButton);
    QCOMPARE(accepted.size(), 1);
    SynthesisDialog again; // remembers
    QCOMPARE(again.request().recipe, path(QStringLiteral("r.toml")));
    QCOMPARE(again.request().device, QStringLiteral("cpu"));
}

} // namespace cuda_agent::widgets

QTEST_MAIN(cuda_agent::widgets::SynthesisTest)
#include "synthesis_test.moc"
