# SPDX-FileCopyrightText: The CUDA Agent Workbench authors
# SPDX-License-Identifier: GPL-3.0-or-later
"""All operators of torch that tasks are made of."""

from functools import lru_cache

from maker.operators import (activation, attention, binary, comparison, convolution, distance,
                             elementwise, fft, indexing, layout, linalg, loss, normalisation,
                             padding, pooling, product, recurrent, reduction, scan, sorting,
                             special, upsampling)

ROOMS = (activation, elementwise, binary, reduction, normalisation, product, convolution, pooling,
         scan, layout, indexing, upsampling, attention, recurrent, loss, distance, sorting,
         comparison, linalg, fft, padding, special)


@lru_cache(maxsize=None)
def all_operators():
    """Operators in a fixed order, each name once."""
    return [operator for room in ROOMS for operator in room.operators()]
