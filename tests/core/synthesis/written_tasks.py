# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""What holds of every module that a maker writes as a whole."""

from maker import writer
from maker.operators.catalogue import all_operators

SEEDS = 300


def loaded(code):
    names = {}
    exec(compile(code, "task.py", "exec"), names)
    return names


class WrittenTasks:
    """To be mixed into a TestCase that has `write(seed, batch=2)`, a task of the maker's."""

    def test_the_batch_alone_differs(self):
        for seed in range(SEEDS):
            text = writer.name_batch(self.write(seed, 8).code, 8, self.write(seed, 16).code, 16)
            names = loaded(text)
            self.assertEqual(names[writer.BATCH], 8)
            self.assertEqual(names["get_inputs"]()[0].shape[0], 8)

    def test_operators_are_named_as_in_the_catalogue(self):
        known = {each.name: (each.kind, each.family) for each in all_operators()}
        for seed in range(SEEDS):
            made = self.write(seed)
            for name, kind, family in zip(made.ops, made.kinds, made.families):
                self.assertEqual(known[name], (kind, family), name)
