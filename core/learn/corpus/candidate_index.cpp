// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/candidate_index.h"

#include "core/base/hash.h"
#include "core/learn/corpus/corpus.h"

#include <algorithm>
#include <array>

namespace cuda_agent::learn {

namespace {

bool isSource(const std::string &path) {
    static constexpr std::array endings{".cu", ".cuh", ".h", ".hpp"};
    const auto ending = std::filesystem::path(path).extension();
    return std::ranges::any_of(endings, [&](const char *each) { return ending == each; });
}

/// Without blanks and carriage returns at ends of lines, and without empty lines at the end.
std::string withoutTrailing(const std::string &text) {
    std::string result;
    for (std::size_t at = 0; at <= text.size();) {
        const auto end = std::min(text.find('\n', at), text.size());
        const auto line = text.substr(at, end - at);
        result += line.substr(0, line.find_last_not_of(" \t\r\f\v") + 1) + '\n';
        at = end + 1;
    }
    result.resize(result.find_last_not_of('\n') + 1);
    return result;
}

std::string comparable(const std::string &path, const std::string &text) {
    if (path.ends_with(".json"))
        if (const auto json = Json::parse(text, nullptr, false); !json.is_discarded())
            return json.dump(-1, ' ', false, Json::error_handler_t::replace);
    return withoutTrailing(text);
}

std::uint64_t numberOf(const std::string &key) {
    return std::stoull(key.substr(0, 16), nullptr, 16);
}

std::string argument(const Json &arguments, const char *name) {
    const auto found = arguments.find(name);
    return arguments.is_object() && found != arguments.end() && found->is_string()
               ? found->get<std::string>()
               : std::string();
}

void replace(std::string &text, const Json &change) {
    const auto from = argument(change, "old_string"), to = argument(change, "new_string");
    const auto all = change.find("replace_all");
    const bool everywhere = all != change.end() && *all == true;
    for (auto at = from.empty() ? text.npos : text.find(from); at != text.npos;
         at = everywhere ? text.find(from, at + to.size()) : text.npos)
        text.replace(at, from.size(), to);
}

/// What the call makes of the files; nothing where the tool would have refused it.
void apply(const session::ToolCall &call, CandidateFiles &files) {
    const auto path = argument(call.arguments, "file_path");
    if (call.tool == "Write") {
        files[path] = argument(call.arguments, "content");
        return;
    }
    const auto found = files.find(path);
    if (found == files.end())
        return;
    if (call.tool == "Edit")
        replace(found->second, call.arguments);
    if (const auto edits = call.arguments.find("edits");
        call.tool == "MultiEdit" && edits != call.arguments.end() && edits->is_array())
        for (const auto &edit : *edits)
            if (edit.is_object())
                replace(found->second, edit);
}

} // namespace

std::string sourcesKey(const CandidateFiles &files) {
    std::vector<std::string> texts;
    for (const auto &[path, text] : files)
        if (isSource(path))
            texts.push_back(withoutTrailing(text));
    if (texts.empty())
        for (const auto &[path, text] : files)
            texts.push_back(comparable(path, text));
    if (texts.empty())
        return {};
    std::ranges::sort(texts);
    std::string all;
    for (const auto &text : texts)
        all += fmt::format("{} {}", text.size(), text);
    return sha256Hex(all);
}

Result<CandidateIndex> CandidateIndex::read(const std::filesystem::path &corpus) {
    CandidateIndex index;
    CUDA_AGENT_TRY(eachDocument(corpus, [&](const Document &document) -> Result<void> {
        index.add(document);
        return {};
    }));
    return index;
}

void CandidateIndex::add(const Document &document) {
    if (document.split != "train")
        return;
    CandidateFiles files;
    int turn = 0;
    for (const auto &segment : document.segments) {
        if (segment.by != chat::Author::policy)
            continue;
        const auto step = chat::stepOf(segment.text, ++turn);
        if (!step)
            continue;
        for (const auto &call : step->calls)
            apply(call, files);
        if (const auto key = sourcesKey(files); !key.empty())
            keys_.insert(numberOf(key));
    }
}

bool CandidateIndex::has(const CandidateFiles &files) const {
    const auto key = sourcesKey(files);
    return !key.empty() && keys_.contains(numberOf(key));
}

} // namespace cuda_agent::learn
