# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times of a task in eager PyTorch and in torch.compile, in seconds a call, and what the compiled
model answers."""

import functools
import time

import torch

from maker.answers import all_numbers, answer, as_oracle, described
from maker.checks import errors_of_whole, sizes_of
from maker.oracles import Oracles
from maker.rejected import Rejected
from worker.baselines import prepare_inductor
from worker.cases import precision
from worker.loader import is_fatal, is_out_of_memory, shortened

QUEUED = 5  # calls between two looks at the clock, on cuda
prepare_once = functools.cache(prepare_inductor)


@functools.cache
def flush_memory(device):
    """Twice the L2 cache; writing it leaves nothing of the call before in there."""
    size = 2 * torch.cuda.get_device_properties(device).L2_cache_size
    return torch.empty(max(size, 1 << 26), dtype=torch.int8, device=device)


def seconds_of(task, call, calls, longest, warm=False):
    """At most `calls` times after one that does not count, which a warm task does without; none is
    begun after `longest` seconds."""
    with precision(task.device, False), task.guarded("timing"):
        if not warm:
            call()
        return on_cuda(task.device, call, calls, longest) if task.device.type == "cuda" else \
            on_cpu(call, calls, longest)


def stretch(seconds, calls, left):
    """How many calls are queued before the clock is looked at again: as many as fit."""
    fitting = int(left / seconds[-1]) if seconds else 1
    return max(1, min(fitting, QUEUED, calls - len(seconds)))


def on_cuda(device, call, calls, longest):
    flush = flush_memory(device)
    torch.cuda.synchronize()
    seconds = []
    start = time.perf_counter()
    while len(seconds) < calls and (not seconds or time.perf_counter() - start < longest):
        pairs = []
        for _ in range(stretch(seconds, calls, longest - (time.perf_counter() - start))):
            pair = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            flush.zero_()
            pair[0].record()
            call()
            pair[1].record()
            pairs.append(pair)
        torch.cuda.synchronize()
        seconds += [first.elapsed_time(last) / 1000 for first, last in pairs]
    return seconds


def on_cpu(call, calls, longest):
    seconds = []
    clock = time.perf_counter
    end = clock() + longest
    while len(seconds) < calls and (not seconds or clock() < end):
        start = clock()
        call()
        seconds.append(clock() - start)
    return seconds


def right_answers(loaded, seed):
    """Eager PyTorch's outputs for the whole task, with the relative errors that the small one's have
    against the oracle."""
    own = loaded.by_the_small(lambda task: own_errors(task, seed))
    outputs = answer(loaded.whole, seed)
    return as_oracle(outputs), errors_of_whole(sizes_of(outputs)[0], own)


def own_errors(task, seed):
    oracles = Oracles(task)
    errors = oracles.add(seed, sensitivity=True)[1]
    oracles.finish()
    return errors


def compiled(loaded, seed):
    """A compiled model that has run once, and {"compile_seconds", "outputs"}: its answers, held
    against the right ones."""
    task = loaded.whole
    arguments = task.hold(seed)
    with precision(task.device, False):
        oracle, errors = right_answers(loaded, seed)
        start = time.perf_counter()
        try:
            if task.device.type == "cpu":
                prepare_once()
            model = torch.compile(task.model)
            outputs, _ = task.forward(model, arguments)
            if task.device.type == "cuda":
                torch.cuda.synchronize()
        except BaseException as error:
            cause = error.__cause__ or error
            reason = "memory" if is_out_of_memory(cause) else "compile raises"
            raise Rejected(reason, f"{type(cause).__name__}: {shortened(cause)}",
                           is_fatal(cause)) from error
        took = time.perf_counter() - start
        if [output.shape for output in outputs] != [view.shape for view in oracle]:
            raise Rejected("compile raises", "the compiled model gives outputs of other shapes")
        return model, {"compile_seconds": took, "outputs": [
            described(output, i) | {"own": [own]} | numbers for i, (output, numbers, own) in
            enumerate(zip(outputs, all_numbers(outputs, oracle), errors))]}
