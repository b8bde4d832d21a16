#!/usr/bin/env python3
# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What each part of a training recipe is worth: the recipe as it is, and with one part left out.

    training/ablations.py training/recipes/policy/tiny.toml --out ablations --seeds 7 8

Each run is a folder OUT/VARIANT-SEED with its recipe, as `cuda-agent train` makes it, so the window opens it. Runs of
a seed share its pretraining, OUT/pretrain-SEED. A run that is there and complete is not made again; one that was
stopped goes on from its last checkpoint. OUT/ablations.md and ablations.json say what came of them: the scores behind
the last stage, and the mean reward of the last three steps that learned from tries.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tomllib
from typing import Any

Recipe = dict[str, Any]
STAGES = ["single-turn-ppo", "rft", "value-pretrain", "agentic-ppo"]
PATHS = [("data", "corpus"), ("data", "tokenizer"), ("rollout", "tasks"), ("rollout", "baselines"), ("model", "actor")]
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


VARIANTS = {
    "all-stages": lambda recipe: None,
    "without-warm-up": without("single-turn-ppo"),
    "without-rft": without("rft"),
    "without-value-pretraining": without("value-pretrain"),
    "timed": timed,
    "raw-speed-up": raw_speedup,
    "single-turn-only": single_turn,
}


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


def train(program: str, recipe: Recipe, folder: pathlib.Path, threads: int) -> bool:
    if complete(folder):
        return True
    folder.parent.mkdir(parents=True, exist_ok=True)
    file = folder.with_suffix(".toml")
    file.write_text(toml(recipe), encoding="utf-8")
    command = [program, "train", str(file), "--out", str(folder)]
    if (folder / "checkpoints").exists():
        command.append("--resume")
    if threads:
        command += ["--threads", str(threads)]
    print(f"{folder.name}: {' '.join(recipe['stages'])}", flush=True)
    with open(folder.with_suffix(".log"), "w", encoding="utf-8") as log:
        done = subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        print(f"{folder.name} ended with {done.returncode}; see {log.name}", file=sys.stderr)
    return done.returncode == 0


def actor_of(folder: pathlib.Path) -> str | None:
    found = sorted(folder.glob("checkpoints/*/actor"), key=lambda actor: int(actor.parent.name.split("-")[-1]))
    return str(found[-1].resolve()) if found else None


def outcome(folder: pathlib.Path) -> dict[str, float]:
    """The last scores, "SPLIT NAME", and the mean reward of the last steps that learned from tries."""
    result: dict[str, float] = {}
    rewards = []
    for event in events(folder):
        metrics = event["metrics"]
        if event["stage"].endswith("ppo") and "critic/score/mean" in metrics:
            rewards.append(metrics["critic/score/mean"])
        for name, value in metrics.items():
            if name.startswith("val-core/"):
                result[name.removeprefix("val-core/")] = value
    if rewards:
        result["reward, last steps"] = sum(rewards[-3:]) / len(rewards[-3:])
    return result


def report(out: pathlib.Path, seeds: list[int]) -> None:
    found = {
        (variant, seed): outcome(out / f"{variant}-{seed}")
        for variant in VARIANTS
        for seed in seeds
        if complete(out / f"{variant}-{seed}")
    }
    names = sorted({name for values in found.values() for name in values})
    shown = [name for name in names if name.endswith(("/pass_rate", "/num_turns", "last steps"))] or names
    lines = ["| variant | seed | " + " | ".join(shown) + " |", "|---" * (len(shown) + 2) + "|"]
    for (variant, seed), values in found.items():
        cells = [f"{values[name]:.2f}" if name in values else "" for name in shown]
        lines.append(f"| {variant} | {seed} | " + " | ".join(cells) + " |")
    (out / "ablations.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
    rows = [{"variant": variant, "seed": seed, **values} for (variant, seed), values in found.items()]
    (out / "ablations.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print("\n".join(lines))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recipe", type=pathlib.Path, help="TOML file with the stages to leave out")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder of the runs")
    parser.add_argument("--seeds", type=int, nargs="+", default=[7, 8])
    parser.add_argument("--variants", nargs="+", choices=list(VARIANTS), default=list(VARIANTS))
    parser.add_argument("--program", default="cuda-agent", help="default: %(default)s")
    parser.add_argument("--threads", type=int, default=0, help="of PyTorch on a CPU (default: its own choice)")
    options = parser.parse_args()
    try:
        recipe = read_recipe(options.recipe)
    except (OSError, tomllib.TOMLDecodeError) as error:
        print(f"{options.recipe}: {error}", file=sys.stderr)
        return UNUSABLE
    stages = [stage for stage in STAGES if stage in recipe.get("stages", [])]
    if not stages:
        print(f"{options.recipe} has none of the stages {', '.join(STAGES)}", file=sys.stderr)
        return UNUSABLE
    failed = False
    for seed in options.seeds:
        actor = recipe.get("model", {}).get("actor")
        if "pretrain" in recipe["stages"]:
            base = options.out / f"pretrain-{seed}"
            if not train(options.program, recipe | {"seed": seed, "stages": ["pretrain"]}, base, options.threads):
                return FAILED
            actor = actor_of(base)
        for variant in options.variants:
            changed = json.loads(json.dumps(recipe)) | {"name": f"{variant}-{seed}", "seed": seed, "stages": stages}
            if actor:
                changed["model"] = {"actor": actor}
            if "pretrain" in recipe["stages"] and "tokenizer" not in recipe["data"]:
                changed["data"]["tokenizer"] = str((options.out / f"pretrain-{seed}" / "tokenizer.json").resolve())
            VARIANTS[variant](changed)
            done = train(options.program, changed, options.out / f"{variant}-{seed}", options.threads)
            failed = failed or not done
            report(options.out, options.seeds)
    return FAILED if failed else 0


if __name__ == "__main__":
    sys.exit(main())
