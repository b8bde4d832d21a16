# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The reference worker: loads one task and answers requests about it until told to quit.

Started as `python -I main.py` with the engine's channel as descriptor 3 (or CUDA_AGENT_CHANNEL).
Messages are described in core/reference/README.md. Task code runs in this process, so the engine
trusts nothing that it says.
"""

import gc
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from worker.imports import uncollected  # noqa: E402
from worker.protocol import Channel, Closed, WorkerError, task_error  # noqa: E402
from worker.source import Source  # noqa: E402


def settings():
    """What tasks may set of PyTorch for the whole process."""
    import torch

    cudnn = torch.backends.cudnn
    return {"dtype": torch.get_default_dtype(), "precision": torch.get_float32_matmul_precision(),
            "deterministic": torch.are_deterministic_algorithms_enabled(),
            "threads": torch.get_num_threads(),
            "cudnn": (cudnn.enabled, cudnn.allow_tf32, cudnn.benchmark, cudnn.deterministic)}


def restore(saved):
    import torch

    cudnn = torch.backends.cudnn
    torch.set_default_dtype(saved["dtype"])
    torch.set_default_device(None)
    torch.set_float32_matmul_precision(saved["precision"])
    torch.use_deterministic_algorithms(saved["deterministic"])
    torch.set_num_threads(saved["threads"])
    cudnn.enabled, cudnn.allow_tf32, cudnn.benchmark, cudnn.deterministic = saved["cudnn"]
    torch.set_grad_enabled(True)


def free(device):
    """Gives back what nothing refers to any more."""
    import torch

    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()


class Session:
    """State between requests."""

    def __init__(self):
        self.source = None
        self.task = None
        self.describer = None
        self.ahead = None  # a describer that has looked ahead, until it has run the task
        self.description = None
        self.timer = None
        self.tf32 = False
        self.settings = None  # of PyTorch, before any task

    def hello(self, request, _):
        """Checks the file's text and makes PyTorch ready; no task code runs yet."""
        self.source = Source(request["file"], request["overrides"], request.get("text"))
        try:
            with uncollected():
                import torch  # late, and after the checks above: it takes seconds
        except ImportError as error:
            raise WorkerError("machine", f"{sys.executable} cannot import torch ({error}); set "
                              "CUDA_AGENT_PYTHON to a Python that has PyTorch 2.11")
        if self.settings is None:
            self.settings = settings()
        return {"torch": torch.__version__, "python": sys.version.split()[0],
                "settable": self.source.settable()}

    def open(self, _, __):
        """The GPU; no task code runs yet."""
        import torch

        if not torch.cuda.is_available():
            raise WorkerError("machine", "PyTorch cannot use the GPU in the reference worker; "
                              "see 'cuda-agent doctor'")
        torch.cuda.synchronize()
        return {}

    def load(self, request, _):
        import torch

        from worker.loader import Task

        self.tf32 = request["numerics"] in ("tf32", "published")
        self.task = Task(self.source, torch.device(request["device"]))
        return {}

    def look_ahead(self, _, __):
        from worker.graph import Describer

        if self.describer is None and self.ahead is None:
            self.ahead = Describer(self._task())
            self.ahead.look_ahead()
        return {}

    def run(self, _, __):
        if self.describer is None:
            from worker.graph import Describer

            ahead, self.ahead = self.ahead, None
            describer = ahead or Describer(self._task())
            try:
                describer.run()
            except WorkerError as error:
                if ahead is None or error.restart:
                    raise
                # A task may have kept what it was given while nothing had values.
                from worker.loader import Task

                self.task = Task(self.source, self.task.device)
                describer = Describer(self.task)
                describer.run()
            self.describer = describer
        return {}

    def describe(self, request, outgoing):
        if self.description is None:
            self.run(request, outgoing)
            self.description = self.describer.describe()
        return {"description": self.description}

    def parameters(self, request, outgoing):
        self.describe(request, outgoing)
        return {"parameters": outgoing.add_all(self.describer.parameters)}

    def draw(self, request, outgoing):
        import torch

        arguments = self._task().draw(request["seed"])
        tensors = [value for value in arguments if isinstance(value, torch.Tensor)]
        return {"inputs": [outgoing.add(f"in{i}", value) for i, value in enumerate(tensors)]}

    def case(self, request, outgoing):
        from worker.cases import make_case

        self.describe(request, outgoing)
        return make_case(self._task(), request, self.tf32, outgoing, self.describer.parameters)

    def reshape(self, request, outgoing):
        from worker.reshape import make_reshaped

        self.describe(request, outgoing)
        return make_reshaped(self._task(), request, self.tf32, outgoing, self.description,
                             self.describer.parameters)

    def ready(self, _, __):
        return {}

    def prepare(self, request, _):
        return self._timer().prepare(request["baseline"], request["seed"])

    def time(self, request, _):
        return self._timer().time(request["baseline"], request["seed"], request["samples"],
                                  request["minimum_seconds"])

    def code(self, request, _):
        return self._timer().code(request["seed"])

    def _timer(self):
        from worker.baselines import Timer

        if self.timer is None:
            self.timer = Timer(self._task())
        return self.timer

    def release(self, _, __):
        if self.timer is not None:
            self.timer.release()
        if self.task is not None:
            free(self.task.device)
        return {}

    def forget(self, _, __):
        """Ready for another task, with PyTorch imported and the device open."""
        import torch

        before = self.settings
        device = self._task().device
        self.__init__()
        self.settings = before
        restore(before)
        sys.modules.pop("task", None)
        if "torch._dynamo" in sys.modules:
            torch._dynamo.reset()
        if device.type == "cuda":
            torch._C._cuda_clearCublasWorkspaces()
        free(device)
        return {}

    def _task(self):
        if self.task is None:
            raise WorkerError("machine", "the worker was not told its task")
        return self.task

    HANDLERS = {"hello": hello, "open": open, "load": load, "look_ahead": look_ahead, "run": run, "describe": describe,
                "parameters": parameters, "draw": draw, "case": case, "reshape": reshape, "ready": ready,
                "prepare": prepare, "time": time, "code": code, "release": release, "forget": forget}

    def answer(self, request, channel):
        """Handles one request and sends its answer with its descriptors."""
        handler = self.HANDLERS.get(request.get("request"))
        if handler is None:
            raise WorkerError("machine", f"unknown request {request.get('request')!r}")
        if request["request"] in ("hello", "open", "load", "forget"):
            channel.send(handler(self, request, None))
            return
        from worker.tensors import Outgoing

        with Outgoing(self._task().device) as outgoing:
            body = handler(self, request, outgoing)
            channel.send(body, outgoing.fds if "skipped" not in body else ())


def error_body(error, session):
    if not isinstance(error, WorkerError):
        from worker.loader import is_fatal, is_out_of_memory, shortened

        if is_out_of_memory(error) and session.task is not None:
            error = task_error(f"the task needs more memory than there is; "
                               f"{session.task.smaller()}")
        else:
            import traceback

            traceback.print_exception(error)
            error = WorkerError("machine", f"reference worker: {type(error).__name__}: "
                                f"{shortened(error)}", restart=is_fatal(error))
    return {"error": {"kind": error.kind, "message": error.message, "line": error.line,
                      "restart": error.restart}}


def main():
    channel = Channel(int(os.environ.get("CUDA_AGENT_CHANNEL", "3")))
    os.dup2(2, 1)  # what the task prints is no protocol
    session = Session()
    while True:
        try:
            request = channel.receive()
        except Closed:
            return
        if request.get("request") == "quit":
            sys.stderr.flush()
            os._exit(0)  # unloading torch takes seconds and nothing is left to save
        try:
            session.answer(request, channel)
        except OSError as error:
            if error.errno == 32:  # the engine is gone
                return
            channel.send(error_body(error, session))
        except Exception as error:
            body = error_body(error, session)
            # The tracebacks keep the tensors of the failed request alive.
            error.__traceback__ = error.__cause__ = error.__context__ = None
            del error
            session.release(None, None) if session.task is not None else None
            channel.send(body)


if __name__ == "__main__":
    main()
