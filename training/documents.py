#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the documents that a policy reads: of several sets of tasks, several times each, into one corpus.

    training/documents.py training/recipes/documents/h200.toml --out documents --program build/release/bin/cuda-agent

The recipe (TOML, paths from its own folder):

  scored = "FILE.jsonl"     optional: lines with a "task" each, none of which is drawn
  seed = 1                  of what is chosen, and of the documents' order
  longest = 33500           bytes of a document at most
  [[set]]
  name = "views"            of the folder OUT/NAME, which keeps what its tasks are: descriptions are made once
  tasks = "set.jsonl.gz"    the set, or in its place
  propose = "views.toml"    a recipe of `cuda-agent synthesize --propose-only`, made in OUT/NAME/proposals
  apart = ["set.jsonl.gz"]  optional: of sets what --apart keeps out of the proposals
  splits = ["train"]        optional (default: all of the set)
  rarest = 2200             optional: those alone whose rarest kind of operator is the rarest, by all sets' tasks
  most = 5000               optional: so many tasks, by chance
  device = "cuda"           optional: what documents are for, cuda or cpu
  draws = [[9101, 0], ...]  seed, and --best-of, of each; per_task = 1 documents a task

OUT/corpus.jsonl.gz has all documents in an order by chance, OUT/documents.json how many of which draw. A draw that is
there is not made again, so the same command goes on where it was stopped.

Exit codes: 0 done, 1 a command failed, 2 unusable request.
"""

import argparse
import collections
import gzip
import json
import pathlib
import random
import subprocess
import sys
import tomllib

FAILED, UNUSABLE = 1, 2


def lines_of(path: pathlib.Path) -> list[str]:
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path, encoding="utf-8")
    with opened as file:
        return [line for line in file if line.strip()]


def written(path: pathlib.Path, lines: list[str]) -> None:
    part = path.with_name(path.name + ".part")
    with gzip.open(part, "wt", encoding="utf-8", compresslevel=3) as file:
        file.writelines(lines)
    part.replace(path)


class Documents:
    def __init__(self, recipe: pathlib.Path, out: pathlib.Path, program: str):
        self.folder, self.out, self.program = recipe.parent, out, program
        self.recipe = tomllib.loads(recipe.read_text(encoding="utf-8"))
        for field in ("name", "draws"):
            if not all(field in one for one in self.recipe.get("set", [])) or not self.recipe.get("set"):
                raise ValueError(f"{recipe}: each [[set]] needs a {field}")
        self.random = random.Random(self.recipe.get("seed", 1))

    def run(self, *arguments: object) -> None:
        """Its progress goes to standard error."""
        subprocess.run([self.program, *map(str, arguments)], check=True, stdout=sys.stderr)

    def tasks(self, one: dict, scored: set[str]) -> list[dict]:
        """All of a set that may be drawn."""
        if "propose" in one:
            proposals = self.out / one["name"] / "proposals"
            if not (proposals / "proposed.jsonl.gz").exists():
                apart = [self.folder / file for file in one.get("apart", [])]
                self.run("synthesize", self.folder / one["propose"], "--propose-only", "--out", proposals,
                         *(["--apart", *apart] if apart else []))
            path = proposals / "proposed.jsonl.gz"
        elif "tasks" in one:
            path = self.folder / one["tasks"]
        else:
            raise ValueError(f"set {one['name']} has neither tasks nor propose")
        kept = [json.loads(line) for line in lines_of(path)]
        return [task for task in kept
                if task["name"] not in scored and ("splits" not in one or task["split"] in one["splits"])]

    def chosen(self) -> dict[str, list[dict]]:
        """By the name of the set."""
        lines = lines_of(self.folder / self.recipe["scored"]) if "scored" in self.recipe else []
        scored = {json.loads(line)["task"] for line in lines}
        sets = {one["name"]: self.tasks(one, scored) for one in self.recipe["set"]}
        common = collections.Counter(kind for tasks in sets.values() for task in tasks for kind in set(task["kinds"]))
        for one in self.recipe["set"]:
            tasks = sets[one["name"]]
            if "rarest" in one:
                tasks.sort(key=lambda task: min((common[kind] for kind in task["kinds"]), default=0))
                tasks = tasks[:one["rarest"]]
            if "most" in one:
                tasks = self.random.sample(tasks, min(one["most"], len(tasks)))
            sets[one["name"]] = tasks
        return sets

    def draw(self, one: dict, file: pathlib.Path, seed: int, best_of: int) -> pathlib.Path:
        device = one.get("device", "cuda")
        folder = self.out / one["name"] / f"{seed}-{best_of}"
        if (folder / "summary.json").exists():
            return folder
        folder.mkdir(parents=True, exist_ok=True)
        known, mine = (place / f"descriptions-{device}.gz" for place in (folder.parent, folder))
        if known.exists() and not mine.exists():
            mine.write_bytes(known.read_bytes())
        self.run("corpus", file, "--out", folder, "--split", "all", "--per-task", one.get("per_task", 1), "--best-of",
                 best_of, "--seed", seed, "--broken", one.get("broken", 0), "--longest",
                 self.recipe.get("longest", 33500), "--device", device)
        known.write_bytes(mine.read_bytes())
        mine.unlink()
        return folder

    def make(self) -> dict[str, int]:
        """Documents of each draw."""
        counts, documents = {}, []
        chosen = self.chosen()
        for one in self.recipe["set"]:
            name = one["name"]
            file = self.out / name / "set.jsonl.gz"
            file.parent.mkdir(parents=True, exist_ok=True)
            written(file, [json.dumps(task) + "\n" for task in chosen[name]])
            for seed, best_of in one["draws"]:
                drawn = lines_of(self.draw(one, file, seed, best_of) / "corpus.jsonl.gz")
                counts[f"{name}/{seed}-{best_of}"] = len(drawn)
                documents += drawn
        self.random.shuffle(documents)
        written(self.out / "corpus.jsonl.gz", documents)
        (self.out / "documents.json").write_text(json.dumps(counts, indent=2) + "\n", encoding="utf-8")
        return counts


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], usage="documents.py RECIPE --out OUT")
    parser.add_argument("recipe", type=pathlib.Path, metavar="RECIPE")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--program", default="cuda-agent", help="cuda-agent (default: as the shell finds it)")
    arguments = parser.parse_args()
    try:
        counts = Documents(arguments.recipe, arguments.out, arguments.program).make()
    except (OSError, ValueError, KeyError, TypeError) as error:
        print(f"documents.py: {error}", file=sys.stderr)
        return UNUSABLE
    except subprocess.CalledProcessError as error:
        print(f"documents.py: {error}", file=sys.stderr)
        return FAILED
    for name, count in counts.items():
        print(f"{count:8} {name}")
    print(f"{sum(counts.values()):8} documents in {arguments.out / 'corpus.jsonl.gz'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
