# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Framed messages between the engine and this worker (the other half of core/base/channel.h).

A frame is two little-endian uint32 (payload bytes, descriptors), then one JSON object as UTF-8.
Descriptors ride as SCM_RIGHTS on the first byte of the header.
"""

import json
import math
import os
import socket
import struct

LARGEST_PAYLOAD = 64 << 20
MOST_DESCRIPTORS = 128
HEADER = struct.Struct("<II")


class Closed(Exception):
    """The engine closed its end."""


class WorkerError(Exception):
    """An expected failure that the engine is told. `kind` is "request" (the task is at fault) or
    "machine"; `line` is a line of the task file or 0; `restart` says that this process cannot go
    on, because the task broke its device context."""

    def __init__(self, kind, message, line=0, restart=False):
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.line = line
        self.restart = restart


def task_error(message, line=0):
    return WorkerError("request", message, line)


def encode_number(value):
    """A float as JSON can carry it: {"float": "inf"} for what JSON has no number for."""
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"}
    return value


def decode_number(value):
    """The reverse of encode_number; other values as they are."""
    return float(value["float"]) if isinstance(value, dict) and "float" in value else value


class Channel:
    """Blocking, one thread at a time."""

    def __init__(self, fd):
        # Away from the low numbers, where task code that closes or writes "some descriptor"
        # would hit it by mistake.
        import fcntl

        high = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 100)
        os.close(fd)
        self.socket = socket.socket(fileno=high)

    def receive(self):
        size, descriptors = HEADER.unpack(self._exactly(HEADER.size))
        if size > LARGEST_PAYLOAD or descriptors:
            raise Closed(f"malformed frame: {size} bytes, {descriptors} descriptors")
        return json.loads(self._exactly(size))

    def receive_with_descriptors(self):
        """A message and the descriptors that came with it, which the caller owns."""
        head, fds, _, _ = socket.recv_fds(self.socket, HEADER.size, MOST_DESCRIPTORS)
        if not head:
            raise Closed("the engine closed the channel")
        head += self._exactly(HEADER.size - len(head))
        size, descriptors = HEADER.unpack(head)
        if size > LARGEST_PAYLOAD or descriptors != len(fds):
            raise Closed(f"malformed frame: {size} bytes, {len(fds)} of {descriptors} descriptors")
        return json.loads(self._exactly(size)), list(fds)

    def send(self, body, fds=()):
        payload = json.dumps(body, allow_nan=False).encode()
        if len(payload) > LARGEST_PAYLOAD:
            raise WorkerError("request", "the task's description is larger than 64 MiB")
        if len(fds) > MOST_DESCRIPTORS:
            raise WorkerError(
                "request", f"the task has {len(fds)} input and output tensors; at most "
                f"{MOST_DESCRIPTORS} can be handed over")
        frame = memoryview(HEADER.pack(len(payload), len(fds)) + payload)
        sent = socket.send_fds(self.socket, [frame], fds) if fds else 0
        self.socket.sendall(frame[sent:])

    def _exactly(self, count):
        parts = bytearray()
        while len(parts) < count:
            part = self.socket.recv(count - len(parts))
            if not part:
                raise Closed("the engine closed the channel")
            parts += part
        return bytes(parts)
