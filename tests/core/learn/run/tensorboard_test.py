# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Our event files by TensorBoard's own readers, and TensorBoard's by ours: every step and value.

usage: tensorboard_test.py PROGRAM
PROGRAM is learn_run_events. Exit code 77 when tensorboard is not there.
"""

import json
import math
import pathlib
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    from tensorboard.backend.event_processing import event_accumulator
    from tensorboard.backend.event_processing import plugin_event_accumulator
    from tensorboard.compat.proto import event_pb2, summary_pb2
    from tensorboard.summary.writer.record_writer import RecordWriter
except ImportError as missing:
    print(f"skipped: {missing}; packaging/setup installs it")
    sys.exit(77)

PROGRAM = sys.argv.pop()


def single(value):
    """As a 32-bit float holds it."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def rows_of(folder):
    """{metric: [(step, time, value)]} of metrics.jsonl, by Python's own JSON."""
    result = {}
    for line in (folder / "metrics.jsonl").read_text().splitlines():
        row = json.loads(line)
        for name, value in row["metrics"].items():
            result.setdefault(name, []).append((row["step"], row["time"], float(value)))
    return result


class Case(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.folder = pathlib.Path(self.temporary.name) / "run"

    def run_program(self, *arguments):
        return subprocess.run(
            [PROGRAM, *map(str, arguments)], check=True, capture_output=True, text=True
        ).stdout

    def compare(self):
        expected = rows_of(self.folder)
        self.assertEqual(
            set(expected),
            {"train/loss", "critic/score/mean", "start", "odd/nan", "odd/large"},
        )
        everything = {event_accumulator.SCALARS: 0}
        reader = event_accumulator.EventAccumulator(str(self.folder), size_guidance=everything)
        reader.Reload()
        self.assertEqual(reader.file_version, 2.0)
        self.assertEqual(set(reader.Tags()["scalars"]), set(expected))
        everything = {plugin_event_accumulator.TENSORS: 0}
        modern = plugin_event_accumulator.EventAccumulator(
            str(self.folder), size_guidance=everything
        )
        modern.Reload()
        self.assertEqual(set(modern.PluginTagToContent("scalars")), set(expected))
        for name, rows in expected.items():
            got = [(p.step, p.wall_time, p.value) for p in reader.Scalars(name)]
            self.assertEqual([p[0] for p in got], [row[0] for row in rows], name)
            for point, row in zip(got, rows):
                self.assertLess(abs(point[1] - row[1]), 1e-3)
                self.assertTrue(same(point[2], single(row[2])), (name, point, row))
            tensors = [(p.step, p.tensor_proto.float_val[0]) for p in modern.Tensors(name)]
            self.assertEqual([p[0] for p in tensors], [row[0] for row in rows], name)
            for point, row in zip(tensors, rows):
                self.assertTrue(same(point[1], single(row[2])), (name, point, row))
        return expected

    def test_a_run(self):
        self.run_program("write", self.folder, 1500)
        self.assertEqual(len(self.compare()["train/loss"]), 1500)

    def test_a_resumed_run(self):
        self.run_program("write", self.folder, 100, 60, 130, 130)
        expected = self.compare()
        self.assertEqual([row[0] for row in expected["start"]], list(range(230)))
        starts = [row[2] for row in expected["start"]]
        self.assertEqual(starts, [0.0] * 60 + [1.0] * 70 + [3.0] * 100)

    def test_a_torn_record_of_a_killed_run(self):
        self.run_program("write", self.folder, 100)
        (file,) = self.folder.glob("events.out.tfevents.*")
        file.write_bytes(file.read_bytes()[:-7])
        lines = (self.folder / "metrics.jsonl").read_text().splitlines(keepends=True)
        (self.folder / "metrics.jsonl").write_text("".join(lines[:-1]))
        self.compare()

    def test_tensorboards_own_files(self):
        self.folder.mkdir()
        with open(self.folder / "events.out.tfevents.1700000000.host", "wb") as file:
            writer = RecordWriter(file)
            writer.write(event_pb2.Event(file_version="brain.Event:2").SerializeToString())
            for step in range(200):
                value = summary_pb2.Summary.Value(tag="a/b", simple_value=step * 0.5)
                event = event_pb2.Event(
                    wall_time=1.7e9 + step, step=step, summary=summary_pb2.Summary(value=[value])
                )
                writer.write(event.SerializeToString())
        got = [line.split("\t") for line in self.run_program("read", self.folder).splitlines()]
        self.assertEqual(
            [(name, float(step), float(value)) for name, step, value in got],
            [("a/b", float(step), step * 0.5) for step in range(200)],
        )


if __name__ == "__main__":
    unittest.main(verbosity=1)
