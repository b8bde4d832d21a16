# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The tokenizer against the library `tokenizers`: the same vocabulary and merges from the same text, the
same ids for every line, with either's file. usage: huggingface_test.py TOKENIZER_LINES"""

import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unicodedata
import unittest

os.environ["TOKENIZERS_PARALLELISM"] = "false"

from tokenizers import AddedToken, Regex, Tokenizer
from tokenizers.decoders import ByteLevel as ByteLevelDecoder
from tokenizers.models import BPE
from tokenizers.normalizers import NFC
from tokenizers.pre_tokenizers import ByteLevel, Sequence, Split
from tokenizers.processors import ByteLevel as ByteLevelProcessor
from tokenizers.trainers import BpeTrainer

ROOT = pathlib.Path(__file__).resolve().parents[4]
PATTERN = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
           r"|\s*[\r\n]+|\s+(?!\S)|\s+")
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
PROGRAM = sys.argv.pop(1) if len(sys.argv) > 1 and __name__ == "__main__" else None


def repository_texts():
    """Sources, tests, documents and the codes of a task set, a file or task each."""
    names = subprocess.run(["git", "-C", ROOT, "ls-files"], capture_output=True, text=True)
    files = [ROOT / name for name in names.stdout.splitlines()]
    if not files:  # an unpacked archive
        files = [file for top in ("core", "tests", "widgets", "skills")
                 for file in (ROOT / top).rglob("*")]
    texts = []
    for file in sorted(files):
        if file.suffix in (".h", ".cpp", ".cu", ".py", ".md", ".txt", ".json") and file.is_file():
            try:
                texts.append(file.read_bytes().decode())
            except UnicodeDecodeError:
                pass  # a fixture that is broken on purpose
    with gzip.open(ROOT / "training/data/tasks-h200/set.jsonl.gz", "rt") as stream:
        texts += [json.loads(line)["code"] for line in stream]
    return texts


def unicode_lines(count, seed=20):
    """Lines of what text is seldom made of, in any mixture."""
    pick = random.Random(seed)
    letters = [chr(code) for span in ((0x41, 0x5B), (0x61, 0x7B), (0xC0, 0x180), (0x370, 0x400),
                                      (0x400, 0x460), (0x1E00, 0x1F00)) for code in range(*span)]
    marks = [chr(code) for span in ((0x300, 0x370), (0x483, 0x488), (0x591, 0x5BE), (0x64B, 0x660),
                                    (0x1AB0, 0x1ABF), (0x20D0, 0x20F1), (0x3099, 0x309B))
             for code in range(*span)]
    kinds = {
        "letters": letters,
        "marks": marks,
        "cjk": [chr(code) for code in (*range(0x4E00, 0x4F00), *range(0x3040, 0x3100), *range(
            0xAC00, 0xAD00), *range(0x1100, 0x1200), *range(0xF900, 0xFA00), 0x20000, 0x2F800)],
        "emoji": ["😀", "👩‍👩‍👧", "🇩🇪", "👍🏽", "❤️", "☺", "\u200d", "\ufe0f", "🏴\U000e0067"],
        "right to left": [chr(code) for span in ((0x5D0, 0x5EB), (0x620, 0x64B), (0x200E, 0x2010),
                                                 (0x202A, 0x202F)) for code in range(*span)],
        "controls": [chr(code) for code in (*range(0, 9), *range(14, 32), *range(0x7F, 0xA0))],
        "spaces": [chr(code) for code in (9, 10, 11, 12, 13, 32, 32, 32, 0x85, 0xA0, 0x1680, 0x180E,
                                          *range(0x2000, 0x200C), 0x2028, 0x2029, 0x202F, 0x205F,
                                          0x3000, 0xFEFF)] + ["\r\n", "\n\n", "    ", "\t\t"],
        "digits": list("0123456789") + ["१", "٣", "Ⅷ", "½", "²", "𝟘", "๑"],
        "signs": list("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~§©«°±µ¶»¿×÷€™←∑√∞≈≤") + ["->", "::", "<|"],
        "apostrophes": ["'s", "'S", "'ſ", "'t", "'T", "'re", "'RE", "'Ve", "'m", "'ll", "'lL", "'d",
                        "’s", "'"],
        "added": SPECIAL + ["<think>", "</think>", "<|im_", "é<L>", "<R>", "<both>", "Å<N>"],
        "any": [chr(code) for code in pick.sample(range(0x250, 0x2FFFF), 3000)
                if not 0xD800 <= code < 0xE000],
    }
    names = list(kinds)
    lines = []
    for _ in range(count):
        some = pick.sample(names, pick.randint(1, 4))
        lines.append("".join(
            "".join(pick.choices(kinds[pick.choice(some)], k=pick.randint(1, 5)))
            for _ in range(pick.randint(1, 12))))
    return lines


def all_characters():
    """Every code point up to the last letter and of the tags, in places where its class matters, some a
    line. What is left out is not assigned or private."""
    for first in (*range(0, 0x32400, 32), *range(0xE0000, 0xE0200, 32)):
        if not 0xD800 <= first < 0xE000:
            yield "|".join(f"a{c}b {c} '{c}1{c}\n{c}" for c in map(chr, range(first, first + 32)))


def qwen3_like(normalizer=None):
    tokenizer = Tokenizer(BPE(continuing_subword_prefix="", end_of_word_suffix=""))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = Sequence([
        Split(Regex(PATTERN), behavior="isolated", invert=False),
        ByteLevel(add_prefix_space=False, use_regex=False, trim_offsets=False)])
    tokenizer.decoder = ByteLevelDecoder(add_prefix_space=False, trim_offsets=False, use_regex=False)
    tokenizer.post_processor = ByteLevelProcessor(add_prefix_space=False, trim_offsets=False,
                                                  use_regex=False)
    return tokenizer


def trained(texts, size, special=(), min_frequency=0, normalizer=None):
    tokenizer = qwen3_like(normalizer)
    tokenizer.train_from_iterator(texts, BpeTrainer(
        vocab_size=size, min_frequency=min_frequency, special_tokens=list(special),
        initial_alphabet=ByteLevel.alphabet(), show_progress=False))
    return tokenizer


def ours(*arguments, lines=()):
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True,
                          input="".join(json.dumps(line) + "\n" for line in lines))
    if done.returncode:
        raise AssertionError(f"{arguments}: {done.stderr}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def tokens(file):
    model = json.loads(pathlib.Path(file).read_text())["model"]
    return model["vocab"], [tuple(merge) for merge in model["merges"]]


class AgainstTokenizers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = pathlib.Path(cls.folder.name)
        cls.texts = repository_texts()
        cls.lines = [line for text in cls.texts for line in text.splitlines(keepends=True)]
        pick = random.Random(1)
        cls.lines = pick.sample(cls.lines, min(len(cls.lines), 30000)) + unicode_lines(6000)
        cls.texts = pick.sample(cls.texts, min(len(cls.texts), 700)) + unicode_lines(500, seed=21)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def assert_same_ids(self, theirs, file, lines, *options):
        got = ours("encode", file, *options, lines=lines)
        self.assertEqual(len(got), len(lines))
        wrong = []
        disordered = 0
        for line, (ids, text), encoded in zip(
                lines, got, theirs.encode_batch(lines, add_special_tokens=False)):
            if theirs.normalizer and (theirs.normalizer.normalize_str(line)
                                      != unicodedata.normalize("NFC", line)):
                # Theirs has the marks of Unicode 9 and leaves younger ones in another order.
                disordered += 1
            elif ids != encoded.ids:
                wrong.append((line, [theirs.id_to_token(i) for i in ids], encoded.tokens))
            if theirs.normalizer is None:
                self.assertEqual(bytes.fromhex(text).decode(), line)
        self.assertEqual(wrong[:5], [], f"{len(wrong)} of {len(lines)}")
        self.assertLess(disordered, len(lines) / 1000)

    def test_same_training(self):
        for size, special, least in ((4096, SPECIAL, 0), (1500, [], 3), (100000, SPECIAL, 40)):
            with self.subTest(size=size, least=least):
                file = self.path / f"trained-{size}.json"
                ours("train", file, size, least, *special, lines=self.texts)
                theirs = trained(self.texts, size, special, least)
                theirs.save(str(self.path / "theirs.json"))
                vocabulary, merges = tokens(file)
                their_vocabulary, their_merges = tokens(self.path / "theirs.json")
                self.assertEqual(merges, their_merges)
                self.assertEqual(vocabulary, their_vocabulary)
                self.assertGreater(len(merges), 1000)

    def test_same_ids_with_our_file(self):
        self.assertGreater(len(self.lines), 10000)
        file = self.path / "ours.json"
        ours("train", file, 4096, 0, *SPECIAL, lines=self.texts)
        theirs = Tokenizer.from_file(str(file))
        self.assert_same_ids(theirs, file, self.lines)
        # `encode_special_tokens` is theirs for special tokens in text from outside.
        theirs.encode_special_tokens = True
        self.assert_same_ids(theirs, file, self.lines, "--as-text")

    def test_same_ids_with_a_file_like_that_of_qwen3(self):
        theirs = trained(self.texts, 3000, normalizer=NFC())
        theirs.add_special_tokens([AddedToken(each, special=True, normalized=False)
                                   for each in SPECIAL])
        theirs.add_tokens([
            AddedToken("<think>", special=False, normalized=False),
            AddedToken("</think>", special=False, normalized=False),
            AddedToken("<L>", special=True, normalized=False, lstrip=True),
            AddedToken("<R>", special=False, normalized=False, rstrip=True),
            AddedToken("<both>", special=False, normalized=True, lstrip=True, rstrip=True),
            AddedToken("A\u030a<N>", special=False, normalized=True),
            AddedToken("return", special=False, normalized=True),
        ])
        file = self.path / "qwen3.json"
        theirs.save(str(file))
        self.assert_same_ids(theirs, file, self.lines)
        again = self.path / "copy.json"
        ours("copy", file, again)
        self.assertEqual(json.loads(Tokenizer.from_file(str(again)).to_str()),
                         json.loads(theirs.to_str()) | {"model": json.loads(again.read_text())["model"]})
        self.assertEqual(tokens(again), tokens(file))

    def test_every_character(self):
        file = self.path / "characters.json"
        theirs = trained(self.texts, 1500)
        theirs.save(str(file))
        self.assert_same_ids(theirs, file, list(all_characters()))


if __name__ == "__main__":
    unittest.main()
