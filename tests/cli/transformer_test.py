# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sessions with a model that was trained here, and has learned nothing. Needs CUDA_AGENT=<program>, with
cuda-agent-learn beside it."""
import json
import math
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import unittest

import tiny_policy
from cli_test import GOOD_TASK, PROGRAM, Case

TWO_THREADS = "a prompt tells the CPU's threads, and the weights that come along have seen two alone"
LEARNER = pathlib.Path(PROGRAM).parent / "cuda-agent-learn"


class Transformer(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.environ["OMP_NUM_THREADS"] = "1"
        cls.weights = tiny_policy.train(LEARNER, pathlib.Path(cls.of_class.name) / "tiny")

    def setUp(self):
        super().setUp()
        self.task = self.file("relu_twice.py", GOOD_TASK)
        self.session = self.folder / "session"

    def command(self, *more, weights=None, turns=2):
        return [PROGRAM, *map(str, ("optimize", self.task, "--device", "cpu", "--policy", "transformer", "--weights",
                                    weights or self.weights, "--turns", turns, "--longest-turn", 300, "--session", self.session,
                                    "--baselines", self.baselines, *more))]

    def optimize(self, *more, environment=None, **others):
        return subprocess.run(self.command(*more, **others), capture_output=True, text=True, timeout=300,
                              stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})})

    def events(self, session=None):
        lines = ((session or self.session) / "session.jsonl").read_bytes().split(b"\n")
        return [json.loads(line) for line in lines[1:] if line]

    def of(self, kind, session=None):
        return [event["data"] for event in self.events(session) if event["type"] == kind]

    def test_a_session_without_a_correct_candidate_is_whole(self):
        result = self.optimize("--json")
        self.expect(result, 1, "no correct candidate")
        self.assertFalse(json.loads(result.stdout)["correct"])
        start = self.of("sessionStarted")[0]
        self.assertEqual(start["transformer"]["name"], "step-2")
        self.assertEqual(len(start["transformer"]["sha256"]), 64)
        self.assertEqual(start["transformer"]["temperature"], 0)
        self.assertEqual(start["transformer"]["device"], "cpu")
        answers = self.of("modelAnswered")
        self.assertEqual(len(answers), 2)
        first, second = answers
        self.assertGreater(first["prompt_tokens"], 100)
        self.assertGreater(first["answer_tokens"], 0)
        # Its first turn brought nothing, so that it began anew.
        self.assertEqual(start["transformer"]["fresh_starts"], "on-failure")
        self.assertEqual(sum(note.get("fresh", False) for note in self.of("note")), 1)
        self.assertEqual((second["prompt_tokens"], second["cached_tokens"]), (first["prompt_tokens"], 0))
        # It departs from the first one where another token nearly came.
        self.assertNotIn("given_tokens", first)
        self.assertGreater(second["given_tokens"], 0)
        self.assertIn("as turn 1 up to", [note["text"] for note in self.of("note") if note.get("fresh")][0])
        self.assertEqual(len(self.of("turnEnded")), 2)
        end = self.of("sessionEnded")[0]
        self.assertTrue(end["complete"])
        self.assertEqual(end["best_turn"], 0)
        # What it wrote cannot be read, and it is told so.
        self.assertFalse(any(observation["ok"] for observation in self.of("observation")))
        replayed = subprocess.run([PROGRAM, "replay", self.session], capture_output=True, text=True, timeout=100)
        self.expect(replayed, 0, "the turns are used up")
        # The same weights at temperature 0 write the same.
        actions = self.of("action")
        shutil.rmtree(self.session)
        self.expect(self.optimize(), 1)
        self.assertEqual(self.of("action"), actions)
        # More turns go on where it was, with these weights only.
        self.expect(self.optimize(turns=3), 1, "resumed after 2 turns")
        self.assertEqual(len(self.of("modelAnswered")), 3)
        other = tiny_policy.train(LEARNER, self.folder / "other", rate=0.001)
        self.expect(self.optimize(weights=other, turns=4), 2, "was started with the weights step-2")

    def test_without_fresh_starts_it_is_one_conversation(self):
        self.expect(self.optimize("--fresh-starts", "never", turns=1), 1)
        self.expect(self.optimize(), 1, "resumed after 1 turns")
        self.assertEqual(self.of("sessionStarted")[0]["transformer"]["fresh_starts"], "never")
        first, second = self.of("modelAnswered")
        self.assertGreater(second["prompt_tokens"], first["prompt_tokens"])
        self.assertFalse(any("fresh" in note for note in self.of("note")))

    def test_a_resumed_session_draws_as_it_did(self):
        self.expect(self.optimize("--temperature", 1, "--fresh-starts", "never", turns=1), 1)
        others = [self.folder / name for name in ("same", "likeliest")]
        for other in others:
            shutil.copytree(self.session, other)
        self.expect(self.optimize(turns=2), 1, "resumed after 1 turns")
        second = lambda session: [event["data"] for event in self.events(session)
                                  if event["turn"] == 2 and event["type"] in ("thought", "action")]
        drawn = second(self.session)
        for other, temperature in zip(others, (1, 0)):
            self.session = other
            self.expect(self.optimize("--temperature", temperature, turns=2), 1)
        self.assertEqual(second(others[0]), drawn)
        self.assertNotEqual(second(others[1]), drawn)

    def test_a_grammar_keeps_turns_readable(self):
        unreadable = lambda: [action for action in self.of("action") if "unreadable_call" in json.dumps(action)]
        self.expect(self.optimize("--temperature", 1, "--fresh-starts", "never"), 1)
        self.assertTrue(self.of("sessionStarted")[0]["transformer"]["grammar"])
        self.assertEqual({answer["finish"] for answer in self.of("modelAnswered")}, {"stop"})
        self.assertEqual(unreadable(), [])
        # A session that goes on keeps it.
        self.expect(self.optimize(turns=4), 1)
        self.assertEqual(unreadable(), [])
        shutil.rmtree(self.session)
        self.expect(self.optimize("--temperature", 1, "--no-grammar"), 1)
        self.assertNotEqual(unreadable(), [])

    def test_tokens_are_a_budget(self):
        self.expect(self.optimize("--tokens", 50, turns=9), 1, "the 50 tokens are used up")
        self.assertEqual(len(self.of("turnEnded")), 1)

    def test_attempts_differ(self):
        result = self.optimize("--attempts", 3, "--parallel", 2, turns=1)
        self.expect(result, 1)
        starts = [self.of("sessionStarted", self.session / f"attempt-{i}")[0]["transformer"] for i in (1, 2, 3)]
        self.assertEqual([start["temperature"] for start in starts], [0, 1, 1])
        written = {json.dumps(self.of("thought", self.session / f"attempt-{i}")) for i in (1, 2, 3)}
        self.assertEqual(len(written), 3)

    def test_a_suite_is_evaluated(self):
        out = self.folder / "evaluation"
        result = subprocess.run([PROGRAM, "evaluate", self.folder, "--only", "relu_twice", "--device", "cpu",
                                 "--policy", "transformer", "--turns", "1", "--longest-turn", "300", "--out", out,
                                 "--baselines", self.baselines, "--json"],
                                capture_output=True, text=True, timeout=300,
                                env={**os.environ, "CUDA_AGENT_WEIGHTS": str(self.weights)})
        self.expect(result, 0)
        settings = json.loads(result.stdout)["settings"]
        self.assertEqual(settings["policy"], "transformer")
        self.assertEqual(settings["transformer"]["name"], "step-2")

    def test_unusable_weights_are_named(self):
        self.expect(self.optimize(weights=self.folder / "none"), 2, "--weights")
        self.expect(self.optimize(weights=self.folder), 2, "config.json is missing")
        broken = self.folder / "broken"
        shutil.copytree(self.weights, broken)
        tokenizer = json.loads((broken / "tokenizer.json").read_text())
        tokenizer["added_tokens"] = [t for t in tokenizer["added_tokens"] if t["content"] != "<tool_call>"]
        (broken / "tokenizer.json").write_text(json.dumps(tokenizer))
        self.expect(self.optimize(weights=broken), 2, "<tool_call>", "chat template")
        shutil.copy(self.weights / "tokenizer.json", broken)
        content = (broken / "model.safetensors").read_bytes()
        (broken / "model.safetensors").write_bytes(content[:len(content) // 2])
        self.expect(self.optimize(weights=broken), 2, "model.safetensors")
        (broken / "model.safetensors").write_bytes(content)
        config = json.loads((broken / "config.json").read_text())
        (broken / "config.json").write_text(json.dumps({**config, "num_hidden_layers": 3}))
        self.expect(self.optimize(weights=broken), 2, "model.layers.2")
        self.assertFalse(self.session.exists())
        # The other programs are there, this one is not.
        self.expect(self.optimize(environment={"CUDA_AGENT_BIN": str(self.programs_without_learner())}), 3,
                    "cuda-agent-learn", "packaging/setup")
        unnamed = {"CUDA_AGENT_SHARE": str(self.folder / "share")}
        bare = [word for word in self.command() if word not in ("--weights", str(self.weights))]
        result = subprocess.run(bare, capture_output=True, text=True, timeout=300, env={**os.environ, **unnamed})
        self.expect(result, 2, "no trained weights at", "--weights")

    def programs_without_learner(self):
        programs = self.folder / "bin"
        programs.mkdir()
        for program in LEARNER.parent.iterdir():
            if program != LEARNER:
                (programs / program.name).symlink_to(program)
        return programs

    def doctor(self, **environment):
        """Its findings about the transformer by name, and the exit code."""
        result = subprocess.run([PROGRAM, "doctor", "--json"], capture_output=True, text=True, timeout=300,
                                env={**os.environ, **environment})
        report = json.loads(result.stdout)
        self.assertEqual(result.returncode, 0, report)  # nothing else needs it
        return {finding["name"].removeprefix("transformer "): finding for finding in report["findings"]
                if finding["name"].startswith("transformer ")}

    def test_doctor_tries_the_model(self):
        found = self.doctor()  # what comes along
        self.assertTrue(all(finding["ok"] for finding in found.values()), found)
        config = json.loads((pathlib.Path(__file__).resolve().parents[2] / "training/weights/config.json").read_text())
        self.assertIn(f"a vocabulary of {config['vocab_size']} tokens", found["weights"]["detail"])
        model = pathlib.Path(__file__).resolve().parents[2] / "training/weights/model.safetensors"
        self.assertIn(f"{model.stat().st_size / 1e6:.1f} MB", found["weights"]["detail"])
        self.assertIn("cuda-agent-learn", found["program"]["detail"])
        told = re.search(r"loads in \d+\.\d s on (cpu|cuda): (\d+\.\d+) million parameters", found["model"]["detail"])
        self.assertTrue(told, found["model"]["detail"])
        with model.open("rb") as file:
            tensors = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        parameters = sum(math.prod(tensor["shape"]) for name, tensor in tensors.items()
                         if name != "__metadata__" and not name.endswith("_scale"))  # of a quantised matrix's rows
        self.assertAlmostEqual(float(told[2]), parameters / 1e6, delta=0.06)
        self.assertIn("step-2", self.doctor(CUDA_AGENT_WEIGHTS=str(self.weights))["weights"]["detail"])
        # No weights: where they would be, and what to do.
        found = self.doctor(CUDA_AGENT_WEIGHTS=str(self.folder / "none"))
        self.assertFalse(found["weights"]["ok"] or found["model"]["ok"])
        for words in (str(self.folder / "none"), "CUDA_AGENT_WEIGHTS", "cuda-agent train"):
            self.assertIn(words, found["weights"]["detail"])
        self.assertTrue(found["program"]["ok"])
        # Weights that look well from outside, and do not load.
        broken = self.folder / "broken"
        shutil.copytree(self.weights, broken)
        content = (broken / "model.safetensors").read_bytes()
        (broken / "model.safetensors").write_bytes(content[:len(content) // 2])
        found = self.doctor(CUDA_AGENT_WEIGHTS=str(broken))
        self.assertTrue(found["weights"]["ok"])
        self.assertFalse(found["model"]["ok"])
        self.assertIn("model.safetensors", found["model"]["detail"])
        # No program.
        found = self.doctor(CUDA_AGENT_BIN=str(self.programs_without_learner()))
        self.assertFalse(found["program"]["ok"] or found["model"]["ok"])
        self.assertIn("packaging/setup", found["program"]["detail"])

    @unittest.skipUnless(os.cpu_count() == 2, TWO_THREADS)
    def test_turns_are_streamed(self):
        task = pathlib.Path(__file__).resolve().parents[2] / "resources/tasks/add_relu.py"
        process = subprocess.Popen([PROGRAM, "optimize", task, "--device", "cpu", "--policy", "transformer", "--turns", "1",
                                    "--session", self.session], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        # On a fast machine a turn is there before the first piece is due: the model gets a fifth of the time.
        while process.poll() is None:
            for pause, sign in ((0.005, signal.SIGSTOP), (0.02, signal.SIGCONT)):
                time.sleep(pause)
                for pid in self.children(process.pid):
                    if "cuda-agent-learn" in self.command_of(pid):
                        os.kill(pid, sign)
        said, _ = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 0, said)
        events = [event for event in self.events() if event["turn"] == 1]
        kinds = [event["type"] for event in events]
        pieces = [event["data"]["text"] for event in events if event["type"] == "textStreamed"]
        self.assertTrue(pieces and all(pieces), kinds)
        # They came before the answer, as far as it was known then, and nothing else came between.
        self.assertEqual(kinds[:2 + len(pieces)], ["turnStarted", *["textStreamed"] * len(pieces), "modelAnswered"])
        self.assertLess(events[1]["t"], events[1 + len(pieces)]["t"] - 0.05)
        said = self.of("thought")[0]["text"]
        for action in self.of("action"):
            said += f"\n\n{action['tool']}"
            for name, value in sorted(action["arguments"].items(), key=lambda item: item[0] != "file_path"):
                said += f"\n{name}:\n{value}"
        self.assertTrue(said.startswith("".join(pieces)), pieces)

    @unittest.skipUnless(os.cpu_count() == 2, TWO_THREADS)
    def test_the_weights_that_come_along_write_a_kernel(self):
        task = pathlib.Path(__file__).resolve().parents[2] / "resources/tasks/add_relu.py"
        result = subprocess.run([PROGRAM, "optimize", task, "--device", "cpu", "--policy", "transformer", "--turns", "4",
                                 "--session", self.session, "--json"], capture_output=True, text=True, timeout=300)
        self.expect(result, 0)
        self.assertTrue(json.loads(result.stdout)["correct"])
        self.assertEqual(self.of("sessionStarted")[0]["policy"], "transformer")

    def test_a_killed_model_ends_the_session_so_that_it_can_go_on(self):
        process = subprocess.Popen(self.command(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        until = time.monotonic() + 120
        while time.monotonic() < until and not (self.session / "session.jsonl").exists():
            time.sleep(0.02)
        learner = [pid for pid in self.children(process.pid) if "cuda-agent-learn" in self.command_of(pid)]
        self.assertEqual(len(learner), 1, "one process for the model")
        os.kill(learner[0], signal.SIGKILL)
        said, _ = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 3, said)
        self.assertIn("the model's process was ended by signal 9", said)
        self.assertFalse(self.of("sessionEnded")[0]["complete"])
        self.expect(self.optimize(turns=1), 1, "resumed after 0 turns")

    def test_the_model_ends_with_the_program(self):
        process = subprocess.Popen(self.command(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 120
        while time.monotonic() < until and not (self.session / "session.jsonl").exists():
            time.sleep(0.02)
        learner = [pid for pid in self.children(process.pid) if "cuda-agent-learn" in self.command_of(pid)]
        self.assertEqual(len(learner), 1)
        process.kill()
        process.wait()
        until = time.monotonic() + 10
        while time.monotonic() < until and "cuda-agent-learn" in self.command_of(learner[0]):
            time.sleep(0.02)
        self.assertNotIn("cuda-agent-learn", self.command_of(learner[0]))

    @staticmethod
    def command_of(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/cmdline").read_text()
        except OSError:
            return ""

    @staticmethod
    def children(pid):
        """None where it is over, as far as that shows meanwhile."""
        found = []
        try:
            for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
        except OSError:
            pass
        return found


if __name__ == "__main__":
    unittest.main()
