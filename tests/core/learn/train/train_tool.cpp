// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// What learner_test.py asks: learn_train_tool RECIPE TOKENIZER.json STEPS prints, as JSON, the
// stretches of documents that a step's sequences hold, [steps][stretches][tokens].
#include "core/learn/corpus/corpus.h"
#include "core/learn/train/recipe.h"
#include "core/learn/train/token_set.h"

#include <cstdio>

using namespace cuda_agent;
using namespace cuda_agent::learn;

namespace {

Result<void> run(const std::filesystem::path &file, const std::filesystem::path &vocabulary,
                 std::int64_t steps) {
    CUDA_AGENT_ASSIGN(recipe, readTrainRecipe(file));
    CUDA_AGENT_ASSIGN(tokenizer, Tokenizer::load(vocabulary));
    CUDA_AGENT_ASSIGN(documents, readCorpus(recipe.corpus));
    CUDA_AGENT_ASSIGN(set,
                      tokensOf(documents, "train", tokenizer, *tokenizer.id(chat::endOfText), {}));
    Sequences sequences(set, recipe.context, recipe.seed);
    Json all = Json::array();
    for (std::int64_t step = 0; step < steps; ++step) {
        Json batch = Json::array();
        for (std::int64_t i = 0; i < recipe.pretrain.batch; ++i) {
            for (const auto &[begin, size] : sequences.at(step * recipe.pretrain.batch + i))
                batch.push_back(
                    std::vector(set.tokens.begin() + begin, set.tokens.begin() + begin + size));
        }
        all.push_back(std::move(batch));
    }
    std::puts(all.dump().c_str());
    return {};
}

} // namespace

int main(int count, char **words) {
    const auto done = count == 4 ? run(words[1], words[2], std::stoll(words[3]))
                                 : Result<void>(requestError("RECIPE TOKENIZER STEPS"));
    if (done)
        return 0;
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return exitCode(done.error().kind);
}
