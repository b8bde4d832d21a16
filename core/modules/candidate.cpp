// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/modules/candidate.h"

#include "core/base/json.h"

#include <algorithm>

namespace cuda_agent::modules {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t largestFile = 1u << 20;
constexpr std::size_t mostFiles = 200;
constexpr std::string_view bindingEnding = "_binding.cpp";

bool isHeader(const std::string &path) {
    return path.ends_with(".h") || path.ends_with(".cuh") || path.ends_with(".hpp");
}

Result<std::string> readPlain(const fs::path &file, const std::string &shown) {
    std::error_code problem;
    const auto status = fs::symlink_status(file, problem);
    if (status.type() == fs::file_type::not_found)
        return requestError("there is no '{}'", shown);
    if (status.type() != fs::file_type::regular)
        return requestError("'{}' is no regular file; links are not followed", shown);
    if (fs::file_size(file, problem) > largestFile)
        return requestError("'{}' is larger than 1 MiB", shown);
    return readTextFile(file, largestFile);
}

Result<void> readKernels(const fs::path &folder, Candidate &candidate) {
    std::error_code problem;
    if (fs::symlink_status(folder, problem).type() != fs::file_type::directory)
        return {};
    for (const auto &entry : fs::directory_iterator(folder, problem)) {
        const std::string name = entry.path().filename();
        const std::string path = "kernels/" + name;
        if (!name.ends_with(".cu") && !name.ends_with(".cpp") && !isHeader(name))
            continue;
        if (name.find_first_of("\n\"\\: ") != name.npos || name.starts_with("-"))
            return requestError("'{}' is no name for a kernel file: letters, digits, '_', '-' and "
                                "'.' are taken",
                                path);
        if (candidate.files.size() >= mostFiles)
            return requestError("more than {} files below kernels/", mostFiles);
        CUDA_AGENT_ASSIGN(text, readPlain(entry.path(), path));
        candidate.files[path] = std::move(text);
    }
    return {};
}

/// "kernels/x.cu" and "kernels/x_binding.cpp" come in pairs.
Result<void> checkPairs(const Candidate &candidate) {
    const auto stem = [](const std::string &path, std::string_view ending) {
        return path.substr(0, path.size() - ending.size());
    };
    for (const auto &kernel : candidate.kernels()) {
        const auto binding = stem(kernel, ".cu") + std::string(bindingEnding);
        if (!candidate.files.contains(binding))
            return requestError("{} has no {}, the file that makes it callable from Python", kernel,
                                binding);
    }
    for (const auto &[path, text] : candidate.files)
        if (path.ends_with(bindingEnding) &&
            !candidate.files.contains(stem(path, bindingEnding) + ".cu"))
            return requestError("{} has no {}.cu beside it", path, stem(path, bindingEnding));
        else if (path.ends_with(".cpp") && !path.ends_with(bindingEnding))
            return requestError("{} is neither a kernel (X.cu) nor a binding (X{})", path,
                                bindingEnding);
    return {};
}

std::vector<std::string> endingWith(const Candidate &candidate, std::string_view ending) {
    std::vector<std::string> paths;
    for (const auto &[path, text] : candidate.files)
        if (path.ends_with(ending))
            paths.push_back(path);
    return paths;
}

} // namespace

std::vector<std::string> Candidate::kernels() const {
    return endingWith(*this, ".cu");
}
std::vector<std::string> Candidate::bindings() const {
    return endingWith(*this, bindingEnding);
}
std::map<std::string, std::string> Candidate::headers() const {
    std::map<std::string, std::string> found;
    for (const auto &[path, text] : files)
        if (isHeader(path))
            found.emplace(path, text);
    return found;
}

Result<Candidate> readCandidate(const fs::path &source) {
    Candidate candidate;
    candidate.source = source;
    std::error_code problem;
    if (!fs::is_directory(source, problem)) {
        CUDA_AGENT_ASSIGN(text, readPlain(source, source.string()));
        candidate.form = Form::singleFile;
        candidate.files[modelFile] = std::move(text);
        return candidate;
    }
    CUDA_AGENT_ASSIGN(text, readPlain(source / modelFile, modelFile));
    candidate.files[modelFile] = std::move(text);
    CUDA_AGENT_TRY(readKernels(source / "kernels", candidate));
    CUDA_AGENT_TRY(checkPairs(candidate));
    if (candidate.kernels().empty()) {
        candidate.form = Form::singleFile;
        std::erase_if(candidate.files, [](const auto &file) { return file.first != modelFile; });
    }
    return candidate;
}

} // namespace cuda_agent::modules
