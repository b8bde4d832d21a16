// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace cuda_agent {
namespace {

using namespace std::chrono_literals;

struct Ends {
    Channel engine;
    Channel worker;
};

Ends makeEnds() {
    auto pair = Channel::makePair();
    return {std::move(pair->first), Channel(std::move(pair->second))};
}

void sendRaw(const Channel &from, std::string_view bytes) {
    ASSERT_EQ(::send(from.fd(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
}

std::string header(std::uint32_t bytes, std::uint32_t descriptors) {
    std::string text(8, '\0');
    std::memcpy(text.data(), &bytes, 4);
    std::memcpy(text.data() + 4, &descriptors, 4);
    return text;
}

TEST(Channel, CarriesJsonAndDescriptors) {
    auto ends = makeEnds();
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    UniqueFd reader(pipe[0]), writer(pipe[1]);
    const int lent[] = {writer.get()};
    ASSERT_TRUE(ends.engine.send({{"hello", 1}}, lent));
    auto message = ends.worker.receive(1s);
    ASSERT_TRUE(message) << message.error().message;
    EXPECT_EQ(message->body.at("hello"), 1);
    ASSERT_EQ(message->fds.size(), 1u);
    ASSERT_EQ(::write(message->fds[0].get(), "x", 1), 1);
    char got = 0;
    ASSERT_EQ(::read(reader.get(), &got, 1), 1);
    EXPECT_EQ(got, 'x');
}

TEST(Channel, CarriesLargeMessages) {
    auto ends = makeEnds();
    const std::string large(10u << 20, 'a');
    std::thread sender([&] { EXPECT_TRUE(ends.engine.send({{"text", large}})); });
    auto message = ends.worker.receive(10s);
    sender.join();
    ASSERT_TRUE(message);
    EXPECT_EQ(message->body.at("text").get_ref<const std::string &>().size(), large.size());
}

TEST(Channel, TimesOut) {
    auto ends = makeEnds();
    auto message = ends.engine.receive(60ms);
    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().kind, ErrorKind::machine);
    EXPECT_TRUE(message.error().message.starts_with("timed out"));
}

TEST(Channel, TimesOutOnAFrameThatNeverEnds) {
    auto ends = makeEnds();
    sendRaw(ends.worker, header(100, 0) + "{\"half\":");
    auto message = ends.engine.receive(100ms);
    ASSERT_FALSE(message);
    EXPECT_TRUE(message.error().message.starts_with("timed out"));
}

TEST(Channel, StopsWhenAsked) {
    auto ends = makeEnds();
    std::stop_source source;
    std::thread stopper([&] {
        std::this_thread::sleep_for(50ms);
        source.request_stop();
    });
    auto message = ends.engine.receive(10s, source.get_token());
    stopper.join();
    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().kind, ErrorKind::stopped);
}

TEST(Channel, SaysThatThePeerIsGone) {
    auto ends = makeEnds();
    ends.worker.close();
    auto message = ends.engine.receive(1s);
    ASSERT_FALSE(message);
    EXPECT_EQ(message.error().message, "the worker ended without an answer");
    EXPECT_FALSE(ends.engine.send({{"a", 1}}));
}

TEST(Channel, RefusesHostileFrames) {
    std::string nested = R"({"a":)" + std::string(20'000, '[');
    nested += std::string(20'000, ']') + "}";
    const std::string deep = header(static_cast<std::uint32_t>(nested.size()), 0) + nested;
    for (const auto &frame : {header(0xffffffff, 0), header(2, 7) + "{}", header(4, 0) + "[1]\n",
                              header(3, 0) + "{]x", deep}) {
        auto ends = makeEnds();
        sendRaw(ends.worker, frame);
        auto message = ends.engine.receive(1s);
        ASSERT_FALSE(message);
        EXPECT_EQ(message.error().kind, ErrorKind::machine);
    }
}

} // namespace
} // namespace cuda_agent
