// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/endurance/manifest.h"
#include "tests/endurance/watch.h"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

namespace cuda_agent::endurance {
namespace {

Json entry(const std::string &name, bool honest, double weight = 1, int task = 0) {
    return {{"name", name},
            {"task", task},
            {"path", "/nowhere/" + name},
            {"honest", honest},
            {"module", false},
            {"weight", weight},
            {"full", name == "rare"},
            {"wanted", {honest ? "passed" : "random inputs"}}};
}

Json manifest() {
    Json json{{"tasks", Json::array()},
              {"accusing", {"changes nothing"}},
              {"entries",
               {entry("right", true), entry("right too", true, 1, 1), entry("wrong", false, 5),
                entry("rare", false, 0.01)}}};
    for (const bool timing : {false, true})
        json["tasks"].push_back({{"file", "/nowhere/task.py"},
                                 {"sets", Json::array()},
                                 {"rules", "published"},
                                 {"timing", timing}});
    return json;
}

TEST(Manifest, AnUnusableOneIsRefusedWithItsEntry) {
    auto json = manifest();
    json["entries"][2].erase("wanted");
    const auto noPlace = manifestFromJson(json);
    ASSERT_FALSE(noPlace);
    EXPECT_EQ(noPlace.error().kind, ErrorKind::request);
    EXPECT_NE(noPlace.error().message.find("entry 2"), std::string::npos);

    json = manifest();
    json["entries"][1]["task"] = 7;
    EXPECT_FALSE(manifestFromJson(json));
    json = manifest();
    json["entries"].erase(2);
    json["entries"].erase(2);
    const auto onlyHonest = manifestFromJson(json);
    ASSERT_FALSE(onlyHonest);
    EXPECT_NE(onlyHonest.error().message.find("2 of its 2"), std::string::npos);
}

TEST(Draw, HalfIsHonestAllComeAndWeightsCount) {
    const auto given = manifestFromJson(manifest()).value();
    const auto drawn = draw(given, 400, 7, 0.25);
    ASSERT_EQ(drawn.turns.size(), 400u);
    std::map<std::string, int> times;
    int honest = 0, varied = 0, full = 0;
    for (const auto &turn : drawn.turns) {
        const auto &entry = given.entries[turn.entry];
        ++times[entry.name];
        honest += entry.honest;
        varied += turn.variation > 0;
        full += turn.full;
        EXPECT_FALSE(turn.full && given.tasks[entry.task].timing);
        EXPECT_TRUE(turn.full || !entry.full);
    }
    EXPECT_EQ(honest, 200);
    EXPECT_GE(times["rare"], 1);
    EXPECT_LT(times["rare"], 10);
    EXPECT_GT(times["right"], 50);
    EXPECT_NEAR(varied, 100, 40);
    EXPECT_GT(full, 5);
    EXPECT_EQ(drawn.warmUp, 40u);
}

TEST(Draw, TheSeedDecides) {
    const auto given = manifestFromJson(manifest()).value();
    const auto order = [&](std::uint64_t seed) {
        std::vector<std::size_t> entries;
        for (const auto &turn : draw(given, 50, seed, 0.5).turns)
            entries.push_back(turn.entry);
        return entries;
    };
    EXPECT_EQ(order(3), order(3));
    EXPECT_NE(order(3), order(4));
}

TEST(Draw, WarmUpMeetsEveryTask) {
    const auto given = manifestFromJson(manifest()).value();
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const auto drawn = draw(given, 8, seed, 0);
        ASSERT_EQ(drawn.warmUp, 2u);
        EXPECT_NE(given.entries[drawn.turns[0].entry].task,
                  given.entries[drawn.turns[1].entry].task);
    }
}

TEST(Verdicts, AreHeldAgainstTheWantedPlaces) {
    const auto given = manifestFromJson(manifest()).value();
    const auto &right = given.entries[0], &wrong = given.entries[2];
    judge::Verdict passed;
    passed.compiled = passed.correct = true;
    EXPECT_FALSE(complaint(given, right, passed));
    EXPECT_TRUE(complaint(given, wrong, passed));
    auto accused = passed;
    accused.flags = {"a launch changes nothing"};
    EXPECT_TRUE(complaint(given, right, accused));
    accused.flags = {"host clock disagrees"}; // of a busy machine
    EXPECT_FALSE(complaint(given, right, accused));

    judge::Verdict refused;
    refused.compiled = true;
    refused.verification.checks.push_back({"random inputs", false, false, "wrong", {}});
    EXPECT_EQ(placeOf(refused), "random inputs");
    EXPECT_FALSE(complaint(given, wrong, refused));
    const auto complained = complaint(given, right, refused);
    ASSERT_TRUE(complained);
    EXPECT_NE(complained->find("random inputs where passed is right"), std::string::npos);
    EXPECT_EQ(placeOf(judge::Verdict()), "compile");
    EXPECT_EQ(placeOf(machineError("gone")), "machine");
    EXPECT_TRUE(complaint(given, wrong, machineError("gone")));
}

TEST(MedianSlope, IsNotTiltedByAJump) {
    std::vector<std::pair<double, double>> flat, rising;
    for (int i = 0; i < 100; ++i) {
        flat.emplace_back(i * 10, i == 50 ? 900.0 : i > 70 ? 104 : 100);
        rising.emplace_back(i * 10, 100 + i * 5 + (i % 7 ? 0 : 40));
    }
    EXPECT_NEAR(medianSlope(flat), 0, 1e-9);
    EXPECT_NEAR(medianSlope(rising), 0.5, 0.01);
    EXPECT_EQ(medianSlope({{1, 1}}), 0);
}

Census holding(std::initializer_list<const char *> pipes, std::uint64_t resident = 100 << 20) {
    Census census;
    for (const char *each : pipes)
        census.items["descriptors (pipe)"].insert(each);
    census.residentBytes = resident;
    return census;
}

TEST(Watch, ToldOncePerGrowthAndByName) {
    Watch watch;
    watch.begin(holding({"a"}));
    EXPECT_FALSE(watch.exceeds(holding({"b"})));
    EXPECT_TRUE(watch.look(holding({"b"}), 10).empty());
    EXPECT_TRUE(watch.exceeds(holding({"a", "c"})));
    const auto found = watch.look(holding({"a", "c"}), 20);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].kind, "descriptors (pipe)");
    EXPECT_NE(found[0].what.find("new: c"), std::string::npos);
    EXPECT_TRUE(watch.look(holding({"a", "c"}), 30).empty());
    EXPECT_EQ(watch.look(holding({"a", "c", "d"}), 40).size(), 1u);
    auto other = holding({"a"});
    other.items["zombies"].insert("7 sh"); // of a kind that was not there at first
    EXPECT_EQ(watch.look(other, 50).size(), 1u);
}

TEST(Watch, ResidentAndGpuMemoryMayNotGrow) {
    const auto growing = [](double perCandidate) {
        Watch watch;
        watch.begin(holding({}));
        for (int done = 0; done <= 1000; done += 10)
            watch.look(holding({}, static_cast<std::uint64_t>(1e8 + done * perCandidate)),
                       static_cast<std::size_t>(done));
        return watch.finish();
    };
    EXPECT_TRUE(growing(0).empty());
    EXPECT_TRUE(growing(-50'000).empty());
    EXPECT_TRUE(growing(5'000).empty());
    ASSERT_EQ(growing(20'000).size(), 1u);
    EXPECT_EQ(growing(20'000)[0].kind, "resident memory");

    Watch mapped;
    auto larger = holding({});
    mapped.begin(larger);
    larger.sharedBytes = 4096;
    EXPECT_TRUE(mapped.exceeds(larger));
    ASSERT_EQ(mapped.look(larger, 1).size(), 1u);
    EXPECT_TRUE(mapped.look(larger, 2).empty());

    Watch watch;
    auto census = holding({});
    census.freeBytes = 1ull << 30;
    watch.begin(census);
    census.freeBytes = (1ull << 30) - (16ull << 20);
    EXPECT_TRUE(watch.look(census, 1).empty());
    census.freeBytes = (1ull << 30) - (64ull << 20);
    EXPECT_TRUE(watch.exceeds(census));
    ASSERT_EQ(watch.look(census, 2).size(), 1u);
    EXPECT_TRUE(watch.look(census, 3).empty());
}

TEST(Watch, TheHeapTellsSmallLosses) {
    const auto growing = [](double perCandidate) {
        Watch watch;
        watch.begin(holding({}));
        for (int done = 0; done <= 1000; done += 10) {
            auto census = holding({});
            census.heapBytes = static_cast<std::uint64_t>(1e7 + done * perCandidate);
            watch.look(census, static_cast<std::size_t>(done));
        }
        return watch.finish();
    };
    EXPECT_TRUE(growing(100).empty());
    ASSERT_EQ(growing(1000).size(), 1u);
    EXPECT_EQ(growing(1000)[0].kind, "heap");
}

/// Folders of its own, as takeCensus() wants: the names of what others keep in /tmp, of a whole
/// clone for instance, take tens of megabytes of the memory that is measured.
class TakeCensus : public testing::Test {
  protected:
    void SetUp() override {
        own_ = testing::TempDir() + "census-XXXXXX";
        ASSERT_NE(::mkdtemp(own_.data()), nullptr);
        ::setenv("TMPDIR", own_.c_str(), 1);
        ::setenv("CUDA_AGENT_CACHE", (own_ + "/cache").c_str(), 1);
    }
    void TearDown() override {
        ::unsetenv("TMPDIR");
        ::unsetenv("CUDA_AGENT_CACHE");
        std::filesystem::remove_all(own_);
    }

  private:
    std::string own_;
};

TEST_F(TakeCensus, CountsSharedMappingsByTheirSize) {
    auto device = device::openCpu().value();
    const auto before = takeCensus(nullptr).value();
    auto memory = device->allocate(64 << 20).value();
    const auto mapped = takeCensus(nullptr).value();
    EXPECT_EQ(mapped.count("shared mappings"), before.count("shared mappings") + 1);
    EXPECT_EQ(mapped.count("descriptors (memfd)"), before.count("descriptors (memfd)") + 1);
    EXPECT_EQ(mapped.sharedBytes, before.sharedBytes + (64 << 20));
    ASSERT_TRUE(device->fill(memory, 0, 64 << 20, 7)); // pages become resident
    const auto filled = takeCensus(nullptr).value();
    EXPECT_EQ(filled.sharedBytes, mapped.sharedBytes);
    EXPECT_NEAR(static_cast<double>(filled.residentBytes),
                static_cast<double>(mapped.residentBytes), 16 << 20); // of 64
}

TEST_F(TakeCensus, SeesWhatThisProcessHolds) {
    const auto before = takeCensus(nullptr).value();
    EXPECT_GT(before.residentBytes, 1u << 20);
    EXPECT_GT(before.count("mounts"), 0u);
    EXPECT_EQ(before.count("threads"), 1u);
    const int descriptor = ::open("/dev/null", O_RDONLY);
    std::jthread thread([](const std::stop_token &stop) {
        while (!stop.stop_requested())
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
    });
    const auto after = takeCensus(nullptr).value();
    ::close(descriptor);
    EXPECT_EQ(after.count("descriptors (file)"), before.count("descriptors (file)") + 1);
    EXPECT_EQ(after.countAll("descriptors"), before.countAll("descriptors") + 1);
    EXPECT_EQ(after.count("threads"), 2u);
    EXPECT_EQ(after.count("processes"), 0u);
#ifndef __SANITIZE_ADDRESS__ // its allocator does not count for mallinfo
    const std::vector<char> block(8 << 20, 1);
    const auto larger = takeCensus(nullptr).value();
    EXPECT_NEAR(static_cast<double>(larger.heapBytes - after.heapBytes),
                static_cast<double>(block.size()), 1 << 20);
#endif
}

} // namespace
} // namespace cuda_agent::endurance
