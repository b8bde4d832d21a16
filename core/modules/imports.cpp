// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/modules/imports.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

namespace cuda_agent::modules {

namespace {

constexpr std::array plainNames = {
    "dlsym",
    "dlvsym",
    "dlopen",
    "dlmopen",
    "dl_iterate_phdr",
    "fork",
    "vfork",
    "clone",
    "clone3",
    "execve",
    "execv",
    "execvp",
    "execl",
    "execlp",
    "system",
    "popen",
    "posix_spawn",
    "posix_spawnp",
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "socket",
    "connect",
    "mprotect",
    "syscall",
    "pthread_create",
    "kill",
    "prctl",
    "recv",
    "recvmsg",
    "send",
    "sendmsg",
    "open",
    "open64",
    "openat",
    "fopen",
    "fopen64",
    "mmap",
    "mmap64",
    "PyEval_EvalCode",
    "clock_settime",
    "cudaStreamSetAttribute",
    "cudaDeviceSetLimit",
};
constexpr std::array beginnings = {
    // Python's own machinery.
    "PyRun_",
    "Py_Compile",
    "PyImport_",
    // Routines of the host that do a kernel's work.
    "cblas_",
    "mkl_",
    "dnnl_",
    // Operators without the dispatcher, the dispatcher by name, threads.
    "_ZN2at3cpu",
    "_ZN2at6native",
    "_ZNK3c1010Dispatcher",
    "_ZN3c1010Dispatcher",
    "_ZNSt6thread15_M_start_thread",
};
constexpr std::array products = {"sgemm_", "dgemm_", "sgemv_", "dgemv_"};

/// A piece of the file, or null where it does not lie inside.
template <typename T>
const T *at(const std::string &file, std::uint64_t offset, std::uint64_t count = 1) {
    if (offset > file.size() || count > (file.size() - offset) / sizeof(T) ||
        offset % alignof(T) != 0)
        return nullptr;
    return reinterpret_cast<const T *>(file.data() + offset);
}

} // namespace

Result<std::vector<std::string>> importedNames(const std::filesystem::path &library) {
    std::ifstream stream(library, std::ios::binary);
    const std::string file{std::istreambuf_iterator<char>(stream),
                           std::istreambuf_iterator<char>()};
    const auto damaged = [&] {
        return machineError("{} is not a library that can be read", library.string());
    };
    const auto *header = at<Elf64_Ehdr>(file, 0);
    if (header == nullptr || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB)
        return damaged();
    const auto *sections = at<Elf64_Shdr>(file, header->e_shoff, header->e_shnum);
    if (sections == nullptr)
        return damaged();
    std::vector<std::string> names;
    for (std::size_t i = 0; i < header->e_shnum; ++i) {
        if (sections[i].sh_type != SHT_DYNSYM)
            continue;
        const std::uint64_t count = sections[i].sh_size / sizeof(Elf64_Sym);
        const auto *symbols = at<Elf64_Sym>(file, sections[i].sh_offset, count);
        if (symbols == nullptr || sections[i].sh_link >= header->e_shnum)
            return damaged();
        const auto &texts = sections[sections[i].sh_link];
        const auto *text = at<char>(file, texts.sh_offset, texts.sh_size);
        if (text == nullptr)
            return damaged();
        for (std::uint64_t k = 0; k < count; ++k) {
            if (symbols[k].st_shndx != SHN_UNDEF || symbols[k].st_name >= texts.sh_size)
                continue;
            const char *name = text + symbols[k].st_name;
            names.emplace_back(name, strnlen(name, texts.sh_size - symbols[k].st_name));
        }
        return names;
    }
    return damaged();
}

std::string operatorOf(const std::string &mangled) {
    constexpr std::string_view start = "_ZN2at4_ops";
    if (!mangled.starts_with(start))
        return {};
    std::size_t length = 0;
    std::size_t i = start.size();
    for (; i < mangled.size() && mangled[i] >= '0' && mangled[i] <= '9' && length < 1000; ++i)
        length = 10 * length + static_cast<std::size_t>(mangled[i] - '0');
    return mangled.substr(std::min(i, mangled.size()), length);
}

std::vector<std::string> machineryIn(const std::vector<std::string> &names) {
    std::vector<std::string> found;
    for (const auto &name : names) {
        const auto is = [&](const char *other) { return name == other; };
        const auto begins = [&](const char *other) { return name.starts_with(other); };
        if (std::any_of(plainNames.begin(), plainNames.end(), is) ||
            std::any_of(products.begin(), products.end(), is) ||
            std::any_of(beginnings.begin(), beginnings.end(), begins))
            found.push_back("it uses " + name);
    }
    return found;
}

} // namespace cuda_agent::modules
