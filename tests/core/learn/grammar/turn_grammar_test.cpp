// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "core/learn/corpus/corpus.h"
#include "tests/source_dir.h"
#include "turns.h"

#include <gtest/gtest.h>

#include <random>

namespace cuda_agent::learn {
namespace {

/// The policy's turns of the corpus that comes with the program.
const std::vector<std::string> &corpusTurns() {
    static const auto turns = [] {
        std::vector<std::string> all;
        const auto file = sourceDir() / "training/data/tasks-tiny/corpus.jsonl.gz";
        const auto read = eachDocument(file, [&](const Document &document) -> Result<void> {
            for (const auto &segment : document.segments)
                if (segment.by == chat::Author::policy)
                    all.push_back(segment.text);
            return {};
        });
        EXPECT_TRUE(read) << read.error().message;
        return all;
    }();
    return turns;
}

/// Turns with arguments of every kind.
std::vector<std::string> callsOfAllKinds() {
    const auto edits = parameterText("file_path", "a.cu");
    const auto path = parameterText("file_path", "a.cu");
    std::vector<std::string> turns;
    for (const auto &call :
         {callText("Compile", ""), callText("Read", path),
          callText("Read", path + parameterText("limit", "100000") + parameterText("offset", "1")),
          callText("Read", parameterText("offset", " \n 99999999 \t") + path),
          callText("Edit", path + parameterText("old_string", "") +
                               parameterText("new_string", "a\n</param\n<") +
                               parameterText("replace_all", "true")),
          callText("MultiEdit",
                   path + parameterText("edits", R"([{"old_string":"","new_string":"é\"\\"},
 { "replace_all" : false , "new_string" : "\u00e9\ud83d\ude00\n</p", "old_string":"<|im_" } ])")),
          callText("TodoWrite",
                   parameterText("todos", R"([{"content":"x","status":"in_progress",)"
                                          R"("priority":"low","id":"","activeForm":"<"}])")),
          callText("TodoWrite", parameterText("todos", "[ ]")),
          callText("Verify", parameterText("strength", "full")),
          callText("Grep", parameterText("pattern", "\n\n") + parameterText("head_limit", "5000") +
                               parameterText("multiline", "false") +
                               parameterText("output_mode", "content")),
          callText("Bash",
                   parameterText("command", "a < b >c </") + parameterText("timeout", "1"))}) {
        turns.push_back(ended(call));
        turns.push_back(ended("<think>\n<function= é\n</think>\n\n" + call + "\n" + call + " \n"));
        turns.push_back(ended(" so\n" + call));
    }
    return turns;
}

/// Whether all of a text is characters of UTF-8.
bool isUtf8(const std::string &text) {
    try {
        (void)Json(text).dump();
        return true;
    } catch (const Json::type_error &) {
        return false;
    }
}

std::string textOf(Symbol symbol) {
    return symbol < firstSpecial ? std::string(1, static_cast<char>(symbol))
                                 : std::string(chat::specialTokens[symbol - firstSpecial]);
}

TEST(TurnGrammar, TakesEveryTurnOfTheCorpus) {
    const auto grammar = grammarOfTools();
    ASSERT_GT(corpusTurns().size(), 400u);
    for (const auto &turn : corpusTurns())
        EXPECT_TRUE(grammar.accepts(turn)) << turn;
}

TEST(TurnGrammar, TakesWhatThePlannerDemonstrates) {
    const auto grammar = grammarOfTools();
    task::Description task;
    task.name = "bias_relu";
    const auto tensor = contiguousType(DType::float32, {64, 128});
    task.inputs = {{"in0", tensor, 0}, {"in1", tensor, 1}};
    task.outputs = {{"out0", tensor, -1}};
    const auto node = [&](const char *name, const char *op, Json args, std::int64_t input) {
        task::Node made;
        made.name = name;
        made.op = op;
        made.args = std::move(args);
        made.outputs = {tensor};
        made.inputIndex = static_cast<int>(input);
        return made;
    };
    task.graph.nodes = {node("x", "placeholder", Json::array(), 0),
                        node("y", "placeholder", Json::array(), 1),
                        node("sum", "aten.add.Tensor", {{{"node", "x"}}, {{"node", "y"}}}, -1),
                        node("relu", "aten.relu.default", Json::array({{{"node", "sum"}}}), -1)};
    task.graph.outputs = {"relu"};
    std::mt19937_64 random(3);
    for (const auto &target : {h200Target(), cpuTarget()}) {
        const auto space =
            policy::SearchSpace::make(task, target.info, target.ceilings, task::Numerics::standard);
        ASSERT_TRUE(space) << space.error().message;
        for (int i = 0; i < 20; ++i) {
            const auto name = space->random(random);
            const auto candidate = candidateText(*space, name, target.info.kind);
            ASSERT_TRUE(candidate) << candidate.error().message;
            const SizeSpelling spelling(task, "", name);
            const auto turn =
                turnOf(thoughtOf(space->parts(name), candidate->plan, spelling), *candidate);
            ASSERT_TRUE(turn) << turn.error().message;
            EXPECT_EQ(whyNot(turn->text), "");
            EXPECT_TRUE(grammar.accepts(turn->text)) << turn->text;
        }
    }
}

TEST(TurnGrammar, TakesArgumentsOfEveryKind) {
    const auto grammar = grammarOfTools();
    for (const auto &turn : callsOfAllKinds()) {
        EXPECT_EQ(whyNot(turn), "") << turn;
        EXPECT_TRUE(grammar.accepts(turn)) << turn;
    }
    for (const auto *turn :
         {"", " \n", "It is at the limit.", "<think></think>", "a <b> </p <funct",
          "<think>a</think>done", "so <function=Verify> is a call"})
        EXPECT_TRUE(grammar.accepts(ended(turn))) << turn;
}

TEST(TurnGrammar, RefusesWhatTheParserOrASchemaRefuses) {
    const auto grammar = grammarOfTools();
    const auto path = parameterText("file_path", "a");
    const auto edits = [&](const char *json) {
        return callText("MultiEdit", path + parameterText("edits", json));
    };
    for (const auto &turn : std::vector<std::string>{
             "<think>\nso",
             "<think>a<think></think>",
             "a <tool_response>",
             "a <|im_start|>",
             "<function=Verify>\n</function>",
             "<tool_call>",
             "<tool_call>\n<function=Verify>\n</function>",
             callText("Fly", ""),
             callText("", ""),
             callText("Verify", "") + " and more",
             callText("Verify", "") + "<think>a</think>",
             callText("Verify", parameterText("strength", "")),
             callText("Verify", parameterText("strength", "weak")),
             callText("Verify", parameterText("strength", "full\n")),
             callText("Verify", parameterText("speed", "full")),
             callText("Write", path),
             callText("Write", path + path + parameterText("content", "")),
             callText("Write", path + "<parameter=content>x\n</parameter>\n"),
             callText("Write", path + "<parameter=content>\nx</parameter>\n"),
             callText("Write", path + parameterText("content", "a</parameter>")),
             callText("Write", path + parameterText("content", "a</tool_call>")),
             callText("Read", path + parameterText("offset", "0")),
             callText("Read", path + parameterText("offset", "100000001")),
             callText("Read", path + parameterText("offset", "01")),
             callText("Read", path + parameterText("offset", "1 2")),
             callText("Read", path + parameterText("offset", "-1")),
             callText("Read", path + parameterText("offset", "many")),
             callText("Read", path + parameterText("offset", "")),
             callText("Edit", path + parameterText("old_string", "a") +
                                  parameterText("new_string", "b") +
                                  parameterText("replace_all", "yes")),
             callText("Grep", parameterText("pattern", "a") + parameterText("-i", "true")),
             callText("Bash", parameterText("command", "")),
             callText("Bash", parameterText("command", "\n").erase(20, 1)),
             edits("[]"),
             edits("[{}]"),
             edits(R"([{"old_string":"a"}])"),
             edits(R"([{"old_string":"a","new_string":"b"},])"),
             edits(R"([{"old_string":"a","new_string":"b",}])"),
             edits(R"([{"old_string":"a","new_string":1}])"),
             edits(R"([{"old_string":"a","new_string":"b","more":""}])"),
             edits(R"({"old_string":"a","new_string":"b"})"),
             edits(R"([{"old_string":"a","new_string":"b"}]])"),
             edits("[{\"old_string\":\"\n\",\"new_string\":\"b\"}]"),
             edits(R"([{"old_string":"\x","new_string":"b"}])"),
             edits(R"([{"old_string":"\u12g4","new_string":"b"}])"),
             edits(R"([{"old_string":"\udc00","new_string":"b"}])"),
             edits(R"([{"old_string":"\ud83d","new_string":"b"}])"),
             edits(R"([{"old_string":"\ud83d\u0041","new_string":"b"}])"),
             edits(R"([{"old_string":"<|im_end|>","new_string":"b"}])"),
             edits(R"([{"old_string":"</parameter>","new_string":"b"}])"),
             edits("[{\"old_string\":\"\xff\",\"new_string\":\"b\"}]"),
             callText("TodoWrite",
                      parameterText("todos", R"([{"content":"","status":"pending"}])")),
             callText("TodoWrite", parameterText("todos", R"([{"content":"a","status":"later"}])")),
         }) {
        EXPECT_NE(whyNot(ended(turn)), "") << turn;
        EXPECT_FALSE(grammar.accepts(ended(turn))) << turn;
    }
    EXPECT_FALSE(grammar.accepts("done"));
    EXPECT_FALSE(grammar.accepts(ended(ended("done"))));
}

/// What the README says the parser or the tools take besides.
TEST(TurnGrammar, IsNarrowerThanTheParserOnlyWhereItSays) {
    const auto grammar = grammarOfTools();
    const auto path = parameterText("file_path", "a");
    const auto edits = [&](const char *json) {
        return callText("MultiEdit", path + parameterText("edits", json));
    };
    for (const auto &turn : std::vector<std::string>{
             "no character: \xff",
             callText("Write", path + parameterText("content", "\xc3")),
             "<function=Verify> first" + callText("Verify", ""),
             callText("Read", path + parameterText("offset", "3.0")),
             callText("Read", path + parameterText("offset", "1e2")),
             edits(R"([{"old_string":"a","old_string":"c","new_string":"b"}])"),
             edits(R"([{"old_\u0073tring":"a","new_string":"b"}])"),
         }) {
        EXPECT_EQ(whyNot(ended(turn)), "") << turn;
        EXPECT_FALSE(grammar.accepts(ended(turn))) << turn;
    }
}

/// Turns with a mistake: grammar, parser and schemas say the same of them.
TEST(TurnGrammar, AgreesWithParserAndSchemasOnBrokenTurns) {
    const auto grammar = grammarOfTools();
    auto turns = callsOfAllKinds();
    for (std::size_t i = 0; i < corpusTurns().size(); i += 16)
        turns.push_back(corpusTurns()[i]);
    const std::vector<std::string> pieces{"<",
                                          ">",
                                          "/",
                                          "\n",
                                          "\n\n",
                                          " ",
                                          "\"",
                                          "\\",
                                          "{",
                                          "}",
                                          "[",
                                          "]",
                                          ",",
                                          ":",
                                          "0",
                                          "7",
                                          "true",
                                          "é",
                                          "\t",
                                          "x",
                                          "</parameter>",
                                          "<think>",
                                          "\r",
                                          "\x01",
                                          "\xc3",
                                          "\\u00",
                                          "\\ud8",
                                          "</function>",
                                          "\n</parameter>\n",
                                          "<tool_call>",
                                          "</tool_call>",
                                          "</think>",
                                          "<|im_end|>",
                                          "<function=",
                                          "<parameter=limit>\n"};
    std::mt19937_64 random(17);
    std::size_t taken = 0, refused = 0;
    for (int i = 0; i < 60'000; ++i) {
        auto turn = turns[random() % turns.size()];
        for (auto mistakes = 1 + random() % 2; mistakes > 0; --mistakes) {
            const auto at = random() % (turn.size() + 1);
            const auto kind = random() % 3;
            if (kind != 0)
                turn.erase(at, kind == 1 ? 1 : random() % 24);
            if (kind != 1)
                turn.insert(std::min(at, turn.size()), pieces[random() % pieces.size()]);
        }
        const auto why = whyNot(turn);
        const bool accepted = grammar.accepts(turn);
        ++(accepted ? taken : refused);
        if (accepted) {
            ASSERT_EQ(why, "") << turn;
        } else if (why.empty() && isUtf8(turn)) {
            // The one form of IsNarrowerThanTheParserOnlyWhereItSays that these mistakes make.
            const auto first = turn.find("<function=");
            ASSERT_LT(first, turn.find("<tool_call>")) << turn;
        }
    }
    EXPECT_GT(taken, 10'000u);
    EXPECT_GT(refused, 10'000u);
}

TEST(TurnGrammar, FromAnywhereTheClosingEndsATurn) {
    const auto grammar = grammarOfTools();
    auto turns = callsOfAllKinds();
    for (std::size_t i = 0; i < corpusTurns().size(); i += 40)
        turns.push_back(corpusTurns()[i]);
    std::size_t longest = 0;
    for (const auto &turn : turns) {
        TurnState state;
        std::string text;
        for (const auto symbol : TurnGrammar::symbolsOf(turn)) {
            auto end = state;
            auto closed = text;
            std::size_t symbols = 0;
            for (; end.place != TurnState::Place::end && symbols < 400; ++symbols) {
                const auto close = grammar.closing(end);
                const auto next = grammar.next(end, close);
                ASSERT_TRUE(next) << closed;
                end = *next;
                closed += textOf(close);
            }
            ASSERT_EQ(end.place, TurnState::Place::end) << closed;
            ASSERT_EQ(whyNot(closed), "") << closed;
            longest = std::max(longest, symbols);
            state = *grammar.next(state, symbol);
            text += textOf(symbol);
        }
    }
    EXPECT_LT(longest, 250u);
}

TEST(TurnGrammar, AStateInATextDoesNotGrowWithIt) {
    const auto grammar = grammarOfTools();
    for (const std::string begin :
         {"<think>\n", "<tool_call><function=Bash><parameter=command>\na",
          "<tool_call><function=MultiEdit><parameter=edits>\n[{\"old_string\":\""}) {
        const auto stateOf = [&](const std::string &text) {
            TurnState state;
            for (const auto symbol : TurnGrammar::symbolsOf(text))
                state = grammar.next(state, symbol).value();
            return state;
        };
        const auto once = stateOf(begin + "a word");
        EXPECT_EQ(stateOf(begin + "many other words, é, in it <p < a"), once);
        EXPECT_EQ(TurnStateHash()(stateOf(begin + "words")), TurnStateHash()(once));
    }
}

TEST(TurnGrammar, SaysWhichSchemaItCannotWrite) {
    const auto of = [](Json properties) {
        return TurnGrammar::make(
            {{{"type", "function"},
              {"function",
               {{"name", "Odd"}, {"parameters", tools::objectOf(std::move(properties), {})}}}}});
    };
    EXPECT_TRUE(of({{"a", tools::textField("b")}}));
    for (const auto &schema :
         {Json{{"type", "number"}}, Json{{"type", "string"}, {"pattern", "a+"}}, Json::object(),
          Json{{"type", "integer"}, {"minimum", -3}, {"maximum", 4}}}) {
        const auto made = of({{"a", schema}});
        ASSERT_FALSE(made) << schema;
        EXPECT_NE(made.error().message.find("Odd"), std::string::npos) << made.error().message;
    }
}

} // namespace
} // namespace cuda_agent::learn
