// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/run/run_writer.h"
#include "widgets/runs/train_dialog.h"
#include "widgets/runs/train_page.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QHelpEvent>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolTip>
#include <QTreeView>
#include <QtTest>
#include <qcustomplot.h>

#include <algorithm>

namespace cuda_agent::widgets {

/// The run that is looked at, with a real writer on the other side of its folder.
class SteeringTest : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase();
    void init();
    void followsATrainer();
    void bandsFollowTheAxis();
    void stageNamesFitTheirBands();
    void rolloutsOpenAsSessions();
    void brokenRun();
    void startsTrainers();
    void dialogSaysWhatIsMissing();

  private:
    std::unique_ptr<TrainPage> shown();
    std::filesystem::path run(const char *name) const {
        return (dir_->path() + QLatin1Char('/') + QLatin1String(name)).toStdString();
    }
    std::unique_ptr<QTemporaryDir> dir_;
    QTemporaryDir settings_;
};

namespace {

QString textOf(TrainPage &page, const char *name) {
    return page.findChild<QLabel *>(QLatin1String(name))->text();
}
QAction *action(TrainPage &page, const char *name) {
    return page.findChild<QAction *>(QLatin1String(name));
}

} // namespace

void SteeringTest::initTestCase() {
    QCoreApplication::setOrganizationName(QStringLiteral("cuda-agent-test"));
    QCoreApplication::setApplicationName(QStringLiteral("steering"));
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, settings_.path());
}

void SteeringTest::init() {
    QSettings().clear();
    dir_ = std::make_unique<QTemporaryDir>();
}

std::unique_ptr<TrainPage> SteeringTest::shown() {
    auto page = std::make_unique<TrainPage>();
    page->follower().setInterval(30);
    page->resize(1200, 800);
    page->show();
    page->addFolder(dir_->path());
    return page;
}

void SteeringTest::followsATrainer() {
    learn::RunInfo info;
    info.stages = {{"pretrain", 10}, {"rft", 10}};
    auto writer = learn::RunWriter::create(run("a"), info);
    QVERIFY(writer);
    learn::RunStatus status;
    status.stage = "pretrain";
    status.stageStep = 5;
    status.stageSteps = 10;
    QVERIFY(writer->setStatus(status));
    auto page = shown();
    QTRY_COMPARE(textOf(*page, "runStrip.state"), QStringLiteral("running"));
    QVERIFY(textOf(*page, "runStrip.detail").contains(QLatin1String("stage 1 of 2")));
    QVERIFY(action(*page, "train.pause")->isEnabled());
    QVERIFY(!action(*page, "train.resume")->isEnabled());
    // Pause, seen by the trainer between steps.
    action(*page, "train.pause")->trigger();
    QTRY_VERIFY(textOf(*page, "runStrip.state").contains(QLatin1String("pausing")));
    QTRY_COMPARE(writer->requested(), learn::RunWriter::Asked::pause);
    status.state = learn::RunState::paused;
    QVERIFY(writer->setStatus(status));
    QTRY_COMPARE(textOf(*page, "runStrip.state"), QStringLiteral("paused"));
    QTRY_VERIFY(action(*page, "train.resume")->isEnabled());
    action(*page, "train.resume")->trigger();
    QTRY_COMPARE(writer->requested(), learn::RunWriter::Asked::nothing);
    status.state = learn::RunState::running;
    QVERIFY(writer->setStatus(status));
    QTRY_COMPARE(textOf(*page, "runStrip.state"), QStringLiteral("running"));
    action(*page, "train.stop")->trigger();
    QTRY_COMPARE(writer->requested(), learn::RunWriter::Asked::stop);
    status.state = learn::RunState::failed;
    status.error = "out of memory";
    QVERIFY(writer->setStatus(status));
    QTRY_COMPARE(textOf(*page, "runStrip.error"), QStringLiteral("out of memory"));
    QVERIFY(!action(*page, "train.stop")->isEnabled());
    QVERIFY(action(*page, "train.resume")->isEnabled());
    QCOMPARE(page->runs().index(0, RunsModel::stateColumn).data().toString(),
             QStringLiteral("failed"));
    // The page goes while requests are under way.
    page.reset();
}

void SteeringTest::bandsFollowTheAxis() {
    auto writer = learn::RunWriter::create(run("a"), {});
    QVERIFY(writer);
    for (int step = 0; step < 30; ++step)
        QVERIFY(writer->log(step, step < 10 ? "pretrain" : "rft",
                            {{"train/loss", 30 - step}, {"train/tokens", step * 1000}}));
    auto page = shown();
    const auto cell = [&] { return page->grid().cell(QStringLiteral("train/loss")); };
    QTRY_VERIFY(cell() && cell()->bands().size() == 2);
    QTRY_COMPARE(cell()->bands()[1], (StageBand{QStringLiteral("rft"), 10, 29}));
    QCOMPARE(cell()->bands()[0].to, 10.0);
    QTRY_VERIFY(cell()->plot().canvas().itemCount() >= 3); // two areas and a line
    QVERIFY(cell()->readout(3).contains(QLatin1String("in pretrain")));
    QVERIFY(cell()->readout(20).contains(QLatin1String("in rft")));
    for (QComboBox *box : page->findChildren<QComboBox *>())
        if (box->count() == 4)
            box->setCurrentIndex(3);
    QTRY_COMPARE(cell()->bands()[1].from, 10'000.0);
    // A stage that begins live.
    QVERIFY(writer->log(30, "agentic-ppo", {{"train/loss", 1}, {"train/tokens", 30'000}}));
    QTRY_COMPARE(cell()->bands().size(), 3);
    // Nothing behind a run that is not drawn.
    page->runs().setAllChecked(false);
    QTRY_VERIFY(cell() == nullptr || cell()->bands().isEmpty());
}

void SteeringTest::stageNamesFitTheirBands() {
    auto writer = learn::RunWriter::create(run("a"), {});
    QVERIFY(writer);
    const std::pair<const char *, int> stages[] = {{"pretrain", 40},
                                                   {"a-stage-with-a-rather-long-name", 8},
                                                   {"single-turn-ppo", 1},
                                                   {"value-pretraining", 3},
                                                   {"rl", 48}};
    int step = 0;
    for (const auto &[stage, steps] : stages)
        for (int i = 0; i < steps; ++i, ++step)
            QVERIFY(writer->log(step, stage, {{"train/loss", 100 - step}}));
    auto page = shown();
    const auto cell = [&] { return page->grid().cell(QStringLiteral("train/loss")); };
    QTRY_VERIFY(cell() && cell()->bands().size() == 5);
    QCustomPlot &canvas = cell()->plot().canvas();
    const auto names = [&] { // those that are seen, from left to right
        canvas.replot(QCustomPlot::rpImmediateRefresh);
        std::vector<QCPItemText *> seen;
        for (int i = 0; i < canvas.itemCount(); ++i)
            if (auto *text = qobject_cast<QCPItemText *>(canvas.item(i)); text && text->visible())
                seen.push_back(text);
        return seen;
    };
    const auto apart = [&] {
        double end = canvas.axisRect()->left();
        for (const QCPItemText *name : names()) {
            if (name->left->pixelPosition().x() < end - 0.5)
                return false;
            end = name->right->pixelPosition().x();
        }
        return end <= canvas.axisRect()->right() + 0.5;
    };
    QTRY_VERIFY(!names().empty());
    // Whatever size the window gets, and whatever part of the run is looked at.
    for (const int width : {1200, 2400, 700, 1600}) {
        page->resize(width, 800);
        QTest::qWait(50);
        QVERIFY2(apart(), qPrintable(QString::number(width)));
        QCOMPARE(names().front()->text(), QStringLiteral("pretrain"));
        QVERIFY(names().size() < 5); // one step has no room for 15 letters
    }
    canvas.xAxis->setRange(39, 50);
    QVERIFY(apart());
    const auto shownAs = [&](const char *name) {
        const auto seen = names();
        return std::any_of(seen.begin(), seen.end(),
                           [&](QCPItemText *text) { return text->text() == QLatin1String(name); });
    };
    page->resize(2400, 800);
    QTest::qWait(50);
    canvas.xAxis->setRange(47.9, 49.1);
    QVERIFY(shownAs("single-turn-ppo")); // there is room now
    QVERIFY(apart());
    // What is not written there is told there, and nowhere else.
    canvas.xAxis->setRange(0, 100);
    names();
    const QRect area = canvas.axisRect()->rect();
    const auto ask = [&](double x, int y) {
        const QPoint place(static_cast<int>(canvas.xAxis->coordToPixel(x)), y);
        QHelpEvent help(QEvent::ToolTip, place, canvas.mapToGlobal(place));
        QApplication::sendEvent(&canvas, &help);
        return QToolTip::text();
    };
    QCOMPARE(ask(50.5, area.top() + 5), QStringLiteral("Stage value-pretraining"));
    QCOMPARE(ask(44, area.top() + 5), QStringLiteral("Stage a-stage-with-a-rather-long-name"));
    QToolTip::hideText();
    QTRY_VERIFY(!QToolTip::isVisible());
    QCOMPARE(ask(44, area.center().y()), QString());
}

void SteeringTest::rolloutsOpenAsSessions() {
    auto writer = learn::RunWriter::create(run("a"), {});
    QVERIFY(writer);
    QVERIFY(writer->log(0, "s", {{"x", 1}}));
    auto page = shown();
    auto *view = page->findChild<QTableView *>(QStringLiteral("train.rollouts"));
    QTRY_COMPARE(page->runs().rowCount(), 1);
    QVERIFY(!view->isVisible());
    QVERIFY(writer->addRollout({0, "gone", -1, 2, "s-0", ""}));
    QVERIFY(writer->addRollout({1, "fused_norm", 3, 4, "s-1", "verified"}));
    QTRY_COMPARE(page->rollouts().rowCount(), 2);
    QTRY_VERIFY(view->isVisible());
    const QString folder =
        QString::fromStdString((learn::rolloutFolder(run("a"), 1) / "s-1").string());
    QVERIFY(QDir().mkpath(folder));
    QFile session(folder + QStringLiteral("/session.jsonl"));
    QVERIFY(session.open(QIODevice::WriteOnly));
    session.close();
    QSignalSpy wanted(page.get(), &TrainPage::openSessionRequested);
    QSignalSpy problem(page.get(), &TrainPage::problem);
    const auto open = [&](int row) {
        const QPoint at = view->visualRect(view->model()->index(row, 1)).center();
        QTest::mouseClick(view->viewport(), Qt::LeftButton, {}, at);
        QTest::mouseDClick(view->viewport(), Qt::LeftButton, {}, at);
    };
    open(0); // the newest
    QCOMPARE(wanted.size(), 1);
    QCOMPARE(wanted[0][0].toString(), folder);
    open(1);
    QCOMPARE(wanted.size(), 1);
    QCOMPARE(problem.size(), 1);
}

void SteeringTest::brokenRun() {
    { QVERIFY(learn::RunWriter::create(run("a"), {})); }
    QFile status(QString::fromStdString(learn::statusFile(run("a")).string()));
    QVERIFY(status.open(QIODevice::WriteOnly));
    status.write(QByteArray(3000, '['));
    status.close();
    auto page = shown();
    QTRY_COMPARE(page->runs().rowCount(), 1);
    QTRY_VERIFY(page->runs()
                    .index(0, 0)
                    .data(Qt::ToolTipRole)
                    .toString()
                    .contains(QLatin1String("status.json is not a JSON object")));
    QVERIFY(!action(*page, "train.stop")->isEnabled());
}

void SteeringTest::startsTrainers() {
    const QString program = dir_->filePath(QStringLiteral("trainer"));
    QFile script(program);
    QVERIFY(script.open(QIODevice::WriteOnly));
    script.write("#!/bin/sh\necho \"$@\" >\"$4/arguments\"\necho some words\n"
                 "echo 'no such stage' >&2\nexit 2\n");
    script.close();
    QVERIFY(script.setPermissions(QFile::ReadOwner | QFile::ExeOwner | QFile::WriteOwner));
    TrainLauncher launcher;
    launcher.setProgram(program);
    QCOMPARE(launcher.missing(), QString());
    QSignalSpy failed(&launcher, &TrainLauncher::failed);
    const QString folder = dir_->filePath(QStringLiteral("run"));
    launcher.start({QStringLiteral("r.toml"), folder, true});
    QTRY_COMPARE(failed.size(), 1);
    QCOMPARE(failed[0][0].toString(), folder);
    QCOMPARE(failed[0][1].toString(), QStringLiteral("no such stage"));
    QFile arguments(folder + QStringLiteral("/arguments"));
    QVERIFY(arguments.open(QIODevice::ReadOnly));
    QCOMPARE(arguments.readAll().trimmed(),
             QByteArray("train r.toml --out " + folder.toUtf8() + " --resume"));
    // One that is not there, and one whose page goes before it ends.
    launcher.setProgram(dir_->filePath(QStringLiteral("nothing")));
    QVERIFY(launcher.missing().contains(QLatin1String("nothing")));
    launcher.start({QStringLiteral("r.toml"), folder, false});
    QTRY_COMPARE(failed.size(), 2);
    {
        TrainLauncher gone;
        gone.setProgram(program);
        gone.start({QStringLiteral("r.toml"), folder, false});
    }
    QTest::qWait(300);
}

void SteeringTest::dialogSaysWhatIsMissing() {
    TrainDialog without(QStringLiteral("run packaging/setup"));
    const auto note = [](TrainDialog &dialog) {
        return dialog.findChild<QLabel *>(QStringLiteral("train.note"))->text();
    };
    const auto good = [](TrainDialog &dialog) {
        return dialog.findChild<QDialogButtonBox *>()->button(QDialogButtonBox::Ok)->isEnabled();
    };
    QCOMPARE(note(without), QStringLiteral("run packaging/setup"));
    QVERIFY(!good(without));
    TrainDialog dialog{QString()};
    QVERIFY(!good(dialog));
    const QString recipe = dir_->filePath(QStringLiteral("r.toml"));
    QFile file(recipe);
    QVERIFY(file.open(QIODevice::WriteOnly));
    dialog.setRecipe(recipe);
    dialog.setFolder(dir_->filePath(QStringLiteral("new")));
    QVERIFY(good(dialog));
    QVERIFY(!dialog.request().resume);
    auto writer = learn::RunWriter::create(run("a"), {});
    QVERIFY(writer);
    dialog.setFolder(dir_->filePath(QStringLiteral("a")));
    QVERIFY(!good(dialog)); // a trainer writes there
    QVERIFY(dialog.request().resume);
    { learn::RunWriter ends(std::move(*writer)); }
    dialog.setFolder(QString());
    dialog.setFolder(dir_->filePath(QStringLiteral("a")));
    QVERIFY(good(dialog));
    dialog.accept();
    QCOMPARE(QSettings().value(QStringLiteral("train/recipe")).toString(), recipe);
}

} // namespace cuda_agent::widgets

QTEST_MAIN(cuda_agent::widgets::SteeringTest)
#include "steering_test.moc"
