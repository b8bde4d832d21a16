// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/log.h"
#include "core/session/state.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace cuda_agent::session {
namespace {

using testing::Test;

const EventType everyType[] = {EventType::sessionStarted,    EventType::taskDescribed,
                               EventType::baselinesMeasured, EventType::budgetSet,
                               EventType::knowledgeOffered,  EventType::turnStarted,
                               EventType::thought,           EventType::action,
                               EventType::observation,       EventType::fileWritten,
                               EventType::compiled,          EventType::verdictGiven,
                               EventType::turnEnded,         EventType::note,
                               EventType::sessionEnded};

/// A log with one thought per text, closed again.
void makeLog(const std::filesystem::path &folder, const std::vector<std::string> &texts) {
    auto log = Log::create(folder);
    ASSERT_TRUE(log) << log.error().message;
    for (const std::string &text : texts)
        ASSERT_TRUE(log->append(EventType::thought, 1, {{"text", text}}));
}

TEST(Log, WhatIsWrittenIsRead) {
    TemporaryFolder folder;
    auto log = Log::create(folder.path() / "deep" / "session");
    ASSERT_TRUE(log) << log.error().message;
    std::vector<Event> live;
    log->setListener([&](const Event &event) { live.push_back(event); });
    for (const EventType type : everyType) {
        const auto event = log->append(
            type, 3,
            {{"text", "line\nbreak \"quoted\" \\ ünï 🙂 \x01"}, {"list", {1, -2, 3.5}}});
        ASSERT_TRUE(event) << event.error().message;
        EXPECT_EQ(event->type, type);
    }
    EXPECT_EQ(log->nextSequence(), std::ssize(everyType));
    const auto contents = readLog(log->folder());
    ASSERT_TRUE(contents) << contents.error().message;
    EXPECT_EQ(contents->problem, "");
    EXPECT_EQ(contents->unknownEvents, 0);
    ASSERT_EQ(contents->events.size(), std::size(everyType));
    ASSERT_EQ(live.size(), std::size(everyType));
    for (std::size_t i = 0; i < live.size(); ++i) {
        const Event &event = contents->events[i];
        EXPECT_EQ(event.sequence, static_cast<std::int64_t>(i));
        EXPECT_EQ(event.type, everyType[i]);
        EXPECT_EQ(event.turn, 3);
        EXPECT_EQ(event.data["text"], "line\nbreak \"quoted\" \\ ünï 🙂 \x01");
        EXPECT_EQ(event.data["list"], Json({1, -2, 3.5}));
        EXPECT_GT(event.time, 1.5e9);
        EXPECT_EQ(live[i].data, event.data);
        EXPECT_EQ(live[i].time, event.time);
        EXPECT_EQ(live[i].sequence, event.sequence);
    }
}

TEST(Log, TheFormatIsTheDocumentedOne) {
    TemporaryFolder folder;
    makeLog(folder.path(), {"hello"});
    const std::string text = readAll(folder.path() / "session.jsonl");
    EXPECT_EQ(text.substr(0, text.find('\n')), R"({"schema":1})");
    EXPECT_NE(text.find(R"("type":"thought","turn":1,"data":{"text":"hello"}})"), text.npos)
        << text;
    EXPECT_EQ(text.back(), '\n');
}

TEST(Log, GoesOnAfterItWasClosed) {
    TemporaryFolder folder;
    makeLog(folder.path(), {"one", "two"});
    {
        auto log = Log::open(folder.path());
        ASSERT_TRUE(log) << log.error().message;
        EXPECT_EQ(log->nextSequence(), 2);
        const auto event = log->append(EventType::note, 0, {{"text", "resumed"}});
        ASSERT_TRUE(event);
        EXPECT_EQ(event->sequence, 2);
    }
    const auto contents = readLog(folder.path());
    ASSERT_TRUE(contents);
    EXPECT_EQ(contents->events.size(), 3u);
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "session.jsonl.torn"));
}

TEST(Log, WhatJsonCannotHoldIsTheSameLiveAndRead) {
    TemporaryFolder folder;
    auto log = Log::create(folder.path());
    ASSERT_TRUE(log);
    const auto live = log->append(EventType::observation, 1,
                                  {{"text", "not \xff\xfe utf-8 \xc3"},
                                   {"nan", std::nan("")},
                                   {"inf", std::numeric_limits<double>::infinity()}});
    ASSERT_TRUE(live) << live.error().message;
    const auto contents = readLog(folder.path());
    ASSERT_TRUE(contents) << contents.error().message;
    ASSERT_EQ(contents->events.size(), 1u);
    EXPECT_EQ(contents->events[0].data, live->data);
    EXPECT_TRUE(live->data["nan"].is_null());
    EXPECT_NE(live->data["text"].get<std::string>().find("utf-8"), std::string::npos);
}

TEST(Log, DataMustBeAnObject) {
    TemporaryFolder folder;
    auto log = Log::create(folder.path());
    ASSERT_TRUE(log);
    EXPECT_FALSE(log->append(EventType::note, 0, Json::array({1})));
    EXPECT_TRUE(log->append(EventType::note, 0, {{"text", "good"}}));
    EXPECT_EQ(readLog(folder.path())->events.size(), 1u);
}

TEST(Log, TooDeepDataIsRefused) {
    TemporaryFolder folder;
    auto log = Log::create(folder.path());
    ASSERT_TRUE(log);
    Json deep = 1;
    for (int i = 0; i < 400; ++i)
        deep = Json::array({std::move(deep)});
    EXPECT_TRUE(log->append(EventType::note, 0, {{"deep", deep}}));
    for (int i = 0; i < 200'000; ++i)
        deep = Json::array({std::move(deep)});
    Json data = Json::object();
    data["deep"] = std::move(deep);
    EXPECT_FALSE(log->append(EventType::note, 0, std::move(data)));
    EXPECT_EQ(readLog(folder.path())->events.size(), 1u);
}

TEST(Log, CreatesNothingOverASession) {
    TemporaryFolder folder;
    makeLog(folder.path(), {"precious"});
    const auto again = Log::create(folder.path());
    ASSERT_FALSE(again);
    EXPECT_EQ(again.error().kind, ErrorKind::request);
    EXPECT_EQ(readLog(folder.path())->events.size(), 1u);
}

TEST(Log, OpensOnlySessions) {
    TemporaryFolder folder;
    for (const auto &path : {folder.path(), folder.path() / "missing"}) {
        const auto log = Log::open(path);
        ASSERT_FALSE(log);
        EXPECT_EQ(log.error().kind, ErrorKind::request);
        const auto contents = readLog(path);
        ASSERT_FALSE(contents);
        EXPECT_EQ(contents.error().kind, ErrorKind::request);
        EXPECT_NE(contents.error().message.find("no session"), std::string::npos);
    }
    EXPECT_FALSE(std::filesystem::exists(folder.path() / "lock"));
    writeAll(folder.path() / "session.jsonl", "something else\n");
    EXPECT_FALSE(readLog(folder.path()));
    EXPECT_FALSE(Log::open(folder.path()));
    writeAll(folder.path() / "session.jsonl", "");
    EXPECT_FALSE(readLog(folder.path()));
}

TEST(Log, TakesOneWriter) {
    TemporaryFolder folder;
    auto first = Log::create(folder.path());
    ASSERT_TRUE(first);
    for (int i = 0; i < 2; ++i) {
        const auto second = i == 0 ? Log::open(folder.path()) : Log::create(folder.path());
        ASSERT_FALSE(second);
        EXPECT_EQ(second.error().kind, ErrorKind::request);
        EXPECT_NE(second.error().message.find("another program"), std::string::npos);
    }
    ASSERT_TRUE(first->append(EventType::note, 0, {{"text", "still mine"}}));
    EXPECT_TRUE(readLog(folder.path())); // readers are not kept out
    { const Log ended = std::move(*first); }
    EXPECT_TRUE(Log::open(folder.path()));
}

TEST(Log, NewerSchemaSaysSo) {
    TemporaryFolder folder;
    makeLog(folder.path(), {"one"});
    std::string text = readAll(folder.path() / "session.jsonl");
    text.replace(0, text.find('\n'), R"({"schema":2,"new":true})");
    writeAll(folder.path() / "session.jsonl", text);
    const auto contents = readLog(folder.path());
    ASSERT_FALSE(contents);
    EXPECT_EQ(contents.error().kind, ErrorKind::request);
    EXPECT_NE(contents.error().message.find("newer"), std::string::npos);
    EXPECT_FALSE(Log::open(folder.path()));
    EXPECT_EQ(readAll(folder.path() / "session.jsonl"), text);
}

TEST(Log, UnknownTypesAreCountedAndFieldsIgnored) {
    TemporaryFolder folder;
    writeAll(folder.path() / "session.jsonl",
             "{\"schema\":1,\"by\":\"a later program\"}\n"
             "{\"seq\":0,\"t\":1.5,\"type\":\"thought\",\"turn\":1,\"mood\":7,"
             "\"data\":{\"text\":\"a\",\"more\":[]}}\n"
             "{\"seq\":1,\"t\":2,\"type\":\"dreamt\",\"turn\":1,\"data\":{\"x\":1}}\n"
             "{\"type\":\"note\",\"data\":{\"text\":\"b\"},\"seq\":2,\"t\":3}\n");
    const auto contents = readLog(folder.path());
    ASSERT_TRUE(contents) << contents.error().message;
    EXPECT_EQ(contents->unknownEvents, 1);
    ASSERT_EQ(contents->events.size(), 2u);
    EXPECT_EQ(contents->events[1].sequence, 2);
    EXPECT_EQ(contents->events[1].turn, 0);
    auto log = Log::open(folder.path());
    ASSERT_TRUE(log);
    EXPECT_EQ(log->nextSequence(), 3);
}

TEST(Log, ATornLastLineIsCutAtEveryByte) {
    TemporaryFolder folder;
    makeLog(folder.path(), {"first", "second", "the last \"line\" ünï"});
    const std::string whole = readAll(folder.path() / "session.jsonl");
    const std::size_t last = whole.rfind('\n', whole.size() - 2) + 1;
    for (std::size_t cut = last; cut < whole.size(); ++cut) {
        SCOPED_TRACE(cut);
        TemporaryFolder copy;
        writeAll(copy.path() / "session.jsonl", whole.substr(0, cut));
        const auto contents = readLog(copy.path());
        ASSERT_TRUE(contents) << contents.error().message;
        EXPECT_EQ(contents->events.size(), 2u);
        EXPECT_EQ(contents->problem.empty(), cut == last);

        auto log = Log::open(copy.path());
        ASSERT_TRUE(log) << log.error().message;
        EXPECT_EQ(log->nextSequence(), 2);
        const auto torn = copy.path() / "session.jsonl.torn";
        ASSERT_EQ(std::filesystem::exists(torn), cut > last);
        if (cut > last) {
            EXPECT_EQ(readAll(torn), whole.substr(last, cut - last) + "\n");
        }
        ASSERT_TRUE(log->append(EventType::note, 1, {{"text", "resumed"}}));
        const auto after = readLog(copy.path());
        ASSERT_TRUE(after) << after.error().message;
        EXPECT_EQ(after->problem, "");
        ASSERT_EQ(after->events.size(), 3u);
        EXPECT_EQ(after->events[2].type, EventType::note);
    }
}

TEST(Log, ALastLineWithLostContentIsTorn) {
    TemporaryFolder folder;
    makeLog(folder.path(), {"first"});
    const std::string whole = readAll(folder.path() / "session.jsonl");
    for (const std::string &garbage : {std::string(300, '\0'), std::string(300, '\0') + "\n",
                                       std::string("{\"seq\":1,\"t\":2}\n")}) {
        TemporaryFolder copy;
        writeAll(copy.path() / "session.jsonl", whole + garbage);
        const auto contents = readLog(copy.path());
        ASSERT_TRUE(contents) << contents.error().message;
        EXPECT_EQ(contents->events.size(), 1u);
        EXPECT_NE(contents->problem.find("line 3"), std::string::npos) << contents->problem;
        ASSERT_TRUE(Log::open(copy.path()));
        EXPECT_EQ(readAll(copy.path() / "session.jsonl"), whole);
    }
}

TEST(Log, ABrokenMiddleLineIsNamed) {
    TemporaryFolder folder;
    makeLog(folder.path(), {"one", "two", "three", "four"});
    const std::string whole = readAll(folder.path() / "session.jsonl");
    const std::size_t at = whole.find("two");
    for (const std::string &with :
         {std::string("t\"o"), std::string("t\0o", 3), std::string("t\no")}) {
        std::string broken = whole;
        broken.replace(at, 3, with);
        writeAll(folder.path() / "session.jsonl", broken);
        const auto contents = readLog(folder.path());
        ASSERT_FALSE(contents);
        EXPECT_EQ(contents.error().kind, ErrorKind::request);
        EXPECT_NE(contents.error().message.find("session.jsonl:3:"), std::string::npos)
            << contents.error().message;
        EXPECT_FALSE(Log::open(folder.path())); // nothing is appended to a broken log
        EXPECT_EQ(readAll(folder.path() / "session.jsonl"), broken);
    }
    std::string missing = whole; // the second event is gone
    const std::size_t begin = missing.rfind('\n', at) + 1;
    missing.erase(begin, missing.find('\n', at) + 1 - begin);
    writeAll(folder.path() / "session.jsonl", missing);
    const auto contents = readLog(folder.path());
    ASSERT_FALSE(contents);
    EXPECT_NE(contents.error().message.find(":3:"), std::string::npos) << contents.error().message;
}

TEST(Log, RefusesToAppendToAShortenedFile) {
    TemporaryFolder folder;
    auto log = Log::create(folder.path());
    ASSERT_TRUE(log);
    ASSERT_TRUE(log->append(EventType::note, 0, {{"text", "one"}}));
    std::filesystem::resize_file(folder.path() / "session.jsonl", 20);
    const auto event = log->append(EventType::note, 0, {{"text", "two"}});
    ASSERT_FALSE(event);
    EXPECT_EQ(event.error().kind, ErrorKind::machine);
    EXPECT_EQ(std::filesystem::file_size(folder.path() / "session.jsonl"), 20u);
}

TEST(Blob, IsStoredOnceUnderItsHash) {
    TemporaryFolder folder;
    auto log = Log::create(folder.path());
    ASSERT_TRUE(log);
    const std::string bytes("kernel\0text\xff", 12);
    const auto name = log->putBlob(bytes);
    ASSERT_TRUE(name) << name.error().message;
    EXPECT_EQ(name->size(), 64u);
    const auto path = folder.path() / "blobs" / *name;
    const auto written = std::filesystem::last_write_time(path) - std::chrono::hours(1);
    std::filesystem::last_write_time(path, written);
    EXPECT_EQ(*log->putBlob(bytes), *name);
    EXPECT_EQ(std::filesystem::last_write_time(path), written); // not written again
    EXPECT_EQ(*readBlob(folder.path(), *name), bytes);
    EXPECT_EQ(*readBlob(folder.path(), *log->putBlob("")), "");
    std::size_t files = 0;
    for ([[maybe_unused]] const auto &entry :
         std::filesystem::directory_iterator(folder.path() / "blobs"))
        ++files;
    EXPECT_EQ(files, 2u); // no temporary files left
}

TEST(Blob, ReadChecksNameAndContent) {
    TemporaryFolder folder;
    auto log = Log::create(folder.path());
    ASSERT_TRUE(log);
    const std::string name = *log->putBlob("content");
    for (const std::string &bad : {std::string("../session.jsonl"), std::string(), name.substr(1),
                                   name + "0", std::string(64, 'G'), std::string(63, 'a') + "/"}) {
        const auto blob = readBlob(folder.path(), bad);
        ASSERT_FALSE(blob) << bad;
        EXPECT_EQ(blob.error().kind, ErrorKind::request);
    }
    EXPECT_FALSE(readBlob(folder.path(), std::string(64, '0')));
    writeAll(folder.path() / "blobs" / name, "changed");
    const auto changed = readBlob(folder.path(), name);
    ASSERT_FALSE(changed);
    EXPECT_NE(changed.error().message.find("damaged"), std::string::npos);
    writeAll(folder.path() / "blobs" / name, ""); // emptied by a power cut
    EXPECT_EQ(*log->putBlob("content"), name);    // heals it
    EXPECT_EQ(*readBlob(folder.path(), name), "content");
}

} // namespace
} // namespace cuda_agent::session
