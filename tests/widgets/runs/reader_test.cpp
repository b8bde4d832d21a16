// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/widgets/runs/event_bytes.h"
#include "widgets/runs/metrics_store.h"
#include "widgets/runs/smoothing.h"

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <fstream>
#include <random>

namespace cuda_agent::widgets {

/// The readers that know no Qt.
class ReaderTest : public QObject {
    Q_OBJECT
  private slots:
    void checksum();
    void scalars();
    void tensors();
    void tornRecord();
    void damagedRecords();
    void hostileBytes();
    void purge();
    void smoothingIsTheFormula();

    void lines();
    void growth();
    void badLines();
    void nonFinite();
    void resumed();
    void rewritten();
    void bothSources();
    void severalEventFiles();
    void realFile();
    void findsRuns();
};

namespace {

using namespace event_bytes;

void write(const QTemporaryDir &dir, const char *name, const std::string &text,
           std::ios::openmode mode = std::ios::trunc) {
    std::ofstream(dir.filePath(QLatin1String(name)).toStdString(), std::ios::binary | mode) << text;
}

MetricsStore storeOf(const QTemporaryDir &dir) {
    return MetricsStore(dir.path().toStdString());
}

EventBatch readAll(const std::string &text, EventFileReader &reader) {
    EventBatch batch;
    reader.feed(text, batch);
    return batch;
}

using Numbers = std::vector<double>;

} // namespace

void ReaderTest::checksum() {
    // RFC 3720, B.4: 32 bytes of zeros; the other is the usual check value of CRC-32C.
    QCOMPARE(crc32c(std::string(32, '\0')), 0x8a9136aau);
    QCOMPARE(crc32c("123456789"), 0xe3069283u);
    // tensorflow/core/lib/hash/crc32c_test.cc: the mask is rot15 + constant.
    QCOMPARE(maskedCrc32c("123456789"), ((0xe3069283u >> 15) | (0xe3069283u << 17)) + 0xa282ead8u);
}

void ReaderTest::scalars() {
    EventFileReader reader;
    const EventBatch batch = readAll(
        version() + eventOf(100.5, 3, summary(simple("loss", 1.5f) + simple("reward/mean", -2))) +
            eventOf(101, 1LL << 40, summary(simple("loss", 0.25f))),
        reader);
    QCOMPARE(batch.scalars.size(), 3u);
    QCOMPARE(batch.scalars[0].tag, std::string("loss"));
    QCOMPARE(batch.scalars[0].step, 3.0);
    QCOMPARE(batch.scalars[0].time, 100.5);
    QCOMPARE(batch.scalars[0].value, 1.5);
    QCOMPARE(batch.scalars[1].tag, std::string("reward/mean"));
    QCOMPARE(batch.scalars[1].value, -2.0);
    QCOMPARE(batch.scalars[2].step, std::ldexp(1, 40));
    QCOMPARE(reader.badRecords(), 0u);
    QCOMPARE(reader.pending(), 0u);
}

void ReaderTest::tensors() {
    const auto content = [](int type, const std::string &raw) {
        return number(1, static_cast<std::uint64_t>(type)) + bytes(2, "") + bytes(4, raw);
    };
    const auto shape = [](std::uint64_t size) { return bytes(2, bytes(2, number(1, size))); };
    const std::string values =
        tensor("float", content(1, little(std::bit_cast<std::uint32_t>(0.5f), 4))) +
        tensor("double", content(2, little(std::bit_cast<std::uint64_t>(0.1), 8))) +
        tensor("half", content(19, little(0x3e00, 2))) +
        tensor("bfloat", content(14, little(0xc040, 2))) +
        tensor("int8", content(6, little(0xfe, 1))) +
        tensor("int64", content(9, little(~0ull, 8))) +
        tensor("list", number(1, 1) + bytes(5, little(std::bit_cast<std::uint32_t>(4.f), 4))) +
        tensor("packed int", number(1, 3) + bytes(7, varint(7))) +
        tensor("one of one", number(1, 1) + shape(1) + fixed32(5, 9)) +
        tensor("zero", number(1, 1)) +
        // no scalars:
        tensor("vector", number(1, 1) + shape(2) + bytes(4, std::string(8, 'x'))) +
        tensor("text", number(1, 7) + bytes(8, "words")) +
        tensor("hparams", content(1, little(0, 4)), "hparams") +
        bytes(1, bytes(1, "histogram") + bytes(5, fixed64(1, 3)));
    EventFileReader reader;
    const EventBatch batch = readAll(eventOf(1, 1, summary(values)), reader);
    std::map<std::string, double> got;
    for (const EventScalar &scalar : batch.scalars)
        got[scalar.tag] = scalar.value;
    const std::map<std::string, double> expected{
        {"float", 0.5}, {"double", 0.1}, {"half", 1.5},     {"bfloat", -3},    {"int8", -2},
        {"int64", -1},  {"list", 4},     {"packed int", 7}, {"one of one", 9}, {"zero", 0}};
    QVERIFY(got == expected);
    QCOMPARE(reader.badRecords(), 0u);
}

void ReaderTest::tornRecord() {
    const std::string text =
        version() + eventOf(1, 1, summary(simple("a", 1))) + eventOf(2, 2, summary(simple("a", 2)));
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        EventFileReader reader;
        EventBatch batch;
        reader.feed(text.substr(0, cut), batch);
        reader.feed(text.substr(cut), batch);
        QCOMPARE(batch.scalars.size(), 2u);
        QCOMPARE(reader.badRecords(), 0u);
        QVERIFY(!reader.broken());
    }
}

void ReaderTest::damagedRecords() {
    const std::string first = eventOf(1, 1, summary(simple("a", 1)));
    const std::string last = eventOf(3, 3, summary(simple("a", 3)));
    std::string data = eventOf(2, 2, summary(simple("a", 2)));
    data[14] = static_cast<char>(data[14] ^ 1);
    EventFileReader reader;
    QCOMPARE(readAll(first + data + last, reader).scalars.size(), 2u);
    QCOMPARE(reader.badRecords(), 1u);
    QVERIFY(!reader.broken());

    std::string length = eventOf(2, 2, summary(simple("a", 2)));
    length[0] = static_cast<char>(length[0] ^ 1);
    EventFileReader other;
    QCOMPARE(readAll(first + length + last, other).scalars.size(), 1u);
    QVERIFY(other.broken());
    QCOMPARE(other.position(), first.size());

    // Longer than any scalar's event: passed over without being kept.
    EventFileReader third;
    const EventBatch batch = readAll(record(std::string(5u << 20, 'i')) + last, third);
    QCOMPARE(batch.scalars.size(), 1u);
    QCOMPARE(third.pending(), 0u);
}

void ReaderTest::hostileBytes() {
    // Well-framed records of noise and of mutilated events: never more than a bad record.
    std::mt19937 random(7);
    const std::string good = eventOf(
        1, 1,
        summary(simple("a", 1) +
                tensor("b", number(1, 1) + bytes(2, bytes(2, number(1, 1))) + fixed32(5, 2))));
    const std::string data = good.substr(12, good.size() - 16);
    std::size_t bad = 0;
    for (int i = 0; i < 20000; ++i) {
        std::string mutilated = data;
        for (int k = 0; k < 1 + i % 4; ++k)
            mutilated[random() % mutilated.size()] = static_cast<char>(random());
        mutilated.resize(i % 3 == 0 ? random() % (mutilated.size() + 1) : mutilated.size());
        EventFileReader reader;
        readAll(record(mutilated) + good, reader);
        QVERIFY(!reader.broken());
        bad += reader.badRecords();
    }
    QVERIFY(bad > 1000);
}

void ReaderTest::purge() {
    QTemporaryDir dir;
    std::string text = version();
    for (int step = 0; step < 10; ++step)
        text += eventOf(step, step, summary(simple("a", static_cast<float>(step))));
    text += eventOf(20, 6, bytes(7, number(1, 1))); // SessionLog START at 6
    text += eventOf(21, 8, summary(simple("a", 80)));
    write(dir, "events.out.tfevents.1.host", text);
    MetricsStore store = storeOf(dir);
    store.read();
    QCOMPARE(store.metrics().at("a").step, (Numbers{0, 1, 2, 3, 4, 5, 8}));
    QCOMPARE(store.metrics().at("a").value.back(), 80.0);
}

void ReaderTest::smoothingIsTheFormula() {
    const double nan = std::nan("");
    const Numbers values{3, -1, nan, 4, 10, INFINITY, 5};
    for (const double w : {0.0, 0.3, 0.9, 0.999}) {
        const Numbers got = smoothed(values, w);
        QCOMPARE(got.size(), values.size());
        // s = (1 - w) sum w^(n-i) v_i / (1 - w^n) over the finite values so far, written out.
        Numbers finite;
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
    for (const double value : smoothed(Numbers(1000, 2.5), 0.999))
        QVERIFY(std::abs(value - 2.5) < 1e-9);
}

void ReaderTest::lines() {
    QTemporaryDir dir;
    write(dir, "metrics.jsonl",
          "{\"step\": 1, \"time\": 100.5, \"samples\": 64, \"loss\": 1.5, \"phase\": \"warm\"}\n"
          "\n"
          "{\"step\": 2, \"time\": 101, \"loss\": 1.25, \"reward/mean\": 0.5, \"ok\": true}\n");
    MetricsStore store = storeOf(dir);
    const MetricsStore::Change change = store.read();
    QVERIFY(!change.more && !change.restarted);
    QCOMPARE(change.metrics, (std::vector<std::string>{"loss", "ok", "reward/mean"}));
    const MetricColumn &loss = store.metrics().at("loss");
    QCOMPARE(loss.step, (Numbers{1, 2}));
    QCOMPARE(loss.time, (Numbers{100.5, 101}));
    QCOMPARE(loss.value, (Numbers{1.5, 1.25}));
    QCOMPARE(loss.samples[0], 64.0);
    QVERIFY(std::isnan(loss.samples[1]));
    QCOMPARE(store.metrics().at("ok").value, (Numbers{1}));
    QCOMPARE(store.lastStep(), 2.0);
    QCOMPARE(store.firstTime(), 100.5);
    QCOMPARE(store.lastTime(), 101.0);
    QCOMPARE(store.lastSamples(), 64.0);
    QCOMPARE(store.badCount(), 0u);
    QVERIFY(store.lastWrite() > 1e9);
    QVERIFY(!store.read().any());
}

void ReaderTest::growth() {
    QTemporaryDir dir;
    MetricsStore store = storeOf(dir);
    QVERIFY(!store.read().any());
    QVERIFY(!store.hasFiles());
    // Byte by byte, read after each: every line arrives once, torn ones wait.
    std::string text;
    for (int step = 0; step < 6; ++step)
        text += "{\"step\": " + std::to_string(step) + ", \"loss\": " + std::to_string(step * 2) +
                "}\n";
    for (const char c : text) {
        write(dir, "metrics.jsonl", std::string(1, c), std::ios::app);
        QVERIFY(!store.read().restarted);
    }
    QCOMPARE(store.metrics().at("loss").step, (Numbers{0, 1, 2, 3, 4, 5}));
    QCOMPARE(store.metrics().at("loss").value, (Numbers{0, 2, 4, 6, 8, 10}));
    QCOMPARE(store.badCount(), 0u);
    // A last line without its end counts as soon as it is whole, and once.
    write(dir, "metrics.jsonl", "{\"step\": 6, \"loss\": 12}", std::ios::app);
    QVERIFY(store.read().any());
    write(dir, "metrics.jsonl", "\nnonsense\n", std::ios::app);
    store.read();
    QCOMPARE(store.metrics().at("loss").value.size(), 7u);
    QCOMPARE(store.badCount(), 1u);
    QVERIFY(store.problems().at(0).find("line 8 ") != std::string::npos);
    // A small limit: in several calls, to the same end.
    MetricsStore slow = storeOf(dir);
    int calls = 1;
    while (slow.read(16).more)
        ++calls;
    QVERIFY(calls > 5);
    QCOMPARE(slow.metrics().at("loss").value, store.metrics().at("loss").value);
}

void ReaderTest::badLines() {
    QTemporaryDir dir;
    write(dir, "metrics.jsonl",
          "{\"step\": 1, \"a\": 1}\nnot json\n[1]\n{\"a\": 2}\n{\"step\": \"x\", \"a\": "
          "3}\n\xff\xfe\n"
          "{\"step\": 2, \"a\": {\"b\": 1}, \"\": 3}\n{\"step\": 3, \"a\": 3}\n");
    MetricsStore store = storeOf(dir);
    store.read();
    QCOMPARE(store.metrics().at("a").step, (Numbers{1, 3}));
    QCOMPARE(store.metrics().size(), 1u);
    QCOMPARE(store.badCount(), 5u);
    QCOMPARE(store.problems().size(), 5u);
    QVERIFY(store.problems()[0].starts_with("metrics.jsonl: line 2 "));
    QVERIFY(store.problems()[4].starts_with("metrics.jsonl: line 6 "));
    // A line without an end is not kept whole in memory, and what follows it is read.
    write(dir, "metrics.jsonl", std::string(17u << 20, 'x') + "\n{\"step\": 4, \"a\": 4}\n",
          std::ios::app);
    while (store.read().more) {
    }
    QCOMPARE(store.metrics().at("a").step, (Numbers{1, 3, 4}));
    QCOMPARE(store.badCount(), 6u);
}

void ReaderTest::nonFinite() {
    QTemporaryDir dir;
    write(dir, "metrics.jsonl",
          "{\"step\": 1, \"a\": null}\n{\"step\": 2, \"a\": \"NaN\"}\n{\"step\": 3, \"a\": "
          "\"Infinity\"}\n"
          "{\"step\": 4, \"a\": \"-Infinity\"}\n{\"step\": 5, \"a\": NaN, \"text NaN\": 1}\n"
          "{\"step\": 6, \"a\": -Infinity}\n{\"step\": 7, \"a\": 2}\n{\"step\": 8, \"a\": "
          "\"words\"}\n");
    MetricsStore store = storeOf(dir);
    store.read();
    const MetricColumn &a = store.metrics().at("a");
    QCOMPARE(a.step, (Numbers{1, 2, 3, 4, 5, 6, 7}));
    QVERIFY(std::isnan(a.value[0]) && std::isnan(a.value[1]) && std::isnan(a.value[4]));
    QCOMPARE(a.value[2], static_cast<double>(INFINITY));
    QCOMPARE(a.value[3], -static_cast<double>(INFINITY));
    QCOMPARE(a.value[5], -static_cast<double>(INFINITY));
    QCOMPARE(a.nonFinite, 6u);
    QCOMPARE(store.metrics().at("text NaN").value, (Numbers{1}));
    QCOMPARE(store.badCount(), 0u);
}

void ReaderTest::resumed() {
    QTemporaryDir dir;
    write(dir, "metrics.jsonl",
          "{\"step\": 1, \"a\": 1, \"b\": 1}\n{\"step\": 2, \"a\": \"NaN\"}\n{\"step\": 3, \"a\": "
          "3, \"b\": 3}\n"
          "{\"step\": 2, \"a\": 20}\n{\"step\": 2, \"a\": 21}\n");
    MetricsStore store = storeOf(dir);
    store.read();
    QCOMPARE(store.metrics().at("a").step, (Numbers{1, 2, 2}));
    QCOMPARE(store.metrics().at("a").value, (Numbers{1, 20, 21}));
    QCOMPARE(store.metrics().at("a").nonFinite, 0u);
    QCOMPARE(store.metrics().at("b").step, (Numbers{1, 3}));
    QCOMPARE(store.lastStep(), 2.0);
}

void ReaderTest::rewritten() {
    QTemporaryDir dir;
    const std::string first = "{\"step\": 1, \"a\": 1}\n{\"step\": 2, \"a\": 2}\n";
    write(dir, "metrics.jsonl", first);
    MetricsStore store = storeOf(dir);
    store.read();
    // Shorter.
    write(dir, "metrics.jsonl", "{\"step\": 1, \"b\": 1}\n");
    MetricsStore::Change change = store.read();
    QVERIFY(change.restarted);
    QCOMPARE(store.metrics().size(), 1u);
    QCOMPARE(store.metrics().at("b").value, (Numbers{1}));
    // Longer, with another content.
    write(dir, "metrics.jsonl", first + first);
    QVERIFY(store.read().restarted);
    QCOMPARE(store.metrics().count("b"), 0u);
    // As long as before, replaced by renaming.
    std::string other = first + first;
    other[other.size() - 3] = '9';
    write(dir, "new", other);
    QFile::remove(dir.filePath(QStringLiteral("metrics.jsonl")));
    QVERIFY(QFile::rename(dir.filePath(QStringLiteral("new")),
                          dir.filePath(QStringLiteral("metrics.jsonl"))));
    QVERIFY(store.read().restarted);
    QCOMPARE(store.metrics().at("a").value.back(), 9.0);
    // Gone, and back.
    QFile::remove(dir.filePath(QStringLiteral("metrics.jsonl")));
    QVERIFY(store.read().restarted);
    QVERIFY(store.metrics().empty() && !store.hasFiles());
    write(dir, "metrics.jsonl", first);
    QVERIFY(store.read().any());
    QCOMPARE(store.metrics().at("a").value, (Numbers{1, 2}));
}

void ReaderTest::bothSources() {
    QTemporaryDir dir;
    write(dir, "events.out.tfevents.1.host",
          version() + eventOf(1, 1, summary(simple("a", 100) + simple("only", 5))));
    MetricsStore store = storeOf(dir);
    store.read();
    QCOMPARE(store.metrics().at("a").value, (Numbers{100}));
    write(dir, "metrics.jsonl", "{\"step\": 1, \"a\": 1}\n");
    store.read();
    write(dir, "events.out.tfevents.1.host", eventOf(2, 2, summary(simple("a", 200))),
          std::ios::app);
    store.read();
    QCOMPARE(store.metrics().at("a").value, (Numbers{1}));
    QCOMPARE(store.metrics().at("only").value, (Numbers{5}));
}

void ReaderTest::severalEventFiles() {
    QTemporaryDir dir;
    std::string first = version(), second = version();
    for (int step = 0; step < 6; ++step)
        first += eventOf(step, step, summary(simple("a", 1)));
    for (int step = 4; step < 8; ++step)
        second += eventOf(10 + step, step, summary(simple("a", 2)));
    write(dir, "events.out.tfevents.1700000000.host.1.0", first);
    write(dir, "events.out.tfevents.1700000500.host.2.0", second);
    MetricsStore store = storeOf(dir);
    store.read();
    QCOMPARE(store.metrics().at("a").step, (Numbers{0, 1, 2, 3, 4, 5, 6, 7}));
    QCOMPARE(store.metrics().at("a").value, (Numbers{1, 1, 1, 1, 2, 2, 2, 2}));
    // The older process writes on: the newer one is right.
    write(dir, "events.out.tfevents.1700000000.host.1.0", eventOf(30, 2, summary(simple("a", 9))),
          std::ios::app);
    store.read();
    QCOMPARE(store.metrics().at("a").step.size(), 8u);
    // Torn, then damaged: said, and nothing lost.
    write(dir, "events.out.tfevents.1700000500.host.2.0", std::string(20, 'x'), std::ios::app);
    store.read();
    QCOMPARE(store.metrics().at("a").step.size(), 8u);
    QCOMPARE(store.badCount(), 1u);
    QVERIFY(store.problems().at(0).find("is damaged from byte") != std::string::npos);
}

/// By hand: CUDA_AGENT_TENSORBOARD_RUN names a folder that another writer made with the scalars
/// real/line = 0.5 step (0..99) and real/odd = NaN.
void ReaderTest::realFile() {
    const QByteArray folder = qgetenv("CUDA_AGENT_TENSORBOARD_RUN");
    if (folder.isEmpty())
        QSKIP("no run of another writer is named");
    MetricsStore store(folder.toStdString());
    store.read();
    QCOMPARE(store.badCount(), 0u);
    const MetricColumn &line = store.metrics().at("real/line");
    QCOMPARE(line.size(), 100u);
    for (std::size_t i = 0; i < 100; ++i) {
        QCOMPARE(line.step[i], static_cast<double>(i));
        QCOMPARE(line.value[i], 0.5 * static_cast<double>(i));
        QVERIFY(line.time[i] > 1.7e9);
    }
    QCOMPARE(store.metrics().at("real/odd").nonFinite, store.metrics().at("real/odd").size());
    for (const auto &[name, column] : store.metrics())
        qInfo("%s: %zu values", name.c_str(), column.size());
}

void ReaderTest::findsRuns() {
    QTemporaryDir dir;
    const QDir root(dir.path());
    for (const char *name : {"sweep/b", "sweep/a", ".hidden/x", "empty"})
        QVERIFY(root.mkpath(QLatin1String(name)));
    write(dir, "sweep/a/metrics.jsonl", "");
    write(dir, "sweep/b/events.out.tfevents.1.h", "");
    write(dir, ".hidden/x/metrics.jsonl", "");
    QVERIFY(QFile::link(dir.path(), root.filePath(QStringLiteral("empty/loop"))));
    const std::filesystem::path base = dir.path().toStdString();
    QVERIFY(findRunFolders(base) ==
            (std::vector<std::filesystem::path>{base / "sweep/a", base / "sweep/b"}));
    QVERIFY(findRunFolders(base / "sweep/a").size() == 1);
    QVERIFY(findRunFolders(base / "nothing").empty());
}

} // namespace cuda_agent::widgets

QTEST_GUILESS_MAIN(cuda_agent::widgets::ReaderTest)
#include "reader_test.moc"
