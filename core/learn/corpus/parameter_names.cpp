// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/parameter_names.h"

#include "core/base/names.h"

#include <algorithm>
#include <array>
#include <set>

namespace cuda_agent::learn {

namespace {

/// What modules call what they hold.
constexpr std::array words{
    "act",    "adapter", "attn",     "attention",  "b",         "backbone", "base",   "bn",
    "branch", "c",       "cell",     "classifier", "context",   "conv",     "cross",  "decoder",
    "dense",  "depth",   "down",     "dw",         "embed",     "encoder",  "expand", "expert",
    "fc",     "feed",    "ffn",      "filter",     "final",     "first",    "fuse",   "gate",
    "gn",     "head",    "hidden",   "in",         "inner",     "input",    "k",      "key",
    "kernel", "last",    "lateral",  "layer",      "linear",    "ln",       "local",  "lower",
    "main",   "memory",  "merge",    "mix",        "mlp",       "model",    "net",    "norm",
    "out",    "output",  "patch",    "path",       "point",     "pos",      "post",   "pre",
    "proj",   "q",       "query",    "reduce",     "res",       "rnn",      "scale",  "score",
    "second", "shift",   "shortcut", "side",       "skip",      "squeeze",  "stage",  "stem",
    "sub",    "table",   "temporal", "token",      "transform", "unit",     "up",     "v",
    "value",  "w",       "wide",     "x",          "y",         "z",        "zero"};
constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
/// What no attribute of a module should be called: Python's words and nn.Module's methods.
constexpr std::array unfit{"and",   "as",  "cpu", "cuda",  "def", "del",  "eval",
                           "float", "for", "get", "half",  "if",  "in",   "is",
                           "not",   "or",  "to",  "train", "try", "type", "with"};
constexpr std::string_view self = "self.";
constexpr std::string_view registered = "self.register_buffer(\"";

std::size_t drawn(std::mt19937_64 &generator, std::size_t count) {
    return generator() % count;
}

/// "conv", and one in three that is no word, "kfq".
std::string drawnWord(std::mt19937_64 &generator) {
    if (drawn(generator, 3) > 0)
        return words[drawn(generator, words.size())];
    std::string word;
    const auto length = 2 + drawn(generator, 6);
    for (std::size_t i = 0; i < length; ++i)
        word += letters[drawn(generator, letters.size())];
    return word;
}

/// "conv3", "up_proj", "pre_kfq_scale_1": no word is so common that it need not be copied.
std::string drawnName(std::mt19937_64 &generator) {
    auto name = drawnWord(generator);
    for (auto more = drawn(generator, 3); more > 0; --more)
        name += "_" + drawnWord(generator);
    if (drawn(generator, 3) == 0)
        name += fmt::format("{}{}", drawn(generator, 2) == 0 ? "_" : "", drawn(generator, 13));
    return name;
}

/// Whether the part of a key is as PyTorch's modules have it, or a place in a list.
bool isKept(std::string_view part) {
    return part.find("weight") != part.npos || part.find("bias") != part.npos ||
           part.starts_with("running_") || std::ranges::all_of(part, isDigit);
}

std::vector<std::string> partsOf(std::string_view key) {
    std::vector<std::string> parts;
    for (std::size_t at = 0; at <= key.size();) {
        const auto end = std::min(key.find('.', at), key.size());
        parts.emplace_back(key.substr(at, end - at));
        at = end + 1;
    }
    return parts;
}

/// The name that begins there; empty where none does.
std::string nameAt(std::string_view text, std::size_t at) {
    auto end = at;
    while (end < text.size() && isNamePart(text[end]))
        ++end;
    return std::string(text.substr(at, end - at));
}

/// Names by what they were.
class Renaming {
  public:
    Renaming(const NamedTask &task, std::mt19937_64 &generator) : generator_(generator) {
        taken_.insert(unfit.begin(), unfit.end());
        // What the module has already is another attribute's.
        for (auto at = task.source.find(self); at != std::string::npos;
             at = task.source.find(self, at + 1))
            taken_.insert(nameAt(task.source, at + self.size()));
    }

    std::string keyOf(const std::string &key) {
        std::string result;
        for (const auto &part : partsOf(key))
            result += (result.empty() ? "" : ".") + nameOf(part);
        return result;
    }

    /// With `self.norm` and `register_buffer("norm"` as they are called now.
    std::string sourceOf(const std::string &source) const {
        std::string result;
        for (std::size_t at = 0; at < source.size();) {
            const bool fresh = at == 0 || !isNamePart(source[at - 1]);
            std::string_view before;
            for (const auto prefix : {self, registered})
                if (fresh && source.compare(at, prefix.size(), prefix) == 0)
                    before = prefix;
            if (before.empty()) {
                result += source[at++];
                continue;
            }
            const auto name = nameAt(source, at + before.size());
            const auto found = names_.find(name);
            result += fmt::format("{}{}", before, found == names_.end() ? name : found->second);
            at += before.size() + name.size();
        }
        return result;
    }

  private:
    const std::string &nameOf(const std::string &part) {
        auto &name = names_[part];
        if (name.empty() && isKept(part))
            name = part;
        while (name.empty())
            if (auto candidate = drawnName(generator_); taken_.insert(candidate).second)
                name = std::move(candidate);
        return name;
    }

    std::mt19937_64 &generator_;
    std::map<std::string, std::string> names_;
    std::set<std::string> taken_;
};

} // namespace

NamedTask withDrawnNames(NamedTask task, std::mt19937_64 &generator) {
    Renaming renaming(task, generator);
    std::map<std::string, std::string> keys;
    for (auto &node : task.description.graph.nodes)
        if (node.op == "placeholder" && node.origin == task::Origin::parameter)
            node.key = keys[node.key] = renaming.keyOf(node.key);
    for (auto &parameter : task.description.parameters)
        if (const auto found = keys.find(parameter.name); found != keys.end())
            parameter.name = found->second;
    task.source = renaming.sourceOf(task.source);
    return task;
}

} // namespace cuda_agent::learn
