# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Activations, as functions and as modules."""

from maker.operators.build import (any_shape, called, images, like, operator, sequences, spelled,
                                   templated, wide_dim)
from maker.spec import ANY, NON_NEGATIVE, POSITIVE, PROBABILITY, UNIT, Step

F = "torch.nn.functional."

# kind: functions, module, arguments and their choices, domain of the result, domain on which it
# changes nothing.
POINTWISE = {
    "relu": ((F + "relu", "torch.relu"), "ReLU", "", {}, NON_NEGATIVE, NON_NEGATIVE),
    "relu6": ((F + "relu6",), "ReLU6", "", {}, NON_NEGATIVE, UNIT),
    "elu": ((F + "elu",), "ELU", "alpha=<alpha>", {"alpha": (0.5, 1.0, 1.5)}, ANY, NON_NEGATIVE),
    "selu": ((F + "selu", "torch.selu"), "SELU", "", {}, ANY, None),
    "celu": ((F + "celu", "torch.celu"), "CELU", "alpha=<alpha>", {"alpha": (0.5, 1.0, 2.0)}, ANY,
             NON_NEGATIVE),
    "gelu": ((F + "gelu",), "GELU", "<approximate>",
             {"approximate": ("", "approximate='tanh'")}, ANY, None),
    "silu": ((F + "silu",), "SiLU", "", {}, ANY, None),
    "mish": ((F + "mish",), "Mish", "", {}, ANY, None),
    "softplus": ((F + "softplus",), "Softplus", "<beta>",
                 {"beta": ("", "beta=2.0", "beta=0.5, threshold=10.0")}, POSITIVE, None),
    "softsign": ((F + "softsign",), "Softsign", "", {}, ANY, None),
    "hardtanh": ((F + "hardtanh",), "Hardtanh", "<bounds>",
                 {"bounds": ("", "min_val=-0.5, max_val=0.5", "min_val=-2.0, max_val=1.0")}, ANY,
                 None),
    "hardswish": ((F + "hardswish",), "Hardswish", "", {}, ANY, None),
    "hardsigmoid": ((F + "hardsigmoid",), "Hardsigmoid", "", {}, NON_NEGATIVE, None),
    "hardshrink": ((F + "hardshrink",), "Hardshrink", "lambd=<lambda>",
                   {"lambda": (0.25, 0.5, 1.0)}, ANY, None),
    "softshrink": ((F + "softshrink",), "Softshrink", "lambd=<lambda>",
                   {"lambda": (0.25, 0.5, 1.0)}, ANY, None),
    "tanhshrink": ((F + "tanhshrink",), "Tanhshrink", "", {}, ANY, None),
    "leaky relu": ((F + "leaky_relu",), "LeakyReLU", "negative_slope=<slope>",
                   {"slope": (0.01, 0.1, 0.2, 0.3)}, ANY, NON_NEGATIVE),
    "log sigmoid": ((F + "logsigmoid",), "LogSigmoid", "", {}, ANY, None),
    "threshold": ((F + "threshold", "torch.threshold"), "Threshold",
                  "threshold=<threshold>, value=<value>",
                  {"threshold": (0.1, 0.5, -0.5), "value": (0.0, 0.25, -1.0)}, ANY, None),
    "sigmoid": (("torch.sigmoid", "torch.special.expit"), "Sigmoid", "", {}, UNIT, None),
    "tanh": (("torch.tanh",), "Tanh", "", {}, ANY, None),
}

WEIGHTS = {"relu": 4, "gelu": 4, "silu": 3, "sigmoid": 3, "tanh": 3, "softplus": 1.5,
           "leaky relu": 2}

# kind: functions, module, domain of the result along the last dimension and along another one.
ALONG = {
    "softmax": ((F + "softmax", "torch.softmax", "torch.special.softmax"), "Softmax", PROBABILITY,
                UNIT),
    "log softmax": ((F + "log_softmax", "torch.log_softmax", "torch.special.log_softmax"),
                    "LogSoftmax", ANY, ANY),
    "softmin": ((F + "softmin",), "Softmin", PROBABILITY, UNIT),
}


def pointwise():
    for kind, (functions, module, arguments, options, result, redundant) in POINTWISE.items():
        weight = WEIGHTS.get(kind, 1)
        common = {"domain": result, "redundant": redundant, "weight": weight}
        for name in functions:
            texts = called(name, arguments)
            if name in (F + "relu", F + "gelu"):
                texts = texts[:1]
            yield templated(name, kind, "activation", texts, options, **common)
        yield templated(f"torch.nn.{module}", kind, "activation", "{m}({x})", options,
                        module=f"nn.{module}({arguments})", attribute="act", **common)


def along():
    for kind, (functions, module, last, other) in ALONG.items():
        for name in functions:
            for_function = "softmax" if kind == "softmax" else kind
            yield operator(name, kind, "activation", write_along(called(name, "dim=<dim>"), None,
                                                                 last, other),
                           short_rows, ranks=(2, 5), weight=2 if for_function == "softmax" else 1)
        yield operator(f"torch.nn.{module}", kind, "activation",
                       write_along(("{m}({x})",), f"nn.{module}(dim=<dim>)", last, other),
                       short_rows, ranks=(2, 5))


def short_rows(draw):
    """Softmax over a very long dimension leaves numbers too small to compare."""
    return draw.weighted({(draw.size(256, 8192),): 2, sequences(draw): 3, images(draw): 2})


def write_along(texts, module, last, other):
    def write(draw, value):
        dim = wide_dim(draw, value)
        if dim is None or value.shape[dim] > 32768:
            return None
        text = draw.choice(texts)
        number = str(spelled(draw, value, dim))
        return Step(text.replace("<dim>", number), module and module.replace("<dim>", number), (),
                    last if dim == value.rank - 1 else other, name="softmax")

    return write


def write_glu(text, module):
    def write(draw, value):
        dims = [dim for dim in range(1, value.rank) if value.shape[dim] % 2 == 0]
        if not dims:
            return None
        dim = spelled(draw, value, draw.weighted({dims[-1]: 3, dims[0]: 1}))
        return Step(text.replace("<dim>", str(dim)), module and module.replace("<dim>", str(dim)),
                    (), ANY, name="glu")

    return write


def even_sequences(draw):
    length, width = sequences(draw)
    return (length, width + width % 2)


def slopes(draw, value):
    return like(value, "weight", UNIT, value.shape[1:2] if draw.chance(0.7) else (1,))


def prelu_module(draw, value):
    count = value.shape[1] if draw.chance(0.7) else 1
    return Step("{m}({x})", f"nn.PReLU({count})" if count > 1 else "nn.PReLU()", name="act")


def operators():
    yield from pointwise()
    yield from along()
    yield operator("torch.nn.Softmax2d", "softmax", "activation",
                   lambda draw, value: Step("{m}({x})", "nn.Softmax2d()", (), UNIT, name="softmax")
                   if value.shape[1] > 1 else None, images, ranks=(4, 4))
    yield operator(F + "glu", "glu", "activation", write_glu("F.glu({x}, dim=<dim>)", None),
                   even_sequences, ranks=(2, 5), weight=2)
    yield operator("torch.nn.GLU", "glu", "activation", write_glu("{m}({x})", "nn.GLU(dim=<dim>)"),
                   even_sequences, ranks=(2, 5))
    yield templated(F + "prelu", "prelu", "activation", "F.prelu({x}, {weight})", {}, any_shape,
                    extras=(slopes,), ranks=(2, 5), redundant=NON_NEGATIVE)
    yield operator("torch.nn.PReLU", "prelu", "activation", prelu_module, any_shape, ranks=(2, 5),
                   redundant=NON_NEGATIVE)
