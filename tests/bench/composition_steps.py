# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""The steps that `compositions.py` composes: each takes a task so far and a value, and returns the
next value, or None where it does not apply."""
import math

from composition_values import (ARITHMETIC, CLIPS, EXACT, EXTREMES, HALVES, JUMPS, LINEAR, NOTHING, SUMS, UNARY,
                                broadcast, combine, image)


def pointwise(task, x):
    for _ in range(task.rng.randint(1, 3)):
        if x.exact and x.usual[1] > 0.9 and task.rng.random() < 0.15:
            name = task.rng.choice(sorted(JUMPS))
            form, kind = JUMPS[name]
            x = task.emit(form.format(x.name), x.shape, "bool" if kind == "bool" else x.dtype, min(x.low, -2), max(x.high, 1),
                          (-1, 1), constant=x.constant | EXTREMES)
            if x and kind == "bool":
                x = task.emit(f"{x.name}.to(torch.float32)", x.shape, "float32", 0, 1, (0, 1), constant=EXTREMES)
        else:
            name = task.rng.choice([n for n, (*_, (low, high)) in UNARY.items() if low <= x.low and x.high <= high])
            form, function, _ = UNARY[name]
            constant = x.constant - (NOTHING if name in LINEAR else SUMS) | (EXTREMES if name in CLIPS else NOTHING)
            x = task.emit(form.format(x.name), x.shape, x.dtype, *image(function, (x.low, x.high)), image(function, x.usual),
                          x.exact and name in EXACT, constant)
        if x is None:
            return None
        task.steps.append(name)
    return x


def with_operand(task, x):
    """Arithmetic with a parameter or another input, broadcast over any dimensions."""
    if not x.shape or len(task.inputs) > 3:
        return None
    keep = [task.rng.random() < 0.6 for _ in x.shape]
    shape = [extent if kept else 1 for extent, kept in zip(x.shape, keep)]
    while len(shape) > 1 and shape[0] == 1 and task.rng.random() < 0.5:
        shape.pop(0)
    if task.rng.random() < 0.5 and math.prod(shape) < 3_000_000:
        other = task.parameter(shape, task.rng.random() < 0.4)
    else:
        dtype = x.dtype if task.rng.random() < 0.8 else "float32"
        other = task.input(shape, task.rng.choice(("randn", "rand")), dtype)
    op = task.rng.choice(ARITHMETIC)
    task.steps.append(f"{op} with {'parameter' if 'self' in other.name else 'input'}")
    return combine(task, op, x, other) if task.rng.random() < 0.7 else combine(task, op, other, x)


def residual(task, x):
    """Meets an earlier value again."""
    others = [v for v in task.values if v.name != x.name and broadcast(v.shape, x.shape) in (v.shape, x.shape)
              and math.prod(v.shape) >= math.prod(x.shape) and v.dtype not in ("bool", "int64")]
    if not others:
        return None
    other = task.rng.choice(others)
    op = task.rng.choice(ARITHMETIC)
    task.steps.append(f"residual {op}")
    return combine(task, op, other, x)


def casts(task, x):
    kind = task.rng.choice([k for k in ("float16", "bfloat16", "float32") if k != x.dtype])
    y = task.moved(x, f"{x.name}.to(torch.{kind})", dtype=kind)
    if y is None:
        return None
    task.steps.append(kind)
    if kind in HALVES and task.rng.random() < 0.5:
        y = pointwise(task, y)
        return y and task.moved(y, f"{y.name}.float()", dtype="float32")
    return y


def some_dims(task, rank):
    choice = task.rng.choice(("last", "last", "first", "middle", "several", "all"))
    if choice == "last":
        return [rank - 1]
    if choice == "first":
        return [0]
    if choice == "middle":
        return [task.rng.randrange(rank)]
    if choice == "all":
        return list(range(rank))
    return sorted(task.rng.sample(range(rank), task.rng.randint(1, max(1, rank - 1))))


def reduction(task, x):
    if not x.shape or math.prod(x.shape) < 2:
        return None
    rng = task.rng
    dims = some_dims(task, len(x.shape))
    n = math.prod(x.shape[d] for d in dims)
    if n < 2:
        return None
    size = max(-x.low, x.high)
    keep = rng.random() < 0.5
    shape = [1 if d in dims else extent for d, extent in enumerate(x.shape)] if keep else \
        [extent for d, extent in enumerate(x.shape) if d not in dims]
    middle, half = sum(x.usual) / 2, (x.usual[1] - x.usual[0]) / 2
    power, root = middle * middle + half * half / 4, math.sqrt(n)  # mean of squares

    def around(value, error):
        return value * (1 - error), value * (1 + error)

    upper, lower = (x.usual[1], x.usual[1] + half), (x.usual[0] - half, x.usual[0])
    options = {}  # name: bounds and usual range
    if "extremes" not in x.constant:
        largest = upper if abs(x.usual[1]) >= abs(x.usual[0]) else (-lower[1], -lower[0])
        options |= {"amax": (x.low, x.high, upper), "amin": (x.low, x.high, lower), "norm inf": (0, size, largest)}
        if len(dims) == 1:
            options |= {"max values": (x.low, x.high, upper)}
    if "sums" not in x.constant:
        mean = middle - half / root, middle + half / root
        options |= {"sum": (n * x.low, n * x.high, (n * mean[0], n * mean[1])), "mean": (x.low, x.high, mean),
                    "logsumexp": (x.low, x.high + math.log(n), (mean[0] + math.log(n), mean[1] + math.log(n))),
                    "norm": (0, size * root, around(math.sqrt(n * power), 1 / root)),
                    "norm1": (0, size * n, around(n * math.sqrt(power), 0.5 / root)),
                    "mean of squares": (0, size * size, around(power, 1 / root))}
        if n > 3 and half > 0.05 * abs(middle):
            options |= {"std": (0, 2 * size, around(half / 2, 1 / root)), "var": (0, 4 * size * size, around(half * half / 4, 1 / root)),
                        "population var": (0, size * size, around(half * half / 4, 1 / root))}
    if len(dims) == 1 and n <= 12 and size ** n < 1e12 and max(map(abs, x.usual)) > 0.5:
        options |= {"prod": (-size ** n, size ** n, (-1, 1))}
    if x.exact and len(dims) == 1 and x.dtype == "float32" and "extremes" not in x.constant and x.usual[1] > 0.6:
        options |= {"argmax": (0, n - 1, (0, n - 1)), "count": (0, n, (n / 2 - root, n / 2 + root))}
    if not options:
        return None
    name = rng.choice(sorted(options))
    where = f"dim={dims[0] - (len(x.shape) if rng.random() < 0.5 else 0)}" if len(dims) == 1 else f"dim={tuple(dims)}"
    arguments = f"{where}, keepdim={keep}"
    if len(dims) == len(x.shape) and not keep and rng.random() < 0.5 and name in ("sum", "mean"):
        arguments = ""
    forms = {"logsumexp": f"torch.logsumexp({x.name}, {arguments})",
             "norm": f"torch.linalg.vector_norm({x.name}, {arguments})",
             "norm1": f"torch.norm({x.name}, p=1, {arguments})",
             "norm inf": f"torch.linalg.vector_norm({x.name}, ord=float('inf'), {arguments})",
             "population var": f"{x.name}.var({where}, unbiased=False, keepdim={keep})",
             "mean of squares": f"{x.name}.pow(2).mean({arguments})",
             "max values": f"{x.name}.max({arguments}).values",
             "count": f"({x.name} > 0.5).sum({arguments})"}
    kept = x.constant & EXTREMES if name in ("prod", "sum", "mean") else NOTHING
    y = task.emit(forms.get(name, f"{x.name}.{name}({arguments})"), shape, "int64" if name in ("argmax", "count") else x.dtype,
                  *options[name], name in ("amax", "amin", "max values") and x.exact, kept)
    if y is None:
        return None
    task.steps.append(f"{name} over {dims} of {len(x.shape)}")
    if y.dtype == "int64":
        y = task.emit(f"{y.name}.float()", shape, "float32", y.low, y.high, y.usual, True, EXTREMES)
    if keep and rng.random() < 0.6:  # a normalisation that has no name
        together = combine(task, rng.choice(("sub", "div", "mul", "add")), x, y)
        if together:
            task.steps.append("back to its rows")
        return together and together._replace(constant=SUMS | EXTREMES)
    return y


def softmax(task, x):
    if not x.shape or x.high - x.low > 60:
        return None
    d = task.rng.randrange(len(x.shape))
    n = x.shape[d]
    if n < 4:
        return None
    name = task.rng.choice(("softmax", "softmax", "log_softmax", "softmin"))
    task.steps.append(f"{name} over {d} of {len(x.shape)}")
    half, typical = min((x.usual[1] - x.usual[0]) / 2, 20), -math.log(n)
    low, high, usual = 0, 1, (math.exp(typical - half), math.exp(typical + half))
    if name == "log_softmax":
        low, high, usual = -(x.high - x.low) - math.log(n), 0, (typical - half, typical + half)
    return task.emit(f"F.{name}({x.name}, dim={d})", x.shape, x.dtype, low, high, usual, constant=SUMS)


def normalisation(task, x):
    rng, rank = task.rng, len(x.shape)
    if "sums" in x.constant or rank < 2 or x.dtype != "float32" and rng.random() < 0.7:
        return None
    name = rng.choice(("layer_norm", "layer_norm", "batch_norm", "batch_norm train", "group_norm",
                       "instance_norm", "rms", "rms_norm", "normalize"))
    inner = min(rank - 1, rng.choice((1, 1, 2)))
    last, channels, channel_wise = x.shape[-inner:], x.shape[1], rng.random() < 0.7
    n = math.prod(last)
    if name in ("batch_norm", "batch_norm train", "group_norm", "instance_norm"):
        if channels < 2 or rank > 5 or x.dtype != "float32":
            return None
        n = math.prod(x.shape) // channels // (x.shape[0] if name == "instance_norm" else 1)
        if name == "instance_norm" and rank < 3:
            return None
    if n < 4 or name == "group_norm" and math.prod(x.shape[2:]) < 4 or channels > 100_000:
        return None
    root_of_n = math.sqrt(n)
    bound = min(root_of_n, 40)
    low, high = -bound, bound
    affine = ""
    if name in ("layer_norm", "rms_norm") and rng.random() < 0.5 and math.prod(last) < 3_000_000 and x.dtype == "float32":
        affine = f", {task.parameter(last, True).name}" + (f", {task.parameter(last).name}" if name == "layer_norm" else "")
        low, high = -1.5 * bound - 6.5, 1.5 * bound + 6.5
    shape = f"({task.text(last)},)"
    if name == "layer_norm":
        expression = f"F.layer_norm({x.name}, {shape}{affine})"
    elif name == "rms_norm":
        expression = f"F.rms_norm({x.name}, {shape}{affine}{', eps=1e-5' if affine else ''})"
    elif name == "rms":
        d = rng.randrange(rank)
        if x.shape[d] < 4:
            return None
        expression = f"{x.name} * torch.rsqrt({x.name}.pow(2).mean(dim={d}, keepdim=True) + 1e-5)"
    elif name == "normalize":
        d = rng.randrange(rank)
        if x.shape[d] < 4:
            return None
        root_of_n, expression, low, high = math.sqrt(x.shape[d]), f"F.normalize({x.name}, p=2, dim={d})", -1, 1
    elif name == "batch_norm":
        kind = {2: 1, 3: 1, 4: 2, 5: 3}[rank]
        module = task.module(f"nn.BatchNorm{kind}d({task.size(channels)}).eval()")
        expression, low, high = f"{module}({x.name})", x.low, x.high
    elif name == "batch_norm train":
        weights = f", {task.parameter((channels,), True).name}, {task.parameter((channels,)).name}" if channel_wise else ""
        low, high = (-1.5 * bound - 6.5, 1.5 * bound + 6.5) if weights else (low, high)
        expression = f"F.batch_norm({x.name}, None, None{weights}, training=True)"
    elif name == "instance_norm":
        module = task.module(f"nn.InstanceNorm{rank - 2}d({task.size(channels)}, affine={channel_wise})")
        expression = f"{module}({x.name})"
    else:
        groups = rng.choice([g for g in range(1, min(channels, 64) + 1) if channels % g == 0])
        module = task.module(f"nn.GroupNorm({groups}, {task.size(channels)})")
        expression = f"{module}({x.name})"
    task.steps.append(name)
    middle = sum(x.usual) / 2
    usual = (-2, 2) if name not in ("rms", "normalize", "rms_norm", "batch_norm") else \
        (x.usual[0] / root_of_n, x.usual[1] / root_of_n) if name == "normalize" else x.usual
    if x.usual[1] - x.usual[0] < 0.05 * abs(middle):
        return None
    return task.emit(expression, x.shape, x.dtype, low, high, usual, constant=SUMS | x.constant)


def loss(task, x):
    rng = task.rng
    if len(x.shape) < 1 or len(task.inputs) > 3 or x.dtype != "float32" or math.prod(x.shape) < 64:
        return None
    name = rng.choice(("mse", "l1", "smooth_l1", "huber", "kl_div", "cross_entropy", "nll", "cosine", "hinge", "bce",
                       "soft cross_entropy"))
    last, how = x.shape[-1], rng.choice(("mean", "mean", "sum", "none"))
    big = max(-x.low, x.high) + 7
    if name in ("cross_entropy", "nll", "soft cross_entropy"):
        if len(x.shape) != 2 or last < 2 or x.high - x.low > 60 or name == "soft cross_entropy" and last < 4:
            return None
        rows = x.shape[0]
        if name == "soft cross_entropy":
            target = f"torch.softmax({task.input(x.shape).name}, dim=1)"
        else:
            draw = f"torch.randint(0, {task.size(last)}, ({task.size(rows)},))"
            target = task.input((rows,), "rand", "int64", draw).name
        shape, bound = ((rows,) if how == "none" else ()), (x.high - x.low + math.log(last)) * (rows if how == "sum" else 1)
        smoothing = ", label_smoothing=0.1" if name == "cross_entropy" and rng.random() < 0.4 else ""
        expression = (f"F.nll_loss(F.log_softmax({x.name}, dim=1), {target}, reduction='{how}')" if name == "nll" else
                      f"F.cross_entropy({x.name}, {target}, reduction='{how}'{smoothing})")
    elif name == "cosine":
        d = rng.randrange(len(x.shape))
        if x.shape[d] < 3 or x.low >= 0:
            return None
        other = task.input(x.shape)
        shape, bound = x.shape[:d] + x.shape[d + 1:], 2
        expression = f"1 - F.cosine_similarity({x.name}, {other.name}, dim={d})"
    else:
        other = task.input(x.shape).name
        shape, n = (x.shape, 1) if how == "none" else ((), math.prod(x.shape) if how == "sum" else 1)
        bound = n * big * big
        if name == "kl_div":
            if x.high - x.low > 60 or last < 4:
                return None
            how = rng.choice(("batchmean", "sum", "mean"))
            shape, bound = (), 100 * math.prod(x.shape)
            expression = (f"F.kl_div(F.log_softmax({x.name}, dim=-1), F.softmax({other}, dim=-1), reduction='{how}')")
        elif name == "hinge":
            shape, bound = (), big * 8
            expression = f"torch.mean(torch.clamp(1 - {x.name} * torch.tanh({other}), min=0))"
        elif name == "bce":
            expression = f"F.binary_cross_entropy_with_logits({x.name}, torch.sigmoid({other}), reduction='{how}')"
        else:
            expression = f"F.{name}_loss({x.name}, {other}, reduction='{how}')"
    task.steps.append(f"{name} loss")
    return task.emit(expression, shape, "float32", -bound, bound, (-bound, bound))


def reshaping(task, x):
    """Views and copies that only move elements."""
    rng, rank = task.rng, len(x.shape)
    if rank == 0:
        return None
    kind = rng.choice(("transpose", "permute", "reshape", "slice", "cat", "expand", "chunk", "stack", "select", "pad", "repeat"))
    d = rng.randrange(rank)
    extent = x.shape[d]
    task.steps.append(f"{kind} {d} of {rank}")
    if kind in ("transpose", "permute"):
        if rank < 2:
            return None
        order = rng.sample(range(rank), rank)
        if kind == "transpose":
            a, b = rng.sample(range(rank), 2)
            order = [b if i == a else a if i == b else i for i in range(rank)]
        shape = [x.shape[i] for i in order]
        expression = f"{x.name}.transpose({a}, {b})" if kind == "transpose" else f"{x.name}.permute({', '.join(map(str, order))})"
        if rng.random() < 0.3:
            expression += ".contiguous()"
        return task.moved(x, expression, shape)
    if kind == "reshape":
        factors = [f for f in range(2, 65) if extent % f == 0 and f < extent]
        if d + 1 < rank and rng.random() < 0.5:
            shape = (*x.shape[:d], extent * x.shape[d + 1], *x.shape[d + 2:])
        elif factors and rank < 5:
            f = rng.choice(factors)
            shape = (*x.shape[:d], extent // f, f, *x.shape[d + 1:])
        else:
            return None
        return task.moved(x, f"{x.name}.reshape({task.text(shape)})", shape)
    if extent < 4 and kind in ("slice", "chunk", "select") or rank == 1 and kind == "select":
        return None
    colons = ":, " * d
    if kind == "slice":
        start, step = rng.randrange(0, extent // 2), rng.choice((1, 1, 2, 3))
        stop = rng.choice((extent, extent - 1))
        shape = (*x.shape[:d], len(range(start, stop, step)), *x.shape[d + 1:])
        return task.moved(x, f"{x.name}[{colons}{start}:{stop}:{step}]", shape)
    if kind == "select":
        return task.moved(x, f"{x.name}[{colons}{rng.randrange(extent)}]", x.shape[:d] + x.shape[d + 1:])
    if kind == "chunk":
        if extent % 2:
            return None
        halves = f"{x.name}.chunk(2, dim={d})"
        shape = (*x.shape[:d], extent // 2, *x.shape[d + 1:])
        a = task.moved(x, f"{halves}[0]", shape)
        b = task.moved(x, f"{halves}[1]", shape)
        return combine(task, rng.choice(("gate", "mul", "sub", "maximum")), a, b)
    if kind in ("cat", "stack"):
        others = [v for v in task.values if v.shape == x.shape and v.dtype == x.dtype]
        other = rng.choice(others) if others else x
        shape = (*x.shape[:d], 2, *x.shape[d:]) if kind == "stack" else (*x.shape[:d], 2 * extent, *x.shape[d + 1:])
        if len(shape) > 5:
            return None
        return task.emit(f"torch.{kind}([{x.name}, {other.name}], dim={d})", shape, x.dtype,
                         min(x.low, other.low), max(x.high, other.high), x.usual, constant=x.constant | other.constant)
    if kind == "pad":
        shape = (*x.shape[:-1], x.shape[-1] + 3)
        return task.emit(f"F.pad({x.name}, (1, 2), value=0.5)", shape, x.dtype, min(x.low, 0.5), max(x.high, 0.5), x.usual,
                         constant=x.constant | EXTREMES)
    times = rng.choice((2, 3, 5))
    if kind == "repeat":
        shape = (*x.shape[:d], extent * times, *x.shape[d + 1:])
        repeats = [times if i == d else 1 for i in range(rank)]
        return task.moved(x, f"{x.name}.repeat({', '.join(map(str, repeats))})", shape)
    shape = (*x.shape[:d], times, *x.shape[d:])  # expand, then meet something that varies there
    if len(shape) > 5 or len(task.inputs) > 3:
        return None
    y = task.moved(x, f"{x.name}.unsqueeze({d}).expand({task.text(shape)})", shape)
    return y and combine(task, rng.choice(("mul", "add", "gate")), y, task.input(shape, dtype=x.dtype))


def library(task, x):
    rng = task.rng
    if x.dtype != "float32" or len(x.shape) not in (2, 3) or not 2 < x.shape[-1] <= 2048 or max(-x.low, x.high) > 1e4:
        return None
    k, n = x.shape[-1], rng.choice((8, 17, 32, 64, 101, 128))
    rows = math.prod(x.shape[:-1])
    if rows * k * n > (1.5e8 if task.scale == "small" else 1e12) or len(task.inputs) > 3:
        return None
    shape, size = (*x.shape[:-1], n), max(-x.low, x.high) * k
    if rng.random() < 0.5:
        module = task.module(f"nn.Linear({task.size(k)}, {n}, bias={rng.random() < 0.7})")
        task.steps.append("linear")
        return task.emit(f"{module}({x.name})", shape, "float32", -size, size, x.usual)
    other = task.input((k, n) if len(x.shape) == 2 or rng.random() < 0.5 else (x.shape[0], k, n))
    task.steps.append("matmul")
    return task.emit(f"torch.matmul({x.name}, {other.name}) * {k ** -0.5:.4f}", shape, "float32", -size * 6.5, size * 6.5, x.usual)


def unknown(task, x):
    """Operators that a planner may well not know: then it must name them."""
    if not x.shape or x.dtype != "float32":
        return None
    d = task.rng.randrange(len(x.shape))
    n = x.shape[d]
    if n < 8 or n > 100_000:
        return None
    form, low, high = task.rng.choice((
        ("torch.cumsum({}, dim={})", n * min(x.low, 0), n * max(x.high, 0)), ("torch.sort({}, dim={}).values", x.low, x.high),
        ("torch.flip({}, dims=({},))", x.low, x.high), ("torch.roll({}, 3, dims={})", x.low, x.high),
        ("torch.topk({}, 5, dim={}).values", x.low, x.high), ("{}.cummax(dim={}).values", x.low, x.high)))
    shape = (*x.shape[:d], 5, *x.shape[d + 1:]) if "topk" in form else x.shape
    task.steps.append(form.split("(")[0].split(".")[1])
    return task.emit(form.format(x.name, d), shape, x.dtype, low, high, x.usual, constant=SUMS | EXTREMES)


