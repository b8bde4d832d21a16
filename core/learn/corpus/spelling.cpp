// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/spelling.h"

#include "core/base/names.h"
#include "core/learn/corpus/plan_expressions.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <optional>

namespace cuda_agent::learn {

namespace {

constexpr std::int64_t leastSpelled = 10;
constexpr std::int64_t mostOfASchedule = 16384; ///< powers of two up to it are threads, tiles, ...
/// Multiples of sizes that are spelled, and of which sizes: others are chance.
constexpr std::int64_t mostTimes = 64, leastOfAMultiple = 16;
constexpr std::int64_t leastMultiple = 100;

/// A decimal number as a token of C++ or of a plan's expression.
struct Number {
    std::size_t at = 0, end = 0; ///< with its suffix
    std::int64_t value = 0;
    std::string_view suffix; ///< "", "u", "LL", or ".0f" of a float that is an integer
};

/// The next one from `from` on; digits of names and of other numbers are none.
std::optional<Number> nextNumber(std::string_view text, std::size_t from) {
    for (auto at = from; at < text.size(); ++at) {
        if (!isDigit(text[at]))
            continue;
        auto end = at;
        while (end < text.size() && isDigit(text[end]))
            ++end;
        auto tail = end;
        while (tail < text.size() && (isNamePart(text[tail]) || text[tail] == '.'))
            ++tail;
        const auto suffix = text.substr(end, tail - end);
        const bool inWord = at > 0 && (isNamePart(text[at - 1]) || text[at - 1] == '.');
        Number number{at, tail, 0, suffix};
        const auto [stop, error] =
            std::from_chars(text.data() + at, text.data() + end, number.value);
        if (!inWord && error == std::errc() && text[at] != '0' &&
            (suffix.empty() || suffix == "u" || suffix == "LL" || suffix == ".0f"))
            return number;
        at = tail - 1;
    }
    return std::nullopt;
}

/// Of the factors of a literal that has none: what does not fit an int is computed as more.
std::string_view suffixOf(std::int64_t number) {
    return number > std::numeric_limits<int>::max() ? "LL" : "";
}

/// With each number as `become` writes it; where that is empty, as it is.
template <typename Become>
std::string replaced(const std::string &text, const Become &become) {
    std::string result;
    std::size_t done = 0;
    for (auto number = nextNumber(text, 0); number; number = nextNumber(text, number->end)) {
        const std::string other = become(*number);
        if (other.empty())
            continue;
        result.append(text, done, number->at - done);
        result += other;
        done = number->end;
    }
    return result.append(text, done);
}

/// Whether what stands at `at` is what a loop's variable is multiplied by: "k0 * ", "row * ".
bool strides(std::string_view text, std::size_t at) {
    constexpr std::string_view times = " * ";
    if (at < times.size() || text.substr(at - times.size(), times.size()) != times)
        return false;
    auto begin = at - times.size();
    const auto end = begin;
    while (begin > 0 && isNamePart(text[begin - 1]))
        --begin;
    const auto name = text.substr(begin, end - begin);
    return name == "row" || (name.size() > 1 && name[0] == 'k' && isDigit(name[1]));
}

/// Whether what stands at `at` is what blocks are shared out by: "blockIdx.x % ", "blockIdx.x / ".
bool countsParts(std::string_view text, std::size_t at) {
    constexpr std::string_view name = "blockIdx.x ";
    const auto operation = std::string_view("% ").size();
    return at >= name.size() + operation &&
           text.substr(at - operation - name.size(), name.size()) == name &&
           (text[at - 2] == '%' || text[at - 2] == '/');
}

/// Nothing where it does not fit.
std::optional<std::int64_t> product(std::int64_t a, std::int64_t b) {
    std::int64_t result = 0;
    if (__builtin_mul_overflow(a, b, &result))
        return std::nullopt;
    return result;
}

} // namespace

SizeSpelling::SizeSpelling(const task::Description &task, std::string_view prompt,
                           std::string_view schedule) {
    for (auto number = nextNumber(prompt, 0); number; number = nextNumber(prompt, number->end))
        prompt_.insert(number->value);
    shown_ = prompt_;
    std::int64_t digits = 0; // of "row-t512-v1-u24"
    for (const char c : schedule) {
        digits = isDigit(c) && digits < mostOfASchedule * 10 ? digits * 10 + (c - '0') : 0;
        if (digits > 0)
            shown_.insert(digits);
    }
    for (const auto &node : task.graph.nodes)
        for (const auto &type : node.outputs)
            addShape(type.shape);
}

void SizeSpelling::addShape(const std::vector<std::int64_t> &shape) {
    std::vector<std::int64_t> sides;
    for (const auto side : shape)
        if (side > 1)
            sides.push_back(side);
    for (std::size_t first = 0; first < sides.size(); ++first) {
        Product whole{{sides[first]}, false}, less{{sides[first] - 1}, true};
        std::optional<std::int64_t> size = sides[first], lessSize = sides[first] - 1;
        sizes_.insert(*size);
        for (auto next = first + 1; next < sides.size() && size; ++next) {
            whole.factors.push_back(sides[next]);
            less.factors.push_back(sides[next]);
            size = product(*size, sides[next]);
            if (!size)
                break;
            products_.try_emplace(*size, whole);
            sizes_.insert(*size);
            lessSize = *lessSize * sides[next]; // less than what fits
            if (sides[first] > 2)
                products_.try_emplace(*lessSize, less);
        }
    }
}

bool SizeSpelling::stays(std::int64_t number, bool size) const {
    return number < leastSpelled || (size ? prompt_ : shown_).contains(number) ||
           (!size && number <= mostOfASchedule &&
            std::has_single_bit(static_cast<std::uint64_t>(number)));
}

std::string SizeSpelling::roundedUp(const Rounded &quotient) const {
    const auto &[of, by] = quotient;
    const auto inner = spelling(of, suffixOf(of), {}, true);
    return fmt::format("(({} - 1) / {} + 1)", inner.empty() ? fmt::to_string(of) : inner, by);
}

std::string SizeSpelling::spelling(std::int64_t number, std::string_view suffix,
                                   const Roundings &roundings, bool size) const {
    if (stays(number, size))
        return {};
    const auto factors = [&](const Product &of) {
        std::string text;
        for (std::size_t i = 0; i < of.factors.size(); ++i)
            text += i == 0 && of.lessOne
                        ? fmt::format("({}{} - 1)", of.factors[0] + 1, suffix)
                        : fmt::format("{}{}{}", i > 0 ? " * " : "", of.factors[i], suffix);
        return text;
    };
    if (const auto found = products_.find(number); found != products_.end())
        return fmt::format("({})", factors(found->second));
    if (const auto found = roundings.find(number); found != roundings.end() && suffix.empty())
        return roundedUp(found->second);
    if (number < leastMultiple || std::has_single_bit(static_cast<std::uint64_t>(number)))
        return {};
    for (const auto part : sizes_) {
        if (part >= number)
            continue;
        if (part < leastOfAMultiple || number / part > mostTimes)
            break;
        if (number % part != 0)
            continue;
        const auto found = products_.find(part);
        return fmt::format("({}{} * {})", number / part, suffix,
                           found == products_.end() ? fmt::format("{}{}", part, suffix)
                                                    : factors(found->second));
    }
    return {};
}

std::string SizeSpelling::kernels(const std::string &text, const Roundings &roundings) const {
    return replaced(text, [&](const Number &number) -> std::string {
        const auto line = text.rfind('\n', number.at) + 1; // of npos: 0
        if (text.find_first_not_of(' ', line) == text.find('#', line))
            return {}; // a directive's
        // "blockIdx.x % 3": parts of a row, however few
        const auto rounded = roundings.find(number.value);
        if (rounded != roundings.end() && countsParts(text, number.at))
            return roundedUp(rounded->second);
        const bool whole = number.suffix == ".0f";
        const auto suffix = whole || number.suffix.empty() ? suffixOf(number.value) : number.suffix;
        // "k0 * 4096", "row % 4096u": of loops, whatever the schedule has
        const bool size = number.suffix == "u" || strides(text, number.at);
        const auto spelled = spelling(number.value, suffix, roundings, size);
        return whole && !spelled.empty() ? "(float)" + spelled : spelled;
    });
}

std::string SizeSpelling::expression(const std::string &text) const {
    return replaced(text, [&](const Number &number) { // which has 64 bits there
        const bool divisor = number.at > 1 && text.compare(number.at - 2, 2, ", ") == 0;
        return number.suffix.empty() ? spelling(number.value, "", {}, !divisor) : std::string();
    });
}

std::string SizeSpelling::sizes(const std::string &text) const {
    return replaced(text, [&](const Number &number) {
        return number.suffix.empty() ? spelling(number.value, "", {}, true) : std::string();
    });
}

void SizeSpelling::expressions(Json &plan) const {
    for (auto &[key, value] : plan.items()) {
        if (value.is_structured())
            expressions(value);
        else if (value.is_number_integer() && plan.is_array()) {
            if (auto text = spelling(value.get<std::int64_t>(), "", {}, false); !text.empty())
                value = std::move(text);
        } else if (isExpression(plan, key, value))
            value = expression(value.get<std::string>());
    }
}

CandidateText SizeSpelling::spelled(CandidateText candidate) const {
    Roundings roundings;
    const auto plan = candidate.plan.dump();
    constexpr std::string_view call = "cdiv(";
    for (auto at = plan.find(call); at != plan.npos; at = plan.find(call, at + 1)) {
        const auto of = nextNumber(plan, at + call.size());
        if (!of || of->at != at + call.size() || plan.compare(of->end, 2, ", ") != 0)
            continue;
        const auto by = nextNumber(plan, of->end + 2);
        if (by && by->at == of->end + 2 && plan.compare(by->end, 1, ")") == 0)
            roundings.try_emplace((of->value - 1) / by->value + 1, Rounded{of->value, by->value});
    }
    candidate.kernels = kernels(candidate.kernels, roundings);
    expressions(candidate.plan);
    return candidate;
}

} // namespace cuda_agent::learn
