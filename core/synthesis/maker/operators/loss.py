# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""Losses, as functions and as modules, over all elements or for each."""

from maker.operators.build import (FLOAT32, any_shape, features, indices, like, operator, ranked,
                                   sequences)
from maker.spec import ANY, FLOATING, NON_NEGATIVE, POSITIVE, PROBABILITY, UNIT, Step

F = "torch.nn.functional."

# function: module, kind, wanted domain, domains of the targets, arguments, domain where reduction
# is none.
PLAIN = {
    "l1_loss": ("L1Loss", "l1 loss", ANY, (ANY,), ("",), NON_NEGATIVE),
    "mse_loss": ("MSELoss", "mean squared error", ANY, (ANY,), ("",), NON_NEGATIVE),
    "smooth_l1_loss": ("SmoothL1Loss", "smooth l1 loss", ANY, (ANY,), ("", "beta=0.5", "beta=2.0"),
                       NON_NEGATIVE),
    "huber_loss": ("HuberLoss", "huber loss", ANY, (ANY,), ("", "delta=0.5", "delta=2.0"),
                   NON_NEGATIVE),
    "binary_cross_entropy": ("BCELoss", "binary cross entropy", UNIT, (UNIT,), ("",), POSITIVE),
    "binary_cross_entropy_with_logits": ("BCEWithLogitsLoss", "binary cross entropy with logits",
                                         ANY, (UNIT,), ("",), ANY),
    "kl_div": ("KLDivLoss", "kullback-leibler divergence", ANY, (PROBABILITY,), ("",), ANY),
    "poisson_nll_loss": ("PoissonNLLLoss", "poisson negative log likelihood", ANY, (NON_NEGATIVE,),
                         ("", "full=True"), ANY),
    "soft_margin_loss": ("SoftMarginLoss", "soft margin loss", ANY, (ANY,), ("",), POSITIVE),
    "margin_ranking_loss": ("MarginRankingLoss", "margin ranking loss", ANY, (ANY, ANY),
                            ("", "margin=0.5"), NON_NEGATIVE),
    "multilabel_soft_margin_loss": ("MultiLabelSoftMarginLoss", "multilabel soft margin loss", ANY,
                                    (UNIT,), ("",), POSITIVE),
    "triplet_margin_loss": ("TripletMarginLoss", "triplet margin loss", ANY, (ANY, ANY),
                            ("", "margin=5.0", "p=1"), NON_NEGATIVE),
    "triplet_margin_with_distance_loss": ("TripletMarginWithDistanceLoss",
                                          "triplet margin loss with a distance", ANY, (ANY, ANY),
                                          ("", "margin=5.0", "swap=True"), NON_NEGATIVE),
}
# How often; the others have 1.
WEIGHTS = {"mse_loss": 2, "smooth_l1_loss": 1.5, "kl_div": 1.5, "margin_ranking_loss": 0.5,
           "triplet_margin_with_distance_loss": 0.5}
NAMES = ("target", "other")


def reduction(draw):
    """Mostly none: the mean over many gigabytes of random numbers is nearly the same each time, and
    what is always the same tells right from wrong badly."""
    return draw.weighted({"reduction='none'": 12, "": 1, "reduction='mean'": 0.5})


def call(name, module, inputs, arguments):
    """The step's expression and module."""
    given = ", ".join(argument for argument in arguments if argument)
    inside = ", ".join(["{x}", *(f"{{{each}}}" for each in inputs)])
    if module:
        return f"{{m}}({inside})", f"nn.{module}({given})"
    return f"F.{name}({inside}{', ' + given if given else ''})", None


def plain(name, module, domains, choices, result):
    def write(draw, value):
        reduced, argument = reduction(draw), draw.choice(choices)
        extras = tuple(like(value, each, domain)
                       for each, domain in zip(NAMES, domains))
        if name == "kl_div" and reduced == "":
            reduced = "reduction='batchmean'"
        text, made = call(name, module, [extra.name for extra in extras], (reduced, argument))
        return Step(text, made, extras, result if reduced == "reduction='none'" else ANY,
                    name="loss")

    return write


def classes_first(name, module):
    """Cross entropy and negative log likelihood: dimension 1 is the classes."""
    def write(draw, value):
        reduced, weighted = reduction(draw), draw.chance(0.3)
        smooth = draw.choice(("", "", "label_smoothing=0.1"))
        soft = draw.chance(0.2)
        classes = value.shape[1]
        if classes < 2:
            return None
        shape = (value.shape[0], *value.shape[2:])
        target = indices(value, shape, classes, "target")
        arguments = (reduced,)
        if name == "cross_entropy":
            arguments = (reduced, smooth)
            if soft and value.rank == 2:
                target = like(value, "target", PROBABILITY)
        extras = (target,)
        if weighted and module is None and name == "nll_loss":  # no derivative by weights
            extras += (like(value, "weight", POSITIVE, (classes,)),)
            arguments += ("weight={weight}",)
        text, made = call(name, module, ["target"], arguments)
        return Step(text, made, extras, name="loss")

    return write


def multi_margin(module):
    def write(draw, value):
        reduced, margin = reduction(draw), draw.choice(("", "margin=0.5", "p=2"))
        if value.shape[1] < 4:
            return None
        extras = (indices(value, value.shape[:1], value.shape[1], "target"),)
        text, made = call("multi_margin_loss", module, ["target"], (reduced, margin))
        return Step(text, made, extras, NON_NEGATIVE if "none" in reduced else ANY, name="loss")

    return write


def class_rows(draw):
    return (draw.size(100, 32768),)


def few_classes(draw):
    """The mean over very many classes hardly varies."""
    return (draw.size(64, 4096), draw.size(16, 80))


def class_images(draw):
    side = draw.size(14, 128)
    return (draw.size(10, 64), side, side)


def operators():
    for name, (module, kind, wanted, domains, choices, result) in PLAIN.items():
        rank = 2 if "triplet" in name or "multilabel" in name or name == "kl_div" else 1
        dtypes = FLOATING if name in ("l1_loss", "mse_loss", "smooth_l1_loss", "huber_loss",
                                      "binary_cross_entropy_with_logits", "kl_div") else FLOAT32
        shape = ranked(features, sequences) if rank == 2 else any_shape
        if name == "multilabel_soft_margin_loss":
            shape = few_classes
        for title, of in ((F + name, None), (f"torch.nn.{module}", module)):
            yield operator(title, kind, "loss", plain(name, of, domains, choices, result), shape,
                           ranks=(rank, 5), wanted=wanted, dtypes=dtypes,
                           weight=WEIGHTS.get(name, 1),
                           differentiable=name != "soft_margin_loss")
    for name, module, kind in (("cross_entropy", "CrossEntropyLoss", "cross entropy"),
                               ("nll_loss", "NLLLoss", "negative log likelihood")):
        for title, of in ((F + name, None), (f"torch.nn.{module}", module)):
            # Over images the sum is made by atomics on cuda.
            yield operator(title, kind, "loss", classes_first(name, of),
                           ranked(class_rows, class_images), ranks=(2, 4), weight=3,
                           dtypes=FLOAT32 if name == "nll_loss" else FLOATING,
                           differentiable=name == "cross_entropy")
    for title, of in ((F + "multi_margin_loss", None),
                      ("torch.nn.MultiMarginLoss", "MultiMarginLoss")):
        yield operator(title, "multi-class margin loss", "loss", multi_margin(of), class_rows,
                       ranks=(2, 2), dtypes=FLOAT32, weight=0.5, differentiable=False)
