// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
// What transformers_test.py drives:
//   learn_model_tool logits FOLDER TOKENS.safetensors OUT.safetensors   {"tokens"} -> {"logits"}
//   learn_model_tool copy FOLDER OUT                                    loaded and saved again
//   learn_model_tool draw CONFIG.json SEED OUT                          drawn and saved
#include "core/learn/model/transformer.h"

#include <ATen/ATen.h>
#include <ATen/core/grad_mode.h>

#include <cstdio>

using namespace cuda_agent;
using namespace cuda_agent::learn;

namespace {

Result<void> run(const std::vector<std::string> &words) {
    const at::NoGradGuard noGradients;
    if (words.size() == 4 && words[0] == "draw") {
        CUDA_AGENT_ASSIGN(json, readJsonFile(words[1]));
        CUDA_AGENT_ASSIGN(config, modelConfigFrom(json));
        return Transformer::drawn(config, Transformer::Head::logits, std::stoull(words[2]),
                                  at::kCPU, at::kFloat)
            .save(words[3], at::kFloat);
    }
    if (words.size() < 3)
        return requestError("see the head of model_tool.cpp");
    CUDA_AGENT_ASSIGN(model,
                      Transformer::load(words[1], Transformer::Head::logits, at::kCPU, at::kFloat));
    if (words[0] == "copy")
        return model.save(words[2], at::kFloat);
    CUDA_AGENT_ASSIGN(input, readSafetensors(words[2]));
    Safetensors output;
    output.tensors["logits"] = model.logits(model.hidden(input.tensors.at("tokens")));
    return writeSafetensors(words.at(3), output);
}

} // namespace

int main(int count, char **words) {
    const auto done = run({words + 1, words + count});
    if (done)
        return 0;
    std::fprintf(stderr, "%s\n", done.error().message.c_str());
    return exitCode(done.error().kind);
}
