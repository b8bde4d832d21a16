# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every text of the window is translated: lupdate, run on a copy of resources/i18n, finds nothing
new and nothing gone, no translation is unfinished, and each keeps the placeholders, the access
key, the ellipsis and the line breaks of its source. Each translation file is in the build, and
each language that the program names has one.

What lupdate cannot place counts as a problem too: such a text would be looked up under another
name than it is stored under, and stay English. Exit code 77 (skipped) without lupdate.
"""

import collections
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import xml.sax.saxutils

import common

FOLDER = "resources/i18n"
BUILD = "app/workbench/CMakeLists.txt"
SOURCES = ("widgets", "app/workbench")
PLACEHOLDER = re.compile(r"%(?:L?\d+|n)")
KEY = re.compile(r"&(\w)")
LANGUAGE = re.compile(r"Language of the window, such as ([^.\"]*)\.")
LOST = re.compile(r"Qualifying with unknown namespace|lacks Q_OBJECT|Class '.*' lacks|cannot|[Ee]rror")
# Forms of "%n things" in a language; others count as unknown.
FORMS = {"zh_CN": 1, "en": 2}
# Translations into these are made of plural forms only: the texts stand in the sources.
PLURAL_ONLY = ("en",)
SKIPPED = 77


def lupdate():
    for place in (os.environ.get("LUPDATE"), "/usr/lib/qt6/bin/lupdate", shutil.which("lupdate")):
        if place and os.access(place, os.X_OK):
            return place
    return None


def messages(path):
    """(context, source, comment) -> message of a .ts file."""
    found = {}
    for context in xml.etree.ElementTree.parse(path).getroot().iter("context"):
        for message in context.iter("message"):
            key = (context.findtext("name"), message.findtext("source"), message.findtext("comment"))
            found[key] = message
    return found


def counted(pattern, text):
    return collections.Counter(match.lower() for match in pattern.findall(text))


def faults(source, text, numerus):
    """What is wrong with one translation."""
    if not text or not text.strip():
        return ["is empty"]
    found = []
    wanted, there = counted(PLACEHOLDER, source), counted(PLACEHOLDER, text)
    # One form of "%n things" may say "one thing".
    if numerus:
        wanted.pop("%n", None)
        there.pop("%n", None)
    if wanted != there:
        found.append(f"has the placeholders {sorted(there)}, its source {sorted(wanted)}")
    if counted(KEY, re.sub(r"&\w+;", "", source)) != counted(KEY, re.sub(r"&\w+;", "", text)):
        found.append("has another access key (&) than its source")
    if ("…" in source) != ("…" in text) or "..." in text:
        found.append("has the ellipsis (…) where its source has none, or the other way round")
    if source.count("\n") != text.count("\n"):
        found.append("has other line breaks than its source")
    for side in ("lstrip", "rstrip"):
        # A space at an end holds a number off; a writing without spaces may leave the first out.
        if (getattr(text, side)() == text) != (getattr(source, side)() == source):
            found.append("begins or ends with a space, and its source does not, or the other way")
    return found


def problems_of_file(name, path, wanted):
    locale = pathlib.PurePath(name).stem.partition("_")[2]
    found, there = [], messages(path)
    for key in wanted.keys() - there.keys():
        found.append(f"{name}: '{key[1]}' of {key[0]} is missing: packaging/translate adds it")
    for key in there.keys() - wanted.keys():
        found.append(f"{name}: '{key[1]}' of {key[0]} is in no source: packaging/translate drops it")
    for key in there.keys() & wanted.keys():
        where = f"{name}: '{key[1]}' of {key[0]}"
        translation = there[key].find("translation")
        if translation is None or translation.get("type"):
            found.append(f"{where} is unfinished")
            continue
        numerus = there[key].get("numerus") == "yes"
        forms = [form.text for form in translation.iter("numerusform")] if numerus else []
        if numerus and len(forms) != FORMS.get(locale, len(forms)):
            found.append(f"{where} has {len(forms)} plural forms, {locale} has {FORMS[locale]}")
        for text in forms if numerus else [translation.text]:
            found += [f"{where} {fault}" for fault in faults(key[1], text, numerus)]
    return sorted(found)


def problems(root, files):
    names = [name for name in files if name.startswith(FOLDER + "/") and name.endswith(".ts")]
    found = []
    if not names:
        found.append(f"{FOLDER}: no translation")
    built = common.text(root, BUILD) if BUILD in files else ""
    for name in names:
        if pathlib.PurePath(name).name not in built:
            found.append(f"{name}: {BUILD} does not name it")
    for listed in re.findall(r"[\w-]+\.ts\b", built):
        if f"{FOLDER}/{listed}" not in files:
            found.append(f"{BUILD}: {listed} is not in {FOLDER}")
    for name in files:
        if name.startswith("app/workbench/") and common.is_cpp(name):
            for offered in LANGUAGE.findall(common.text(root, name)):
                for locale in re.split(r", | or ", offered):
                    if f"{FOLDER}/cuda-agent_{locale}.ts" not in names:
                        found.append(f"{name}: offers {locale}, which has no translation")
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            locale = pathlib.PurePath(name).stem.partition("_")[2]
            fresh = pathlib.Path(folder) / pathlib.PurePath(name).name
            plural = ["-pluralonly"] if locale in PLURAL_ONLY else []
            run = subprocess.run(
                [lupdate(), "-recursive", *(part for part in SOURCES if (root / part).is_dir())]
                + ["-I", ".", "-locations", "none", "-target-language", locale, *plural]
                + ["-ts", str(fresh)],
                cwd=root,
                env={**os.environ, "LC_ALL": "C"},
                capture_output=True,
                text=True,
            )
            said = (run.stdout + run.stderr).splitlines()
            lost = {line for line in said if re.search(r":\d+: ", line) and LOST.search(line)}
            found += sorted(f"lupdate: {line}" for line in lost - set(found))
            if run.returncode or not fresh.exists():
                found.append(f"lupdate failed: {run.stderr.strip()}")
                continue
            found += problems_of_file(name, root / name, messages(fresh))
    return list(dict.fromkeys(found))


def fixture(translation, source='tr("&Open %1…")', kind="", built="cuda-agent_zh_CN.ts", more=""):
    text = xml.sax.saxutils.escape(source[source.index('"') + 1 : source.rindex('"')])
    return {
        "widgets/a.h": "namespace a {\nclass A : public QObject {\n    Q_OBJECT\n};\n}\n",
        "widgets/a.cpp": f'#include "widgets/a.h"\nnamespace a {{\nvoid A::f() {{ {source}; {more} }}\n}}\n',
        "app/workbench/main.cpp": 'f("Language of the window, such as zh_CN.");\n',
        BUILD: f"set(translations {built})\n",
        CHINESE: '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE TS>\n'
        '<TS version="2.1" language="zh_CN"><context><name>a::A</name>'
        f"<message><source>{text}</source><translation{kind}>{translation}</translation></message>"
        "</context></TS>\n",
    }


CHINESE = f"{FOLDER}/cuda-agent_zh_CN.ts"
GOOD = "打开 %1(&amp;O)…"

if __name__ == "__main__":
    if not lupdate():
        print("skipped: lupdate is missing (apt-get install qt6-l10n-tools)")
        sys.exit(SKIPPED)
    orphan = fixture(GOOD)
    orphan["widgets/a.h"] = "\n"
    # Stored under the name that lupdate makes up, so that its warning is all there is to see.
    orphan[CHINESE] = orphan[CHINESE].replace("<name>a::A<", "<name>A<")
    offered = fixture(GOOD)
    offered["app/workbench/main.cpp"] = 'f("Language of the window, such as zh_CN or fr.");\n'
    common.main(
        problems,
        good={"whole": fixture(GOOD)},
        bad={
            "unfinished": fixture(GOOD, kind=' type="unfinished"'),
            "empty": fixture(""),
            "new text": fixture(GOOD, more='tr("New");'),
            "text that is gone": fixture(GOOD) | {"widgets/a.cpp": "\n"},
            "placeholder": fixture("打开(&amp;O)…"),
            "access key": fixture("打开 %1(&amp;P)…"),
            "ellipsis": fixture("打开 %1(&amp;O)"),
            "not in the build": fixture(GOOD, built=""),
            "class that lupdate does not find": orphan,
            "language without a translation": offered,
        },
    )
