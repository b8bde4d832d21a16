// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/document.h"

#include "core/learn/corpus/slim.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace cuda_agent::learn {

namespace {

constexpr std::size_t mostParts = 24;   ///< that a thought tells of
constexpr std::size_t mostBytes = 3000; ///< of what it tells of one

std::string shortened(std::string text) {
    if (text.size() > mostBytes)
        text.replace(mostBytes, text.npos, "...");
    return text;
}

/// Whether a kernel, "reduce1" or "reduce1Combine", is of the part "reduce1".
bool isOf(const std::string &entry, const std::string &part) {
    return entry.starts_with(part) &&
           (entry.size() == part.size() ||
            !std::isdigit(static_cast<unsigned char>(entry[part.size()])));
}

/// A size of a plan, a number or an expression.
std::string sizeText(const Json &size) {
    return size.is_string() ? size.get<std::string>() : size.dump();
}

/// "tmp0 [32, 64]", where the plan tells its sizes.
std::string bufferText(const std::string &name, const Json &plan, const SizeSpelling &spelling) {
    std::vector<std::string> sizes;
    for (const Json &buffer : plan["buffers"])
        if (buffer.value("name", "") == name && buffer.contains("shape"))
            for (const Json &size : buffer["shape"])
                sizes.push_back(sizeText(size));
    if (sizes.empty())
        return name;
    return fmt::format("{} [{}]", name, spelling.sizes(fmt::format("{}", fmt::join(sizes, ", "))));
}

/// "gemm: writes tmp0 [32, 64]; reads in0 [32, 128], p_fc_weight transposed; 32 by 64 over 128."
std::string libraryText(const Json &step, const Json &plan, const SizeSpelling &spelling) {
    std::vector<std::string> reads;
    for (const char *key : {"a", "b", "input", "weight", "bias"})
        if (step.contains(key))
            reads.push_back(
                bufferText(step.value(key, ""), plan, spelling) +
                (step.value(fmt::format("transpose_{}", key), false) ? " transposed" : ""));
    const auto written = step.value(step.contains("c") ? "c" : "output", "");
    std::vector<std::string> parts{"writes " + bufferText(written, plan, spelling),
                                   fmt::format("reads {}", fmt::join(reads, ", "))};
    if (step.value("kind", "") == "gemm") {
        auto product = fmt::format("{} by {} over {}", sizeText(step["m"]), sizeText(step["n"]),
                                   sizeText(step["k"]));
        if (step.contains("batch"))
            product += fmt::format(", {} times", sizeText(step["batch"]));
        if (step.contains("alpha"))
            product += fmt::format(", scaled by {}", sizeText(step["alpha"]));
        parts.push_back(spelling.sizes(product));
    }
    return fmt::format("{}: {}.\n", step.value("kind", ""), fmt::join(parts, "; "));
}

std::string partText(const policy::SearchSpace::Part &part, const SizeSpelling &spelling) {
    std::string text = fmt::format("{}: {}. ", part.name, shortened(spelling.sizes(part.work)));
    if (!part.loops.empty())
        text += shortened(spelling.loops(part.loops)) + "; ";
    if (!part.positions.empty())
        text += shortened(spelling.sizes(part.positions)) + "; ";
    if (!part.perRow.empty())
        text += "per row: " + shortened(part.perRow) + "; ";
    if (!part.accesses.empty())
        text += shortened(spelling.sizes(part.accesses)) + "; ";
    if (!part.counts.empty())
        text += part.counts + "; ";
    text += part.schedule + "; ";
    if (!part.apart.empty())
        text += part.apart + "; ";
    return text + part.reason + ".\n";
}

} // namespace

std::size_t Document::bytes() const {
    std::size_t sum = 0;
    for (const chat::Segment &segment : segments)
        sum += segment.text.size();
    return sum;
}

std::size_t Document::turns() const {
    return static_cast<std::size_t>(
        std::ranges::count(segments, chat::Author::policy, &chat::Segment::by));
}

Json toJson(const TurnVerdict &verdict) {
    return {{"compiled", verdict.compiled},
            {"correct", verdict.correct},
            {"reward", verdict.reward},
            {"seconds", verdict.seconds},
            {"low", verdict.low},
            {"high", verdict.high},
            {"over_eager", verdict.overEager},
            {"over_compile", verdict.overCompile},
            {"problem", verdict.problem}};
}

Result<TurnVerdict> turnVerdictFromJson(const Json &json) {
    TurnVerdict verdict;
    const auto field = [&](const char *key, Json::value_t type) -> const Json * {
        const auto found = json.is_object() ? json.find(key) : json.end();
        if (!json.is_object() || found == json.end())
            return nullptr;
        const bool fits =
            type == Json::value_t::number_float ? found->is_number() : found->type() == type;
        return fits ? &*found : nullptr;
    };
    const auto *compiled = field("compiled", Json::value_t::boolean);
    const auto *correct = field("correct", Json::value_t::boolean);
    const auto *reward = field("reward", Json::value_t::number_float);
    const auto *problem = field("problem", Json::value_t::string);
    if (!compiled || !correct || !reward || !problem)
        return requestError("a verdict of a document has no compiled, correct, reward or problem");
    verdict.compiled = compiled->get<bool>();
    verdict.correct = correct->get<bool>();
    verdict.reward = static_cast<int>(reward->get<double>());
    verdict.problem = problem->get<std::string>();
    for (const auto &[key, value] : {std::pair{"seconds", &verdict.seconds},
                                     {"low", &verdict.low},
                                     {"high", &verdict.high},
                                     {"over_eager", &verdict.overEager},
                                     {"over_compile", &verdict.overCompile}}) {
        const auto *number = field(key, Json::value_t::number_float);
        if (!number)
            return requestError("a verdict of a document has no number '{}'", key);
        *value = number->get<double>();
    }
    return verdict;
}

TurnVerdict verdictOf(const session::Observation &observation) {
    TurnVerdict verdict;
    const auto found = observation.data.find("verdict");
    if (!observation.data.is_object() || found == observation.data.end()) {
        verdict.problem = observation.text.substr(0, observation.text.find('\n'));
        return verdict;
    }
    const auto number = [&](const char *path) {
        const auto at = Json::json_pointer(path);
        return found->contains(at) && found->at(at).is_number() ? found->at(at).get<double>() : 0.0;
    };
    verdict.compiled = found->value("compiled", false);
    verdict.correct = found->value("correct", false);
    verdict.reward = found->value("reward", -1);
    verdict.problem = found->value("problem", "");
    verdict.seconds = number("/times/candidate/seconds");
    verdict.low = number("/times/candidate/low");
    verdict.high = number("/times/candidate/high");
    verdict.overEager = number("/speedup/eager");
    verdict.overCompile = number("/speedup/compile");
    return verdict;
}

Json toJson(const Document &document) {
    Json segments = Json::array();
    for (const chat::Segment &segment : document.segments)
        segments.push_back({{"by", nameOf(segment.by)}, {"text", segment.text}});
    Json json{{"task", document.task},
              {"split", document.split},
              {"level", document.level},
              {"candidate", document.candidate},
              {"mutation", document.mutation ? toJson(*document.mutation) : Json()},
              {"segments", std::move(segments)}};
    for (const TurnVerdict &verdict : document.verdicts)
        json["verdicts"].push_back(toJson(verdict));
    return json;
}

Result<Document> documentFromJson(const Json &json) {
    Document document;
    const auto text = [](const Json &object, const char *key) -> Result<std::string> {
        const auto found = object.find(key);
        if (found == object.end() || !found->is_string())
            return requestError("a document has no text '{}'", key);
        return found->get<std::string>();
    };
    if (!json.is_object())
        return requestError("a document is no object");
    CUDA_AGENT_ASSIGN(task, text(json, "task"));
    CUDA_AGENT_ASSIGN(split, text(json, "split"));
    CUDA_AGENT_ASSIGN(level, text(json, "level"));
    CUDA_AGENT_ASSIGN(candidate, text(json, "candidate"));
    document.task = std::move(task);
    document.split = std::move(split);
    document.level = std::move(level);
    document.candidate = std::move(candidate);
    if (const auto mutation = json.find("mutation");
        mutation != json.end() && mutation->is_object()) {
        CUDA_AGENT_ASSIGN(kind, text(*mutation, "kind"));
        CUDA_AGENT_ASSIGN(where, text(*mutation, "where"));
        CUDA_AGENT_ASSIGN(became, text(*mutation, "became"));
        document.mutation = Mutation{kind, where, became};
    }
    const auto segments = json.find("segments");
    if (segments == json.end() || !segments->is_array())
        return requestError("a document has no list 'segments'");
    for (const Json &segment : *segments) {
        if (!segment.is_object())
            return requestError("a segment is no object");
        CUDA_AGENT_ASSIGN(by, text(segment, "by"));
        CUDA_AGENT_ASSIGN(words, text(segment, "text"));
        if (by != chat::nameOf(chat::Author::policy) && by != chat::nameOf(chat::Author::context))
            return requestError("a segment is by '{}'; by whom is 'context' or 'policy'", by);
        document.segments.push_back({by == chat::nameOf(chat::Author::policy)
                                         ? chat::Author::policy
                                         : chat::Author::context,
                                     std::move(words)});
    }
    if (const auto verdicts = json.find("verdicts"); verdicts != json.end()) {
        if (!verdicts->is_array())
            return requestError("a document's 'verdicts' are no list");
        for (const Json &each : *verdicts) {
            CUDA_AGENT_ASSIGN(verdict, turnVerdictFromJson(each));
            document.verdicts.push_back(std::move(verdict));
        }
    }
    return document;
}

Result<CandidateText> candidateText(const policy::SearchSpace &space, const std::string &name,
                                    device::Kind kind) {
    CUDA_AGENT_ASSIGN(files, space.write(name, {}));
    CandidateText candidate;
    for (const auto &[path, content] : files.files) {
        if (path == "plan.json") {
            CUDA_AGENT_ASSIGN(plan, parseJson(content, path));
            candidate.plan = slimPlan(std::move(plan), kernelFile);
        } else {
            candidate.kernels += slimKernels(content, kind);
        }
    }
    return candidate;
}

std::string thoughtOf(const std::vector<policy::SearchSpace::Part> &parts, const Json &plan,
                      const SizeSpelling &spelling) {
    std::string text;
    std::size_t told = 0; // parts stand in the order of the plan's kernels
    const auto tell = [&](std::size_t end) {
        for (; told < end; ++told)
            if (told < mostParts)
                text += partText(parts[told], spelling);
    };
    for (const Json &step : plan["steps"]) {
        const std::string kind = step.value("kind", ""), entry = step.value("entry", "");
        if (kind == "gemm" || kind == "convolution")
            text += libraryText(step, plan, spelling);
        const auto part =
            std::find_if(parts.begin() + static_cast<std::ptrdiff_t>(told), parts.end(),
                         [&](const auto &each) { return isOf(entry, each.name); });
        if (part != parts.end())
            tell(static_cast<std::size_t>(part - parts.begin()) + 1);
    }
    tell(parts.size());
    if (parts.size() > mostParts)
        text += fmt::format("{} more kernels.\n", parts.size() - mostParts);
    if (!text.empty())
        text.pop_back();
    return text;
}

Result<chat::Segment> turnOf(const std::string &thought, const CandidateText &candidate) {
    policy::Step step;
    step.thought = thought;
    const auto call = [&](const char *tool, Json arguments) {
        step.calls.push_back({"", tool, std::move(arguments)});
    };
    if (!candidate.kernels.empty())
        call("Write", {{"file_path", kernelFile}, {"content", candidate.kernels}});
    call("Write", {{"file_path", "plan.json"}, {"content", candidate.plan.dump()}});
    call("Verify", Json::object());
    return chat::segmentOf(step);
}

} // namespace cuda_agent::learn
