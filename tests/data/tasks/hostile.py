# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A task that attacks its judge, selected with --set attack=..."""
import os
import socket
import time

import torch
from torch import nn

attack = "none"
secret = ""


def channel_descriptors():
    for name in os.listdir("/proc/self/fd"):
        try:
            if os.readlink(f"/proc/self/fd/{name}").startswith("socket:"):
                yield int(name)
        except OSError:
            pass


class Model(nn.Module):
    def forward(self, x):
        if attack == "socket":
            # Nothing listens there on the host either; what matters is the kind of refusal.
            socket.create_connection(("192.0.2.1", 80), timeout=5)
        elif attack == "secret":
            with open(secret) as file:
                raise RuntimeError("read " + file.read())
        elif attack == "fork bomb":
            while True:
                try:
                    if os.fork() == 0:
                        while True:
                            os.fork()
                except OSError:
                    time.sleep(1)
        elif attack == "garbage":
            for descriptor in channel_descriptors():
                os.write(descriptor, b"\xff" * 4096)
            time.sleep(60)
        elif attack == "forged answer":
            body = b'{"description": {"name": 7}}'
            for descriptor in channel_descriptors():
                os.write(descriptor, len(body).to_bytes(4, "little") + bytes(4) + body)
            time.sleep(60)
        elif attack == "close":
            for descriptor in list(channel_descriptors()):
                os.close(descriptor)
            time.sleep(60)
        elif attack == "write task":
            with open(__file__, "w") as file:
                file.write("print('mine now')")
        return x + 1


def get_inputs():
    return [torch.rand(4)]


def get_init_inputs():
    return []
