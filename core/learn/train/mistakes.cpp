// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/train/mistakes.h"

#include "core/learn/grammar/source_names.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <algorithm>

namespace cuda_agent::learn {

namespace {

constexpr std::size_t longestBefore = 80;
constexpr std::int64_t rowsAtOnce = 1024; ///< tokens whose logits are in memory together

TurnPart partOfFile(std::string_view path) {
    if (SourceNames::isSource(path))
        return TurnPart::source;
    return path.ends_with(".json") ? TurnPart::plan : TurnPart::call;
}

/// The end of a text's last line.
std::string lineBefore(std::string_view text) {
    const auto line = text.substr(text.rfind('\n') + 1);
    return std::string(line.substr(line.size() - std::min(line.size(), longestBefore)));
}

/// A document as the model reads it.
struct Tokens {
    std::vector<std::int32_t> ids;
    std::vector<std::int64_t> own;  ///< places of those that the policy writes, but the first token
    std::vector<TurnPart> parts;    ///< of these
    std::vector<std::size_t> bytes; ///< of the document before these
    std::string text;
};

Tokens tokensOf(const Document &document, const Tokenizer &tokenizer) {
    Tokens tokens;
    for (const auto &segment : document.segments) {
        const bool own = segment.by == chat::Author::policy;
        const auto parts = own ? partsOf(segment.text) : std::vector<TurnPart>();
        std::size_t byte = 0;
        for (const auto id : tokenizer.encode(segment.text)) {
            if (own && !tokens.ids.empty()) {
                tokens.own.push_back(static_cast<std::int64_t>(tokens.ids.size()));
                tokens.parts.push_back(parts[byte]);
                tokens.bytes.push_back(tokens.text.size() + byte);
            }
            tokens.ids.push_back(id);
            byte += tokenizer.bytes(id).size();
        }
        tokens.text += segment.text;
    }
    return tokens;
}

Json toJson(const Reading &reading) {
    return {{"tokens", reading.tokens}, {"nats", reading.nats}, {"mistakes", reading.mistakes}};
}

} // namespace

std::string_view nameOf(TurnPart part) {
    switch (part) {
    case TurnPart::thought:
        return "thought";
    case TurnPart::source:
        return "source";
    case TurnPart::plan:
        return "plan";
    case TurnPart::call:
        return "call";
    }
    return "";
}

std::vector<TurnPart> partsOf(std::string_view turn) {
    std::vector<TurnPart> parts;
    auto part = TurnPart::call, file = TurnPart::call;
    std::string_view before;
    while (parts.size() < turn.size()) {
        const auto begin = parts.size();
        const auto end = std::min(turn.find('\n', begin), turn.size() - 1) + 1;
        auto line = turn.substr(begin, end - begin);
        const auto all = line.size();
        line = line.substr(0, line.find('\n'));
        if (part == TurnPart::call && before == "<parameter=file_path>")
            file = partOfFile(line);
        const bool ends = line == (part == TurnPart::thought ? "</think>" : "</parameter>");
        if (ends)
            part = TurnPart::call;
        parts.insert(parts.end(), all, part);
        if (line == "<think>")
            part = TurnPart::thought;
        if (part == TurnPart::call && line == "<parameter=content>")
            part = file;
        before = line;
    }
    return parts;
}

Reading &Reading::operator+=(const Reading &other) {
    tokens += other.tokens;
    mistakes += other.mistakes;
    nats += other.nats;
    return *this;
}

Reading DocumentReading::all() const {
    Reading sum;
    for (const auto &[part, reading] : parts)
        sum += reading;
    return sum;
}

Json toJson(const DocumentReading &reading) {
    auto json = toJson(reading.all());
    json["task"] = reading.task;
    json["split"] = reading.split;
    json["candidate"] = reading.candidate;
    for (const auto &[part, of] : reading.parts)
        json["parts"][nameOf(part)] = toJson(of);
    json["mistakes"] = Json::array();
    for (const auto &mistake : reading.mistakes)
        json["mistakes"].push_back({{"token", mistake.token},
                                    {"part", nameOf(mistake.part)},
                                    {"before", mistake.before},
                                    {"written", mistake.written},
                                    {"likeliest", mistake.likeliest},
                                    {"probability", mistake.probability}});
    return json;
}

Result<DocumentReading> readDocument(const Document &document, const Transformer &model,
                                     const Tokenizer &tokenizer) {
    const auto tokens = tokensOf(document, tokenizer);
    const auto size = static_cast<std::int64_t>(tokens.ids.size());
    const auto &config = model.config();
    if (size > config.positions)
        return requestError("{}: {} tokens, and the model's context has {}", document.task, size,
                            config.positions);
    if (std::ranges::any_of(tokens.ids, [&](auto id) { return id >= config.vocabulary; }))
        return requestError("{}: the tokenizer has tokens that the model has not", document.task);
    DocumentReading reading{document.task, document.split, document.candidate, {}, {}};
    const at::NoGradGuard noGradients;
    const auto ids = at::tensor(tokens.ids).to(at::kLong);
    const auto hidden = tokens.own.empty()
                            ? at::Tensor()
                            : model.hidden(ids.unsqueeze(0).to(model.device())).squeeze(0);
    for (std::size_t from = 0; from < tokens.own.size(); from += rowsAtOnce) {
        const auto count = std::min<std::size_t>(rowsAtOnce, tokens.own.size() - from);
        const auto places = at::tensor(at::ArrayRef(tokens.own).slice(from, count));
        const auto wanted = ids.index_select(0, places);
        const auto said =
            at::log_softmax(model.logits(hidden.index_select(0, (places - 1).to(model.device())))
                                .to(at::kFloat),
                            -1)
                .cpu();
        const auto own = said.gather(1, wanted.unsqueeze(1)).squeeze(1).contiguous();
        const auto best = said.argmax(-1).contiguous();
        for (std::size_t i = 0; i < count; ++i) {
            const double logProbability = own.data_ptr<float>()[i];
            const auto place = tokens.own[from + i];
            const auto id = tokens.ids[static_cast<std::size_t>(place)];
            const auto likeliest = static_cast<std::int32_t>(best.data_ptr<std::int64_t>()[i]);
            const auto part = tokens.parts[from + i];
            reading.parts[part] += {1, id != likeliest, -logProbability};
            if (id != likeliest)
                reading.mistakes.push_back(
                    {place, part,
                     lineBefore(std::string_view(tokens.text).substr(0, tokens.bytes[from + i])),
                     std::string(tokenizer.bytes(id)), std::string(tokenizer.bytes(likeliest)),
                     std::exp(logProbability)});
        }
    }
    return reading;
}

} // namespace cuda_agent::learn
