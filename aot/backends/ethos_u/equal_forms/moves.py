# SPDX-License-Identifier: Apache-2.0
"""Convolutions with weights of 0 and 1: they only move values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aot.backends.ethos_u.block import INT8, Array, TosaValue
from aot.backends.ethos_u.emitters.rescaling import ONE
from aot.backends.ethos_u.tosa import TosaGraph


def moved(
    graph: TosaGraph, x: TosaValue, weight: Array, padding: Sequence[int] = (0, 0, 0, 0)
) -> TosaValue:
    """Return the values that weights [O, KH, KW, C] pick from x, int8."""
    sums = graph.conv2d(x, weight, np.zeros(len(weight)), 0, (1, 1), padding)
    return graph.limited(sums, graph.rescale(sums, *ONE, INT8))
