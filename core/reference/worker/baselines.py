# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Times of the task in stock PyTorch: eager and torch.compile, with and without TF32."""

import time

import torch

from .cases import precision
from .imports import import_ahead
from .loader import shortened
from .protocol import WorkerError

WARMUP_CALLS = 3
WARMUP_SECONDS = 0.025  # of a device that was idle for longer than STILL_WARM
STILL_WARM = 0.05  # seconds; baselines that take turns need not warm it up at each
QUEUED_SAMPLES = 20  # on cuda, between two synchronisations
AHEAD = 1.5  # times as long as queueing took before, the device is held
LONGEST_HOLD = 0.02  # seconds
HOLD_CYCLES = 2e9  # a second; the device's clock or a little more

MODES = {  # name: (compile mode or None for eager, TF32)
    "eager": (None, False),
    "compile": ("default", False),
    "eager_tf32": (None, True),
    "compile_tf32": ("default", True),
    "compile_max_autotune": ("max-autotune", False),
}


def prepare_inductor():
    """Makes the first compile on a CPU quick: no header is precompiled for the few kernels of one
    task, and the instruction sets that the processor reports are not tried out one by one, each
    with a compile and a process that imports torch: 12 s instead of 28 s of processor time."""
    from torch._inductor import config, cpu_vec_isa

    config.cpp_cache_precompile_headers = False
    original = cpu_vec_isa.VecISA.check_build
    known = (cpu_vec_isa.VecISA._avx_code, cpu_vec_isa.VecAVX512._avx512_bf16_code,
             cpu_vec_isa.VecAVX512VNNI._avx512_vnni_code)

    def check_build(self, code):
        return code in known or original(self, code)

    cpu_vec_isa.VecISA.check_build = check_build


def readable(code):
    """Generated code from its first kernel to the end of its calls."""
    lines = code.splitlines()
    frame = [i for i, line in enumerate(lines)
             if line.startswith(("async_compile = ", "empty_strided_p2p = "))]
    end = [i for i, line in enumerate(lines)
           if line.startswith(("def benchmark_compiled_module", "def get_args"))]
    first = frame[-1] + 1 if frame else 0
    return "\n".join(lines[first:end[0] if end else None]).strip() + "\n"


class Prepared(BaseException):
    """Ends the first call of a compiled model before its kernels run."""


def compile_only(graph, inputs):
    """A backend of torch.compile: Inductor's work, and at the call of what it made, the end."""
    from torch._inductor.compile_fx import compile_fx

    compile_fx(graph, inputs)

    def run(*_):
        raise Prepared

    return run


class Timer:
    """Keeps compiled models and drawn inputs between requests, as baselines and candidates are
    measured in turns."""

    def __init__(self, task):
        self.task = task
        self.compiled = {}
        self.seed = None
        self.arguments = None
        self.flush = None
        self.last_call = -STILL_WARM  # when one of them last ended

    def prepare(self, baseline, seed):
        """Fills Inductor's caches for the first compiled call, which is then a matter of seconds
        less. Nothing of the model runs on the device, and nothing is tuned by measuring there."""
        mode, tf32 = MODES[baseline]
        start = time.perf_counter()
        if mode == "default":
            self._prepare_inductor()
            self._draw(seed)
            with precision(self.task.device, tf32):
                try:
                    torch.compile(self.task.model, backend=compile_only)(*self.arguments)
                except Prepared:
                    pass
                except BaseException as error:
                    raise WorkerError("request", f"torch.compile cannot run this task: "
                                      f"{type(error).__name__}: {shortened(error)}") from error
                finally:
                    torch.compiler.reset()
        return {"compile_seconds": time.perf_counter() - start}

    def _prepare_inductor(self):
        if self.compiled:
            return
        import_ahead("torch._dynamo", "torch._inductor.compile_fx")
        if self.task.device.type == "cpu":
            prepare_inductor()

    def _draw(self, seed):
        if self.seed != seed or self.arguments is None:
            self.arguments = None
            self.arguments = self.task.draw(seed)
            self.seed = seed

    def time(self, baseline, seed, samples, minimum_seconds):
        mode, tf32 = MODES[baseline]
        self._draw(seed)
        with precision(self.task.device, tf32):
            model, compile_seconds = self._model(baseline, mode)

            def call():
                model(*self.arguments)

            with self.task.guarded(f"timing {baseline}"):
                measure = self._cuda if self.task.device.type == "cuda" else self._cpu
                seconds = measure(call, samples, minimum_seconds)
                self.last_call = time.perf_counter()
        return {"seconds": seconds, "compile_seconds": compile_seconds}

    def code(self, seed):
        """The kernels and the calls that torch.compile generates for the task, without the frame
        that is the same for every task."""
        from torch._inductor.utils import run_and_get_code

        self._prepare_inductor()
        arguments = self.task.draw(seed)
        try:
            # Generated code is not to be had from Inductor's cache of graphs.
            model = torch.compile(self.task.model, options={"fx_graph_cache": False})
            with precision(self.task.device, False):
                _, codes = run_and_get_code(model, *arguments)
                self._synchronise()
        except BaseException as error:
            raise WorkerError("request", f"torch.compile cannot run this task: "
                              f"{type(error).__name__}: {shortened(error)}") from error
        return {"code": "\n".join(readable(code) for code in codes)}

    def release(self):
        self.arguments = None
        self.flush = None

    def _model(self, baseline, mode):
        """The callable and the seconds its first call took, 0 when it was there already."""
        if mode is None:
            return self.task.model, 0.0
        if baseline in self.compiled:
            return self.compiled[baseline], 0.0
        start = time.perf_counter()
        try:
            self._prepare_inductor()
            model = torch.compile(self.task.model) if mode == "default" else \
                torch.compile(self.task.model, mode=mode)
            model(*self.arguments)
            self._synchronise()
        except WorkerError:
            raise
        except BaseException as error:
            raise WorkerError("request", f"torch.compile cannot run this task: "
                              f"{type(error).__name__}: {shortened(error)}") from error
        self.compiled[baseline] = model
        return model, time.perf_counter() - start

    def _synchronise(self):
        if self.task.device.type == "cuda":
            torch.cuda.synchronize()

    def _warm_up(self, call):
        """Returns the seconds that the host took for the last call, without waiting for the device."""
        start = time.perf_counter()
        least = 0 if start - self.last_call < STILL_WARM else WARMUP_SECONDS
        for i in range(1000):
            begin = time.perf_counter()
            call()
            host = time.perf_counter() - begin
            self._synchronise()
            if i + 1 >= WARMUP_CALLS and time.perf_counter() - start >= least:
                break
            if time.perf_counter() - start > 1:  # slow calls need no more
                break
        return host

    def _cuda(self, call, samples, _):
        """The span between two events around the whole call, the L2 cache flushed before. Samples
        are queued ahead of the device, as triton.testing.do_bench does, and it is held until they
        are: a call that takes the host longer than the device would be timed as long as the host
        took between the events."""
        if self.flush is None:
            size = 2 * torch.cuda.get_device_properties(self.task.device).L2_cache_size
            self.flush = torch.empty(max(size, 1 << 26), dtype=torch.int8, device="cuda")
        host = self._warm_up(call)
        seconds = []
        while len(seconds) < samples:
            pairs = []
            count = min(QUEUED_SAMPLES, samples - len(seconds))
            torch.cuda._sleep(int(min(count * host * AHEAD, LONGEST_HOLD) * HOLD_CYCLES))
            start = time.perf_counter()
            for _ in range(count):
                pair = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
                self.flush.zero_()
                pair[0].record()
                call()
                pair[1].record()
                pairs.append(pair)
            host = (time.perf_counter() - start) / count
            torch.cuda.synchronize()
            seconds += [start.elapsed_time(end) / 1000 for start, end in pairs]
        return seconds

    def _cpu(self, call, samples, minimum_seconds):
        self._warm_up(call)
        seconds = []
        clock = time.perf_counter
        for _ in range(samples):
            calls = 0
            start = clock()
            while True:
                call()
                calls += 1
                span = clock() - start
                if span >= minimum_seconds:
                    break
            seconds.append(span / calls)
        return seconds
