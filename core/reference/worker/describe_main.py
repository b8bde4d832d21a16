# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Describes task after task without running them, until told to quit.

Started as `python -I describe_main.py` with the engine's channel as descriptor 3 (or
CUDA_AGENT_CHANNEL). Messages are described in core/reference/README.md. PyTorch is made ready once;
each task then runs in a process forked off for it alone, which ends with it, so that no task finds
what another one left.
"""

import json
import os
import select
import signal
import sys
import time
import warnings

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from worker.imports import uncollected  # noqa: E402
from worker.protocol import (LARGEST_PAYLOAD, Channel, Closed, WorkerError,  # noqa: E402
                             task_error)
from worker.source import Source  # noqa: E402

WARM = """
import torch
class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = torch.nn.Conv2d(4, 4, 3), torch.nn.LayerNorm(6)
        self.linear = torch.nn.Linear(6, 8)
    def forward(self, x):
        x = torch.nn.functional.gelu(self.linear(self.norm(self.conv(x))))
        return torch.softmax(x, dim=-1).sum(dim=1)
def get_inputs():
    return [torch.randn(2, 4, 8, 8)]
def get_init_inputs():
    return []
"""


def prepare():
    """Imports what descriptions need and takes one of them, which fills PyTorch's tables."""
    warnings.simplefilter("ignore")
    try:
        with uncollected():
            import torch
    except ImportError as error:
        raise WorkerError("machine", f"{sys.executable} cannot import torch ({error}); set "
                          "CUDA_AGENT_PYTHON to a Python that has PyTorch 2.11")
    torch.set_num_threads(1)  # threads do not live through a fork
    from worker import backward, complex_numbers, faked  # noqa: F401  what traces need

    backward.core_table()
    for device in ("cpu", "cuda"):
        faked.describe(Source("warm.py", {}, WARM), device)
    return {"torch": torch.__version__, "python": sys.version.split()[0]}


def prepare_library(text):
    """The one library beside PyTorch that tasks import, and that takes its time."""
    if "transformers" in text and "transformers" not in sys.modules:
        try:
            import transformers.modeling_utils  # noqa: F401
        except Exception:
            return  # the task will say so
        from worker import composites

        composites.known()  # it registers operators of its own


def answer(request):
    """What the forked process says of one task."""
    from worker import faked

    try:
        source = Source(f"{request['name']}.py", {}, request["code"])
        describer = faked.TracedDescriber if request.get("traced") else faked.Describer
        return {"description": faked.describe(source, request["device"], describer)}
    except WorkerError as error:
        return {"error": {"kind": "request", "message": error.message, "line": error.line}}
    except BaseException as error:  # a task may raise what it likes
        from worker.loader import shortened

        return {"error": {"kind": "request",
                          "message": f"{request['name']}: {type(error).__name__}: "
                                     f"{shortened(error)}"}}


def forked(request, channel):
    """One answer, from a process of its own. A task that ends, hangs or floods it is at fault."""
    name, seconds = request["name"], request["seconds"]
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            channel.socket.close()  # no task's
            os.close(reader)
            os.setpgid(0, 0)
            with open(writer, "wb") as file:
                file.write(json.dumps(answer(request), allow_nan=False).encode())
        finally:
            os._exit(0)
    os.close(writer)
    deadline = time.monotonic() + seconds
    parts, size, problem = [], 0, ""
    while not problem:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([reader], [], [], left)[0]:
            problem = f"no description within {seconds:g} s"
            break
        part = os.read(reader, 1 << 20)
        if not part:
            break
        parts.append(part)
        size += len(part)
        if size > LARGEST_PAYLOAD - 1024:
            problem = "the description is larger than 64 MiB"
    os.close(reader)
    for kill in (os.killpg, os.kill):
        try:
            kill(child, signal.SIGKILL)
        except OSError:
            pass
    os.waitpid(child, 0)
    if problem:
        raise task_error(f"{name}: {problem}")
    try:
        body = json.loads(b"".join(parts))
    except ValueError:
        body = None
    return body if isinstance(body, dict) else None


def described(request, channel):
    """PyTorch itself may end the process, where it asks for a device that is not there or exports a
    backward pass: other ways are tried, each in a process of its own."""
    prepare_library(request["code"])
    ways = [{}, {"device": "cpu"}, {"device": "cpu", "traced": True}]
    for way in ways if request["device"] != "cpu" else ways[1:]:
        body = forked(request | way, channel)
        if body is not None:
            return body
    raise task_error(f"{request['name']}: the task ended its process")


def main():
    channel = Channel(int(os.environ.get("CUDA_AGENT_CHANNEL", "3")))
    os.dup2(2, 1)  # what tasks print is no protocol
    while True:
        try:
            request = channel.receive()
        except Closed:
            return
        try:
            body = prepare() if request["request"] == "hello" else described(request, channel)
        except WorkerError as error:
            body = {"error": {"kind": error.kind, "message": error.message, "line": error.line}}
        channel.send(body)


if __name__ == "__main__":
    main()
