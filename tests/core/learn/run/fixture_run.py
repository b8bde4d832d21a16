# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes run folders with invented curves, to look at the Train perspective with. Nothing was trained:
a fixture, never a result.

usage: fixture_run.py FOLDER [--runs N] [--state running|paused|done|failed] [--seed N]
"""

import argparse
import json
import math
import pathlib
import random
import time

STAGES = [
    ("pretrain", 400),
    ("single-turn-ppo", 150),
    ("rft", 100),
    ("value-pretrain", 80),
    ("agentic-ppo", 150),
]


def rise(x, speed):
    return 1 - math.exp(-x * speed)


def metrics_of(stage, at, progress, noise, quality):
    """Of one step; `at` within the stage, `progress` 0 to 1 over all reinforcement learning."""
    jitter = lambda scale: noise.gauss(0, scale)  # noqa: E731
    result = {"perf/throughput": 2.1e6 + jitter(4e4), "perf/time_per_step": 0.6 + abs(jitter(0.05))}
    if stage in ("pretrain", "rft"):
        start = 6.2 if stage == "pretrain" else 1.4
        result["train/loss"] = 1.1 + start * math.exp(-at / 60) + jitter(0.04)
        result["train/lr"] = 3e-4 * min(1, at / 30)
    if stage == "value-pretrain":
        result["critic/vf_loss"] = 0.2 + 1.4 * math.exp(-at / 20) + abs(jitter(0.03))
        result["critic/vf_explained_var"] = 0.75 * rise(at, 0.05) + jitter(0.03)
    if stage.endswith("ppo"):
        score = -0.6 + 3.1 * quality * rise(progress * 4, 0.9)
        passed = min(1, max(0, 0.25 + 0.7 * quality * rise(progress * 4, 0.8) + jitter(0.03)))
        result |= {
            "critic/score/mean": score + jitter(0.12),
            "actor/entropy": 1.2 - 0.7 * progress + jitter(0.03),
            "actor/ppo_kl": 0.004 + abs(jitter(0.002)),
            "actor/pg_clipfrac": 0.05 + abs(jitter(0.01)),
            "actor/pg_loss": jitter(0.02),
            "critic/vf_explained_var": 0.7 * rise(progress * 6, 0.6) + jitter(0.05),
            "response_length/mean": 480 + 240 * progress + jitter(12),
            "reward/pass_rate": passed,
            "reward/faster_than_compile": max(0, passed * 0.7 - 0.15 + jitter(0.03)),
            "num_turns/mean": 1 if stage.startswith("single") else 5 - 2 * progress + jitter(0.2),
            "timing_s/gen": 3 + abs(jitter(0.2)),
            "timing_s/reward": 5 + abs(jitter(0.5)),
            "tools/error_rate": max(0, 0.2 * (1 - progress) + jitter(0.02)),
        }
    return result


def write(folder, name, quality, seed, state, share):
    noise = random.Random(seed)
    folder.mkdir(parents=True, exist_ok=True)
    now = time.time()
    total = sum(steps for _, steps in STAGES)
    upto = int(total * share)
    started = now - upto * 4.2
    (folder / "recipe.toml").write_text(f'# fixture\nname = "{name}"\nseed = {seed}\n')
    (folder / "run.json").write_text(
        json.dumps(
            {
                "format": 1,
                "name": name,
                "seed": str(seed),
                "device": "none: a fixture",
                "versions": {},
                "stages": [{"name": stage, "steps": steps} for stage, steps in STAGES],
                "started": started,
            }
        )
    )
    status, rows, step, tokens = {}, [], 0, 0
    for stage, steps in STAGES:
        for at in range(steps):
            if step >= upto:
                break
            tokens += 65536
            metrics = metrics_of(stage, at, max(0, (step - 400) / (total - 400)), noise, quality)
            if state == "failed" and step == upto - 1:
                metrics = {key: "NaN" for key in metrics}
            metrics["train/tokens"] = tokens
            row = {"step": step, "stage": stage, "time": started + step * 4.2, "metrics": metrics}
            rows.append(json.dumps(row))
            status = {"stage": stage, "stage_step": at + 1, "stage_steps": steps}
            if stage.endswith("ppo") and step % 25 == 0:
                index = folder / "rollouts" / f"step-{step}"
                index.mkdir(parents=True, exist_ok=True)
                lines = [
                    {
                        "step": step,
                        "task": noise.choice(["fused_norm", "gelu_bias", "softmax_scale"]),
                        "reward": noise.choice([-1, 1, 2, 3]),
                        "turns": noise.randint(1, 7),
                        "session": f"session-{i}",
                        "note": noise.choice(["", "turns spent", "verified in full"]),
                    }
                    for i in range(4)
                ]
                text = "".join(json.dumps(line) + "\n" for line in lines)
                (index / "index.jsonl").write_text(text)
            step += 1
    (folder / "metrics.jsonl").write_text("\n".join(rows) + "\n")
    status |= {
        "format": 1,
        "state": state,
        "step": step,
        "tokens": tokens,
        "seconds": step * 4.2,
        "start": "fixture",
        "answered": "",
        "written": now,
    }
    if state == "running":
        status["seconds_left"] = (total - step) * 4.2
    if state == "failed":
        status["error"] = "The loss is not finite at step %d: lower the learning rate." % (step - 1)
    (folder / "status.json").write_text(json.dumps(status))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--state", default="running")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    kinds = [("full", 1.0, 0.9), ("no-rft", 0.75, 1.0), ("single-turn", 0.6, 0.8)]
    for i in range(given.runs):
        name, quality, share = kinds[i % 3]
        folder = given.folder / name if given.runs > 1 else given.folder
        state = given.state if i == 0 else "done" if share == 1 else "stopped"
        write(folder, name, quality, given.seed + i, state, share)


if __name__ == "__main__":
    main()
