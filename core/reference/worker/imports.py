# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Imports of large parts of PyTorch without Python's garbage collector."""

import contextlib
import gc
import importlib


@contextlib.contextmanager
def uncollected():
    """While so many lasting objects appear the collector would walk over them again and again and
    find nothing, in a fifth of the time. Later ones leave out what is there at the end."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


def import_ahead(*names):
    """Imports modules before their first use, which tells what is wrong with those that cannot be
    imported, or does without them."""
    with uncollected():
        for name in names:
            with contextlib.suppress(Exception):
                importlib.import_module(name)
