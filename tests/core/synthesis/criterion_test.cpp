// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/synthesis/criterion.h"

#include "tests/core/synthesis/set_fixture.h"

#include <gtest/gtest.h>

#include <random>

namespace cuda_agent::synthesis {
namespace {

/// Of an output whose reference errs by a ten-millionth of its norm.
Json ownError() {
    return {{"error_norm", 1e-6}, {"max_error", 1e-7},        {"oracle_norm", 10},
            {"max_oracle", 2},    {"sensitivity_norm", 1e-6}, {"sensitivity_max", 1e-7}};
}

Json numbers(double norm, double largest, double mismatches = 0) {
    return {{"error_norm", norm}, {"max_error", largest}, {"mismatches", mismatches}};
}
const Json right = numbers(1e-7, 1e-8), wrong = numbers(10, 2);

Json goodAnswer() {
    auto full = ownError();
    full["change_norm"] = 1.4;
    full["change_max"] = 1.2;
    const Json output{{"dtype", "float32"},
                      {"shape", {64, 32}},
                      {"elements", 2048},
                      {"small_elements", 128},
                      {"own", Json::array({ownError(), ownError(), ownError()})},
                      {"full", full}};
    Json answer;
    answer["ops"] = {"linear", "gelu"};
    answer["outputs"] = Json::array({output});
    answer["wrong"] = Json::array({{{"name", "zeros"}, {"outputs", Json::array({wrong})}},
                                   {{"name", "mean"}, {"outputs", Json::array({wrong})}}});
    answer["dropped"] = Json::array(
        {{{"op", "linear"}, {"call", 0}, {"possible", false}},
         {{"op", "gelu"}, {"call", 1}, {"possible", true}, {"outputs", Json::array({wrong})}}});
    answer["unused"] = Json::array();
    answer["rebuilt"] = Json::array({right});
    answer["repeat"] = Json::array({right});
    answer["bitwise"] = true;
    answer["memory_bytes"] = 65536;
    answer["operations"] = 1e6;
    answer["counted_bytes"] = 16384;
    answer["graph"] = {"aten.mm", "aten.gelu"};
    answer["graph_hash"] = "0123456789abcdef";
    answer["small"] = true;
    answer["seconds"] = {{"runs", 0.1}};
    return answer;
}

Json goodCompiled() {
    return {{"compile_seconds", 3.5},
            {"outputs", Json::array({{{"dtype", "float32"},
                                      {"shape", {64, 32}},
                                      {"elements", 2048},
                                      {"own", Json::array({ownError()})},
                                      {"error_norm", 1e-7},
                                      {"max_error", 1e-8},
                                      {"mismatches", 0}}})}};
}

std::string reasonOf(const Result<std::optional<Rejection>> &decided) {
    if (!decided)
        return "error: " + decided.error().message;
    return *decided ? (*decided)->reason : "passed";
}
std::string check(const Json &answer, const Candidate &candidate = candidateOf(0)) {
    return reasonOf(decideCheck(candidate, answer, Rigour::clearly));
}
/// The reason for the good answer with another value at a place.
std::string checkWith(const char *place, const Json &value) {
    auto answer = goodAnswer();
    answer[Json::json_pointer(place)] = value;
    return check(answer);
}
std::string compiledWith(const char *place, const Json &value) {
    auto answer = goodCompiled();
    answer[Json::json_pointer(place)] = value;
    return reasonOf(decideCompile(answer));
}

TEST(Criterion, TakesAGoodTask) {
    EXPECT_EQ(check(goodAnswer()), "passed");
    EXPECT_EQ(reasonOf(decideCompile(goodCompiled())), "passed");
}

TEST(Criterion, WantsTheOperatorsThatItSays) {
    EXPECT_EQ(checkWith("/ops", {"linear"}), "other operators");
    EXPECT_EQ(checkWith("/ops", {"gelu", "linear"}), "other operators");
    EXPECT_EQ(checkWith("/ops", {"linear", "gelu", "relu"}), "other operators");
    EXPECT_EQ(checkWith("/ops", Json::array()), "other operators");
    EXPECT_EQ(checkWith("/ops", "linear"), "other operators");
    // Somebody else's task names none: what ran counts, as long as something did.
    auto named = candidateOf(0);
    named.ops.clear();
    EXPECT_EQ(check(goodAnswer(), named), "passed");
    EXPECT_EQ(operatorsOf(named, goodAnswer()), (std::vector<std::string>{"linear", "gelu"}));
    auto answer = goodAnswer();
    answer["ops"] = Json::array();
    EXPECT_EQ(check(answer, named), "other operators");
}

TEST(Criterion, WantsTwoCallsToAgree) {
    EXPECT_EQ(checkWith("/rebuilt/0", numbers(1, 0.1)), "not deterministic");
    EXPECT_EQ(checkWith("/repeat/0", numbers(1, 0.1)), "not deterministic");
    EXPECT_EQ(checkWith("/repeat/0", numbers(0, 0, 1)), "not deterministic");
    // As much as a kernel may: four times the reference's own error.
    EXPECT_EQ(checkWith("/repeat/0", numbers(3.9e-6, 3.9e-7)), "passed");
    EXPECT_EQ(checkWith("/repeat/0", numbers(4.1e-6, 3.9e-7)), "not deterministic");
}

TEST(Criterion, WantsWrongAnswersToFailClearly) {
    const auto decided = [](const Json &numbers, Rigour rigour) {
        auto answer = goodAnswer();
        answer["wrong"][0]["outputs"][0] = numbers;
        return reasonOf(decideCheck(candidateOf(0), answer, rigour));
    };
    // One element, or four, of 128 are off by a part of the whole: other inputs may have none.
    for (const auto &few : {numbers(0.1, 0.1), numbers(0.2, 0.1), numbers(0, 0, 7)}) {
        EXPECT_EQ(decided(few, Rigour::clearly), "indistinct") << few;
        EXPECT_EQ(decided(few, Rigour::justSo), "passed") << few;
    }
    for (const auto &many : {numbers(0.3, 0.1), numbers(0.6, 0.6), numbers(0, 0, 8)})
        EXPECT_EQ(decided(many, Rigour::clearly), "passed") << many;
    // Many, but all within what is allowed.
    EXPECT_EQ(decided(numbers(3e-6, 3e-7), Rigour::justSo), "indistinct");
    // Many, and past that by a little: another case may allow more.
    EXPECT_EQ(decided(numbers(6e-6, 3e-7), Rigour::justSo), "passed");
    EXPECT_EQ(decided(numbers(6e-6, 3e-7), Rigour::clearly), "indistinct");
    EXPECT_EQ(decided(numbers(9e-6, 3e-7), Rigour::clearly), "passed");
    // Of an output of few elements one is enough.
    auto answer = goodAnswer();
    answer["outputs"][0]["small_elements"] = 16;
    answer["wrong"][0]["outputs"][0] = numbers(0.1, 0.1);
    EXPECT_EQ(check(answer), "passed");
}

TEST(Criterion, WantsAnAnswerThatIsNeitherZeroNorConstant) {
    auto answer = goodAnswer();
    answer["outputs"][0]["full"]["oracle_norm"] = 0;
    answer["outputs"][0]["full"]["max_oracle"] = 0;
    answer["repeat"][0] = numbers(0, 0);
    EXPECT_EQ(check(answer), "unsuitable");
    answer = goodAnswer();
    answer["outputs"][0]["full"]["change_norm"] = 0;
    answer["outputs"][0]["full"]["change_max"] = 0;
    EXPECT_EQ(check(answer), "unsuitable");
    answer = goodAnswer();
    answer["outputs"][0]["full"]["error_norm"] = 10; // zeros err no more than PyTorch itself
    answer["outputs"][0]["full"]["max_error"] = 2;
    EXPECT_EQ(check(answer), "unsuitable");
}

TEST(Criterion, WantsWrongAnswersToFail) {
    EXPECT_EQ(checkWith("/wrong/1/outputs/0", right), "indistinct");
    EXPECT_EQ(checkWith("/wrong/1/outputs/0", numbers(0, 0, 30)), "passed"); // other kinds
    // One of several outputs is enough to fail by.
    auto answer = goodAnswer();
    answer["outputs"].push_back(answer["outputs"][0]);
    for (const auto *key : {"/rebuilt", "/repeat"})
        answer[Json::json_pointer(key)].push_back(right);
    for (const auto *key : {"/wrong/0/outputs", "/wrong/1/outputs", "/dropped/1/outputs"})
        answer[Json::json_pointer(key)].push_back(right);
    EXPECT_EQ(check(answer), "passed");
    answer["wrong"][0]["outputs"][0] = right;
    EXPECT_EQ(check(answer), "indistinct");
}

TEST(Criterion, ComparesWholeNumbersExactly) {
    auto answer = goodAnswer();
    answer["outputs"][0]["dtype"] = "int64";
    // What counts are the elements that differ; norms say nothing.
    EXPECT_EQ(check(answer), "indistinct");
    for (const auto *place : {"/wrong/0/outputs/0", "/wrong/1/outputs/0", "/dropped/1/outputs/0"})
        answer[Json::json_pointer(place)] = numbers(0, 0, 17);
    EXPECT_EQ(check(answer), "passed");
    answer["repeat"][0] = numbers(0, 0, 1);
    EXPECT_EQ(check(answer), "not deterministic");
}

TEST(Criterion, WantsEveryOperatorToMatter) {
    EXPECT_EQ(checkWith("/dropped/1/outputs/0", right), "redundant operator");
    auto answer = goodAnswer();
    answer["dropped"][1]["outputs"][0] = right;
    answer["dropped"][1]["possible"] = false;
    EXPECT_EQ(check(answer), "passed");
}

TEST(Criterion, WantsEveryInputToMatter) {
    const auto decided = [](const Json &unused) {
        auto answer = goodAnswer();
        answer["unused"] = unused;
        return decideCheck(candidateOf(0), answer, Rigour::clearly);
    };
    const auto one = decided({"in1"});
    ASSERT_TRUE(one && *one);
    EXPECT_EQ((*one)->reason, "unused");
    EXPECT_NE((*one)->detail.find("in1"), std::string::npos);
    EXPECT_EQ(reasonOf(decided(Json::array({{{"deep", 1}}}))), "unused");
}

TEST(Criterion, WantsCompiledTasksToBeRight) {
    EXPECT_EQ(compiledWith("/outputs/0/error_norm", 5e-6), "compile differs");
    EXPECT_EQ(compiledWith("/outputs/0/max_error", 1e-6), "compile differs");
    EXPECT_EQ(compiledWith("/outputs/0/mismatches", 1), "compile differs");
    EXPECT_EQ(compiledWith("/outputs/0/error_norm", 3.9e-6), "passed");
}

TEST(Criterion, RefusesMalformedAnswers) {
    for (const auto &answer :
         {Json(), Json(1), Json("x"), Json::array(), Json::object(), Json::array({goodAnswer()})}) {
        EXPECT_EQ(check(answer).rfind("error: ", 0), 0u) << answer.dump();
        EXPECT_EQ(reasonOf(decideCompile(answer)).rfind("error: ", 0), 0u) << answer.dump();
    }
    for (const auto *key : {"outputs", "wrong", "dropped", "unused", "rebuilt", "repeat"}) {
        auto answer = goodAnswer();
        answer.erase(key);
        EXPECT_EQ(check(answer).rfind("error: ", 0), 0u) << key;
    }
    for (const auto &[place, value] :
         std::vector<std::pair<const char *, Json>>{{"/outputs", Json::array()},
                                                    {"/outputs/0", 3},
                                                    {"/outputs/0/dtype", "complex64"},
                                                    {"/outputs/0/dtype", 1},
                                                    {"/outputs/0/elements", "2048"},
                                                    {"/outputs/0/elements", 1e300},
                                                    {"/outputs/0/small_elements", -1},
                                                    {"/outputs/0/small_elements", nullptr},
                                                    {"/outputs/0/own", Json::array()},
                                                    {"/outputs/0/own", {{"a", 1}}},
                                                    {"/outputs/0/own/1", "NaN"},
                                                    {"/outputs/0/own/0/error_norm", "NaN"},
                                                    {"/outputs/0/own/2/oracle_norm", -1e-9},
                                                    {"/outputs/0/own/1/max_oracle", true},
                                                    {"/outputs/0/full", nullptr},
                                                    {"/outputs/0/full/max_error", nullptr},
                                                    {"/outputs/0/full/change_norm", -1},
                                                    {"/outputs/0/full/change_max", "Infinity"},
                                                    {"/rebuilt", Json::array()},
                                                    {"/repeat/1", right},
                                                    {"/repeat/0/mismatches", "0"},
                                                    {"/wrong/0/outputs", Json::array()},
                                                    {"/wrong/0/outputs/1", wrong},
                                                    {"/wrong/0", 1},
                                                    {"/wrong", {{"zeros", 1}}},
                                                    {"/dropped/1/outputs", nullptr},
                                                    {"/dropped/1/outputs/0/error_norm", -3},
                                                    {"/unused", "in0"},
                                                    {"/memory_bytes", "many"},
                                                    {"/operations", -1},
                                                    {"/counted_bytes", Json::array()},
                                                    {"/graph", "aten.mm"},
                                                    {"/graph/0", 7},
                                                    {"/graph_hash", 12}})
        EXPECT_EQ(checkWith(place, value).rfind("error: ", 0), 0u) << place << " " << value;
    for (const auto &[place, value] :
         std::vector<std::pair<const char *, Json>>{{"/outputs", nullptr},
                                                    {"/outputs", Json::array()},
                                                    {"/outputs/0/own", Json::array()},
                                                    {"/outputs/0/elements", 1e17},
                                                    {"/outputs/0/mismatches", -1},
                                                    {"/outputs/0/error_norm", "NaN"}})
        EXPECT_EQ(compiledWith(place, value).rfind("error: ", 0), 0u) << place << " " << value;
    // Two outputs that tell of other numbers of cases.
    auto answer = goodAnswer();
    answer["outputs"].push_back(answer["outputs"][0]);
    answer["outputs"][1]["own"].erase(2);
    EXPECT_EQ(check(answer).rfind("error: ", 0), 0u);
}

TEST(Criterion, NamesNothingThatIsNoLineOfText) {
    auto candidate = candidateOf(0);
    candidate.ops.clear();
    auto answer = goodAnswer();
    answer["ops"] = {"a\nb", "\xc3\xa4", std::string(199, 'x') + "\xc3\xa4", 7};
    const auto names = operatorsOf(candidate, answer);
    ASSERT_EQ(names.size(), 3u);
    EXPECT_EQ(names[0], "a?b");
    EXPECT_EQ(names[1], "??");
    EXPECT_EQ(names[2], std::string(199, 'x') + "?"); // no half of a letter
    EXPECT_NO_THROW(static_cast<void>(Json(names).dump()));
}

/// Every place of a value, itself first.
void placesOf(const Json &value, const Json::json_pointer &here,
              std::vector<Json::json_pointer> &places) {
    places.push_back(here);
    if (value.is_object())
        for (const auto &[key, part] : value.items())
            placesOf(part, here / key, places);
    if (value.is_array())
        for (std::size_t i = 0; i < value.size(); ++i)
            placesOf(value[i], here / i, places);
}

Json mutated(Json answer, std::mt19937_64 &random) {
    static const std::vector<Json> strange{right,
                                           wrong,
                                           Json::array({"in0"}),
                                           Json::array({right}),
                                           nullptr,
                                           true,
                                           false,
                                           0,
                                           -1,
                                           1,
                                           1e308,
                                           -1e-308,
                                           std::uint64_t(-1),
                                           "NaN",
                                           "",
                                           "float64",
                                           "bool",
                                           "\xff\xfe",
                                           "a\nb",
                                           Json::array(),
                                           Json::object(),
                                           Json::array({Json::array()}),
                                           Json{{"outputs", 1}},
                                           std::numeric_limits<double>::quiet_NaN(),
                                           std::numeric_limits<double>::infinity(),
                                           9007199254740993,
                                           std::string(5000, 'x')};
    for (auto count = 1 + random() % 3; count > 0; --count) {
        std::vector<Json::json_pointer> places;
        placesOf(answer, Json::json_pointer(), places);
        const auto &place = places[random() % places.size()];
        auto &value = answer[place];
        switch (random() % 4) {
        case 0:
            value = strange[random() % strange.size()];
            break;
        case 1: // gone
            if (!place.empty()) {
                auto &parent = answer[place.parent_pointer()];
                if (parent.is_object())
                    parent.erase(place.back());
                else
                    parent.erase(std::stoul(place.back()));
            }
            break;
        case 2: { // once more
            if (value.is_array() && !value.empty()) {
                const Json copy = value[random() % value.size()];
                value.push_back(copy);
            }
            break;
        }
        default: // another part's value
            value = Json(answer[places[random() % places.size()]]);
        }
    }
    return answer;
}

/// What the filter keeps of an answer that was not refused is written, read and shown later.
void use(const Candidate &candidate, const Json &answer) {
    auto checked = checkedOf(candidate, Stage::check);
    checked.figures["ops"] = operatorsOf(candidate, answer);
    for (const auto *key :
         {"graph", "graph_hash", "memory_bytes", "operations", "counted_bytes", "bitwise"})
        if (answer.contains(key))
            checked.figures[key] = answer[key];
    const auto text = toJson(checked).dump(-1, ' ', false, Json::error_handler_t::replace);
    const auto again = checkedFromJson(Json::parse(text));
    ASSERT_TRUE(again) << text;
    const auto timed = checkedOf(candidate, Stage::time);
    const auto compiled = checkedOf(candidate, Stage::compile);
    const auto second = checkedOf(candidate, Stage::again);
    const auto third = checkedOf(candidate, Stage::third);
    const auto set = assemble({}, {{&candidate, &*again, &timed, &compiled, &second, &third}}, {});
    ASSERT_EQ(set.tasks.size(), 1u);
    EXPECT_TRUE(set.tasks.front().toJson().is_object());
}

TEST(Criterion, StandsHostileAnswers) {
    std::mt19937_64 random(20260);
    auto candidate = candidateOf(0);
    std::map<std::string, int> counts;
    for (int i = 0; i < 20000; ++i) {
        const bool compile = i % 4 == 0;
        candidate.ops =
            i % 2 ? std::vector<std::string>{"linear", "gelu"} : std::vector<std::string>{};
        const auto answer = mutated(compile ? goodCompiled() : goodAnswer(), random);
        const auto text = answer.dump(-1, ' ', false, Json::error_handler_t::replace);
        Result<std::optional<Rejection>> decided = std::nullopt;
        ASSERT_NO_THROW(decided = compile ? decideCompile(answer)
                                          : decideCheck(candidate, answer, Rigour::clearly))
            << text;
        if (!decided) {
            EXPECT_EQ(decided.error().kind, ErrorKind::request);
            ++counts["error"];
            continue;
        }
        ++counts[reasonOf(decided)];
        const auto detail = *decided ? (*decided)->detail : std::string();
        for (const char c : detail)
            ASSERT_TRUE(c >= ' ' && c <= '~') << text;
        if (!compile) {
            ASSERT_NO_THROW(use(candidate, answer)) << text;
        }
    }
    // The mutations reach all there is.
    for (const auto *reason : {"error", "passed", "other operators", "not deterministic",
                               "indistinct", "redundant operator", "unused", "compile differs"})
        EXPECT_GT(counts[reason], 0) << reason;
}

} // namespace
} // namespace cuda_agent::synthesis
