# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Recurrent layers and their cells."""

from maker.operators.build import like, operator
from maker.spec import ANY, FLOATING, Step

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
MOST_STEPS = 1024


def timed(draw):
    return (draw.size(8, 128), draw.size(32, 512))


def states(draw):
    return (draw.size(256, 2048),)


def layer(name):
    def write(draw, value):
        hidden, layers = draw.size(32, 512), draw.weighted({1: 4, 2: 1, 3: 0.5})
        both, bias = draw.chance(0.25), draw.chance(0.8)
        relu, started = draw.chance(0.3), draw.chance(0.3)
        if not 8 <= value.shape[-1] <= 2048 or not 2 <= value.shape[1] <= MOST_STEPS:
            return None
        text = f"nn.{name}({value.shape[-1]}, {hidden}"
        text += f", num_layers={layers}" if layers > 1 else ""
        text += ", nonlinearity='relu'" if name == "RNN" and relu else ""
        text += ("" if bias else ", bias=False") + ", batch_first=True"
        text += ", bidirectional=True)" if both else ")"
        if started and name != "LSTM":
            state = like(value, "state", ANY, (layers * (1 + both), value.shape[0], hidden))
            return Step("{m}({x}, {state})[0]", text, (state,), name=name.lower())
        return Step("{m}({x})[0]", text, name=name.lower())

    return write


def cell(name):
    def write(draw, value):
        # Without a state from before, the weights of the state would do nothing.
        hidden, bias = draw.size(128, 2048), draw.chance(0.8)
        relu = draw.chance(0.3)
        if not 8 <= value.shape[-1] <= 8192:
            return None
        text = f"nn.{name}Cell({value.shape[-1]}, {hidden}{'' if bias else ', bias=False'}"
        text += ", nonlinearity='relu')" if name == "RNN" and relu else ")"
        shape = (value.shape[0], hidden)
        if name == "LSTM":
            extras = (like(value, "hidden", ANY, shape), like(value, "cell", ANY, shape))
            return Step("{m}({x}, ({hidden}, {cell}))[0]", text, extras, name="cell")
        return Step("{m}({x}, {hidden})", text, (like(value, "hidden", ANY, shape),), name="cell")

    return write


def cell_function(name, function):
    """The same with weights that come from outside."""
    gates = GATES[name]

    def write(draw, value):
        hidden, biased = draw.size(64, 1024), draw.chance(0.6)
        if not 8 <= value.shape[-1] <= 2048:
            return None
        shape = (value.shape[0], hidden)
        first = (like(value, "hidden", ANY, shape), like(value, "cell", ANY, shape))
        extras = first[:2 if name == "LSTM" else 1]
        extras += (like(value, "weight_ih", ANY, (gates * hidden, value.shape[-1])),
                   like(value, "weight_hh", ANY, (gates * hidden, hidden)))
        if biased:
            extras += (like(value, "bias_ih", ANY, (gates * hidden,)),
                       like(value, "bias_hh", ANY, (gates * hidden,)))
        state = "[{hidden}, {cell}]" if name == "LSTM" else "{hidden}"
        behind = ", {bias_ih}, {bias_hh}" if biased else ""
        return Step(f"torch.{function}({{x}}, {state}, {{weight_ih}}, {{weight_hh}}{behind})" +
                    ("[0]" if name == "LSTM" else ""), None, extras)

    return write


def operators():
    for name, kind in (("LSTM", "lstm"), ("GRU", "gru"), ("RNN", "rnn")):
        yield operator(f"torch.nn.{name}", kind, "recurrent", layer(name), timed, ranks=(3, 3),
                       weight=2)
        yield operator(f"torch.nn.{name}Cell", f"{kind} cell", "recurrent", cell(name), states,
                       ranks=(2, 2))
    for name, function, kind in (("LSTM", "lstm_cell", "lstm cell"),
                                 ("GRU", "gru_cell", "gru cell"),
                                 ("RNN", "rnn_tanh_cell", "rnn cell"),
                                 ("RNN", "rnn_relu_cell", "rnn cell")):
        yield operator(f"torch.{function}", kind, "recurrent", cell_function(name, function),
                       states, ranks=(2, 2), weight=0.4, dtypes=FLOATING)
