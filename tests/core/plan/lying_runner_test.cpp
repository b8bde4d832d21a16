// SPDX-FileCopyrightText: The CUDA Agent Workbench authors
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/core/plan/plan_fixture.h"
#include "tests/core/plan/run_fixture.h"

// The engine's side against a process that says what it likes, as host code of a candidate could.

namespace cuda_agent::plan {
namespace {

/// Answers `load` honestly and everything else with the answer that the test wants; `ID` in it is
/// the number of the message.
constexpr const char *script = R"py(#!/usr/bin/python3
import json, socket, struct
channel = socket.socket(fileno=3)
def read(count):
    data = b""
    while len(data) < count:
        part = channel.recv(count - len(data))
        if not part:
            raise SystemExit(0)
        data += part
    return data
def send(data):
    channel.sendall(struct.pack("<II", len(data), 0) + data)
while True:
    size, _ = struct.unpack("<II", read(8))
    message = json.loads(read(size))
    number = str(message["id"])
    if message["op"] == "load":
        send(('{"ok": true, "id": %s}' % number).encode())
        EXTRA
    else:
        send(ANSWER.replace("ID", number).encode())
)py";

class LyingRunner : public RunPlan {
  protected:
    void SetUp() override {
        RunPlan::SetUp();
        const char *before = std::getenv("CUDA_AGENT_BIN");
        before_ = before != nullptr ? before : "";
        compileCandidate(pointwisePlan(), doubleKernel);
        signature_ = pointwiseSignature(10);
    }
    void TearDown() override {
        if (before_.empty())
            unsetenv("CUDA_AGENT_BIN");
        else
            setenv("CUDA_AGENT_BIN", before_.c_str(), 1);
        RunPlan::TearDown();
    }

    void startLiar(const std::string &answer, const std::string &extra = "pass") {
        std::string text = script;
        text.replace(text.find("ANSWER"), 6, Json(answer).dump());
        text.replace(text.find("EXTRA"), 5, extra);
        std::filesystem::create_directories(folder_ / "bin");
        const auto program = folder_ / "bin/cuda-agent-runner";
        std::ofstream(program) << text;
        std::filesystem::permissions(program, std::filesystem::perms::all);
        setenv("CUDA_AGENT_BIN", (folder_ / "bin").c_str(), 1);
        ASSERT_TRUE(start()) << problem_.message;
    }
    /// The error of taking two samples.
    std::string timeProblem(const std::string &answer, const std::string &extra = "pass") {
        startLiar(answer, extra);
        if (!process_)
            return "did not start";
        SampleRequest request;
        request.sets = {0};
        request.samples = 2;
        const auto samples = process_->time(request);
        if (samples)
            return "";
        EXPECT_EQ(samples.error().kind, ErrorKind::failed) << samples.error().message;
        return samples.error().message;
    }

    std::string before_;
};

std::string samplesAnswer(const std::string &samples) {
    return R"({"ok": true, "id": ID, "samples": )" + samples + "}";
}

TEST_F(LyingRunner, TimesMustBePossible) {
    EXPECT_EQ(timeProblem(samplesAnswer(R"([{"seconds": 1e-6, "calls": 1},
                                            {"seconds": 2e-6, "calls": 3}])")),
              "")
        << "times that can be pass, so the others fail for what they say";
    const std::string honest = R"({"seconds": 1e-6, "calls": 1})";
    for (const std::string &samples :
         {"[" + honest + "]", "[" + honest + "," + honest + "," + honest + "]", std::string("7"),
          std::string("[1, 2]"), "[" + honest + R"(, {"seconds": -1e-6, "calls": 1}])",
          "[" + honest + R"(, {"seconds": 0, "calls": 1}])",
          "[" + honest + R"(, {"seconds": 1e999, "calls": 1}])",
          "[" + honest + R"(, {"seconds": "fast", "calls": 1}])",
          "[" + honest + R"(, {"seconds": 1e-6, "calls": 0}])",
          "[" + honest + R"(, {"seconds": 1e-6, "calls": 1e30}])",
          "[" + honest + R"(, {"seconds": 1e-6, "calls": 1000000000}])",
          "[" + honest + R"(, {"seconds": 3600, "calls": 1}])"})
        EXPECT_NE(timeProblem(samplesAnswer(samples)), "") << samples;
}

TEST_F(LyingRunner, AnswersMustBelongToTheirMessage) {
    const std::string samples =
        R"("samples": [{"seconds": 1e-6, "calls": 1}, {"seconds": 1e-6, "calls": 1}]})";
    EXPECT_MENTIONS(timeProblem(R"({"ok": true, )" + samples), "did not answer as it must");
    // Put on the channel before the question came.
    EXPECT_MENTIONS(timeProblem(R"({"ok": true, "id": ID, )" + samples,
                                R"(send(b'{"ok": true, "id": 1, "samples": []}'))"),
                    "did not answer as it must");
}

TEST_F(LyingRunner, AnythingElseEndsIt) {
    EXPECT_MENTIONS(timeProblem("{}"), "did not answer as it must");
    EXPECT_MENTIONS(timeProblem("not JSON"), "ended during timing");
    EXPECT_MENTIONS(timeProblem(R"({"fault": 5})"), "no reason given");
    const std::string longText = timeProblem(R"({"fault": ")" + std::string(5000, 'x') + "\"}");
    EXPECT_LT(longText.size(), 1100u);
    EXPECT_EQ(timeProblem(R"({"fault": "a\u001b[2Jb"})"), "a [2Jb");
}

TEST_F(LyingRunner, AnEndedProcessIsNoMachineFailure) {
    EXPECT_MENTIONS(timeProblem("{}", "raise SystemExit(3)"), "ended during timing: exit 3");
    EXPECT_FALSE(process_->finish().clean());
}

} // namespace
} // namespace cuda_agent::plan
