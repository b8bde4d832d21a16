// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/rollout/model_conversation.h"

namespace cuda_agent::learn {

ModelConversation::ModelConversation(Generator &generator, Generator::Conversation conversation,
                                     Tokenizer tokenizer, Options options)
    : generator_(generator), conversation_(std::move(conversation)),
      tokenizer_(std::move(tokenizer)), options_(std::move(options)) {}

Result<std::unique_ptr<ModelConversation>> ModelConversation::open(Generator &generator,
                                                                   Tokenizer tokenizer,
                                                                   Options options,
                                                                   const std::stop_token &stop) {
    CUDA_AGENT_ASSIGN(conversation, generator.open(stop, options.likeliest));
    return std::unique_ptr<ModelConversation>(new ModelConversation(
        generator, std::move(conversation), std::move(tokenizer), std::move(options)));
}

std::vector<std::int32_t>
ModelConversation::encoded(const std::vector<chat::Segment> &segments) const {
    std::vector<std::int32_t> read;
    if (conversation_.tokens().empty())
        read.push_back(options_.endOfText);
    for (const auto &segment : segments) {
        const auto tokens = tokenizer_.encode(segment.text);
        read.insert(read.end(), tokens.begin(), tokens.end());
    }
    return read;
}

Result<policy::Written> ModelConversation::write(const std::vector<chat::Segment> &segments,
                                                 const policy::TurnRequest &turn,
                                                 std::stop_token stop) {
    const auto read = encoded(segments);
    policy::Written written;
    if (options_.record && turn.again)
        options_.record->again = true;
    const auto context = static_cast<std::size_t>(generator_.options().context);
    if (conversation_.tokens().size() + read.size() + turn.begin.size() + 1 > context) {
        if (options_.record)
            options_.record->cut = true;
        written.end = policy::Written::End::full;
        return written;
    }
    CUDA_AGENT_ASSIGN(generated,
                      generator_.generate(
                          conversation_, read,
                          {options_.longestTurn, turn.seed, turn.begin, turn.leastAllowed}, stop));
    note(read, generated);
    written.text = tokenizer_.decode(generated.tokens);
    written.readTokens = static_cast<std::int64_t>(read.size());
    written.writtenTokens = static_cast<std::int64_t>(generated.tokens.size() - turn.begin.size());
    if (generated.likeliest) {
        written.tokens = generated.tokens;
        written.alternatives =
            withOffsets(policy::cheapestOf(std::move(generated.alternatives), mostAlternatives),
                        generated.tokens);
    }
    switch (generated.end) {
    case Generated::End::token:
        written.end = policy::Written::End::turn;
        break;
    case Generated::End::length:
        written.end = policy::Written::End::length;
        break;
    case Generated::End::full:
        written.end = policy::Written::End::full;
        break;
    case Generated::End::refused:
        written.end = policy::Written::End::refused;
        break;
    }
    return written;
}

std::vector<policy::Alternative>
ModelConversation::withOffsets(std::vector<policy::Alternative> alternatives,
                               const std::vector<std::int32_t> &tokens) const {
    std::vector<std::int64_t> offsets{0};
    for (const auto token : tokens)
        offsets.push_back(offsets.back() +
                          static_cast<std::int64_t>(tokenizer_.bytes(token).size()));
    for (auto &each : alternatives)
        each.offset = offsets.at(static_cast<std::size_t>(each.place));
    return alternatives;
}

void ModelConversation::note(const std::vector<std::int32_t> &read, const Generated &written) {
    if (!options_.record)
        return;
    auto &record = *options_.record;
    record.tokens.insert(record.tokens.end(), read.begin(), read.end());
    record.tokens.insert(record.tokens.end(), written.tokens.begin(), written.tokens.end());
    record.byPolicy.resize(record.byPolicy.size() + read.size(), 0);
    record.byPolicy.resize(record.tokens.size(), 1);
    for (auto [to, from] : {std::pair{&record.logProbabilities, &written.logProbabilities},
                            std::pair{&record.entropy, &written.entropy}}) {
        to->resize(to->size() + read.size(), 0);
        to->insert(to->end(), from->begin(), from->end());
    }
    ++record.turns;
    record.cut = record.cut || written.end != Generated::End::token;
}

} // namespace cuda_agent::learn
