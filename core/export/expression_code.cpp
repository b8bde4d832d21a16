// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/export/expression_code.h"

#include "core/plan/expression.h"
#include "core/plan/expression_scanner.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace cuda_agent::exporter {

namespace {

struct Tree {
    std::string op; ///< "number", "name", "-x", "cdiv", "min", "max", or a binary operator
    std::string text;
    std::vector<Tree> parts;
};

/// The grammar of plan::Expression, on text that it has accepted: nothing is reported here.
class Reader : plan::ExpressionScanner {
  public:
    using plan::ExpressionScanner::ExpressionScanner;

    Tree readOr() { return chain(&Reader::readAnd, {"or"}); }

  private:
    Tree readAnd() { return chain(&Reader::readComparison, {"and"}); }
    Tree readComparison() { return chain(&Reader::readSum, {"==", "!=", "<=", ">=", "<", ">"}); }
    Tree readSum() { return chain(&Reader::readProduct, {"+", "-"}); }
    Tree readProduct() { return chain(&Reader::readSign, {"*", "/", "%"}); }

    Tree readSign() {
        if (accept("-"))
            return {"-x", {}, {readSign()}};
        return readPrimary();
    }

    Tree readPrimary() {
        if (accept("(")) {
            Tree inner = readOr();
            accept(")");
            return inner;
        }
        skipSpace();
        const std::size_t begin = at_;
        while (at_ < text_.size() && isNamePart(text_[at_]))
            ++at_;
        std::string word(text_.substr(begin, at_ - begin));
        if (!word.empty() && word[0] >= '0' && word[0] <= '9')
            return {"number", word, {}};
        if (word == "cdiv" || word == "min" || word == "max") {
            Tree call{word, {}, {}};
            accept("(");
            do
                call.parts.push_back(readOr());
            while (accept(","));
            accept(")");
            return call;
        }
        if (at_ < text_.size() && text_[at_] == '.') {
            ++at_;
            if (accept("numel"))
                return {"name", word + ".numel", {}};
            if (accept("ndim"))
                return {"name", word + ".ndim", {}};
            accept("shape");
            accept("[");
            const bool negative = accept("-");
            skipSpace();
            const std::size_t digits = at_;
            while (at_ < text_.size() && isNamePart(text_[at_]))
                ++at_;
            const std::string index(text_.substr(digits, at_ - digits));
            accept("]");
            return {"name", fmt::format("{}.shape[{}{}]", word, negative ? "-" : "", index), {}};
        }
        return {"name", word, {}};
    }

    Tree chain(Tree (Reader::*side)(), std::initializer_list<std::string_view> operators) {
        Tree left = (this->*side)();
        for (;;) {
            const auto *found = std::find_if(operators.begin(), operators.end(),
                                             [&](auto each) { return accept(each); });
            if (found == operators.end())
                return left;
            Tree right = (this->*side)();
            left = Tree{std::string(*found), {}, {std::move(left), std::move(right)}};
        }
    }
};

enum Strength { atOr, atAnd, atComparison, atSum, atProduct, atSign, atPrimary };

Strength strengthOf(const std::string &op) {
    if (op == "or")
        return atOr;
    if (op == "and")
        return atAnd;
    if (op == "+" || op == "-")
        return atSum;
    if (op == "*" || op == "/" || op == "%")
        return atProduct;
    if (op == "-x")
        return atSign;
    if (op == "number" || op == "name" || op == "cdiv" || op == "min" || op == "max")
        return atPrimary;
    return atComparison;
}

/// A product or sum of sizes and numbers is at least 0: C++ and Python divide it alike.
bool isNotNegative(const Tree &tree) {
    if (tree.op == "number")
        return true;
    if (tree.op == "name")
        return tree.text.find('.') != std::string::npos; // a symbol may be negative
    if (tree.op == "-x" || tree.op == "-")
        return false;
    return std::all_of(tree.parts.begin(), tree.parts.end(), isNotNegative);
}

class Writer {
  public:
    Writer(Language language, const Spelling &spelling)
        : language_(language), spelling_(spelling) {}

    std::string write(const Tree &tree, Strength least) const {
        std::string text = plain(tree);
        return strengthHere(tree) < least ? "(" + text + ")" : text;
    }

  private:
    bool cpp() const { return language_ == Language::cpp; }

    bool isCall(const Tree &tree) const {
        return cpp() && (tree.op == "/" || tree.op == "%") &&
               !(isNotNegative(tree.parts[0]) && isNotNegative(tree.parts[1]));
    }

    Strength strengthHere(const Tree &tree) const {
        return isCall(tree) ? atPrimary : strengthOf(tree.op);
    }

    std::string call(const char *function, const Tree &tree) const {
        std::string list;
        for (const Tree &part : tree.parts)
            list += (list.empty() ? "" : ", ") + write(part, atOr);
        return fmt::format("{}({})", function, list);
    }

    std::string plain(const Tree &tree) const {
        if (tree.op == "number")
            return cpp() && tree.text.size() > 9 ? tree.text + "LL" : tree.text;
        if (tree.op == "name")
            return spelling_(tree.text);
        if (tree.op == "-x")
            return "-" + write(tree.parts[0], atPrimary);
        if (tree.op == "cdiv")
            return call("cdiv", tree);
        if (tree.op == "min" || tree.op == "max") {
            if (!cpp())
                return call(tree.op.c_str(), tree);
            std::string list;
            for (const Tree &part : tree.parts)
                list += fmt::format("{}int64_t{{{}}}", list.empty() ? "" : ", ", write(part, atOr));
            return fmt::format("std::{}({{{}}})", tree.op, list);
        }
        if (isCall(tree))
            return call(tree.op == "/" ? "floorDivide" : "floorModulo", tree);
        const Strength own = strengthOf(tree.op);
        std::string sign = tree.op;
        if (cpp() && sign == "and")
            sign = "&&";
        else if (cpp() && sign == "or")
            sign = "||";
        else if (!cpp() && sign == "/")
            sign = "//";
        // `or` and `and` are 0 or 1 here; Python's own give one of the two sides.
        const bool truth = own == atOr || own == atAnd;
        const auto side = [&](const Tree &part, Strength least) {
            if (truth && cpp() && (part.op == "and" || part.op == "or") && part.op != tree.op)
                return "(" + plain(part) + ")"; // what compilers warn about otherwise
            if (truth && strengthHere(part) > atComparison)
                return fmt::format("{} != 0", write(part, atSum));
            if (own == atComparison)
                return write(part, atSum);
            return write(part, least);
        };
        return fmt::format("{} {} {}", side(tree.parts[0], own), sign,
                           side(tree.parts[1], static_cast<Strength>(own + 1)));
    }

    Language language_;
    const Spelling &spelling_;
};

} // namespace

Result<std::string> codeOf(std::string_view expression, Language language,
                           const Spelling &spelling) {
    CUDA_AGENT_TRY(plan::Expression::parse(expression));
    const Tree tree = Reader(expression).readOr();
    return Writer(language, spelling).write(tree, atOr);
}

} // namespace cuda_agent::exporter
