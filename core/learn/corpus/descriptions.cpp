// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/descriptions.h"

#include "core/base/gzip.h"
#include "core/base/hash.h"
#include "core/base/untrusted_json.h"

namespace cuda_agent::learn {

namespace {

/// Of what a description is made of; another one makes all files useless.
constexpr int version = 5;

std::string keyOf(const std::string &code, device::Kind kind) {
    return sha256Hex(fmt::format("{}\n{}\n{}", version, device::nameOf(kind), code)).substr(0, 32);
}

} // namespace

Descriptions::Descriptions(std::filesystem::path file, device::Kind kind)
    : file_(std::move(file)), kind_(kind) {
    const auto text = readGzipFile(file_, std::size_t{4} << 30);
    if (!text)
        return;
    constexpr std::size_t keySize = 32;
    for (std::size_t at = 0; at < text->size();) {
        const auto end = std::min(text->find('\n', at), text->size());
        if (end - at > keySize + 1)
            lines_[text->substr(at, keySize)] =
                text->substr(at + keySize + 1, end - at - keySize - 1);
        at = end + 1;
    }
}

Result<task::Description> Descriptions::of(const std::string &name, const std::string &code,
                                           std::stop_token stop) {
    const auto key = keyOf(code, kind_);
    std::unique_ptr<reference::Describer> describer;
    std::string line;
    {
        const std::lock_guard lock(mutex_);
        if (const auto found = lines_.find(key); found != lines_.end()) {
            line = found->second;
        } else if (!idle_.empty()) {
            describer = std::move(idle_.back());
            idle_.pop_back();
        }
    }
    if (const Json json = parseUntrusted(line); json.is_object()) {
        if (json.contains("problem") && json["problem"].is_string())
            return requestError("{}", json["problem"].get<std::string>());
        if (json.contains("description")) {
            if (auto description = task::descriptionFromJson(json["description"])) {
                description->name = name;
                return description;
            }
        }
    }
    if (!describer) {
        CUDA_AGENT_ASSIGN(made, reference::Describer::make({.kind = kind_}));
        describer = std::make_unique<reference::Describer>(std::move(made));
    }
    auto description = describer->describe(name, code, stop);
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(describer));
    if (description) {
        lines_[key] = Json{{"description", description->toJson()}}.dump();
        ++described_;
    } else if (description.error().kind == ErrorKind::request) {
        lines_[key] = Json{{"problem", description.error().message}}.dump();
        ++described_;
    }
    return description;
}

std::size_t Descriptions::described() const {
    const std::lock_guard lock(mutex_);
    return described_;
}

Result<void> Descriptions::save() {
    std::string text;
    {
        const std::lock_guard lock(mutex_);
        if (described_ == 0)
            return {};
        for (const auto &[key, line] : lines_)
            text += key + " " + line + "\n";
    }
    return writeFileAtomically(file_, gzip(text));
}

} // namespace cuda_agent::learn
