// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/base/theme.h"
#include "widgets/diff/diff_area.h"
#include "widgets/diff/diff_view.h"
#include "widgets/diff/turn_list.h"

#include "core/session/log.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QClipboard>
#include <QComboBox>
#include <QElapsedTimer>
#include <QLabel>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>

using namespace cuda_agent;
using namespace cuda_agent::widgets;
using session::EventType;

namespace {

constexpr char first[] = R"(// softmax of rows
extern "C" __global__ void row_softmax(const float *in, float *out, int columns) {
    const int row = blockIdx.x;
    float largest = -INFINITY;
    for (int i = threadIdx.x; i < columns; i += 256)
        largest = fmaxf(largest, in[row * columns + i]);
    largest = blockMax(largest);
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += 256)
        sum += expf(in[row * columns + i] - largest);
    sum = blockSum(sum);
    for (int i = threadIdx.x; i < columns; i += 256)
        out[row * columns + i] = expf(in[row * columns + i] - largest) / sum;
}
)";
constexpr char second[] = R"(// softmax of rows, online: one pass for maximum and sum
__device__ void merge(float &largest, float &sum, float other, float otherSum) {
    const float high = fmaxf(largest, other);
    sum = sum * __expf(largest - high) + otherSum * __expf(other - high);
    largest = high;
}

extern "C" __global__ void row_softmax(const float *in, float *out, int columns) {
    const int row = blockIdx.x;
    float largest = -INFINITY;
    float sum = 0;
    for (int i = threadIdx.x; i < columns; i += 1024)
        merge(largest, sum, in[row * columns + i], 1);
    blockMerge(largest, sum);
    for (int i = threadIdx.x; i < columns; i += 1024)
        out[row * columns + i] = __expf(in[row * columns + i] - largest) / sum;
}
)";

} // namespace

class DiffViewTest : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase();
    void init();
    void cleanup();
    void nothingYet();
    void oneVersion();
    void followsTheShownTurn();
    void previousTurnWithAVerdict();
    void chosenByHand();
    void noDifference();
    void newAndGone();
    void unreadable();
    void keysGoFromChangeToChange();
    void copiesLines();
    void turnListGrows();
    void largeFile();
    void screenshots();

  private:
    void write(int turn, const char *path, const std::string &text) {
        add(EventType::fileWritten, turn, {{"path", path}, {"blob", log_->putBlob(text).value()}});
    }
    void add(EventType type, int turn, Json data = Json::object()) {
        const auto sequence = std::int64_t(document_->index().size());
        document_->append({{sequence, 1e6 + double(sequence), type, turn, std::move(data)}});
    }
    void turn(int number, const char *text, bool judged = true) {
        add(EventType::turnStarted, number);
        if (text)
            write(number, "kernels/row.cu", text);
        if (judged)
            add(EventType::verdictGiven, number,
                {{"verdict",
                  {{"compiled", true}, {"correct", true}, {"speedup", {{"eager", 1.28}}}}}});
        add(EventType::turnEnded, number);
    }
    QComboBox *box(const char *name) const {
        for (QComboBox *found : view_->findChildren<QComboBox *>()) {
            if (found->accessibleName() == QLatin1String(name))
                return found;
        }
        return nullptr;
    }
    static void choose(QComboBox *box, int row) {
        box->setFocus();
        box->setCurrentIndex(row);
        Q_EMIT box->activated(row); // as a click in its list
    }
    void show(int width = 800, int height = 400) {
        view_->resize(width, height);
        view_->show();
        QVERIFY(QTest::qWaitForWindowExposed(view_.get()));
    }

    std::unique_ptr<QTemporaryDir> folder_;
    std::optional<session::Log> log_;
    std::unique_ptr<SessionDocument> document_;
    std::unique_ptr<DiffView> view_;
};

void DiffViewTest::initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("cuda-agent-test"));
    QCoreApplication::setApplicationName(QStringLiteral("diff"));
}

void DiffViewTest::init() {
    QSettings().clear();
    folder_ = std::make_unique<QTemporaryDir>();
    const auto path = std::filesystem::path(folder_->path().toStdString()) / "session";
    auto log = session::Log::create(path);
    QVERIFY(log);
    log_ = std::move(*log);
    document_ = std::make_unique<SessionDocument>();
    document_->setFolder(path);
    view_ = std::make_unique<DiffView>(document_.get());
}

void DiffViewTest::cleanup() {
    view_.reset();
    document_.reset();
    log_.reset();
}

void DiffViewTest::nothingYet() {
    show();
    QVERIFY(!view_->area().isVisible());
    bool said = false;
    for (const QLabel *label : view_->findChildren<QLabel *>())
        said |= label->isVisible() && label->text().contains(QStringLiteral("Press Run"));
    QVERIFY(said);
}

void DiffViewTest::oneVersion() {
    show();
    turn(1, first);
    QVERIFY(view_->area().isVisible());
    QCOMPARE(view_->summary(),
             QStringLiteral("There is one version only: kernels/row.cu of turn 1."));
    QCOMPARE(view_->area().changeCount(), 0);
    QCOMPARE(view_->area().rowCount(), 14);
}

void DiffViewTest::followsTheShownTurn() {
    show();
    turn(1, first);
    turn(2, second);
    QCOMPARE(view_->turnA(), 1);
    QCOMPARE(view_->turnB(), 2);
    QCOMPARE(view_->path(), QStringLiteral("kernels/row.cu"));
    QVERIFY(view_->area().changeCount() > 1);
    QCOMPARE(view_->summary(), QStringLiteral("Lines added: %1, removed: %2.")
                                   .arg(view_->area().linesAdded())
                                   .arg(view_->area().linesRemoved()));
    turn(3, first);
    QCOMPARE(view_->turnA(), 2);
    QCOMPARE(view_->turnB(), 3);
    document_->selectTurn(2);
    QCOMPARE(view_->turnA(), 1);
    QCOMPARE(view_->turnB(), 2);
    view_->hide(); // reads nothing while it is not seen, and catches up
    document_->selectTurn(0);
    QCOMPARE(view_->turnB(), 2);
    view_->show();
    QCOMPARE(view_->turnB(), 3);
    document_->setCursor(5); // inside of turn 2
    QCOMPARE(view_->turnA(), 1);
    QCOMPARE(view_->turnB(), 2);
}

void DiffViewTest::previousTurnWithAVerdict() {
    show();
    turn(1, first);
    turn(2, second, false);
    turn(3, second);
    QCOMPARE(view_->turnA(), 1);
    QCOMPARE(view_->turnB(), 3);
}

void DiffViewTest::chosenByHand() {
    show();
    turn(1, first);
    turn(2, second);
    turn(3, first);
    choose(box("Older version: turn"), 0);
    QVERIFY(!view_->following());
    QCOMPARE(view_->turnA(), 1);
    QCOMPARE(view_->turnB(), 3);
    QCOMPARE(view_->area().changeCount(), 0);
    document_->selectTurn(2);
    QCOMPARE(view_->turnB(), 3);
    choose(box("Newer version: turn"), 1);
    QCOMPARE(view_->turnB(), 2);
    QVERIFY(view_->area().changeCount() > 0);
    const int added = view_->area().linesAdded();
    view_->findChild<QAction *>(QStringLiteral("diff.swap"))->trigger();
    QCOMPARE(view_->turnA(), 2);
    QCOMPARE(view_->area().linesRemoved(), added);
    view_->findChild<QAction *>(QStringLiteral("diff.follow"))->trigger();
    QVERIFY(view_->following());
    QCOMPARE(view_->turnA(), 1);
    QCOMPARE(view_->turnB(), 2);
    view_->showDiff(2, 2, QStringLiteral("kernels/row.cu"));
    QVERIFY(view_->summary().startsWith(QStringLiteral("The same turn is chosen twice")));
    view_->showDiff(-5, 99, QStringLiteral("no/such/file")); // what exists is shown
    QCOMPARE(view_->turnB(), 3);
    QCOMPARE(view_->path(), QStringLiteral("kernels/row.cu"));
}

void DiffViewTest::noDifference() {
    show();
    turn(1, first);
    turn(2, nullptr);
    QCOMPARE(view_->summary(),
             QStringLiteral("No difference: kernels/row.cu is the same in turn 1 and turn 2."));
    QVERIFY(!view_->findChild<QAction *>(QStringLiteral("diff.nextChange"))->isEnabled());
}

void DiffViewTest::newAndGone() {
    show();
    turn(1, first);
    turn(2, nullptr);
    write(2, "kernels/other.cu", "a\nb\n");
    QCOMPARE(view_->path(), QStringLiteral("kernels/other.cu")); // what changed
    QCOMPARE(view_->summary(), QStringLiteral("New in turn 2; lines: 2."));
    QCOMPARE(box("File")->count(), 2);
    QCOMPARE(box("File")->currentText(), QStringLiteral("kernels/other.cu (new)"));
    view_->showDiff(2, 1, QStringLiteral("kernels/other.cu"));
    QCOMPARE(view_->summary(), QStringLiteral("Gone in turn 1; lines: 2."));
    choose(box("File"), 1);
    QCOMPARE(view_->path(), QStringLiteral("kernels/row.cu"));
}

void DiffViewTest::unreadable() {
    show();
    turn(1, first);
    turn(2, nullptr);
    add(EventType::fileWritten, 2, {{"path", "kernels/row.cu"}, {"blob", std::string(64, '0')}});
    QVERIFY(
        view_->summary().startsWith(QStringLiteral("kernels/row.cu of turn 2 cannot be read:")));
    QCOMPARE(view_->area().rowCount(), 0);
}

void DiffViewTest::keysGoFromChangeToChange() {
    show();
    turn(1, first);
    turn(2, second);
    const DiffArea &area = view_->area();
    view_->activateWindow();
    auto *target = view_->findChild<DiffArea *>();
    target->setFocus();
    QVERIFY(QTest::qWaitForWindowActive(view_.get()));
    QCOMPARE(area.currentChange(), 0); // the first is in sight
    QTest::keyClick(target, Qt::Key_F7);
    QCOMPARE(area.currentChange(), 1);
    QTest::keyClick(target, Qt::Key_F7, Qt::ShiftModifier);
    QTest::keyClick(target, Qt::Key_F7, Qt::ShiftModifier); // round the end
    QCOMPARE(area.currentChange(), area.changeCount() - 1);
    QTest::keyClick(target, Qt::Key_F7);
    QCOMPARE(area.currentChange(), 0);
}

void DiffViewTest::copiesLines() {
    show();
    turn(1, "a\nb\nc\n");
    turn(2, "a\nx\nc\n");
    QAction *copy = view_->findChild<QAction *>(QStringLiteral("diff.copy"));
    copy->trigger(); // nothing selected: the new side of the change
    QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("x\n"));
    auto *area = view_->findChild<DiffArea *>();
    const int height = QFontMetrics(area->font()).height() + 2;
    QTest::mousePress(area->viewport(), Qt::LeftButton, {}, QPoint(100, height / 2));
    QTest::mouseMove(area->viewport(), QPoint(100, height + height / 2));
    QTest::mouseRelease(area->viewport(), Qt::LeftButton, {}, QPoint(100, height + height / 2));
    copy->trigger();
    QCOMPARE(QApplication::clipboard()->text(), QStringLiteral("a\nb\n"));
}

void DiffViewTest::turnListGrows() {
    TurnList list(document_.get());
    QAbstractItemModelTester tester(&list, QAbstractItemModelTester::FailureReportingMode::QtTest);
    QSignalSpy resets(&list, &QAbstractItemModel::modelReset);
    write(0, "kernels/row.cu", first);
    turn(1, second);
    turn(2, nullptr, false);
    list.refresh();
    QCOMPARE(list.rowCount(), 3);
    QCOMPARE(list.turnAt(0), 0);
    QCOMPARE(list.index(0).data().toString(), QStringLiteral("Start"));
    QCOMPARE(list.index(1).data().toString(), QStringLiteral("Turn 1: 1.28×"));
    QCOMPARE(list.index(2).data().toString(), QStringLiteral("Turn 2"));
    QCOMPARE(list.rowOf(2), 2);
    QCOMPARE(list.rowOf(9), -1);
    document_->setCursor(3);
    list.refresh();
    QCOMPARE(list.rowCount(), 2);
    QCOMPARE(resets.count(), 1);
    show(); // against the start
    QCOMPARE(view_->turnA(), 0);
    QCOMPARE(view_->turnB(), 1);
}

void DiffViewTest::largeFile() {
    show();
    std::string a, b;
    for (int line = 0; line < 20'000; ++line) {
        const std::string text = "    out[" + std::to_string(line) + "] = in[" +
                                 std::to_string(line * 7 % 1000) + "];\n";
        a += text;
        b += line % 50 == 0 ? "    changed(" + std::to_string(line) + ");\n" : text;
    }
    turn(1, a.c_str());
    QElapsedTimer clock;
    clock.start();
    turn(2, b.c_str());
    view_->grab();
    const qint64 took = clock.restart();
    QCOMPARE(view_->area().changeCount(), 400);
    QScrollBar *bar = view_->area().verticalScrollBar();
    for (int i = 0; i < 50; ++i) {
        bar->setValue(i * 400);
        view_->grab();
    }
    const qint64 scrolled = clock.elapsed() / 50;
    qInfo("%lld ms to show, %lld ms a picture", static_cast<long long>(took),
          static_cast<long long>(scrolled));
    QVERIFY(took < 1000);
    QVERIFY(scrolled < 100);
}

void DiffViewTest::screenshots() {
    const QString folder = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
    turn(1, first);
    turn(2, second);
    for (const bool dark : {false, true}) {
        Theme::instance().setScheme(dark ? Theme::Scheme::dark : Theme::Scheme::light);
        for (const QSize size : {QSize(1100, 460), QSize(300, 200)}) {
            show(size.width(), size.height());
            QTest::qWait(20);
            const QPixmap picture = view_->grab();
            QCOMPARE(picture.size(), size * view_->devicePixelRatioF());
            if (!folder.isEmpty())
                QVERIFY(picture.save(
                    QStringLiteral("%1/diff-%2-%3.png")
                        .arg(folder, dark ? QStringLiteral("dark") : QStringLiteral("light"))
                        .arg(size.width())));
        }
    }
    Theme::instance().setScheme(Theme::Scheme::system);
}

QTEST_MAIN(DiffViewTest)
#include "diff_view_test.moc"
