# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Functions of two or three tensors, element by element, with broadcasting."""

from maker.operators.build import broadcast, called, operator
from maker.spec import ANY, NON_NEGATIVE, POSITIVE, UNIT, Step, within

# name: kind, wanted domain, domain of the other input, texts besides those of the name,
# differentiable, weight.
BINARY = {
    "add": ("addition", ANY, ANY, ("{x} + {other}",), True, 4),
    "sub": ("subtraction", ANY, ANY, ("{x} - {other}", "{other} - {x}"), True, 2),
    "subtract": ("subtraction", ANY, ANY, (), True, 0.2),
    "rsub": ("subtraction", ANY, ANY, ("torch.rsub({x}, {other}, alpha=0.5)",), True, 0.2),
    "mul": ("multiplication", ANY, ANY, ("{x} * {other}",), True, 4),
    "multiply": ("multiplication", ANY, ANY, (), True, 0.2),
    "div": ("division", ANY, POSITIVE, ("{x} / {other}",), True, 2),
    "divide": ("division", ANY, POSITIVE, (), True, 0.2),
    "true_divide": ("division", ANY, POSITIVE, (), True, 0.2),
    "floor_divide": ("floored division", ANY, POSITIVE, ("{x} // {other}",), False, 0.1),
    "remainder": ("remainder", ANY, POSITIVE, ("{x} % {other}",), False, 0.1),
    "fmod": ("fmod", ANY, POSITIVE, (), False, 0.1),
    "pow": ("power", ANY, ANY, ("{x} ** {other}",), True, 1),
    "maximum": ("maximum", ANY, ANY, (), True, 1.5),
    "minimum": ("minimum", ANY, ANY, (), True, 1.5),
    "fmax": ("maximum", ANY, ANY, (), True, 0.3),
    "fmin": ("minimum", ANY, ANY, (), True, 0.3),
    "atan2": ("arctangent of two", ANY, ANY, (), True, 0.5),
    "arctan2": ("arctangent of two", ANY, ANY, (), True, 0.2),
    "hypot": ("hypotenuse", ANY, ANY, (), True, 0.5),
    "logaddexp": ("log of a sum of exponentials", ANY, ANY, (), True, 0.7),
    "logaddexp2": ("log of a sum of exponentials, base 2", ANY, ANY, (), True, 0.4),
    "copysign": ("copysign", ANY, ANY, (), True, 0.4),
    "xlogy": ("x log(y)", ANY, POSITIVE, (), True, 0.5),
}
HALF_LESS = {"floor_divide", "remainder", "fmod"}  # jump where 16-bit numbers are next to a step

SCALARS = {
    "add": ("{x} + <scalar>", (0.5, 1.0, 2.0)),
    "sub": ("{x} - <scalar>", (0.5, 1.0)),
    "mul": ("{x} * <scalar>", (0.5, 2.0, 0.125, -1.5)),
    "div": ("{x} / <scalar>", (2.0, 3.0, 8.0)),
    "pow": ("{x} ** <scalar>", (2, 2, 3)),
}


def write_binary(name, other_domain, texts):
    def write(draw, value):
        other = broadcast(draw, value, "other", other_domain)
        text = draw.choice(texts)
        scalar, number = draw.chance(0.25), draw.choice(SCALARS.get(name, ("", (0,)))[1])
        # Only powers of positive numbers are defined for every exponent.
        if name in SCALARS and (scalar or name == "pow" and not within(value.domain, POSITIVE)):
            return Step(SCALARS[name][0].replace("<scalar>", str(number)), domain=scaled(
                name, value.domain, number))
        return Step(text, None, (other,), two(name, value.domain, other_domain))

    return write


def scaled(name, domain, number):
    if name == "sub" or number < 0 or not within(domain, NON_NEGATIVE):
        return NON_NEGATIVE if name == "pow" and number % 2 == 0 else ANY
    return POSITIVE if within(domain, POSITIVE) else NON_NEGATIVE


def two(name, domain, other):
    """The domain of a result."""
    if name in ("pow",):
        return POSITIVE
    if name == "hypot":
        return NON_NEGATIVE
    if name in ("div", "divide", "true_divide") and within(domain, NON_NEGATIVE):
        return POSITIVE if within(domain, POSITIVE) else NON_NEGATIVE
    if name in ("maximum", "fmax") and within(domain, NON_NEGATIVE):
        return POSITIVE if within(domain, POSITIVE) else NON_NEGATIVE
    return ANY


def lerp(draw, value):
    end = broadcast(draw, value, "end", ANY, 6)
    weight = broadcast(draw, value, "weight", UNIT, 1)
    number = draw.choice((0.1, 0.25, 0.9))
    if draw.chance(0.5):
        return Step(f"torch.lerp({{x}}, {{end}}, {number})", None, (end,))
    return Step("torch.lerp({x}, {end}, {weight})", None, (end, weight))


def three(function, third):
    def write(draw, value):
        first = broadcast(draw, value, "first", ANY, 4)
        second = broadcast(draw, value, "second", third, 1)
        number = draw.choice(("", ", value=0.5", ", value=2.0", ", value=-0.1"))
        method = draw.chance(0.3)
        start = f"{{x}}.{function}(" if method else f"torch.{function}({{x}}, "
        return Step(f"{start}{{first}}, {{second}}{number})", None, (first, second))

    return write


def ldexp(draw, value):
    other = broadcast(draw, value, "exponent", ANY, 0.5)
    return Step("torch.ldexp({x}, {exponent})", None, (other,))


def operators():
    for name, (kind, wanted, other, texts, differentiable, weight) in BINARY.items():
        named = called("torch." + name, "{other}")
        yield operator("torch." + name, kind, "binary",
                       write_binary(name, other, named + tuple(texts) * 2), wanted=wanted,
                       differentiable=differentiable, weight=weight,
                       dtypes=("float32",) if name in HALF_LESS else
                       ("float32", "float16", "bfloat16"))
    yield operator("torch.lerp", "linear interpolation of two", "binary", lerp)
    yield operator("torch.addcmul", "addcmul", "binary", three("addcmul", ANY))
    yield operator("torch.addcdiv", "addcdiv", "binary", three("addcdiv", POSITIVE))
    yield operator("torch.ldexp", "ldexp", "binary", ldexp, weight=0.1)
