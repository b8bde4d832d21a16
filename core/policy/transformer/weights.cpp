// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/policy/transformer/weights.h"

#include "core/base/hash.h"
#include "core/base/paths.h"
#include "core/base/unique_fd.h"
#include "core/policy/chat/chat.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>

namespace cuda_agent::policy {

namespace fs = std::filesystem;

namespace {

Result<std::string> hashOf(const fs::path &file) {
    const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat about {};
    if (!fd || ::fstat(fd.get(), &about) != 0)
        return requestError("{}: {}", file.string(), std::strerror(errno));
    if (!S_ISREG(about.st_mode) || about.st_size == 0)
        return requestError("{} is no file of weights", file.string());
    const auto size = static_cast<std::size_t>(about.st_size);
    void *bytes = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd.get(), 0);
    if (bytes == MAP_FAILED)
        return machineError("{}: {}", file.string(), std::strerror(errno));
    auto hash = sha256Hex({static_cast<const char *>(bytes), size});
    ::munmap(bytes, size);
    return hash;
}

/// The file of weights, or the shards in the order of their names; all are there.
Result<std::vector<fs::path>> filesOf(const fs::path &folder) {
    std::error_code error;
    const auto single = folder / "model.safetensors",
               index = folder / "model.safetensors.index.json";
    if (fs::exists(single, error))
        return std::vector{single};
    if (!fs::exists(index, error))
        return requestError("{} is not a model: it has neither model.safetensors nor its index",
                            folder.string());
    CUDA_AGENT_ASSIGN(json, readJsonFile(index));
    const auto map = json.find("weight_map");
    if (map == json.end() || !map->is_object())
        return requestError("{}: needs a weight_map", index.string());
    std::set<std::string> names;
    for (const auto &file : *map) {
        if (!file.is_string() ||
            fs::path(file.get<std::string>()).filename() != file.get<std::string>())
            return requestError("{}: its files must lie beside it", index.string());
        names.insert(file.get<std::string>());
    }
    std::vector<fs::path> files;
    for (const auto &name : names)
        files.push_back(folder / name);
    return files;
}

Result<std::uintmax_t> bytesOf(const std::vector<fs::path> &files) {
    std::uintmax_t sum = 0;
    for (const auto &file : files) {
        std::error_code error;
        const auto bytes = fs::file_size(file, error);
        if (error)
            return requestError("{}: {}", file.string(), error.message());
        if (bytes == 0)
            return requestError("{} is no file of weights", file.string());
        sum += bytes;
    }
    return sum;
}

Result<std::string> hashOfAll(const std::vector<fs::path> &files) {
    if (files.size() == 1 && files.front().filename() == "model.safetensors")
        return hashOf(files.front());
    std::string lines;
    for (const auto &file : files) {
        CUDA_AGENT_ASSIGN(hash, hashOf(file));
        lines += fmt::format("{} {}\n", hash, file.filename().string());
    }
    return sha256Hex(lines);
}

/// Our conversations cannot be written in a tokenizer that has not each of these as one token.
Result<void> checkTemplate(const fs::path &file) {
    CUDA_AGENT_ASSIGN(json, readJsonFile(file));
    std::set<std::string> added;
    if (const auto tokens = json.find("added_tokens"); tokens != json.end() && tokens->is_array())
        for (const auto &token : *tokens)
            if (token.is_object() && token.contains("content") && token["content"].is_string())
                added.insert(token["content"].get<std::string>());
    for (const auto special : chat::specialTokens)
        if (special != chat::padding && !added.contains(std::string(special)))
            return requestError("{} has no token {}: the model was not trained on this program's "
                                "chat template; choose weights that 'cuda-agent train' made",
                                file.string(), special);
    return {};
}

std::string nameOf(const fs::path &folder) {
    return (folder.filename() == "actor" ? folder.parent_path() : folder).filename().string();
}

} // namespace

Result<Weights> findWeights(const fs::path &given) {
    std::error_code error;
    auto folder = fs::weakly_canonical(fs::absolute(given, error), error);
    if (error || !fs::is_directory(folder, error))
        return requestError("{} is no folder of weights; name one with --weights or "
                            "CUDA_AGENT_WEIGHTS, such as a checkpoint's actor/ that 'cuda-agent "
                            "train' made",
                            given.string());
    for (const auto *name : {"config.json", "tokenizer.json"})
        if (!fs::exists(folder / name, error))
            return requestError("{} is not a model: {} is missing", folder.string(), name);
    CUDA_AGENT_ASSIGN(config, readJsonFile(folder / "config.json"));
    CUDA_AGENT_TRY(checkTemplate(folder / "tokenizer.json"));
    CUDA_AGENT_ASSIGN(files, filesOf(folder));
    Weights weights;
    CUDA_AGENT_ASSIGN(bytes, bytesOf(files));
    weights.bytes = bytes;
    if (const auto size = config.find("vocab_size");
        size != config.end() && size->is_number_integer())
        weights.vocabulary = std::max<std::int64_t>(0, size->get<std::int64_t>());
    weights.name = nameOf(folder);
    weights.folder = std::move(folder);
    return weights;
}

Result<Weights> readWeights(const fs::path &folder) {
    CUDA_AGENT_ASSIGN(weights, findWeights(folder));
    CUDA_AGENT_ASSIGN(files, filesOf(weights.folder));
    CUDA_AGENT_ASSIGN(hash, hashOfAll(files));
    weights.sha256 = std::move(hash);
    return weights;
}

fs::path defaultWeights() {
    if (const char *given = std::getenv("CUDA_AGENT_WEIGHTS"); given && *given)
        return given;
    return shareDir() / "weights";
}

} // namespace cuda_agent::policy
