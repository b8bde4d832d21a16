# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Spares torch.export what takes it half of its time and changes no graph.

`run_decompositions()` overrides each of PyTorch's thousand composite operators, key by key, with
the decomposition that the dispatcher gives them anyway, and takes all of that back afterwards; to
know them it lists the dispatcher's operators once for every namespace, several times a program.
"""

import contextlib
import functools

import torch


@contextlib.contextmanager
def left_alone():
    """Within, those composite operators alone are overridden that have a formula of their own or
    are to stay whole. Not for several threads at once. A PyTorch of other insides does as ever."""
    try:
        from torch.export import decomp_utils, exported_program as exported

        override = exported._override_composite_implicit_decomp
        places = [(module, module._collect_all_valid_cia_ops)
                  for module in (exported, decomp_utils)]
    except (ImportError, AttributeError):
        yield
        return

    def narrow(callables):  # the dispatcher's own decompositions come as partial applications
        return override({op: function for op, function in callables.items()
                         if not isinstance(function, functools.partial)})

    exported._override_composite_implicit_decomp = narrow
    for module, collect in places:
        module._collect_all_valid_cia_ops = functools.partial(composites, collect)
    try:
        yield
    finally:
        exported._override_composite_implicit_decomp = override
        for module, collect in places:
            module._collect_all_valid_cia_ops = collect


def known():
    """Has them listed for processes that are forked off, each of which would list them else."""
    try:
        from torch.export import decomp_utils

        composites(decomp_utils._collect_all_valid_cia_ops)
    except (ImportError, AttributeError):
        pass  # a PyTorch of other insides


def composites(collect):
    """All composite operators, listed again when a library has registered more. A set of its own
    for each caller: some take from it."""
    registered = torch._C._dispatch_get_registrations_for_dispatch_key("CompositeImplicitAutograd")
    return set(listed(collect, len(registered), len(torch.ops._dir)))


@functools.lru_cache(maxsize=1)
def listed(collect, _registered, _namespaces):
    return frozenset(collect())
