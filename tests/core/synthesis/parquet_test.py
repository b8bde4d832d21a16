# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Unit tests of the Parquet file of a set. By hand: <python with pyarrow> parquet_test.py"""

import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
PROGRAM = ROOT / "core" / "synthesis" / "maker" / "parquet_main.py"
sys.dont_write_bytecode = True

import pyarrow  # noqa: E402
import pyarrow.parquet  # noqa: E402


def task(number, **more):
    return {"name": f"task-{number}", "level": "1", "split": "train",
            "ops": ["torch.matmul", "torch.nn.functional.gelu"][: 1 + number % 2],
            "data_source": "composed", "code": f"import torch\nx = {number}  # é, 漢\n",
            "kinds": ["matrix product"], "families": ["product"], "dtype": "float16",
            "backward": number % 3 == 0, "seconds": 0.002 * number, "compile_seconds": 0.001,
            "memory_bytes": 10**9 + number, "operations": 10**14 if number else 5,
            "counted_bytes": 12, "graph": ["aten.mm.default"], "graph_hash": "ab" * 8,
            "difficulty": None} | more


class Parquet(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.target = self.folder / "set.parquet"

    def convert(self, lines, raw=None):
        source = self.folder / "set.jsonl.gz"
        text = raw if raw is not None else "".join(
            (line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
        source.write_bytes(gzip.compress(text.encode()) if isinstance(text, str) else text)
        return subprocess.run([sys.executable, "-I", str(PROGRAM), str(source), str(self.target)],
                              capture_output=True, text=True, timeout=60)

    def test_published_columns_first_and_every_value_back(self):
        tasks = [task(number) for number in range(50)]
        run = self.convert(tasks)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "50 tasks\n", ""))
        table = pyarrow.parquet.read_table(self.target)
        self.assertEqual(table.column_names[:3], ["ops", "data_source", "code"])
        self.assertEqual(table.schema.field("ops").type, pyarrow.list_(pyarrow.string()))
        self.assertEqual(table.schema.field("data_source").type, pyarrow.string())
        self.assertEqual(table.schema.field("code").type, pyarrow.string())
        self.assertEqual(table.schema.field("memory_bytes").type, pyarrow.int64())
        self.assertEqual(table.schema.field("seconds").type, pyarrow.float64())
        self.assertEqual(table.schema.field("backward").type, pyarrow.bool_())
        self.assertEqual(table.to_pylist(), tasks)
        compression = pyarrow.parquet.ParquetFile(self.target).metadata.row_group(0).column(0)
        self.assertEqual(compression.compression, "ZSTD")

    def test_fields_that_only_some_lines_have(self):
        run = self.convert([task(1), task(2, extra={"a": [1]},
                                                difficulty={"reward": 2, "turns": 3.5})])
        self.assertEqual(run.returncode, 0, run.stderr)
        rows = pyarrow.parquet.read_table(self.target).to_pylist()
        self.assertEqual([row["extra"] for row in rows], [None, '{"a": [1]}'])
        self.assertEqual([row["difficulty"] for row in rows], [None, '{"reward": 2, "turns": 3.5}'])

    def assert_refused(self, run, *words):
        self.assertEqual(run.returncode, 2, run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)
        for word in words:
            self.assertIn(word, run.stderr)
        self.assertEqual(list(self.folder.glob("set.parquet*")), [])

    def test_bad_sets(self):
        self.assert_refused(self.convert([]), "no tasks")
        self.assert_refused(self.convert([task(1), "{"]), ":2:", "no JSON")
        self.assert_refused(self.convert([task(1), "[]"]), ":2:", "object")
        self.assert_refused(self.convert([task(1, code=None)]), ":1:", "'code'")
        self.assert_refused(self.convert([task(1, ops="torch.mm")]), "'ops'")
        self.assert_refused(self.convert([task(1, ops=[1])]), "'ops'")
        self.assert_refused(self.convert([task(1), task(2, level=2)]), "'level'")
        self.assert_refused(self.convert([task(1, memory_bytes=2**70)]), "set.jsonl.gz")
        self.assert_refused(self.convert([], raw=b"no gzip"), "set.jsonl.gz")
        whole = gzip.compress((json.dumps(task(1)) + "\n").encode())
        self.assert_refused(self.convert([], raw=whole[:-9]), "set.jsonl.gz")

    def test_requests_and_machines(self):
        run = subprocess.run([sys.executable, "-I", str(PROGRAM)], capture_output=True, text=True)
        self.assertEqual(run.returncode, 2)
        self.assertIn("usage", run.stderr)
        self.target = self.folder / "nowhere" / "set.parquet"
        run = self.convert([task(1)])
        self.assertEqual(run.returncode, 3, run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)


if __name__ == "__main__":
    unittest.main()
