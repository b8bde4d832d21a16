# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions of one tensor, element by element."""

from maker.operators.build import called, templated
from maker.spec import ANY, NON_NEGATIVE, POSITIVE, PROBABILITY, UNIT


def kept(domain):
    """Of x scaled by a positive number."""
    return UNIT if domain == PROBABILITY else domain


def grown(domain):
    """Of a function that is 0 at 0 and grows."""
    return {PROBABILITY: POSITIVE, UNIT: POSITIVE}.get(domain, domain)


def positive(domain):
    return POSITIVE


# name: kind, wanted domain, domain of the result (or a function of the domain), arguments with
# their choices. Aliases follow the name.
UNARY = {
    "abs absolute": ("abs", ANY, lambda domain: domain if domain in (POSITIVE, UNIT) else
                     NON_NEGATIVE, "", {}),
    "neg negative": ("negation", ANY, ANY, "", {}),
    "exp": ("exp", ANY, POSITIVE, "", {}),
    "exp2": ("exp2", ANY, POSITIVE, "", {}),
    "expm1": ("expm1", ANY, grown, "", {}),
    "log": ("log", POSITIVE, ANY, "", {}),
    "log2": ("log2", POSITIVE, ANY, "", {}),
    "log10": ("log10", POSITIVE, ANY, "", {}),
    "log1p": ("log1p", NON_NEGATIVE, grown, "", {}),
    "sqrt": ("sqrt", POSITIVE, kept, "", {}),
    "rsqrt": ("rsqrt", POSITIVE, positive, "", {}),
    "square": ("square", ANY, lambda domain: kept(domain) if domain != ANY else NON_NEGATIVE, "",
               {}),
    "reciprocal": ("reciprocal", POSITIVE, POSITIVE, "", {}),
    "sin": ("sin", ANY, ANY, "", {}),
    "cos": ("cos", ANY, ANY, "", {}),
    "tan": ("tan", UNIT, POSITIVE, "", {}),
    "sinh": ("sinh", ANY, grown, "", {}),
    "cosh": ("cosh", ANY, POSITIVE, "", {}),
    "asin arcsin": ("arcsine", UNIT, POSITIVE, "", {}),
    "acos arccos": ("arccosine", UNIT, POSITIVE, "", {}),
    "atan arctan": ("arctangent", ANY, grown, "", {}),
    "asinh arcsinh": ("inverse hyperbolic sine", ANY, grown, "", {}),
    "atanh arctanh": ("inverse hyperbolic tangent", UNIT, POSITIVE, "", {}),
    "erf": ("error function", ANY, kept, "", {}),
    "erfc": ("complementary error function", ANY, POSITIVE, "", {}),
    "erfinv": ("inverse error function", UNIT, POSITIVE, "", {}),
    "lgamma": ("log gamma", POSITIVE, ANY, "", {}),
    "digamma": ("digamma", POSITIVE, ANY, "", {}),
    "sinc": ("sinc", ANY, ANY, "", {}),
    "logit": ("logit", UNIT, ANY, "<eps>", {"eps": ("", "eps=1e-3")}),
    "i0": ("modified bessel function, order 0", ANY, POSITIVE, "", {}),
    "deg2rad": ("degrees to radians", ANY, ANY, "", {}),
    "rad2deg": ("radians to degrees", ANY, kept, "", {}),
    "sgn": ("sign", ANY, ANY, "", {}),
    "sign": ("sign", ANY, ANY, "", {}),
    "ceil": ("ceil", ANY, ANY, "", {}),
    "floor": ("floor", ANY, ANY, "", {}),
    "trunc fix": ("trunc", ANY, ANY, "", {}),
    "round": ("round", ANY, ANY, "<decimals>", {"decimals": ("", "decimals=1", "decimals=2")}),
    "frac": ("frac", ANY, ANY, "", {}),
    "clamp clip": ("clamp", ANY, ANY, "<bounds>",
                   {"bounds": ("min=-1.0, max=1.0", "min=0.1", "max=0.5", "min=-0.5, max=2.0")}),
    "clamp_min": ("clamp", ANY, ANY, "<bound>", {"bound": (-0.5, 0.1, 1e-2)}),
    "clamp_max": ("clamp", ANY, ANY, "<bound>", {"bound": (-0.1, 0.4, 0.5)}),
}

# Steps: their derivative vanishes, and their results jump with the last bit of what they are given.
STEPS = {"sign", "ceil", "floor", "trunc", "round"}
RARE = STEPS | {"frac", "digamma", "sinc", "degrees to radians", "radians to degrees",
                "inverse error function", "log gamma", "modified bessel function, order 0"}
OFTEN = {"exp": 2, "clamp": 2, "abs": 2, "sqrt": 2, "square": 2, "log": 1.5, "rsqrt": 1.5}


def operators():
    for names, (kind, wanted, result, arguments, options) in UNARY.items():
        for name in names.split():
            weight = OFTEN.get(kind, 0.3 if kind in RARE else 1)
            texts = called("torch." + name, arguments)
            if name == "neg":
                texts += ("-{x}",)
            yield templated("torch." + name, kind, "elementwise", texts, options, domain=result,
                            wanted=wanted, redundant=REDUNDANT.get(kind), weight=weight,
                            dtypes=DTYPES.get(kind, ("float32", "float16", "bfloat16")),
                            differentiable=kind not in STEPS)


REDUNDANT = {"abs": NON_NEGATIVE, "sign": POSITIVE, "trunc": UNIT, "floor": UNIT, "ceil": UNIT,
             "frac": UNIT}
DTYPES = {"round": ("float32",)}
