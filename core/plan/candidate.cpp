// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/sources.h"

#include <set>

namespace cuda_agent::plan {

namespace {

constexpr std::size_t maxPlanBytes = 1u << 20;
constexpr std::size_t maxKernelBytes = 1u << 20;

/// True when `file` lies under `folder` after all symbolic links are followed.
bool liesInside(const std::filesystem::path &file, const std::filesystem::path &folder) {
    std::error_code problem;
    const auto realFile = std::filesystem::canonical(file, problem);
    if (problem)
        return false;
    const auto realFolder = std::filesystem::canonical(folder, problem);
    if (problem)
        return false;
    const auto relative = realFile.lexically_relative(realFolder);
    return !relative.empty() && *relative.begin() != "..";
}

Result<std::string> readInside(const std::filesystem::path &folder, const std::string &name,
                               const std::string &field, std::size_t limit) {
    const auto file = folder / name;
    std::error_code problem;
    if (!std::filesystem::is_regular_file(file, problem))
        return requestError("{}: there is no file '{}' in '{}'", field, name, folder.string());
    if (!liesInside(file, folder))
        return requestError("{}: '{}' leads out of the candidate's folder", field, name);
    if (std::filesystem::file_size(file, problem) > limit)
        return requestError("{}: '{}' is larger than {} bytes", field, name, limit);
    return readTextFile(file, limit);
}

/// `read` gives a file of at most so many bytes; its errors name the field that wants it.
template <typename Read>
Result<Candidate> candidateFrom(const Read &read) {
    CUDA_AGENT_ASSIGN(text, read("plan.json", "candidate", maxPlanBytes));
    CUDA_AGENT_ASSIGN(json, parseJson(text, "plan.json"));
    auto plan = planFromJson(json);
    if (!plan)
        return requestError("plan.json: {}", plan.error().message);
    Candidate candidate;
    candidate.plan = std::move(*plan);
    candidate.planText = std::move(text);
    for (std::size_t i = 0; i < candidate.plan.steps.size(); ++i) {
        const auto *kernel = std::get_if<KernelStep>(&candidate.plan.steps[i]);
        if (kernel == nullptr || candidate.files.contains(kernel->source))
            continue;
        CUDA_AGENT_ASSIGN(
            kernelText,
            read(kernel->source, fmt::format("plan.json: steps[{}].source", i), maxKernelBytes));
        candidate.files.emplace(kernel->source, std::move(kernelText));
    }
    return candidate;
}

std::vector<std::string> entriesOf(const Plan &plan, const std::string &source) {
    std::set<std::string> entries;
    for (const auto &step : plan.steps) {
        const auto *kernel = std::get_if<KernelStep>(&step);
        if (kernel != nullptr && kernel->source == source)
            entries.insert(kernel->entry);
    }
    return {entries.begin(), entries.end()};
}

/// All that is wrong with all files, so that one look mends them all.
void append(toolchain::Rejection &all, toolchain::Rejection &&more) {
    if (all.summary.empty())
        all.summary = std::move(more.summary);
    all.diagnostics.insert(all.diagnostics.end(), more.diagnostics.begin(), more.diagnostics.end());
    all.log += more.log;
}

} // namespace

Result<Candidate> readCandidate(const std::filesystem::path &folder) {
    std::error_code problem;
    if (!std::filesystem::is_directory(folder, problem))
        return requestError("'{}' is not a folder; a plan candidate is a folder with plan.json",
                            folder.string());
    CUDA_AGENT_ASSIGN(candidate, candidateFrom([&](const std::string &name,
                                                   const std::string &field, std::size_t limit) {
                          return readInside(folder, name, field, limit);
                      }));
    candidate.folder = folder;
    return std::move(candidate);
}

Result<Candidate> candidateOf(const std::map<std::string, std::string> &files) {
    return candidateFrom([&](const std::string &name, const std::string &field,
                             std::size_t limit) -> Result<std::string> {
        const auto found = files.find(name);
        if (found == files.end())
            return requestError("{}: there is no file '{}'", field, name);
        if (found->second.size() > limit)
            return requestError("{}: '{}' is larger than {} bytes", field, name, limit);
        return found->second;
    });
}

std::vector<toolchain::Source> sourcesOf(const Candidate &candidate) {
    std::vector<toolchain::Source> sources;
    for (const auto &path : candidate.plan.sources())
        sources.push_back({path, candidate.files.at(path), entriesOf(candidate.plan, path),
                           candidate.plan.defines});
    return sources;
}

Result<CompileOutcome> compile(const Candidate &candidate, toolchain::Compiler &compiler,
                               std::stop_token stop) {
    CompiledPlan compiled;
    compiled.candidate = &candidate;
    std::optional<toolchain::Rejection> rejection;
    for (const auto &source : sourcesOf(candidate)) {
        CUDA_AGENT_ASSIGN(outcome, compiler.compile(source, stop));
        if (auto *failure = std::get_if<toolchain::Rejection>(&outcome)) {
            if (!rejection)
                rejection.emplace();
            append(*rejection, std::move(*failure));
        } else {
            compiled.binaries.emplace(source.path, std::move(std::get<toolchain::Binary>(outcome)));
        }
    }
    if (rejection)
        return CompileOutcome(std::move(*rejection));
    return CompileOutcome(std::move(compiled));
}

} // namespace cuda_agent::plan
