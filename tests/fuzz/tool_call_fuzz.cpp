// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later

// What a language model's endpoint answers: server-sent events with pieces of an answer, tool calls
// whose arguments are text that may be JSON, and what the file tools then do with them.

#include "core/base/temporary_folder.h"
#include "core/base/untrusted_json.h"
#include "core/policy/endpoint/answer.h"
#include "core/policy/endpoint/event_stream.h"
#include "core/tools/schema.h"
#include "core/tools/toolbox.h"
#include "tests/fuzz/fuzz.h"

#include <optional>

using namespace cuda_agent;

namespace {

/// A workspace on a session of its own, made anew from time to time so that it stays small.
class Desk {
  public:
    Desk() {
        auto made = TemporaryFolder::make("cuda-agent-fuzz");
        fuzz::require(made.has_value(), "a temporary folder can be made");
        folder_.emplace(std::move(*made));
        auto log = session::Log::create(folder_->path() / "session");
        fuzz::require(log.has_value(), "a session can be made");
        recorder_.emplace(std::move(*log), session::State());
        tools::Workspace::Parts parts;
        parts.folder = folder_->path() / "candidate";
        parts.recorder = &*recorder_;
        parts.protectedFiles["model.py"] = "class Model: pass\n";
        auto workspace = tools::Workspace::open(std::move(parts));
        fuzz::require(workspace.has_value(), "a workspace can be made");
        workspace_.emplace(std::move(*workspace));
        fuzz::require(workspace_->restore().has_value(), "and filled");
        workspace_->turn = 1;
    }

    void call(const std::string &name, const Json &arguments) {
        const auto observation = tools::callTool(*workspace_, {"call-1-1", name, arguments}, {});
        fuzz::require(observation.has_value(), "a call is answered");
        fuzz::require(workspace_->read("model.py") == "class Model: pass\n",
                      "a protected file stays as it is");
        std::size_t entries = 0;
        for (const auto &entry : std::filesystem::directory_iterator(folder_->path())) {
            (void)entry;
            ++entries;
        }
        fuzz::require(entries == 2, "nothing is written beside the workspace");
        ++calls_;
    }
    int calls() const { return calls_; }

  private:
    std::optional<TemporaryFolder> folder_;
    std::optional<session::Recorder> recorder_;
    std::optional<tools::Workspace> workspace_;
    int calls_ = 0;
};

bool staysHere(const std::string &tool) {
    return tool == "Read" || tool == "Write" || tool == "Edit" || tool == "MultiEdit" ||
           tool == "TodoWrite" || tool == "Skill";
}

void act(const policy::WrittenCall &written) {
    const auto arguments = parseUntrusted(written.arguments.empty() ? "{}" : written.arguments);
    if (!arguments.is_object())
        return;
    for (const auto &tool : tools::allTools())
        (void)tools::schemaProblems(arguments, tool.parameters, tool.name);
    if (!staysHere(written.tool))
        return;
    static std::unique_ptr<Desk> desk;
    if (!desk || desk->calls() > 500) {
        desk.reset(); // one at a time
        desk = std::make_unique<Desk>();
    }
    desk->call(written.tool, arguments);
}

void take(policy::AnswerBuilder &builder) {
    (void)builder.empty();
    const auto answer = builder.take();
    fuzz::require(answer.calls.size() <= 32, "an answer has so many calls and no more");
    fuzz::require(answer.promptTokens >= 0 && answer.answerTokens >= 0, "tokens are counted up");
    for (const auto &written : answer.calls)
        act(written);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
    const auto text = fuzz::textOf(data, size);
    policy::AnswerBuilder streamed;
    std::vector<std::string> whole, pieces;
    policy::EventStream stream([&](std::string_view event) {
        whole.emplace_back(event);
        if (const auto chunk = parseUntrusted(event); !chunk.is_discarded())
            (void)streamed.addChunk(chunk);
    });
    stream.feed(text);
    stream.finish();
    policy::EventStream slow([&](std::string_view event) { pieces.emplace_back(event); });
    for (const char byte : text)
        slow.feed({&byte, 1});
    slow.finish();
    fuzz::require(whole == pieces, "a stream reads the same in whatever pieces it comes");
    take(streamed);

    if (const auto body = parseUntrusted(text); !body.is_discarded()) {
        policy::AnswerBuilder builder;
        builder.setWhole(body);
        take(builder);
        (void)policy::errorMessage(body);
    }
    return 0;
}
