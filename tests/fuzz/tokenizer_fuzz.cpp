// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// tokenizer.json of a checkpoint from outside, and texts from outside: observations.

#include "core/learn/tokenizer/normalizer.h"
#include "core/learn/tokenizer/trainer.h"
#include "tests/fuzz/fuzz.h"

using namespace cuda_agent;
using namespace cuda_agent::learn;

namespace {

Tokenizer trained(bool nfc) {
    auto definition = trainTokenizer(std::vector<std::string>{"if (i < n) x[i] = 0;", "世界 é"},
                                     {290, {"<|end|>"}, 0})
                          .value()
                          .definition();
    definition.nfc = nfc;
    const auto next = static_cast<std::int32_t>(definition.vocabulary.size());
    definition.added.push_back({next, "<think>", false, true, true, true});
    return Tokenizer::make(std::move(definition), "trained").value();
}

void encode(const Tokenizer &tokenizer, std::string_view text, bool exact) {
    const auto plain = tokenizer.encode(text, AddedTokens::asText);
    const auto decoded = tokenizer.decode(plain);
    if (exact)
        fuzz::require(decoded == text, "decoding gives the text back");
    fuzz::require(!tokenizer.definition().nfc || decoded == nfc(text), "or its normal form");
    for (const auto id : plain)
        for (const auto &token : tokenizer.addedTokens())
            fuzz::require(!token.special || token.id != id, "no text makes a special token");
    for (const auto id : tokenizer.encode(text))
        fuzz::require(id >= 0 && static_cast<std::size_t>(id) < tokenizer.size(),
                      "ids have tokens");
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const auto text = fuzz::textOf(data, size);
    static const auto bytes = trained(false);
    static const auto normal = trained(true);
    encode(bytes, text, true);
    encode(normal, text, false);
    fuzz::require(nfc(nfc(text)) == nfc(text), "a normal form is its own");

    auto definition = parseDefinition(text, "tokenizer.json");
    if (!definition)
        return 0;
    const auto read = Tokenizer::make(std::move(*definition), "tokenizer.json");
    if (!read)
        return 0;
    const auto written = definitionText(read->definition());
    const auto again = parseDefinition(written, "tokenizer.json");
    fuzz::require(again.has_value(), "what was read can be written and read");
    fuzz::require(definitionText(*again) == written, "and stays the same");
    encode(*read, text, !read->definition().nfc);
    return 0;
}
