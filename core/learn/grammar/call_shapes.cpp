// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/grammar/call_shapes.h"

#include <algorithm>
#include <set>

namespace cuda_agent::learn {

namespace {

constexpr std::size_t mostParts = 16; ///< bits of a set of keys

bool isName(std::string_view name) {
    return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
        return c < 0x80 && (std::isalnum(c) || c == '_');
    });
}

class Maker {
  public:
    Result<CallShapes> of(const Json &tools) {
        std::vector<std::string> names;
        made_.shapes.resize(tools.size());
        made_.calls = static_cast<std::uint16_t>(tools.size());
        for (std::size_t i = 0; i < tools.size(); ++i) {
            const auto &function = tools[i].at("function");
            tool_ = function.at("name").get<std::string>();
            names.push_back("<function=" + tool_ + ">");
            CUDA_AGENT_ASSIGN(call, object(function.at("parameters"), 1));
            made_.shapes[i] = std::move(call);
        }
        if (names.empty() || names.size() > WordTree::mostWords)
            return requestError("the grammar takes 1 to {} tools, not {}", WordTree::mostWords,
                                names.size());
        made_.functions = WordTree(std::move(names));
        return std::move(made_);
    }

  private:
    tl::unexpected<Error> strange(const Json &schema) const {
        return requestError("the grammar has no form for this schema of {}: {}", tool_,
                            schema.dump());
    }

    /// Whether a schema has no keys but these; a description says nothing.
    static bool hasOnly(const Json &schema, std::set<std::string> keys) {
        keys.insert({"type", "description"});
        return std::ranges::all_of(schema.items(),
                                   [&](const auto &item) { return keys.contains(item.key()); });
    }

    /// `depth`: how many calls, lists and objects the value stands in; 1: it is a parameter.
    Result<Shape> value(const Json &schema, std::size_t depth) {
        const auto type = schema.value("type", "");
        if (type == "object")
            return object(schema, depth + 1);
        if (type == "array")
            return list(schema, depth + 1);
        if (type == "integer")
            return whole(schema);
        Shape shape;
        if (type == "boolean" && hasOnly(schema, {})) {
            shape.kind = Shape::Kind::words;
            shape.words = WordTree({"true", "false"});
            shape.shortest = 4;
            return shape;
        }
        if (type == "string" && schema.contains("enum") && hasOnly(schema, {"enum"}))
            return choice(schema, depth == 1);
        const auto least = schema.value("minLength", 0);
        if (type != "string" || least > 1 || !hasOnly(schema, {"minLength"}))
            return strange(schema);
        shape.kind = depth == 1 ? Shape::Kind::plainText : Shape::Kind::text;
        shape.filled = least == 1;
        shape.shortest = (depth == 1 ? parameterEnd.size() + (shape.filled ? 1 : 0) : 2) +
                         (shape.filled ? 1 : 0);
        return shape;
    }

    Result<Shape> choice(const Json &schema, bool plain) const {
        Shape shape;
        shape.kind = plain ? Shape::Kind::plainWords : Shape::Kind::words;
        std::vector<std::string> words;
        for (const auto &each : schema.at("enum")) {
            const auto text = each.get<std::string>();
            if (text.empty() || text.find_first_of("<\"\\\n") != text.npos)
                return strange(schema);
            words.push_back(plain ? fmt::format("{}\n{}", text, parameterEnd)
                                  : fmt::format("\"{}\"", text));
        }
        if (words.empty() || words.size() > WordTree::mostWords)
            return strange(schema);
        shape.shortest = std::ranges::min(words, {}, &std::string::size).size();
        shape.words = WordTree(std::move(words));
        return shape;
    }

    Result<Shape> whole(const Json &schema) const {
        const auto least = schema.value("minimum", std::int64_t{-1});
        const auto most = schema.value("maximum", std::int64_t{-1});
        if (least < 0 || most < least || !hasOnly(schema, {"minimum", "maximum"}))
            return strange(schema);
        Shape shape;
        shape.kind = Shape::Kind::whole;
        shape.least = std::to_string(least);
        shape.most = std::to_string(most);
        shape.shortest = shape.least.size();
        return shape;
    }

    Result<Shape> list(const Json &schema, std::size_t depth) {
        const auto least = schema.value("minItems", 0);
        if (depth > CallShapes::deepest || least > 1 || !schema.contains("items") ||
            !hasOnly(schema, {"items", "minItems"}))
            return strange(schema);
        CUDA_AGENT_ASSIGN(item, value(schema.at("items"), depth));
        Shape shape;
        shape.kind = Shape::Kind::list;
        shape.filled = least == 1;
        shape.shortest = 2 + (shape.filled ? item.shortest : 0);
        shape.parts.push_back(add(std::move(item)));
        return shape;
    }

    /// Of depth 1: a call.
    Result<Shape> object(const Json &schema, std::size_t depth) {
        const bool call = depth == 1;
        if (depth > CallShapes::deepest || schema.value("additionalProperties", true) ||
            !hasOnly(schema, {"properties", "required", "additionalProperties"}))
            return strange(schema);
        Shape shape;
        shape.kind = Shape::Kind::object;
        std::vector<std::string> words;
        std::set<std::string> required;
        for (const auto &each : schema.at("required"))
            required.insert(each.get<std::string>());
        shape.shortest = call ? functionEnd.size() : 2;
        for (const auto &[key, field] : schema.at("properties").items()) {
            if (!isName(key)) {
                if (required.contains(key))
                    return strange(schema);
                continue;
            }
            CUDA_AGENT_ASSIGN(part, value(field, depth));
            words.push_back(call ? fmt::format("<parameter={}>\n", key)
                                 : fmt::format("\"{}\"", key));
            if (required.erase(key) > 0) {
                shape.required |= static_cast<std::uint16_t>(1u << shape.parts.size());
                shape.shortest += words.back().size() + part.shortest + 1;
                if (call && part.kind > Shape::Kind::plainWords) // its end is a line of its own
                    shape.shortest += parameterEnd.size() + 1;
            }
            shape.parts.push_back(add(std::move(part)));
        }
        if (!required.empty() || shape.parts.size() > mostParts)
            return strange(schema);
        if (call)
            words.emplace_back(functionEnd);
        shape.words = WordTree(std::move(words));
        return shape;
    }

    std::uint16_t add(Shape shape) {
        made_.shapes.push_back(std::move(shape));
        return static_cast<std::uint16_t>(made_.shapes.size() - 1);
    }

    CallShapes made_;
    std::string tool_;
};

} // namespace

Result<CallShapes> CallShapes::of(const Json &tools) {
    return Maker().of(tools);
}

} // namespace cuda_agent::learn
