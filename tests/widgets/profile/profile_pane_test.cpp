// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/profile/profiled_session.h"
#include "widgets/profile/findings_model.h"
#include "widgets/profile/kernels_model.h"
#include "widgets/profile/profile_pane.h"
#include "widgets/profile/roof_plot.h"
#include "widgets/profile/speed_chart.h"

#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QListView>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QToolButton>
#include <QToolTip>
#include <qcustomplot.h>

#include <set>

using namespace cuda_agent::widgets;
using cuda_agent::Json;

/// The pane as a user has it: mouse, keyboard, a log that is replayed.
class ProfilePaneTest : public QObject {
    Q_OBJECT
  private:
    SessionDocument document_;
    std::unique_ptr<ProfilePane> pane_;

    void show(const profiled::Session &session, QSize size = {560, 620}) {
        document_.replace(session.index());
        pane_ = std::make_unique<ProfilePane>(&document_);
        pane_->resize(size);
        pane_->show();
        QVERIFY(QTest::qWaitForWindowExposed(pane_.get()));
    }
    QComboBox *chooser() const { return pane_->findChild<QComboBox *>(); }
    QTabWidget *tabs(const char *name) const {
        for (QTabWidget *each : pane_->findChildren<QTabWidget *>())
            if (each->accessibleName() == QLatin1String(name))
                return each;
        return nullptr;
    }
    QAction *action(const char *name) const {
        return pane_->findChild<QAction *>(QLatin1String(name));
    }
    static QPoint at(const QPointF &place) { return place.toPoint(); }

  private slots:
    void cleanup() { pane_.reset(); }

    void withoutAProfileItSaysHowToGetOne() {
        profiled::Session session;
        document_.replace(SessionIndex());
        pane_ = std::make_unique<ProfilePane>(&document_);
        pane_->resize(480, 420);
        pane_->show();
        QVERIFY(QTest::qWaitForWindowExposed(pane_.get()));
        QVERIFY(!pane_->profile());
        QVERIFY(pane_->note().contains(QLatin1String("press Profile")));
        judged::photograph(*pane_, QStringLiteral("profile-empty"));
        session.turn(1, "a", profiled::onGpu()).turn(2, "b", nullptr);
        document_.replace(session.index());
        QTRY_VERIFY(pane_->note().contains(QLatin1String("turn 2 has not been profiled")));
        for (const char *name : {"profile.nextKernel", "profile.export", "profile.copyJson"})
            QVERIFY(!action(name)->isEnabled());
        for (QToolButton *button : pane_->findChildren<QToolButton *>())
            if (button->text().startsWith(QLatin1String("Show Turn 1")))
                QTest::mouseClick(button, Qt::LeftButton);
        QCOMPARE(document_.selectedTurn(), 1);
        QTRY_VERIFY(pane_->profile());
        QVERIFY(action("profile.export")->isEnabled());
    }

    void pointsLieWhereTheProfileHasThem() {
        profiled::Session session;
        const Json json = profiled::onGpu();
        session.turn(1, "a", json);
        show(session);
        QVERIFY(pane_->profile());
        pane_->setLaunch(0);
        RoofPlot &plot = pane_->roofline();
        judged::photograph(*pane_, QStringLiteral("profile-softmax"));
        // Of the series: the ceilings, the line that joins, a point a memory.
        const auto &series = plot.series();
        const std::size_t ceilings = plot.picture().curves.size();
        QCOMPARE(ceilings, std::size_t(6)); // DRAM and FP32 twice, L2, L1
        QCOMPARE(series.size(), ceilings + 1 + 3);
        QCOMPARE(series[ceilings].x.size(), std::size_t(3));
        const double operations = json["launches"][0]["operations"]["all"].get<double>();
        const double seconds = json["launches"][0]["seconds"].get<double>();
        const char *const fields[] = {"l1", "l2", "dram"};
        for (std::size_t i = 0; i < 3; ++i) {
            const Series &point = series[ceilings + 1 + i];
            double bytes = json["launches"][0]["bytes"][fields[i]].get<double>();
            if (i == 0)
                bytes += json["launches"][0]["bytes"]["shared"].get<double>();
            QVERIFY(qAbs(point.x[0] / (operations / bytes) - 1) < 1e-12);
            QVERIFY(qAbs(point.y[0] / (operations / seconds) - 1) < 1e-12);
            QCOMPARE(series[ceilings].x[i], point.x[0]);
        }
        // Stated ceilings are dashed, measured ones are not.
        for (std::size_t i = 0; i < ceilings; ++i)
            QCOMPARE(plot.canvas().graph(static_cast<int>(i))->pen().style() == Qt::DashLine,
                     !plot.picture().curves[i].measured);
        // The points are in sight and no two memories have one shape.
        const QRect frame = plot.canvas().axisRect()->rect();
        std::set<int> shapes;
        for (int mark = 0; mark < 3; ++mark) {
            QVERIFY(frame.contains(at(plot.placeOf(mark))));
            shapes.insert(
                plot.canvas().graph(static_cast<int>(ceilings) + 1 + mark)->scatterStyle().shape());
        }
        QCOMPARE(shapes.size(), std::size_t(3));
    }

    void mouseAndKeyboardTellThePoints() {
        profiled::Session session;
        session.turn(1, "a", profiled::onGpu());
        show(session);
        pane_->setLaunch(0);
        RoofPlot &plot = pane_->roofline();
        plot.canvas().replot();
        QVERIFY(plot.markText(2).contains(QLatin1String("84.4 % of the measured")));
        QVERIFY(plot.markText(2).contains(QLatin1String("74.6 % of the data sheet")));
        QVERIFY(plot.markText(2).contains(QLatin1String("FLOP/byte")));
        QSignalSpy hovered(&plot, &Plot::pointHovered);
        const QPointF over = plot.placeOf(2);
        QMouseEvent move(QEvent::MouseMove, over, plot.canvas().mapToGlobal(over), Qt::NoButton,
                         Qt::NoButton, Qt::NoModifier);
        QApplication::sendEvent(&plot.canvas(), &move);
        QCOMPARE(hovered.size(), 1);
        QTRY_COMPARE(QToolTip::text(), plot.markText(2));
        QTest::mouseClick(&plot.canvas(), Qt::LeftButton, {}, at(plot.placeOf(2)));
        QCOMPARE(plot.currentMark(), 2);
        QVERIFY(pane_->note().contains(QLatin1String("DRAM: 537")));
        QTest::keyClick(&plot, Qt::Key_N); // round the end
        QCOMPARE(plot.currentMark(), 0);
        QVERIFY(pane_->note().contains(QLatin1String("L1/shared")));
        QTest::keyClick(&plot, Qt::Key_N, Qt::ShiftModifier);
        QCOMPARE(plot.currentMark(), 2);
        // Where there is no point the choice stays.
        QTest::mouseClick(&plot.canvas(), Qt::LeftButton, {},
                          plot.canvas().axisRect()->rect().topLeft() + QPoint(12, 12));
        QCOMPARE(plot.currentMark(), 2);
        QTest::keyClick(chooser(), Qt::Key_Down, Qt::AltModifier); // the next kernel
        QCOMPARE(pane_->launch(), 1);
        QCOMPARE(plot.currentMark(), -1);
        QVERIFY(pane_->note().contains(QLatin1String("NVIDIA H200")));
        QTest::keyClick(chooser(), Qt::Key_Up, Qt::AltModifier);
        QCOMPARE(pane_->launch(), 0);
    }

    void theChooserTheTableAndThePlotGoTogether() {
        profiled::Session session;
        session.turn(1, "a", profiled::onGpu());
        show(session);
        QCOMPARE(pane_->launch(), 2);    // the longest
        QCOMPARE(chooser()->count(), 5); // three kernels, all of them, the whole call
        QTabWidget *upper = tabs("Roofline and speed of light");
        QVERIFY(upper);
        QCOMPARE(upper->currentIndex(), 1); // it has no arithmetic
        QVERIFY(pane_->roofline().series().empty());
        QVERIFY(pane_->speed().barCount() >= 2);
        judged::photograph(*pane_, QStringLiteral("profile-copy"));
        QTabWidget *lower = tabs("Findings and kernels");
        lower->setCurrentIndex(1);
        auto *table = lower->currentWidget()->isVisible()
                          ? qobject_cast<QTableView *>(lower->currentWidget())
                          : nullptr;
        QVERIFY(table);
        QTest::mouseClick(table->viewport(), Qt::LeftButton, {},
                          table->visualRect(table->model()->index(1, 0)).center());
        QCOMPARE(pane_->launch(), 1);
        QCOMPARE(upper->currentIndex(), 0);
        QVERIFY(!pane_->roofline().series().empty());
        QCOMPARE(chooser()->currentData().toInt(), 1);
        judged::photograph(*pane_, QStringLiteral("profile-product"));
        // Sorted by time, the first row is the copy.
        table->sortByColumn(KernelsModel::Time, Qt::DescendingOrder);
        QCOMPARE(table->model()->index(0, 0).data().toString(), QStringLiteral("strided_copy"));
        table->setFocus();
        table->setCurrentIndex(table->model()->index(0, 0));
        QCOMPARE(pane_->launch(), 2);
        QSignalSpy went(pane_.get(), &ProfilePane::locationActivated);
        QTest::keyClick(table, Qt::Key_Return);
        QCOMPARE(went.size(), 1);
        QCOMPARE(went[0][1].toInt(), 3);
        pane_->setLaunch(ProfilePane::allKernels);
        QCOMPARE(pane_->roofline().picture().marks.size(), std::size_t(6));
        QVERIFY(pane_->note().endsWith(QStringLiteral("● DRAM  ■ L2  ▲ L1/shared")));
        judged::photograph(*pane_, QStringLiteral("profile-all"));
        pane_->setLaunch(ProfilePane::wholeCall);
        QVERIFY(pane_->speed().barCount() > 0);
        // Who wants the speed of light keeps it.
        pane_->setLaunch(1);
        QCOMPARE(upper->currentIndex(), 0);
        upper->setCurrentIndex(1);
        pane_->setLaunch(0);
        QCOMPARE(upper->currentIndex(), 1);
        QCOMPARE(pane_->speed().barCount(), 4);
        QVERIFY(pane_->speed().barText(0).startsWith(QLatin1String("84.4")));
    }

    void inASmallDockPlotsAndListsArePagesOfOne() {
        profiled::Session session;
        session.turn(1, "a", profiled::onGpu());
        show(session, {470, 300});
        QTabWidget *upper = tabs("Roofline and speed of light");
        QTabWidget *lower = tabs("Findings and kernels");
        QVERIFY(!lower->isVisible());
        QCOMPARE(upper->count(), 5);
        QCOMPARE(upper->currentIndex(), 1); // the copy has no arithmetic
        pane_->setLaunch(0);
        QCOMPARE(upper->currentIndex(), 0);
        QVERIFY(pane_->roofline().canvas().axisRect()->height() > 70);
        judged::photograph(*pane_, QStringLiteral("profile-compact"));
        QCOMPARE(upper->tabText(2), QStringLiteral("Findings (6)"));
        upper->setCurrentIndex(2);
        judged::photograph(*pane_, QStringLiteral("profile-compact-findings"));
        pane_->setLaunch(2); // a list that is read stays
        QCOMPARE(upper->currentIndex(), 2);
        pane_->resize(470, 700);
        QCoreApplication::processEvents();
        QCOMPARE(upper->count(), 2);
        QCOMPARE(lower->count(), 3);
        QVERIFY(lower->isVisible() && lower->currentWidget()->isVisible());
    }

    void aFindingLeadsToItsLine() {
        profiled::Session session;
        session.turn(1, "a", profiled::onGpu());
        show(session);
        auto *list = pane_->findChild<QListView *>();
        QSignalSpy went(pane_.get(), &ProfilePane::locationActivated);
        int row = -1;
        for (int i = 0; i < list->model()->rowCount(); ++i)
            if (list->model()->index(i, 0).data(FindingsModel::LaunchRole).toInt() == 1)
                row = i;
        QVERIFY(row >= 0); // the product spills
        const QModelIndex finding = list->model()->index(row, 0);
        list->scrollTo(finding);
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualRect(finding).center());
        QCOMPARE(went.size(), 1);
        QCOMPARE(went[0][0].toString(), QStringLiteral("kernels/k.cu"));
        QCOMPARE(went[0][1].toInt(), 31);
        QCOMPARE(pane_->launch(), 1);
        list->setFocus();
        QTest::keyClick(list, Qt::Key_Home);
        QTest::keyClick(list, Qt::Key_Return);
        QCOMPARE(list->currentIndex().row(), 0);
        const bool place = !list->currentIndex().data(FindingsModel::FileRole).toString().isEmpty();
        QCOMPARE(went.size(), place ? 2 : 1);
        // No finding is cut off, however narrow the list.
        pane_->resize(300, 700);
        QCoreApplication::processEvents();
        for (int i = 0; i < list->model()->rowCount(); ++i)
            QVERIFY(list->visualRect(list->model()->index(i, 0)).height() >
                    3 * list->fontMetrics().height());
        judged::photograph(*pane_, QStringLiteral("profile-narrow"));
        pane_->resize(1100, 360);
        judged::photograph(*pane_, QStringLiteral("profile-wide"));
    }

    void replaysShowWhatWasKnown() {
        profiled::Session session;
        session.turn(1, "a", nullptr);
        const std::size_t before = session.events.size();
        session.turn(2, "b", profiled::onGpu());
        show(session);
        QVERIFY(pane_->profile());
        document_.setCursor(before);
        QTRY_VERIFY(!pane_->profile());
        QVERIFY(pane_->note().contains(QLatin1String("turn 1 has not been profiled")));
        document_.toEnd();
        QTRY_VERIFY(pane_->profile());
        pane_->setLaunch(0);
        // What else happens in the turn leaves what the user looks at alone.
        document_.append({{static_cast<std::int64_t>(session.events.size()),
                           2e9,
                           cuda_agent::session::EventType::thought,
                           2,
                           {{"text", "now the copy"}}}});
        QTest::qWait(120);
        QCOMPARE(pane_->launch(), 0);
        // A profile that no version of this program wrote.
        profiled::Session odd;
        odd.turn(1, "a", {{"launches", "none"}});
        document_.replace(odd.index());
        QTRY_VERIFY(pane_->note().contains(QLatin1String("cannot be read")));
    }

    void onTheCpuItSaysSo() {
        profiled::Session session;
        session.turn(1, "a", profiled::onCpu());
        show(session);
        QCOMPARE(pane_->launch(), 1);
        QVERIFY(pane_->note().contains(QLatin1String("nothing about a GPU")));
        QVERIFY(pane_->note().contains(QLatin1String("as the plan counts them")));
        QCOMPARE(pane_->roofline().picture().marks.size(), std::size_t(1));
        judged::photograph(*pane_, QStringLiteral("profile-cpu"));
        bool said = false;
        for (const QLabel *label : pane_->findChildren<QLabel *>())
            said = said || (label->isVisible() &&
                            label->text().contains(QLatin1String("hardware counters")));
        QVERIFY(said); // in place of findings
    }

    void profilingIsAskedForAndStopped() {
        profiled::Session session;
        session.turn(1, "a", nullptr);
        show(session);
        QSignalSpy asked(pane_.get(), &ProfilePane::profileRequested);
        QSignalSpy stopped(pane_.get(), &ProfilePane::stopRequested);
        const auto button = [&](const char *text) {
            for (QToolButton *each : pane_->findChildren<QToolButton *>())
                if (each->isVisible() && each->text() == QLatin1String(text))
                    return each;
            return static_cast<QToolButton *>(nullptr);
        };
        QVERIFY(button("Profile") && !button("Profile")->isEnabled());
        pane_->setProfilingAllowed(false, QStringLiteral("The engine is at other work"));
        QVERIFY(button("Profile")->toolTip().contains(QLatin1String("other work")));
        pane_->setProfilingAllowed(true, {});
        QTest::mouseClick(button("Profile"), Qt::LeftButton);
        QCOMPARE(asked.size(), 1);
        pane_->setUnderWay(true, QStringLiteral("timing"));
        QVERIFY(!button("Profile"));
        QVERIFY(button("Stop"));
        judged::photograph(*pane_, QStringLiteral("profile-under-way"));
        QTest::mouseClick(button("Stop"), Qt::LeftButton);
        QCOMPARE(stopped.size(), 1);
        pane_->setUnderWay(false, {});
        QVERIFY(button("Profile") && !button("Stop"));
    }

    void everythingLeavesAsAFile() {
        profiled::Session session;
        session.turn(1, "a", profiled::onGpu());
        show(session);
        pane_->setLaunch(0);
        QTemporaryDir folder;
        for (const char *ending : {"png", "svg", "pdf", "csv"}) {
            const QString file = folder.filePath(QStringLiteral("roof.") + QLatin1String(ending));
            QVERIFY(pane_->roofline().exportTo(file));
            QVERIFY(QFileInfo(file).size() > 200);
        }
        QFile csv(folder.filePath(QStringLiteral("roof.csv")));
        QVERIFY(csv.open(QIODevice::ReadOnly));
        const QString rows = QString::fromUtf8(csv.readAll());
        QVERIFY2(rows.contains(QLatin1String("FP32 data sheet")), qPrintable(rows));
        QVERIFY(rows.contains(QLatin1String("L1/shared")));
        QVERIFY(pane_->speed().exportTo(folder.filePath(QStringLiteral("speed.csv"))));
        action("profile.copyKernels")->trigger();
        QVERIFY(QApplication::clipboard()->text().contains(QLatin1String("half_product\t")));
        action("profile.copyFindings")->trigger();
        QVERIFY(QApplication::clipboard()->text().contains(QLatin1String("kernels/k.cu:31")));
        action("profile.copyJson")->trigger();
        QVERIFY(Json::parse(QApplication::clipboard()->text().toStdString()) == profiled::onGpu());
    }
};

QTEST_MAIN(ProfilePaneTest)
#include "profile_pane_test.moc"
