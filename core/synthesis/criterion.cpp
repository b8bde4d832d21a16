// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/criterion.h"

#include "core/base/plain_text.h"
#include "core/reference/received.h"
#include "core/verify/verify.h"

#include <algorithm>
#include <fmt/ranges.h>

namespace cuda_agent::synthesis {

namespace {

constexpr std::size_t longestText = 200;
constexpr double mostElements = 0x1p53;
/// Of an answer's norm: an error of that size is there for other inputs, too.
constexpr double largePart = 0.05;
/// Allowances of other cases over those of one: they follow the errors that the case itself has.
constexpr double otherCases = 2;

Result<const Json *> listAt(const Json &object, const char *key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_array())
        return requestError("its process sent no list '{}'", key);
    return &*found;
}

/// What an object holds under a key; null where it has no such key or is no object.
Json partOf(const Json &object, const char *key) {
    const auto found = object.find(key);
    return found == object.end() ? Json() : *found;
}

/// One line of ASCII of a text from a process that is not trusted.
std::string lineOf(const Json &value) {
    return plainLine(value.get_ref<const std::string &>(), longestText);
}

std::string textAt(const Json &object, const char *key) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_string())
        return "?";
    return lineOf(*found);
}

/// What is kept of an answer and read again later has to be of its type.
Result<void> checkFigures(const Json &answer) {
    for (const auto *key : {"memory_bytes", "operations", "counted_bytes"})
        if (answer.contains(key))
            CUDA_AGENT_TRY(reference::receiveAmount(answer, key));
    const auto isText = [](const Json &value) { return value.is_string(); };
    if (answer.contains("graph_hash") && !isText(answer["graph_hash"]))
        return requestError("its process sent a bad 'graph_hash'");
    if (answer.contains("graph") &&
        (!answer["graph"].is_array() || !std::ranges::all_of(answer["graph"], isText)))
        return requestError("its process sent a bad 'graph'");
    return {};
}

/// How one answer's output differs from the expected one.
struct Difference {
    double errorNorm = 0, maxError = 0, mismatches = 0;
};

Result<std::vector<Difference>> differencesOf(const Json &outputs, std::size_t wanted) {
    if (!outputs.is_array() || outputs.size() != wanted)
        return requestError("its process sent an answer with other outputs");
    std::vector<Difference> differences;
    for (const auto &entry : outputs) {
        CUDA_AGENT_ASSIGN(norm, reference::receiveAmount(entry, "error_norm"));
        CUDA_AGENT_ASSIGN(largest, reference::receiveAmount(entry, "max_error"));
        CUDA_AGENT_ASSIGN(mismatches, reference::receiveAmount(entry, "mismatches"));
        differences.push_back({norm, largest, mismatches});
    }
    return differences;
}

/// The judge's own view of a task: a pool that has the figures of its random cases and nothing
/// else.
class Judged {
  public:
    /// `elements`: the key under which an output has its number of elements.
    static Result<Judged> from(const Json &outputs, const char *elements) {
        Judged judged;
        for (const auto &output : outputs) {
            CUDA_AGENT_ASSIGN(dtype, dtypeFromName(textAt(output, "dtype")));
            CUDA_AGENT_ASSIGN(count, reference::receiveAmount(output, elements));
            if (count > mostElements)
                return requestError("its process sent a bad number of elements");
            task::Port port;
            port.type = contiguousType(dtype, {static_cast<std::int64_t>(count)});
            judged.pool_.description.outputs.push_back(std::move(port));
        }
        if (judged.outputs() == 0)
            return requestError("its process sent no outputs");
        return judged;
    }
    Result<void> addCase(const std::vector<const Json *> &errors) {
        reference::Case one;
        for (const auto *entry : errors) {
            CUDA_AGENT_ASSIGN(error, reference::receiveError(*entry));
            one.errors.push_back(error);
        }
        pool_.random.push_back(std::move(one));
        return {};
    }

    std::size_t outputs() const { return pool_.description.outputs.size(); }
    /// Whether a verifier would take these for an answer to the first case.
    bool takes(const std::vector<Difference> &differences, double margin = 1) const {
        for (std::size_t i = 0; i < differences.size(); ++i)
            if (differences[i].mismatches > 0 || !allows(differences[i], i, margin))
                return false;
        return true;
    }
    /// Whether it might, for this case or another: it takes them, or would with allowances that are
    /// a little wider, or few elements are against it.
    /// As many are as the norms of their errors tell: n errors of one size have a Euclidean norm
    /// of sqrt(n) times the maximum norm.
    bool mightTake(const std::vector<Difference> &differences, Rigour rigour) const {
        if (rigour == Rigour::justSo)
            return takes(differences);
        if (takes(differences, otherCases))
            return true;
        for (std::size_t i = 0; i < differences.size(); ++i) {
            const auto &[norm, largest, mismatches] = differences[i];
            const auto elements = pool_.description.outputs[i].type.elements();
            const double few = std::clamp(static_cast<double>(elements) / 16, 1.0, 8.0);
            if (mismatches >= few)
                return false;
            // Large beside the whole answer, or in many places.
            const bool large = norm >= largePart * pool_.random.front().errors[i].oracleNorm;
            const bool wide = largest > 0 && norm / largest * (norm / largest) >= few;
            if ((large || wide) && !allows(differences[i], i, otherCases))
                return false;
        }
        return true;
    }
    std::string unsuitable() const { return verify::unsuitable(pool_); }

  private:
    /// Errors of finite elements alone.
    bool allows(const Difference &difference, std::size_t output, double margin) const {
        const auto dtype = pool_.description.outputs[output].type.dtype;
        if (!isFloating(dtype))
            return true;
        const auto allowed =
            verify::allowanceFor(pool_.random.front().errors[output], pool_, output, dtype);
        return difference.errorNorm <= margin * allowed.errorNorm &&
               difference.maxError <= margin * allowed.maxError;
    }

    verify::Pool pool_;
};

/// The small task: a case for each seed.
Result<Judged> judgedSmall(const Json &outputs, const char *elements) {
    CUDA_AGENT_ASSIGN(judged, Judged::from(outputs, elements));
    CUDA_AGENT_ASSIGN(first, listAt(outputs.front(), "own"));
    for (std::size_t seed = 0; seed < first->size(); ++seed) {
        std::vector<const Json *> errors;
        for (const auto &output : outputs) {
            CUDA_AGENT_ASSIGN(own, listAt(output, "own"));
            if (own->size() != first->size())
                return requestError("its process sent outputs with other numbers of cases");
            errors.push_back(&(*own)[seed]);
        }
        CUDA_AGENT_TRY(judged.addCase(errors));
    }
    if (first->empty())
        return requestError("its process sent no cases");
    return std::move(judged);
}

/// The whole task: one case, which also says how far other inputs' answer is.
Result<Judged> judgedWhole(const Json &outputs) {
    CUDA_AGENT_ASSIGN(judged, Judged::from(outputs, "elements"));
    std::vector<const Json *> errors;
    for (const auto &output : outputs) {
        const auto full = output.find("full");
        if (full == output.end())
            return requestError("its process did not run the whole task");
        errors.push_back(&*full);
    }
    CUDA_AGENT_TRY(judged.addCase(errors));
    return std::move(judged);
}

} // namespace

std::vector<std::string> operatorsOf(const Candidate &candidate, const Json &answer) {
    if (!candidate.ops.empty())
        return candidate.ops;
    std::vector<std::string> names;
    if (const auto found = answer.find("ops"); found != answer.end() && found->is_array())
        for (const auto &name : *found)
            if (name.is_string())
                names.push_back(lineOf(name));
    return names;
}

Result<std::optional<Rejection>> decideCheck(const Candidate &candidate, const Json &answer,
                                             Rigour rigour) {
    const auto reject = [](const char *reason, std::string detail) {
        return std::optional<Rejection>({reason, std::move(detail)});
    };
    CUDA_AGENT_TRY(checkFigures(answer));
    CUDA_AGENT_ASSIGN(outputs, listAt(answer, "outputs"));
    CUDA_AGENT_ASSIGN(small, judgedSmall(*outputs, "small_elements"));
    CUDA_AGENT_ASSIGN(whole, judgedWhole(*outputs));

    Candidate unnamed = candidate;
    unnamed.ops.clear();
    const auto ran = operatorsOf(unnamed, answer);
    if (ran.empty())
        return reject("other operators", "forward() calls no public operator");
    if (!candidate.ops.empty() && ran != candidate.ops)
        return reject("other operators", fmt::format("{} ran", fmt::join(ran, ", ")));

    CUDA_AGENT_ASSIGN(rebuilt, differencesOf(partOf(answer, "rebuilt"), small.outputs()));
    CUDA_AGENT_ASSIGN(repeat, differencesOf(partOf(answer, "repeat"), whole.outputs()));
    if (!small.takes(rebuilt) || !whole.takes(repeat))
        return reject("not deterministic", "two calls on the same inputs differ by more than a "
                                           "kernel may");
    if (const auto why = whole.unsuitable(); !why.empty())
        return reject("unsuitable", why);

    CUDA_AGENT_ASSIGN(wrong, listAt(answer, "wrong"));
    for (const auto &each : *wrong) {
        CUDA_AGENT_ASSIGN(differences, differencesOf(partOf(each, "outputs"), small.outputs()));
        if (small.mightTake(differences, rigour))
            return reject("indistinct", fmt::format("'{}' would pass", textAt(each, "name")));
    }
    CUDA_AGENT_ASSIGN(dropped, listAt(answer, "dropped"));
    for (const auto &each : *dropped) {
        if (partOf(each, "possible") != true)
            continue;
        CUDA_AGENT_ASSIGN(differences, differencesOf(partOf(each, "outputs"), small.outputs()));
        if (small.mightTake(differences, rigour))
            return reject("redundant operator",
                          fmt::format("without {} the answer is the same", textAt(each, "op")));
    }
    CUDA_AGENT_ASSIGN(unused, listAt(answer, "unused"));
    if (!unused->empty())
        return reject("unused", fmt::format("the values of {} do not matter",
                                            textAt({{"name", unused->front()}}, "name")));
    return std::nullopt;
}

Result<std::optional<Rejection>> decideCompile(const Json &answer) {
    CUDA_AGENT_ASSIGN(outputs, listAt(answer, "outputs"));
    CUDA_AGENT_ASSIGN(judged, judgedSmall(*outputs, "elements"));
    CUDA_AGENT_ASSIGN(differences, differencesOf(*outputs, judged.outputs()));
    if (!judged.takes(differences))
        return std::optional<Rejection>({"compile differs", "torch.compile's answer is not right"});
    return std::nullopt;
}

} // namespace cuda_agent::synthesis
