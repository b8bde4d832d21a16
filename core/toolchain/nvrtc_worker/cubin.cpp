// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/nvrtc_worker/cubin.h"

#include "core/toolchain/nvrtc_worker/for_lines.h"

#include <charconv>
#include <cstring>
#include <elf.h>

namespace cuda_agent::toolchain {

namespace {

constexpr Elf64_Half machineCuda = 190; ///< EM_CUDA
/// Bit of st_other that marks a kernel, as opposed to a device function (STO_CUDA_ENTRY).
constexpr unsigned char entryMark = 0x10;
/// Static shared memory of a block on every architecture; more has to be dynamic.
constexpr int staticSharedLimit = 48 << 10;

template <typename T>
bool readAt(std::string_view file, std::uint64_t offset, T &value) {
    if (offset > file.size() || sizeof value > file.size() - offset)
        return false;
    std::memcpy(&value, file.data() + offset, sizeof value);
    return true;
}

/// The text that starts at `offset` of a string table, or nothing when it does not end inside.
std::optional<std::string> textAt(std::string_view table, std::uint64_t offset) {
    if (offset >= table.size())
        return std::nullopt;
    const auto rest = table.substr(offset);
    const auto end = rest.find('\0');
    if (end == rest.npos)
        return std::nullopt;
    return std::string(rest.substr(0, end));
}

std::optional<std::string_view> contentOf(std::string_view file, const Elf64_Shdr &section) {
    if (section.sh_offset > file.size() || section.sh_size > file.size() - section.sh_offset)
        return std::nullopt;
    return file.substr(section.sh_offset, section.sh_size);
}

/// The number right before `unit` in a line, e.g. 800 in "800 bytes stack frame, ...".
int numberBefore(std::string_view line, std::string_view unit) {
    const auto at = line.find(unit);
    if (at == line.npos)
        return -1;
    auto end = at;
    while (end > 0 && line[end - 1] == ' ')
        --end;
    auto begin = end;
    while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9')
        --begin;
    int value = -1;
    const auto [stop, error] = std::from_chars(line.data() + begin, line.data() + end, value);
    return error == std::errc() && stop == line.data() + end ? value : -1;
}

/// The name between the quotes of "Compiling entry function 'x' for 'sm_90'".
std::optional<std::string_view> compiledEntry(std::string_view line) {
    constexpr std::string_view start = "Compiling entry function '";
    const auto at = line.find(start);
    if (at == line.npos)
        return std::nullopt;
    const auto rest = line.substr(at + start.size());
    const auto end = rest.find('\'');
    return end == rest.npos ? std::nullopt : std::optional(rest.substr(0, end));
}

bool isStatistic(std::string_view line) {
    return line.starts_with("ptxas info") || line.starts_with("ptxas         .");
}

} // namespace

Result<std::vector<std::string>> kernelsOfCubin(std::string_view file) {
    const auto damaged = [] { return machineError("the compiler made a damaged cubin"); };
    Elf64_Ehdr head{};
    if (!readAt(file, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
        head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != machineCuda ||
        head.e_shentsize != sizeof(Elf64_Shdr))
        return machineError("the compiler made something that is not a cubin");
    std::vector<Elf64_Shdr> sections(head.e_shnum);
    for (std::size_t i = 0; i < sections.size(); ++i)
        if (head.e_shoff > file.size() ||
            !readAt(file, head.e_shoff + i * sizeof(Elf64_Shdr), sections[i]))
            return damaged();
    std::vector<std::string> names;
    for (const auto &section : sections) {
        if (section.sh_type != SHT_SYMTAB)
            continue;
        if (section.sh_entsize != sizeof(Elf64_Sym) || section.sh_link >= sections.size())
            return damaged();
        const auto symbols = contentOf(file, section);
        const auto texts = contentOf(file, sections[section.sh_link]);
        if (!symbols || !texts)
            return damaged();
        for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols->size();
             at += sizeof(Elf64_Sym)) {
            Elf64_Sym symbol{};
            readAt(*symbols, at, symbol);
            if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF ||
                (symbol.st_other & entryMark) == 0)
                continue;
            auto name = textAt(*texts, symbol.st_name);
            if (!name)
                return damaged();
            names.push_back(std::move(*name));
        }
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<EntryInfo> entryFacts(const std::vector<std::string> &names, std::string_view log) {
    std::vector<EntryInfo> entries;
    for (const auto &name : names)
        entries.push_back({name});
    EntryInfo *current = nullptr;
    forLines(log, [&](std::string_view line) {
        if (!isStatistic(line))
            return;
        if (const auto name = compiledEntry(line)) {
            const auto found = std::find_if(entries.begin(), entries.end(),
                                            [&](const auto &entry) { return entry.name == *name; });
            current = found == entries.end() ? nullptr : &*found;
            return;
        }
        if (!current)
            return;
        if (const int stack = numberBefore(line, "bytes stack frame"); stack >= 0) {
            current->stackBytes = stack;
            current->spillBytes = std::max(numberBefore(line, "bytes spill stores"),
                                           numberBefore(line, "bytes spill loads"));
        }
        if (const int registers = numberBefore(line, "registers"); registers >= 0) {
            current->registers = registers;
            current->sharedBytes = std::max(numberBefore(line, "bytes smem"), 0);
            current->barriers = numberBefore(line, "barriers");
        }
    });
    return entries;
}

std::string tooMuchShared(std::string_view log) {
    std::string result;
    std::string_view entry;
    forLines(log, [&](std::string_view line) {
        if (const auto name = compiledEntry(line))
            entry = *name;
        if (const int bytes = numberBefore(line, "bytes smem");
            isStatistic(line) && bytes > staticSharedLimit && result.empty())
            result = fmt::format("kernel '{}' has {} bytes of static shared memory, at most {} are "
                                 "possible; declare it extern __shared__ and set the plan's "
                                 "\"shared\" for more",
                                 entry, bytes, staticSharedLimit);
    });
    return result;
}

std::string withoutStatistics(std::string_view log) {
    std::string result;
    forLines(log, [&](std::string_view line) {
        if (!isStatistic(line))
            result.append(line).push_back('\n');
    });
    return result;
}

} // namespace cuda_agent::toolchain
