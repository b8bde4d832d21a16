// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/library_folders.h"

#include "core/base/paths.h"

#include <cstdlib>
#include <link.h>
#include <string>

namespace cuda_agent::plan {

namespace fs = std::filesystem;

namespace {

void addUnique(std::vector<fs::path> &folders, const fs::path &folder) {
    std::error_code problem;
    const fs::path real = fs::canonical(folder, problem);
    if (!problem && std::find(folders.begin(), folders.end(), real) == folders.end())
        folders.push_back(real);
}

bool hasCudaLibrary(const fs::path &folder) {
    std::error_code problem;
    for (const auto &entry : fs::directory_iterator(folder, problem)) {
        const std::string name = entry.path().filename();
        if (name.starts_with("libcublasLt.so") || name.starts_with("libcudnn.so"))
            return true;
    }
    return false;
}

/// Every path that one step of globbing gives: `folder/<any>/rest`.
void addBelow(std::vector<fs::path> &candidates, const fs::path &folder, const fs::path &rest) {
    std::error_code problem;
    for (const auto &entry : fs::directory_iterator(folder, problem))
        candidates.push_back(entry.path() / rest);
}

} // namespace

bool isSystemFolder(const fs::path &folder) {
    const std::string text = folder.string() + "/";
    for (const char *system : {"/usr/", "/lib/", "/lib64/"}) {
        if (text.starts_with(system))
            return true;
    }
    return false;
}

std::vector<fs::path> ownLibraryFolders() {
    std::vector<fs::path> folders;
    const auto visit = [](dl_phdr_info *info, std::size_t, void *data) {
        const fs::path file = info->dlpi_name;
        if (file.is_absolute() && !isSystemFolder(file.parent_path())) {
            auto &found = *static_cast<std::vector<fs::path> *>(data);
            std::error_code problem;
            const fs::path real = fs::canonical(file, problem).parent_path();
            if (!problem && !isSystemFolder(real))
                addUnique(found, real);
        }
        return 0;
    };
    dl_iterate_phdr(visit, &folders);
    return folders;
}

std::vector<fs::path> cudaLibraryFolders() {
    std::vector<fs::path> candidates;
    if (const char *variable = std::getenv("LD_LIBRARY_PATH")) {
        const std::string text = variable;
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t end = std::min(text.find(':', begin), text.size());
            if (end > begin)
                candidates.emplace_back(text.substr(begin, end - begin));
            begin = end + 1;
        }
    }
    if (const fs::path toolkit = cudaToolkitDir(); !toolkit.empty())
        candidates.push_back(toolkit / "lib64");
    // <venv>/bin/python -> <venv>/lib/python3.x/site-packages/nvidia/<part>/lib
    const fs::path environment = pythonProgram().parent_path().parent_path();
    if (!environment.empty()) {
        std::vector<fs::path> packages;
        addBelow(packages, environment / "lib", "site-packages/nvidia");
        for (const auto &package : packages)
            addBelow(candidates, package, "lib");
    }
    std::vector<fs::path> folders;
    for (const auto &folder : candidates) {
        if (hasCudaLibrary(folder))
            addUnique(folders, folder);
    }
    return folders;
}

} // namespace cuda_agent::plan
