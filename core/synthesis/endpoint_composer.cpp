// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/endpoint_composer.h"

#include "core/base/hash.h"
#include "core/policy/endpoint/chat_client.h"

#include <fmt/ranges.h>
#include <random>

namespace cuda_agent::synthesis {

namespace {

constexpr int fewest = 2, most = 5;            ///< operators that are asked for
constexpr std::size_t longestTask = 32u << 10; ///< bytes
constexpr int identityDigits = 16;

/// A generator that is the same everywhere for the same text.
std::mt19937_64 chance(const std::string &text) {
    return std::mt19937_64(std::stoull(sha256Hex(text).substr(0, 16), nullptr, 16));
}

double unit(std::mt19937_64 &random) {
    return static_cast<double>(random() >> 11) * 0x1p-53;
}

std::string prompt(const Recipe &recipe, const std::vector<std::string> &operators,
                   const std::string &dtype, bool backward) {
    return fmt::format(
        R"(Write a PyTorch task for people who write GPU kernels: one fused block as it could stand in a real model, made of about {} operators. Use these, in an order that makes sense, and the glue that they need: {}.

One Python file in this form, nothing else around it:
- imports of torch only;
- module-level constants for all sizes, batch_size among them;
- class Model(nn.Module) with __init__ and forward; no dropout, no random numbers, nothing that depends on values of tensors (no .item(), no data-dependent shapes), no change of inputs or parameters, no device;
- get_inputs(): a list of tensors for forward(), made by torch.randn, torch.rand or torch.randint, element type {};
- get_init_inputs(): a list of arguments for Model().

{}A call in eager PyTorch should take {:g} to {:g} ms on {}, with at most {:.1f} GB of memory; no operator may be without effect, every input and parameter has to matter, and outputs have to be finite and clearly different from zero. Answer with one ```python block.)",
        operators.size(), fmt::join(operators, ", "), dtype,
        backward ? "forward() takes a gradient too and returns torch.autograd.grad of the block, "
                   "under torch.enable_grad(). "
                 : "",
        recipe.leastSeconds * 1e3, recipe.mostSeconds * 1e3,
        recipe.device == device::Kind::cuda ? "a large GPU (4 TB/s, 50 TFLOP/s in fp32)"
                                            : "one CPU core",
        static_cast<double>(recipe.memoryBytes) / 4e9);
}

} // namespace

std::string taskIn(const std::string &answer) {
    std::string task;
    for (std::size_t at = 0; (at = answer.find("```", at)) != answer.npos;) {
        const auto line = answer.find('\n', at);
        if (line == answer.npos)
            break;
        // A fence has no further backtick in its line (CommonMark 0.31, 4.5): that is code in a
        // line.
        if (answer.find('`', answer.find_first_not_of('`', at)) < line) {
            at = line;
            continue;
        }
        const auto end = answer.find("\n```", line);
        if (end == answer.npos)
            break;
        auto block = answer.substr(line + 1, end - line);
        if (block.find("class Model") != block.npos && block.find("def get_inputs") != block.npos &&
            block.find("def get_init_inputs") != block.npos && block.size() <= longestTask)
            task = std::move(block);
        at = end + 4;
    }
    return task;
}

EndpointComposer::EndpointComposer(const Recipe &recipe, policy::EndpointConfig config,
                                   const Json &crawl)
    : recipe_(recipe), config_(std::move(config)) {
    for (const auto &entry : crawl)
        if (entry.value("kept", false) && entry.value("source", std::string()) == "torch")
            operators_.push_back(entry.value("name", std::string()));
    double sum = 0;
    for (const auto &[name, weight] : recipe.sources)
        sum += weight;
    if (const auto own = recipe.sources.find("endpoint"); own != recipe.sources.end() && sum > 0)
        share_ = own->second / sum;
}

bool EndpointComposer::takes(std::size_t index) const {
    auto random = chance(fmt::format("{}/endpoint/{}", recipe_.seed, index));
    return !operators_.empty() && unit(random) < share_;
}

Result<Candidate> EndpointComposer::write(std::size_t index, std::stop_token stop) {
    auto random = chance(fmt::format("{}/asked/{}", recipe_.seed, index));
    std::vector<std::string> operators;
    const auto count = fewest + static_cast<int>(random() % (most - fewest + 1));
    for (int i = 0; i < count; ++i)
        operators.push_back(operators_[random() % operators_.size()]);
    Candidate candidate;
    candidate.index = index;
    candidate.source = "endpoint";
    candidate.backward = unit(random) < recipe_.backward;
    double at = 0, sum = 0;
    for (const auto &[dtype, weight] : recipe_.dtypes)
        sum += weight;
    const double drawn = unit(random) * sum;
    for (const auto &[dtype, weight] : recipe_.dtypes)
        if (candidate.dtype.empty() && (at += weight) >= drawn)
            candidate.dtype = dtype;
    Json messages = Json::array(
        {{{"role", "user"},
          {"content", prompt(recipe_, operators, candidate.dtype, candidate.backward)}}});
    policy::ChatClient client(config_, {}, {});
    for (int attempt = 0; attempt < recipe_.endpointAttempts; ++attempt) {
        CUDA_AGENT_ASSIGN(answer, client.ask(messages, Json::array(), stop));
        const auto *asked = std::get_if<policy::Asked>(&answer);
        if (!asked)
            return requestError("the endpoint's model takes no prompt of {} bytes",
                                messages.dump().size());
        tokens_ += asked->answer.promptTokens + asked->answer.answerTokens;
        candidate.code = taskIn(asked->answer.text);
        if (!candidate.code.empty()) {
            candidate.id = sha256Hex(candidate.code).substr(0, identityDigits);
            return candidate;
        }
        messages.push_back({{"role", "assistant"}, {"content", asked->answer.text}});
        messages.push_back({{"role", "user"},
                            {"content", "That holds no ```python block with class Model, "
                                        "get_inputs() and get_init_inputs(). Write the whole file "
                                        "in one block."}});
    }
    candidate.rejected = "no task";
    candidate.detail =
        fmt::format("the endpoint gave none in {} answers", recipe_.endpointAttempts);
    return candidate;
}

} // namespace cuda_agent::synthesis
