// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/base/names.h"
#include "core/base/untrusted_json.h"
#include "core/session/line.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstring>

namespace cuda_agent::session {

namespace {

/// Bytes that stand for themselves inside a JSON string.
constexpr std::array<bool, 256> plain = [] {
    std::array<bool, 256> table{};
    for (int byte = 0x20; byte < 0x80; ++byte)
        table[static_cast<std::size_t>(byte)] = byte != '"' && byte != '\\';
    return table;
}();

/// Recursive descent over plain JSON. It may give up on rare but valid text (surrogate escapes,
/// integers beyond 18 digits); the ordinary parser has the last word there.
class Parser {
  public:
    explicit Parser(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

    bool document(Json &out) {
        if (!value(out, 0))
            return false;
        space();
        return at_ == end_;
    }
    bool tooDeep() const { return tooDeep_; }

  private:
    bool value(Json &out, int depth);
    bool object(Json &out, int depth);
    bool array(Json &out, int depth);
    bool number(Json &out);
    bool string(std::string &out);
    bool escape(std::string &out);
    bool multibyte();

    void space() {
        while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r'))
            ++at_;
    }
    bool next(char wanted) {
        space();
        if (at_ == end_ || *at_ != wanted)
            return false;
        ++at_;
        return true;
    }
    bool word(std::string_view wanted) {
        if (std::string_view(at_, static_cast<std::size_t>(end_ - at_)).substr(0, wanted.size()) !=
            wanted)
            return false;
        at_ += wanted.size();
        return true;
    }
    bool digits() {
        const char *const start = at_;
        while (at_ != end_ && isDigit(*at_))
            ++at_;
        return at_ != start;
    }

    const char *at_;
    const char *end_;
    bool tooDeep_ = false;
};

bool Parser::value(Json &out, int depth) {
    if (depth >= deepest) {
        tooDeep_ = true;
        return false;
    }
    space();
    if (at_ == end_)
        return false;
    switch (*at_) {
    case '{':
        return object(out, depth);
    case '[':
        return array(out, depth);
    case '"': {
        std::string text;
        if (!string(text))
            return false;
        out = std::move(text);
        return true;
    }
    case 't':
        out = true;
        return word("true");
    case 'f':
        out = false;
        return word("false");
    case 'n':
        out = nullptr;
        return word("null");
    default:
        return number(out);
    }
}

bool Parser::object(Json &out, int depth) {
    ++at_;
    out = Json::object();
    auto &members = out.get_ref<Json::object_t &>();
    if (next('}'))
        return true;
    do {
        space();
        std::string key;
        if (at_ == end_ || *at_ != '"' || !string(key) || !next(':'))
            return false;
        // Logs are written with sorted keys, so the hint is nearly always right. Of equal keys the
        // last one counts, as in the ordinary parser.
        const auto member = members.emplace_hint(members.end(), std::move(key), nullptr);
        if (!value(member->second, depth + 1))
            return false;
    } while (next(','));
    return next('}');
}

bool Parser::array(Json &out, int depth) {
    ++at_;
    out = Json::array();
    auto &elements = out.get_ref<Json::array_t &>();
    if (next(']'))
        return true;
    do {
        if (!value(elements.emplace_back(), depth + 1))
            return false;
    } while (next(','));
    return next(']');
}

bool Parser::number(Json &out) {
    const char *const start = at_;
    const bool negative = *at_ == '-';
    if (negative)
        ++at_;
    const char *const first = at_;
    if (!digits() || (*first == '0' && at_ - first > 1))
        return false;
    bool whole = true;
    if (at_ != end_ && *at_ == '.') {
        whole = false;
        ++at_;
        if (!digits())
            return false;
    }
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
        whole = false;
        ++at_;
        if (at_ != end_ && (*at_ == '+' || *at_ == '-'))
            ++at_;
        if (!digits())
            return false;
    }
    if (whole) {
        if (at_ - first > 18)
            return false;
        std::int64_t integer = 0;
        std::from_chars(start, at_, integer);
        if (negative)
            out = integer;
        else
            out = static_cast<std::uint64_t>(integer);
        return true;
    }
    double real = 0;
    if (std::from_chars(start, at_, real).ec != std::errc() || !std::isfinite(real))
        return false;
    out = real;
    return true;
}

bool Parser::string(std::string &out) {
    const char *segment = ++at_;
    for (;;) {
        while (at_ != end_ && plain[static_cast<unsigned char>(*at_)])
            ++at_;
        if (at_ == end_)
            return false;
        if (*at_ == '"') {
            out.append(segment, at_);
            ++at_;
            return true;
        }
        if (*at_ == '\\') {
            out.append(segment, at_);
            ++at_;
            if (!escape(out))
                return false;
            segment = at_;
        } else if (!multibyte()) {
            return false;
        }
    }
}

bool Parser::escape(std::string &out) {
    if (at_ == end_)
        return false;
    switch (*at_++) {
    case '"':
        out += '"';
        return true;
    case '\\':
        out += '\\';
        return true;
    case '/':
        out += '/';
        return true;
    case 'b':
        out += '\b';
        return true;
    case 'f':
        out += '\f';
        return true;
    case 'n':
        out += '\n';
        return true;
    case 'r':
        out += '\r';
        return true;
    case 't':
        out += '\t';
        return true;
    case 'u': {
        unsigned code = 0;
        if (end_ - at_ < 4)
            return false;
        const auto [stop, error] = std::from_chars(at_, at_ + 4, code, 16);
        if (error != std::errc() || stop != at_ + 4 || (code >= 0xd800 && code <= 0xdfff))
            return false;
        at_ += 4;
        if (code < 0x80) {
            out += static_cast<char>(code);
        } else if (code < 0x800) {
            out += static_cast<char>(0xc0 | code >> 6);
            out += static_cast<char>(0x80 | (code & 0x3f));
        } else {
            out += static_cast<char>(0xe0 | code >> 12);
            out += static_cast<char>(0x80 | (code >> 6 & 0x3f));
            out += static_cast<char>(0x80 | (code & 0x3f));
        }
        return true;
    }
    default:
        return false;
    }
}

/// Steps over one well-formed UTF-8 sequence (RFC 3629, section 4); false for anything else.
bool Parser::multibyte() {
    const auto lead = static_cast<unsigned char>(*at_);
    std::ptrdiff_t length = 0;
    unsigned char low = 0x80;
    unsigned char high = 0xbf;
    if (lead >= 0xc2 && lead <= 0xdf) {
        length = 2;
    } else if (lead >= 0xe0 && lead <= 0xef) {
        length = 3;
        low = lead == 0xe0 ? 0xa0 : 0x80;
        high = lead == 0xed ? 0x9f : 0xbf;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
        length = 4;
        low = lead == 0xf0 ? 0x90 : 0x80;
        high = lead == 0xf4 ? 0x8f : 0xbf;
    }
    if (length == 0 || end_ - at_ < length)
        return false;
    const auto second = static_cast<unsigned char>(at_[1]);
    if (second < low || second > high)
        return false;
    for (std::ptrdiff_t i = 2; i < length; ++i)
        if ((static_cast<unsigned char>(at_[i]) & 0xc0) != 0x80)
            return false;
    at_ += length;
    return true;
}

} // namespace

bool parseFast(std::string_view text, Json &value) {
    Parser parser(text);
    if (parser.document(value))
        return true;
    if (parser.tooDeep())
        return false;
    value = parseUntrusted(text); // may go deeper behind the place where the fast one gave up
    return !value.is_discarded();
}

} // namespace cuda_agent::session
