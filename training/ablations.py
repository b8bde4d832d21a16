#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each part of a training recipe is worth: the recipe as it is, and with one part left out.

    training/ablations.py training/recipes/policy/tiny.toml --out ablations --seeds 7 8
    training/ablations.py training/recipes/policy/ablations.toml --out ablations --gpus 0 1 2 3

Each run is a folder OUT/VARIANT-SEED with its recipe, as `cuda-agent train` makes it, so the window opens it. Runs of
a seed share its pretraining, OUT/pretrain-SEED, and the first stages that they have in common with all-stages, unless
these leave a critic: without-rft begins with the actor that single-turn PPO left there. A run that is there and
complete is not made again; one that was stopped goes on from its last checkpoint. OUT/ablations.md and ablations.json
say what came of them: the scores behind the last stage, behind which alone the others than all-stages are scored, and
what tries came to in the last three steps that learned.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import threading
import tomllib
from typing import Any

Recipe = dict[str, Any]
STAGES = ["single-turn-ppo", "rft", "value-pretrain", "agentic-ppo"]
PATHS = [("data", "corpus"), ("data", "tokenizer"), ("rollout", "tasks"), ("rollout", "baselines"), ("model", "actor")]
ALL_CHECKPOINTS = 1000  # for other runs to begin with
UNUSABLE, FAILED = 2, 1


def without(stage: str):
    def change(recipe: Recipe) -> None:
        recipe["stages"] = [name for name in recipe["stages"] if name != stage]

    return change


def timed(recipe: Recipe) -> None:
    recipe["rollout"]["timing"] = True


def raw_speedup(recipe: Recipe) -> None:
    """To compare with `timed`, for a recipe that times nothing: what it changes besides is that. A least reward of
    rejection fine-tuning is one of milestones."""
    timed(recipe)
    recipe["rollout"]["reward"] = "speedup"
    recipe.get("rft", {}).pop("least_reward", None)


def single_turn(recipe: Recipe) -> None:
    """As many steps of single turns as all stages have steps and rounds of tries."""
    single = recipe.setdefault("single-turn-ppo", {})
    steps = single.get("steps", 100)
    for stage, field in (("rft", "rounds"), ("value-pretrain", "rounds"), ("agentic-ppo", "steps")):
        if stage in recipe["stages"]:
            steps += recipe.get(stage, {}).get(field, 0)
    single["steps"] = steps
    recipe["stages"] = ["single-turn-ppo"]


REFERENCE = "all-stages"
VARIANTS = {
    REFERENCE: lambda recipe: None,
    "raw-speed-up": raw_speedup,
    "single-turn-only": single_turn,
    "without-warm-up": without("single-turn-ppo"),
    "without-rft": without("rft"),
    "without-value-pretraining": without("value-pretrain"),
    "timed": timed,
}


@dataclasses.dataclass
class Run:
    name: str  # of its folder
    recipe: Recipe
    begins: tuple[str, str] | None = None  # with the actor that this run's stage left; None: as the recipe says


def has_critic(recipe: Recipe, stage: str) -> bool:
    by_critic = recipe.get(stage, {}).get("baseline", "critic") == "critic"
    return stage == "value-pretrain" or stage.endswith("ppo") and by_critic


def in_common(recipe: Recipe, reference: Recipe) -> list[str]:
    """The first stages without a critic that both have with the same fields."""
    stages: list[str] = []
    if recipe["rollout"] != reference["rollout"]:
        return stages
    for mine, other in zip(recipe["stages"], reference["stages"]):
        if mine != other or recipe.get(mine) != reference.get(other) or has_critic(recipe, mine):
            break
        stages.append(mine)
    return stages


def runs_of(recipe: Recipe, seed: int, variants: list[str], out: pathlib.Path) -> list[Run]:
    """Each behind the one that it begins with."""
    runs = []
    base = json.loads(json.dumps(recipe)) | {"seed": seed}
    base["stages"] = [stage for stage in STAGES if stage in recipe["stages"]]
    begins = None
    if "pretrain" in recipe["stages"]:
        runs.append(Run(f"pretrain-{seed}", recipe | {"seed": seed, "stages": ["pretrain"]}))
        begins = (runs[0].name, "pretrain")
        base["data"].setdefault("tokenizer", str((out / runs[0].name / "tokenizer.json").resolve()))
    for variant in variants:
        changed = json.loads(json.dumps(base)) | {"name": f"{variant}-{seed}"}
        VARIANTS[variant](changed)
        run = Run(changed["name"], changed, begins)
        if variant == REFERENCE:
            changed["checkpoints_kept"] = ALL_CHECKPOINTS
        elif "scoring" in changed:  # what it begins with is scored there
            changed["scoring"] |= {"before_train": False, "stages": changed["stages"][-1:]}
        if variant != REFERENCE and REFERENCE in variants and (common := in_common(changed, base)):
            changed["stages"] = changed["stages"][len(common):]
            run.begins = (f"{REFERENCE}-{seed}", common[-1])
        runs.append(run)
    return runs


def toml(recipe: Recipe) -> str:
    """Of values and tables of values, which is what recipes are made of."""
    tables = {name: value for name, value in recipe.items() if isinstance(value, dict)}
    lines = [f"{name} = {json.dumps(value)}" for name, value in recipe.items() if name not in tables]
    for name, table in tables.items():
        lines += ["", f"[{name}]"] + [f"{key} = {json.dumps(value)}" for key, value in table.items()]
    return "\n".join(lines) + "\n"


def read_recipe(file: pathlib.Path) -> Recipe:
    recipe = tomllib.loads(file.read_text(encoding="utf-8"))
    for table, key in PATHS:
        if value := recipe.get(table, {}).get(key):
            recipe[table][key] = str((file.parent / value).resolve())
    return recipe


def events(folder: pathlib.Path) -> list[dict[str, Any]]:
    file = folder / "metrics.jsonl"
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []


def complete(folder: pathlib.Path) -> bool:
    status = folder / "status.json"
    return status.exists() and json.loads(status.read_text(encoding="utf-8")).get("state") == "done"


def actor_left(folder: pathlib.Path, stage: str) -> str | None:
    """The one of the stage's last checkpoint."""
    checkpoints = sorted(folder.glob("checkpoints/*/manifest.json"), key=lambda file: int(file.parent.name[5:]))
    for manifest in reversed(checkpoints):
        if json.loads(manifest.read_text(encoding="utf-8"))["state"]["stage"] == stage:
            return str((manifest.parent / "actor").resolve())
    return None


class Lanes:
    """Runs beside each other, one on each GPU, or one at a time; each waits for the one that it begins with."""

    def __init__(self, options: argparse.Namespace, runs: list[Run]):
        self.options, self.left = options, runs
        self.ended: dict[str, bool] = {}  # by name, whether it came to its end
        self.moved = threading.Condition()

    def go(self) -> bool:
        """Whether all came to their end. The report is written behind each."""
        lanes = [threading.Thread(target=self.lane, args=(gpu,)) for gpu in self.options.gpus or [None]]
        for lane in lanes:
            lane.start()
        for lane in lanes:
            lane.join()
        return all(self.ended.values())

    def lane(self, gpu: int | None) -> None:
        while run := self.next():
            done = self.train(run, gpu)
            with self.moved:
                self.ended[run.name] = done
                report(self.options.out, self.options.seeds)
                self.moved.notify_all()

    def next(self) -> Run | None:
        with self.moved:
            while self.left:
                for run in self.left:
                    if run.begins is None or run.begins[0] in self.ended:
                        self.left.remove(run)
                        return run
                self.moved.wait()
        return None

    def train(self, run: Run, gpu: int | None) -> bool:
        folder = self.options.out / run.name
        if complete(folder):
            return True
        if run.begins:
            actor = actor_left(self.options.out / run.begins[0], run.begins[1])
            if not self.ended[run.begins[0]] or not actor:
                print(f"{run.name} has nothing to begin with: {run.begins[0]} is not complete", file=sys.stderr)
                return False
            run.recipe["model"] = {"actor": actor}
        folder.with_suffix(".toml").write_text(toml(run.recipe), encoding="utf-8")
        command = [self.options.program, "train", str(folder.with_suffix(".toml")), "--out", str(folder)]
        if (folder / "checkpoints").exists():
            command.append("--resume")
        if self.options.threads:
            command += ["--threads", str(self.options.threads)]
        print(f"{run.name}: {' '.join(run.recipe['stages'])}", flush=True)
        seen = {} if gpu is None else {"CUDA_VISIBLE_DEVICES": str(gpu)}
        with open(folder.with_suffix(".log"), "w", encoding="utf-8") as log:
            try:
                done = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, env=os.environ | seen, check=False)
            except OSError as error:
                print(f"{run.name}: {error}", file=sys.stderr)
                return False
        if done.returncode != 0:
            print(f"{run.name} ended with {done.returncode}; see {log.name}", file=sys.stderr)
        return done.returncode == 0


def outcome(folder: pathlib.Path) -> dict[str, float]:
    """The last scores, "SPLIT NAME", and the mean of what the last steps that learned from tries came to."""
    scores: dict[str, float] = {}
    steps: list[dict[str, float]] = []
    for event in events(folder):
        metrics = event["metrics"]
        if event["stage"].endswith("ppo") and "critic/score/mean" in metrics:
            steps.append(metrics)
        for name, value in metrics.items():
            if name.startswith("val-core/"):
                scores[name.removeprefix("val-core/")] = value
    last = steps[-3:]
    tries = ("critic/score/mean", "reward/pass_rate", "reward/faster_or_at_limit")
    means = {name: sum(step[name] for step in last) / len(last) for name in tries if last and name in last[0]}
    return scores | {f"tries: {name.split('/', 1)[1]}": value for name, value in means.items()}


def report(out: pathlib.Path, seeds: list[int]) -> None:
    found = {
        (variant, seed): outcome(out / f"{variant}-{seed}")
        for variant in VARIANTS
        for seed in seeds
        if complete(out / f"{variant}-{seed}")
    }
    names = sorted({name for values in found.values() for name in values})
    ends = ("/pass_rate", "/faster_or_at_limit", "/num_turns")
    shown = [name for name in names if name.endswith(ends) or name.startswith("tries: ")] or names
    lines = ["| variant | seed | " + " | ".join(shown) + " |", "|---" * (len(shown) + 2) + "|"]
    for (variant, seed), values in found.items():
        cells = [f"{values[name]:.2f}" if name in values else "" for name in shown]
        lines.append(f"| {variant} | {seed} | " + " | ".join(cells) + " |")
    (out / "ablations.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [{"variant": variant, "seed": seed, **values} for (variant, seed), values in found.items()]
    (out / "ablations.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=pathlib.Path, help="TOML file with the stages to leave out")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the runs")
    parser.add_argument("--seeds", type=int, nargs="+", default=[7, 8])
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS),
                        help="default: all, but for timed where the recipe is")
    parser.add_argument("--gpus", type=int, nargs="+", help="as CUDA counts them: a run on each, beside each other")
    parser.add_argument("--program", default="cuda-agent", help="default: %(default)s")
    parser.add_argument("--threads", type=int, default=0, help="of PyTorch on a CPU (default: its own choice)")
    options = parser.parse_args()
    try:
        recipe = read_recipe(options.recipe)
    except (OSError, tomllib.TOMLDecodeError) as error:
        print(f"{options.recipe}: {error}", file=sys.stderr)
        return UNUSABLE
    if not set(STAGES) & set(recipe.get("stages", [])):
        print(f"{options.recipe} has none of the stages {', '.join(STAGES)}", file=sys.stderr)
        return UNUSABLE
    is_timed = recipe.get("rollout", {}).get("timing", True)
    variants = options.variants or [name for name in VARIANTS if name != "timed" or not is_timed]
    options.out.mkdir(parents=True, exist_ok=True)
    of_seeds = zip(*(runs_of(recipe, seed, variants, options.out) for seed in options.seeds))
    runs = [run for of_each in of_seeds for run in of_each]
    done = Lanes(options, runs).go()
    print((options.out / "ablations.md").read_text(encoding="utf-8"), end="")
    return 0 if done else FAILED


if __name__ == "__main__":
    sys.exit(main())
