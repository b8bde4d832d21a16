// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/chrome_trace.h"

#include "core/session/log.h"
#include "temporary_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

namespace cuda_agent::session {
namespace {

constexpr double epoch = 1.76e9;

/// Events as a log would hold them, at seconds after the first.
class Story {
  public:
    Story &at(double seconds) {
        seconds_ = seconds;
        return *this;
    }
    Story &add(EventType type, int turn = 0, Json data = Json::object()) {
        events_.push_back({static_cast<std::int64_t>(events_.size()), epoch + seconds_, type, turn,
                           std::move(data)});
        return *this;
    }
    Story &call(int turn, const char *id, const char *tool) {
        return add(EventType::action, turn,
                   {{"id", id}, {"tool", tool}, {"arguments", {{"path", "plan.json"}}}});
    }
    Story &answer(int turn, const char *id, Json data = Json::object()) {
        return add(EventType::observation, turn,
                   {{"id", id}, {"ok", true}, {"data", std::move(data)}});
    }
    const std::vector<Event> &events() const { return events_; }

  private:
    double seconds_ = 0;
    std::vector<Event> events_;
};

/// A trace read back as a viewer reads it.
struct Span {
    std::string track, name;
    double begin = 0, end = 0;
    Json arguments;
    int process = 0;
};
struct Read {
    std::vector<Span> spans;
    std::vector<std::pair<double, double>> counts; ///< time, value
    std::map<std::pair<int, int>, std::string> tracks;
    std::map<int, std::string> processes;
    int marks = 0;

    const Span &only(const std::string &name) const {
        const Span *found = nullptr;
        for (const auto &span : spans)
            if (span.name == name) {
                EXPECT_EQ(found, nullptr) << "two spans " << name;
                found = &span;
            }
        EXPECT_NE(found, nullptr) << "no span " << name;
        static const Span none;
        return found ? *found : none;
    }
    int count(const std::string &name) const {
        int number = 0;
        for (const auto &span : spans)
            number += span.name == name;
        return number;
    }
};

/// Checks what the Trace Event Format asks of every event, and that spans of a track nest.
Read readBack(const Json &trace) {
    // As a file has it.
    const auto json = Json::parse(trace.dump());
    Read read;
    for (const auto &event : json.at("traceEvents")) {
        const auto kind = event.at("ph").get<std::string>();
        const int process = event.at("pid").get<int>();
        if (kind == "M") {
            if (event.at("name") == "process_name")
                read.processes[process] = event.at("args").at("name").get<std::string>();
            if (event.at("name") == "thread_name")
                read.tracks[{process, event.at("tid").get<int>()}] =
                    event.at("args").at("name").get<std::string>();
            continue;
        }
        EXPECT_TRUE(event.at("ts").is_number()) << event;
        EXPECT_GE(event.at("ts").get<double>(), 0) << event;
        EXPECT_TRUE(event.at("name").is_string());
        EXPECT_TRUE(event.at("args").is_object());
    }
    for (const auto &event : json.at("traceEvents")) {
        const auto kind = event.at("ph").get<std::string>();
        if (kind == "C")
            read.counts.emplace_back(event.at("ts").get<double>(),
                                     event.at("args").begin()->get<double>());
        if (kind == "i")
            ++read.marks;
        if (kind != "X")
            continue;
        const std::pair place{event.at("pid").get<int>(), event.at("tid").get<int>()};
        EXPECT_TRUE(read.tracks.contains(place)) << "a track without a name";
        const double begin = event.at("ts").get<double>();
        EXPECT_GE(event.at("dur").get<double>(), 0);
        read.spans.push_back({read.tracks[place], event.at("name").get<std::string>(), begin,
                              begin + event.at("dur").get<double>(), event.at("args"),
                              place.first});
    }
    for (const auto &one : read.spans)
        for (const auto &other : read.spans) {
            if (&one == &other || one.track != other.track || one.process != other.process)
                continue;
            // Half a nanosecond of rounding.
            const bool apart = one.end <= other.begin + 5e-4 || other.end <= one.begin + 5e-4;
            const bool inside = one.begin >= other.begin - 5e-4 && one.end <= other.end + 5e-4;
            const bool around = other.begin >= one.begin - 5e-4 && other.end <= one.end + 5e-4;
            EXPECT_TRUE(apart || inside || around)
                << one.name << " and " << other.name << " of " << one.track << " cross";
        }
    return read;
}

Read traced(const Story &story) {
    const TraceSession session{"softmax", story.events()};
    return readBack(chromeTrace({&session, 1}));
}

Json verdict(double seconds) {
    return {{"verdict",
             {{"correct", true},
              {"strength", "full"},
              {"seconds", seconds},
              {"times", {{"candidate", {{"seconds", 2e-5}}}}},
              {"phases", {{"timing", 0.5}, {"compile", 0.25}, {"verification", 0.125}}}}}};
}

/// One turn of everything.
Story wholeStory() {
    return Story()
        .add(EventType::sessionStarted, 0,
             {{"policy", "planner"}, {"device", {{"name", "NVIDIA H200"}}}})
        .at(10)
        .add(EventType::taskDescribed)
        .add(EventType::baselinesMeasured)
        .at(11)
        .add(EventType::turnStarted, 1, {{"author", "policy"}})
        .add(EventType::thought, 1, {{"text", "fuse"}})
        .at(15)
        .add(EventType::modelAnswered, 1,
             {{"model", "coder"}, {"seconds", 3.5}, {"answer_tokens", 900}})
        .at(16)
        .call(1, "1a", "Write")
        .at(16.5)
        .add(EventType::fileWritten, 1)
        .answer(1, "1a")
        .call(1, "1b", "Verify")
        .at(18)
        .add(EventType::compiled, 1,
             {{"ok", true},
              {"seconds", 0.25},
              {"kernels", {{{"name", "softmax"}, {"registers", 40}}}}})
        .add(EventType::verdictGiven, 1, verdict(1))
        .answer(1, "1b")
        .at(19)
        .add(EventType::turnEnded, 1)
        .at(20)
        .add(EventType::sessionEnded, 0, {{"reason", "done"}, {"best_turn", 1}});
}

} // namespace

TEST(ChromeTrace, SpansAreWhereTheLogHasThem) {
    const auto read = traced(wholeStory());
    EXPECT_EQ(read.processes, (std::map<int, std::string>{{1, "softmax"}}));
    const auto check = [&](const char *name, const char *track, double begin, double end) {
        const auto &span = read.only(name);
        EXPECT_EQ(span.track, track) << name;
        EXPECT_NEAR(span.begin, begin * 1e6, 1) << name; // the log's clock has microseconds
        EXPECT_NEAR(span.end, end * 1e6, 1) << name;
        EXPECT_FALSE(span.arguments.contains("unfinished")) << name;
    };
    check("session", "session", 0, 20);
    check("preparation", "session", 0, 10);
    check("turn 1", "turns and tools", 11, 19);
    check("coder", "language model", 11.5, 15);
    check("Write", "turns and tools", 16, 16.5);
    check("Verify", "turns and tools", 16.5, 18);
    check("verdict", "verify and time", 17, 18);
    // The verdict began by compiling; its phases follow one another.
    check("verification", "verify and time", 17.25, 17.375);
    check("timing", "verify and time", 17.375, 17.875);
    EXPECT_EQ(read.count("compile"), 2); // on its own track, and as a phase
    for (const auto &span : read.spans)
        if (span.name == "compile") {
            EXPECT_NEAR(span.begin, 17e6, 1) << span.track;
            EXPECT_NEAR(span.end, 17.25e6, 1) << span.track;
        }
    EXPECT_EQ(read.only("Write").arguments["path"], "plan.json");
    EXPECT_EQ(read.only("coder").arguments["answer_tokens"], 900);
    EXPECT_EQ(read.only("session").arguments["reason"], "done");
    ASSERT_EQ(read.counts.size(), 1u);
    EXPECT_NEAR(read.counts[0].first, 18e6, 1);
    EXPECT_DOUBLE_EQ(read.counts[0].second, 20);
    EXPECT_EQ(read.marks, 1);
}

TEST(ChromeTrace, ACompileAloneEndsWhenItIsLogged) {
    const auto read = traced(Story()
                                 .add(EventType::turnStarted, 1)
                                 .call(1, "a", "Compile")
                                 .at(3)
                                 .add(EventType::compiled, 1, {{"ok", false}, {"seconds", 2}})
                                 .answer(1, "a")
                                 .at(9)
                                 .add(EventType::turnEnded, 1));
    EXPECT_NEAR(read.only("compile").begin, 1e6, 1);
    EXPECT_NEAR(read.only("compile").end, 3e6, 1);
}

TEST(ChromeTrace, ProfiledKernelsEndWithTheirCall) {
    const Json profile{{"launches",
                        {{{"name", "first"}, {"seconds", 1e-4}, {"gap_before", nullptr}},
                         {{"name", "second"}, {"seconds", 2e-4}, {"gap_before", 5e-5}}}}};
    const auto read = traced(Story()
                                 .add(EventType::turnStarted, 1)
                                 .call(1, "a", "Profile")
                                 .at(2)
                                 .answer(1, "a", {{"profile", profile}})
                                 .add(EventType::turnEnded, 1));
    EXPECT_EQ(read.only("first").track, "kernels");
    EXPECT_NEAR(read.only("first").begin, 2e6 - 350, 1);
    EXPECT_NEAR(read.only("first").end, 2e6 - 250, 1);
    EXPECT_NEAR(read.only("second").begin, 2e6 - 200, 1);
    EXPECT_NEAR(read.only("second").end, 2e6, 1);
}

TEST(ChromeTrace, WhatACrashCutOffIsUnfinished) {
    auto story = Story()
                     .add(EventType::sessionStarted)
                     .at(1)
                     .add(EventType::baselinesMeasured)
                     .at(2)
                     .add(EventType::turnStarted, 1)
                     .call(1, "a", "Verify")
                     .at(3)
                     .add(EventType::fileWritten, 1)
                     .at(100)
                     .add(EventType::note, 0, {{"text", "resumed after 0 turns"}})
                     .at(104)
                     .add(EventType::baselinesMeasured)
                     .at(105)
                     .add(EventType::turnStarted, 1)
                     .at(106)
                     .add(EventType::turnEnded, 1)
                     .at(107)
                     .add(EventType::sessionEnded);
    const auto read = traced(story);
    EXPECT_NEAR(read.only("session").end, 3e6, 1);
    EXPECT_EQ(read.only("session").arguments["unfinished"], true);
    EXPECT_NEAR(read.only("Verify").end, 3e6, 1);
    EXPECT_EQ(read.only("Verify").arguments["unfinished"], true);
    EXPECT_NEAR(read.only("resumed session").begin, 100e6, 1);
    EXPECT_NEAR(read.only("resumed session").end, 107e6, 1);
    EXPECT_EQ(read.count("preparation"), 2);
    EXPECT_EQ(read.count("turn 1"), 2);
    int unfinished = 0;
    for (const auto &span : read.spans)
        unfinished += span.name == "turn 1" && span.arguments.contains("unfinished");
    EXPECT_EQ(unfinished, 1);
}

TEST(ChromeTrace, AStoppedSessionThatIsResumedHasTwoRuns) {
    auto story = wholeStory();
    story.at(50)
        .add(EventType::note, 0, {{"text", "resumed after 1 turns"}})
        .at(51)
        .add(EventType::turnStarted, 2)
        .at(52)
        .add(EventType::turnEnded, 2);
    const auto read = traced(story);
    EXPECT_NEAR(read.only("session").end, 20e6, 1);
    // It still runs: nothing says that it ended.
    EXPECT_NEAR(read.only("resumed session").end, 52e6, 1);
    EXPECT_EQ(read.only("resumed session").arguments["unfinished"], true);
    EXPECT_FALSE(read.only("turn 2").arguments.contains("unfinished"));
}

TEST(ChromeTrace, AClockThatIsSetBackStandsStill) {
    const auto read = traced(Story()
                                 .at(10)
                                 .add(EventType::sessionStarted)
                                 .at(20)
                                 .add(EventType::turnStarted, 1)
                                 .at(5)
                                 .call(1, "a", "Write")
                                 .at(6)
                                 .answer(1, "a")
                                 .at(21)
                                 .add(EventType::turnEnded, 1));
    EXPECT_NEAR(read.only("Write").begin, 10e6, 1);
    EXPECT_NEAR(read.only("Write").end, 10e6, 1);
    EXPECT_NEAR(read.only("turn 1").end, 11e6, 1);
}

TEST(ChromeTrace, SeveralAttemptsShareTheAxis) {
    const auto first = wholeStory();
    auto later = Story();
    for (const auto &event : first.events())
        later.at(event.time - epoch + 5).add(event.type, event.turn, event.data);
    const TraceSession sessions[] = {{"softmax, attempt 1", first.events()},
                                     {"softmax, attempt 2", later.events()}};
    const auto trace = chromeTrace(sessions);
    const auto read = readBack(trace);
    EXPECT_EQ(read.processes.size(), 2u);
    std::vector<double> begins;
    for (const auto &span : read.spans)
        if (span.name == "turn 1")
            begins.push_back(span.begin);
    ASSERT_EQ(begins.size(), 2u);
    EXPECT_NEAR(begins[1] - begins[0], 5e6, 1);
    EXPECT_EQ(trace["otherData"]["device"], "NVIDIA H200");
    EXPECT_DOUBLE_EQ(trace["otherData"]["start_seconds_since_epoch"].get<double>(), epoch);
}

TEST(ChromeTrace, OfALogOnTheDisk) {
    TemporaryFolder folder;
    {
        auto log = Log::create(folder.path());
        ASSERT_TRUE(log);
        ASSERT_TRUE(log->append(EventType::sessionStarted, 0, {{"policy", "planner"}}));
        ASSERT_TRUE(log->append(EventType::turnStarted, 1, Json::object()));
        ASSERT_TRUE(log->append(EventType::action, 1, {{"id", "a"}, {"tool", "Read"}}));
        ASSERT_TRUE(log->append(EventType::observation, 1, {{"id", "a"}, {"ok", false}}));
    }
    const auto contents = readLog(folder.path());
    ASSERT_TRUE(contents);
    const TraceSession session{"x", contents->events};
    const auto read = readBack(chromeTrace({&session, 1}));
    const auto &call = read.only("Read");
    EXPECT_EQ(call.arguments["ok"], false);
    EXPECT_NEAR(call.end - call.begin, 1e6 * (contents->events[3].time - contents->events[2].time),
                1);
}

TEST(ChromeTrace, NothingIsATraceToo) {
    EXPECT_TRUE(chromeTrace({})["traceEvents"].empty());
    EXPECT_TRUE(traced(Story()).spans.empty());
}

TEST(ChromeTrace, AnyPayloadIsSurvived) {
    const Json values[] = {nullptr,
                           -1,
                           1e308,
                           "text",
                           Json::array({1, "x", nullptr}),
                           Json::object(),
                           {{"seconds", -3}, {"phases", {{"timing", "x"}}}},
                           {{"launches", {1, {{"seconds", 1e300}}}}}};
    const char *fields[] = {"id",      "tool",    "arguments", "seconds", "verdict", "data",
                            "kernels", "profile", "text",      "model",   "phases",  "times"};
    std::mt19937 random(11);
    const auto pick = [&](std::size_t count) { return random() % count; };
    for (int round = 0; round < 300; ++round) {
        Story story;
        double time = 0;
        for (int i = 0; i < 40; ++i) {
            Json data = Json::object();
            for (int field = 0; field < 4; ++field)
                data[fields[pick(std::size(fields))]] = values[pick(std::size(values))];
            time += static_cast<double>(random() % 100) - 20;
            if (random() % 50 == 0)
                time = 1e300;
            story.at(time).add(static_cast<EventType>(pick(18)), static_cast<int>(pick(4)),
                               std::move(data));
        }
        traced(story); // its checks hold
    }
}

} // namespace cuda_agent::session
