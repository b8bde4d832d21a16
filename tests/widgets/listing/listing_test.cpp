// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/profile/profiled_session.h"
#include "widgets/listing/listing_pane.h"

#include <QClipboard>
#include <QComboBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <QToolButton>

using namespace cuda_agent::widgets;
using Kind = ListingModel::Kind;

namespace {

constexpr int storeLine = 4;
constexpr const char *kernel =
    "extern \"C\" __global__ void scale(const float *x, float *y, int n) {\n"
    "    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n)\n"
    "        y[i] = 3.0f * x[i];\n"
    "}\n";
constexpr const char *other = "extern \"C\" __global__ void negate(float *y, int n) {\n"
                              "    if (threadIdx.x < n)\n"
                              "        y[threadIdx.x] = -y[threadIdx.x];\n"
                              "}\n";

std::string step(const char *source, const char *entry, const char *args) {
    return std::string(R"({"kind": "kernel", "source": ")") + source + R"(", "entry": ")" + entry +
           R"(", "grid": ["1", "1", "1"], "block": [256, 1, 1], "args": [)" + args + "]}";
}

std::string plan(bool two) {
    std::string text = R"({"version": 1, "name": "x", "buffers": [
        {"name": "in0", "role": "input", "index": 0},
        {"name": "out0", "role": "output", "index": 0, "dtype": "float32",
         "shape": ["in0.shape[0]"]}], "steps": [)" +
                       step("kernels/k.cu", "scale",
                            R"({"buffer": "in0"}, {"buffer": "out0"}, {"int32": "in0.shape[0]"})");
    if (two)
        text += ", " + step("kernels/other.cu", "negate",
                            R"({"buffer": "out0"}, {"int32": "in0.shape[0]"})");
    return text + "]}";
}

} // namespace

/// The pane with the real compiler; no card is needed.
class ListingTest : public QObject {
    Q_OBJECT
  private:
    SessionDocument document_;
    std::map<std::string, std::string> files_;
    std::unique_ptr<ListingPane> pane_;

    void show() {
        pane_ = std::make_unique<ListingPane>(&document_, [this] { return files_; });
        pane_->resize(620, 560);
        pane_->show();
        QVERIFY(QTest::qWaitForWindowExposed(pane_.get()));
    }
    QComboBox *box(const char *name) const {
        for (QComboBox *each : pane_->findChildren<QComboBox *>())
            if (each->accessibleName() == QLatin1String(name))
                return each;
        return nullptr;
    }
    QTableView *table() const { return pane_->findChild<QTableView *>(); }
    QString cell(int row, int column) const {
        return pane_->model().index(row, column).data().toString();
    }
    /// The texts of the instructions of a line.
    QStringList made(int line) const {
        QStringList texts;
        for (const int row : pane_->model().rowsOf(line))
            if (pane_->model().index(row, 0).data(ListingModel::KindRole).toInt() ==
                static_cast<int>(Kind::instruction))
                texts += cell(row, ListingModel::Instruction);
        return texts;
    }

  private slots:
    void init() {
        document_.replace(SessionIndex());
        files_ = {{"plan.json", plan(false)}, {"kernels/k.cu", kernel}};
    }
    void cleanup() { pane_.reset(); }

    void instructionsStandUnderTheirLines() {
        show();
        QTRY_VERIFY_WITH_TIMEOUT(pane_->model().instructions() > 8, 60000);
        QVERIFY2(pane_->note().contains(QLatin1String("instruction(s) on sm_90")),
                 qPrintable(pane_->note()));
        judged::photograph(*pane_, QStringLiteral("listing-sass"));
        const auto rows = pane_->model().rowsOf(storeLine);
        QVERIFY(!rows.isEmpty());
        QCOMPARE(cell(rows.first(), ListingModel::Instruction),
                 QStringLiteral("y[i] = 3.0f * x[i];"));
        QVERIFY2(!made(storeLine).filter(QStringLiteral("STG")).isEmpty(),
                 qPrintable(made(storeLine).join(QLatin1Char('\n'))));
        QVERIFY(!made(storeLine).filter(QStringLiteral("FMUL")).isEmpty());
        QVERIFY2(cell(0, ListingModel::Instruction).contains(QLatin1String("register")),
                 qPrintable(cell(0, ListingModel::Instruction)));
        QVERIFY(table()->isColumnHidden(ListingModel::Cost));
        // Another card's instructions, and what the compiler makes before them.
        QSignalSpy modelReset(&pane_->model(), &QAbstractItemModel::modelReset);
        box("Architecture")->setCurrentText(QStringLiteral("sm_75"));
        QTRY_VERIFY_WITH_TIMEOUT(pane_->note().contains(QLatin1String("sm_75, made")), 60000);
        box("Kind of code")->setCurrentText(QStringLiteral("PTX"));
        QTRY_VERIFY_WITH_TIMEOUT(!made(storeLine).filter(QStringLiteral("st.global.f32")).isEmpty(),
                                 60000);
        QCOMPARE(modelReset.size(), 2);
        // Without the source's lines.
        const int before = pane_->model().rowCount();
        pane_->findChild<QAction *>(QStringLiteral("listing.source"))->trigger();
        QVERIFY(pane_->model().rowCount() < before);
        QVERIFY(!made(storeLine).isEmpty());
    }

    void linesAndInstructionsFollowEachOther() {
        show();
        QTRY_VERIFY_WITH_TIMEOUT(pane_->model().instructions() > 8, 60000);
        QSignalSpy chosen(pane_.get(), &ListingPane::lineChosen);
        pane_->showLine(QStringLiteral("kernels/k.cu"), storeLine);
        const auto rows = pane_->model().rowsOf(storeLine);
        QCOMPARE(table()->selectionModel()->selectedRows().size(), rows.size());
        QCOMPARE(table()->currentIndex().row(), rows.first());
        QVERIFY(chosen.isEmpty()); // it was told, it does not tell
        pane_->showLine(QStringLiteral("plan.json"), 1);
        QCOMPARE(table()->currentIndex().row(), rows.first());
        // The keyboard goes on from there.
        table()->setFocus();
        int line = storeLine;
        while (line == storeLine && table()->currentIndex().row() > 0) {
            QTest::keyClick(table(), Qt::Key_Up);
            line = table()->currentIndex().data(ListingModel::LineRole).toInt();
        }
        QTRY_VERIFY(!chosen.isEmpty());
        QCOMPARE(chosen.last().at(0).toString(), QStringLiteral("kernels/k.cu"));
        QCOMPARE(chosen.last().at(1).toInt(), line);
        // What that brings about in the code, its cursor in that line, changes nothing here.
        const int row = table()->currentIndex().row();
        pane_->showLine(QStringLiteral("kernels/k.cu"), line);
        QCOMPARE(table()->currentIndex().row(), row);
        QSignalSpy activated(pane_.get(), &ListingPane::locationActivated);
        QTest::keyClick(table(), Qt::Key_Return);
        QCOMPARE(activated.size(), 1);
        QCOMPARE(activated[0][1].toInt(), line);

        auto *find = pane_->findChild<QLineEdit *>();
        QTest::keyClicks(find, QStringLiteral("stg"));
        QTest::keyClick(find, Qt::Key_Return);
        QVERIFY(cell(table()->currentIndex().row(), ListingModel::Instruction)
                    .contains(QLatin1String("STG")));
        pane_->findChild<QAction *>(QStringLiteral("listing.copy"))->trigger();
        QVERIFY(QApplication::clipboard()->text().contains(QLatin1String("STG")));
        QCOMPARE(QApplication::clipboard()->text().count(QLatin1Char('\n')), 1);
    }

    void editsAreListedAndErrorsNamed() {
        show();
        QTRY_VERIFY_WITH_TIMEOUT(pane_->model().instructions() > 8, 60000);
        files_["kernels/k.cu"] =
            std::string(kernel) + "__device__ int broken() { return missing; }\n";
        pane_->later();
        QTRY_VERIFY_WITH_TIMEOUT(pane_->note().contains(QLatin1String("kernels/k.cu:6:")), 60000);
        QVERIFY2(pane_->note().contains(QLatin1String("missing")), qPrintable(pane_->note()));
        judged::photograph(*pane_, QStringLiteral("listing-error"));
        files_["kernels/k.cu"] = kernel;
        pane_->later();
        QTRY_VERIFY_WITH_TIMEOUT(pane_->note().contains(QLatin1String("instruction(s) on")), 60000);
        files_["plan.json"] = "{";
        pane_->later();
        QTRY_VERIFY(pane_->note().contains(QLatin1String("plan.json")));
        files_.erase("plan.json");
        pane_->later();
        QTRY_VERIFY(pane_->note().contains(QLatin1String("no plan.json")));
        files_.clear();
        pane_->later();
        QTRY_VERIFY(pane_->note().contains(QLatin1String("Press Run")));
    }

    void everyKernelFileCanBeListed() {
        files_["plan.json"] = plan(true);
        files_["kernels/other.cu"] = other;
        show();
        QTRY_VERIFY_WITH_TIMEOUT(pane_->model().instructions() > 4, 60000);
        QCOMPARE(box("Kernel file")->count(), 2);
        QVERIFY(cell(0, ListingModel::Instruction).startsWith(QLatin1String("scale: ")));
        // A line of the other file, as the code shows it.
        pane_->showLine(QStringLiteral("kernels/other.cu"), 3);
        QTRY_VERIFY_WITH_TIMEOUT(
            cell(0, ListingModel::Instruction).startsWith(QLatin1String("negate: ")), 60000);
        QTRY_COMPARE(table()->currentIndex().data(ListingModel::LineRole).toInt(), 3);
    }

    void linesCostWhatTheProfileSaw() {
        auto launch = profiled::softmax();
        launch.name = "scale";
        launch.file = "kernels/k.cu";
        launch.lines = {{"kernels/k.cu", storeLine, 900, 0.9, "long_scoreboard", 0.8},
                        {"kernels/k.cu", 2, 100, 0.1, "wait", 0.5},
                        {"kernels/another.cu", 3, 10, 0.01, "wait", 0.5}};
        auto report = cuda_agent::profile::known::reportOf({launch}, 200e-6);
        profiled::Session session;
        session.turn(1, "a", profiled::logged(report)).turn(2, "b", nullptr);
        document_.replace(session.index());
        document_.selectTurn(1);
        show();
        QTRY_VERIFY_WITH_TIMEOUT(pane_->model().instructions() > 8, 60000);
        QVERIFY(!table()->isColumnHidden(ListingModel::Cost));
        judged::photograph(*pane_, QStringLiteral("listing-cost"));
        const auto rows = pane_->model().rowsOf(storeLine);
        QCOMPARE(cell(rows.first(), ListingModel::Cost),
                 QLocale().toString(90.0, 'f', 1) + QStringLiteral(" %"));
        QVERIFY(pane_->model()
                    .index(rows.first(), ListingModel::Cost)
                    .data(Qt::ToolTipRole)
                    .toString()
                    .contains(QLatin1String("long_scoreboard")));
        QVERIFY(
            cell(rows.last(), ListingModel::Cost).isEmpty()); // it is the line's, not each one's
        QVERIFY(cell(pane_->model().rowsOf(3).first(), ListingModel::Cost).isEmpty());
        document_.selectTurn(2); // has no profile
        QTRY_VERIFY(table()->isColumnHidden(ListingModel::Cost));
    }

    void nothingIsCompiledWhileItIsHidden() {
        show();
        QTRY_VERIFY_WITH_TIMEOUT(pane_->model().instructions() > 8, 60000);
        pane_->hide();
        files_["kernels/k.cu"] += "// another\n";
        pane_->later();
        QTest::qWait(800);
        QVERIFY(!pane_->busy());
        pane_->show();
        QTRY_VERIFY(pane_->busy());
        for (QToolButton *button : pane_->findChildren<QToolButton *>())
            if (button->text() == QLatin1String("Stop"))
                QTest::mouseClick(button, Qt::LeftButton);
        QVERIFY(!pane_->busy());
        QVERIFY(pane_->note().contains(QLatin1String("Stopped")));
        pane_->later();
        QTRY_VERIFY_WITH_TIMEOUT(pane_->note().contains(QLatin1String("instruction(s) on")), 60000);
        // A window that closes waits for no compiler.
        files_["kernels/k.cu"] += "// more\n";
        pane_->later();
        QTRY_VERIFY(pane_->busy());
        pane_.reset();
    }
};

QTEST_MAIN(ListingTest)
#include "listing_test.moc"
