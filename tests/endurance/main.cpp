// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "tests/endurance/run.h"

#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/base/temporary_folder.h"

#include <CLI/CLI.hpp>

#include <csignal>
#include <cstdlib>

// Many candidates, good, wrong and hostile, through one engine in one process: nothing may stay
// behind, and no verdict may change. endurance.py makes the manifest.

namespace cuda_agent::endurance {

namespace {

std::atomic<bool> stopped{false};

int fail(const Error &error) {
    fmt::print(stderr, "cuda-agent-endurance: {}\n", error.message);
    return exitCode(error.kind);
}

/// Everything that this process leaves lying about goes where nobody else's does.
void separate(const std::filesystem::path &folder) {
    std::filesystem::create_directories(folder / "tmp");
    ::setenv("TMPDIR", (folder / "tmp").c_str(), 1);
    ::setenv("CUDA_AGENT_CACHE", (folder / "cache").c_str(), 0); // where none was chosen
    ::setenv(markerVariable, fmt::format("{:016x}", randomSeed()).c_str(), 1);
    std::filesystem::current_path(folder / "tmp");
}

int run(const Options &options, const std::string &manifestFile, const std::string &jsonFile) {
    const auto json = readJsonFile(manifestFile);
    if (!json)
        return fail(json.error());
    auto manifest = manifestFromJson(*json);
    if (!manifest)
        return fail(manifest.error());
    const auto report = std::filesystem::absolute(jsonFile.empty() ? "unused" : jsonFile);
    const auto folder = TemporaryFolder::make("endurance");
    if (!folder)
        return fail(folder.error());
    separate(folder->path());
    auto prepared = Run::prepare(options, std::move(*manifest));
    if (!prepared)
        return fail(prepared.error());
    const auto judged = (*prepared)->judgeAll(stopped);
    if (!judged && judged.error().kind != ErrorKind::failed)
        return fail(judged.error());
    (*prepared)->printTable();
    if (!jsonFile.empty())
        if (const auto written = writeFileAtomically(report, (*prepared)->toJson().dump(1) + "\n");
            !written)
            return fail(written.error());
    if (!judged)
        return fail(judged.error());
    return (*prepared)->clean() ? 0 : 1;
}

} // namespace

} // namespace cuda_agent::endurance

int main(int argc, char **argv) {
    using namespace cuda_agent::endurance;
    Options options;
    std::string manifest, json;
    int seconds = 0;
    CLI::App app(
        "Judges many candidates in one process and looks for what stays behind. Exit code 0 "
        "clean, 1 something was found, 2 the request is unusable, 3 the machine failed.");
    app.add_option("MANIFEST", manifest, "File that endurance.py writes")
        ->required()
        ->check(CLI::ExistingFile);
    app.add_option("--device", options.device, "Where to run")
        ->check(CLI::IsMember({"cpu", "cuda"}))
        ->capture_default_str();
    app.add_option("--count", options.count, "Candidates")
        ->check(CLI::Range(2, 1'000'000))
        ->capture_default_str();
    app.add_option("--seed", options.seed, "Decides which come and in which order")
        ->capture_default_str();
    app.add_option("--vary", options.vary, "Share with texts that no cache knows")
        ->check(CLI::Range(0.0, 1.0))
        ->capture_default_str();
    app.add_option("--every", options.every, "Candidates between two measurements")
        ->check(CLI::Range(1, 10'000))
        ->capture_default_str();
    app.add_option("--jobs", options.jobs, "Candidates at a time")
        ->check(CLI::Range(1, 64))
        ->capture_default_str();
    app.add_flag("--share", options.share,
                 "Judges share the processes of candidates, which serve on after a wrong answer, "
                 "as in training");
    app.add_option("--seconds", seconds, "End after that time; 0: when all are judged")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--leak", options.leaks,
                   "Lose one each five candidates, to see that it is found: fd, process, orphan, "
                   "memory, file, shm, cgroup, thread");
    app.add_option("--json", json, "File for the report");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    options.limit = std::chrono::seconds(seconds);
    std::signal(SIGPIPE, SIG_IGN);
    // The candidate at hand is finished first.
    for (const int number : {SIGINT, SIGTERM})
        std::signal(number, [](int) { stopped = true; });
    return run(options, manifest, json);
}
