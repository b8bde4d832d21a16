// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/observations.h"

#include "core/base/gzip.h"
#include "core/base/untrusted_json.h"

namespace cuda_agent::learn {

Observations::Observations(std::filesystem::path file) : file_(std::move(file)) {
    const auto text = readGzipFile(file_, std::size_t{4} << 30);
    if (!text)
        return;
    for (std::size_t at = 0; at < text->size();) {
        const auto end = std::min(text->find('\n', at), text->size());
        const auto blank = text->find(' ', at);
        if (blank < end)
            lines_[text->substr(at, blank - at)] = text->substr(blank + 1, end - blank - 1);
        at = end + 1;
    }
}

std::optional<session::Observation> Observations::find(const std::string &key) const {
    const std::lock_guard lock(mutex_);
    const auto found = lines_.find(key);
    if (found == lines_.end())
        return std::nullopt;
    const Json json = parseUntrusted(found->second);
    if (!json.is_object() || !json.contains("ok") || !json["ok"].is_boolean() ||
        !json.contains("text") || !json["text"].is_string() || !json.contains("data"))
        return std::nullopt;
    session::Observation observation;
    observation.ok = json["ok"].get<bool>();
    observation.text = json["text"].get<std::string>();
    observation.data = json["data"];
    return observation;
}

void Observations::add(const std::string &key, const session::Observation &observation) {
    auto line =
        Json{{"ok", observation.ok}, {"text", observation.text}, {"data", observation.data}}.dump(
            -1, ' ', false, Json::error_handler_t::replace);
    const std::lock_guard lock(mutex_);
    lines_[key] = std::move(line);
    ++added_;
}

std::size_t Observations::added() const {
    const std::lock_guard lock(mutex_);
    return added_;
}

Result<void> Observations::save() {
    const std::lock_guard lock(mutex_);
    if (added_ == saved_)
        return {};
    std::string text;
    for (const auto &[key, line] : lines_)
        text += key + " " + line + "\n";
    CUDA_AGENT_TRY(writeFileAtomically(file_, gzip(text)));
    saved_ = added_;
    return {};
}

} // namespace cuda_agent::learn
