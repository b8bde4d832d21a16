# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Several attempts at one task, and the record that outlives sessions, from the command line.
Needs CUDA_AGENT=<program>."""
import json
import signal
import sqlite3
import subprocess
import time
import unittest

from cli_test import GOOD_TASK, PROGRAM, Case, run


def events_of(session):
    return [json.loads(line) for line in (session / "session.jsonl").read_text().splitlines()[1:]]


class Attempts(Case):
    def test_attempts_end_in_a_verdict_and_are_remembered(self):
        task = self.file("task.py", GOOD_TASK)
        folder = self.folder / "sessions"
        folder.mkdir()
        (folder / "attempt-2").write_text("in the way")  # the machine fails one of three
        result = run("optimize", task, "--device", "cpu", "--session", folder, "--attempts", 3,
                     "--turns", 1, "--json")
        self.expect(result, 0, "3 attempts, each with its own budget", "at once on a CPU", "[1] ",
                    "[3] ", "failed: cannot create", "in turns: attempt", "best: attempt")
        verdict = json.loads(result.stdout)
        self.assertTrue(verdict["correct"])
        self.assertEqual(verdict["strength"], "full")
        self.assertIn(verdict["best_attempt"], (1, 3))
        self.assertEqual([attempt["number"] for attempt in verdict["attempts"]], [1, 2, 3])
        self.assertEqual([attempt["turns"] for attempt in verdict["attempts"]], [1, 0, 1])
        self.assertEqual(verdict["attempts"][1]["error"]["exit_code"], 3)
        self.assertFalse(verdict["attempts"][1]["correct"])
        self.assertLess(verdict["comparison"]["difference"]["low"],
                        verdict["comparison"]["difference"]["high"])
        stored = json.loads((folder / "attempts.json").read_text())
        self.assertEqual(stored["best_attempt"], verdict["best_attempt"])
        # Each is a session of its own, and tried something else.
        plans = []
        for number in (1, 3):
            session = folder / f"attempt-{number}"
            events = events_of(session)
            self.assertEqual(events[0]["data"]["attempt"], {"number": number, "of": 3})
            offered = [e["data"] for e in events if e["type"] == "knowledgeOffered"]
            self.assertEqual(len(offered), 1)
            self.assertEqual(offered[0]["schedules"], [])  # not what the other found meanwhile
            plans.append((session / "best" / "plan.json").read_text())
        self.assertNotEqual(plans[0], plans[1])
        winner = folder / f"attempt-{verdict['best_attempt']}" / "best" / "plan.json"
        self.assertEqual((folder / "best" / "plan.json").read_text(), winner.read_text())
        self.expect(run("replay", folder / "attempt-1"), 0, "best: turn 1", "Nothing is known yet")

        # What both found is there for the next.
        listed = json.loads(run("knowledge", "--json").stdout)
        self.assertEqual(listed["file"], str(self.folder / "data" / "knowledge.db"))
        self.assertEqual(len(listed["records"]), 2)
        self.assertEqual({r["operators"] for r in listed["records"]}, {"pointwise"})
        self.assertTrue(all(r["correct"] and r["policy"] == "planner" for r in listed["records"]))
        names = {json.loads(plan)["name"] for plan in plans}
        self.assertEqual({r["schedule"] for r in listed["records"]}, names)
        offer = run("knowledge", "--task", task, "--device", "cpu", "--json")
        self.expect(offer, 0)
        self.assertEqual(set(json.loads(offer.stdout)["schedules"]), names)
        # A folder of attempts and one of a single session are not mixed up.
        self.expect(run("optimize", task, "--device", "cpu", "--attempts", 2, "--session",
                        folder / "attempt-1"), 2, "single session")

    def test_a_stop_ends_all_and_keeps_their_logs(self):
        task = self.file("task.py", GOOD_TASK)
        folder = self.folder / "sessions"
        process = subprocess.Popen(
            [PROGRAM, "optimize", task, "--device", "cpu", "--session", folder, "--attempts", "3",
             "--parallel", "2"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        begun = [folder / f"attempt-{number}" / "session.jsonl" for number in (1, 2)]
        deadline = time.monotonic() + 60
        while not all(path.exists() for path in begun) and time.monotonic() < deadline:
            time.sleep(0.05)
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        asked = time.monotonic()
        said, _ = process.communicate(timeout=30)
        # Two seconds on a machine of its own; the tests beside this one take their share.
        self.assertLess(time.monotonic() - asked, 6, said)
        self.assertEqual(process.returncode, 130, said)
        for number in (1, 2):
            session = folder / f"attempt-{number}"
            self.assertEqual(events_of(session)[-1]["type"], "sessionEnded")
            self.expect(run("replay", session), 0, "ended: stopped by request")
        self.assertFalse((folder / "attempt-3").exists())
        self.assertFalse((folder / "attempts.json").exists())

    def test_wrong_requests(self):
        task = self.file("task.py", GOOD_TASK)
        start = lambda *more: run("optimize", task, "--device", "cpu", *more)
        self.expect(start("--attempts", 0), 2, "--attempts")
        self.expect(start("--attempts", 65), 2, "--attempts")
        self.expect(start("--attempts", "two"), 2, "--attempts")
        self.expect(start("--parallel", 2), 2, "--attempts")
        self.expect(start("--attempts", 2, "--parallel", 0), 2, "--parallel")
        self.expect(start("--attempts", 2, "--policy", "replay", "--recorded", self.folder), 2,
                    "another policy")
        blocked = self.folder / "blocked"
        blocked.mkdir()
        for number in (1, 2):
            (blocked / f"attempt-{number}").write_text("in the way")
        self.expect(start("--attempts", 2, "--session", blocked), 3, "cannot create")
        broken = self.file("broken.py", "this is (no Python\n")
        result = run("optimize", broken, "--device", "cpu", "--attempts", 2, "--session",
                     self.folder / "s")
        self.expect(result, 2, "broken.py:1")
        self.assertFalse((self.folder / "s" / "attempt-2").exists(), "the next would fail alike")


class Knowledge(Case):
    def test_an_empty_record_is_listed(self):
        self.expect(run("knowledge"), 0, "0 records in")
        self.assertEqual(json.loads(run("knowledge", "--json").stdout)["records"], [])

    def test_forgets_only_when_it_is_meant(self):
        self.expect(run("knowledge", "--forget"), 2, "0 records would be forgotten", "--yes")
        self.expect(run("knowledge", "--yes"), 2, "--forget")
        self.expect(run("knowledge", "--forget", "--yes"), 0, "forgot 0 records")
        self.expect(run("knowledge", "--forget", "--task", "t.py"), 2)

    def test_wrong_files_are_named(self):
        task = self.file("task.py", GOOD_TASK)
        plain = self.file("plain", "x" * 5000)
        start = lambda *more: run("optimize", task, "--device", "cpu", *more)
        self.expect(start("--memory", plain / "k.db"), 2, "--memory", str(plain))
        self.expect(start("--memory", self.folder), 2, "--memory")
        self.expect(start("--memory", "k.db", "--no-memory"), 2, "--no-memory")
        self.expect(run("knowledge", "--memory", self.folder / "none.db"), 2, "none.db")
        self.expect(run("knowledge", "--memory", plain), 2, "no record of this program")
        run("knowledge")  # makes an empty one
        newer = sqlite3.connect(self.folder / "data" / "knowledge.db")
        newer.execute("PRAGMA user_version = 9")
        newer.close()
        self.expect(run("knowledge"), 2, "schema 9", "newer program")
        self.expect(run("knowledge", "--task", self.folder / "none.py"), 2)


if __name__ == "__main__":
    unittest.main()
