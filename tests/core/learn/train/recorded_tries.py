# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Tries that nobody made, for tests of what is learned from them."""

import json
import random

import torch
from safetensors.torch import save_file

GOOD, BAD = 300, 301  # the token that earns, and the one that costs


def recorded(folder, stage, steps, count=12, rows_of=None):
    """Tries as a run keeps them: after a prompt the policy has written one of two tokens, and more.
    rows_of(step, i): fields of a try's row in place of these."""
    draw = random.Random(11)
    for step in range(steps):
        tokens, policy, logs, begins, rewards, rows = [], [], [], [0], [], []
        for i in range(count):
            good = (i + step) % 2 == 0
            prompt = [0] + [draw.randrange(20, 200) for _ in range(draw.randrange(5, 15))]
            own = [GOOD if good else BAD] + [draw.randrange(20, 200) for _ in range(draw.randrange(2, 6))]
            tokens += prompt + own
            policy += [0] * len(prompt) + [1] * len(own)
            logs += [0.0] * len(prompt) + [-5.0] * len(own)
            begins.append(len(tokens))
            rewards.append(2.0 if good else -1.0)
            rows.append({"task": f"task{i // 2}", "level": "1", "group": i // 2, "session": "", "turns": 1,
                         "cut": False, "correct": good, "milestone": 2 if good else -1, "best_turn": int(good),
                         "over_eager": 1.2, "over_compile": 1.1, "episode_turns": 1, "calls": 1, "refused": 0,
                         "unreadable": 0, "verdicts": 1, "reason": "the turns are used up"} | (rows_of(step, i) if rows_of else {}))
        file = folder / "trajectories" / stage / f"step-{step}.safetensors"
        file.parent.mkdir(parents=True, exist_ok=True)
        save_file({"tokens": torch.tensor(tokens, dtype=torch.int32),
                   "by_policy": torch.tensor(policy, dtype=torch.uint8),
                   "log_probabilities": torch.tensor(logs), "entropy": torch.zeros(len(tokens)),
                   "begins": torch.tensor(begins), "rewards": torch.tensor(rewards, dtype=torch.float64)},
                  file, {"trajectories": json.dumps(rows)})
