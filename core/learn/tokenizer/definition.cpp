// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/tokenizer/definition.h"

#include "core/base/plain_text.h"
#include "core/learn/tokenizer/pre_tokenizer.h"

#include <nlohmann/json.hpp>

namespace cuda_agent::learn {

namespace {

const Json nothing;

/// The member `name`, or null where there is none or `object` is no object.
const Json &member(const Json &object, const char *name) {
    if (!object.is_object())
        return nothing;
    const auto found = object.find(name);
    return found == object.end() ? nothing : *found;
}

/// As much of a value as fits into a message.
std::string shown(const Json &value) {
    return plainLine(value.dump(-1, ' ', true, Json::error_handler_t::replace), 80);
}

/// Reads one file; the members return errors that name the field.
class Reader {
  public:
    explicit Reader(std::string_view what) : what_(what) {}

    Result<Definition> read(const Json &json) {
        if (!json.is_object())
            return requestError("{} is no tokenizer.json: it holds no object", what_);
        if (const auto &version = member(json, "version"); version != "1.0")
            return unsupported("version", version, "\"1.0\"");
        definition_.truncation = member(json, "truncation");
        definition_.padding = member(json, "padding");
        CUDA_AGENT_TRY(readNormalizer(member(json, "normalizer")));
        CUDA_AGENT_TRY(readPreTokenizer(member(json, "pre_tokenizer")));
        if (const auto &decoder = member(json, "decoder"); member(decoder, "type") != "ByteLevel")
            return unsupported("decoder", decoder, "of type ByteLevel");
        definition_.decoder = member(json, "decoder");
        definition_.postProcessor = member(json, "post_processor");
        CUDA_AGENT_TRY(readModel(member(json, "model")));
        CUDA_AGENT_TRY(readAdded(member(json, "added_tokens")));
        return std::move(definition_);
    }

  private:
    tl::unexpected<Error> unsupported(std::string_view field, const Json &value,
                                      std::string_view taken) const {
        return requestError("{}: {} is {}; only {} is taken", what_, field, shown(value), taken);
    }

    Result<void> readNormalizer(const Json &normalizer) {
        const auto &type = member(normalizer, "type");
        definition_.nfc = type == "NFC";
        if (!definition_.nfc && !normalizer.is_null())
            return unsupported("normalizer", normalizer, "NFC or null");
        return {};
    }

    Result<void> readPreTokenizer(const Json &json) {
        const auto &parts = member(json, "pretokenizers");
        if (member(json, "type") != "Sequence" || !parts.is_array() || parts.size() != 2)
            return unsupported("pre_tokenizer", json, "a Sequence of Split and ByteLevel");
        const auto &split = parts[0];
        const auto &bytes = parts[1];
        const auto name = [](int part, std::string_view field) {
            return fmt::format("pre_tokenizer.pretokenizers[{}].{}", part, field);
        };
        if (const auto &type = member(split, "type"); type != "Split")
            return unsupported(name(0, "type"), type, "Split");
        if (const auto &pattern = member(split, "pattern");
            member(pattern, "Regex") != Json(wordPattern))
            return unsupported(name(0, "pattern"), pattern, "the Regex of Qwen2 and Qwen3");
        if (const auto &behavior = member(split, "behavior"); behavior != "Isolated")
            return unsupported(name(0, "behavior"), behavior, "Isolated");
        if (const auto &invert = member(split, "invert"); invert != false)
            return unsupported(name(0, "invert"), invert, "false");
        if (const auto &type = member(bytes, "type"); type != "ByteLevel")
            return unsupported(name(1, "type"), type, "ByteLevel");
        for (const char *field : {"add_prefix_space", "use_regex"})
            if (const auto &value = member(bytes, field); value != false)
                return unsupported(name(1, field), value, "false");
        definition_.preTokenizer = json;
        return {};
    }

    Result<void> readModel(const Json &model) {
        if (const auto &type = member(model, "type"); type != "BPE")
            return unsupported("model.type", type, "BPE");
        if (const auto &dropout = member(model, "dropout"); !dropout.is_null() && dropout != 0.0)
            return unsupported("model.dropout", dropout, "null");
        if (const auto &unknown = member(model, "unk_token"); !unknown.is_null())
            return unsupported("model.unk_token", unknown, "null");
        for (const char *field : {"continuing_subword_prefix", "end_of_word_suffix"})
            if (const auto &value = member(model, field); !value.is_null() && value != "")
                return unsupported(fmt::format("model.{}", field), value, "null or empty");
        for (const char *field : {"fuse_unk", "byte_fallback", "ignore_merges"})
            if (const auto &value = member(model, field); !value.is_null() && value != false)
                return unsupported(fmt::format("model.{}", field), value, "false");
        CUDA_AGENT_TRY(readVocabulary(member(model, "vocab")));
        return readMerges(member(model, "merges"));
    }

    Result<void> readVocabulary(const Json &vocabulary) {
        if (!vocabulary.is_object())
            return requestError("{}: model.vocab is no object", what_);
        definition_.vocabulary.resize(vocabulary.size());
        std::vector<bool> taken(vocabulary.size());
        for (const auto &[token, id] : vocabulary.items()) {
            if (!id.is_number_integer() || id < 0 || id >= vocabulary.size())
                return requestError("{}: model.vocab[{}] is {}; its {} ids have to be 0 to {}",
                                    what_, shown(token), shown(id), vocabulary.size(),
                                    vocabulary.size() - 1);
            const auto index = id.get<std::size_t>();
            if (taken[index])
                return requestError("{}: model.vocab[{}] is {}, which is another token's", what_,
                                    shown(token), index);
            taken[index] = true;
            definition_.vocabulary[index] = token;
            ids_[token] = static_cast<std::int32_t>(index);
        }
        return {};
    }

    Result<void> readMerges(const Json &merges) {
        if (!merges.is_array())
            return requestError("{}: model.merges is no list", what_);
        definition_.merges.reserve(merges.size());
        for (std::size_t i = 0; i < merges.size(); ++i) {
            std::array<std::string, 2> parts;
            if (const auto &merge = merges[i]; merge.is_string()) {
                const auto &text = merge.get_ref<const std::string &>();
                const auto space = text.find(' ');
                if (space == text.npos || text.find(' ', space + 1) != text.npos)
                    return requestError("{}: model.merges[{}] is {}, not two tokens and a space",
                                        what_, i, shown(merge));
                parts = {text.substr(0, space), text.substr(space + 1)};
            } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
                       merge[1].is_string())
                parts = {merge[0].get<std::string>(), merge[1].get<std::string>()};
            else
                return requestError("{}: model.merges[{}] is {}, not two tokens", what_, i,
                                    shown(merge));
            std::array<std::int32_t, 2> ids{};
            for (std::size_t side = 0; side < 2; ++side) {
                const auto found = ids_.find(parts[side]);
                if (found == ids_.end())
                    return requestError("{}: model.merges[{}] has {}, which model.vocab lacks",
                                        what_, i, shown(parts[side]));
                ids[side] = found->second;
            }
            definition_.merges.push_back(ids);
        }
        return {};
    }

    Result<void> readAdded(const Json &added) {
        if (!added.is_array() && !added.is_null())
            return requestError("{}: added_tokens is no list", what_);
        for (std::size_t i = 0; i < added.size(); ++i) {
            const auto field = [&](std::string_view name) {
                return fmt::format("added_tokens[{}].{}", i, name);
            };
            const auto &id = member(added[i], "id");
            if (!id.is_number_integer() || id < 0 || id > 1 << 30)
                return unsupported(field("id"), id, "a whole number of at most 2^30");
            const auto &content = member(added[i], "content");
            if (!content.is_string() || content == "")
                return unsupported(field("content"), content, "a text that is not empty");
            if (const auto &single = member(added[i], "single_word");
                !single.is_null() && single != false)
                return unsupported(field("single_word"), single, "false");
            AddedToken token;
            token.id = id.get<std::int32_t>();
            token.content = content.get<std::string>();
            for (const auto &[name, flag] : {std::pair{"special", &token.special},
                                             {"lstrip", &token.lstrip},
                                             {"rstrip", &token.rstrip},
                                             {"normalized", &token.normalized}}) {
                const auto &value = member(added[i], name);
                if (!value.is_boolean())
                    return unsupported(field(name), value, "true or false");
                *flag = value.get<bool>();
            }
            definition_.added.push_back(std::move(token));
        }
        return {};
    }

    std::string_view what_;
    Definition definition_;
    std::unordered_map<std::string, std::int32_t> ids_;
};

std::string jsonText(std::string_view text) {
    return Json(text).dump();
}

/// The value as it stands behind a name at the first level.
std::string indented(const Json &value) {
    std::string text = value.dump(2);
    for (auto at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1))
        text.insert(at + 1, "  ");
    return text;
}

} // namespace

Json Definition::defaultByteLevel() {
    return {{"type", "ByteLevel"},
            {"add_prefix_space", false},
            {"trim_offsets", false},
            {"use_regex", false}};
}

Json Definition::defaultPreTokenizer() {
    return {{"type", "Sequence"},
            {"pretokenizers",
             {{{"type", "Split"},
               {"pattern", {{"Regex", wordPattern}}},
               {"behavior", "Isolated"},
               {"invert", false}},
              defaultByteLevel()}}};
}

Result<Definition> parseDefinition(std::string_view text, std::string_view what) {
    CUDA_AGENT_ASSIGN(json, parseJson(text, what));
    return Reader(what).read(json);
}

std::string definitionText(const Definition &definition) {
    const auto &tokens = definition.vocabulary;
    std::string text =
        fmt::format("{{\n  \"version\": \"1.0\",\n  \"truncation\": {},\n  \"padding\": {},\n"
                    "  \"added_tokens\": [",
                    indented(definition.truncation), indented(definition.padding));
    const char *separator = "\n    ";
    for (const auto &token : definition.added) {
        text +=
            fmt::format("{}{{\"id\": {}, \"content\": {}, \"single_word\": false, \"lstrip\": {}, "
                        "\"rstrip\": {}, \"normalized\": {}, \"special\": {}}}",
                        separator, token.id, jsonText(token.content), token.lstrip, token.rstrip,
                        token.normalized, token.special);
        separator = ",\n    ";
    }
    text += fmt::format("\n  ],\n  \"normalizer\": {},\n  \"pre_tokenizer\": {},\n"
                        "  \"post_processor\": {},\n  \"decoder\": {},\n",
                        definition.nfc ? R"({"type": "NFC"})" : "null",
                        indented(definition.preTokenizer), indented(definition.postProcessor),
                        indented(definition.decoder));
    text +=
        "  \"model\": {\n    \"type\": \"BPE\",\n    \"dropout\": null,\n    \"unk_token\": null,\n"
        "    \"continuing_subword_prefix\": null,\n    \"end_of_word_suffix\": null,\n"
        "    \"fuse_unk\": false,\n    \"byte_fallback\": false,\n    \"ignore_merges\": false,\n"
        "    \"vocab\": {";
    separator = "\n      ";
    for (std::size_t id = 0; id < tokens.size(); ++id) {
        text += fmt::format("{}{}: {}", separator, jsonText(tokens[id]), id);
        separator = ",\n      ";
    }
    text += "\n    },\n    \"merges\": [";
    separator = "\n      ";
    for (const auto &[left, right] : definition.merges) {
        text +=
            fmt::format("{}[{}, {}]", separator, jsonText(tokens[static_cast<std::size_t>(left)]),
                        jsonText(tokens[static_cast<std::size_t>(right)]));
        separator = ",\n      ";
    }
    return text + "\n    ]\n  }\n}\n";
}

} // namespace cuda_agent::learn
