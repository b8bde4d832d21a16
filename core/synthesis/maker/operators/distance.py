# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Distances and similarities."""

from maker.operators.build import (FLOAT32, any_shape, broadcast, features, like, operator, ranked,
                                   sequences, wide_dim)
from maker.spec import ANY, NON_NEGATIVE, Step

F = "torch.nn.functional."


def cosine(text, module):
    def write(draw, value):
        dim, other = wide_dim(draw, value, 4), broadcast(draw, value, "other", ANY, 6)
        eps = draw.choice(("", ", eps=1e-6"))
        if dim is None:
            return None
        if module:
            return Step("{m}({x}, {other})", f"nn.CosineSimilarity(dim={dim}{eps})", (other,),
                        name="similarity")
        return Step(f"{text}({{x}}, {{other}}, dim={dim}{eps})", None, (other,))

    return write


def pairwise(module):
    def write(draw, value):
        p, keep = draw.choice(("", ", p=1.0", ", p=3.0")), draw.choice(("", "", ", keepdim=True"))
        if value.shape[-1] < 4:
            return None
        if module:
            return Step("{m}({x}, {other})", f"nn.PairwiseDistance({(p + keep)[2:]})",
                        (like(value),), NON_NEGATIVE, name="distance")
        return Step(f"F.pairwise_distance({{x}}, {{other}}{p}{keep})", None, (like(value),),
                    NON_NEGATIVE)

    return write


def cdist(draw, value):
    rows, p = draw.size(16, 1024), draw.weighted({"": 3, ", p=1.0": 1, ", p=float('inf')": 0.3})
    if not 2 <= value.shape[-1] <= 2048:
        return None
    return Step(f"torch.cdist({{x}}, {{other}}{p})", None,
                (like(value, "other", ANY, (*value.shape[:-2], rows, value.shape[-1])),),
                NON_NEGATIVE)


def whole_distance(draw, value):
    p = draw.choice(("", ", p=1", ", p=3"))
    return Step(f"torch.dist({{x}}, {{other}}{p})", None, (like(value),), NON_NEGATIVE)


def points(draw):
    return (draw.size(64, 1024), draw.choice((3, 8, 16, 32, 64, 128)))


def operators():
    rows = ranked(features, sequences)
    yield operator(F + "cosine_similarity", "cosine similarity", "distance",
                   cosine("F.cosine_similarity", False), any_shape, ranks=(2, 5), weight=2)
    yield operator("torch.nn.CosineSimilarity", "cosine similarity", "distance", cosine("", True),
                   any_shape, ranks=(2, 5))
    yield operator(F + "pairwise_distance", "pairwise distance", "distance", pairwise(False), rows,
                   ranks=(2, 4))
    yield operator("torch.nn.PairwiseDistance", "pairwise distance", "distance", pairwise(True),
                   rows, ranks=(2, 4))
    yield operator("torch.dist", "distance of two tensors", "distance", whole_distance, any_shape,
                   dtypes=FLOAT32, weight=0.4)
    yield operator("torch.cdist", "distances of all pairs", "distance", cdist, points, ranks=(3, 4),
                   dtypes=FLOAT32, weight=2, differentiable=False)
