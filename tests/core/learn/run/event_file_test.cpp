// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/learn/run/event_bytes.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

namespace cuda_agent::learn {
namespace {

using namespace event_bytes;

EventBatch readAll(const std::string &text, EventFileReader &reader) {
    EventBatch batch;
    reader.feed(text, batch);
    return batch;
}

TEST(EventFile, Checksum) {
    // RFC 3720, B.4: 32 bytes of zeros; the other is the usual check value of CRC-32C.
    ASSERT_EQ(crc32c(std::string(32, '\0')), 0x8a9136aau);
    ASSERT_EQ(crc32c("123456789"), 0xe3069283u);
    // tensorflow/core/lib/hash/crc32c_test.cc: the mask is rot15 + constant.
    ASSERT_EQ(maskedCrc32c("123456789"), ((0xe3069283u >> 15) | (0xe3069283u << 17)) + 0xa282ead8u);
}

TEST(EventFile, Scalars) {
    EventFileReader reader;
    const EventBatch batch = readAll(
        version() + eventOf(100.5, 3, summary(simple("loss", 1.5f) + simple("reward/mean", -2))) +
            eventOf(101, 1LL << 40, summary(simple("loss", 0.25f))),
        reader);
    ASSERT_EQ(batch.scalars.size(), 3u);
    ASSERT_EQ(batch.scalars[0].tag, std::string("loss"));
    ASSERT_EQ(batch.scalars[0].step, 3.0);
    ASSERT_EQ(batch.scalars[0].time, 100.5);
    ASSERT_EQ(batch.scalars[0].value, 1.5);
    ASSERT_EQ(batch.scalars[1].tag, std::string("reward/mean"));
    ASSERT_EQ(batch.scalars[1].value, -2.0);
    ASSERT_EQ(batch.scalars[2].step, std::ldexp(1, 40));
    ASSERT_EQ(reader.badRecords(), 0u);
    ASSERT_EQ(reader.pending(), 0u);
}

TEST(EventFile, Tensors) {
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
    ASSERT_TRUE(got == expected);
    ASSERT_EQ(reader.badRecords(), 0u);
}

TEST(EventFile, TornRecord) {
    const std::string text =
        version() + eventOf(1, 1, summary(simple("a", 1))) + eventOf(2, 2, summary(simple("a", 2)));
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
        EventFileReader reader;
        EventBatch batch;
        reader.feed(text.substr(0, cut), batch);
        reader.feed(text.substr(cut), batch);
        ASSERT_EQ(batch.scalars.size(), 2u);
        ASSERT_EQ(reader.badRecords(), 0u);
        ASSERT_TRUE(!reader.broken());
    }
}

TEST(EventFile, DamagedRecords) {
    const std::string first = eventOf(1, 1, summary(simple("a", 1)));
    const std::string last = eventOf(3, 3, summary(simple("a", 3)));
    std::string data = eventOf(2, 2, summary(simple("a", 2)));
    data[14] = static_cast<char>(data[14] ^ 1);
    EventFileReader reader;
    ASSERT_EQ(readAll(first + data + last, reader).scalars.size(), 2u);
    ASSERT_EQ(reader.badRecords(), 1u);
    ASSERT_TRUE(!reader.broken());

    std::string length = eventOf(2, 2, summary(simple("a", 2)));
    length[0] = static_cast<char>(length[0] ^ 1);
    EventFileReader other;
    ASSERT_EQ(readAll(first + length + last, other).scalars.size(), 1u);
    ASSERT_TRUE(other.broken());
    ASSERT_EQ(other.position(), first.size());

    // Longer than any scalar's event: passed over without being kept.
    EventFileReader third;
    const EventBatch batch = readAll(record(std::string(5u << 20, 'i')) + last, third);
    ASSERT_EQ(batch.scalars.size(), 1u);
    ASSERT_EQ(third.pending(), 0u);
}

TEST(EventFile, HostileBytes) {
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
        ASSERT_TRUE(!reader.broken());
        bad += reader.badRecords();
    }
    ASSERT_TRUE(bad > 1000);
}

} // namespace
} // namespace cuda_agent::learn
