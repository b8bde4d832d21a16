// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/grammar/name_masks.h"

#include "core/learn/grammar/cuda_words.h"

#include <algorithm>
#include <map>

namespace cuda_agent::learn {

namespace {

/// What a token with brackets, or ends of statements, has of signs; empty where it has none of
/// them, or may be or begin what is no code.
std::string bracketsOf(const std::string &text) {
    std::string signs;
    bool any = false;
    for (std::size_t i = 0; i < text.size() && !SourceNames::isOfWord(text[i]); ++i) {
        const bool comment =
            text[i] == '/' && i + 1 < text.size() && (text[i + 1] == '/' || text[i + 1] == '*');
        if (comment || text[i] == '"' || text[i] == '\'' || text[i] == '#')
            return {};
        any = any || Brackets::isOne(text[i]);
        if (text[i] != ' ' && text[i] != '\n' && text[i] != '\t')
            signs += text[i];
    }
    return !any || text[0] == '/' || text[0] == '*' ? std::string() : signs;
}

/// The tokens of `narrow`, or where that are none, those of `mask`.
TokenMask anyOf(std::vector<std::uint8_t> narrow, const TokenMask &mask) {
    if (narrow == *mask || std::ranges::find(narrow, 1) == narrow.end())
        return mask;
    return std::make_shared<const std::vector<std::uint8_t>>(std::move(narrow));
}

} // namespace

NameMasks::NameMasks(const std::vector<std::string> &bytes)
    : bytes_(bytes), notAlone_(bytes.size(), 1), quoted_(bytes.size()), opens_(bytes.size()),
      frees_(bytes.size()) {
    std::map<std::string, Word> words;
    std::map<std::string, Tokens> led, bracketed;
    auto begins = std::vector<std::uint8_t>(bytes.size());
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const std::string &text = bytes[i];
        quoted_[i] = text.find('"') != text.npos ? 1 : 0;
        if (auto brackets = bracketsOf(text); !brackets.empty())
            bracketed[std::move(brackets)].push_back(static_cast<std::int32_t>(i));
        const auto sign = text.find_first_not_of(" \n\t");
        opens_[i] = sign != text.npos && text[sign] == '(' ? 1 : 0;
        const auto first = std::ranges::find_if(text, SourceNames::isOfWord);
        // What has something behind its letters, which no tokenizer of this kind makes, is free.
        if (first == text.end() || !std::all_of(first, text.end(), SourceNames::isOfWord))
            continue;
        const auto token = static_cast<std::int32_t>(i);
        const std::string lead(text.begin(), first), word(first, text.end());
        (lead.empty() ? words[word].alone : words[word].led).push_back(token);
        if (!lead.empty())
            led[lead].push_back(token);
        notAlone_[i] = lead.empty() ? 0 : 1;
        frees_[i] = lead.empty() && SourceNames::isFree("_" + word) ? 1 : 0;
        longest_ = std::max(longest_, word.size());
        begins[i] = SourceNames::isFree(word) || word == "_" ? 1 : 0;
    }
    for (auto &[lead, tokens] : led)
        led_.push_back({lead, std::move(tokens)});
    for (auto &[brackets, tokens] : bracketed)
        bracketed_.push_back({brackets, std::move(tokens)});
    texts_.reserve(words.size());
    for (auto &[word, tokens] : words)
        words_.emplace(texts_.emplace_back(word), std::move(tokens));
    for (const auto word : cudaWords())
        addBeginsOf(word, begins);
    begins_ = std::make_shared<const std::vector<std::uint8_t>>(std::move(begins));
}

void NameMasks::addBeginsOf(std::string_view name, std::vector<std::uint8_t> &begins) const {
    for (std::size_t size = 1; size <= std::min(name.size(), longest_); ++size) {
        const auto found = words_.find(name.substr(0, size));
        if (found == words_.end())
            continue;
        for (const auto *tokens : {&found->second.alone, &found->second.led})
            for (const auto token : *tokens)
                begins[static_cast<std::size_t>(token)] = 1;
    }
}

void NameMasks::addRest(std::string_view begun, std::string_view name,
                        std::vector<std::uint8_t> &goesOn) const {
    if (!name.starts_with(begun))
        return;
    const auto rest = name.substr(begun.size());
    for (std::size_t size = 1; size <= std::min(rest.size(), longest_); ++size)
        if (const auto found = words_.find(rest.substr(0, size)); found != words_.end())
            for (const auto token : found->second.alone)
                goesOn[static_cast<std::size_t>(token)] = 1;
}

void NameMasks::take(Writing &writing, std::string_view bytes) const {
    writing.names.take(bytes);
    writing.plan.take(bytes);
    const auto &declared = writing.names.declared();
    if (writing.begins && writing.told == declared)
        return;
    // Mostly it is one more; where a scope has ended, those that are left are told anew.
    std::vector<const DeclaredName *> fresh;
    const auto *one = declared.get();
    for (; one != nullptr && one != writing.told.get(); one = one->before.get())
        fresh.push_back(one);
    const bool more = writing.begins && one == writing.told.get();
    auto begins = more ? *writing.begins : *begins_;
    for (const auto *name : fresh)
        addBeginsOf(name->text, begins);
    writing.told = declared;
    writing.begins = std::make_shared<const std::vector<std::uint8_t>>(std::move(begins));
}

TokenMask NameMasks::narrowedByPlan(const TokenMask &mask, const PlanNames &plan) const {
    auto narrow = *mask;
    for (std::size_t i = 0; i < std::min(bytes_.size(), narrow.size()); ++i)
        if ((quoted_[i] != 0 || !plan.declares()) && !plan.allows(bytes_[i]))
            narrow[i] = 0;
    return anyOf(std::move(narrow), mask);
}

TokenMask NameMasks::narrowed(const TokenMask &mask, const Writing &writing) const {
    if (writing.plan.inName())
        return narrowedByPlan(mask, writing.plan);
    const auto &names = writing.names;
    if (!names.inCode() || mask->size() < notAlone_.size())
        return mask;
    auto narrow = *mask;
    // Loops over all tokens are those that a compiler makes vectors of.
    const auto count = notAlone_.size();
    const auto place = names.place();
    const auto begun = names.begun();
    if (!begun.empty()) {
        std::vector<std::uint8_t> goesOn(count);
        const auto all = cudaWords();
        for (auto word = std::ranges::lower_bound(all, begun);
             word != all.end() && word->starts_with(begun); ++word)
            addRest(begun, *word, goesOn);
        for (const auto *name = names.declared().get(); name != nullptr; name = name->before.get())
            addRest(begun, name->text, goesOn);
        if (begun == "_")
            for (std::size_t i = 0; i < count; ++i)
                goesOn[i] |= frees_[i];
        if (names.isKnown(begun)) { // so it may end here
            const auto &ends = names.isToBeCalled(begun) ? opens_ : notAlone_;
            for (std::size_t i = 0; i < count; ++i)
                goesOn[i] |= ends[i];
        }
        for (std::size_t i = 0; i < count; ++i)
            narrow[i] &= goesOn[i];
    } else if (names.declaresAgain()) {
        for (std::size_t i = 0; i < count; ++i)
            narrow[i] &= static_cast<std::uint8_t>(1 - notAlone_[i]);
    } else if (!names.inWord() && place.mustBeKnown()) {
        for (std::size_t i = 0; i < count; ++i)
            narrow[i] &= (*writing.begins)[i] | notAlone_[i];
    }
    for (const auto &[lead, tokens] : led_)
        if (place.mustBeKnown(lead))
            for (const auto token : tokens)
                narrow[static_cast<std::size_t>(token)] &=
                    (*writing.begins)[static_cast<std::size_t>(token)];
    for (const auto &[brackets, tokens] : bracketed_)
        if (!names.allows(brackets))
            for (const auto token : tokens)
                narrow[static_cast<std::size_t>(token)] = 0;
    return anyOf(std::move(narrow), mask);
}

} // namespace cuda_agent::learn
