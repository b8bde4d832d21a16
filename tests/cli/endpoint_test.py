# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A language model's session from the command line: the engine, the sandbox and the judge are real,
the model is a script behind a real chat endpoint. Needs CUDA_AGENT=<program>."""
import json
import os
import pathlib
import subprocess
import sys
import unittest
import urllib.request

from cli_test import GOOD_TASK, PROGRAM, Case

SERVER = pathlib.Path(__file__).parent.parent / "core" / "endpoint" / "chat_server.py"
KEY = "secret-key-of-this-test"

KERNEL = """// Usage: relu_twice<<<blocks, 256>>>(x, out, n)
// Version 1: one thread an element, as a first correct candidate.
extern "C" __global__ void relu_twice(const float *x, float *out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i] > 0 ? x[i] : 0.0f; // PyTorch's relu keeps NaN
}
"""
PLAN = {
    "version": 1,
    "name": "relu, twice",
    "symbols": {"N": "x.numel"},
    "buffers": [
        {"name": "x", "role": "input", "index": 0, "dtype": "float32"},
        {"name": "out0", "role": "output", "index": 0, "dtype": "float32",
         "shape": ["x.shape[0]", "x.shape[1]"]},
    ],
    "steps": [{"kind": "kernel", "source": "kernels/relu.cu", "entry": "relu_twice",
               "grid": ["cdiv(N, 256)"], "block": [256],
               "args": [{"buffer": "x"}, {"buffer": "out0"}, {"int32": "N"}]}],
}
SCRIPT = [
    {"text": "I read the task first.",
     "calls": [["Read", {"file_path": "model.py"}], ["Skill", {"name": "plan-candidates"}]]},
    {"text": "A first candidate; I expect to match eager.",
     "calls": [["Write", {"file_path": "kernels/relu.cu", "content": KERNEL}],
               ["Write", {"file_path": "plan.json", "content": json.dumps(PLAN)}],
               ["Verify", {}]]},
    {"text": "The factor is missing, and NaN must stay NaN.",
     "calls": [["Edit", {"file_path": "kernels/relu.cu",
                         "old_string": "x[i] > 0 ? x[i] : 0.0f;",
                         "new_string": "(x[i] < 0 ? 0.0f : x[i]) * 2;"}],
               ["Bash", {"command": "grep -n out kernels/relu.cu > notes.txt; cat notes.txt"}],
               ["Verify", {"strength": "full"}]]},
]


class Endpoint(Case):
    def setUp(self):
        super().setUp()
        script = self.file("script.json", json.dumps(SCRIPT))
        self.server = subprocess.Popen([sys.executable, "-B", SERVER, script],
                                       stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{int(self.server.stdout.readline())}/v1"

    def tearDown(self):
        self.server.kill()
        self.server.wait()
        self.server.stdout.close()
        super().tearDown()

    def ask(self, *arguments, key=KEY):
        environment = {**os.environ, "XDG_CONFIG_HOME": str(self.folder / "config")}
        environment.pop("OPENAI_API_KEY", None)
        environment["CUDA_AGENT_API_KEY"] = key
        return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                              timeout=300, env=environment, stdin=subprocess.DEVNULL)

    def test_a_model_writes_a_correct_candidate(self):
        task = self.file("relu_twice.py", GOOD_TASK)
        session = self.folder / "session"
        result = self.ask("optimize", task, "--device", "cpu", "--policy", "endpoint",
                          "--base-url", self.url, "--model", "script", "--session", session,
                          "--baselines", self.baselines, "--json")
        self.expect(result, 0, "the model is done")
        verdict = json.loads(result.stdout)
        self.assertTrue(verdict["correct"])
        self.assertEqual(verdict["strength"], "full")
        self.assertEqual(verdict["best_turn"], 3)
        self.assertEqual(verdict["turns"], 4)
        events = [json.loads(line) for line in
                  (session / "session.jsonl").read_text().splitlines()[1:]]
        of = lambda kind: [event["data"] for event in events if event["type"] == kind]
        self.assertEqual([v["verdict"]["correct"] for v in of("verdictGiven")], [False, True])
        self.assertEqual(len(of("modelAnswered")), 4)
        self.assertTrue(of("textStreamed"))
        self.assertIn("notes.txt", [file["path"] for file in of("fileWritten")])
        self.assertIn("plan.json", of("observation")[1]["text"])  # the skill
        self.assertTrue((session / "best" / "plan.json").exists())
        for path in session.rglob("*"):
            if path.is_file():
                self.assertNotIn(KEY.encode(), path.read_bytes(), path)
        self.assertNotIn(KEY, result.stdout + result.stderr)
        # What the model was told: everything in the form of the protocol.
        with urllib.request.urlopen(self.url.replace("/v1", "/requests")) as answer:
            requests = json.load(answer)
        self.assertEqual(requests[0]["authorization"], "Bearer " + KEY)
        messages = requests[-1]["body"]["messages"]
        self.assertEqual([m["role"] for m in messages[:5]],
                         ["system", "user", "assistant", "tool", "tool"])
        self.assertIn("plan-candidates", messages[0]["content"])
        self.assertIn("class Model", messages[1]["content"])
        failed = [m for m in messages if m["role"] == "tool"][4]["content"]
        self.assertIn("failed check", failed)
        # The session replays, also as a policy of its own.
        self.expect(self.ask("replay", session), 0, "I read the task first.")
        again = self.ask("optimize", task, "--device", "cpu", "--policy", "replay", "--recorded",
                         session, "--session", self.folder / "again", "--baselines",
                         self.baselines, "--json")
        self.expect(again, 0)
        self.assertEqual(json.loads(again.stdout)["best_turn"], 3)

    def test_a_connection_is_tested(self):
        test = lambda *more, **key: self.ask("endpoint", "--base-url", self.url, *more, **key)
        self.expect(test("--model", "ready"), 0, "tool calls: yes", "counts tokens: yes",
                    "$CUDA_AGENT_API_KEY")
        self.expect(test("--model", "hello"), 1, "tool calls: no")
        self.expect(test("--model", "locked"), 2, "refuses the key", "$CUDA_AGENT_API_KEY")
        self.expect(test("--model", "nobody"), 2, "'nobody' is not there")
        self.expect(test("--model", "web-page"), 2, "/v1")
        saved = test("--model", "ready", "--save")
        self.expect(saved, 0, "saved in")
        file = self.folder / "config" / "cuda-agent" / "endpoint.toml"
        self.assertNotIn(KEY, file.read_text())
        self.expect(self.ask("endpoint"), 0, "with ready")

    def test_wrong_settings_are_named(self):
        task = self.file("t.py", GOOD_TASK)
        start = lambda *more: self.ask("optimize", task, "--policy", "endpoint", "--device", "cpu",
                                       *more)
        self.expect(start(), 2, "--base-url")
        self.expect(start("--base-url", self.url), 2, "--model")
        self.expect(start("--base-url", "http://example.org/v1", "--model", "m"), 2, "unencrypted")
        self.expect(start("--base-url", self.url, "--model", "m", "--skills", "/nowhere"), 2,
                    "/nowhere")
        config = self.file("e.toml", "base_url = 7\n")
        self.expect(start("--endpoint-config", config), 2, "base_url must be a text")
        self.expect(start("--endpoint-config", self.folder / "none.toml"), 2, "none.toml")
        self.expect(start("--grammar"), 2, "--grammar is for --policy transformer")
        for command in ("optimize", task), ("evaluate", task, "--out", self.folder / "out"):
            self.expect(self.ask(*command, "--device", "cpu", "--model", "m"), 2,
                        "--model is for --policy endpoint, and the policy is planner")

    def test_a_refused_key_ends_the_session_so_that_it_can_go_on(self):
        task = self.file("relu_twice.py", GOOD_TASK)
        session = self.folder / "session"
        arguments = ("optimize", task, "--device", "cpu", "--policy", "endpoint", "--base-url",
                     self.url, "--model", "locked", "--turns", 2, "--session", session,
                     "--baselines", self.baselines)
        self.expect(self.ask(*arguments), 2, "refuses the key")
        resumed = self.ask(*arguments, key="right-key")
        self.expect(resumed, 1, "resumed after 0 turns", "no correct candidate")
        self.assertEqual(self.ask("replay", session).returncode, 0)


if __name__ == "__main__":
    unittest.main()
