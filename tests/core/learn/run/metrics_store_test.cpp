// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/run/metrics_store.h"
#include "tests/core/learn/run/event_bytes.h"
#include "tests/core/session/temporary_folder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

namespace cuda_agent::learn {
namespace {

using namespace event_bytes;
using session::TemporaryFolder;

void write(const TemporaryFolder &dir, const char *name, const std::string &text,
           std::ios::openmode mode = std::ios::trunc) {
    std::ofstream(dir.path() / name, std::ios::binary | mode) << text;
}

MetricsStore storeOf(const TemporaryFolder &dir) {
    return MetricsStore(dir.path());
}

using Numbers = std::vector<double>;

TEST(MetricsStore, Purge) {
    const TemporaryFolder dir;
    std::string text = version();
    for (int step = 0; step < 10; ++step)
        text += eventOf(step, step, summary(simple("a", static_cast<float>(step))));
    text += eventOf(20, 6, bytes(7, number(1, 1))); // SessionLog START at 6
    text += eventOf(21, 8, summary(simple("a", 80)));
    write(dir, "events.out.tfevents.1.host", text);
    MetricsStore store = storeOf(dir);
    store.read();
    ASSERT_EQ(store.metrics().at("a").step, (Numbers{0, 1, 2, 3, 4, 5, 8}));
    ASSERT_EQ(store.metrics().at("a").value.back(), 80.0);
}

TEST(MetricsStore, Lines) {
    const TemporaryFolder dir;
    write(dir, "metrics.jsonl",
          "{\"step\": 1, \"time\": 100.5, \"samples\": 64, \"loss\": 1.5, \"phase\": \"warm\"}\n"
          "\n"
          "{\"step\": 2, \"time\": 101, \"loss\": 1.25, \"reward/mean\": 0.5, \"ok\": true}\n");
    MetricsStore store = storeOf(dir);
    const MetricsStore::Change change = store.read();
    ASSERT_TRUE(!change.more && !change.restarted);
    ASSERT_EQ(change.metrics, (std::vector<std::string>{"loss", "ok", "reward/mean"}));
    const MetricSeries &loss = store.metrics().at("loss");
    ASSERT_EQ(loss.step, (Numbers{1, 2}));
    ASSERT_EQ(loss.time, (Numbers{100.5, 101}));
    ASSERT_EQ(loss.value, (Numbers{1.5, 1.25}));
    ASSERT_EQ(loss.samples[0], 64.0);
    ASSERT_TRUE(std::isnan(loss.samples[1]));
    ASSERT_EQ(store.metrics().at("ok").value, (Numbers{1}));
    ASSERT_EQ(store.lastStep(), 2.0);
    ASSERT_EQ(store.firstTime(), 100.5);
    ASSERT_EQ(store.lastTime(), 101.0);
    ASSERT_EQ(store.lastSamples(), 64.0);
    ASSERT_EQ(store.badCount(), 0u);
    ASSERT_TRUE(store.lastWrite() > 1e9);
    ASSERT_TRUE(!store.read().any());
}

TEST(MetricsStore, Growth) {
    const TemporaryFolder dir;
    MetricsStore store = storeOf(dir);
    ASSERT_TRUE(!store.read().any());
    ASSERT_TRUE(!store.hasFiles());
    // Byte by byte, read after each: every line arrives once, torn ones wait.
    std::string text;
    for (int step = 0; step < 6; ++step)
        text += "{\"step\": " + std::to_string(step) + ", \"loss\": " + std::to_string(step * 2) +
                "}\n";
    for (const char c : text) {
        write(dir, "metrics.jsonl", std::string(1, c), std::ios::app);
        ASSERT_TRUE(!store.read().restarted);
    }
    ASSERT_EQ(store.metrics().at("loss").step, (Numbers{0, 1, 2, 3, 4, 5}));
    ASSERT_EQ(store.metrics().at("loss").value, (Numbers{0, 2, 4, 6, 8, 10}));
    ASSERT_EQ(store.badCount(), 0u);
    // A last line without its end counts as soon as it is whole, and once.
    write(dir, "metrics.jsonl", "{\"step\": 6, \"loss\": 12}", std::ios::app);
    ASSERT_TRUE(store.read().any());
    write(dir, "metrics.jsonl", "\nnonsense\n", std::ios::app);
    store.read();
    ASSERT_EQ(store.metrics().at("loss").value.size(), 7u);
    ASSERT_EQ(store.badCount(), 1u);
    ASSERT_TRUE(store.problems().at(0).find("line 8 ") != std::string::npos);
    // A small limit: in several calls, to the same end.
    MetricsStore slow = storeOf(dir);
    int calls = 1;
    while (slow.read(16).more)
        ++calls;
    ASSERT_TRUE(calls > 5);
    ASSERT_EQ(slow.metrics().at("loss").value, store.metrics().at("loss").value);
}

TEST(MetricsStore, BadLines) {
    const TemporaryFolder dir;
    write(dir, "metrics.jsonl",
          "{\"step\": 1, \"a\": 1}\nnot json\n[1]\n{\"a\": 2}\n{\"step\": \"x\", \"a\": "
          "3}\n\xff\xfe\n"
          "{\"step\": 2, \"a\": {\"b\": 1}, \"\": 3}\n{\"step\": 3, \"a\": 3}\n");
    MetricsStore store = storeOf(dir);
    store.read();
    ASSERT_EQ(store.metrics().at("a").step, (Numbers{1, 3}));
    ASSERT_EQ(store.metrics().size(), 1u);
    ASSERT_EQ(store.badCount(), 5u);
    ASSERT_EQ(store.problems().size(), 5u);
    ASSERT_TRUE(store.problems()[0].starts_with("metrics.jsonl: line 2 "));
    ASSERT_TRUE(store.problems()[4].starts_with("metrics.jsonl: line 6 "));
    // A line without an end is not kept whole in memory, and what follows it is read.
    write(dir, "metrics.jsonl", std::string(17u << 20, 'x') + "\n{\"step\": 4, \"a\": 4}\n",
          std::ios::app);
    while (store.read().more) {
    }
    ASSERT_EQ(store.metrics().at("a").step, (Numbers{1, 3, 4}));
    ASSERT_EQ(store.badCount(), 6u);
}

TEST(MetricsStore, NonFinite) {
    const TemporaryFolder dir;
    write(dir, "metrics.jsonl",
          "{\"step\": 1, \"a\": null}\n{\"step\": 2, \"a\": \"NaN\"}\n{\"step\": 3, \"a\": "
          "\"Infinity\"}\n"
          "{\"step\": 4, \"a\": \"-Infinity\"}\n{\"step\": 5, \"a\": NaN, \"text NaN\": 1}\n"
          "{\"step\": 6, \"a\": -Infinity}\n{\"step\": 7, \"a\": 2}\n{\"step\": 8, \"a\": "
          "\"words\"}\n");
    MetricsStore store = storeOf(dir);
    store.read();
    const MetricSeries &a = store.metrics().at("a");
    ASSERT_EQ(a.step, (Numbers{1, 2, 3, 4, 5, 6, 7}));
    ASSERT_TRUE(std::isnan(a.value[0]) && std::isnan(a.value[1]) && std::isnan(a.value[4]));
    ASSERT_EQ(a.value[2], static_cast<double>(INFINITY));
    ASSERT_EQ(a.value[3], -static_cast<double>(INFINITY));
    ASSERT_EQ(a.value[5], -static_cast<double>(INFINITY));
    ASSERT_EQ(a.nonFinite, 6u);
    ASSERT_EQ(store.metrics().at("text NaN").value, (Numbers{1}));
    ASSERT_EQ(store.badCount(), 0u);
}

TEST(MetricsStore, Resumed) {
    const TemporaryFolder dir;
    write(dir, "metrics.jsonl",
          "{\"step\": 1, \"a\": 1, \"b\": 1}\n{\"step\": 2, \"a\": \"NaN\"}\n{\"step\": 3, \"a\": "
          "3, \"b\": 3}\n"
          "{\"step\": 2, \"a\": 20}\n{\"step\": 2, \"a\": 21}\n");
    MetricsStore store = storeOf(dir);
    store.read();
    ASSERT_EQ(store.metrics().at("a").step, (Numbers{1, 2, 2}));
    ASSERT_EQ(store.metrics().at("a").value, (Numbers{1, 20, 21}));
    ASSERT_EQ(store.metrics().at("a").nonFinite, 0u);
    ASSERT_EQ(store.metrics().at("b").step, (Numbers{1, 3}));
    ASSERT_EQ(store.lastStep(), 2.0);
}

TEST(MetricsStore, Rewritten) {
    const TemporaryFolder dir;
    const std::string first = "{\"step\": 1, \"a\": 1}\n{\"step\": 2, \"a\": 2}\n";
    write(dir, "metrics.jsonl", first);
    MetricsStore store = storeOf(dir);
    store.read();
    // Shorter.
    write(dir, "metrics.jsonl", "{\"step\": 1, \"b\": 1}\n");
    MetricsStore::Change change = store.read();
    ASSERT_TRUE(change.restarted);
    ASSERT_EQ(store.metrics().size(), 1u);
    ASSERT_EQ(store.metrics().at("b").value, (Numbers{1}));
    // Longer, with another content.
    write(dir, "metrics.jsonl", first + first);
    ASSERT_TRUE(store.read().restarted);
    ASSERT_EQ(store.metrics().count("b"), 0u);
    // As long as before, replaced by renaming.
    std::string other = first + first;
    other[other.size() - 3] = '9';
    write(dir, "new", other);
    std::filesystem::remove((dir.path() / "metrics.jsonl"));
    std::filesystem::rename((dir.path() / "new"), (dir.path() / "metrics.jsonl"));
    ASSERT_TRUE(store.read().restarted);
    ASSERT_EQ(store.metrics().at("a").value.back(), 9.0);
    // Gone, and back.
    std::filesystem::remove((dir.path() / "metrics.jsonl"));
    ASSERT_TRUE(store.read().restarted);
    ASSERT_TRUE(store.metrics().empty() && !store.hasFiles());
    write(dir, "metrics.jsonl", first);
    ASSERT_TRUE(store.read().any());
    ASSERT_EQ(store.metrics().at("a").value, (Numbers{1, 2}));
}

TEST(MetricsStore, BothSources) {
    const TemporaryFolder dir;
    write(dir, "events.out.tfevents.1.host",
          version() + eventOf(1, 1, summary(simple("a", 100) + simple("only", 5))));
    MetricsStore store = storeOf(dir);
    store.read();
    ASSERT_EQ(store.metrics().at("a").value, (Numbers{100}));
    write(dir, "metrics.jsonl", "{\"step\": 1, \"a\": 1}\n");
    store.read();
    write(dir, "events.out.tfevents.1.host", eventOf(2, 2, summary(simple("a", 200))),
          std::ios::app);
    store.read();
    ASSERT_EQ(store.metrics().at("a").value, (Numbers{1}));
    ASSERT_EQ(store.metrics().at("only").value, (Numbers{5}));
}

TEST(MetricsStore, SeveralEventFiles) {
    const TemporaryFolder dir;
    std::string first = version(), second = version();
    for (int step = 0; step < 6; ++step)
        first += eventOf(step, step, summary(simple("a", 1)));
    for (int step = 4; step < 8; ++step)
        second += eventOf(10 + step, step, summary(simple("a", 2)));
    write(dir, "events.out.tfevents.1700000000.host.1.0", first);
    write(dir, "events.out.tfevents.1700000500.host.2.0", second);
    MetricsStore store = storeOf(dir);
    store.read();
    ASSERT_EQ(store.metrics().at("a").step, (Numbers{0, 1, 2, 3, 4, 5, 6, 7}));
    ASSERT_EQ(store.metrics().at("a").value, (Numbers{1, 1, 1, 1, 2, 2, 2, 2}));
    // The older process writes on: the newer one is right.
    write(dir, "events.out.tfevents.1700000000.host.1.0", eventOf(30, 2, summary(simple("a", 9))),
          std::ios::app);
    store.read();
    ASSERT_EQ(store.metrics().at("a").step.size(), 8u);
    // Torn, then damaged: said, and nothing lost.
    write(dir, "events.out.tfevents.1700000500.host.2.0", std::string(20, 'x'), std::ios::app);
    store.read();
    ASSERT_EQ(store.metrics().at("a").step.size(), 8u);
    ASSERT_EQ(store.badCount(), 1u);
    ASSERT_TRUE(store.problems().at(0).find("is damaged from byte") != std::string::npos);
}

TEST(MetricsStore, FindsRuns) {
    const TemporaryFolder dir;
    for (const char *name : {"sweep/b", "sweep/a", ".hidden/x", "empty"})
        std::filesystem::create_directories(dir.path() / name);
    write(dir, "sweep/a/metrics.jsonl", "");
    write(dir, "sweep/b/events.out.tfevents.1.h", "");
    write(dir, ".hidden/x/metrics.jsonl", "");
    std::filesystem::create_directory_symlink(dir.path(), dir.path() / "empty/loop");
    const std::filesystem::path base = dir.path();
    ASSERT_TRUE(findRunFolders(base) ==
                (std::vector<std::filesystem::path>{base / "sweep/a", base / "sweep/b"}));
    ASSERT_TRUE(findRunFolders(base / "sweep/a").size() == 1);
    ASSERT_TRUE(findRunFolders(base / "nothing").empty());
}

} // namespace
} // namespace cuda_agent::learn
