// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/log.h"
#include "widgets/session/session_document.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

using namespace cuda_agent;
using namespace cuda_agent::widgets;
using session::Event;
using session::EventType;

class SessionTest : public QObject {
    Q_OBJECT
  private:
    std::vector<Event> events_;
    void add(EventType type, int turn, Json data = Json::object()) {
        events_.push_back({static_cast<std::int64_t>(events_.size()),
                           1e9 + static_cast<double>(events_.size()), type, turn, std::move(data)});
    }
    static Json verdict(bool correct, double seconds) {
        return {{"verdict",
                 {{"correct", correct},
                  {"compiled", true},
                  {"strength", "training"},
                  {"times", {{"candidate", {{"seconds", seconds}}}}}}},
                {"candidate", {{"kernels/a.cu", std::to_string(seconds)}}}};
    }
    SessionIndex index() const {
        SessionIndex result;
        for (const Event &event : events_)
            result.append(event);
        return result;
    }

  private slots:
    void init() {
        events_.clear();
        add(EventType::sessionStarted, 0, {{"task", {{"name", "softmax"}}}});
        add(EventType::turnStarted, 1);                                               // 1
        add(EventType::fileWritten, 1, {{"path", "kernels/a.cu"}, {"blob", "one"}});  // 2
        add(EventType::verdictGiven, 1, verdict(true, 2e-3));                         // 3
        add(EventType::turnEnded, 1);                                                 // 4
        add(EventType::turnStarted, 2);                                               // 5
        add(EventType::fileWritten, 2, {{"path", "kernels/a.cu"}, {"blob", "lost"}}); // 6
        add(EventType::turnStarted, 2, {{"author", "engineer"}});                     // 7
        add(EventType::fileWritten, 2,
            {{"path", "plan.json"}, {"blob", "two"}, {"author", "engineer"}}); // 8
        add(EventType::verdictGiven, 2, verdict(true, 1e-3));                  // 9
        add(EventType::turnEnded, 2);                                          // 10
    }

    void answersForEveryMoment() {
        const SessionIndex log = index();
        QCOMPARE(log.turnCount(1), 0);
        QCOMPARE(log.turnCount(2), 1);
        QCOMPARE(log.turnCount(11), 2);
        QCOMPARE(log.best(3).turn, 0);
        QCOMPARE(log.best(4).turn, 1);
        QCOMPARE(log.best(11).turn, 2);
        QCOMPARE(log.best(9).seconds, 2e-3);
        QCOMPARE(log.turnAt(5), 1);
        QCOMPARE(log.turnAt(6), 2);
        QVERIFY(!log.turn(2, 7)->engineer);
        QVERIFY(log.turn(2, 8)->engineer);
        QCOMPARE(log.turn(2, 7)->begin, 5u);
        QCOMPARE(log.turn(2, 11)->begin, 7u);
    }
    void aCutOffTurnNeverHappened() {
        const SessionIndex log = index();
        QCOMPARE(log.files(7).at("kernels/a.cu").blob, std::string("lost"));
        const auto files = log.files(11);
        QCOMPARE(files.at("kernels/a.cu").blob, std::string("one"));
        QVERIFY(files.at("plan.json").engineer);
        QCOMPARE(log.filesAfterTurn(1, 11).size(), 1u);
        QVERIFY(log.filesAfterTurn(7, 11).empty());
    }
    void figuresOfVerdicts() {
        // A first verdict in turn 2 that a second one replaced, and one of an attempt cut off.
        events_.insert(events_.begin() + 9,
                       {0, 0, EventType::verdictGiven, 2, verdict(false, 5e-3)});
        events_.insert(events_.begin() + 7,
                       {0, 0, EventType::verdictGiven, 2, verdict(true, 9e-3)});
        const SessionIndex log = index();
        QVERIFY(log.verdicts(3).empty());
        QCOMPARE(log.verdicts(4).size(), 1u);
        QCOMPARE(log.verdicts(8).back()->seconds, 9e-3);
        QCOMPARE(log.verdicts(10).size(), 1u); // begun again: nothing yet
        QVERIFY(!log.verdicts(11).back()->correct);
        const auto all = log.verdicts(events_.size());
        QCOMPARE(all.size(), 2u);
        QCOMPARE(all[0]->seconds, 2e-3);
        QCOMPARE(all[1]->seconds, 1e-3);
        QVERIFY(all[1]->correct && all[1]->engineer && all[1]->turn == 2);
    }
    void theFoldAgrees() {
        // Whatever the moment: the index says what a fold of the events up to it says.
        const SessionIndex log = index();
        for (std::size_t cursor = 0; cursor <= events_.size(); ++cursor) {
            const session::State state =
                session::fold({events_.begin(), events_.begin() + static_cast<long>(cursor)});
            QCOMPARE(log.best(cursor).turn, state.bestTurn);
            QCOMPARE(log.turnCount(cursor), static_cast<int>(state.turns.size()));
            const auto files = log.files(cursor);
            QCOMPARE(files.size(), state.files.size());
            for (const auto &[path, blob] : state.files)
                QCOMPARE(files.at(path).blob, blob);
        }
    }

    void theCursorFollowsUntilSomebodyLooksBack() {
        SessionDocument document;
        document.append({events_.begin(), events_.begin() + 5});
        QCOMPARE(document.title(), QStringLiteral("softmax"));
        QCOMPARE(document.cursor(), 5u);
        QCOMPARE(document.shownTurn(), 1);
        QSignalSpy reset(&document, &SessionDocument::reset);
        QSignalSpy advanced(&document, &SessionDocument::advanced);
        QSignalSpy shown(&document, &SessionDocument::shownTurnChanged);
        document.setCursor(2);
        QCOMPARE(reset.size(), 1);
        QCOMPARE(shown.size(), 1);
        document.append({events_.begin() + 5, events_.end()});
        QCOMPARE(document.cursor(), 2u);
        QVERIFY(!document.atEnd());
        QCOMPARE(advanced.size(), 0);
        document.toEnd();
        QCOMPARE(advanced.size(), 1);
        QCOMPARE(document.shownTurn(), 2);
        QVERIFY(document.verdict().is_object());
        document.setCursor(4);
        document.selectTurn(2); // lies ahead: the cursor goes there
        QCOMPARE(document.cursor(), 11u);
        document.selectTurn(99);
        QCOMPARE(document.selectedTurn(), 2);
        document.selectTurn(1);
        QCOMPARE(document.shownTurn(), 1);
    }

    void readsAFolderAndSaysWhatIsTorn() {
        QTemporaryDir folder;
        const std::filesystem::path path(folder.filePath(QStringLiteral("s")).toStdString());
        {
            auto log = session::Log::create(path);
            QVERIFY(log.has_value());
            for (const Event &event : events_)
                QVERIFY(log->append(event.type, event.turn, event.data).has_value());
        }
        auto loaded = loadSession(path);
        QVERIFY(loaded.has_value());
        QCOMPARE(loaded->index.size(), events_.size());
        QVERIFY(loaded->problem.isEmpty());
        QFile file(QString::fromStdString((path / "session.jsonl").string()));
        QVERIFY(file.open(QIODevice::Append));
        file.write("{\"seq\":11,\"t\":1,\"ty");
        file.close();
        loaded = loadSession(path);
        QVERIFY(loaded.has_value());
        QCOMPARE(loaded->index.size(), events_.size());
        QVERIFY(!loaded->problem.isEmpty());
        QVERIFY(!loadSession(path / "nothing").has_value());
    }

    void foreignPayloadsAreHarmless() {
        SessionIndex log;
        for (int type = 0; type <= static_cast<int>(EventType::sessionEnded); ++type)
            for (const Json &data :
                 {Json(nullptr), Json(1), Json::array({1, 2}), Json{{"path", 3}, {"verdict", "x"}}})
                log.append({static_cast<std::int64_t>(log.size()), 0, static_cast<EventType>(type),
                            static_cast<int>(log.size()) % 3 - 1, data});
        SessionDocument document;
        document.replace(std::move(log));
        for (std::size_t i = 0; i <= document.index().size(); ++i) {
            document.setCursor(i);
            QVERIFY(!document.verdict().is_string());
            static_cast<void>(document.title());
        }
    }
};

QTEST_GUILESS_MAIN(SessionTest)
#include "session_test.moc"
