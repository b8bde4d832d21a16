// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// The tokenizer for programs in other languages. Reads lines of JSON, a text each, from stdin.
//   tokenizer_lines encode TOKENIZER [--as-text]   prints a line for each: [[ids], "decoded bytes
//   in hex"] tokenizer_lines train OUT SIZE MIN_FREQUENCY [SPECIAL...] tokenizer_lines copy IN OUT
//   reads one tokenizer.json and writes it again tokenizer_lines time TOKENIZER encodes all, prints
//   the seconds of each line of stdin
//                                                  that is a number of repetitions

#include "core/learn/tokenizer/trainer.h"

#include <chrono>
#include <iostream>

namespace {

using namespace cuda_agent;
using namespace cuda_agent::learn;

int fail(const std::string &message) {
    std::cerr << message << '\n';
    return 1;
}

std::vector<Json> lines() {
    std::vector<Json> read;
    for (std::string line; std::getline(std::cin, line);)
        read.push_back(Json::parse(line));
    return read;
}

int encode(const Tokenizer &tokenizer, AddedTokens handling) {
    for (const auto &line : lines()) {
        const auto ids = tokenizer.encode(line.get_ref<const std::string &>(), handling);
        std::string hex;
        for (const char byte : tokenizer.decode(ids))
            hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
        std::cout << Json{ids, hex} << '\n';
    }
    return 0;
}

/// The first line holds all texts as a list; each further one asks for a measurement.
int measure(const Tokenizer &tokenizer) {
    std::string line;
    std::getline(std::cin, line);
    const auto texts = Json::parse(line).get<std::vector<std::string>>();
    while (std::getline(std::cin, line)) {
        const auto begin = std::chrono::steady_clock::now();
        std::size_t count = 0;
        for (const auto &text : texts)
            count += tokenizer.encode(text).size();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        std::cout << Json{took.count(), count} << std::endl;
    }
    return 0;
}

int train(int argc, char **argv) {
    std::vector<std::string> texts;
    for (const auto &line : lines())
        texts.push_back(line.get<std::string>());
    const auto trained =
        trainTokenizer(texts, {std::stoul(argv[3]), {argv + 5, argv + argc}, std::stol(argv[4])});
    if (!trained)
        return fail(trained.error().message);
    const auto saved = trained->save(argv[2]);
    return saved ? 0 : fail(saved.error().message);
}

} // namespace

int main(int argc, char **argv) {
    const std::string verb = argc > 2 ? argv[1] : "";
    if (verb == "train" && argc > 4)
        return train(argc, argv);
    if (verb != "encode" && verb != "copy" && verb != "time")
        return fail("usage: see the head of tests/core/learn/tokenizer/tokenizer_lines.cpp");
    const auto tokenizer = Tokenizer::load(argv[2]);
    if (!tokenizer)
        return fail(tokenizer.error().message);
    if (verb == "time")
        return measure(*tokenizer);
    if (verb == "encode")
        return encode(*tokenizer, argc > 3 ? AddedTokens::asText : AddedTokens::recognised);
    const auto saved = argc > 3 ? tokenizer->save(argv[3]) : requestError("copy needs OUT");
    return saved ? 0 : fail(saved.error().message);
}
