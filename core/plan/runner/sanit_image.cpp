// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/runner/sanit_image.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <cxxabi.h>
#include <elf.h>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace cuda_agent::plan::runner::sanit {

namespace {

constexpr const char *anchorName = "__cah_copies";

/// Reads little pieces of a text and throws where it ends too early.
class Cursor {
  public:
    Cursor(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

    template <typename Number>
    Number number() {
        Number value;
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return value;
    }
    std::string_view take(std::size_t bytes) {
        if (at_ > text_.size() || text_.size() - at_ < bytes)
            throw std::runtime_error("it is cut short");
        const auto part = text_.substr(at_, bytes);
        at_ += bytes;
        return part;
    }
    std::string_view string() {
        const auto end = text_.find('\0', std::min(at_, text_.size()));
        if (end == text_.npos)
            throw std::runtime_error("a name has no end");
        const auto part = text_.substr(at_, end - at_);
        at_ = end + 1;
        return part;
    }
    std::uint64_t unsignedLeb() {
        std::uint64_t value = 0;
        for (int shift = 0;; shift += 7) {
            const auto byte = number<std::uint8_t>();
            if (shift < 64)
                value |= std::uint64_t{byte & 0x7fu} << shift;
            if (byte < 0x80)
                return value;
        }
    }
    std::int64_t signedLeb() {
        std::uint64_t value = 0;
        int shift = 0;
        std::uint8_t byte = 0x80;
        while (byte & 0x80) {
            byte = number<std::uint8_t>();
            if (shift < 64)
                value |= std::uint64_t{byte & 0x7fu} << shift;
            shift += 7;
        }
        if (shift < 64 && (byte & 0x40))
            value |= ~std::uint64_t{0} << shift;
        return static_cast<std::int64_t>(value);
    }
    std::size_t at() const { return at_; }
    void moveTo(std::size_t at) { at_ = at; }
    bool atEnd() const { return at_ >= text_.size(); }

  private:
    std::string_view text_;
    std::size_t at_;
};

struct Section {
    std::string_view name;
    std::uint32_t type = 0;
    std::uint32_t link = 0;
    std::string_view text;
};

std::vector<Section> sectionsOf(std::string_view file) {
    const auto header = Cursor(file).number<Elf64_Ehdr>();
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
        header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_shentsize != sizeof(Elf64_Shdr))
        throw std::runtime_error("it is no ELF file");
    std::vector<Elf64_Shdr> headers;
    Cursor cursor(file, header.e_shoff);
    for (int i = 0; i < header.e_shnum; ++i)
        headers.push_back(cursor.number<Elf64_Shdr>());
    std::vector<Section> sections;
    for (const auto &each : headers) {
        Section section{{}, each.sh_type, each.sh_link, {}};
        if (each.sh_type != SHT_NOBITS)
            section.text = Cursor(file, each.sh_offset).take(each.sh_size);
        sections.push_back(section);
    }
    for (std::size_t i = 0; i < sections.size(); ++i)
        sections[i].name = Cursor(sections.at(header.e_shstrndx).text, headers[i].sh_name).string();
    return sections;
}

std::uint64_t spanOf(std::string_view file) {
    const auto header = Cursor(file).number<Elf64_Ehdr>();
    std::uint64_t span = 0;
    Cursor cursor(file, header.e_phoff);
    for (int i = 0; i < header.e_phnum; ++i) {
        const auto segment = cursor.number<Elf64_Phdr>();
        if (segment.p_type == PT_LOAD)
            span = std::max(span, segment.p_vaddr + segment.p_memsz);
    }
    return span;
}

/// "k(...)::tile" -> "tile".
std::string ownName(std::string_view symbol) {
    int status = 0;
    char *text = abi::__cxa_demangle(std::string(symbol).c_str(), nullptr, nullptr, &status);
    if (status != 0 || text == nullptr)
        return std::string(symbol);
    std::string name = text;
    std::free(text);
    if (const auto at = name.rfind("::"); at != name.npos)
        name.erase(0, at + 2);
    return name.substr(0, name.find(" ("));
}

} // namespace

/// Runs the programs of a .debug_line section, which make rows of a table.
class LineReader {
  public:
    LineReader(std::string_view text, Image &image) : text_(text), image_(image) {}

    void run() {
        for (std::size_t at = 0; at + 4 < text_.size();)
            at = unit(at);
        std::ranges::stable_sort(image_.rows_, {}, &Image::Row::address);
    }

  private:
    /// One compilation unit; says where the next begins.
    std::size_t unit(std::size_t begin) {
        Cursor cursor(text_, begin);
        const auto length = cursor.number<std::uint32_t>();
        const std::size_t end = cursor.at() + length;
        const auto version = cursor.number<std::uint16_t>();
        if (length >= 0xfffffff0u || end > text_.size())
            throw std::runtime_error("its line table is damaged");
        if (version < 2 || version > 4)
            return end;
        const auto headerBytes = cursor.number<std::uint32_t>();
        const std::size_t program = cursor.at() + headerBytes;
        step_ = cursor.number<std::uint8_t>();
        if (version >= 4)
            cursor.number<std::uint8_t>(); // operations an instruction, 1 on all we know
        cursor.number<std::uint8_t>();     // default of is_stmt
        base_ = cursor.number<std::int8_t>();
        range_ = std::max<int>(1, cursor.number<std::uint8_t>());
        special_ = cursor.number<std::uint8_t>();
        operands_.assign(1, 0);
        for (int i = 1; i < special_; ++i)
            operands_.push_back(cursor.number<std::uint8_t>());
        std::vector<std::string> folders{""};
        for (auto name = cursor.string(); !name.empty(); name = cursor.string())
            folders.emplace_back(name);
        firstFile_ = static_cast<int>(image_.files_.size());
        for (auto name = cursor.string(); !name.empty(); name = cursor.string()) {
            const auto folder = cursor.unsignedLeb();
            cursor.unsignedLeb();
            cursor.unsignedLeb();
            std::string file(name);
            if (folder > 0 && folder < folders.size() && !file.starts_with('/'))
                file = folders[folder] + "/" + file;
            image_.files_.push_back(std::move(file));
        }
        execute(Cursor(text_.substr(0, end), program));
        return end;
    }

    void emit(const Image::Row &row) {
        auto own = row;
        own.file = firstFile_ + row.file - 1;
        if (own.file < firstFile_ || own.file >= static_cast<int>(image_.files_.size()))
            own.line = 0, own.file = 0;
        image_.rows_.push_back(own);
    }

    void execute(Cursor cursor) {
        const Image::Row start{0, 1, 1, 0};
        Image::Row row = start;
        while (!cursor.atEnd()) {
            const int operation = cursor.number<std::uint8_t>();
            if (operation >= special_) {
                const int adjusted = operation - special_;
                row.address += static_cast<std::uint64_t>(adjusted / range_) * step_;
                row.line += base_ + adjusted % range_;
                emit(row);
            } else if (operation == 0) {
                const auto bytes = cursor.unsignedLeb();
                const std::size_t next = cursor.at() + bytes;
                const int extended = bytes > 0 ? cursor.number<std::uint8_t>() : 0;
                if (extended == 1) { // end of a sequence
                    image_.rows_.push_back({row.address, -1, 0, 0});
                    row = start;
                } else if (extended == 2) {
                    row.address = cursor.number<std::uint64_t>();
                }
                cursor.moveTo(next);
            } else {
                standard(operation, cursor, row);
            }
        }
    }

    void standard(int operation, Cursor &cursor, Image::Row &row) {
        switch (operation) {
        case 1:
            return emit(row);
        case 2:
            row.address += cursor.unsignedLeb() * step_;
            return;
        case 3:
            row.line += static_cast<int>(cursor.signedLeb());
            return;
        case 4:
            row.file = static_cast<int>(cursor.unsignedLeb());
            return;
        case 5:
            row.column = static_cast<int>(cursor.unsignedLeb());
            return;
        case 8:
            row.address += static_cast<std::uint64_t>((255 - special_) / range_) * step_;
            return;
        case 9:
            row.address += cursor.number<std::uint16_t>();
            return;
        default:
            for (int i = 0; i < operands_[static_cast<std::size_t>(operation)]; ++i)
                cursor.unsignedLeb();
        }
    }

    std::string_view text_;
    Image &image_;
    std::uint64_t step_ = 1;
    int base_ = 0, range_ = 1, special_ = 1, firstFile_ = 0;
    std::vector<int> operands_;
};

Result<Image> Image::read(const std::filesystem::path &file) {
    std::ifstream stream(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    if (text.empty())
        return machineError("cannot read {}", file.string());
    Image image;
    try {
        const auto sections = sectionsOf(text);
        image.span_ = spanOf(text);
        for (const auto &section : sections) {
            if (section.name == ".debug_line")
                LineReader(section.text, image).run();
            if (section.type != SHT_SYMTAB)
                continue;
            const auto names = sections.at(section.link).text;
            for (Cursor cursor(section.text); !cursor.atEnd();) {
                const auto symbol = cursor.number<Elf64_Sym>();
                const auto type = ELF64_ST_TYPE(symbol.st_info);
                if ((type != STT_OBJECT && type != STT_TLS) || symbol.st_size == 0)
                    continue;
                const auto name = ownName(Cursor(names, symbol.st_name).string());
                if (name == anchorName)
                    image.anchor_ = symbol.st_value;
                if (!name.starts_with("__cah_") && !name.starts_with("cuda_agent_"))
                    image.variables_.push_back(
                        {name, symbol.st_value, symbol.st_size, type == STT_TLS});
            }
        }
    } catch (const std::exception &problem) {
        return machineError("the kernel library {} cannot be read: {}", file.string(),
                            problem.what());
    }
    return image;
}

std::optional<Place> Image::placeOf(std::uint64_t address) const {
    auto row = std::ranges::upper_bound(rows_, address, {}, &Row::address);
    // A line of 0 is code that the compiler made up in between: it belongs to what is before.
    while (row != rows_.begin()) {
        --row;
        if (row->file < 0)
            return {};
        if (row->line > 0)
            return Place{files_[static_cast<std::size_t>(row->file)], row->line, row->column};
    }
    return {};
}

} // namespace cuda_agent::plan::runner::sanit
