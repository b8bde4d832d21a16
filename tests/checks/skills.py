# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Skills follow the Agent Skills format, stay short, link to what is there, and every worked
candidate has its task and kernels whose head tells usage and versions.

The engine's own reader (core/skills) parses them too, in its tests; this check needs no build and
asks for more: short bodies, a description that says when, the licence of this repository.
"""

import json
import re

import common

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
FIELD = re.compile(r"([a-z-]+): (\S.*)")
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)")
MAX_LINES = 500
MAX_BYTES = 20_000  # about 5000 tokens, what a skill may cost when it is read
WHEN = re.compile(r"\b(when|before|whenever|at the start)\b", re.IGNORECASE)


def head_problems(folder, text):
    lines = text.split("\n")
    if lines[0] != "---" or "---" not in lines[1:]:
        return ["no front matter between two lines '---'"]
    end = lines.index("---", 1)
    fields, found = {}, []
    for line in lines[1:end]:
        match = FIELD.fullmatch(line)
        if not match:
            found.append(f"front matter: '{line}' is no 'field: text' on one line")
        elif match[1] in fields:
            found.append(f"front matter: {match[1]} stands there twice")
        else:
            fields[match[1]] = match[2]
            if re.search(r": | #", match[2]) or match[2][0] in "\"'[{>|*&!%@`":
                found.append(f"front matter: {match[1]} is not plain text to YAML")
    name, description = fields.get("name", ""), fields.get("description", "")
    if not NAME.fullmatch(name) or len(name) > 64:
        found.append(f"name '{name}': lower-case letters, digits, single hyphens, at most 64")
    elif name != folder:
        found.append(f"name '{name}' is not the folder's")
    if not 1 <= len(description) <= 1024:
        found.append(f"description has {len(description)} characters, 1 to 1024 are allowed")
    elif not WHEN.search(description):
        found.append("description does not say when to use the skill")
    if fields.get("license") != "GPL-3.0-or-later":
        found.append("license is not GPL-3.0-or-later")
    if set(fields) - {"name", "description", "license", "compatibility", "metadata"}:
        found.append(f"front matter has unknown fields: {sorted(fields)}")
    if len(lines) > MAX_LINES or len(text.encode()) > MAX_BYTES:
        found.append(f"longer than {MAX_LINES} lines or {MAX_BYTES} bytes: move parts to references/")
    return found


def link_problems(root, skill, name):
    found = []
    for target in LINK.findall(common.text(root, name)):
        path = ((root / name).parent / target).resolve()
        if not path.is_relative_to((root / "skills" / skill).resolve()):
            # An agent reads files below the skill's folder only.
            found.append(f"{name}: link to {target}, which is not below the skill's folder")
        elif not path.is_file():
            found.append(f"{name}: link to {target}, which is no file")
    return found


def candidate_problems(root, folder, files):
    """`folder` is skills/<skill>/candidates/<example>."""
    own = [name[len(folder) + 1 :] for name in files if name.startswith(folder + "/")]
    found = []
    if "task.py" not in own:
        found.append(f"{folder}: has no task.py")
    else:
        task = common.text(root, f"{folder}/task.py")
        for needed in ("class Model(", "def get_inputs(", "def get_init_inputs("):
            if needed not in task:
                found.append(f"{folder}/task.py: has no '{needed}'")
    kernels = {name for name in own if name.startswith("kernels/") and name.endswith(".cu")}
    if not kernels:
        found.append(f"{folder}: has no kernels/*.cu")
    for name in sorted(kernels):
        head = common.text(root, f"{folder}/{name}").split("\n#")[0]
        for needed in ("// Usage:", "// Version 1:"):
            if needed not in head:
                found.append(f"{folder}/{name}: its head has no '{needed}'")
    if "plan.json" in own:
        try:
            plan = json.loads(common.text(root, f"{folder}/plan.json"))
            used = {step["source"] for step in plan["steps"] if step["kind"] == "kernel"}
        except (ValueError, KeyError, TypeError) as error:
            return found + [f"{folder}/plan.json: {error!r}"]
        for name in sorted(used ^ kernels):
            found.append(f"{folder}: {name} is named by the plan or there, not both")
    elif "model_new.py" not in own:
        found.append(f"{folder}: has neither plan.json nor model_new.py")
    return found


def problems(root, files):
    files = [name for name in files if name.startswith("skills/")]
    skills = sorted({name.split("/")[1] for name in files if name.count("/") >= 2})
    found = []
    for skill in skills:
        own = [name for name in files if name.startswith(f"skills/{skill}/")]
        main = f"skills/{skill}/SKILL.md"
        if main not in own:
            found.append(f"skills/{skill}: has no SKILL.md")
            continue
        found += [f"{main}: {line}" for line in head_problems(skill, common.text(root, main))]
        texts = [name for name in own if name.endswith(".md")]
        for name in texts:
            found += link_problems(root, skill, name)
        read = "".join(common.text(root, name) for name in texts)
        for name in texts:
            if name != main and name[len(f"skills/{skill}/") :] not in read:
                found.append(f"{name}: no text of the skill names it, so nobody will read it")
        for folder in sorted({"/".join(n.split("/")[:4]) for n in own if "/candidates/" in n}):
            found += candidate_problems(root, folder, own)
            if "/".join(folder.split("/")[2:]) not in read:
                found.append(f"{folder}: no text of the skill names it")
    return found


HEAD = "---\nname: a\ndescription: Does this. Read it when that.\nlicense: GPL-3.0-or-later\n---\n"
KERNEL = "// Usage: grid 1\n// Version 1: plain\n#define A\n"
TASK = "class Model(nn.Module):\n    pass\ndef get_inputs():\n    pass\ndef get_init_inputs():\n    pass\n"
PLAN = json.dumps({"steps": [{"kind": "fill"}, {"kind": "kernel", "source": "kernels/k.cu"}]})
AT = "skills/a/candidates/e/"


def skill(text=HEAD + "Text.\n", **changes):
    return {"skills/a/SKILL.md": text, **changes}


def worked(changes=(), without=()):
    files = {AT + "task.py": TASK, AT + "plan.json": PLAN, AT + "kernels/k.cu": KERNEL}
    files |= {AT + name: text for name, text in dict(changes).items()}
    return skill(HEAD + "See candidates/e.\n", **{n: t for n, t in files.items() if n not in
                                                {AT + name for name in without}})


if __name__ == "__main__":
    common.main(
        problems,
        good={
            "least": skill(),
            "reference": skill(HEAD + "[r](references/r.md)\n", **{"skills/a/references/r.md": "R\n"}),
            "worked": worked(),
            "module": worked({"model_new.py": "x = 1\n"}, ["plan.json"]),
            "other folder": {"core/a.md": "no skill\n"},
        },
        bad={
            "no SKILL.md": {"skills/a/notes.md": "x\n"},
            "no head": skill("Text.\n"),
            "other name": skill(HEAD.replace("name: a", "name: b")),
            "capitals": {"skills/A/SKILL.md": HEAD.replace("name: a", "name: A")},
            "no description": skill(HEAD.replace("description", "compatibility")),
            "says not when": skill(HEAD.replace("when", "as")),
            "long description": skill(HEAD.replace("this", "x" * 1100)),
            "other licence": skill(HEAD.replace("GPL-3.0-or-later", "MIT")),
            "colon": skill(HEAD.replace("this.", "this: that.")),
            "unknown field": skill(HEAD.replace("license", "version: 1\nlicense")),
            "long": skill(HEAD + "line\n" * 500),
            "large": skill(HEAD + "x" * 21000),
            "dead link": skill(HEAD + "[r](references/r.md)\n"),
            "link out": skill(HEAD + "[r](../b.md)\n", **{"skills/b.md": "R\n"}),
            "unread reference": skill(**{"skills/a/references/r.md": "R\n"}),
            "unnamed example": skill(**{k: v for k, v in worked().items() if "candidates" in k}),
            "no task": worked(without=["task.py"]),
            "half a task": worked({"task.py": "class Model(nn.Module): pass\n"}),
            "no kernel": worked(without=["kernels/k.cu"]),
            "kernel without head": worked({"kernels/k.cu": "int a;\n"}),
            "unused kernel": worked({"kernels/j.cu": KERNEL}),
            "no plan": worked(without=["plan.json"]),
            "broken plan": worked({"plan.json": "{"}),
        },
    )
