# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A model's process as the engine speaks to it, and as one that means it ill: usage serve_test.py CUDA_AGENT_LEARN"""

import hashlib
import json
import os
import pathlib
import random
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import unittest

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "cli"))
import tiny_policy

LEARN = sys.argv.pop()
PROMPT = "const float x1 = in2[i + 3] * 4f;\n<|im_start|>assistant\n"
ENDLESS = 100_000  # tokens: the context ends it


class Server:
    def __init__(self, weights, *more):
        self.socket, other = socket.socketpair()
        self.socket.settimeout(100)
        command = [LEARN, "serve", "--weights", str(weights), "--device", "cpu", "--threads", "1", "--channel",
                   str(other.fileno()), *map(str, more)]
        self.process = subprocess.Popen(command, pass_fds=(other.fileno(),), stderr=subprocess.PIPE, text=True)
        other.close()
        self.last = 0
        self.early = {}

    def send(self, body):
        text = json.dumps(body).encode()
        self.socket.sendall(struct.pack("<II", len(text), 0) + text)

    def exactly(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise EOFError
            data += part
        return data

    def receive(self):
        size, descriptors = struct.unpack("<II", self.exactly(8))
        assert descriptors == 0
        return json.loads(self.exactly(size))

    def ask(self, op, **fields):
        self.last += 1
        self.send({"id": self.last, "op": op, **fields})
        return self.last

    def answer(self, number):
        while number not in self.early:
            body = self.receive()
            self.early[body.get("id")] = body
        return self.early.pop(number)

    def open(self, **fields):
        return self.answer(self.ask("open", **fields))["conversation"]

    def write(self, conversation, text, seed=1, **fields):
        return self.ask("write", conversation=conversation, seed=seed, segments=[{"by": "context", "text": text}],
                        **fields)

    def end(self):
        """Exit code and what it said."""
        self.socket.close()
        said = self.process.communicate(timeout=30)[1]
        return self.process.returncode, said


class ServeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.weights = tiny_policy.train(LEARN, pathlib.Path(cls.folder.name) / "tiny", context=512)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def start(self, *more, weights=None):
        server = Server(weights or self.weights, *more)
        self.addCleanup(server.process.wait)
        self.addCleanup(server.process.kill)
        self.addCleanup(server.process.stderr.close)
        self.addCleanup(server.socket.close)
        self.ready = server.receive()
        return server

    def test_it_tells_what_it_is(self):
        server = self.start("--rows", 3)
        facts = self.ready["ready"]
        model = AutoModelForCausalLM.from_pretrained(self.weights)
        self.assertEqual(facts["parameters"], sum(p.numel() for p in model.parameters()))
        self.assertEqual(facts["sha256"], hashlib.sha256((self.weights / "model.safetensors").read_bytes()).hexdigest())
        self.assertEqual((facts["context"], facts["vocabulary"], facts["rows"], facts["device"], facts["name"]),
                         (512, model.config.vocab_size, 3, "cpu", "step-2"))
        self.assertEqual(server.end(), (0, ""))

    def test_the_likeliest_tokens_are_those_of_transformers(self):
        server = self.start()
        model = AutoModelForCausalLM.from_pretrained(self.weights, dtype=torch.float32)
        tokenizer = AutoTokenizer.from_pretrained(self.weights)
        end = tokenizer.convert_tokens_to_ids("<|im_end|>")
        ids = [tokenizer.convert_tokens_to_ids("<|endoftext|>")]
        conversation = server.open(temperature=0, longest_turn=40)
        for text in (PROMPT, "<|im_end|>\nmore of it\n<|im_start|>assistant\n"):
            answer = server.answer(server.write(conversation, text))
            read = tokenizer.encode(text, add_special_tokens=False)
            self.assertEqual(answer["read"], len(read) + (len(ids) == 1))
            ids += read
            written = []
            while len(written) < 40 and end not in written:
                with torch.no_grad():
                    written.append(model(torch.tensor([ids + written])).logits[0, -1].argmax().item())
            ids += written
            self.assertEqual(answer["written"], len(written))
            self.assertEqual(answer["end"], "turn" if written[-1] == end else "length")
            self.assertEqual(answer["text"],
                             tokenizer.decode(written, clean_up_tokenization_spaces=False))

    def test_turns_depart_where_another_token_nearly_came(self):
        server = self.start("--grammar")
        first = server.answer(server.write(server.open(temperature=0, longest_turn=60), PROMPT))
        places = [alternative[0] for alternative in first["alternatives"]]
        self.assertTrue(places)
        self.assertLess(max(places), len(first["tokens"]))
        costs = [alternative[2] for alternative in first["alternatives"]]
        self.assertEqual(costs, sorted(costs))
        end = first["tokens"][-1]
        place, token, _, offset, _ = next(one for one in first["alternatives"] if one[1] != end)
        begin = first["tokens"][:place] + [token]
        conversation = server.open(temperature=0, longest_turn=60)
        other = server.answer(server.write(conversation, PROMPT, begin=begin))
        self.assertEqual(other["tokens"][:place + 1], begin)
        self.assertEqual(other["text"].encode()[:offset], first["text"].encode()[:offset])
        self.assertNotEqual(other["text"], first["text"])
        self.assertEqual(other["written"], len(other["tokens"]) - len(begin))
        self.assertEqual(other["read"], first["read"])
        drawn = server.answer(server.write(server.open(temperature=1, longest_turn=60), PROMPT))
        self.assertNotIn("tokens", drawn)
        refused = server.open(temperature=0, longest_turn=60)
        for wrong in ([end], [1 << 20], "x", [-1]):
            answer = server.answer(server.write(refused, PROMPT, begin=wrong))
            self.assertEqual(answer["error"]["kind"], "request", wrong)
        self.assertEqual(server.answer(server.write(refused, PROMPT))["text"], first["text"])
        self.assertEqual(server.end()[0], 0)

    def test_with_a_grammar_turns_end_in_time(self):
        server = self.start("--grammar")
        for temperature in (0, 1):
            conversation = server.open(temperature=temperature, longest_turn=30)
            for seed in range(4):
                answer = server.answer(server.write(conversation, PROMPT if seed == 0 else "go on\n", seed=seed))
                self.assertEqual(answer["end"], "turn")
                self.assertLessEqual(answer["written"], 30)
                self.assertTrue(answer["text"].endswith("<|im_end|>"))
                self.assertEqual(answer["text"].count("<tool_call>"), answer["text"].count("</tool_call>"))
        # Asked for by a conversation, or not: beside each other.
        free = server.answer(server.write(server.open(temperature=1, longest_turn=30, grammar=False), PROMPT))
        self.assertEqual(free["end"], "length")
        self.assertEqual(server.end()[0], 0)

    def test_turns_depend_on_nobody_else(self):
        server = self.start("--temperature", 1)
        alone = server.answer(server.write(server.open(longest_turn=60), PROMPT, seed=7))
        many = [server.open(longest_turn=60) for _ in range(3)]
        requests = [server.write(conversation, PROMPT, seed) for conversation, seed in zip(many, (7, 8, 7))]
        answers = [server.answer(request)["text"] for request in reversed(requests)]
        self.assertEqual(answers[0], alone["text"])
        self.assertEqual(answers[2], alone["text"])
        self.assertNotEqual(answers[1], alone["text"])

    def test_turns_are_heard_while_they_are_written(self):
        weights = tiny_policy.train(LEARN, pathlib.Path(self.folder.name) / "long", context=4096)
        server = self.start(weights=weights)
        text = "const float x1 = in2[i + 3] * 4f;\nif (i >= rows - 2)" * 3
        heard, answers = {}, {}
        requests = [server.write(server.open(longest_turn=ENDLESS), text + "x" * i, stream=stream)
                    for i, stream in enumerate((True, False, True))]
        while len(answers) < 3:
            body = server.receive()
            self.assertNotIn(body["id"], answers, "an answer is the last of its request")
            if "piece" in body:
                heard.setdefault(body["id"], []).append(body["piece"])
            else:
                answers[body["id"]] = body
        self.assertEqual(sorted(heard), [requests[0], requests[2]], "who asks for them")
        for request, pieces in heard.items():
            self.assertGreater(len(pieces), 1)
            self.assertTrue(all(pieces))
            self.assertTrue(answers[request]["text"].startswith("".join(pieces)))
        # The same turn unheard is the same turn; hearing goes on with a conversation's next turn.
        conversation = server.open(longest_turn=1500)
        alone = server.answer(server.write(conversation, text))
        request = server.write(conversation, "<|im_end|>\n", stream=True)
        second, parts = server.receive(), []
        while "piece" in second:
            parts.append(second["piece"])
            second = server.receive()
        self.assertTrue(alone["text"].startswith("".join(heard[requests[0]])[:200]))
        self.assertTrue(second["text"].startswith("".join(parts)))
        self.assertEqual(second["id"], request)

    def test_what_does_not_fit_is_said(self):
        server = self.start()
        conversation = server.open(longest_turn=ENDLESS)
        answer = server.answer(server.write(conversation, PROMPT))
        if answer["end"] == "full":
            self.assertEqual(answer["read"] + answer["written"], 512)
        answer = server.answer(server.write(server.open(), "x = y + z;\n" * 600))
        self.assertEqual((answer["end"], answer["written"], answer["text"]), ("full", 0, ""))

    def test_wrong_requests_are_answered(self):
        server = self.start()
        conversation = server.open()
        for body, words in (({"op": "dance"}, "op must be"), ({}, "op must be"), ({"op": 7}, "op must be"),
                            ({"op": "write", "conversation": 99, "seed": 1, "segments": [{"by": "context", "text": "a"}]},
                             "no conversation 99"),
                            ({"op": "write", "conversation": "one"}, "conversation must"),
                            ({"op": "write", "conversation": conversation, "segments": [{"by": "context", "text": "a"}]},
                             "seed must"),
                            ({"op": "write", "conversation": conversation, "seed": 1, "segments": []}, "segments must"),
                            ({"op": "write", "conversation": conversation, "seed": 1, "segments": [{"by": "me"}]},
                             "a segment needs"),
                            ({"op": "write", "conversation": conversation, "seed": 1, "stream": 1,
                              "segments": [{"by": "context", "text": "a"}]}, "stream must"),
                            ({"op": "open", "temperature": -1}, "temperature must"),
                            ({"op": "open", "grammar": 1}, "grammar must"),
                            ({"op": "close", "conversation": 99}, "no conversation 99"),
                            ({"op": "open", "longest_turn": 0.5}, "longest_turn must")):
            server.last += 1
            server.send({"id": server.last, **body})
            answer = server.answer(server.last)
            self.assertEqual(answer["error"]["kind"], "request", body)
            self.assertIn(words, answer["error"]["message"])
        for body in ({"op": "write"}, {"op": "open", "id": "x"}, {"op": "close"}):
            server.send(body)
            self.assertIn("must be a whole number", server.receive()["error"]["message"])
        # An empty text and a text of everything are texts.
        for text in ("", "\u0000\ud7ff\u20ac<|im_end|>"):
            self.assertIn(server.answer(server.write(conversation, PROMPT + text))["ok"], (True,))
        self.assertEqual(server.end()[0], 0)

    def test_random_messages_end_nothing(self):
        server = self.start()
        draw = random.Random(4)
        values = [None, True, -1, 0, 1, 2, 2 ** 63, 2 ** 64 - 1, 1e308, "", "open", "write", "cancel", "close", [], {},
                  [{"by": "context", "text": "a"}], [[[]]]]

        def talk():
            for _ in range(400):
                names = draw.sample(["id", "op", "conversation", "seed", "segments", "temperature", "top_p",
                                     "longest_turn", "stream", "grammar"], draw.randint(0, 9))
                server.send({name: draw.choice(values) for name in names})
            server.send({"id": 4711, "op": "dance"})

        talker = threading.Thread(target=talk)  # while its answers are read
        talker.start()
        while (answer := server.receive()).get("id") != 4711:
            pass
        talker.join()
        self.assertIn("error", answer)
        self.assertEqual(server.end()[0], 0)

    def test_one_turn_at_a_time(self):
        server = self.start()
        conversation = server.open(longest_turn=300, temperature=1)
        first, second = server.write(conversation, PROMPT), server.write(conversation, PROMPT)
        self.assertIn("is being written", server.answer(second)["error"]["message"])
        self.assertTrue(server.answer(first)["ok"])

    def test_requests_can_be_cancelled(self):
        server = self.start("--rows", 1, "--temperature", 1)
        conversation = server.open(longest_turn=ENDLESS)
        writing, waiting = server.write(conversation, PROMPT), server.ask("open")
        for request in (waiting, writing):
            server.send({"op": "cancel", "id": request})
        self.assertEqual(server.answer(waiting)["error"]["kind"], "stopped")
        self.assertIn(server.answer(writing).get("error", {"kind": "stopped"})["kind"], ("stopped",))
        # Its row is free once it is closed, and closing ends what is written, too.
        waiting = server.ask("open", longest_turn=ENDLESS)
        server.send({"op": "close", "conversation": conversation})
        conversation = server.answer(waiting)["conversation"]
        writing = server.write(conversation, PROMPT)
        server.send({"op": "close", "conversation": conversation})
        server.answer(writing)
        self.assertTrue(server.answer(server.write(server.open(longest_turn=5), PROMPT))["ok"])

    def test_it_ends_with_its_input(self):
        server = self.start("--temperature", 1)
        for _ in range(3):
            server.write(server.open(longest_turn=ENDLESS), PROMPT)
        self.assertEqual(server.end(), (0, ""))

    def test_what_is_no_frame_ends_it(self):
        for garbage in (b"GET / HTTP/1.1\r\n\r\n", struct.pack("<II", 2, 0) + b"[]", struct.pack("<II", 3, 0) + b"{{{"):
            server = self.start()
            server.socket.sendall(garbage)
            self.assertEqual(server.receive()["error"]["kind"], "request")
            code, said = server.end()
            self.assertEqual(code, 2)
            self.assertIn("not the protocol", said)

    def test_weights_that_are_none(self):
        server = self.start(weights=pathlib.Path(self.folder.name))
        self.assertEqual(self.ready["error"]["kind"], "request")
        self.assertIn("config.json is missing", self.ready["error"]["message"])
        self.assertEqual(server.end()[0], 2)
        alone = subprocess.run([LEARN, "serve", "--weights", self.weights], stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, timeout=60, close_fds=True, check=False)
        self.assertEqual(alone.returncode, 2)
        self.assertIn("cuda-agent starts this program", alone.stderr)


if __name__ == "__main__":
    unittest.main()
