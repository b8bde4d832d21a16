# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The module worker: loads one candidate with host code and calls it on lent memory.

Started as `python -I main.py` with the engine's channel as descriptor 3 (or CUDA_AGENT_CHANNEL).
The messages are those of the plan runner (core/plan/README.md) with `load` and `audit` of its own
(core/modules/README.md). Candidate code shares this process: the engine bounds all that it says.
PyTorch is imported before the first message, as the engine may have none yet.
"""

import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from worker.protocol import Channel, Closed, WorkerError  # noqa: E402

QUEUED_SAMPLES = 20  # on cuda, between two synchronisations, as for the baselines
POISON = 0x7F


class Set:
    """Tensors of one bind, the model whose parameters they are, and what it returned last."""

    def __init__(self, memories, arguments, outputs, model):
        self.memories = memories
        self.arguments = arguments
        self.outputs = outputs
        self.model = model
        self.results = None

    def lent(self, tensor):
        """Whether a tensor lies in lent memory."""
        at = tensor.untyped_storage().data_ptr()
        return any(memory.bytes.data_ptr() <= at < memory.bytes.data_ptr() + memory.bytes.numel()
                   for memory in self.memories if memory.bytes.numel())


class Session:
    def __init__(self):
        self.sets = {}
        self.fresh = []
        self.flush = None
        self.candidate = None
        self.checks = None  # where kernels are checked

    # --- messages --------------------------------------------------------------------------

    def hello(self, request, _):
        """Reads the task; no candidate code runs yet."""
        from worker.source import Source

        source = Source(request["task"], request["overrides"])
        import torch

        if request["device"] == "cuda":
            if not torch.cuda.is_available():
                raise WorkerError("machine", "PyTorch cannot use the GPU in the module worker")
            torch.cuda.init()
        from worker.cases import precision
        from worker.loader import Task
        from modules import recorder  # noqa: F401  knows the framework's operators from now on

        self.task = Task(source, torch.device(request["device"]))
        self.precision = precision(self.task.device, request["tf32"])
        self.precision.__enter__()
        self.scalars = request["scalars"]
        self.positions = request["positions"]
        self.names = request["parameters"]
        return {}

    def ready(self, _, __):
        """Asked of a process that waits for its candidate, and has the time to prepare for more."""
        from modules import recorder

        recorder.prepare()
        return {}

    def load(self, request, _):
        from modules.candidate import Candidate, Rejected, load_host_layer

        if request.get("host_layer"):
            library = load_host_layer(request["host_layer"])
            if request.get("checked"):
                from modules.checks import Checks

                self.checks = Checks(library)
        sys.path.insert(0, os.path.dirname(request["candidate"]))
        try:
            self.candidate = Candidate(request["candidate"], self.task, request["strict"])
        except Rejected as error:
            return {"rejected": {"summary": error.summary[:1000], "log": error.log[:60000]}}
        return {"flags": self.candidate.flags}

    def lend(self, request, fds):
        from modules.lent import view

        for fd, size in zip(fds, request["bytes"], strict=True):
            self.fresh.append(view(self.task.device, fd, size))
        return {}

    def bind(self, request, _):
        from worker.protocol import decode_number
        from worker.tensors import DTYPES, place

        self.unbind(request, None)
        memories, self.fresh = self.fresh, []
        types = {name: dtype for dtype, name in DTYPES.items()}
        tensors = [place(memories[view["memory"]], types[view["type"]["dtype"]],
                         view["type"]["shape"], view["type"]["strides"], view["offset"])
                   for view in request["views"]]
        inputs = len(self.positions)
        arguments = [decode_number(value) for value in self.scalars]
        for position, tensor in zip(self.positions, tensors):
            arguments[position] = tensor
        after = inputs + len(self.names)
        lent = dict(zip(self.names, tensors[inputs:after]))
        if self.checks:
            names = [f"input {i}" for i in range(inputs)] + self.names
            for name, tensor in zip(names, tensors):
                self.checks.memory(name, tensor, written=False)
        self.sets[request["set"]] = Set(memories, arguments, tensors[after:],
                                        self.candidate.build(lent))
        return {}

    def unbind(self, request, _):
        old = self.sets.pop(request["set"], None)
        if old is not None:
            memories = old.memories
            del old
            for memory in memories:
                memory.close()
        return {}

    def call(self, request, _):
        from modules.candidate import Fault, check_outputs, launches_of

        entry = self.sets[request["set"]]
        self._poison(entry)
        without = request.get("without")
        launches = launches_of(self.task.device) if without is not None else None
        if without is not None and launches is None:
            return {}
        if launches is not None:
            launches.leave_out(without)
        try:
            results = self.candidate.call(entry.model, entry.arguments, "a call")
        except Fault:
            if self.checks and self.checks.stopped():
                return {}  # the findings say what it was
            raise
        check_outputs(results, entry.outputs)
        if self.checks:
            for i, result in enumerate(results):
                self.checks.output(f"output {i}", result)
        entry.results = results
        self._publish(entry)
        return {} if launches is None else {"places": launches.end()}

    def findings(self, request, _):
        return self.checks.findings()

    def publish(self, request, _):
        self._publish(self.sets[request["set"]])
        return {}

    def audit(self, request, _):
        from modules.recorder import record

        entry = self.sets[request["set"]]
        return record(lambda: self.candidate.call(entry.model, entry.arguments, "the audited call"),
                      self.task.device)

    def time(self, request, _):
        entries = [self.sets[number] for number in request["sets"]]
        for entry in entries:
            entry.results = None
        measure = self._cuda if self.task.device.type == "cuda" else self._cpu
        samples = measure(entries, request)
        for entry in entries:
            if entry.results is not None:
                self._take(entry)
        return {"samples": samples}

    # --- results ---------------------------------------------------------------------------

    def _poison(self, entry):
        """Overwrites what was returned last before it is freed: memory that the allocator hands
        out again holds no right answers."""
        if entry.results is not None:
            for tensor in entry.results:
                if not entry.lent(tensor) and tensor.numel():
                    tensor.view_as(tensor).fill_(self._word(tensor))
        entry.results = None
        import torch

        fresh = [torch.empty_like(lent) for lent in entry.outputs]
        for tensor in fresh:
            tensor.fill_(self._word(tensor))
        self.candidate.synchronise()

    @staticmethod
    def _word(tensor):
        if tensor.is_floating_point():
            return float("nan")
        import torch

        return True if tensor.dtype == torch.bool else POISON

    def _take(self, entry):
        """Checks and hands over what timed calls returned."""
        from modules.candidate import check_outputs, flat

        entry.results = flat(entry.results)
        check_outputs(entry.results, entry.outputs)
        self._publish(entry)

    def _publish(self, entry):
        if entry.results is None:
            return
        for lent, result in zip(entry.outputs, entry.results):
            lent.copy_(result)
        self.candidate.synchronise()

    # --- clocks ----------------------------------------------------------------------------

    def _guarded(self, entry):
        """One call without checks; the result is kept until the next one of its set."""
        entry.results = entry.model(*entry.arguments)

    def _run(self, work):
        from modules.candidate import Fault, blamed

        try:
            return work()
        except Fault:
            raise
        except BaseException as error:
            raise Fault(blamed(error, self.candidate.path, "a timed call")) from error

    def _cuda(self, entries, request):
        """The span between two events around each call, the L2 cache flushed before; samples are
        queued ahead of the device, as for the baselines."""
        import torch

        if self.flush is None:
            size = 2 * torch.cuda.get_device_properties(self.task.device).L2_cache_size
            self.flush = torch.empty(max(size, 1 << 26), dtype=torch.int8, device="cuda")
        turn = 0

        def next_call():
            nonlocal turn
            self._guarded(entries[turn % len(entries)])
            turn += 1

        def warm_up():
            seconds = 0.0
            for _ in range(warm_ups(request)):
                start = time.perf_counter()
                next_call()
                torch.cuda.synchronize()
                seconds = time.perf_counter() - start
            return seconds

        def batch(count, calls):
            pairs = []
            torch.cuda.synchronize()
            for _ in range(count):
                pair = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
                if request["flush_cache"]:
                    self.flush.zero_()
                pair[0].record()
                for _ in range(calls):
                    next_call()
                pair[1].record()
                pairs.append(pair)
            torch.cuda.synchronize()
            return [{"seconds": max(a.elapsed_time(b) / 1000, 1e-9) / calls, "calls": calls}
                    for a, b in pairs]

        one = self._run(warm_up)
        calls = repeats(request["minimum_sample_seconds"], one)
        samples = []
        while len(samples) < request["samples"]:
            count = min(QUEUED_SAMPLES, request["samples"] - len(samples))
            samples += self._run(lambda: batch(count, calls))
        return samples

    def _cpu(self, entries, request):
        """Repeated calls up to the asked-for span, divided by their number."""
        clock = time.perf_counter
        turn = 0

        def calls(number):
            nonlocal turn
            start = clock()
            for _ in range(number):
                self._guarded(entries[turn % len(entries)])
                turn += 1
            return max(clock() - start, 1e-9)

        one = 0.0
        for _ in range(warm_ups(request)):
            one = self._run(lambda: calls(1))
        number = repeats(request["minimum_sample_seconds"], one)
        samples = [{"seconds": self._run(lambda: calls(number)) / number, "calls": number}
                   for _ in range(request["samples"])]
        self._run(self.candidate.synchronise)
        return samples

    HANDLERS = {"ready": ready, "hello": hello, "load": load, "lend": lend, "bind": bind, "unbind": unbind,
                "call": call, "findings": findings, "publish": publish, "audit": audit,
                "time": time}


def warm_ups(request):
    return max(request["warmup"], 1 if request["minimum_sample_seconds"] > 0 else 0)


def repeats(span, one):
    return max(1, min(100_000, int(span / max(one, 1e-9)) + (1 if span > 0 else 0)))


def answer(session, request, fds):
    """The answer to one message, without its id."""
    from modules.candidate import Fault
    from worker.loader import is_out_of_memory, shortened

    handler = session.HANDLERS.get(request.get("op"))
    if handler is None:
        return {"error": f"the module worker does not know the message {request.get('op')!r}"}
    try:
        return handler(session, request, fds) | {"ok": True}
    except Fault as error:
        return {"fault": str(error)}
    except WorkerError as error:
        return {"error": error.message}
    except BaseException as error:
        if is_out_of_memory(error):
            return {"error": f"the module worker is out of memory during {request.get('op')}"}
        import traceback

        traceback.print_exception(error)
        return {"error": f"module worker: {type(error).__name__}: {shortened(error)}"}


def prepare():
    """Imports what every candidate needs. What cannot be imported is told by `hello`."""
    from worker.imports import import_ahead

    import_ahead("torch", "worker.cases", "worker.loader", "modules.candidate", "modules.lent", "modules.recorder")


def main():
    channel = Channel(int(os.environ.get("CUDA_AGENT_CHANNEL", "3")))
    os.dup2(2, 1)  # what the candidate prints is no protocol
    prepare()
    session = Session()
    while True:
        try:
            request, fds = channel.receive_with_descriptors()
        except Closed:
            os._exit(0)
        if request.get("op") == "quit":
            sys.stderr.flush()
            os._exit(0)  # unloading torch takes seconds and nothing is left to save
        body = answer(session, request, fds)
        body["id"] = request.get("id")
        try:
            channel.send(body)
        except OSError:
            os._exit(0)
        if "fault" in body:
            os._exit(1)  # a device context may be lost, and nobody asks again


if __name__ == "__main__":
    main()
