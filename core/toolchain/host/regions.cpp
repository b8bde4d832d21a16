// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

#include "core/toolchain/host/regions.h"

#include <cstdlib>
#include <optional>
#include <set>
#include <span>

namespace cuda_agent::toolchain::host {

namespace {

using Value = std::optional<long long>; ///< absent: unknown

struct Macros {
    std::map<std::string, Value, std::less<>> defined;
    std::set<std::string, std::less<>> undefined;

    /// 1, 0 or unknown
    Value isDefined(std::string_view name) const {
        if (defined.contains(name))
            return 1;
        if (undefined.contains(name))
            return 0;
        return {};
    }
};

Value numberOf(std::string_view text) {
    const std::string digits(text);
    char *end = nullptr;
    const long long value = std::strtoll(digits.c_str(), &end, 0);
    if (end == digits.c_str() ||
        std::string_view(end).find_first_not_of("uUlL") != std::string::npos)
        return {};
    return value;
}

/// The expression of an `#if`, by precedence climbing, three-valued.
class Condition {
  public:
    Condition(std::span<const Token> tokens, const Macros &macros)
        : tokens_(tokens), macros_(macros) {}

    Value evaluate() {
        const Value value = binary(0);
        return at_ == tokens_.size() && !broken_ ? value : Value{};
    }

  private:
    static int precedence(std::string_view op) {
        if (op == "||")
            return 1;
        if (op == "&&")
            return 2;
        if (op == "==" || op == "!=")
            return 3;
        if (op == "<" || op == ">" || op == "<=" || op == ">=")
            return 4;
        if (op == "+" || op == "-")
            return 5;
        if (op == "*" || op == "/" || op == "%")
            return 6;
        return 0;
    }

    bool take(std::string_view what) {
        if (at_ < tokens_.size() && tokens_[at_].is(what)) {
            ++at_;
            return true;
        }
        return false;
    }

    static Value apply(std::string_view op, Value a, Value b) {
        if (op == "||")
            return (a && *a) || (b && *b) ? Value{1} : a && b ? Value{0} : Value{};
        if (op == "&&")
            return (a && !*a) || (b && !*b) ? Value{0} : a && b ? Value{1} : Value{};
        if (!a || !b)
            return {};
        if (op == "==")
            return *a == *b;
        if (op == "!=")
            return *a != *b;
        if (op == "<")
            return *a < *b;
        if (op == ">")
            return *a > *b;
        if (op == "<=")
            return *a <= *b;
        if (op == ">=")
            return *a >= *b;
        const auto x = static_cast<unsigned long long>(*a);
        const auto y = static_cast<unsigned long long>(*b);
        if (op == "+")
            return static_cast<long long>(x + y);
        if (op == "-")
            return static_cast<long long>(x - y);
        if (op == "*")
            return static_cast<long long>(x * y);
        if (*b == 0 || *b == -1)
            return {};
        return op == "/" ? *a / *b : *a % *b;
    }

    Value binary(int least) {
        Value left = unary();
        while (at_ < tokens_.size()) {
            const auto op = tokens_[at_].text;
            const int own = precedence(op);
            if (own == 0 || own <= least)
                break;
            ++at_;
            left = apply(op, left, binary(own));
        }
        return left;
    }

    Value unary() {
        if (at_ >= tokens_.size() || ++depth_ > 200) {
            broken_ = true;
            return {};
        }
        if (take("!")) {
            const Value value = unary();
            return value ? Value{!*value} : Value{};
        }
        if (take("-")) {
            const Value value = unary();
            return value ? apply("-", 0, value) : Value{};
        }
        if (take("(")) {
            const Value value = binary(0);
            if (!take(")"))
                broken_ = true;
            return value;
        }
        const Token &token = tokens_[at_++];
        if (token.kind == Token::Kind::number)
            return numberOf(token.text);
        if (token.is("defined")) {
            const bool brackets = take("(");
            if (at_ >= tokens_.size()) {
                broken_ = true;
                return {};
            }
            const Value value = macros_.isDefined(tokens_[at_++].text);
            if (brackets && !take(")"))
                broken_ = true;
            return value;
        }
        if (token.isIdentifier()) {
            if (auto found = macros_.defined.find(token.text); found != macros_.defined.end())
                return found->second;
            return macros_.undefined.contains(token.text) ? Value{0} : Value{};
        }
        broken_ = true;
        return {};
    }

    std::span<const Token> tokens_;
    const Macros &macros_;
    std::size_t at_ = 0;
    int depth_ = 0;
    bool broken_ = false;
};

struct Branches {
    bool outerActive = true;
    bool active = true;
    bool taken = false;  ///< an earlier branch is surely the one
    bool certain = true; ///< every condition down to here was understood
};

} // namespace

void markRegions(std::vector<Token> &tokens, const std::map<std::string, std::string> &defines) {
    Macros macros;
    for (const auto &[name, value] : defines)
        macros.defined[name] = numberOf(value);
    macros.defined["__CUDA_AGENT_HOST__"] = 1;
    macros.defined["__CUDACC__"] = 1;
    macros.undefined = {"__CUDA_ARCH__", "__CUDACC_RTC__", "__NVCC__", "_WIN32", "_MSC_VER"};
    std::vector<Branches> open;
    const auto active = [&] { return open.empty() || open.back().active; };
    const auto certain = [&] { return open.empty() || open.back().certain; };

    for (auto &token : tokens) {
        token.active = active();
        if (token.kind != Token::Kind::directive)
            continue;
        const auto parts = lexDirective(token);
        if (parts.empty())
            continue;
        const auto word = parts[0].text;
        const std::span<const Token> rest = std::span(parts).subspan(1);
        const auto condition = [&](std::string_view kind) -> Value {
            if (kind == "if" || kind == "elif")
                return Condition(rest, macros).evaluate();
            if (rest.empty())
                return {};
            const Value defined = macros.isDefined(rest[0].text);
            return kind == "ifndef" && defined ? Value{!*defined} : defined;
        };
        if (word == "if" || word == "ifdef" || word == "ifndef") {
            const Value value = condition(word);
            open.push_back({active(), active() && (!value || *value), value && *value,
                            certain() && value.has_value()});
        } else if ((word == "elif" || word == "else") && !open.empty()) {
            auto &branches = open.back();
            const Value value = word == "else" ? Value{1} : condition("elif");
            branches.active = branches.outerActive && !branches.taken && (!value || *value);
            branches.taken = branches.taken || (value && *value);
            branches.certain = branches.certain && value.has_value();
            token.active = branches.outerActive;
        } else if (word == "endif" && !open.empty()) {
            token.active = open.back().outerActive;
            open.pop_back();
        } else if (word == "define" && active() && !rest.empty()) {
            const std::string name(rest[0].text);
            macros.undefined.erase(name);
            if (certain())
                macros.defined[name] = rest.size() == 2 ? numberOf(rest[1].text) : Value{};
            else if (auto known = macros.defined.find(name); known != macros.defined.end())
                known->second = {};
        } else if (word == "undef" && active() && !rest.empty()) {
            macros.defined.erase(std::string(rest[0].text));
            if (certain())
                macros.undefined.insert(std::string(rest[0].text));
        }
    }
}

} // namespace cuda_agent::toolchain::host
