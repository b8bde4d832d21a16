// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/tokenizer/pre_tokenizer.h"

#include "core/learn/tokenizer/utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <fmt/format.h>

#include <memory>
#include <span>
#include <stdexcept>
#include <string>

namespace cuda_agent::learn {

const std::string_view wordPattern =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

namespace {

struct FreeCode {
    void operator()(pcre2_code *code) const { pcre2_code_free(code); }
};
using Code = std::unique_ptr<pcre2_code, FreeCode>;

/// Letters and numbers that Unicode 15, 15.1 and 16 added: PCRE2 10.42 has those of Unicode 14,
/// where `tokenizers` 0.23, by Oniguruma, has those of 16. One that knows them loses nothing by it.
struct Range {
    unsigned first;
    unsigned last;
};
constexpr Range youngLetters[] = {
    {0x1c89, 0x1c8a},   {0xa7cb, 0xa7cd},   {0xa7da, 0xa7dc},   {0x105c0, 0x105f3},
    {0x10d4a, 0x10d65}, {0x10d6f, 0x10d85}, {0x10ec2, 0x10ec4}, {0x1123f, 0x11240},
    {0x11380, 0x11389}, {0x1138b, 0x1138b}, {0x1138e, 0x1138e}, {0x11390, 0x113b5},
    {0x113b7, 0x113b7}, {0x113d1, 0x113d1}, {0x113d3, 0x113d3}, {0x11bc0, 0x11be0},
    {0x11f02, 0x11f02}, {0x11f04, 0x11f10}, {0x11f12, 0x11f33}, {0x1342f, 0x1342f},
    {0x13441, 0x13446}, {0x13460, 0x143fa}, {0x16100, 0x1611d}, {0x16d40, 0x16d6c},
    {0x18cff, 0x18cff}, {0x1b132, 0x1b132}, {0x1b155, 0x1b155}, {0x1df25, 0x1df2a},
    {0x1e030, 0x1e06d}, {0x1e4d0, 0x1e4eb}, {0x1e5d0, 0x1e5ed}, {0x1e5f0, 0x1e5f0},
    {0x2b739, 0x2b739}, {0x2ebf0, 0x2ee5d}, {0x31350, 0x323af}};
constexpr Range youngNumbers[] = {{0x10d40, 0x10d49}, {0x116d0, 0x116e3}, {0x11bf0, 0x11bf9},
                                  {0x11f50, 0x11f59}, {0x16130, 0x16139}, {0x16d70, 0x16d79},
                                  {0x1ccf0, 0x1ccf9}, {0x1d2c0, 0x1d2d3}, {0x1e4f0, 0x1e4f9},
                                  {0x1e5f1, 0x1e5fa}};

std::string inClass(std::string_view property, std::span<const Range> young) {
    std::string text(property);
    for (const auto &[first, last] : young)
        text += fmt::format(R"(\x{{{:x}}}-\x{{{:x}}})", first, last);
    return text;
}

/// `wordPattern` for PCRE2, whose \s has U+180E besides: in its place Unicode's White_Space.
std::string pattern() {
    const auto letter = inClass(R"(\p{L})", youngLetters);
    const auto number = inClass(R"(\p{N})", youngNumbers);
    const std::string space =
        R"(\x09-\x0d\x20\x85\xa0\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";
    return fmt::format(R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n{0}{1}]?[{0}]+|[{1}]|)"
                       R"( ?[^{2}{0}{1}]+[\r\n]*|[{2}]*[\r\n]+|[{2}]+(?![^{2}])|[{2}]+)",
                       letter, number, space);
}

Code compiled() {
    const auto text = pattern();
    int error = 0;
    PCRE2_SIZE offset = 0;
    Code code(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(),
                            PCRE2_UTF | PCRE2_UCP, &error, &offset, nullptr));
    if (!code)
        throw std::logic_error(fmt::format("PCRE2 error {} at {} of {}", error, offset, text));
    // Where there is no compiler for this processor pcre2_match() interprets the pattern.
    pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);
    return code;
}

} // namespace

void eachWord(std::string_view text, const std::function<void(std::string_view)> &word) {
    static const Code code = compiled();
    struct FreeMatch {
        void operator()(pcre2_match_data *data) const { pcre2_match_data_free(data); }
    };
    const std::unique_ptr<pcre2_match_data, FreeMatch> match(pcre2_match_data_create(1, nullptr));
    if (!match)
        throw std::bad_alloc();
    const PCRE2_SIZE *span = pcre2_get_ovector_pointer(match.get());
    while (!text.empty()) {
        const auto run = firstRun(text);
        text.remove_prefix(run.bytes.size());
        if (!run.characters) {
            word(run.bytes);
            continue;
        }
        for (std::size_t at = 0; at < run.bytes.size();) {
            const int found =
                pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(run.bytes.data()),
                            run.bytes.size(), at, PCRE2_NO_UTF_CHECK, match.get(), nullptr);
            if (found != 1 && found != PCRE2_ERROR_NOMATCH)
                throw std::runtime_error(fmt::format("PCRE2 error {}", found));
            const auto start = found == 1 ? span[0] : run.bytes.size();
            const auto end = found == 1 ? span[1] : run.bytes.size();
            if (start > at)
                word(run.bytes.substr(at, start - at));
            if (end > start)
                word(run.bytes.substr(start, end - start));
            at = end;
        }
    }
}

} // namespace cuda_agent::learn
