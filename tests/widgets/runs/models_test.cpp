// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/metrics_model.h"
#include "widgets/runs/rollouts_model.h"
#include "widgets/runs/run_progress.h"
#include "widgets/runs/runs_model.h"
#include "widgets/runs/smoothing.h"

#include <QAbstractItemModelTester>
#include <QSet>
#include <QSignalSpy>
#include <QtTest>

#include <cmath>

namespace cuda_agent::widgets {

class ModelsTest : public QObject {
    Q_OBJECT
  private slots:
    void runsModel();
    void metricsModel();
    void smoothingIsTheFormula();
    void linesBreakOverStagesWithoutValues();
    void tellingMetricsAreCheckedAtFirst();
    void rolloutsModel();
    void progress();
};

void ModelsTest::runsModel() {
    RunsModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QSignalSpy drawn(&model, &RunsModel::drawnChanged);
    for (int i = 9; i >= 0; --i) {
        RunSummary summary;
        summary.root = QStringLiteral("/runs");
        summary.folder = QStringLiteral("/runs/%1").arg(i);
        summary.lastStep = i;
        summary.lastWrite = 0;
        summary.loading = false;
        summary.metrics.push_back({QStringLiteral("a"), 1, 0, 1});
        model.update(summary);
    }
    QCOMPARE(model.rowCount(), 10);
    QCOMPARE(model.index(3, RunsModel::nameColumn).data().toString(), QStringLiteral("3"));
    QCOMPARE(model.index(3, RunsModel::stepColumn).data().toString(), QStringLiteral("3"));
    QCOMPARE(model.index(3, RunsModel::stateColumn).data().toString(), QStringLiteral("quiet"));
    QVERIFY(model.index(3, RunsModel::ageColumn).data().toString().endsWith(QLatin1String(" d")));
    // Eight are drawn in eight colours; the others wait.
    QCOMPARE(model.checked().size(), 8);
    QSet<int> colors;
    for (const RunsModel::Run &entry : model.runs())
        if (entry.checked)
            colors.insert(entry.color);
    QCOMPARE(colors.size(), 8);
    // A run keeps its colour whatever happens to others.
    const int color = model.find(QStringLiteral("/runs/5"))->color;
    drawn.clear();
    model.remove(QStringLiteral("/runs/7"));
    QCOMPARE(drawn.size(), 1);
    QCOMPARE(model.find(QStringLiteral("/runs/5"))->color, color);
    QVERIFY(model.setData(model.index(0, 0), Qt::Checked, Qt::CheckStateRole));
    QVERIFY(model.checked().contains(QStringLiteral("/runs/0")));
    // Same names elsewhere are told apart.
    RunSummary other;
    other.root = other.folder = QStringLiteral("/else/5");
    model.update(other);
    QCOMPARE(model.find(other.folder)->name, QStringLiteral("else/5"));
    QCOMPARE(model.find(QStringLiteral("/runs/5"))->name, QStringLiteral("runs/5"));
    QCOMPARE(model.find(QStringLiteral("/runs/6"))->name, QStringLiteral("6"));
    // By no more of their folders than that takes.
    for (const char *folder : {"/of/one/policy/stages", "/of/another/policy/stages", "/stages"}) {
        other.root = other.folder = QLatin1String(folder);
        model.update(other);
    }
    QCOMPARE(model.find(QStringLiteral("/of/one/policy/stages"))->name,
             QStringLiteral("one/policy/stages"));
    QCOMPARE(model.find(QStringLiteral("/of/another/policy/stages"))->name,
             QStringLiteral("another/policy/stages"));
    QCOMPARE(model.find(QStringLiteral("/stages"))->name, QStringLiteral("/stages"));
    other.root = QStringLiteral("/else");
    other.folder = QStringLiteral("/else/6");
    model.update(other);
    QSet<QString> names;
    for (const RunsModel::Run &entry : model.runs())
        names.insert(entry.name);
    QCOMPARE(static_cast<std::size_t>(names.size()), model.runs().size());
}

void ModelsTest::metricsModel() {
    MetricsModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    const auto metric = [](const char *name, qsizetype points, qsizetype odd = 0) {
        return MetricsModel::Metric{QLatin1String(name), points, odd, false};
    };
    model.setMetrics({metric("reward/mean", 3), metric("loss", 12000, 2), metric("reward/a/b", 1),
                      metric("z/x", 1), metric("z/y", 1)});
    QCOMPARE(model.rowCount(), 3);
    QCOMPARE(model.index(0, 0).data().toString(), QStringLiteral("General"));
    const QModelIndex reward = model.index(1, 0);
    QCOMPARE(reward.data().toString(), QStringLiteral("reward"));
    QCOMPARE(model.rowCount(reward), 2);
    QCOMPARE(model.index(0, 0, reward).data().toString(), QStringLiteral("a/b"));
    QCOMPARE(model.index(0, 1, model.index(0, 0)).data().toString(),
             QStringLiteral("12,000 (2 not finite)"));
    // The first four are drawn until somebody chooses.
    QCOMPARE(model.checked().size(), 4);
    QSignalSpy changed(&model, &MetricsModel::checkedChanged);
    QVERIFY(model.setData(reward, Qt::Unchecked, Qt::CheckStateRole));
    QCOMPARE(changed.size(), 1);
    QCOMPARE(model.checked(), (QStringList{QStringLiteral("loss"), QStringLiteral("z/x")}));
    QCOMPARE(model.index(2, 0).data(Qt::CheckStateRole).toInt(), int(Qt::PartiallyChecked));
    // What goes and comes back is checked as it was; what is new is not.
    model.setMetrics({metric("z/y", 1), metric("new", 1)});
    QCOMPARE(model.rowCount(), 2);
    QCOMPARE(model.checked(), QStringList());
    model.setMetrics({metric("loss", 5), metric("z/x", 1), metric("z/y", 1), metric("new", 1)});
    QCOMPARE(model.checked(), (QStringList{QStringLiteral("loss"), QStringLiteral("z/x")}));
    model.setMetrics({});
    QCOMPARE(model.rowCount(), 0);
}

void ModelsTest::linesBreakOverStagesWithoutValues() {
    learn::MetricSeries series;
    for (const double step : {1, 2, 3, 20, 21, 40, 41})
        series.push({step, 0, 0, 0}, step);
    const auto stage = [](const char *name, double first, double last) {
        return learn::StageSpan{name, {first, 0, 0, 0}, {last, 0, 0, 0}};
    };
    using Places = std::vector<std::size_t>;
    const std::vector<learn::StageSpan> stages{stage("ppo", 1, 3), stage("rft", 4, 9),
                                               stage("value", 10, 19), stage("agentic", 20, 50)};
    QCOMPARE(breaksOf(series, stages), Places{3}); // once, though two stages lie there
    // Steps that a stage leaves out, and a stage that has a value in it, break nothing.
    QCOMPARE(breaksOf(series, {stage("ppo", 1, 20), stage("agentic", 21, 50)}), Places{});
    QCOMPARE(breaksOf(series, {}), Places{});
    QCOMPARE(breaksOf({}, stages), Places{});
    const auto once = smoothed({1, 2, 3}, 0.5), again = smoothed({20, 21}, 0.5);
    const auto both = smoothed({1, 2, 3, 20, 21}, 0.5, {3});
    QCOMPARE(std::vector(both.begin(), both.begin() + 3), once);
    QCOMPARE(std::vector(both.begin() + 3, both.end()), again);
}

void ModelsTest::smoothingIsTheFormula() {
    const double nan = std::nan("");
    const std::vector<double> values{3, -1, nan, 4, 10, INFINITY, 5};
    for (const double w : {0.0, 0.3, 0.9, 0.999}) {
        const std::vector<double> got = smoothed(values, w);
        QCOMPARE(got.size(), values.size());
        // s = (1 - w) sum w^(n-i) v_i / (1 - w^n) over the finite values so far, written out.
        std::vector<double> finite;
        for (std::size_t i = 0; i < values.size(); ++i) {
            if (!std::isfinite(values[i])) {
                QVERIFY(std::isnan(values[i]) ? std::isnan(got[i]) : got[i] == values[i]);
                continue;
            }
            finite.push_back(values[i]);
            double sum = 0;
            const auto n = static_cast<double>(finite.size());
            for (std::size_t k = 0; k < finite.size(); ++k)
                sum += std::pow(w, n - 1 - static_cast<double>(k)) * finite[k];
            QVERIFY(std::abs(got[i] - (1 - w) * sum / (1 - std::pow(w, n))) < 1e-9);
        }
    }
    // Without bias a constant stays what it is from the first value on.
    for (const double value : smoothed(std::vector<double>(1000, 2.5), 0.999))
        QVERIFY(std::abs(value - 2.5) < 1e-9);
}

void ModelsTest::tellingMetricsAreCheckedAtFirst() {
    MetricsModel model;
    model.setMetrics({{QStringLiteral("actor/entropy"), 1},
                      {QStringLiteral("a"), 1},
                      {QStringLiteral("perf/throughput"), 1},
                      {QStringLiteral("train/loss"), 1},
                      {QStringLiteral("val-core/outer/geomean_speedup"), 1},
                      {QStringLiteral("val-core/outer/pass_rate"), 1}});
    QCOMPARE(model.checked(),
             (QStringList{QStringLiteral("actor/entropy"), QStringLiteral("train/loss"),
                          QStringLiteral("val-core/outer/pass_rate")}));
    const QModelIndex loss = model.indexOf(QStringLiteral("train/loss"));
    QVERIFY(loss.data(Qt::ToolTipRole).toString().contains(QLatin1String("Cross entropy")));
}

void ModelsTest::rolloutsModel() {
    RolloutsModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    const auto rollouts = [](int count) {
        auto made = std::make_shared<Rollouts>();
        made->run = QStringLiteral("/run");
        for (int i = 0; i < count; ++i)
            made->rows.push_back({{i, "task" + std::to_string(i), i % 2 ? 3.0 : -1.0, i, "s", "n"},
                                  QStringLiteral("/run/%1").arg(i)});
        return made;
    };
    model.setRollouts(rollouts(3));
    QCOMPARE(model.rowCount(), 3);
    QCOMPARE(model.index(0, RolloutsModel::stepColumn).data().toString(), QStringLiteral("2"));
    QCOMPARE(model.index(1, RolloutsModel::taskColumn).data().toString(), QStringLiteral("task1"));
    QCOMPARE(model.index(1, RolloutsModel::rewardColumn).data(RolloutsModel::sortRole).toDouble(),
             3.0);
    QCOMPARE(model.folder(2), QStringLiteral("/run/0"));
    QCOMPARE(model.folder(3), QString());
    // New ones come to the front without a reset; a run that was cut back is another list.
    QSignalSpy inserted(&model, &QAbstractItemModel::rowsInserted);
    QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
    model.setRollouts(rollouts(5));
    QCOMPARE(inserted.size(), 1);
    QCOMPARE(model.folder(0), QStringLiteral("/run/4"));
    QCOMPARE(reset.size(), 0);
    model.setRollouts(rollouts(5));
    QCOMPARE(inserted.size(), 1);
    model.setRollouts(rollouts(2));
    QCOMPARE(reset.size(), 1);
    model.setRollouts(nullptr);
    QCOMPARE(model.rowCount(), 0);
}

void ModelsTest::progress() {
    using Life = learn::RunReader::Life;
    TrainerState trainer;
    RunProgress progress = RunProgress::of(trainer);
    QVERIFY(progress.state.isEmpty() && !progress.canPause && !progress.canResume);
    trainer.life = Life::alive;
    trainer.status.emplace();
    trainer.status->stage = "rft";
    trainer.status->stageStep = 5;
    trainer.status->stageSteps = 20;
    trainer.status->tokens = 12'300'000;
    trainer.status->seconds = 125;
    trainer.status->secondsLeft = 3700;
    progress = RunProgress::of(trainer);
    QCOMPARE(progress.share, 0.25);
    QVERIFY(progress.detail.contains(QLatin1String("step 5 of 20")));
    QVERIFY(progress.detail.contains(QLatin1String("2 min 5 s so far")));
    QVERIFY(progress.detail.contains(QLatin1String("about 1 h 1 min left")));
    QVERIFY(progress.canPause && progress.canStop && !progress.canGoOn && !progress.canResume);
    // Over all stages, when all are planned.
    trainer.info.emplace();
    trainer.info->stages = {{"pretrain", 70}, {"rft", 20}, {"agentic-ppo", 10}};
    progress = RunProgress::of(trainer);
    QCOMPARE(progress.share, 0.75);
    QVERIFY(progress.detail.contains(QLatin1String("stage 2 of 3")));
    trainer.info->stages[2].steps = 0;
    QCOMPARE(RunProgress::of(trainer).share, 0.25);
    // A request that waits.
    trainer.asked = learn::RunOrder::stop;
    progress = RunProgress::of(trainer);
    QVERIFY(progress.state.contains(QLatin1String("stopping")));
    QVERIFY(!progress.canStop && !progress.canPause);
    trainer.asked.reset();
    trainer.status->state = learn::RunState::paused;
    progress = RunProgress::of(trainer);
    QVERIFY(progress.canGoOn && progress.canStop && !progress.canPause);
    trainer.status->state = learn::RunState::running;
    trainer.life = Life::lost;
    progress = RunProgress::of(trainer);
    QVERIFY(progress.canResume && !progress.canStop && !progress.error.isEmpty());
    QVERIFY(!progress.detail.contains(QLatin1String("left")));
    trainer.life = Life::ended;
    trainer.status->state = learn::RunState::failed;
    trainer.status->error = "out of memory";
    QCOMPARE(RunProgress::of(trainer).error, QStringLiteral("out of memory"));
    trainer.status->state = learn::RunState::done;
    progress = RunProgress::of(trainer);
    QCOMPARE(progress.share, 1.0);
    QVERIFY(!progress.canResume);
}

} // namespace cuda_agent::widgets

QTEST_MAIN(cuda_agent::widgets::ModelsTest)
#include "models_test.moc"
