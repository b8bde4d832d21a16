# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A chat endpoint for tests, in a process of its own. The model's name says how it behaves, faults
included; what it was asked is kept and can be read back.

  chat_server.py [SCRIPT.json]

prints its port. POST /v1/chat/completions answers as chat endpoints do; GET /requests gives all
requests as JSON: [{"authorization", "body"}]. The model `script` answers with the entries of
SCRIPT.json one after the other: {"text", "calls": [[tool, arguments], ...]}; a text that starts with
"$file:" in arguments stands for that file's content.
"""

import http.server
import json
import os
import socket
import sys
import threading
import time

HELLO = {"text": "Hello there, this is an answer.", "calls": []}
KEY = "right-key"


def script_entries():
    if len(sys.argv) < 2:
        return []
    folder = os.path.dirname(os.path.abspath(sys.argv[1]))

    def filled(value):
        if isinstance(value, str) and value.startswith("$file:"):
            with open(os.path.join(folder, value[6:]), encoding="utf-8") as file:
                return file.read()
        if isinstance(value, dict):
            return {key: filled(item) for key, item in value.items()}
        if isinstance(value, list):
            return [filled(item) for item in value]
        return value

    with open(sys.argv[1], encoding="utf-8") as file:
        return filled(json.load(file))


class State:
    lock = threading.Lock()
    requests = []
    counts = {}
    script = []


def call_objects(calls):
    return [
        {
            "index": i,
            "id": f"call_{i}",
            "type": "function",
            "function": {
                "name": name,
                "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
            },
        }
        for i, (name, arguments) in enumerate(calls)
    ]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send_text(self, status, text, kind="application/json", headers=()):
        data = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def fail(self, status, message, code=None, headers=()):
        self.send_text(
            status, json.dumps({"error": {"message": message, "code": code}}), headers=headers
        )

    def do_GET(self):
        self.send_text(200, json.dumps(State.requests))

    # Answers

    def begin_stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True

    def event(self, data):
        text = data if isinstance(data, str) else json.dumps(data)
        self.wfile.write(f"data: {text}\n\n".encode())
        self.wfile.flush()

    def chunk(self, delta, finish=None, **more):
        self.event(
            {
                "object": "chat.completion.chunk",
                "model": "served-" + self.model,
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
                **more,
            }
        )

    def answer(self, entry, finish=None, pause=0.0):
        calls = call_objects(entry.get("calls", []))
        finish = finish or ("tool_calls" if calls else "stop")
        usage = {
            "prompt_tokens": self.length // 4,
            "completion_tokens": 25,
            "prompt_tokens_details": {"cached_tokens": 10},
        }
        if not self.body.get("stream") or self.model == "whole":
            message = {"role": "assistant", "content": entry.get("text"), "tool_calls": calls}
            choice = {"index": 0, "message": message, "finish_reason": finish}
            self.send_text(
                200,
                json.dumps({"model": "served-" + self.model, "choices": [choice], "usage": usage}),
            )
            return
        self.begin_stream()
        self.chunk({"role": "assistant", "content": ""})
        if entry.get("reasoning"):
            self.chunk({"reasoning_content": entry["reasoning"]})
        for word in (entry.get("text") or "").split(" "):
            self.chunk({"content": word + " "})
            if pause:
                time.sleep(pause)
        for call in calls:  # the name first, then the arguments in pieces
            text = call["function"]["arguments"]
            head = {**call, "function": {"name": call["function"]["name"], "arguments": ""}}
            self.chunk({"tool_calls": [head]})
            for i in range(0, len(text), 1000):
                piece = {"index": call["index"], "function": {"arguments": text[i : i + 1000]}}
                self.chunk({"tool_calls": [piece]})
        self.chunk({}, finish)
        if self.body.get("stream_options", {}).get("include_usage"):
            self.event({"choices": [], "usage": usage})
        self.event("[DONE]")

    def do_POST(self):
        self.length = int(self.headers.get("Content-Length", 0))
        raw = self.rfile.read(self.length)
        self.body = json.loads(raw)
        self.model = self.body.get("model", "")
        with State.lock:
            State.requests.append(
                {"authorization": self.headers.get("Authorization", ""), "body": self.body}
            )
            number = State.counts[self.model] = State.counts.get(self.model, 0) + 1
        if self.path != "/v1/chat/completions":
            return self.fail(404, f"no such path {self.path}")
        behave = getattr(self, "model_" + self.model.replace("-", "_"), None)
        if behave is None:
            return self.fail(404, f"the model '{self.model}' does not exist", "model_not_found")
        return behave(number)

    # Models that work

    def model_hello(self, _):
        self.answer(HELLO)

    model_whole = model_hello

    def model_slow(self, _):
        self.answer(HELLO, pause=0.25)

    def model_thinks(self, _):
        self.answer({"text": "Done.", "reasoning": "First I think."})

    def model_ready(self, _):
        self.answer({"text": "", "calls": [["hello", {"word": "ready"}]]})

    def model_parallel(self, _):
        self.answer({"text": "Two at once.", "calls": [["Read", {"file_path": "model.py"}]] * 2})

    def model_script(self, number):
        if number > len(State.script):
            return self.answer({"text": "I am done.", "calls": []})
        return self.answer(State.script[number - 1])

    # Models with faults

    def model_echo_key(self, _):
        self.answer({"text": "Your key is " + self.headers.get("Authorization", "")[7:]})

    def model_locked(self, _):
        given = self.headers.get("Authorization", "")[7:]
        if given != KEY:
            return self.fail(401, f"Incorrect API key provided: {given}.")
        return self.answer(HELLO)

    def model_busy_twice(self, number):
        if number <= 2:
            return self.fail(429, "Rate limit reached", headers=[("Retry-After", "0.2")])
        return self.answer(HELLO)

    def model_always_busy(self, _):
        self.fail(429, "Rate limit reached", headers=[("Retry-After-Ms", "20")])

    def model_broken_once(self, number):
        if number == 1:
            return self.fail(503, "overloaded")
        return self.answer(HELLO)

    def model_web_page(self, _):
        self.send_text(200, "<html><body>Welcome</body></html>", "text/html; charset=utf-8")

    def model_web_page_missing(self, _):
        self.send_text(404, "<html><body>Nothing</body></html>", "text/html")

    def model_half_once(self, number):
        if number > 1:
            return self.answer(HELLO)
        self.begin_stream()
        self.chunk({"content": "Hello "})
        return None

    def model_half_always(self, _):
        self.begin_stream()
        self.chunk({"content": "Hello "})

    def model_reset(self, number):
        if number > 1:
            return self.answer(HELLO)
        self.begin_stream()
        self.chunk({"content": "Hello "})
        self.connection.setsockopt(
            socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0"
        )  # close() resets
        self.connection.close()
        return None

    def model_no_json_once(self, number):
        if number == 1:
            return self.send_text(200, "{this is no JSON")
        return self.answer(HELLO)

    def model_bad_chunk_once(self, number):
        if number > 1:
            return self.answer(HELLO)
        self.begin_stream()
        self.chunk({"content": "Hel"})
        self.event("{broken")
        self.event("[DONE]")
        return None

    def model_error_in_stream_once(self, number):
        if number > 1:
            return self.answer(HELLO)
        self.begin_stream()
        self.event({"error": {"message": "the worker died"}})
        return None

    def model_empty_always(self, _):
        self.answer({"text": "", "calls": []})

    def model_silent(self, _):
        time.sleep(30)

    def model_goes_silent(self, _):
        self.begin_stream()
        self.chunk({"content": "Hello "})
        time.sleep(30)

    def model_no_stream_options(self, _):
        if "stream_options" in self.body:
            return self.fail(400, "Unknown parameter: 'stream_options'")
        return self.answer(HELLO)

    def model_small_context(self, _):
        if self.length > 20_000:
            return self.fail(
                400, "This model's maximum context length is 5000 tokens.", "context_length_exceeded"
            )
        return self.answer(HELLO)

    def model_elsewhere(self, _):
        self.send_text(302, "", headers=[("Location", "http://127.0.0.1:1/v1")])

    def model_refused_request(self, _):
        self.fail(400, "temperature must be 1 for this model")

    def model_megabytes(self, _):
        self.begin_stream()
        try:
            for _ in range(170):
                self.chunk({"content": "x" * 65536})
            self.chunk({}, "stop")
            self.event("[DONE]")
        except OSError:
            pass  # the client has seen enough

    def model_unknown_tool(self, number):
        if number > 2:
            return self.answer({"text": "I give up."})
        return self.answer({"text": "", "calls": [["Paint", {"colour": "blue"}]]})

    def model_malformed(self, _):
        self.answer({"text": "", "calls": [["Read", '{"file_path": "mod']]})

    def model_cut(self, _):
        self.answer({"text": "", "calls": [["Write", '{"file_path": "a.cu", "content": "xx']]}, "length")

    def model_same_call(self, _):
        self.answer({"text": "Again.", "calls": [["Read", {"file_path": "model.py"}]]})

    def model_words_only(self, _):
        self.answer({"text": "I would write a kernel."})

    def model_refuses(self, _):
        self.answer({"text": ""}, "content_filter")


if __name__ == "__main__":
    State.script = script_entries()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    print(server.server_port, flush=True)
    server.serve_forever()
