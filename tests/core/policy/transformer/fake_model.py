# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A model's process without a model: fake_model.py MODE --weights FOLDER --device DEVICE ...

Speaks the protocol of core/learn/serve/README.md. What it is told goes to FOLDER/heard.jsonl; how it
answers depends on MODE. Its weights have the hash that FOLDER/sha256 holds, if there is one."""

import json
import os
import pathlib
import select
import socket
import struct
import sys
import time

MODE = sys.argv[1]
FOLDER = pathlib.Path(sys.argv[sys.argv.index("--weights") + 1])
CHANNEL = socket.socket(fileno=3)


def send(body):
    text = json.dumps(body).encode()
    CHANNEL.sendall(struct.pack("<II", len(text), 0) + text)


def exactly(count):
    data = b""
    while len(data) < count:
        part = CHANNEL.recv(count - len(data))
        if not part:
            sys.exit(0)  # the engine is done
        data += part
    return data


def receive():
    size, _ = struct.unpack("<II", exactly(8))
    body = json.loads(exactly(size))
    with open(FOLDER / "heard.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps(body) + "\n")
    return body


def answer(request):
    """The text of the last segment and the seed."""
    text = request["segments"][-1]["text"]
    send({"id": request["id"], "ok": True, "text": f"{text} by {request['seed']}<|im_end|>", "end": "turn",
          "read": 10, "written": 5})


def die(request):
    print("the first line\n\n  what went \x1b[31mwrong", file=sys.stderr, flush=True)
    os.kill(os.getpid(), 9)


def garbage(request):
    CHANNEL.sendall(b"hello, this is no frame of anything")
    time.sleep(60)


def no_object(request):
    CHANNEL.sendall(struct.pack("<II", 2, 0) + b"[]")


def nonsense(request):
    send({"id": "one"})
    send({"ok": True})
    send({"id": 99999, "ok": True})
    send({"id": request["id"], "ok": True, "text": 7})


pending = []


def backwards(request):
    """Answers each two in the other order."""
    pending.append(request)
    if len(pending) == 2:
        while pending:
            answer(pending.pop())


def patient(request):
    """Answers what says so; the rest waits until it is cancelled."""
    if request["segments"][-1]["text"] == "quick":
        answer(request)


def stream(request):
    """Says a few pieces, some of them none, and then the turn."""
    assert request["stream"] is True
    for piece in ("<think>\nha", "lf a word", 7, "", " \u20ac"):
        send({"id": request["id"], "piece": piece})
        time.sleep(0.05)
    send({"id": 99999, "piece": "nobody's"})
    answer(request)


def chatter(request):
    """Says words until it is told to be quiet."""
    while not select.select([CHANNEL], [], [], 0.01)[0]:
        send({"id": request["id"], "piece": "word "})


WRITE = {"stream": stream, "chatter": chatter, "die": die, "garbage": garbage, "no-object": no_object, "nonsense": nonsense, "backwards": backwards,
         "patient": patient}.get(MODE, answer)

if MODE == "refuse":
    send({"error": {"kind": "request", "message": "these weights are no good"}})
    sys.exit(2)
if MODE == "no-libraries":
    print("cuda-agent-learn: error while loading shared libraries: libtorch_cpu.so: cannot open shared object file",
          file=sys.stderr)
    sys.exit(127)
if MODE == "no-facts":
    send({"ready": {"name": "fake"}})
hash_file = FOLDER / "sha256"
send({"ready": {"name": "fake", "sha256": hash_file.read_text() if hash_file.exists() else "ab" * 32, "device": "cpu",
                "index": 0, "parameters": 1234, "context": 256, "vocabulary": 50, "rows": 2, "program": "0.1"}})
opened = 0
while True:
    message = receive()
    if message["op"] == "open" and MODE == "slow-open":
        time.sleep(0.3)
    if message["op"] == "open":
        opened += 1
        send({"id": message["id"], "ok": True, "conversation": opened})
    elif message["op"] == "write":
        WRITE(message)
    elif message["op"] == "cancel":
        send({"id": message["id"], "error": {"kind": "stopped", "message": "cancelled"}})
