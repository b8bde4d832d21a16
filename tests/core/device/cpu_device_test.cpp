// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/device/ceilings.h"
#include "core/device/cpu_info.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <numeric>
#include <sys/mman.h>
#include <unistd.h>

using namespace cuda_agent;
using namespace cuda_agent::device;

namespace {

class Cpu : public testing::Test {
  protected:
    void SetUp() override {
        auto opened = openCpu();
        ASSERT_TRUE(opened);
        device_ = std::move(*opened);
    }
    Memory allocate(std::uint64_t bytes) {
        auto memory = device_->allocate(bytes);
        EXPECT_TRUE(memory) << memory.error().message;
        return std::move(*memory);
    }
    std::unique_ptr<Device> device_;
};

TEST_F(Cpu, SaysWhatItIs) {
    const auto &info = device_->info();
    EXPECT_EQ(info.kind, Kind::cpu);
    EXPECT_FALSE(info.name.empty());
    EXPECT_GE(info.multiprocessors, 1);
    EXPECT_GT(info.memoryBytes, 256u << 20);
    EXPECT_GE(info.cacheBytes, 256u << 10);
    EXPECT_EQ(toJson(info).at("kind"), "cpu");
    const auto free = device_->freeBytes();
    ASSERT_TRUE(free);
    EXPECT_LT(*free, info.memoryBytes);
}

TEST_F(Cpu, AnotherHolderSeesTheSameBytes) {
    auto memory = allocate(10'000);
    auto imported = device_->import(UniqueFd(dup(memory.fd())), 10'000);
    ASSERT_TRUE(imported) << imported.error().message;
    const std::string text = "shared";
    ASSERT_TRUE(device_->write(*imported, 9'990, text.data(), text.size()));
    std::string back(text.size(), ' ');
    ASSERT_TRUE(device_->read(memory, 9'990, back.data(), back.size()));
    EXPECT_EQ(back, text);
    EXPECT_NE(fcntl(memory.fd(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(Cpu, NoHolderCanShortenMemory) {
    auto memory = allocate(8192);
    EXPECT_NE(ftruncate(memory.fd(), 0), 0);
    EXPECT_NE(ftruncate(memory.fd(), 16384), 0);
    UniqueFd theirs(memfd_create("theirs", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_EQ(ftruncate(theirs.get(), 8192), 0);
    auto imported = device_->import(UniqueFd(dup(theirs.get())), 8192);
    ASSERT_TRUE(imported);
    EXPECT_NE(ftruncate(theirs.get(), 0), 0);
}

TEST_F(Cpu, RefusesMemoryThatCannotBeTrusted) {
    UniqueFd unsealable(memfd_create("theirs", MFD_CLOEXEC));
    ASSERT_EQ(ftruncate(unsealable.get(), 8192), 0);
    const auto first = device_->import(std::move(unsealable), 8192);
    ASSERT_FALSE(first);
    EXPECT_NE(first.error().message.find("MFD_ALLOW_SEALING"), std::string::npos);

    UniqueFd small(memfd_create("theirs", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_EQ(ftruncate(small.get(), 4096), 0);
    EXPECT_FALSE(device_->import(std::move(small), 8192));

    EXPECT_FALSE(device_->import(UniqueFd(open("/proc/self/exe", O_RDONLY)), 16));
    EXPECT_FALSE(device_->import(UniqueFd(), 16));

    UniqueFd readOnly(memfd_create("theirs", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    ASSERT_EQ(ftruncate(readOnly.get(), 4096), 0);
    ASSERT_EQ(fcntl(readOnly.get(), F_ADD_SEALS, F_SEAL_WRITE), 0);
    EXPECT_FALSE(device_->import(std::move(readOnly), 4096));
}

TEST_F(Cpu, RefusesWhatDoesNotFit) {
    auto memory = allocate(100);
    char byte = 0;
    EXPECT_FALSE(device_->write(memory, 100, &byte, 1));
    EXPECT_FALSE(device_->read(memory, UINT64_MAX, &byte, 2));
    EXPECT_FALSE(device_->fill(memory, 1, 100, 0));
    EXPECT_FALSE(device_->digest(memory, 0, 101, 0));
    EXPECT_FALSE(device_->copy(memory, 0, memory, 10, 50)) << "overlapping";
    const auto tooMuch = device_->allocate(1ull << 50);
    ASSERT_FALSE(tooMuch);
    EXPECT_EQ(tooMuch.error().kind, ErrorKind::machine);
    EXPECT_TRUE(device_->fill(memory, 100, 0, 0));
    EXPECT_TRUE(allocate(0));
}

TEST_F(Cpu, MovingMemoryKeepsItOnce) {
    auto memory = allocate(64);
    void *data = memory.data();
    Memory other = std::move(memory);
    EXPECT_FALSE(memory); // NOLINT: the moved-from state is what is tested
    EXPECT_EQ(other.data(), data);
    other = allocate(32);
    EXPECT_EQ(other.bytes(), 32u);
}

TEST_F(Cpu, FillPhaseFollowsTheAbsoluteOffset) {
    auto memory = allocate(64);
    ASSERT_TRUE(device_->fill(memory, 0, 64, 0));
    ASSERT_TRUE(device_->fill(memory, 5, 14, 0x44332211u));
    std::vector<std::uint8_t> bytes(64);
    ASSERT_TRUE(device_->read(memory, 0, bytes.data(), 64));
    for (std::size_t i = 0; i < 64; ++i)
        EXPECT_EQ(bytes[i], i >= 5 && i < 19 ? 0x11 * (i % 4 + 1) : 0) << i;
}

TEST_F(Cpu, FindsTheFirstChangedByte) {
    constexpr std::uint64_t size = (5u << 20) + 13;
    auto memory = allocate(size);
    ASSERT_TRUE(device_->fill(memory, 0, size, 0xdeadbeefu));
    const auto first = [&](std::uint64_t offset, std::uint64_t bytes) {
        const auto found = device_->firstChange(memory, offset, bytes, 0xdeadbeefu);
        EXPECT_TRUE(found);
        return found->value_or(UINT64_MAX);
    };
    EXPECT_EQ(first(0, size), UINT64_MAX);
    EXPECT_EQ(first(3, size - 3), UINT64_MAX);
    const char other = 1;
    for (const std::uint64_t place : {size - 1, std::uint64_t(4'000'003), std::uint64_t(7)}) {
        ASSERT_TRUE(device_->write(memory, place, &other, 1));
        EXPECT_EQ(first(0, size), place);
        EXPECT_EQ(first(5, size - 5), place);
    }
    EXPECT_EQ(first(8, 1000), UINT64_MAX);
    EXPECT_EQ(first(0, 0), UINT64_MAX);
}

TEST_F(Cpu, DigestSeesEveryChangeAndTheKey) {
    constexpr std::uint64_t size = (3u << 20) + 5;
    auto memory = allocate(size);
    std::vector<std::uint8_t> bytes(size);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t(0));
    ASSERT_TRUE(device_->write(memory, 0, bytes.data(), size));
    const auto digest = [&](std::uint64_t offset, std::uint64_t count, std::uint64_t key) {
        return device_->digest(memory, offset, count, key).value();
    };
    const auto before = digest(0, size, 1);
    EXPECT_EQ(digest(0, size, 1), before);
    EXPECT_NE(digest(0, size, 2), before);
    EXPECT_NE(digest(0, size - 1, 1), before);
    for (const std::uint64_t place : {std::uint64_t(0), std::uint64_t(1 << 20), size - 1}) {
        auto changed = static_cast<std::uint8_t>(bytes[place] ^ 1);
        ASSERT_TRUE(device_->write(memory, place, &changed, 1));
        EXPECT_NE(digest(0, size, 1), before);
        ASSERT_TRUE(device_->write(memory, place, &bytes[place], 1));
        EXPECT_EQ(digest(0, size, 1), before);
    }
    // Two chunks exchanged.
    ASSERT_TRUE(device_->fill(memory, 0, 1 << 20, 7));
    const auto one = digest(0, 2 << 20, 1);
    ASSERT_TRUE(device_->write(memory, 0, bytes.data() + (1 << 20), 1 << 20));
    ASSERT_TRUE(device_->fill(memory, 1 << 20, 1 << 20, 7));
    EXPECT_NE(digest(0, 2 << 20, 1), one);
}

TEST_F(Cpu, DigestOfTheSameBytesElsewhereIsTheSame) {
    auto memory = allocate(4096);
    ASSERT_TRUE(device_->fill(memory, 0, 4096, 0x01010101u));
    EXPECT_EQ(device_->digest(memory, 3, 1000, 9).value(),
              device_->digest(memory, 1001, 1000, 9).value());
}

TEST_F(Cpu, CopiesLargeRanges) {
    constexpr std::uint64_t size = 9'000'001;
    auto from = allocate(size);
    auto to = allocate(size);
    ASSERT_TRUE(device_->fill(from, 0, size, 0x9e3779b9u));
    ASSERT_TRUE(device_->fill(to, 0, size, 0));
    ASSERT_TRUE(device_->copy(to, 4, from, 8, size - 8));
    EXPECT_FALSE(device_->firstChange(to, 4, size - 8, 0x9e3779b9u).value());
    EXPECT_EQ(device_->firstChange(to, 4, size - 4, 0x9e3779b9u).value(), size - 4);
}

TEST_F(Cpu, CopyTimeGrowsWithSize) {
    const auto best = [&](std::uint64_t bytes) {
        double result = 1;
        for (int i = 0; i < 5; ++i)
            result = std::min(result, device_->timeCopy(bytes).value());
        return result;
    };
    const double small = best(4096);
    const double large = best(64u << 20);
    EXPECT_GT(small, 0);
    EXPECT_GT(large, 100 * small);
    EXPECT_LT(64e6 / large, 4e12);
}

TEST_F(Cpu, MeasuresCeilingsOnceAndKeepsThem) {
    auto folder = std::filesystem::temp_directory_path() /
                  ("cuda-agent-ceilings-" + std::to_string(getpid()));
    setenv("CUDA_AGENT_CACHE", folder.c_str(), 1);
    const auto first = device_->ceilings();
    ASSERT_TRUE(first) << first.error().message;
    EXPECT_GT(first->copyBytesPerSecond, 1e8);
    EXPECT_GT(first->fp32FlopsPerSecond, 1e8);
    EXPECT_EQ(first->tf32FlopsPerSecond, 0);
    EXPECT_EQ(first->halfFlopsPerSecond, 0);
    for (std::size_t i = 0; i < first->levels.size(); ++i) {
        const auto &level = first->levels[i];
        // A read moves half of what a copy does; a cache that is slower would be none.
        EXPECT_GT(level.bytesPerSecond, 0.25 * first->copyBytesPerSecond) << level.name;
        EXPECT_GT(level.bytes, i > 0 ? first->levels[i - 1].bytes : 0) << level.name;
        RecordProperty(level.name + "_GBps", static_cast<int>(level.bytesPerSecond / 1e9));
    }
    EXPECT_EQ(first->levels.size(), cpuCaches().size());
    const auto second = device_->ceilings();
    ASSERT_TRUE(second);
    EXPECT_DOUBLE_EQ(second->copyBytesPerSecond, first->copyBytesPerSecond);
    EXPECT_EQ(toJson(*second), toJson(*first));
    // Too low a rate is raised, one that is higher stays, for those who come later, too.
    auto known = *first;
    known.fp32FlopsPerSecond = 1;
    known.copyBytesPerSecond = 1e15;
    for (auto &level : known.levels)
        level.bytesPerSecond = 1e16;
    const auto raised = raiseCeilings(*device_, known);
    ASSERT_TRUE(raised) << raised.error().message;
    EXPECT_GT(raised->fp32FlopsPerSecond, 1e8);
    EXPECT_EQ(raised->copyBytesPerSecond, 1e15);
    EXPECT_EQ(raised->levels.size(), known.levels.size());
    for (const auto &level : raised->levels)
        EXPECT_EQ(level.bytesPerSecond, 1e16) << level.name;
    EXPECT_EQ(toJson(*device_->ceilings()), toJson(*raised));
    RecordProperty("copy_GBps", static_cast<int>(first->copyBytesPerSecond / 1e9));
    RecordProperty("fp32_GFLOPs", static_cast<int>(first->fp32FlopsPerSecond / 1e9));
    unsetenv("CUDA_AGENT_CACHE");
    std::filesystem::remove_all(folder);
}

} // namespace
