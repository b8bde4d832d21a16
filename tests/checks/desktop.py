# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The desktop entry, the AppStream description and the MIME type are valid and fit together."""

import configparser
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree

import common

MIME = "{http://www.freedesktop.org/standards/shared-mime-info}"


def run(root, *command):
    """Lines of complaint of a validator; none where it is not installed."""
    if not shutil.which(command[0]):
        print(f"{command[0]} is not installed: its part is left out")
        return []
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    return [] if done.returncode == 0 else (done.stdout + done.stderr).strip().splitlines()


def icons(root):
    return {path.stem for path in (root / "resources/icons").glob("*.svg")}


def problems(root, files):
    found = []
    offered, wanted = set(), set()
    for name in (file for file in files if file.startswith("packaging/")):
        if name.endswith(".desktop"):
            found += run(root, "desktop-file-validate", name)
            parser = configparser.ConfigParser(interpolation=None)
            parser.optionxform = str
            parser.read_string(common.text(root, name))
            entry = parser["Desktop Entry"]
            wanted |= {t for t in entry.get("MimeType", "").split(";") if "cuda-agent" in t}
            if entry.get("Icon") not in icons(root):
                found.append(f"{name}: resources/icons has no {entry.get('Icon')}.svg")
        elif name.endswith(".xml"):
            try:
                tree = ElementTree.fromstring(common.text(root, name))
            except ElementTree.ParseError as error:
                found.append(f"{name}: {error}")
                continue
            if name.endswith(".metainfo.xml"):
                found += run(root, "appstreamcli", "validate", "--no-net", name)
                entry = tree.findtext("launchable")
                if f"packaging/{entry}" not in files:
                    found.append(f"{name}: launches {entry}, which is not there")
            offered |= {kind.get("type") for kind in tree.iter(f"{MIME}mime-type")}
    return found + [f"MIME type {kind} is described nowhere" for kind in wanted - offered]


ENTRY = """[Desktop Entry]
Type=Application
Name=A
Exec=a %F
Icon=a
Categories=Development;
"""
TYPE = """<mime-info xmlns="http://www.freedesktop.org/standards/shared-mime-info">
<mime-type type="application/x-cuda-agent-session"><glob pattern="*.a"/></mime-type></mime-info>
"""
GOOD = {
    "packaging/a.desktop": ENTRY + "MimeType=application/x-cuda-agent-session;\n",
    "packaging/mime.xml": TYPE,
    "resources/icons/a.svg": "<svg/>\n",
}

if __name__ == "__main__":
    bad = {
        "no icon": {"packaging/a.desktop": ENTRY},
        "type": {key: text for key, text in GOOD.items() if key != "packaging/mime.xml"},
        "not XML": {"packaging/mime.xml": "<mime-info>\n"},
        "launches nothing": {
            "packaging/a.metainfo.xml": "<component><launchable>b.desktop</launchable></component>"
        },
    }
    if shutil.which("desktop-file-validate"):
        bad["not an entry"] = GOOD | {"packaging/a.desktop": ENTRY.replace("Type=Application", "")}
    common.main(problems, good={"whole": GOOD}, bad=bad)
