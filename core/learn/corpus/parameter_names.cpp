// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/parameter_names.h"

#include "core/base/names.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <set>
#include <vector>

namespace cuda_agent::learn {

namespace {

/// What modules call what they hold.
constexpr std::string_view wordList =
    "absolute act activation active adapter addition affine after alias angle another "
    "application approximate architecture array assembly attach attention attn average b "
    "backbone base before begin bert bins bitwise block bloom bn bound branch bridge buffer c "
    "carrier causal cell center central change channel circular class classifier clip coarse "
    "codebook column combine compute concat condition config constant context conv corner "
    "count cross cumulative curve decoder deep default delta dense depth depthwise diagonal "
    "difference dimension distill distribution divide down drop dropout dw edge efficient "
    "element embed embedding empty enable encoder ensemble entity entropy entry exchange "
    "expand expansion expert factor fast fc feature feed fence ffn filter final fine first "
    "flatten floor flow fold force form former forward fourier frame function further fuse "
    "fusion gamma gate gather global gn gradient graph grid group half head helper hidden "
    "hyper image in inception include index inline inner input instance integral intermediate "
    "inverse join k kernel key kind label language large last lateral layer length level "
    "library linear link ln local logit lookup loop lower main map margin mask matrix measure "
    "median memory merge middle mirror mix mixer mlp mobile model modulo move multi name "
    "narrow near neck neighbour net node norm normal offset operator original out output pad "
    "pair panel parameter part patch path piece pixel place plain point pool pos position "
    "post pre predict preserve prior process product proj project proto pyramid q query quick "
    "range rank ratio reader reduce refine reflection region relative remainder repeat res "
    "residual resize response rest result reverse rnn root rotary rough round router row "
    "running sample scale scan score second segment select self_attn sequence set shared "
    "shift shortcut shrink shuffle side sigmoid similarity size skip slice slide small smooth "
    "source spacing spatial special split squeeze stack stage standard start state stem step "
    "store stream stride strip structure style sub super surface swap table tail target task "
    "template temporal tensor text threshold through time token tokens top trace track "
    "trainable transform transition transposed tree triangle trunk tune unit up upper "
    "upsample user v value variance vector view vision vocab volume w walk wave wide width "
    "window wise word world write x y z zero";
constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz";
/// What no attribute of a module should be called: Python's words and nn.Module's methods.
constexpr std::array unfit{"and",        "apply",   "as",     "break",   "buffers", "children",
                           "class",      "compile", "cpu",    "cuda",    "def",     "del",
                           "double",     "eval",    "except", "float",   "for",     "forward",
                           "from",       "get",     "global", "half",    "if",      "import",
                           "in",         "is",      "lambda", "modules", "not",     "or",
                           "parameters", "pass",    "raise",  "return",  "to",      "train",
                           "try",        "type",    "while",  "with",    "yield"};
constexpr std::string_view self = "self.";
constexpr std::string_view registered = "self.register_buffer(\"";

std::size_t drawn(std::mt19937_64 &generator, std::size_t count) {
    return generator() % count;
}

std::string_view listedWord(std::mt19937_64 &generator) {
    static const auto words = [] {
        std::vector<std::string_view> all;
        for (const auto word : std::views::split(wordList, ' '))
            all.emplace_back(word.begin(), word.end());
        return all;
    }();
    return words[drawn(generator, words.size())];
}

/// The beginning of one word and the end of another: "proention".
std::string drawnBlend(std::mt19937_64 &generator) {
    const auto first = listedWord(generator);
    const auto second = listedWord(generator);
    std::string blend(first.substr(0, 1 + drawn(generator, first.size())));
    return blend.append(second.substr(drawn(generator, second.size())));
}

/// "conv"; one in three is a blend, and one in six no word at all, "kfq". A tokenizer has pieces of
/// words that are in none of these lists' words but in names that people choose.
std::string drawnWord(std::mt19937_64 &generator) {
    const auto kind = drawn(generator, 6);
    if (kind < 3)
        return std::string(listedWord(generator));
    if (kind < 5)
        return drawnBlend(generator);
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
