// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// Writes the planner's candidates for a task description as folders, without a judge:
//   planner-dump DESCRIPTION.json OUTPUT [--arch sm_90] [--sms 132] [--cpu] [--only N] [--list]
// Each schedule that the planner would try on its own becomes OUTPUT/<number>/, with the groups'
// other schedules at their first choice; OUTPUT/index.json tells what they are.
#include "core/policy/planner/search.h"

#include <cstring>
#include <fmt/core.h>

using namespace cuda_agent;

namespace {

int fail(const std::string &message) {
    fmt::print(stderr, "planner-dump: {}\n", message);
    return 2;
}

} // namespace

int main(int argc, char **argv) {
    std::vector<std::string> names;
    device::Info info;
    info.kind = device::Kind::cuda;
    info.architecture = "sm_90";
    info.multiprocessors = 132;
    info.memoryBytes = 141ull << 30;
    info.cacheBytes = 50ull << 20;
    int only = -1;
    bool list = false;
    auto numerics = task::Numerics::standard;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        const bool more = i + 1 < argc;
        if (word == "--arch" && more)
            info.architecture = argv[++i];
        else if (word == "--sms" && more)
            info.multiprocessors = std::atoi(argv[++i]);
        else if (word == "--only" && more)
            only = std::atoi(argv[++i]);
        else if (word == "--cpu")
            info.kind = device::Kind::cpu, info.multiprocessors = 2;
        else if (word == "--tf32")
            numerics = task::Numerics::tf32;
        else if (word == "--list")
            list = true;
        else
            names.push_back(word);
    }
    if (names.size() != 2 && !(list && names.size() == 1))
        return fail("give a description file and an output folder");
    auto json = readJsonFile(names[0]);
    if (!json)
        return fail(json.error().message);
    auto task = task::descriptionFromJson(*json);
    if (!task)
        return fail(task.error().message);
    device::Ceilings ceilings;
    ceilings.copyBytesPerSecond = info.kind == device::Kind::cpu ? 20e9 : 4.24e12;
    auto space = policy::SearchSpace::make(*task, info, ceilings, numerics);
    if (!space)
        return fail(space.error().message);
    if (list)
        fmt::print("{}\n", space->describe());
    if (names.size() < 2)
        return 0;
    Json index = Json::array();
    const std::vector<std::string> candidates = space->allSingleChanges();
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        if (only >= 0 && static_cast<int>(i) != only)
            continue;
        const auto files = space->write(candidates[i], {});
        if (!files)
            return fail(files.error().message);
        const std::filesystem::path folder = std::filesystem::path(names[1]) / std::to_string(i);
        std::filesystem::create_directories(folder / "kernels");
        for (const auto &[path, text] : files->files) {
            if (auto written = writeFileAtomically(folder / path, text); !written)
                return fail(written.error().message);
        }
        index.push_back({{"folder", std::to_string(i)},
                         {"name", candidates[i]},
                         {"expected_seconds", space->expectedSeconds(candidates[i])}});
    }
    if (auto written =
            writeFileAtomically(std::filesystem::path(names[1]) / "index.json", index.dump(1));
        !written)
        return fail(written.error().message);
    fmt::print("{} candidates\n", index.size());
    return 0;
}
