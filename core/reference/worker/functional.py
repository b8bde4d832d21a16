# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""A traced graph without operators that change tensors in place. Formulas of backward passes have
some (`grad.copy_(...)`, also into slices); graphs of tasks say what is computed, not where."""

import torch
from torch.fx.experimental.proxy_tensor import make_fx


def changes_in_place(traced):
    return any(isinstance(node.target, torch._ops.OpOverload) and node.target._schema.is_mutable
               for node in traced.graph.nodes)


class _Lifted(torch.fx.Interpreter):
    """Runs a graph with other tensors in the place of the module's own."""

    def __init__(self, module, attributes):
        super().__init__(module)
        self.attributes = attributes

    def get_attr(self, target, args, kwargs):
        return self.attributes[target]


def _forget_overwritten(graph, inputs):
    """Takes out that a tensor of the module ends with another value, where all of it is written
    before any of it is read: a later call's outputs do not depend on that either."""
    aten = torch.ops.aten
    for tensor in [node for node in graph.nodes if node.op == "placeholder"][inputs:]:
        users = list(tensor.users)
        end = [user for user in users if user.target is aten.copy_.default]
        if len(end) != 1 or any(
                user.target not in (aten.copy.default, aten.copy_.default) or user.args[0] is not tensor or
                user.args[1] is tensor or len(user.args) > 2 for user in users):
            continue
        graph.erase_node(end[0])
        for user in users:
            if user is end[0]:
                continue
            value = user.args[1].meta["val"]
            if (value.shape, value.dtype) == (tensor.meta["val"].shape, tensor.meta["val"].dtype):
                user.replace_all_uses_with(user.args[1])
                graph.erase_node(user)


def functional(traced, inputs, table):
    """The same graph, with the module's tensors as further placeholders after those of `inputs`,
    and these tensors."""
    names = list(dict.fromkeys(node.target for node in traced.graph.nodes if node.op == "get_attr"))
    tensors = [getattr(traced, name) for name in names]

    def forward(*values):
        attributes = dict(zip(names, values[len(inputs):]))
        return _Lifted(traced, attributes).run(*values[:len(inputs)])

    again = make_fx(torch.func.functionalize(forward, remove="mutations"),
                    decomposition_table=table, tracing_mode="fake",
                    _allow_non_fake_inputs=True)(*inputs, *tensors)
    again.graph.eliminate_dead_code()
    _forget_overwritten(again.graph, len(inputs))
    if changes_in_place(again):
        raise ValueError("forward() changes an input or a tensor of the model in place")
    return again, tensors
