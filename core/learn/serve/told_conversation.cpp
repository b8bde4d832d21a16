// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/serve/told_conversation.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace cuda_agent::learn {

namespace {

constexpr std::chrono::milliseconds tellEvery(200);

/// How much of the bytes are whole UTF-8 characters, as far as their first bytes tell.
std::size_t wholeCharacters(std::string_view bytes) {
    for (std::size_t back = 1; back <= std::min<std::size_t>(3, bytes.size()); ++back) {
        const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
        if (byte < 0x80)
            break;
        if (byte >= 0xc0) // the first byte of two, three or four
            return back < (byte >= 0xf0   ? 4u
                           : byte >= 0xe0 ? 3u
                                          : 2u)
                       ? bytes.size() - back
                       : bytes.size();
    }
    return bytes.size();
}

} // namespace

Result<std::unique_ptr<ToldConversation>> ToldConversation::open(Generator &generator,
                                                                 Tokenizer tokenizer,
                                                                 ModelConversation::Options options,
                                                                 const std::stop_token &stop) {
    CUDA_AGENT_ASSIGN(conversation,
                      ModelConversation::open(generator, tokenizer, std::move(options), stop));
    return std::unique_ptr<ToldConversation>(
        new ToldConversation(generator, std::move(tokenizer), std::move(conversation)));
}

Result<policy::Written> ToldConversation::write(const std::vector<chat::Segment> &segments,
                                                const policy::TurnRequest &turn, const Tell &tell,
                                                const std::stop_token &stop) {
    const auto begin = conversation_->tokens().size() + conversation_->encoded(segments).size();
    std::jthread teller;
    if (tell)
        teller =
            std::jthread([&, begin](const std::stop_token &over) { follow(begin, tell, over); });
    return conversation_->write(segments, turn, stop);
}

/// Tells what stands from `begin` on as it grows, until `over`.
void ToldConversation::follow(std::size_t begin, const Tell &tell,
                              const std::stop_token &over) const {
    std::mutex mutex;
    std::condition_variable_any never;
    std::string bytes;
    std::size_t seen = begin, told = 0;
    for (;;) {
        {
            std::unique_lock lock(mutex);
            never.wait_for(lock, over, tellEvery, [] { return false; });
        }
        if (over.stop_requested())
            return;
        std::vector<std::int32_t> fresh;
        generator_.betweenTokens( // the tokens are nobody's but this thread's then
            [&] {
                const auto &tokens = conversation_->tokens();
                if (tokens.size() > seen)
                    fresh.assign(tokens.begin() + static_cast<std::ptrdiff_t>(seen), tokens.end());
            },
            false);
        seen += fresh.size();
        bytes += tokenizer_.decode(fresh);
        const auto whole = wholeCharacters(bytes);
        if (whole > told)
            tell(bytes.substr(told, whole - told));
        told = std::max(told, whole);
    }
}

} // namespace cuda_agent::learn
