// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/runs/metrics_model.h"
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
    QCOMPARE(model.find(other.folder)->name, QStringLiteral("5"));
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

} // namespace cuda_agent::widgets

QTEST_MAIN(cuda_agent::widgets::ModelsTest)
#include "models_test.moc"
