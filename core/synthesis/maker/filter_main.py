# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A filter process: runs task after task and says in numbers what they are like, until told to quit.

Started as `python -I filter_main.py` with the engine's channel as descriptor 3 (or
CUDA_AGENT_CHANNEL). Messages are described in core/synthesis/README.md. Task code runs in this
process, so the engine trusts nothing that it says.
"""

import os
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
# Installed, the reference worker's package lies beside this one.
for folder in (HERE.parent, HERE.parent.parent / "reference"):
    sys.path.insert(0, str(folder))

from worker.protocol import Channel, Closed, WorkerError  # noqa: E402

PACKAGES = ("torch", "triton", "transformers", "numpy")


def versions():
    from importlib.metadata import PackageNotFoundError, version

    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            pass
    return found


def limit_memory(device, size):
    """From here on more than `size` bytes raise an error, which costs the task and not the
    process."""
    if device.type == "cuda":
        import torch

        total = torch.cuda.get_device_properties(device).total_memory
        torch.cuda.set_per_process_memory_fraction(min(1.0, size / total), device)
        return
    import resource

    with open("/proc/self/status", encoding="ascii") as file:
        data = next(int(line.split()[1]) << 10 for line in file if line.startswith("VmData"))
    resource.setrlimit(resource.RLIMIT_DATA, (data + size, resource.RLIM_INFINITY))


class Session:
    """State between requests."""

    def __init__(self):
        self.path = os.path.join(tempfile.mkdtemp(prefix="filter-"), "task.py")
        self.device = None
        self.loaded = None
        self.state = None
        self.seed = None

    def hello(self, request):
        # Many filters share the processor: none of them needs a pool of compilers.
        os.environ.setdefault("TORCHINDUCTOR_COMPILE_THREADS", "1")
        try:
            import torch
        except ImportError as error:
            raise WorkerError("machine", f"{sys.executable} cannot import torch ({error}); set "
                              "CUDA_AGENT_PYTHON to a Python that has PyTorch 2.11")
        self.device = torch.device(request["device"])
        if self.device.type == "cuda":
            if not torch.cuda.is_available():
                raise WorkerError("machine", "PyTorch cannot use the GPU in the filter; see "
                                  "'cuda-agent doctor'")
            self.device = torch.device("cuda", torch.cuda.current_device())
            torch.cuda.init()
        from maker import checks, timed  # noqa: F401
        from maker.isolation import State

        warm_up(self.device)
        if request.get("memory_bytes"):
            limit_memory(self.device, request["memory_bytes"])
        self.state = State()
        self.state.restore()
        return {"torch": torch.__version__, "python": sys.version.split()[0],
                "packages": versions()}

    def load(self, request):
        from maker.loaded import Loaded

        self.drop(request)
        self.loaded = Loaded(self.path, request["code"], request.get("small") or {}, self.device)
        return {"small": self.loaded.small is not self.loaded.whole}

    def check(self, request):
        from maker.checks import check

        if len(set(request["seeds"])) != 3:
            raise WorkerError("machine", "a check takes three different seeds")
        self.seed = request["seeds"][0]
        return check(self._task(), request["seeds"])

    def time(self, request):
        from maker.timed import seconds_of

        task = self._task().whole
        model = self.loaded.compiled if request.get("compiled") else task.model
        if model is None:
            raise WorkerError("machine", "the filter was not told to compile the task")
        arguments = task.hold(self.seed or 0)
        return {"seconds": seconds_of(task, lambda: model(*arguments), request["calls"],
                                      request["longest"], request.get("warm", False))}

    def compile(self, request):
        from maker.timed import compiled

        loaded, self.seed = self._task(), request["seed"]
        loaded.compiled, body = compiled(loaded, request["seed"])
        return body

    def drop(self, _):
        if self.loaded is not None:
            self.loaded.drop()
        self.loaded = self.seed = None
        if self.state is not None:
            self.state.restore()
        if self.device is not None and self.device.type == "cuda":
            from maker.checks import release

            release(self.device)
        return {}

    def _task(self):
        if self.loaded is None:
            raise WorkerError("machine", "the filter was not told its task")
        return self.loaded

    HANDLERS = {"hello": hello, "load": load, "check": check, "time": time, "compile": compile,
                "drop": drop}

    def answer(self, request):
        handler = self.HANDLERS.get(request.get("request"))
        if handler is None:
            raise WorkerError("machine", f"unknown request {request.get('request')!r}")
        if handler is not Session.hello and self.device is None:
            raise WorkerError("machine", "the filter was not told its device")
        return handler(self, request)


def warm_up(device):
    """What the first task would wait for: a product of matrices, a trace."""
    import torch

    from maker import wiring
    from torch.fx.experimental.proxy_tensor import make_fx

    weight = torch.ones(8, 8, device=device)
    weight @ weight
    make_fx(lambda x: torch.nn.functional.gelu(x @ x), tracing_mode="fake",
            decomposition_table=wiring.decompositions())(weight)


def answer_of(session, request):
    """The answer, a rejection or an error as a message."""
    try:
        return session.answer(request)
    except BaseException as error:  # SystemExit too: a task may not end its judge
        failure = error
    body = failure_body(failure, session.path, session.loaded is not None)
    # The tracebacks keep the tensors of the failed request alive.
    while failure is not None:
        following = failure.__cause__ or failure.__context__
        failure.__traceback__ = failure.__cause__ = failure.__context__ = None
        failure = following
    return body


def failure_body(error, path, loaded):
    """`path`: of a task's text. `loaded`: there is one on the device."""
    if isinstance(error, WorkerError) and error.kind != "request":
        return {"error": {"kind": error.kind, "message": error.message, "restart": error.restart}}
    import traceback

    from maker.rejected import Rejected, rejection
    from worker.loader import is_fatal, is_out_of_memory, shortened

    if isinstance(error, WorkerError):
        error = rejection(error)
    if isinstance(error, Rejected):
        return {"rejected": error.reason, "detail": error.detail} | (
            {"restart": True} if error.restart else {})
    if is_out_of_memory(error):
        return {"rejected": "memory", "detail": "checking it needs more memory than there is"}
    text = f"{type(error).__name__}: {shortened(error)}"
    if any(frame.f_code.co_filename == path
           for frame, _ in traceback.walk_tb(error.__traceback__)) or (
               # The device tells of a failed call when something is read, wherever that is.
               loaded and is_fatal(error)):
        return {"rejected": "raises", "detail": text} | (
            {"restart": True} if is_fatal(error) else {})
    traceback.print_exception(error)
    return {"error": {"kind": "machine", "message": f"filter: {text}",
                      "restart": is_fatal(error)}}


def main():
    channel = Channel(int(os.environ.get("CUDA_AGENT_CHANNEL", "3")))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # nobody reads what tasks print
    session = Session()
    while True:
        try:
            request = channel.receive()
        except Closed:
            return
        if request.get("request") == "quit":
            os._exit(0)  # unloading torch takes seconds and nothing is left to save
        try:
            channel.send(answer_of(session, request))
        except OSError:
            return  # the engine is gone


if __name__ == "__main__":
    main()
