// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/sandbox/system_layout.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace cuda_agent::sandbox {

namespace fs = std::filesystem;

namespace {

bool isThere(const fs::path &path) {
    std::error_code ignored;
    return fs::exists(path, ignored);
}

bool under(const fs::path &path, const fs::path &folder) {
    const auto text = path.string();
    const auto prefix = folder.string();
    return text.starts_with(prefix) && (text.size() == prefix.size() || text[prefix.size()] == '/');
}

/// Folders that the dynamic linker's settings name.
std::vector<std::string> linkerFolders() {
    std::vector<fs::path> files{"/etc/ld.so.conf"};
    std::error_code ignored;
    for (const auto &entry : fs::directory_iterator("/etc/ld.so.conf.d", ignored))
        files.push_back(entry.path());
    std::vector<std::string> folders;
    for (const auto &file : files) {
        std::ifstream in(file);
        for (std::string line; std::getline(in, line);)
            if (line.starts_with('/'))
                folders.push_back(line.substr(0, line.find_first_of(" \t#")));
    }
    return folders;
}

std::vector<std::string> searchPathFolders() {
    std::vector<std::string> folders;
    const char *path = std::getenv("LD_LIBRARY_PATH");
    std::istringstream in(path ? path : "");
    for (std::string folder; std::getline(in, folder, ':');)
        if (folder.starts_with('/'))
            folders.push_back(folder);
    return folders;
}

} // namespace

SystemLayout inspectSystem() {
    SystemLayout layout;
    layout.folders.push_back("/usr");
    for (const char *name : {"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}) {
        std::error_code ignored;
        if (fs::is_symlink(name, ignored))
            layout.links.emplace_back(fs::read_symlink(name, ignored).string(), name);
        else if (isThere(name))
            layout.folders.push_back(name);
    }
    // The linker's tables, the programs that /usr/bin/c++ and the like point to, the time zone; and
    // the processor's topology, which PyTorch and the BLAS libraries read to choose thread counts
    // and block sizes.
    for (const char *name :
         {"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives",
          "/etc/localtime", "/sys/devices/system/cpu", "/sys/devices/system/node"})
        if (isThere(name))
            layout.files.push_back(name);
    // Only what the mode of the file alone protects; /proc/kcore and others ask for capabilities.
    if (::geteuid() == 0)
        for (const char *name : {"/proc/kpagecount", "/proc/kpageflags", "/proc/kpagecgroup",
                                 "/proc/slabinfo", "/proc/vmallocinfo", "/proc/timer_list"})
            if (isThere(name))
                layout.hidden.push_back(name);
    return layout;
}

GpuLayout inspectGpu(int gpu) {
    GpuLayout layout;
    for (const auto &name : {"/dev/nvidia" + std::to_string(gpu), std::string("/dev/nvidiactl"),
                             std::string("/dev/nvidia-uvm"), std::string("/dev/nvidia-uvm-tools")})
        if (isThere(name))
            layout.devices.push_back(name);
    // libcuda looks the card up by its PCI address. Not the whole of /sys: the rest holds control
    // groups and debug interfaces.
    for (const char *name : {"/sys/bus", "/sys/class", "/sys/dev", "/sys/devices", "/sys/module"})
        if (isThere(name))
            layout.folders.push_back(name);

    const auto isLibrary = [](const std::string &folder) {
        return isThere(fs::path(folder) / "libcuda.so.1");
    };
    const auto isShown = [](const std::string &folder) {
        std::error_code failed;
        const auto real = fs::canonical(folder, failed);
        return !failed && under(real, "/usr") && under(folder, "/usr");
    };
    const auto known = linkerFolders();
    if (const auto found = std::find_if(known.begin(), known.end(), isLibrary);
        found != known.end()) {
        if (!isShown(*found))
            layout.folders.push_back(*found);
        return layout;
    }
    const auto searched = searchPathFolders();
    if (const auto found = std::find_if(searched.begin(), searched.end(), isLibrary);
        found != searched.end()) {
        if (!isShown(*found))
            layout.folders.push_back(*found);
        layout.libraryPath = *found;
    }
    return layout;
}

} // namespace cuda_agent::sandbox
