// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/profile/process/cupti.h"

#include <dlfcn.h>
#include <filesystem>

namespace cuda_agent::profile::process {

namespace {

constexpr const char *libraryName = "libcupti.so.13";

Refusal missing(std::string text) {
    return {"dlopen", 0, "", std::move(text), {}};
}

} // namespace

Json toJson(const Refusal &refusal) {
    return {{"call", refusal.call},
            {"status", refusal.status},
            {"name", refusal.name},
            {"text", refusal.text}};
}

Outcome<const Cupti *> Cupti::load(const std::vector<std::string> &folders) {
    static Cupti cupti;
    if (cupti.cuptiGetVersion != nullptr)
        return &cupti;
    void *library = nullptr;
    std::string why;
    for (const auto &folder : folders) {
        const std::string path = folder + "/" + libraryName;
        if (!std::filesystem::exists(path))
            continue;
        library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
        if (library != nullptr) {
            cupti.file = path;
            break;
        }
        why = dlerror();
    }
    if (library == nullptr) {
        library = dlopen(libraryName, RTLD_NOW | RTLD_LOCAL);
        cupti.file = libraryName;
    }
    if (library == nullptr)
        return tl::unexpected(missing(why.empty() ? dlerror() : why));
    std::string lacking;
    const auto find = [&](auto &function, const char *name) {
        function =
            reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
        if (function == nullptr && lacking.empty())
            lacking = name;
    };
#define CUDA_AGENT_FIND(name) find(cupti.name, #name)
    CUDA_AGENT_CUPTI_FUNCTIONS(CUDA_AGENT_FIND);
    CUDA_AGENT_FIND(cuptiGetResultString);
    CUDA_AGENT_FIND(cuptiGetErrorMessage);
#undef CUDA_AGENT_FIND
    if (!lacking.empty()) {
        cupti.cuptiGetVersion = nullptr;
        return tl::unexpected(missing(fmt::format(
            "{} has no function {}; CUDA 13.0 or later is needed", cupti.file, lacking)));
    }
    std::uint32_t version = 0;
    CUDA_AGENT_TRY(cupti.check(cupti.cuptiGetVersion(&version), "cuptiGetVersion"));
    cupti.version = static_cast<int>(version);
    return &cupti;
}

Outcome<void> Cupti::check(CUptiResult status, const char *call) const {
    if (status == CUPTI_SUCCESS)
        return {};
    const char *name = nullptr, *text = nullptr;
    if (cuptiGetResultString(status, &name) != CUPTI_SUCCESS || name == nullptr)
        name = "";
    if (cuptiGetErrorMessage(status, &text) != CUPTI_SUCCESS || text == nullptr)
        text = "";
    return tl::unexpected(Refusal{call, static_cast<int>(status), name, text, {}});
}

Outcome<void> outcomeOf(Result<void> done) {
    if (done)
        return {};
    return tl::unexpected(
        Refusal{"a call of the candidate", 0, "", done.error().message, std::move(done).error()});
}

} // namespace cuda_agent::profile::process
