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

policy::Written::End endOf(Generated::End end) {
    switch (end) {
    case Generated::End::token:
        return policy::Written::End::turn;
    case Generated::End::length:
        return policy::Written::End::length;
    case Generated::End::full:
        break;
    }
    return policy::Written::End::full;
}

} // namespace

ToldConversation::ToldConversation(Generator &generator, Generator::Conversation conversation,
                                   Tokenizer tokenizer, Options options)
    : generator_(generator), conversation_(std::move(conversation)),
      tokenizer_(std::move(tokenizer)), options_(options) {}

Result<std::unique_ptr<ToldConversation>> ToldConversation::open(Generator &generator,
                                                                 Tokenizer tokenizer,
                                                                 Options options,
                                                                 const std::stop_token &stop) {
    CUDA_AGENT_ASSIGN(conversation, generator.open(stop));
    return std::unique_ptr<ToldConversation>(
        new ToldConversation(generator, std::move(conversation), std::move(tokenizer), options));
}

Result<policy::Written> ToldConversation::write(const std::vector<chat::Segment> &segments,
                                                std::uint64_t seed, const Tell &tell,
                                                const std::stop_token &stop) {
    std::vector<std::int32_t> read;
    if (conversation_.tokens().empty())
        read.push_back(options_.endOfText);
    for (const auto &segment : segments) {
        const auto tokens = tokenizer_.encode(segment.text);
        read.insert(read.end(), tokens.begin(), tokens.end());
    }
    policy::Written written;
    const auto begin = conversation_.tokens().size() + read.size(); // of what it writes
    if (begin + 1 > static_cast<std::size_t>(generator_.options().context)) {
        written.end = policy::Written::End::full;
        return written;
    }
    std::jthread teller;
    if (tell)
        teller =
            std::jthread([&, begin](const std::stop_token &over) { follow(begin, tell, over); });
    CUDA_AGENT_ASSIGN(generated,
                      generator_.generate(conversation_, read, options_.longestTurn, seed, stop));
    written.text = tokenizer_.decode(generated.tokens);
    written.end = endOf(generated.end);
    written.readTokens = static_cast<std::int64_t>(read.size());
    written.writtenTokens = static_cast<std::int64_t>(generated.tokens.size());
    return written;
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
                const auto &tokens = conversation_.tokens();
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
