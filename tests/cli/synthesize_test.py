# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sets of tasks made from the command line, on the CPU: from start to set, stopped, killed, with wrong
use, and with a language model that answers nonsense and attacks. Needs CUDA_AGENT=<program>."""
import ctypes
import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from cli_test import PROGRAM, Case, run

SERVER = pathlib.Path(__file__).parent.parent / "core" / "endpoint" / "chat_server.py"
FILES = {"synthesis.json", "crawl.json", "candidates.jsonl", "checked.jsonl", "progress.json",
         "set.jsonl.gz", "set.parquet", "card.md", "card.json"}
FIELDS = {"name", "level", "split", "ops", "data_source", "code", "kinds", "families", "dtype", "backward",
          "seconds", "compile_seconds", "memory_bytes", "operations", "counted_bytes", "graph", "graph_hash",
          "difficulty"}
MEASURED = {"seconds", "compile_seconds"}
RECIPE = """
seed = 7
tasks = 4
device = "cpu"
audited = 2
[time]
least_seconds = 1e-6
most_seconds = 1.0
calls = 3
[memory]
gigabytes = 0.5
[compose]
sources = {{ {source} = 1 }}
operators = {{ 2 = 1 }}
dtypes = {{ float32 = 1 }}
backward = 0
{more}
"""
# The crawl takes most of a minute and is the same for every recipe: one test waits for it.
CRAWL = {"operators": [{"name": f"torch.{name}", "source": "torch", "family": "unary", "kept": True,
                        "reason": ""} for name in ("relu", "tanh", "exp", "cumsum")]}
AUDIT_ZEROS = ("benchmark_overlaps", "duplicates", "failures", "label_disagreements", "text_duplicates")
SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of prctl(2)


def lines(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


class Folder(Case):
    source, more = "composed", ""

    def setUp(self):
        super().setUp()
        os.environ["CUDA_AGENT_CACHE"] = str(self.folder / "cache")  # what is done here stays here
        os.environ["XDG_CONFIG_HOME"] = str(self.folder / "config")  # no endpoint of the user's own
        self.recipe = self.file("tiny.toml", RECIPE.format(source=self.source, more=self.more))
        self.out = self.new("out")

    def new(self, name, crawl=True):
        folder = self.folder / name
        if crawl:
            folder.mkdir()
            (folder / "crawl.json").write_text(json.dumps(CRAWL))
        return folder

    def command(self, *arguments):
        return ["synthesize", self.recipe, "--out", self.out, *arguments]

    def start(self, *arguments):
        return subprocess.Popen([PROGRAM, *map(str, self.command(*arguments))], stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def until(self, process, begun):
        deadline = time.monotonic() + 240
        while not begun() and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.02)
        self.assertIsNone(process.poll(), "it ended before it was stopped")
        self.assertTrue(begun(), "what was waited for did not come")

    def checked(self):
        file = self.out / "checked.jsonl"
        return file.read_bytes().count(b"\n") if file.exists() else 0

    def progress(self):
        return json.loads((self.out / "progress.json").read_text())

    def tasks(self, folder=None):
        with gzip.open((folder or self.out) / "set.jsonl.gz", "rt") as file:
            return [json.loads(line) for line in file]

    def expect_set(self, wanted):
        """The set is whole, and what the folder tells of it is one story."""
        tasks, progress = self.tasks(), self.progress()
        self.assertEqual(len(tasks), wanted)
        self.assertEqual((progress["state"], progress["accepted"], progress["wanted"]), ("done", wanted, wanted))
        candidates = lines(self.out / "candidates.jsonl")
        self.assertEqual([candidate["index"] for candidate in candidates], list(range(len(candidates))))
        self.assertEqual(progress["proposed"], len(candidates))
        outcomes = [(line["stage"], line["index"]) for line in lines(self.out / "checked.jsonl")]
        self.assertEqual(len(set(outcomes)), len(outcomes), "a candidate was filtered twice")
        # Nobody is left between the stages that every candidate goes through.
        runnable = {candidate["index"] for candidate in candidates if not candidate["rejected"]}
        self.assertEqual({index for stage, index in outcomes if stage == "check"}, runnable)
        rejections = [line["reason"] for line in lines(self.out / "checked.jsonl") if line["outcome"] == "rejected"]
        rejections += [candidate["rejected"] for candidate in candidates if candidate["rejected"]]
        for reason in set(rejections):
            self.assertEqual(progress["rejected"].get(reason), rejections.count(reason), reason)
        codes = {candidate["code"] for candidate in candidates}
        for task in tasks:
            self.assertLessEqual(FIELDS, set(task))
            self.assertIn(task["code"], codes)
            compile(task["code"], task["name"], "exec")
            self.assertTrue(task["ops"])
            self.assertTrue(task["graph"])
            self.assertIn(task["split"], ("train", "validation", "held_out", "outer"))
            self.assertGreater(task["seconds"], 0)
            self.assertGreater(task["compile_seconds"], 0)
        self.assertEqual(len({task["graph_hash"] for task in tasks}), wanted)
        self.assertEqual(len({task["name"] for task in tasks}), wanted)
        return tasks


class Synthesize(Folder):
    def test_from_a_recipe_to_a_set_and_the_same_set_again(self):
        first = self.out = self.new("first", crawl=False)
        result = run(*self.command("--json"))
        self.expect(result, 0, "4 of 4 tasks", "card.md")
        self.assertEqual(json.loads(result.stdout)["state"], "done")
        self.assertEqual({file.name for file in self.out.iterdir()}, FILES)
        tasks = self.expect_set(4)
        crawl = json.loads((self.out / "crawl.json").read_text())["operators"]
        self.assertGreater(sum(operator["kept"] for operator in crawl), 300)
        for operator in crawl:
            self.assertTrue(operator["kept"] or operator["reason"], operator)
        card = json.loads((self.out / "card.json").read_text())
        audit = card["audit"]
        self.assertEqual({key: audit[key] for key in AUDIT_ZEROS}, dict.fromkeys(AUDIT_ZEROS, 0))
        self.assertIn("torch", (self.out / "card.md").read_text())

        # All is there: nothing is proposed, filtered or audited again.
        (self.out / "card.json").write_text(json.dumps(card | {"audit": audit | {"run": 77}}))
        before = {name: (self.out / name).read_bytes() for name in ("candidates.jsonl", "checked.jsonl")}
        start = time.monotonic()
        self.expect(run(*self.command()), 0, "4 of 4 tasks")
        self.assertLess(time.monotonic() - start, 60)
        for name, text in before.items():
            self.assertEqual((self.out / name).read_bytes(), text, name)
        self.assertEqual(self.tasks(), tasks)
        self.assertEqual(json.loads((self.out / "card.json").read_text()), card | {"audit": audit | {"run": 77}})
        (self.out / "card.json").unlink()
        self.expect(run(*self.command()), 0, "4 of 4 tasks")
        self.assertEqual(json.loads((self.out / "card.json").read_text())["audit"]["run"], 2)
        self.measured_difficulty(tasks, before | {"card.json": (self.out / "card.json").read_bytes()})

        # Elsewhere, the same recipe makes the same, up to what is measured.
        self.out = self.new("second")
        self.expect(run(*self.command()), 0, "4 of 4 tasks")
        self.assertEqual((self.out / "candidates.jsonl").read_bytes(), before["candidates.jsonl"])
        self.assertNotEqual(self.out, first)
        fixed = lambda these: [{key: value for key, value in task.items() if key not in MEASURED}
                               for task in these]
        self.assertEqual(fixed(self.tasks()), fixed(tasks))

        # Another recipe does not go into that folder, and it says why.
        self.expect(run(*self.command("--seed", 8)), 2, "seed 7, not 8", "--out")
        self.assertEqual(self.tasks(first), tasks)

    def measured_difficulty(self, tasks, before):
        """What an evaluation says goes into the set, and nothing runs."""
        evaluation = self.folder / "evaluation"
        evaluation.mkdir()
        self.expect(run(*self.command("--difficulty", evaluation)), 2, "no results.jsonl")
        result = {"level": "", "name": "", "numerics": "default", "outcome": "none", "seconds": 1.0, "phases": {},
                  "versions": {}, "session": "s", "turns": 8}
        write = lambda *names: (evaluation / "results.jsonl").write_text(
            "".join(json.dumps(result | {"task": name}) + "\n" for name in names))
        write("000009_of_another_set")
        self.expect(run(*self.command("--difficulty", evaluation)), 2, "no results of tasks of the set")
        chosen = min(tasks, key=lambda task: task["level"])
        write(chosen["name"], "000009_of_another_set")
        start = time.monotonic()
        self.expect(run(*self.command("--difficulty", evaluation)), 0, "1 of 4 tasks have a measured difficulty")
        self.assertLess(time.monotonic() - start, 20)
        hard = {"level": str(int(chosen["level"]) + 1), "difficulty": {"reward": -1, "turns": 8}}
        self.assertEqual(self.tasks(), [task | hard if task is chosen else task for task in tasks])
        card = json.loads((self.out / "card.json").read_text())
        self.assertEqual({key: card[key] for key in ("audit", "versions")},
                         {key: json.loads(before["card.json"])[key] for key in ("audit", "versions")})
        self.assertNotEqual(card["levels"], json.loads(before["card.json"])["levels"])
        (self.out / "difficulty.json").unlink()
        self.expect(run(*self.command()), 0, "4 of 4 tasks")
        for name, text in before.items():
            self.assertEqual((self.out / name).read_bytes(), text, name)
        self.assertEqual(self.tasks(), tasks)

    def test_wrong_use_is_2(self):
        empty = self.folder / "empty"
        empty.mkdir()
        for text, said in (("colour = 3", "colour"), ("[time]\ncolls = 3", "colls"), ("[tine]\ncalls = 3", "tine"),
                           ("[compose]\nsources = { torsh = 1 }", "torsh"), ("tasks = 0", "tasks"),
                           ('tasks = "many"', "tasks"), ("seed = ", "not TOML"), ('device = "tpu"', "device"),
                           ("[time]\nleast_seconds = 2\nmost_seconds = 1", "least_seconds")):
            with self.subTest(text=text):
                result = run("synthesize", self.file("bad.toml", text + "\n"), "--out", self.folder / "none")
                self.expect(result, 2, said)
                self.assertEqual(len(result.stderr.strip().splitlines()), 1, result.stderr)
        self.assertFalse((self.folder / "none").exists())
        for arguments, said in ((["--tasks", 0], "--tasks"), (["--seconds", -1], "--seconds"),
                                (["--against", self.folder / "nowhere"], "--against"),
                                (["--against", empty], "there are no tasks in that folder")):
            with self.subTest(arguments=arguments):
                self.expect(run(*self.command(*arguments)), 2, said)
        self.assertFalse((self.out / "progress.json").exists(), "it was refused late")
        evaluation = self.folder / "evaluation"
        evaluation.mkdir()
        (evaluation / "results.jsonl").write_text("")
        self.out = self.folder / "none"
        self.expect(run(*self.command("--difficulty", evaluation)), 2, "there is no set in")
        self.expect(run(*self.command("--difficulty", self.folder / "nowhere")), 2, "--difficulty")
        self.assertFalse(self.out.exists())
        self.expect(run("synthesize", self.folder / "nowhere.toml"), 2, "nowhere.toml")
        self.expect(run("synthesize", self.folder), 2, str(self.folder))
        endpoint = self.file("endpoint.toml", "[compose]\nsources = { endpoint = 1 }\n")
        self.expect(run("synthesize", endpoint, "--out", self.folder / "none"), 2, "no endpoint is set")
        self.out = self.file("occupied", "x")
        self.expect(run(*self.command()), 2, "cannot create")


class SynthesizeStops(Folder):
    def test_a_stop_a_kill_and_a_second_writer_lose_nothing(self):
        process = self.start()
        self.until(process, lambda: self.checked() > 2)
        self.expect(run(*self.command()), 2, "another program writes")
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=60)[0]
        self.assertEqual(process.returncode, 130, said)
        self.assertEqual(self.progress()["state"], "stopped")
        self.assertFalse((self.out / "set.jsonl.gz").exists())
        stopped = self.checked()
        candidates = (self.out / "candidates.jsonl").read_bytes()

        process = self.start()
        self.until(process, lambda: self.checked() > stopped + 2)
        process.kill()
        process.communicate(timeout=60)
        killed = lines(self.out / "checked.jsonl") if self.checked() else []
        self.assertGreater(len(killed), stopped + 2)
        with (self.out / "checked.jsonl").open("ab") as file:
            file.write(b'{"index":5,"outcome":"pas')  # as a kill in the middle of a write leaves it

        result = run(*self.command())
        self.expect(result, 0, "4 of 4 tasks")
        self.assertTrue((self.out / "candidates.jsonl").read_bytes().startswith(candidates))
        self.assertEqual(lines(self.out / "checked.jsonl")[:len(killed)], killed)
        self.expect_set(4)

    def test_candidates_alone_and_time_that_is_up(self):
        self.expect(run(*self.command("--apart", self.out)), 2, "--apart")
        self.expect(run(*self.command("--propose-only")), 0, "16 candidates")
        with gzip.open(self.out / "proposed.jsonl.gz", "rt") as file:
            tasks = [json.loads(line) for line in file]
        self.assertEqual({task["split"] for task in tasks}, {"train"})
        self.assertTrue(all(task["code"] and task["name"] for task in tasks))
        proposed = (self.out / "candidates.jsonl").read_bytes()
        self.assertEqual(proposed.count(b"\n"), 16)
        self.assertEqual(self.checked(), 0)
        self.assertFalse((self.out / "set.jsonl.gz").exists())
        self.expect(run(*self.command("--draft")), 2, "nothing in", "has been timed yet")
        start = time.monotonic()
        self.expect(run(*self.command("--seconds", 1)), 1, "the same command goes on")
        self.assertLess(time.monotonic() - start, 15)
        self.assertEqual(self.progress()["state"], "stopped")
        self.expect(run(*self.command("--tasks", 2)), 0, "2 of 2 tasks")
        self.assertEqual((self.out / "candidates.jsonl").read_bytes(), proposed)
        self.expect_set(2)

        timed = {line["index"] for line in lines(self.out / "checked.jsonl")
                 if line["stage"] == "time" and line["outcome"] == "passed"}
        self.expect(run(*self.command("--draft", "--tasks", 16)), 0, "draft.jsonl.gz")
        with gzip.open(self.out / "draft.jsonl.gz", "rt") as file:
            draft = [json.loads(line) for line in file]
        self.assertGreater(len(draft), 2)
        self.assertLessEqual({int(task["name"][:6]) for task in draft}, timed)
        self.expect(run(*self.command("--draft", "--propose-only")), 2, "--propose-only")
        self.out = self.folder / "nowhere"
        self.expect(run(*self.command("--draft")), 2, "there is no synthesis in")
        self.assertFalse(self.out.exists())


def task(forward, inputs="[torch.randn(8, 256), torch.randn(8, 256)]", before=""):
    body = "\n".join("        " + line for line in forward.splitlines())
    return (f"import torch\nimport torch.nn as nn\n\n{before}\n\nclass Model(nn.Module):\n    def forward(self, x, y):\n"
            f"{body}\n\n\ndef get_inputs():\n    return {inputs}\n\n\ndef get_init_inputs():\n    return []\n")


FRAME = 'b = b"{}"\nh = len(b).to_bytes(4, "little") + bytes(4) + b\n'
# What the model answers, one after the other, and why that is refused; an empty reason: it is a task.
ANSWERS = [
    ("no code", "I would rather talk about the weather.", {"no task"}),
    ("no Python", task("return (x +"), {"not python"}),
    ("reads files", task("return torch.tanh(x) + y", before="import os"), {"imports"}),
    ("ends the process", task("torch.os._exit(0)"), {"ends its process"}),
    ("ends it while it is loaded", task("return x + y", before="torch.os._exit(0)"), {"ends its process"}),
    ("SystemExit", task("raise SystemExit(0)"), {"raises"}),
    ("crashes", task('__import__("ctypes").string_at(0)\nreturn x + y'), {"ends its process"}),
    ("loops", task("while True: pass"), {"takes too long"}),
    ("allocates", task("held = []\nwhile True: held.append(torch.ones(1 << 22) + x[0, 0])"), {"memory"}),
    ("allocates bytes", task("held = []\nwhile True: held.append(bytearray(b'x' * (1 << 24)))"), {"memory"}),
    ("prints", task('while True: torch.sys.stdout.write("x" * (1 << 20)), torch.os.write(2, b"x" * (1 << 20))'),
     {"takes too long", "ends its process"}),
    ("depends on the clock", task('return torch.tanh(x) * y * (__import__("time").time() % 1)'),
     {"not deterministic", "indistinct", "unsuitable"}),
    ("kills its parent", task("torch.os.kill(torch.os.getppid(), 9)\nreturn torch.tanh(x) + y"),
     {"raises", "ends its process"}),
    ("kills all", task("torch.os.kill(-1, 9)\nreturn torch.tanh(x) + y"), {"raises", "ends its process"}),
    ("garbles the channel", task('for fd in range(3, 120):\n    try: torch.os.write(fd, b"x" * 64)\n'
                                 '    except OSError: pass\nreturn torch.tanh(x) + y'),
     {"ends its process", "disturbs its process"}),
    ("forges an answer", task(FRAME + 'for fd in range(3, 120):\n    try: torch.os.write(fd, h)\n'
                              '    except OSError: pass\nreturn torch.tanh(x) + y'),
     {"disturbs its process"}),
    ("closes everything", task("torch.os.closerange(0, 1000)\nreturn torch.tanh(x) + y"),
     {"ends its process", "disturbs its process"}),
    ("leaves a process", task("return torch.sin(x) * missing(y)", before="if torch.os.fork() == 0:\n    torch.os.setsid()\n"
                              "    while True: pass"), {"raises"}),
    ("forks for ever", task("while True: torch.os.fork()"), {"takes too long", "ends its process", "raises",
                                                             "disturbs its process", "memory"}),
    ("fails", task("return x + y", "[torch.randn(8, 256), 1 / 0]"), {"raises"}),
    ("ignores an input", task("return torch.tanh(x) * 3 + x"), {"form", "unused"}),
    ("good", task("return torch.tanh(x) * torch.cos(y) + torch.cumsum(x, 1)"), set()),
    ("good too", task("z = torch.logaddexp(x, y)\nreturn torch.sin(z) - torch.cumsum(y, 0)"), set()),
]


class SynthesizeEndpoint(Folder):
    source = "endpoint"
    more = ("[filter]\nload_seconds = 10\ncheck_seconds = 10\ncompile_seconds = 60\n"
            "[endpoint]\nattempts = 1\n")

    def setUp(self):
        super().setUp()
        script = self.file("script.json", json.dumps(
            [{"text": f"Here it is.\n```python\n{text}```\n" if "\n" in text else text, "calls": []}
             for _, text, _ in ANSWERS]))
        self.server = subprocess.Popen([sys.executable, "-B", SERVER, script], stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{int(self.server.stdout.readline())}/v1"
        (self.folder / "tmp").mkdir()

    def tearDown(self):
        self.server.kill()
        self.server.wait()
        self.server.stdout.close()
        super().tearDown()

    def test_a_model_that_attacks(self):
        # Whoever survives its parent becomes a child of this process.
        self.assertEqual(ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0), 0)
        environment = {**os.environ, "TMPDIR": str(self.folder / "tmp"), "CUDA_AGENT_API_KEY": "key",
                       "XDG_CONFIG_HOME": str(self.folder / "config")}
        command = self.command("--tasks", 2, "--seconds", 400, "--base-url", self.url, "--model", "script")
        start = time.monotonic()
        result = subprocess.run([PROGRAM, *map(str, command)], capture_output=True, text=True, timeout=500,
                                env=environment, stdin=subprocess.DEVNULL)
        took = time.monotonic() - start
        self.expect(result, 0, "2 of 2 tasks")
        self.assertLess(took, 300)
        tasks = self.expect_set(2)
        self.assertEqual({task["code"] for task in tasks},
                         {text for _, text, reasons in ANSWERS if not reasons})
        self.assertEqual({task["data_source"] for task in tasks}, {"endpoint"})
        candidates = lines(self.out / "candidates.jsonl")
        refused = {candidate["index"]: candidate["rejected"] for candidate in candidates if candidate["rejected"]}
        refused |= {line["index"]: line["reason"] for line in lines(self.out / "checked.jsonl")
                    if line["outcome"] == "rejected"}
        for index, (name, text, reasons) in enumerate(ANSWERS):
            with self.subTest(name=name):
                self.assertEqual(candidates[index]["code"], text if "\n" in text else "")
                self.assertIn(refused.get(index, ""), reasons or {""})
        # After its script the model says that it is done: no task, once each.
        self.assertEqual({refused[index] for index in range(len(ANSWERS), len(candidates))}, {"no task"})
        self.assertEqual(sum(self.progress()["rejected"].values()), len(refused))
        # Nothing stays behind: no process, no file.
        deadline = time.monotonic() + 5
        while self.children() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(self.children(), [])
        self.assertEqual(list((self.folder / "tmp").iterdir()), [])

    def children(self):
        """Of this process, but the endpoint and those that have ended."""
        found = []
        for child in pathlib.Path("/proc/self/task").glob("*/children"):
            for number in child.read_text().split():
                if int(number) != self.server.pid and pathlib.Path(f"/proc/{number}/cmdline").read_bytes():
                    found.append(number)
        return found


if __name__ == "__main__":
    unittest.main()
