# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The proposer: crawls, composes, and compares texts, for the engine. Runs no task's code but what
it has written itself, and that on meta tensors; a text from elsewhere is only parsed.

Started as `python -I propose_main.py` with the engine's channel as descriptor 3 (or
CUDA_AGENT_CHANNEL). Messages are described in core/synthesis/README.md.
"""

import os
import sys
import warnings

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, ROOT)
# In a source tree the reference worker's package lies in the neighbouring room.
sys.path.append(os.path.join(os.path.dirname(ROOT), "reference"))

from worker.protocol import Channel, Closed, WorkerError  # noqa: E402


class Session:
    def __init__(self):
        self.recipe = None
        self.proposer = None
        self.screener = None

    def hello(self, request):
        self.recipe = request["recipe"]
        try:
            import torch
            import transformers
        except ImportError as error:
            raise WorkerError("machine", f"{sys.executable} cannot import {error.name}; set "
                              "CUDA_AGENT_PYTHON to a Python that has PyTorch 2.11 and "
                              "transformers")
        torch.set_num_threads(1)
        torch.set_grad_enabled(False)
        return {"torch": torch.__version__, "python": sys.version.split()[0],
                "packages": {"transformers": transformers.__version__}}

    def crawl(self, _):
        from maker.crawl import crawl_torch
        from maker.models import crawl_transformers

        return {"operators": crawl_torch() + crawl_transformers()}

    def propose(self, request):
        """Candidates `from` to `to` - 1, each with what screen() says of it."""
        if self.proposer is None:
            from maker import models, patterns
            from maker.operators.catalogue import all_operators
            from maker.propose import Proposer

            self.proposer = Proposer(self.recipe, all_operators(), patterns, models)
        candidates = []
        for index in range(request["from"], request["to"]):
            candidate = self.proposer.propose(index)
            if "code" in candidate:
                candidate |= self.looked_at(candidate["code"])
            candidates.append(candidate)
        return {"candidates": candidates}

    def screen(self, request):
        """What a text from elsewhere is like; {"problem"} where it is no Python."""
        try:
            return self.looked_at(request["code"])
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return {"problem": f"not Python: {error}"}

    def looked_at(self, code):
        from maker import normal

        if self.screener is None:
            self.screener = self.screen_against(self.recipe.get("against"))
        similarity, nearest = self.screener.nearest(code)
        return {"exact_hash": normal.exact_hash(code), "near_hash": normal.near_hash(code),
                "skeleton_hash": normal.skeleton_hash(code), "similarity": similarity,
                "nearest": nearest}

    def screen_against(self, folder):
        """Of KernelBench, or of the tasks in a folder."""
        from maker import normal

        if not folder:
            return normal.Screen()
        import json
        import pathlib
        import tempfile

        tasks, _ = normal.fingerprints_of(pathlib.Path(folder))
        if not tasks:
            raise WorkerError("request", "--against: there are no tasks in that folder")
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump({"format": normal.FORMAT, "tasks": tasks}, file)
            file.flush()
            return normal.Screen(pathlib.Path(file.name))

    HANDLERS = {"hello": hello, "crawl": crawl, "propose": propose, "screen": screen}


def main():
    channel = Channel(int(os.environ.get("CUDA_AGENT_CHANNEL", "3")))
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    session = Session()
    while True:
        try:
            request = channel.receive()
        except Closed:
            return
        if request.get("request") == "quit":
            os._exit(0)
        try:
            channel.send(Session.HANDLERS[request["request"]](session, request))
        except WorkerError as error:
            channel.send({"error": {"kind": error.kind, "message": error.message}})
        except Exception as error:  # a bug of ours: the engine shows it
            import traceback

            traceback.print_exception(error)
            channel.send({"error": {"kind": "machine", "message":
                                    f"proposer: {type(error).__name__}: {str(error)[:400]}"}})


if __name__ == "__main__":
    main()
