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

Result<std::string> weightsHash(const fs::path &folder) {
    std::error_code error;
    const auto single = folder / "model.safetensors",
               index = folder / "model.safetensors.index.json";
    if (fs::exists(single, error))
        return hashOf(single);
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
    std::string lines;
    for (const auto &name : names) {
        CUDA_AGENT_ASSIGN(hash, hashOf(folder / name));
        lines += fmt::format("{} {}\n", hash, name);
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

Result<Weights> readWeights(const fs::path &given) {
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
    CUDA_AGENT_TRY(readJsonFile(folder / "config.json"));
    CUDA_AGENT_TRY(checkTemplate(folder / "tokenizer.json"));
    CUDA_AGENT_ASSIGN(hash, weightsHash(folder));
    auto name = nameOf(folder);
    return Weights{std::move(folder), std::move(name), std::move(hash)};
}

fs::path defaultWeights() {
    if (const char *given = std::getenv("CUDA_AGENT_WEIGHTS"); given && *given)
        return given;
    return shareDir() / "weights";
}

} // namespace cuda_agent::policy
