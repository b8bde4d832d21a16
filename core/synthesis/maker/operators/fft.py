# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Those of torch.fft that make real tensors of real ones."""

from maker.operators.build import FLOAT32, images, operator, ranked, row, sequences, wide_dim
from maker.operators.layout import moved
from maker.spec import Step

FFT = "fft"
NORMS = ("norm='ortho'", "norm='ortho'", "norm='forward'")


def one(name):
    def write(draw, value):
        dim, norm = wide_dim(draw, value, 8), draw.choice(NORMS)
        if dim is None or row(value) > 8_000_000:
            return None
        return Step(f"torch.fft.{name}({{x}}, dim={dim}, {ortho(name, norm)})")

    return write


def ortho(name, norm):
    """Keeps results of moderate size: what divides by the length is another one for hfft."""
    return norm if norm == "norm='ortho'" or name.startswith("hfft") else "norm='ortho'"


def several(name):
    def write(draw, value):
        norm, dims = draw.choice(NORMS), (-2, -1)
        three = draw.chance(0.3)
        if name.endswith("n") and three and value.rank > 3:
            dims = (-3, -2, -1)
        if min(value.shape[dim] for dim in dims) < 4 or row(value) > 8_000_000:
            return None
        return Step(f"torch.fft.{name}({{x}}, dim={dims}, {ortho(name, norm)})")

    return write


def shifted(name):
    def write(draw, value):
        dim, all_of_them = wide_dim(draw, value, 4), draw.chance(0.3)
        if dim is None:
            return None
        dims = tuple(range(1, value.rank)) if all_of_them and value.rank > 2 else dim
        return Step(f"torch.fft.{name}({{x}}, dim={dims})", domain=moved(value.domain))

    return write


def lines(draw):
    return (draw.size(16, 256), draw.choice((256, 512, 1000, 1024, 2048, 4096)))


def operators():
    for name, kind in (("hfft", "hermitian fourier transform"),
                       ("irfft", "inverse real fourier transform")):
        yield operator(f"torch.fft.{name}", kind, FFT, one(name), lines, ranks=(2, 4),
                       dtypes=FLOAT32)
        for end in ("2", "n"):
            yield operator(f"torch.fft.{name}{end}", kind + " of several dimensions", FFT,
                           several(name + end), images, ranks=(3, 4), dtypes=FLOAT32, weight=0.7)
    for name in ("fftshift", "ifftshift"):
        yield operator(f"torch.fft.{name}", "halves exchanged", FFT, shifted(name),
                       ranked(sequences, images), ranks=(2, 4), weight=0.5)
