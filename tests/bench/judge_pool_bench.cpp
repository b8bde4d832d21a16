// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What judges cost when many are prepared and asked at once, as the trainer's episodes do: seconds
// of each phase of preparing one, then of a verdict in training strength with 1, 8, ... at once.
// Candidates are drawn from the planner's space, another one for each verdict.
//
// usage: judge_pool_bench SET [TASKS [THREADS [CANDIDATES]]] (default 32 32 2), a set as
// `cuda-agent corpus` takes it; exit code 1 where nothing was judged

#include "core/bench/suite.h"
#include "core/learn/corpus/document.h"
#include "core/learn/environment/judge_pool.h"

#include <atomic>
#include <cstdio>
#include <random>

using namespace cuda_agent;
using namespace cuda_agent::learn;
using Clock = std::chrono::steady_clock;

namespace {

double secondsSince(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct Phase {
    double sum = 0, most = 0;
};
using Seconds = std::map<std::string, Phase>;

void add(Seconds &all, const judge::Phases &phases) {
    for (const auto &[name, seconds] : phases) {
        auto &phase = all[name];
        phase.sum += seconds;
        phase.most = std::max(phase.most, seconds);
    }
}

void print(const Seconds &phases, int count) {
    for (const auto &[name, phase] : phases)
        std::printf("    %-16s %8.3f s in the mean, %8.3f s at most\n", name.c_str(),
                    phase.sum / count, phase.most);
    std::fflush(stdout);
}

/// In so many threads, each index once.
template <typename Work>
void inThreads(int threads, std::size_t count, const Work &work) {
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> running;
    for (int i = 0; i < threads; ++i)
        running.emplace_back([&] {
            for (std::size_t at = next++; at < count; at = next++)
                work(at);
        });
}

struct Place {
    task::Spec spec;
    std::vector<judge::Candidate> candidates;
};

std::vector<judge::Candidate> drawn(const judge::Judge &judge, std::size_t count,
                                    std::uint64_t seed) {
    std::vector<judge::Candidate> candidates;
    const auto space = policy::SearchSpace::make(judge.description(), judge.deviceInfo(),
                                                 judge.ceilings(), judge.options().numerics);
    if (!space)
        return candidates;
    std::mt19937_64 generator(seed);
    for (std::size_t i = 0; i < count; ++i) {
        const auto text = candidateText(*space, space->random(generator), judge.deviceInfo().kind);
        if (!text)
            continue;
        std::map<std::string, std::string> files{{"plan.json", text->plan.dump()}};
        if (!text->kernels.empty())
            files[kernelFile] = text->kernels;
        if (auto candidate = plan::candidateOf(files))
            candidates.emplace_back(std::move(*candidate));
    }
    return candidates;
}

class Bench {
  public:
    Bench(JudgePool &pool, std::size_t tasks, int threads, std::size_t candidates)
        : pool_(pool), tasks_(tasks), threads_(threads), candidates_(candidates) {}

    Result<bool> run(const std::filesystem::path &file) {
        CUDA_AGENT_ASSIGN(suite, bench::openSuite(file, {}));
        std::vector<task::Spec> specs;
        for (std::size_t i = 0; i < std::min(suite.tasks.size(), tasks_); ++i) {
            CUDA_AGENT_ASSIGN(spec, task::openSpec(suite.tasks[i].file, {}));
            specs.push_back(std::move(spec));
        }
        prepare(specs);
        bool any = false;
        std::size_t first = 0;
        for (int atOnce = 1; first < places_.size(); atOnce = std::min(atOnce * 8, threads_)) {
            const auto count = atOnce == threads_ ? places_.size() - first
                                                  : std::min(places_.size() - first,
                                                             static_cast<std::size_t>(2 * atOnce));
            any = judge(first, count, atOnce) || any;
            first += count;
        }
        return judge(0, places_.size(), threads_) || any;
    }

  private:
    void prepare(const std::vector<task::Spec> &specs) {
        const auto begin = Clock::now();
        std::mutex mutex;
        Seconds phases;
        int failed = 0;
        inThreads(threads_, specs.size(), [&](std::size_t i) {
            auto seat = pool_.sit(specs[i], {});
            const std::lock_guard lock(mutex);
            if (!seat) {
                std::fprintf(stderr, "%s: %s\n", specs[i].name().c_str(),
                             seat.error().message.c_str());
                ++failed;
                return;
            }
            add(phases, seat->judge().preparation());
            auto candidates = drawn(seat->judge(), candidates_, i);
            places_.push_back({specs[i], std::move(candidates)});
            std::fprintf(stderr, "%5.1f s: %zu judges\n", secondsSince(begin), places_.size());
        });
        const double seconds = secondsSince(begin);
        std::printf("%zu judges (%d failed) by %d threads in %.1f s, %.2f a second\n",
                    places_.size(), failed, threads_, seconds,
                    static_cast<double>(places_.size()) / seconds);
        if (!places_.empty())
            print(phases, static_cast<int>(places_.size()));
    }

    bool judge(std::size_t first, std::size_t count, int threads) {
        std::vector<std::pair<std::size_t, std::size_t>> work; // place, candidate
        for (std::size_t i = 0; i < candidates_; ++i)
            for (std::size_t place = first; place < first + count; ++place)
                if (i < places_[place].candidates.size())
                    work.emplace_back(place, i);
        const auto begin = Clock::now();
        std::mutex mutex;
        Seconds phases;
        int judged = 0, correct = 0;
        inThreads(threads, work.size(), [&](std::size_t i) {
            const auto &[spec, candidates] = places_[work[i].first];
            const auto asked = Clock::now();
            auto seat = pool_.sit(spec, {}); // prepared anew where memory was short
            if (!seat || !seat->take({}))
                return;
            const double waited = secondsSince(asked);
            const auto verdict =
                seat->judge().judge(candidates[work[i].second], verify::Strength::training, {});
            seat->leave();
            const std::lock_guard lock(mutex);
            if (!verdict) {
                std::fprintf(stderr, "%s\n", verdict.error().message.c_str());
                return;
            }
            ++judged;
            correct += verdict->correct;
            add(phases, verdict->phases);
            add(phases, {{"(seat)", waited}});
        });
        const double seconds = secondsSince(begin);
        std::printf("%d verdicts, %d at once, %d correct: %.1f s, %.2f a second\n", judged, threads,
                    correct, seconds, judged / seconds);
        if (judged > 0)
            print(phases, judged);
        return judged > 0;
    }

    JudgePool &pool_;
    std::size_t tasks_;
    int threads_;
    std::size_t candidates_;
    std::vector<Place> places_;
};

} // namespace

int main(int argc, char **argv) {
    const auto number = [&](int at, int otherwise) {
        return argc > at ? std::max(std::atoi(argv[at]), 1) : otherwise;
    };
    if (argc < 2) {
        std::fprintf(stderr, "usage: judge_pool_bench SET [TASKS [THREADS [CANDIDATES]]]\n");
        return 2;
    }
    JudgePool::Options options;
    options.atOnce = number(3, 32);
    options.kept = static_cast<std::size_t>(number(2, 32));
    options.judge.interleaveBaselines = false;
    if (const char *folder = std::getenv("CUDA_AGENT_BASELINES"))
        options.judge.baselines = folder;
    JudgePool pool(options);
    const auto any = Bench(pool, static_cast<std::size_t>(number(2, 32)), options.atOnce,
                           static_cast<std::size_t>(number(4, 2)))
                         .run(argv[1]);
    if (!any) {
        std::fprintf(stderr, "%s\n", any.error().message.c_str());
        return any.error().kind == ErrorKind::machine ? 3 : 2;
    }
    return *any ? 0 : 1;
}
