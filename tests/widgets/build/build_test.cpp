// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/base/theme.h"
#include "widgets/build/build_pane.h"

#include "core/session/log.h"

#include <QAbstractItemModelTester>
#include <QAction>
#include <QClipboard>
#include <QElapsedTimer>
#include <QFile>
#include <QHeaderView>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSettings>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTabWidget>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QVBoxLayout>

using namespace cuda_agent;
using namespace cuda_agent::widgets;
using session::EventType;

namespace {

constexpr char compilerOutput[] =
    "kernels/row.cu:12:9: error: use of undeclared identifier 'sum'\n"
    "        sum += in[i];\n"
    "        ^\n"
    "kernels/row.cu:31:22: warning: unused variable 'lane' [-Wunused-variable]\n"
    "    const int lane = threadIdx.x & 31;\n"
    "              ^\n"
    "kernels/row.cu:5:12: note: 'total' declared here\n"
    "    float total = 0;\n"
    "          ^\n"
    "1 error and 1 warning generated.\n";

Json diagnostic(const char *severity, int line, int column, const char *message,
                const char *file = "kernels/row.cu") {
    return {{"severity", severity},
            {"file", file},
            {"line", line},
            {"column", column},
            {"message", message}};
}

/// Events with running numbers.
struct Script {
    std::vector<session::Event> all;
    Script &add(EventType type, int turn, Json data = Json::object()) {
        const auto sequence = std::int64_t(all.size());
        all.push_back({sequence, 1'000'000 + 0.1 * double(sequence), type, turn, std::move(data)});
        return *this;
    }
    Script &compiled(int turn, bool ok, Json diagnostics, Json kernels = Json::array(),
                     const std::string &log = {}) {
        Json data = {{"ok", ok},
                     {"diagnostics", std::move(diagnostics)},
                     {"kernels", std::move(kernels)},
                     {"seconds", 0.21}};
        if (!log.empty())
            data["log"] = log;
        return add(EventType::compiled, turn, std::move(data));
    }
    std::vector<session::Event> from(std::size_t first) const {
        return {all.begin() + static_cast<std::ptrdiff_t>(first), all.end()};
    }
    SessionIndex index() const {
        SessionIndex result;
        for (const session::Event &event : all)
            result.append(event);
        return result;
    }
};

/// Turn 1 fails with error, warning and note; 2 fails with an error; 3 warns; 4 is clean.
Script fourTurns(const std::string &log) {
    Script script;
    script.add(EventType::sessionStarted, 0, {{"task", {{"name", "softmax"}}}});
    script.add(EventType::turnStarted, 1);
    script.compiled(1, false,
                    {diagnostic("error", 12, 9, "use of undeclared identifier 'sum'"),
                     diagnostic("warning", 31, 22, "unused variable 'lane' [-Wunused-variable]"),
                     diagnostic("note", 5, 12, "'total' declared here")},
                    Json::array(), log);
    script.add(EventType::turnEnded, 1);
    script.add(EventType::turnStarted, 2);
    script.compiled(2, false, {diagnostic("error", 40, 0, "expected ';'", "kernels/other.cu")});
    script.add(EventType::turnEnded, 2);
    script.add(EventType::turnStarted, 3);
    script.compiled(3, true, {diagnostic("warning", 8, 1, "loop not unrolled")},
                    {{{"name", "row"}}});
    script.add(EventType::turnEnded, 3);
    script.add(EventType::turnStarted, 4);
    script.compiled(
        4, true, Json::array(),
        {{{"name", "row_softmax"}, {"registers", 42}, {"shared_bytes", 4096}, {"spill_bytes", 16}},
         {{"name", "row_combine"}, {"registers", 18}, {"spill_bytes", 0}}});
    script.add(EventType::turnEnded, 4);
    return script;
}

} // namespace

class BuildTest : public QObject {
    Q_OBJECT
  private slots:
    void initTestCase();
    void init();
    void cleanup();
    void modelGrowsAndStartsOver();
    void modelLeavesOutRepeats();
    void modelForgetsCutOffTurns();
    void foreignPayloads();
    void nothingYet();
    void summaries();
    void clickGoesToThePlace();
    void keysGoFromErrorToError();
    void keysWorkFromTheEditor();
    void filters();
    void copies();
    void savesTheLog();
    void missingLog();
    void actionsForThePalette();
    void manyMessages();
    void screenshots();

  private:
    template <typename T>
    T *child(const char *accessibleName) const {
        for (T *widget : pane_->findChildren<T *>()) {
            if (widget->accessibleName() == QLatin1String(accessibleName))
                return widget;
        }
        return nullptr;
    }
    QTableView *table() const { return child<QTableView>("Messages of the compiler"); }
    QString summary() const { return child<QLabel>("Result of the compiler")->text(); }
    QAction *action(const char *name) const {
        return pane_->findChild<QAction *>(QLatin1String(name));
    }
    void show(int width = 700, int height = 400) {
        pane_->resize(width, height);
        pane_->show();
        QVERIFY(QTest::qWaitForWindowExposed(pane_.get()));
    }

    std::unique_ptr<QTemporaryDir> folder_;
    std::string log_; ///< blob of compilerOutput
    std::unique_ptr<SessionDocument> document_;
    std::unique_ptr<BuildPane> pane_;
};

void BuildTest::initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(QStringLiteral("cuda-agent-test"));
    QCoreApplication::setApplicationName(QStringLiteral("build"));
}

void BuildTest::init() {
    QSettings().clear();
    folder_ = std::make_unique<QTemporaryDir>();
    const auto path = std::filesystem::path(folder_->path().toStdString()) / "session";
    auto log = session::Log::create(path);
    QVERIFY(log);
    log_ = log->putBlob(compilerOutput).value();
    document_ = std::make_unique<SessionDocument>();
    document_->setFolder(path);
    pane_ = std::make_unique<BuildPane>(document_.get());
}

void BuildTest::cleanup() {
    pane_.reset();
    document_.reset();
}

void BuildTest::modelGrowsAndStartsOver() {
    BuildModel model(document_.get());
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    const Script script = fourTurns(log_);
    QSignalSpy resets(&model, &QAbstractItemModel::modelReset);
    for (const session::Event &event : script.all)
        document_->append({event});
    QCOMPARE(resets.count(), 0);
    QCOMPARE(model.rowCount(), 5);
    QCOMPARE(model.count(BuildMessage::error), 2);
    QCOMPARE(model.count(BuildMessage::error, 2), 1);
    QCOMPARE(model.firstOf(3), 4);
    QCOMPARE(model.firstOf(4), -1);
    const BuildMessage message = model.message(3);
    QCOMPARE(message.turn, 2);
    QCOMPARE(message.file, QStringLiteral("kernels/other.cu"));
    QCOMPARE(message.line, 40);
    QCOMPARE(message.text(), QStringLiteral("kernels/other.cu:40: error: expected ';'"));
    QVERIFY(!model.index(3, BuildModel::ColumnColumn).data().isValid());

    document_->setCursor(5); // behind turn 2's start
    QCOMPARE(resets.count(), 1);
    QCOMPARE(model.rowCount(), 3);
    document_->toEnd();
    QCOMPARE(resets.count(), 1);
    QCOMPARE(model.rowCount(), 5);
    document_->replace(SessionIndex());
    QCOMPARE(model.rowCount(), 0);
}

void BuildTest::modelLeavesOutRepeats() {
    Script script;
    script.add(EventType::turnStarted, 1);
    const Json same = {diagnostic("error", 1, 1, "a")};
    script.compiled(1, false, same).compiled(1, false, same); // Compile, then Verify
    script.compiled(1, false, {diagnostic("error", 2, 1, "b")}).compiled(1, false, same);
    script.add(EventType::turnStarted, 2);
    script.compiled(2, false, same);
    BuildModel model(document_.get());
    for (const session::Event &event : script.all)
        document_->append({event});
    QCOMPARE(model.rowCount(), 4);
    document_->replace(script.index()); // the same in one go
    QCOMPARE(model.rowCount(), 4);
}

void BuildTest::modelForgetsCutOffTurns() {
    Script script;
    script.add(EventType::turnStarted, 1);
    script.compiled(1, false, {diagnostic("error", 1, 1, "before the crash")});
    script.add(EventType::turnStarted, 1);
    script.compiled(1, false, {diagnostic("error", 2, 1, "done again")});
    BuildModel model(document_.get());
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    for (const session::Event &event : script.all)
        document_->append({event});
    QCOMPARE(model.rowCount(), 1);
    QCOMPARE(model.message(0).message, QStringLiteral("done again"));
    document_->setCursor(2);
    QCOMPARE(model.rowCount(), 1);
    QCOMPARE(model.message(0).message, QStringLiteral("before the crash"));
}

void BuildTest::foreignPayloads() {
    Script script;
    script.add(EventType::turnStarted, 1);
    script.add(EventType::compiled, 1, {{"diagnostics", "none"}, {"kernels", 3}, {"log", 7}});
    script.add(EventType::compiled, 1, Json::array());
    script.add(EventType::compiled, 1,
               {{"diagnostics",
                 {1, "text", {{"severity", 4}, {"line", 1e300}, {"column", -3}, {"file", {}}}}},
                {"kernels", {1, {{"registers", "many"}}}}});
    BuildModel model(document_.get());
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    show();
    document_->replace(script.index());
    QCOMPARE(model.rowCount(), 1);
    QCOMPARE(model.message(0).line, 0);
    QCOMPARE(model.message(0).severity, BuildMessage::note);
    QSignalSpy places(pane_.get(), &BuildPane::locationActivated);
    pane_->goToError(1);
    QCOMPARE(places.count(), 0); // it names no file

    KernelModel kernels;
    QAbstractItemModelTester kernelTester(&kernels);
    kernels.setKernels({{{"name", "a"}, {"registers", 3}}, {{"name", "b"}}});
    QCOMPARE(kernels.columnCount(), 2);
    QCOMPARE(kernels.headerData(1, Qt::Horizontal, Qt::DisplayRole).toString(),
             QStringLiteral("Registers"));
    QCOMPARE(kernels.index(0, 1).data().toString(), QStringLiteral("3"));
    QCOMPARE(kernels.index(1, 1).data().toString(), QStringLiteral("–"));
    kernels.setKernels(Json());
    QCOMPARE(kernels.rowCount(), 0);
}

void BuildTest::nothingYet() {
    show();
    bool said = false;
    for (const QLabel *label : pane_->findChildren<QLabel *>())
        said |= label->isVisible() && label->text().contains(QStringLiteral("Press Run"));
    QVERIFY(said);
    QVERIFY(!table()->isVisible());
    document_->append(fourTurns(log_).all);
    QVERIFY(table()->isVisible());
}

void BuildTest::summaries() {
    show();
    document_->append(fourTurns(log_).all);
    const auto *log = child<QPlainTextEdit>("Output of the compiler");
    const auto *kernels = child<QTableView>("Kernels of the shown turn");
    QVERIFY(summary().startsWith(QStringLiteral("Turn 4 compiled in 210")));
    QVERIFY(summary().endsWith(QStringLiteral("without messages.")));
    QVERIFY(kernels->isVisible());
    QCOMPARE(kernels->model()->rowCount(), 2);
    QCOMPARE(kernels->model()->columnCount(), 4);
    document_->selectTurn(1);
    QVERIFY(summary().startsWith(QStringLiteral("Turn 1 did not compile")));
    QVERIFY(summary().endsWith(QStringLiteral("Errors: 1, warnings: 1, notes: 1.")));
    QVERIFY(log->isVisible());
    QCOMPARE(log->toPlainText(), QString::fromLatin1(compilerOutput));
    document_->selectTurn(3);
    QVERIFY(summary().startsWith(QStringLiteral("Turn 3 compiled in")));
    QVERIFY(!log->isVisible());
    Script more = fourTurns(log_);
    const std::size_t before = more.all.size();
    more.add(EventType::turnStarted, 5);
    document_->append(more.from(before));
    document_->selectTurn(5);
    QCOMPARE(summary(), QStringLiteral("Turn 5 has not compiled anything."));
}

void BuildTest::clickGoesToThePlace() {
    show();
    document_->append(fourTurns(log_).all);
    QSignalSpy places(pane_.get(), &BuildPane::locationActivated);
    const QModelIndex row = table()->model()->index(0, BuildModel::Message);
    QTest::mouseClick(table()->viewport(), Qt::LeftButton, {}, table()->visualRect(row).center());
    QCOMPARE(places.count(), 1);
    QCOMPARE(places[0], (QVariantList{QStringLiteral("kernels/row.cu"), 12, 9}));
    QCOMPARE(document_->shownTurn(), 1); // the line is one of that turn's file
    QTest::keyClick(table(), Qt::Key_Down);
    QCOMPARE(places.count(), 1);
    QTest::keyClick(table(), Qt::Key_Return);
    QCOMPARE(places.count(), 2);
    QCOMPARE(places[1], (QVariantList{QStringLiteral("kernels/row.cu"), 31, 22}));
}

void BuildTest::keysGoFromErrorToError() {
    show();
    document_->append(fourTurns(log_).all);
    pane_->activateWindow();
    table()->setFocus();
    QVERIFY(QTest::qWaitForWindowActive(pane_.get()));
    QSignalSpy places(pane_.get(), &BuildPane::locationActivated);
    const auto line = [&] { return places.isEmpty() ? 0 : places.last().at(1).toInt(); };
    QTest::keyClick(table(), Qt::Key_F8);
    QCOMPARE(line(), 12);
    QTest::keyClick(table(), Qt::Key_F8);
    QCOMPARE(line(), 40);
    QTest::keyClick(table(), Qt::Key_F8); // round the end, past warnings and notes
    QCOMPARE(line(), 12);
    QTest::keyClick(table(), Qt::Key_F8, Qt::ShiftModifier);
    QCOMPARE(line(), 40);
    QCOMPARE(places.count(), 4);
    document_->selectTurn(3);
    action("build.onlyTurn")->setChecked(true);
    pane_->goToError(1); // no error there: its warning
    QCOMPARE(line(), 8);
}

void BuildTest::keysWorkFromTheEditor() {
    QWidget window;
    auto *editor = new QPlainTextEdit(&window);
    auto *pane = new BuildPane(document_.get(), &window);
    auto *column = new QVBoxLayout(&window);
    column->addWidget(editor);
    column->addWidget(pane);
    // As in the workbench: what was found takes the focus.
    connect(pane, &BuildPane::locationActivated, editor, [editor] { editor->setFocus(); });
    document_->append(fourTurns(log_).all);
    window.show();
    window.activateWindow();
    QVERIFY(QTest::qWaitForWindowActive(&window));
    QSignalSpy places(pane, &BuildPane::locationActivated);
    editor->setFocus();
    for (const int line : {12, 40, 12}) {
        QTest::keyClick(editor, Qt::Key_F8);
        QCOMPARE(places.isEmpty() ? 0 : places.last().at(1).toInt(), line);
        QVERIFY(editor->hasFocus());
    }
    QTest::keyClick(editor, Qt::Key_F8, Qt::ShiftModifier);
    QCOMPARE(places.last().at(1).toInt(), 40);
}

void BuildTest::filters() {
    show();
    document_->append(fourTurns(log_).all);
    const QAbstractItemModel *shown = table()->model();
    QCOMPARE(shown->rowCount(), 5);
    auto *text = child<QLineEdit>("Filter of the messages");
    QTest::keyClicks(text, QStringLiteral("OTHER"));
    QTRY_COMPARE(shown->rowCount(), 1);
    text->setText(QStringLiteral("lane"));
    QTRY_COMPARE(shown->rowCount(), 1);
    text->setText(QStringLiteral("nowhere to be found"));
    QTRY_COMPARE(shown->rowCount(), 0);
    QVERIFY(!table()->isVisible()); // a sentence is
    text->clear();
    QTRY_COMPARE(shown->rowCount(), 5);
    action("build.showNotes")->trigger();
    QCOMPARE(shown->rowCount(), 4);
    action("build.showWarnings")->trigger();
    QCOMPARE(shown->rowCount(), 2);
    action("build.showErrors")->trigger();
    QCOMPARE(shown->rowCount(), 0);
    action("build.showErrors")->trigger();
    document_->selectTurn(1);
    action("build.onlyTurn")->trigger();
    QCOMPARE(shown->rowCount(), 1);
    QCOMPARE(action("build.showErrors")->iconText(), QStringLiteral("Errors: 1"));
    document_->selectTurn(2); // the filter follows the shown turn
    QCOMPARE(shown->rowCount(), 1);
    QCOMPARE(shown->index(0, BuildModel::Turn).data().toInt(), 2);
    table()->sortByColumn(BuildModel::SeverityColumn, Qt::AscendingOrder);
    action("build.onlyTurn")->trigger();
    action("build.showWarnings")->trigger();
    QCOMPARE(shown->index(0, BuildModel::SeverityColumn).data().toString(),
             QStringLiteral("error"));
}

void BuildTest::copies() {
    show();
    document_->append(fourTurns(log_).all);
    table()->setFocus();
    table()->selectAll();
    QTest::keyClick(table(), Qt::Key_C, Qt::ControlModifier);
    const QStringList lines = QApplication::clipboard()->text().split(QLatin1Char('\n'));
    QCOMPARE(lines.size(), 5);
    QCOMPARE(lines[0],
             QStringLiteral("kernels/row.cu:12:9: error: use of undeclared identifier 'sum'"));
}

void BuildTest::savesTheLog() {
    show();
    document_->append(fourTurns(log_).all);
    const QString path = folder_->filePath(QStringLiteral("out.log"));
    QVERIFY(!action("build.saveLog")->isEnabled());
    QVERIFY(!pane_->saveLog(path));
    document_->selectTurn(1);
    QVERIFY(action("build.saveLog")->isEnabled());
    QVERIFY(pane_->saveLog(path));
    QFile file(path);
    QVERIFY(file.open(QIODevice::ReadOnly));
    QCOMPARE(file.readAll(), QByteArray(compilerOutput));
    const Result<void> refused = pane_->saveLog(folder_->filePath(QStringLiteral("no/such/log")));
    QVERIFY(!refused);
    QVERIFY(refused.error().message.find("no/such/log") != std::string::npos);
}

void BuildTest::missingLog() {
    show();
    document_->append(fourTurns(std::string(64, '0')).all);
    document_->selectTurn(1);
    QVERIFY(child<QPlainTextEdit>("Output of the compiler")
                ->toPlainText()
                .startsWith(QStringLiteral("The output of turn 1 cannot be read")));
    QVERIFY(!action("build.saveLog")->isEnabled());
}

void BuildTest::actionsForThePalette() {
    for (const char *name : {"build.nextError", "build.previousError", "build.onlyTurn",
                             "build.saveLog", "build.showErrors", "build.filter", "build.copy"}) {
        const QAction *found = action(name);
        QVERIFY2(found, name);
        QVERIFY(!found->text().isEmpty());
    }
}

void BuildTest::manyMessages() {
    Script script;
    for (int turn = 1; turn <= 14'000; ++turn) {
        script.add(EventType::turnStarted, turn).add(EventType::thought, turn, {{"text", "t"}});
        script.compiled(turn, false,
                        {diagnostic("error", turn, 1, "expected ';'"),
                         diagnostic("warning", turn, 1, "unused variable")});
        for (int i = 0; i < 4; ++i)
            script.add(EventType::thought, turn, {{"text", "t"}});
    }
    show();
    SessionIndex index = script.index();
    QElapsedTimer clock;
    clock.start();
    document_->replace(std::move(index));
    QCoreApplication::processEvents();
    const qint64 opened = clock.restart();
    document_->setCursor(50'000);
    QCoreApplication::processEvents();
    const qint64 back = clock.restart();
    pane_->goToError(-1);
    const qint64 error = clock.restart();
    qInfo("%lld ms to open, %lld back, %lld to the error", static_cast<long long>(opened),
          static_cast<long long>(back), static_cast<long long>(error));
    QVERIFY(opened < 400 && back < 400 && error < 400); // some 20 ms where nothing else runs
    QCOMPARE(table()->model()->rowCount(), 14'286);
}

void BuildTest::screenshots() {
    const QString folder = qEnvironmentVariable("CUDA_AGENT_SCREENSHOTS");
    document_->append(fourTurns(log_).all);
    for (const bool dark : {false, true}) {
        Theme::instance().setScheme(dark ? Theme::Scheme::dark : Theme::Scheme::light);
        const QString scheme = dark ? QStringLiteral("dark") : QStringLiteral("light");
        for (const int turn : {1, 4}) {
            for (const QSize size : {QSize(760, 420), QSize(300, 200)}) {
                show(size.width(), size.height());
                document_->selectTurn(turn);
                QTest::qWait(20);
                const QPixmap picture = pane_->grab();
                QCOMPARE(picture.size(), size * pane_->devicePixelRatioF());
                if (!folder.isEmpty())
                    QVERIFY(picture.save(QStringLiteral("%1/build-%2-turn%3-%4.png")
                                             .arg(folder, scheme)
                                             .arg(turn)
                                             .arg(size.width())));
            }
        }
    }
    Theme::instance().setScheme(Theme::Scheme::system);
}

QTEST_MAIN(BuildTest)
#include "build_test.moc"
