#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is lost on purpose, and a verdict that is not the wanted one, must be found, each by its name;
and the driver's own parts.

usage: detector_test.py --program build/release/tests/cuda-agent-endurance
"""
import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import endurance

PROGRAM = None
# What each leak must be found as.
LEAKS = {"fd": "descriptors (file)", "process": "processes", "orphan": "processes",
         "memory": "resident memory", "file": "temporary files", "shm": "shared memory",
         "cgroup": "control groups", "thread": "threads"}
COUNT = 40


def run(manifest, report, *options):
    return subprocess.run([str(PROGRAM), str(manifest), "--json", str(report), *options],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=500,
                          check=False)


def only_shift():
    return [slot for slot in endurance.slots("cpu", short=True) if slot.entry.task == "shift"]


class Detector(unittest.TestCase):
    def test_all_that_is_lost_is_found(self):
        leaks = dict(LEAKS)
        with tempfile.TemporaryDirectory(prefix="endurance-") as temporary:
            folder = pathlib.Path(temporary)
            manifest = endurance.write(only_shift(), "cpu", folder)
            plan = json.loads(manifest.read_text())
            for entry in plan["entries"]:
                if entry["honest"]:
                    entry["wanted"] = ["guard zones"]  # which it never is
            manifest.write_text(json.dumps(plan))
            report = folder / "report.json"

            def judged():
                options = [word for kind in leaks for word in ("--leak", kind)]
                return run(manifest, report, "--count", str(COUNT), "--every", "5", *options)

            done = judged()
            if done.returncode == 3 and "control group" in done.stderr:
                del leaks["cgroup"]  # this user may make none, nor can the sandbox
                done = judged()
            self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
            told = json.loads(report.read_text())
        found = collections.Counter(finding["kind"] for finding in told["findings"])
        self.assertEqual(set(found), {*leaks.values(), "heap", "verdict"}, done.stdout)
        self.assertEqual(found["verdict"], told["honest"])
        self.assertEqual(told["honest"], COUNT // 2)
        self.assertEqual(told["judged"], COUNT)
        # One growth after each five candidates, and of processes two at a time.
        self.assertGreaterEqual(found["processes"], 6)
        self.assertIn("FOUND after", done.stdout)
        # What was lost is given back, so that the test itself leaves nothing.
        self.assertFalse([name for name in os.listdir("/dev/shm") if "endurance-leak" in name])

    def test_requests_that_cannot_be_met_are_refused(self):
        with tempfile.TemporaryDirectory(prefix="endurance-") as temporary:
            folder = pathlib.Path(temporary)
            manifest = endurance.write(only_shift(), "cpu", folder)
            done = run(manifest, folder / "report.json", "--leak", "water")
            self.assertEqual(done.returncode, 2)
            self.assertIn("not 'water'", done.stderr)
            (folder / "broken.json").write_text('{"tasks": []')
            self.assertEqual(run(folder / "broken.json", folder / "report.json").returncode, 2)
            self.assertEqual(run(folder / "absent.json", folder / "report.json").returncode, 2)


class Driver(unittest.TestCase):
    def test_chooses_enough_of_both_sides(self):
        for device, least in (("cpu", 100), ("cuda", 60)):
            slots = endurance.slots(device)
            self.assertGreaterEqual(sum(not slot.honest for slot in slots), least)
            self.assertGreaterEqual(sum(slot.honest for slot in slots), 30)
            self.assertTrue(any(slot.timing for slot in slots))
            self.assertTrue(any(slot.module and slot.honest for slot in slots))
        short = endurance.slots("cpu", short=True)
        self.assertEqual({slot.entry.task for slot in short}, {"shift", "linear"})
        self.assertFalse(any(slot.module or slot.timing for slot in short))

    def test_an_untimed_verdict_is_never_asked_for_a_clock(self):
        for slot in endurance.slots("cpu"):
            wanted = set(slot.entry.wanted("cpu"))
            self.assertFalse(any(place.startswith("flag:") for place in wanted), slot.entry.name)
            if not slot.timing:
                self.assertFalse(wanted & endurance.TIMED, slot.entry.name)

    def test_slow_ones_are_in_the_corpus(self):
        names = {entry.name for entry in endurance.run.entries() + endurance.candidates.ENTRIES}
        self.assertLessEqual(endurance.SLOW, names)

    def test_light_leaves_out_what_compiles_for_long(self):
        light = endurance.slots("cuda", light=True)
        left_out = {slot.entry.name for slot in endurance.slots("cuda")} - {
            slot.entry.name for slot in light}
        self.assertIn("operators in the binding", left_out)
        self.assertNotIn("example residual_scale", left_out)
        self.assertNotIn("result of the last call", left_out)
        self.assertIn("an address far away", {slot.entry.name for slot in light})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, required=True)
    arguments, rest = parser.parse_known_args()
    PROGRAM = arguments.program
    unittest.main(argv=[sys.argv[0], *rest])
