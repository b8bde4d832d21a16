# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""torch.special. Softmax and log-softmax of it are in activation.py, logsumexp in reduction.py."""

from maker.operators.build import FLOAT32, broadcast, templated
from maker.spec import ANY, FLOATING, NON_NEGATIVE, POSITIVE, UNIT

# name: kind, wanted domain, domain of the result, differentiable.
UNARY = {
    "airy_ai": ("airy function", ANY, ANY, False),
    "bessel_j0": ("bessel function of the first kind, order 0", ANY, ANY, False),
    "bessel_j1": ("bessel function of the first kind, order 1", ANY, ANY, False),
    "bessel_y0": ("bessel function of the second kind, order 0", POSITIVE, ANY, False),
    "bessel_y1": ("bessel function of the second kind, order 1", POSITIVE, ANY, False),
    "modified_bessel_i0": ("modified bessel function, order 0", ANY, POSITIVE, False),
    "modified_bessel_i1": ("modified bessel function, order 1", ANY, ANY, False),
    "modified_bessel_k0": ("modified bessel function of the second kind, order 0", POSITIVE,
                           POSITIVE, False),
    "modified_bessel_k1": ("modified bessel function of the second kind, order 1", POSITIVE,
                           POSITIVE, False),
    "scaled_modified_bessel_k0": ("scaled modified bessel function of the second kind, order 0",
                                  POSITIVE, POSITIVE, False),
    "scaled_modified_bessel_k1": ("scaled modified bessel function of the second kind, order 1",
                                  POSITIVE, POSITIVE, False),
    "spherical_bessel_j0": ("spherical bessel function of the first kind, order 0", POSITIVE,
                            ANY, False),
    "i0": ("modified bessel function, order 0", ANY, POSITIVE, True),
    "i0e": ("scaled modified bessel function, order 0", ANY, POSITIVE, True),
    "i1": ("modified bessel function, order 1", ANY, ANY, True),
    "i1e": ("scaled modified bessel function, order 1", ANY, ANY, True),
    "entr": ("entropy of elements", POSITIVE, ANY, True),
    "erf": ("error function", ANY, ANY, True),
    "erfc": ("complementary error function", ANY, POSITIVE, True),
    "erfcx": ("scaled complementary error function", NON_NEGATIVE, POSITIVE, True),
    "erfinv": ("inverse error function", UNIT, POSITIVE, True),
    "exp2": ("exp2", ANY, POSITIVE, True),
    "expm1": ("expm1", ANY, ANY, True),
    "digamma": ("digamma", POSITIVE, ANY, True),
    "psi": ("digamma", POSITIVE, ANY, True),
    "gammaln": ("log gamma", POSITIVE, ANY, True),
    "log1p": ("log1p", NON_NEGATIVE, NON_NEGATIVE, True),
    "log_ndtr": ("log of the normal distribution", ANY, ANY, True),
    "ndtr": ("normal distribution", ANY, UNIT, True),
    "ndtri": ("inverse normal distribution", UNIT, ANY, True),
    "logit": ("logit", UNIT, ANY, True),
    "sinc": ("sinc", ANY, ANY, True),
}
# Written for 16-bit types on every device, too.
HALVES = {"erf", "erfc", "exp2", "expm1", "log1p", "logit", "sinc"}

POLYNOMIALS = {
    "chebyshev_polynomial_t": "chebyshev polynomial of the first kind",
    "chebyshev_polynomial_u": "chebyshev polynomial of the second kind",
    "chebyshev_polynomial_v": "chebyshev polynomial of the third kind",
    "chebyshev_polynomial_w": "chebyshev polynomial of the fourth kind",
    "shifted_chebyshev_polynomial_t": "shifted chebyshev polynomial of the first kind",
    "shifted_chebyshev_polynomial_u": "shifted chebyshev polynomial of the second kind",
    "shifted_chebyshev_polynomial_v": "shifted chebyshev polynomial of the third kind",
    "shifted_chebyshev_polynomial_w": "shifted chebyshev polynomial of the fourth kind",
    "hermite_polynomial_h": "hermite polynomial",
    "hermite_polynomial_he": "probabilist's hermite polynomial",
    "laguerre_polynomial_l": "laguerre polynomial",
    "legendre_polynomial_p": "legendre polynomial",
}

# name: kind, wanted domain, domain of the other input, domain of the result.
BINARY = {
    "xlog1py": ("x log1p(y)", ANY, NON_NEGATIVE, ANY),
    "xlogy": ("x log(y)", ANY, POSITIVE, ANY),
    "gammainc": ("incomplete gamma function", POSITIVE, POSITIVE, NON_NEGATIVE),
    "gammaincc": ("complementary incomplete gamma function", POSITIVE, POSITIVE, NON_NEGATIVE),
}


def operators():
    for name, (kind, wanted, result, differentiable) in UNARY.items():
        yield templated(f"torch.special.{name}", kind, "special", f"torch.special.{name}({{x}})",
                        wanted=wanted, domain=result, differentiable=differentiable,
                        dtypes=FLOATING if name in HALVES else FLOAT32)
    for name, kind in POLYNOMIALS.items():
        wanted = UNIT if name.startswith("shifted") else ANY
        yield templated(f"torch.special.{name}", kind, "special",
                        f"torch.special.{name}({{x}}, <degree>)", {"degree": (2, 3, 4, 5)},
                        wanted=wanted, dtypes=FLOAT32, differentiable=False, weight=0.3)
    for name, (kind, wanted, other, result) in BINARY.items():
        yield templated(f"torch.special.{name}", kind, "special",
                        f"torch.special.{name}({{x}}, {{other}})", wanted=wanted, domain=result,
                        extras=(lambda draw, value, other=other: broadcast(
                            draw, value, "other", other),),
                        dtypes=FLOAT32, differentiable=not name.startswith("gamma"))
    for name, of in (("igamma", "gammainc"), ("igammac", "gammaincc")):
        yield templated(f"torch.{name}", BINARY[of][0], "special",
                        (f"torch.{name}({{x}}, {{other}})", f"{{x}}.{name}({{other}})"),
                        wanted=POSITIVE, domain=NON_NEGATIVE, weight=0.3,
                        extras=(lambda draw, value: broadcast(draw, value, "other", POSITIVE),),
                        dtypes=FLOAT32, differentiable=False)
    yield templated("torch.special.round", "round", "special", "torch.special.round({x})",
                    differentiable=False, weight=0.3, dtypes=FLOAT32)
    for name in ("torch.special.polygamma", "torch.polygamma"):
        yield templated(name, "polygamma", "special", f"{name}(<order>, {{x}})",
                        {"order": (1, 2)}, wanted=POSITIVE, dtypes=FLOAT32, weight=0.3)
