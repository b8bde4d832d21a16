// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/base/channel.h"
#include "core/device/cuda_driver.h"
#include "core/device/device.h"

#include <gtest/gtest.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace cuda_agent;
using namespace cuda_agent::device;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// The same operations on the GPU and, as the yardstick, on the CPU device, which has tests of its
/// own.
class GpuDevice : public testing::Test {
  protected:
    static void SetUpTestSuite() {
        if (!cuda::Driver::load())
            return;
        auto opened = openCuda();
        ASSERT_TRUE(opened) << opened.error().message;
        gpu_ = std::move(*opened);
        cpu_ = std::move(*openCpu());
    }
    static void TearDownTestSuite() {
        gpu_.reset();
        cpu_.reset();
    }
    void SetUp() override {
        if (const auto driver = cuda::Driver::load(); !driver)
            GTEST_SKIP() << driver.error().message;
        ASSERT_TRUE(gpu_);
    }

    template <typename T>
    static Memory store(Device &device, const std::vector<T> &values, std::uint64_t offset = 0) {
        auto memory = device.allocate(offset + values.size() * sizeof(T));
        EXPECT_TRUE(memory) << memory.error().message;
        const auto written =
            device.write(*memory, offset, values.data(), values.size() * sizeof(T));
        EXPECT_TRUE(written) << written.error().message;
        return std::move(*memory);
    }

    template <typename T, typename O>
    static ErrorStats compare(Device &device, const std::vector<T> &got, const TensorType &type,
                              const std::vector<O> &oracle) {
        const auto wide = std::is_same_v<O, double> ? DType::float64 : DType::int64;
        const auto a = store(device, got);
        const auto b = store(device, oracle);
        const auto stats = device.compare({&a, 0, type}, {&b, 0, contiguousType(wide, type.shape)});
        EXPECT_TRUE(stats) << stats.error().message;
        return stats.value_or(ErrorStats());
    }

    /// Both devices on the same data.
    template <typename T, typename O>
    static void expectSame(const std::vector<T> &got, const TensorType &type,
                           const std::vector<O> &oracle) {
        const auto a = compare(*gpu_, got, type, oracle);
        const auto b = compare(*cpu_, got, type, oracle);
        EXPECT_EQ(a.elements, b.elements);
        EXPECT_EQ(a.unconstrained, b.unconstrained);
        EXPECT_EQ(a.nonFiniteMismatches, b.nonFiniteMismatches);
        EXPECT_EQ(a.integerMismatches, b.integerMismatches);
        EXPECT_EQ(a.firstMismatch, b.firstMismatch);
        EXPECT_EQ(a.maxErrorIndex, b.maxErrorIndex);
        EXPECT_EQ(a.maxError, b.maxError);
        EXPECT_EQ(a.maxOracle, b.maxOracle);
        EXPECT_NEAR(a.errorSquared, b.errorSquared, 1e-12 * b.errorSquared);
        EXPECT_NEAR(a.oracleSquared, b.oracleSquared, 1e-12 * b.oracleSquared);
        EXPECT_EQ(std::isnan(a.got), std::isnan(b.got));
        EXPECT_EQ(std::isnan(a.expected), std::isnan(b.expected));
        EXPECT_TRUE(std::isnan(a.got) || a.got == b.got);
        EXPECT_TRUE(std::isnan(a.expected) || a.expected == b.expected);
    }

    static inline std::unique_ptr<Device> gpu_;
    static inline std::unique_ptr<Device> cpu_;
};

TEST_F(GpuDevice, SaysWhatItIs) {
    const auto &info = gpu_->info();
    EXPECT_EQ(info.kind, Kind::cuda);
    EXPECT_TRUE(info.architecture.starts_with("sm_"));
    EXPECT_GT(info.multiprocessors, 0);
    EXPECT_GT(info.memoryBytes, 1ull << 30);
    EXPECT_GT(info.cacheBytes, 0u);
    EXPECT_GE(info.sharedBytesPerBlock, 48u << 10);
    EXPECT_GE(info.driverVersion, 13000);
    EXPECT_EQ(access(fmt::format("/dev/nvidia{}", info.index).c_str(), F_OK), 0);
    const auto free = gpu_->freeBytes();
    ASSERT_TRUE(free);
    EXPECT_LE(*free, info.memoryBytes);
    std::fprintf(stderr, "%s\n", toJson(info).dump().c_str());
}

TEST_F(GpuDevice, RefusesWhatDoesNotFit) {
    auto memory = store<char>(*gpu_, std::vector<char>(100));
    char byte = 0;
    EXPECT_FALSE(gpu_->write(memory, 100, &byte, 1));
    EXPECT_FALSE(gpu_->read(memory, UINT64_MAX, &byte, 2));
    EXPECT_FALSE(gpu_->fill(memory, 1, 100, 0));
    EXPECT_FALSE(gpu_->copy(memory, 0, memory, 10, 50));
    const auto all = gpu_->allocate(gpu_->info().memoryBytes);
    ASSERT_FALSE(all);
    EXPECT_NE(all.error().message.find("not enough GPU memory"), std::string::npos)
        << all.error().message;
    EXPECT_FALSE(gpu_->allocate(1ull << 50));
    EXPECT_TRUE(gpu_->allocate(0));
    EXPECT_FALSE(openCuda(1000));
}

TEST_F(GpuDevice, FreesWhatItAllocates) {
    const auto before = gpu_->freeBytes().value();
    for (int i = 0; i < 20; ++i)
        ASSERT_TRUE(gpu_->allocate(before / 2)) << i;
    EXPECT_GE(gpu_->freeBytes().value() + (64u << 20), before);
}

TEST_F(GpuDevice, ImportsWhatItExported) {
    auto memory = store<char>(*gpu_, std::vector<char>(10'000, 1));
    auto imported = gpu_->import(UniqueFd(dup(memory.fd())), 10'000);
    ASSERT_TRUE(imported) << imported.error().message;
    const std::string text = "shared";
    ASSERT_TRUE(gpu_->write(*imported, 9'990, text.data(), text.size()));
    std::string back(text.size(), ' ');
    ASSERT_TRUE(gpu_->read(memory, 9'990, back.data(), back.size()));
    EXPECT_EQ(back, text);
    const auto larger = gpu_->import(UniqueFd(dup(memory.fd())), 1ull << 30);
    ASSERT_FALSE(larger);
    EXPECT_NE(larger.error().message.find("smaller than announced"), std::string::npos);
    int pipeEnds[2];
    ASSERT_EQ(pipe(pipeEnds), 0);
    const UniqueFd other(pipeEnds[1]);
    EXPECT_FALSE(gpu_->import(UniqueFd(pipeEnds[0]), 4096)) << "a pipe is no memory";
    EXPECT_TRUE(gpu_->freeBytes()) << "the context survived";
}

TEST_F(GpuDevice, AnotherProcessSeesTheSameMemory) {
    auto memory = store<char>(*gpu_, std::vector<char>(4096, 5));
    auto pair = Channel::makePair();
    ASSERT_TRUE(pair);
    auto &[channel, theirs] = *pair;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, theirs.get(), 3);
    char program[] = "/proc/self/exe";
    char option[] = "--borrow";
    char *arguments[] = {program, option, nullptr};
    pid_t child = 0;
    ASSERT_EQ(posix_spawn(&child, program, &actions, nullptr, arguments, environ), 0);
    posix_spawn_file_actions_destroy(&actions);
    theirs.reset();
    const int fd = memory.fd();
    ASSERT_TRUE(channel.send({{"bytes", 4096}}, {&fd, 1}));
    const auto answer = channel.receive(std::chrono::seconds(60));
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->body.value("first", 0), 5) << answer->body.dump();
    waitpid(child, nullptr, 0);
    char value = 0;
    ASSERT_TRUE(gpu_->read(memory, 4095, &value, 1));
    EXPECT_EQ(value, 77);
}

TEST_F(GpuDevice, FillPhaseFollowsTheAbsoluteOffset) {
    auto memory = store<char>(*gpu_, std::vector<char>(128));
    for (const auto &[offset, size] : {std::pair(5, 14), {0, 3}, {33, 64}, {16, 16}, {15, 2}}) {
        std::vector<std::uint8_t> bytes(128);
        ASSERT_TRUE(gpu_->write(memory, 0, bytes.data(), 128));
        ASSERT_TRUE(gpu_->fill(memory, static_cast<std::uint64_t>(offset),
                               static_cast<std::uint64_t>(size), 0x44332211u));
        ASSERT_TRUE(gpu_->read(memory, 0, bytes.data(), 128));
        for (int i = 0; i < 128; ++i)
            EXPECT_EQ(bytes[static_cast<std::size_t>(i)],
                      i >= offset && i < offset + size ? 0x11 * (i % 4 + 1) : 0)
                << offset << " " << size << " " << i;
    }
}

TEST_F(GpuDevice, FindsTheFirstChangedByte) {
    constexpr std::uint64_t size = (50u << 20) + 13;
    auto memory = gpu_->allocate(size);
    ASSERT_TRUE(memory);
    ASSERT_TRUE(gpu_->fill(*memory, 0, size, 0xdeadbeefu));
    const auto first = [&](std::uint64_t offset, std::uint64_t bytes) {
        const auto found = gpu_->firstChange(*memory, offset, bytes, 0xdeadbeefu);
        EXPECT_TRUE(found) << found.error().message;
        return found->value_or(UINT64_MAX);
    };
    EXPECT_EQ(first(0, size), UINT64_MAX);
    EXPECT_EQ(first(3, size - 3), UINT64_MAX);
    const char other = 1;
    for (const std::uint64_t place : {size - 1, std::uint64_t(40'000'003), std::uint64_t(7)}) {
        ASSERT_TRUE(gpu_->write(*memory, place, &other, 1));
        EXPECT_EQ(first(0, size), place);
        EXPECT_EQ(first(5, size - 5), place);
    }
    EXPECT_EQ(first(8, 1000), UINT64_MAX);
    EXPECT_EQ(first(0, 7), UINT64_MAX);
    EXPECT_EQ(first(0, 0), UINT64_MAX);
}

TEST_F(GpuDevice, DigestSeesEveryChangeAndTheKey) {
    constexpr std::uint64_t size = (8u << 20) + 5;
    std::mt19937 random(7);
    std::vector<std::uint32_t> words(size / 4 + 1);
    for (auto &word : words)
        word = random();
    auto memory = store(*gpu_, words);
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(words.data());
    const auto digest = [&](std::uint64_t offset, std::uint64_t count, std::uint64_t key) {
        const auto value = gpu_->digest(memory, offset, count, key);
        EXPECT_TRUE(value) << value.error().message;
        return value.value_or(0);
    };
    const auto before = digest(0, size, 1);
    EXPECT_EQ(digest(0, size, 1), before);
    EXPECT_NE(digest(0, size, 2), before);
    EXPECT_NE(digest(0, size - 1, 1), before);
    for (const std::uint64_t place : {std::uint64_t(0), std::uint64_t(1 << 20), size - 1}) {
        const auto changed = static_cast<std::uint8_t>(bytes[place] ^ 1);
        ASSERT_TRUE(gpu_->write(memory, place, &changed, 1));
        EXPECT_NE(digest(0, size, 1), before);
        ASSERT_TRUE(gpu_->write(memory, place, bytes + place, 1));
        EXPECT_EQ(digest(0, size, 1), before);
    }
    // Two words exchanged.
    ASSERT_TRUE(gpu_->write(memory, 0, bytes + 8, 8));
    ASSERT_TRUE(gpu_->write(memory, 8, bytes, 8));
    EXPECT_NE(digest(0, size, 1), before);
    // The same bytes at a place of another alignment.
    ASSERT_TRUE(gpu_->write(memory, 0, bytes, 1000));
    const auto aligned = digest(0, 1000, 3);
    ASSERT_TRUE(gpu_->write(memory, 5, bytes, 1000));
    EXPECT_EQ(digest(5, 1000, 3), aligned);
}

TEST_F(GpuDevice, ComparesEveryFloatingTypeLikeTheCpu) {
    std::mt19937_64 random(11);
    std::normal_distribution<double> normal;
    constexpr std::int64_t count = 1'000'003;
    std::vector<double> oracle(count);
    std::vector<float> single(count);
    std::vector<double> twice(count);
    std::vector<std::uint16_t> half(count);
    for (std::size_t i = 0; i < oracle.size(); ++i) {
        oracle[i] = std::ldexp(normal(random), static_cast<int>(random() % 40) - 20);
        single[i] = static_cast<float>(oracle[i] * (1 + 1e-6 * normal(random)));
        twice[i] = oracle[i] * (1 + 1e-14 * normal(random));
        half[i] = static_cast<std::uint16_t>(random());
    }
    const double special[] = {nan, infinity, -infinity, std::bit_cast<double>(unconstrainedBits)};
    for (int i = 0; i < 5000; ++i) {
        oracle[random() % count] = special[random() % 4];
        single[random() % count] = static_cast<float>(special[random() % 3]);
        twice[random() % count] = special[random() % 3];
    }
    expectSame(single, contiguousType(DType::float32, {count}), oracle);
    expectSame(twice, contiguousType(DType::float64, {count}), oracle);
    expectSame(half, contiguousType(DType::float16, {count}), oracle);
    expectSame(half, contiguousType(DType::bfloat16, {count}), oracle);
}

TEST_F(GpuDevice, ComparesEveryIntegerTypeLikeTheCpu) {
    std::mt19937_64 random(12);
    const auto check = [&]<typename T>(T, DType dtype) {
        constexpr std::int64_t count = 100'001;
        std::vector<T> got(count);
        std::vector<std::int64_t> oracle(count);
        for (std::size_t i = 0; i < got.size(); ++i) {
            got[i] = static_cast<T>(random());
            oracle[i] = static_cast<std::int64_t>(got[i]);
        }
        expectSame(got, contiguousType(dtype, {count}), oracle);
        for (int i = 0; i < 100; ++i)
            oracle[random() % count] += static_cast<std::int64_t>(random() % 3) - 1;
        oracle[77] = INT64_MIN;
        expectSame(got, contiguousType(dtype, {count}), oracle);
    };
    check(std::int8_t(), DType::int8);
    check(std::uint8_t(), DType::uint8);
    check(std::uint8_t(), DType::boolean);
    check(std::int16_t(), DType::int16);
    check(std::int32_t(), DType::int32);
    check(std::int64_t(), DType::int64);
}

TEST_F(GpuDevice, FollowsStridesLikeTheCpu) {
    std::mt19937_64 random(13);
    std::vector<float> got(64 * 70 * 33 + 100);
    for (auto &value : got)
        value = static_cast<float>(random() % 1000);
    std::vector<double> oracle(64 * 70 * 33);
    for (auto &value : oracle)
        value = static_cast<double>(random() % 1000);
    expectSame(got, {DType::float32, {64, 70, 33}, {70 * 33, 33, 1}}, oracle);
    expectSame(got, {DType::float32, {33, 70, 64}, {1, 33, 70 * 33}}, oracle);
    expectSame(got, {DType::float32, {64, 33, 70}, {70 * 33, 1, 33}}, oracle);
    expectSame(got, {DType::float32, {64, 70, 33}, {0, 33, 1}}, oracle);
}

TEST_F(GpuDevice, SumsAreTheSameEachTime) {
    std::mt19937_64 random(14);
    std::vector<float> got(5'000'000);
    std::vector<double> oracle(got.size());
    for (std::size_t i = 0; i < got.size(); ++i)
        got[i] = static_cast<float>(oracle[i] = static_cast<double>(random()) * 1e-19);
    const auto type = contiguousType(DType::float32, {5'000'000});
    const auto first = compare(*gpu_, got, type, oracle).errorSquared;
    EXPECT_GT(first, 0);
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(compare(*gpu_, got, type, oracle).errorSquared, first);
}

TEST_F(GpuDevice, HandlesMoreElementsThanAnIntCounts) {
    constexpr std::int64_t count = (1ll << 31) + 1000;
    if (gpu_->freeBytes().value() < 10ull * count)
        GTEST_SKIP() << "needs " << (10ull * count >> 30) << " GiB of GPU memory";
    auto got = gpu_->allocate(count);
    auto oracle = gpu_->allocate(8ull * count);
    ASSERT_TRUE(got && oracle);
    ASSERT_TRUE(gpu_->fill(*got, 0, count, 0));
    ASSERT_TRUE(gpu_->fill(*oracle, 0, 8ull * count, 0));
    const std::int8_t one = 1;
    ASSERT_TRUE(gpu_->write(*got, count - 1, &one, 1));
    const auto stats = gpu_->compare({&*got, 0, contiguousType(DType::int8, {count})},
                                     {&*oracle, 0, contiguousType(DType::int64, {count})});
    ASSERT_TRUE(stats) << stats.error().message;
    EXPECT_EQ(stats->elements, count);
    EXPECT_EQ(stats->integerMismatches, 1);
    EXPECT_EQ(stats->firstMismatch, count - 1);
    EXPECT_EQ(stats->got, 1);
    EXPECT_EQ(gpu_->firstChange(*got, 0, count, 0).value(), std::uint64_t(count - 1));
}

TEST_F(GpuDevice, SmallOperationsAreQuick) {
    auto memory = store<char>(*gpu_, std::vector<char>(1 << 20));
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 100; ++i)
        ASSERT_TRUE(gpu_->digest(memory, 0, 1 << 20, 1));
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    std::fprintf(stderr, "digest of 1 MiB: %.1f us\n", spent.count() * 1e4);
    EXPECT_LT(spent.count() / 100, 2e-3);
}

TEST_F(GpuDevice, MeasuresCeilings) {
    const auto folder = std::filesystem::temp_directory_path() /
                        ("cuda-agent-gpu-ceilings-" + std::to_string(getpid()));
    setenv("CUDA_AGENT_CACHE", folder.c_str(), 1);
    const auto start = std::chrono::steady_clock::now();
    const auto ceilings = gpu_->ceilings();
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    ASSERT_TRUE(ceilings) << ceilings.error().message;
    std::fprintf(stderr, "copy %.3f TB/s, fp32 %.1f TFLOP/s, tf32 %.1f TFLOP/s, in %.1f s\n",
                 ceilings->copyBytesPerSecond * 1e-12, ceilings->fp32FlopsPerSecond * 1e-12,
                 ceilings->tf32FlopsPerSecond * 1e-12, spent.count());
    std::fprintf(stderr, "16-bit %.1f TFLOP/s\n", ceilings->halfFlopsPerSecond * 1e-12);
    std::fprintf(stderr, "launch %.2f us\n", ceilings->launchSeconds * 1e6);
    EXPECT_GT(ceilings->launchSeconds, 0.5e-6);
    EXPECT_LT(ceilings->launchSeconds, 20e-6);
    for (const auto &level : ceilings->levels)
        std::fprintf(stderr, "%s (%.1f MB): %.2f TB/s\n", level.name.c_str(),
                     static_cast<double>(level.bytes) * 1e-6, level.bytesPerSecond * 1e-12);
    EXPECT_GT(ceilings->copyBytesPerSecond, 5e10);
    EXPECT_GT(ceilings->fp32FlopsPerSecond, 1e12);
    EXPECT_GT(ceilings->halfFlopsPerSecond, 2 * ceilings->fp32FlopsPerSecond);
    EXPECT_GT(ceilings->halfFlopsPerSecond, 1.3 * ceilings->tf32FlopsPerSecond);
    // Each memory is faster and smaller than what lies behind it.
    ASSERT_EQ(ceilings->levels.size(), 2u);
    const auto &shared = ceilings->levels[0];
    const auto &cache = ceilings->levels[1];
    EXPECT_EQ(shared.name, "L1/shared");
    EXPECT_EQ(cache.name, "L2");
    EXPECT_GE(shared.bytes, gpu_->info().sharedBytesPerBlock *
                                static_cast<std::uint64_t>(gpu_->info().multiprocessors));
    EXPECT_EQ(cache.bytes, gpu_->info().cacheBytes);
    EXPECT_GT(shared.bytesPerSecond, 1.5 * cache.bytesPerSecond);
    EXPECT_GT(cache.bytesPerSecond, 1.1 * ceilings->copyBytesPerSecond);
    // 128 bytes a clock and multiprocessor: no card runs at 3 GHz.
    EXPECT_LT(shared.bytesPerSecond, 128 * 3e9 * gpu_->info().multiprocessors);
    EXPECT_LT(spent.count(), 3);
    EXPECT_EQ(toJson(*gpu_->ceilings()), toJson(*ceilings)) << "cached";
    unsetenv("CUDA_AGENT_CACHE");
    std::filesystem::remove_all(folder);
}

TEST_F(GpuDevice, CopyTimeGrowsWithSize) {
    ASSERT_TRUE(gpu_->timeCopy(1 << 20));
    double small = 1;
    double large = 1;
    for (int i = 0; i < 5; ++i) {
        small = std::min(small, gpu_->timeCopy(4096).value());
        large = std::min(large, gpu_->timeCopy(512u << 20).value());
    }
    EXPECT_GT(small, 0);
    EXPECT_GT(large, 5 * small);
    std::fprintf(stderr, "copies: 4 KiB %.1f us, 512 MiB %.1f us\n", small * 1e6, large * 1e6);
}

/// The other process: takes memory over from its parent, looks at it and writes to it.
int borrow() {
    Channel channel(UniqueFd(3));
    auto message = channel.receive(std::chrono::seconds(30));
    auto device = openCuda();
    if (!message || !device || message->fds.empty())
        return 1;
    auto memory = (*device)->import(std::move(message->fds[0]), 4096);
    if (!memory) {
        (void)channel.send({{"error", memory.error().message}});
        return 1;
    }
    char first = 0;
    const char last = 77;
    if (!(*device)->read(*memory, 0, &first, 1) || !(*device)->write(*memory, 4095, &last, 1))
        return 1;
    return channel.send({{"first", first}}) ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
    if (argc > 1 && std::string_view(argv[1]) == "--borrow")
        return borrow();
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}
