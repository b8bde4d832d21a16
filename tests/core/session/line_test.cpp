// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/session/line.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

namespace cuda_agent::session {
namespace {

/// The fast parser must agree with the ordinary one on everything.
void expectSame(const std::string &text) {
    const Json expected = Json::parse(text, nullptr, false);
    Json got;
    const bool parsed = parseFast(text, got);
    ASSERT_EQ(parsed, !expected.is_discarded())
        << Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    if (!parsed)
        return;
    ASSERT_EQ(got, expected) << text;
    // == takes 1, 1u and 1.0 as equal; the log must not change a type.
    ASSERT_EQ(got.dump(), expected.dump()) << text;
    ASSERT_EQ(Json::to_cbor(got), Json::to_cbor(expected)) << text;
    ASSERT_EQ(got.type(), expected.type()) << text;
}

const char *const samples[] = {
    R"({"seq":3,"t":1718000000.123456,"type":"thought","turn":1,"data":{"text":"hello"}})",
    R"({"a":[1,-2,3.5,1e10,-0.0,0,-0,1E-3,2e+5],"b":{"c":{"d":[[],{},[[]]]}},"e":null})",
    R"(["\u00e9\ud83d\ude42\n\t\r\b\f\/\\\"",true,false,null,"ünï 🙂"])",
    R"({"dup":1,"dup":2,"":""})",
    R"([9223372036854775807,-9223372036854775808,9223372036854775808,18446744073709551615])",
    R"([18446744073709551616,-9223372036854775809,1e308,4.9e-324,0.1,123456789.123456789])",
    R"( { "spaced" : [ 1 , 2 ] } )",
    "\t[\r\n1]\n",
    R"("text")",
    "12",
    "true",
};
const char *const broken[] = {
    "",
    " ",
    "{",
    "[",
    "[1,]",
    "{\"a\":1,}",
    "{\"a\" 1}",
    "{a:1}",
    "[1 2]",
    "01",
    "-",
    "1.",
    ".5",
    "1e",
    "+1",
    "tru",
    "nul",
    "[1]]",
    "[1] x",
    "\"\\x\"",
    "\"\\u12\"",
    "\"\\ud800\"",
    "\"\\ud800\\u0041\"",
    "\"\\udc00\"",
    "\"a\nb\"",
    "\"open",
    "\"\xff\"",
    "\"\xc0\x80\"",
    "\"\xed\xa0\x80\"",
    "\"\xf4\x90\x80\x80\"",
    "\"\xe2\x82\"",
    "{\"a\":}",
    "{,}",
    "[,]",
    "NaN",
    "Infinity",
    "1e999",
    "-1e999",
    "[\"a\":1]",
    "\xef\xbb\xbf[1]",
    "0x10",
    "1_0",
    "--1",
    "1.e3",
    "{\"a\":1 \"b\":2}",
    "\"\x7f\"",
    "\"\x01\"",
};

TEST(ParseFast, AgreesOnSamples) {
    for (const char *text : samples)
        expectSame(text);
    for (const char *text : broken)
        expectSame(text);
    expectSame(std::string("\"a\0b\"", 5));
    expectSame(std::string("[1]\0", 4));
    expectSame(std::string("\0", 1));
}

TEST(ParseFast, AgreesOnEveryCutAndFlippedByte) {
    std::mt19937 random(11);
    for (const std::string text : samples) {
        for (std::size_t cut = 0; cut < text.size(); ++cut)
            expectSame(text.substr(0, cut));
        for (int i = 0; i < 3000; ++i) {
            std::string changed = text;
            const int changes = 1 + static_cast<int>(random() % 3);
            for (int k = 0; k < changes; ++k) {
                const char *const bytes = "{}[]\",:\\u0019-+.eEtfn \n\x80\xe2\xf0\xed";
                changed[random() % changed.size()] =
                    random() % 4 ? bytes[random() % 27] : static_cast<char>(random() % 256);
            }
            expectSame(changed);
        }
    }
}

TEST(ParseFast, AgreesOnAllTwoByteStrings) {
    for (int first = 0; first < 256; ++first)
        for (int second = 0; second < 256; second += 1 + (first < 0x80 ? 6 : 0))
            expectSame({'"', static_cast<char>(first), static_cast<char>(second), '"'});
}

TEST(ParseFast, AgreesOnSampledFourByteText) {
    std::mt19937 random(5);
    for (int i = 0; i < 50'000; ++i)
        expectSame({'"', static_cast<char>(0xe0 + random() % 32),
                    static_cast<char>(0x7e + random() % 0x46),
                    static_cast<char>(0x7e + random() % 0x46),
                    static_cast<char>(0x7e + random() % 0x46), '"'});
}

TEST(ParseFast, AgreesOnRandomNumbers) {
    std::mt19937_64 random(3);
    for (int i = 0; i < 100'000; ++i) {
        std::uint64_t bits = random();
        double value;
        static_assert(sizeof value == sizeof bits);
        std::memcpy(&value, &bits, sizeof value);
        expectSame(fmt::format("[{},{},{}]", static_cast<std::int64_t>(bits) >> (bits % 60),
                               std::isfinite(value) ? Json(value).dump() : "0",
                               static_cast<double>(random() % 1000000) / 1000));
    }
}

TEST(ParseFast, RefusesDeepNesting) {
    Json value;
    for (const std::size_t depth : {500u, 501u, 200'000u}) {
        EXPECT_EQ(parseFast(std::string(depth, '[') + std::string(depth, ']'), value),
                  depth <= 500);
        EXPECT_FALSE(parseFast(std::string(depth, '['), value));
    }
}

TEST(ParseLine, NamesWhatIsMissing) {
    const std::pair<const char *, const char *> lines[] = {
        {"[]", "object"},
        {"{\"t\":1,\"type\":\"note\"}", "seq"},
        {"{\"seq\":0,\"t\":\"x\",\"type\":\"note\"}", "'t'"},
        {"{\"seq\":0,\"t\":1,\"type\":4}", "type"},
        {"{\"seq\":0,\"t\":1,\"type\":\"note\",\"turn\":1.5}", "turn"},
        {"{\"seq\":0,\"t\":1,\"type\":\"note\",\"data\":[]}", "data"},
    };
    for (const auto &[text, word] : lines) {
        const Line line = parseLine(text);
        EXPECT_FALSE(line.whole) << text;
        EXPECT_NE(line.problem.find(word), std::string::npos) << text << ": " << line.problem;
    }
}

TEST(ParseLine, ReadsWhatFormatLineWrites) {
    Event event{7, 1718000000.25, EventType::action, 4, {{"tool", "Write"}, {"n", -1}}};
    const Line line = parseLine(formatLine(event));
    ASSERT_TRUE(line.whole && line.known) << line.problem;
    EXPECT_EQ(line.event.sequence, 7);
    EXPECT_EQ(line.event.time, 1718000000.25);
    EXPECT_EQ(line.event.type, EventType::action);
    EXPECT_EQ(line.event.turn, 4);
    EXPECT_EQ(line.event.data, event.data);
}

} // namespace
} // namespace cuda_agent::session
