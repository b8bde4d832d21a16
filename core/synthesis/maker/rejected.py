# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why a task is not fit for a set, as far as no judge's numbers are needed to say so."""

from worker.loader import is_out_of_memory

# What may come back as "rejected"; the engine adds those that it decides by numbers.
REASONS = {
    "not python": "the text is no Python",
    "imports": "it imports something besides PyTorch, transformers and plain Python",
    "form": "Model, get_inputs() or forward() do not have the form of a task",
    "raises": "its code raises an error",
    "memory": "it needs more memory than a task may have",
    "dtype": "an input or output has an element type or layout that tasks do not have",
    "empty": "an output has no element",
    "not finite": "an output holds NaN or infinities",
    "in place": "forward() changes its inputs or the model",
    "random": "forward() draws random numbers",
    "unstable": "the same seed gives other inputs or another model",
    "shape": "the shape of an output depends on the values of the inputs",
    "double": "it cannot be run in double precision as it is run in its own",
    "compile raises": "torch.compile cannot run it",
}


class Rejected(Exception):
    """`reason` is one of REASONS. `restart`: the task broke its device context."""

    def __init__(self, reason, detail, restart=False):
        super().__init__(f"{reason}: {detail}")
        assert reason in REASONS
        self.reason = reason
        self.detail = detail
        self.restart = restart


def rejection(error):
    """The Rejected that a WorkerError of kind "request" stands for."""
    message = error.message
    cause = error.__cause__ or (error.__context__ and error.__context__.__cause__)
    if "more memory" in message or (cause and is_out_of_memory(cause)):
        reason = "memory"
    elif "double precision" in message:
        reason = "double"
    elif cause is not None:
        reason = "raises"
    elif "not Python" in message:
        reason = "not python"
    elif "element type" in message or "dense tensor" in message:
        reason = "dtype"
    else:
        reason = "form"
    return Rejected(reason, message, error.restart)
