// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/plan/expression.h"

#include "core/base/integers.h"
#include "core/plan/expression_scanner.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>

namespace cuda_agent::plan {

namespace {

enum Op : int {
    push,
    load,
    add,
    subtract,
    multiply,
    divide,
    modulo,
    ceilDivide,
    minimum,
    maximum,
    equal,
    notEqual,
    less,
    lessEqual,
    greater,
    greaterEqual,
    negate,
    toTruth,
    skipIfZero,    ///< `and`: zero on top stays as the result and the right side is skipped
    skipIfNonZero, ///< `or`: non-zero on top becomes 1 and the right side is skipped
};

// Plans come from outside: an expression is one short line, and nesting must not eat the stack.
constexpr std::size_t maxTextBytes = 1000;
constexpr int maxDepth = 64;

struct Step {
    int op;
    std::int64_t value;
    std::string name;
};

/// Recursive descent: or < and < comparison < sum < product < sign < primary.
class Parser : ExpressionScanner {
  public:
    using ExpressionScanner::ExpressionScanner;

    Result<std::vector<Step>> parse() {
        CUDA_AGENT_TRY(parseOr());
        skipSpace();
        if (at_ != text_.size())
            return fail("'" + std::string(1, text_[at_]) + "' is not expected here");
        return std::move(code_);
    }

  private:
    tl::unexpected<Error> fail(std::string_view what) const {
        return requestError("'{}', column {}: {}", text_, at_ + 1, what);
    }

    void emit(Op op, std::int64_t value = 0, std::string name = {}) {
        code_.push_back({op, value, std::move(name)});
    }

    Result<void> parseOr() {
        if (++depth_ > maxDepth)
            return fail("the expression is nested too deeply");
        CUDA_AGENT_TRY(parseAnd());
        while (accept("or"))
            CUDA_AGENT_TRY(rightSide(skipIfNonZero, &Parser::parseAnd));
        --depth_;
        return {};
    }

    Result<void> parseAnd() {
        CUDA_AGENT_TRY(parseComparison());
        while (accept("and"))
            CUDA_AGENT_TRY(rightSide(skipIfZero, &Parser::parseComparison));
        return {};
    }

    Result<void> rightSide(Op skip, Result<void> (Parser::*parseSide)()) {
        const std::size_t jump = code_.size();
        emit(skip);
        CUDA_AGENT_TRY((this->*parseSide)());
        emit(toTruth);
        code_[jump].value = static_cast<std::int64_t>(code_.size());
        return {};
    }

    std::optional<Op> acceptComparison() {
        // Two-character operators first.
        if (accept("=="))
            return equal;
        if (accept("!="))
            return notEqual;
        if (accept("<="))
            return lessEqual;
        if (accept(">="))
            return greaterEqual;
        if (accept("<"))
            return less;
        if (accept(">"))
            return greater;
        return std::nullopt;
    }

    Result<void> parseComparison() {
        CUDA_AGENT_TRY(parseSum());
        if (const auto op = acceptComparison()) {
            CUDA_AGENT_TRY(parseSum());
            emit(*op);
            if (acceptComparison())
                return fail("comparisons do not chain; write 'a < b and b < c'");
        }
        return {};
    }

    Result<void> parseSum() {
        CUDA_AGENT_TRY(parseProduct());
        for (;;) {
            const Op op = accept("+") ? add : accept("-") ? subtract : push;
            if (op == push)
                return {};
            CUDA_AGENT_TRY(parseProduct());
            emit(op);
        }
    }

    Result<void> parseProduct() {
        CUDA_AGENT_TRY(parseSign());
        for (;;) {
            if (accept("//"))
                return fail("write '/' for division (it floors)");
            const Op op = accept("*")   ? multiply
                          : accept("/") ? divide
                          : accept("%") ? modulo
                                        : push;
            if (op == push)
                return {};
            CUDA_AGENT_TRY(parseSign());
            emit(op);
        }
    }

    Result<void> parseSign() {
        int minuses = 0;
        while (accept("-"))
            ++minuses;
        CUDA_AGENT_TRY(parsePrimary());
        if (minuses % 2 == 1)
            emit(negate);
        return {};
    }

    Result<void> parsePrimary() {
        skipSpace();
        if (at_ == text_.size())
            return fail("a number, a name or '(' is missing at the end");
        if (accept("(")) {
            CUDA_AGENT_TRY(parseOr());
            if (!accept(")"))
                return fail("')' is missing");
            return {};
        }
        if (isDigit(text_[at_]))
            return parseNumber();
        if (isNameStart(text_[at_]))
            return parseName();
        return fail("'" + std::string(1, text_[at_]) +
                    "' is not expected here; a number, a name or '(' is");
    }

    Result<void> parseNumber() {
        std::int64_t value = 0;
        const char *end = text_.data() + text_.size();
        const auto [next, problem] = std::from_chars(text_.data() + at_, end, value);
        if (problem != std::errc())
            return fail("the number does not fit 64 bits");
        if (next != end && (isNamePart(*next) || *next == '.'))
            return fail("only whole decimal numbers are allowed");
        at_ = static_cast<std::size_t>(next - text_.data());
        emit(push, value);
        return {};
    }

    Result<void> parseName() {
        const std::size_t begin = at_;
        while (at_ < text_.size() && isNamePart(text_[at_]))
            ++at_;
        std::string name(text_.substr(begin, at_ - begin));
        if (name == "cdiv")
            return parseCall(ceilDivide, name, true);
        if (name == "min")
            return parseCall(minimum, name, false);
        if (name == "max")
            return parseCall(maximum, name, false);
        if (name == "and" || name == "or") {
            at_ = begin;
            return fail("'" + name + "' needs a value on its left");
        }
        if (at_ < text_.size() && text_[at_] == '.') {
            ++at_;
            if (accept("numel")) {
                name += ".numel";
            } else if (accept("ndim")) {
                name += ".ndim";
            } else if (accept("shape")) {
                CUDA_AGENT_ASSIGN(index, parseIndex());
                name += fmt::format(".shape[{}]", index);
            } else {
                return fail("after '" + name + ".' stands 'shape[i]', 'numel' or 'ndim'");
            }
        } else {
            skipSpace();
            if (at_ < text_.size() && text_[at_] == '(')
                return fail("there is no function '" + name + "'; there are cdiv, min and max");
        }
        emit(load, 0, std::move(name));
        return {};
    }

    Result<int> parseIndex() {
        if (!accept("["))
            return fail("'[' with the dimension is missing after 'shape'");
        const bool negative = accept("-");
        skipSpace();
        int value = 0;
        const auto [next, problem] =
            std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
        if (problem != std::errc() || value < 0 || value > 64)
            return fail("the dimension must be a small whole number");
        at_ = static_cast<std::size_t>(next - text_.data());
        if (!accept("]"))
            return fail("']' is missing");
        return negative ? -value : value;
    }

    Result<void> parseCall(Op op, const std::string &name, bool exactlyTwo) {
        if (!accept("("))
            return fail("'(' is missing after '" + name + "'");
        int count = 0;
        do {
            CUDA_AGENT_TRY(parseOr());
            if (++count > 1)
                emit(op);
        } while (accept(","));
        if (!accept(")"))
            return fail("')' is missing");
        if (count < 2 || (exactlyTwo && count > 2))
            return fail(name + (exactlyTwo ? " takes two values" : " takes two or more values"));
        return {};
    }

    int depth_ = 0;
    std::vector<Step> code_;
};

/// The value of `a op b`, or none on overflow or division by zero.
std::optional<std::int64_t> apply(int op, std::int64_t a, std::int64_t b) {
    std::int64_t value = 0;
    const bool undefined = b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min());
    switch (op) {
    case add:
        return __builtin_add_overflow(a, b, &value) ? std::nullopt : std::optional(value);
    case subtract:
        return __builtin_sub_overflow(a, b, &value) ? std::nullopt : std::optional(value);
    case multiply:
        return __builtin_mul_overflow(a, b, &value) ? std::nullopt : std::optional(value);
    case divide:
        return undefined ? std::nullopt : std::optional(floorDivide(a, b));
    case modulo:
        // As floored division asks, the remainder has the sign of b.
        if (undefined)
            return b == -1 ? std::optional<std::int64_t>(0) : std::nullopt;
        value = a % b;
        return value != 0 && (value < 0) != (b < 0) ? value + b : value;
    case ceilDivide:
        if (undefined)
            return std::nullopt;
        return floorDivide(a, b) + (a % b != 0 ? 1 : 0);
    case minimum:
        return std::min(a, b);
    case maximum:
        return std::max(a, b);
    case equal:
        return a == b;
    case notEqual:
        return a != b;
    case less:
        return a < b;
    case lessEqual:
        return a <= b;
    case greater:
        return a > b;
    case greaterEqual:
        return a >= b;
    }
    return std::nullopt;
}

} // namespace

Expression::Expression(std::int64_t constant)
    : text_(std::to_string(constant)), code_{{push, constant, {}}} {}

Result<Expression> Expression::parse(std::string_view text) {
    if (text.size() > maxTextBytes)
        return requestError("the expression has {} characters; at most {} are allowed", text.size(),
                            maxTextBytes);
    CUDA_AGENT_ASSIGN(code, Parser(text).parse());
    Expression expression;
    expression.text_ = text;
    expression.code_.clear();
    for (auto &step : code)
        expression.code_.push_back({step.op, step.value, std::move(step.name)});
    return expression;
}

std::vector<std::string> Expression::names() const {
    std::vector<std::string> names;
    for (const auto &instruction : code_) {
        if (instruction.op == load &&
            std::find(names.begin(), names.end(), instruction.name) == names.end())
            names.push_back(instruction.name);
    }
    return names;
}

Result<std::int64_t> Expression::evaluate(const std::map<std::string, std::int64_t> &values) const {
    std::vector<std::int64_t> stack;
    for (std::size_t at = 0; at < code_.size(); ++at) {
        const auto &[op, value, name] = code_[at];
        switch (op) {
        case push:
            stack.push_back(value);
            continue;
        case load: {
            const auto found = values.find(name);
            if (found == values.end())
                return requestError("'{}': '{}' is not known", text_, name);
            stack.push_back(found->second);
            continue;
        }
        case negate:
            if (stack.back() == std::numeric_limits<std::int64_t>::min())
                return requestError("'{}' overflows 64 bits", text_);
            stack.back() = -stack.back();
            continue;
        case toTruth:
            stack.back() = stack.back() != 0;
            continue;
        case skipIfZero:
        case skipIfNonZero:
            if ((stack.back() != 0) == (op == skipIfNonZero)) {
                stack.back() = stack.back() != 0;
                at = static_cast<std::size_t>(value) - 1;
            } else {
                stack.pop_back();
            }
            continue;
        default:
            break;
        }
        const std::int64_t b = stack.back();
        stack.pop_back();
        const auto result = apply(op, stack.back(), b);
        if (!result) {
            if (b == 0 && (op == divide || op == modulo || op == ceilDivide))
                return requestError("'{}' divides by zero", text_);
            return requestError("'{}' overflows 64 bits", text_);
        }
        stack.back() = *result;
    }
    return stack.back();
}

} // namespace cuda_agent::plan
