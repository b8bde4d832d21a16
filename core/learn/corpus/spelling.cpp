// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/spelling.h"

#include "core/base/names.h"
#include "core/learn/corpus/plan_expressions.h"
#include "core/plan/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <optional>

namespace cuda_agent::learn {

namespace {

using policy::leastSpelled;
constexpr std::int64_t mostOfASchedule = 16384; ///< powers of two up to it are threads, tiles, ...
/// Multiples of sizes that are spelled, and of which sizes: others are chance.
constexpr std::int64_t mostTimes = 64, leastOfAMultiple = 16;
constexpr std::int64_t leastMultiple = 100;
/// By which a number differs from one that the prompt shows: borders.
constexpr std::int64_t mostBeside = 7;
constexpr std::int64_t vectorBytes = 16; ///< that lines are filled up to
constexpr std::int64_t leastParts =
    3; ///< that a row is cut into, for multiples of it to be spelled

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

/// The word that ends at `end`.
std::string_view wordBefore(std::string_view text, std::size_t end) {
    auto begin = end;
    while (begin > 0 && isNamePart(text[begin - 1]))
        --begin;
    return text.substr(begin, end - begin);
}

/// Whether what stands at `at` is what a loop's variable is multiplied by: "k0 * ", "row * ".
bool strides(std::string_view text, std::size_t at) {
    constexpr std::string_view times = " * ";
    if (at < times.size() || text.substr(at - times.size(), times.size()) != times)
        return false;
    const auto name = wordBefore(text, at - times.size());
    return name == "row" || (name.size() > 1 && name[0] == 'k' && isDigit(name[1]));
}

/// Whether it is a place along a dimension: a loop's variable, or what a border is computed by.
bool isPosition(std::string_view name) {
    return name.size() > 1 && (name[0] == 't' || name[0] == 'r' || name[0] == 'k') &&
           isDigit(name[1]);
}

/// Whether a place along a dimension is divided by what stands at `at`: "t2 / ", "t2 % ".
bool dividesPosition(std::string_view text, std::size_t at) {
    return at > 3 && (text.substr(at - 3, 3) == " / " || text.substr(at - 3, 3) == " % ") &&
           isPosition(wordBefore(text, at - 3));
}

/// What a schedule counts with, and no loop over a tensor.
bool ofASchedule(std::string_view name) {
    constexpr std::array<std::string_view, 7> names{"lane", "part", "j", "e", "x", "y", "warp"};
    return std::ranges::find(names, name) != names.end();
}

/// The last buffer that a piece of a line names, itself or as the pointer to its row.
const policy::SizeTexts::Texts *bufferIn(std::string_view piece, const policy::SizeTexts &sizes) {
    for (auto end = piece.size(); end > 0;) {
        const auto word = wordBefore(piece, end);
        end -= std::max<std::size_t>(word.size(), 1);
        const auto row = word.rfind("_row");
        auto name = std::string(word.substr(0, row)); // of npos: all
        for (auto cut = name.size(); cut != name.npos; cut = name.rfind('_')) {
            name.resize(cut);
            if (const auto found = sizes.strides.find(name); found != sizes.strides.end())
                return &found->second;
            if (row == word.npos)
                break; // "in0_x_row" and "in0_mul_row" are of "in0", "in0_x" is a value
        }
    }
    return nullptr;
}

std::string textOf(const policy::SizeTexts::Texts &texts, std::int64_t number) {
    const auto found = texts.find(number);
    return found == texts.end() ? std::string() : found->second;
}

/// A size of `sizes`: one loop's at first, or what all of them have together.
std::string loopText(const policy::SizeTexts &sizes, std::int64_t number, bool single) {
    const auto first = textOf(single ? sizes.loops : sizes.totals, number);
    return first.empty() ? textOf(single ? sizes.totals : sizes.loops, number) : first;
}

/// With a suffix behind each of its numbers.
std::string suffixed(const std::string &text, std::string_view suffix) {
    if (suffix.empty())
        return text;
    return replaced(
        text, [&](const Number &number) { return fmt::format("{}{}", number.value, suffix); });
}

/// Of a text that begins with "(": up to the parenthesis that closes it.
std::string parenthesised(const std::string &text) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (depth == 0)
            return text.substr(0, i + 1);
    }
    return text;
}

/// Without the parentheses around all of it.
std::string bare(std::string text) {
    const bool around = text.starts_with('(') && parenthesised(text).size() == text.size();
    return around ? text.substr(1, text.size() - 2) : text;
}

/// An expression cut at what stands between its outermost factors or arguments.
std::vector<std::string> cutAt(const std::string &text, std::string_view mark) {
    std::vector<std::string> pieces;
    int depth = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
        if (depth == 0 && text.compare(i, mark.size(), mark) == 0) {
            pieces.push_back(text.substr(begin, i - begin));
            begin = i + mark.size();
        }
    }
    pieces.push_back(text.substr(begin));
    return pieces;
}

/// Nothing where it names sizes or does not compute.
std::optional<std::int64_t> valueOf(const std::string &expression) {
    const auto parsed = plan::Expression::parse(expression);
    if (!parsed)
        return std::nullopt;
    const auto value = parsed->evaluate({});
    return value ? std::optional<std::int64_t>(*value) : std::nullopt;
}

/// Where kernels begin in a text, and their names.
std::vector<std::pair<std::size_t, std::string>> kernelsIn(const std::string &text) {
    constexpr std::string_view mark = "extern \"C\" __global__";
    std::vector<std::pair<std::size_t, std::string>> result;
    for (auto at = text.find(mark); at != text.npos; at = text.find(mark, at + 1)) {
        auto open = text.find('(', at);
        if (open != text.npos && wordBefore(text, open) == "__launch_bounds__")
            open = text.find('(', open + 1);
        if (open != text.npos)
            result.emplace_back(at, wordBefore(text, open));
    }
    return result;
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
                           std::string_view schedule, Parts parts, const Json &plan) {
    for (auto &part : parts)
        parts_.emplace(std::move(part.name), std::move(part.sizes));
    for (auto number = nextNumber(prompt, 0); number; number = nextNumber(prompt, number->end))
        prompt_.insert(number->value);
    shown_ = prompt_;
    std::int64_t digits = 0; // of "row-t512-v1-u24"
    for (auto at = schedule.find("-p"); at != schedule.npos; at = schedule.find("-p", at + 1))
        if (const auto number = nextNumber(schedule.substr(at + 2), 0);
            number && number->at == 0 && number->value >= leastParts)
            blocks_.insert(number->value);
    for (const char c : schedule) {
        digits = isDigit(c) && digits < mostOfASchedule * 10 ? digits * 10 + (c - '0') : 0;
        if (digits > 0)
            shown_.insert(digits);
    }
    for (const auto &node : task.graph.nodes)
        for (const auto &type : node.outputs)
            addShape(type.shape);
    addFilledLines(plan);
    // As thoughts have them, which are spelled as a whole.
    for (auto &[name, part] : parts_) {
        for (auto &[buffer, texts] : part.strides)
            for (auto &[number, text] : texts)
                text = sizes(text);
        for (auto *texts : {&part.loops, &part.totals})
            for (auto &[number, text] : *texts)
                text = loops(text);
    }
}

void SizeSpelling::addFilledLines(const Json &plan) {
    if (!plan.contains("buffers"))
        return;
    for (const Json &buffer : plan["buffers"]) {
        const auto type = dtypeFromName(buffer.value("dtype", ""));
        if (buffer.value("role", "") != "scratch" || !type || !buffer.contains("shape"))
            continue;
        const auto whole = vectorBytes / static_cast<std::int64_t>(sizeOf(*type));
        for (const Json &side : buffer["shape"]) {
            const auto size = side.is_number_integer() ? side.get<std::int64_t>() : 0;
            if (size <= 0 || size % whole != 0 || prompt_.contains(size))
                continue;
            for (std::int64_t more = 1; more < whole; ++more)
                if (prompt_.contains(size - more))
                    filled_.try_emplace(size, Filled{size - more, whole});
        }
    }
}

std::string SizeSpelling::filled(std::int64_t number, std::string_view suffix) const {
    const auto found = filled_.find(number);
    if (found == filled_.end())
        return {};
    const auto &[size, whole] = found->second;
    return fmt::format("(({}{} + {}) / {} * {})", size, suffix, whole - 1, whole, whole);
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
    return number < leastSpelled || blocks_.contains(number) ||
           (size ? prompt_ : shown_).contains(number) ||
           (!size && number <= mostOfASchedule &&
            std::has_single_bit(static_cast<std::uint64_t>(number)));
}

std::string SizeSpelling::spelling(std::int64_t number, std::string_view suffix, bool size) const {
    if (stays(number, size))
        return {};
    if (auto text = filled(number, suffix); !text.empty())
        return text;
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
    if (number < leastMultiple || std::has_single_bit(static_cast<std::uint64_t>(number)))
        return {};
    if (auto text = timesBlocks(number, suffix, size); !text.empty())
        return text;
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
    const bool mask = std::has_single_bit(static_cast<std::uint64_t>(number + 1));
    for (std::int64_t more = 1; !mask && more <= mostBeside; ++more) { // a border
        if (prompt_.contains(number - more))
            return fmt::format("({}{} + {})", number - more, suffix, more);
        if (prompt_.contains(number + more))
            return fmt::format("({}{} - {})", number + more, suffix, more);
    }
    return {};
}

std::string SizeSpelling::timesBlocks(std::int64_t number, std::string_view suffix,
                                      bool size) const {
    for (const auto blocks : blocks_) {
        const auto each = number / blocks;
        if (number % blocks != 0 || each <= 1)
            continue;
        auto text = spelling(each, suffix, size);
        if (text.empty() && !stays(each, false))
            continue;
        text = text.empty() ? fmt::format("{}{}", each, suffix) : bare(std::move(text));
        return fmt::format("({}{} * {})", blocks, suffix, text);
    }
    return {};
}

const policy::SizeTexts *SizeSpelling::partOf(std::string_view kernel) const {
    // "reduce0_combine": a part's name ends with its number.
    const auto digits = std::ranges::find_if(kernel, isDigit);
    const auto end = std::find_if_not(digits, kernel.end(), isDigit);
    const auto found =
        parts_.find(kernel.substr(0, static_cast<std::size_t>(end - kernel.begin())));
    return found == parts_.end() ? nullptr : &found->second;
}

std::string SizeSpelling::told(std::string_view text, std::size_t at, std::int64_t number,
                               const policy::SizeTexts &sizes) const {
    const auto begin = text.rfind('\n', at) + 1; // of npos: 0
    auto line = text.substr(begin, at - begin);
    if (line.ends_with(" -")) // its sign
        line.remove_suffix(1);
    if (line.size() < 3 || line.back() != ' ')
        return {};
    const auto left = wordBefore(line, line.size() - 3);
    switch (line[line.size() - 2]) {
    case '*':
    case '+':
        if (const auto *strides = bufferIn(line, sizes); strides != nullptr && !ofASchedule(left))
            return textOf(*strides, number);
        return {};
    case '%':
    case '/':
        if (line.find("threadIdx") != line.npos || line.find("lane") != line.npos)
            return {};
        return loopText(sizes, number, true);
    case '<':
    case '=':
        if (const auto compared = line.ends_with(">= ") ? wordBefore(line, line.size() - 4) : left;
            isPosition(compared))
            if (auto border = textOf(sizes.borders, number); !border.empty())
                return border;
        [[fallthrough]];
    case ':':
        return ofASchedule(left) ? std::string() : loopText(sizes, number, false);
    default:
        return {};
    }
}

std::string SizeSpelling::kernels(const std::string &text, const policy::SizeTexts *sizes) const {
    return replaced(text, [&](const Number &number) -> std::string {
        const auto line = text.rfind('\n', number.at) + 1; // of npos: 0
        if (text.find_first_not_of(' ', line) == text.find('#', line))
            return {}; // a directive's
        const auto before = std::string_view(text).substr(line, number.at - line);
        if (before.ends_with("start += ")) // what a schedule has, whatever a row has
            return stays(number.value, false) ? ""
                                              : timesBlocks(number.value, number.suffix, false);
        // "constexpr int held = cdiv(449, 32)": a row's length, and what a schedule has
        if (before.find("constexpr int ") != before.npos) {
            if (!before.ends_with(" held = ") && !before.ends_with(" = cdiv("))
                return {};
            const auto length = sizes != nullptr ? loopText(*sizes, number.value, false) : "";
            return bare(length.empty() ? spelling(number.value, "", true) : length);
        }
        const bool whole = number.suffix == ".0f";
        const auto suffix = whole || number.suffix.empty() ? suffixOf(number.value) : number.suffix;
        std::string spelled;
        if (sizes != nullptr) {
            spelled = told(text, number.at, number.value, *sizes);
            if (spelled.empty() && !stays(number.value, false))
                spelled = loopText(*sizes, number.value, false);
            spelled = suffixed(spelled, suffix);
        }
        // "k0 * 4096", "row % 4096u", "t2 / 512": of loops, whatever the schedule has
        const bool size =
            number.suffix == "u" || strides(text, number.at) || dividesPosition(text, number.at);
        if (spelled.empty())
            spelled = spelling(number.value, suffix, size);
        return whole && !spelled.empty() ? "(float)" + spelled : spelled;
    });
}

std::string SizeSpelling::expression(const std::string &text,
                                     const policy::SizeTexts *sizes) const {
    const auto each = [&](const std::string &words) {
        return replaced(words, [&](const Number &number) { // which has 64 bits there
            const bool divisor = number.at > 1 && words.compare(number.at - 2, 2, ", ") == 0;
            return number.suffix.empty() ? spelling(number.value, "", !divisor) : std::string();
        });
    };
    const auto asTold = [&](const std::string &words) {
        const auto value = valueOf(words);
        const auto found = value ? loopText(*sizes, *value, false) : std::string();
        return found.empty() ? each(words) : bare(found);
    };
    if (sizes == nullptr)
        return each(text);
    constexpr std::string_view call = "cdiv(";
    std::string plain, rounded;
    for (const std::string &factor : cutAt(text, " * ")) {
        const auto arguments =
            cutAt(bare(factor.substr(std::min(factor.size(), call.size() - 1))), ", ");
        if (!factor.starts_with(call) || arguments.size() != 2) {
            plain += (plain.empty() ? "" : " * ") + factor;
            continue;
        }
        rounded += fmt::format("{}cdiv({}, {})", rounded.empty() ? "" : " * ", asTold(arguments[0]),
                               arguments[1]);
    }
    if (plain.empty())
        return rounded;
    return rounded.empty() ? asTold(plain) : fmt::format("{} * {}", asTold(plain), rounded);
}

std::string SizeSpelling::sizes(const std::string &text) const {
    return replaced(text, [&](const Number &number) {
        return number.suffix.empty() ? spelling(number.value, "", true) : std::string();
    });
}

std::string SizeSpelling::loops(const std::string &text) const {
    return replaced(text, [&](const Number &number) {
        return number.suffix.empty() ? filled(number.value, "") : std::string();
    });
}

void SizeSpelling::expressions(Json &plan, const policy::SizeTexts *sizes) const {
    if (plan.is_object() && plan.contains("entry"))
        sizes = partOf(plan.value("entry", ""));
    for (auto &[key, value] : plan.items()) {
        if (value.is_array() && key == "shape")
            for (Json &size : value) {
                if (!size.is_number_integer())
                    continue;
                if (auto text = spelling(size.get<std::int64_t>(), "", true); !text.empty())
                    size = bare(std::move(text));
            }
        else if (value.is_structured())
            expressions(value, sizes);
        else if (isExpression(plan, key, value))
            value = expression(value.get<std::string>(), sizes);
    }
}

CandidateText SizeSpelling::spelled(CandidateText candidate) const {
    const auto begins = kernelsIn(candidate.kernels);
    std::string text;
    std::size_t done = 0;
    const auto add = [&](std::size_t end, const std::string &kernel) {
        const auto *sizes = kernel.empty() ? nullptr : partOf(kernel);
        text += kernels(candidate.kernels.substr(done, end - done), sizes);
        done = end;
    };
    std::string name;
    for (const auto &[begin, next] : begins) {
        add(begin, name);
        name = next;
    }
    add(candidate.kernels.size(), name);
    candidate.kernels = std::move(text);
    expressions(candidate.plan, nullptr);
    return candidate;
}

} // namespace cuda_agent::learn
