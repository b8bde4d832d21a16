#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Encoding by the tokenizer against the library `tokenizers`, on one core each, in turns: the files of this
repository and the codes of a task set, a document at a time. Prints megabytes a second and their ratio.

usage: tokenizer_bench.py --program build/release/tests/tokenizer_lines [--size 8192] [--repeats 7]
                          [--megabytes 8] [--tokenizer FILE]

Without --tokenizer one of --size is trained on the same text, and the seconds of both trainers are printed.
With `tokenizers` the cache of words is on, as by default, and warm. Exit code 1 when the ids differ in number.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "core" / "learn" / "tokenizer"))

from huggingface_test import SPECIAL, Tokenizer, repository_texts, trained


def train(program, texts, size, folder):
    file = folder / "tokenizer.json"
    begin = time.perf_counter()
    subprocess.run([program, "train", file, str(size), "0", *SPECIAL], check=True, text=True,
                   input="".join(json.dumps(text) + "\n" for text in texts))
    ours = time.perf_counter() - begin
    begin = time.perf_counter()
    trained(texts, size, SPECIAL)
    print(f"training: ours {ours:.2f} s with reading the text, tokenizers "
          f"{time.perf_counter() - begin:.2f} s")
    return file


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--size", type=int, default=8192)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--megabytes", type=float, default=8)
    parser.add_argument("--tokenizer", type=pathlib.Path)
    arguments = parser.parse_args()
    texts, length = [], 0
    for text in repository_texts():
        if length < arguments.megabytes * 1e6:
            texts.append(text)
            length += len(text.encode())
    print(f"{len(texts)} documents, {length / 1e6:.2f} MB")
    with tempfile.TemporaryDirectory() as folder:
        file = arguments.tokenizer or train(arguments.program, texts, arguments.size,
                                            pathlib.Path(folder))
        begin = time.perf_counter()
        theirs = Tokenizer.from_file(str(file))
        print(f"tokenizers loads the file in {time.perf_counter() - begin:.3f} s")
        ours = subprocess.Popen([arguments.program, "time", file], text=True,
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        ours.stdin.write(json.dumps(texts) + "\n")
        speeds = {"ours": [], "tokenizers": []}
        for repeat in range(arguments.repeats + 1):
            ours.stdin.write("\n")
            ours.stdin.flush()
            seconds, count = json.loads(ours.stdout.readline())
            begin = time.perf_counter()
            their_count = sum(len(theirs.encode(text, add_special_tokens=False).ids)
                              for text in texts)
            their_seconds = time.perf_counter() - begin
            if count != their_count:
                raise SystemExit(f"{count} tokens against {their_count}")
            if repeat:  # the first warms up
                speeds["ours"].append(length / 1e6 / seconds)
                speeds["tokenizers"].append(length / 1e6 / their_seconds)
        ours.stdin.close()
        ours.wait()
    for name, values in speeds.items():
        print(f"{name:10} {statistics.median(values):7.2f} MB/s [{min(values):.2f} .. "
              f"{max(values):.2f}], {count / length:.3f} tokens a byte")
    ratios = [one / other for one, other in zip(*speeds.values())]
    print(f"ratio      {statistics.median(ratios):7.2f} [{min(ratios):.2f} .. {max(ratios):.2f}]")


if __name__ == "__main__":
    main()
