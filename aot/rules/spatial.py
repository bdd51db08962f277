# SPDX-License-Identifier: Apache-2.0
"""Shared by rules of spatial ops: NCHW in the user's graph, NHWC in the dialect."""

from __future__ import annotations

from torch.fx import Node

from aot.dialect.graph import NHWC, ROW_MAJOR, edge_of, with_layout
from aot.dialect.rule import Call
from kernels.strided_copy.op_transpose import transpose

TO_NHWC = [0, 2, 3, 1]
TO_NCHW = [0, 3, 1, 2]


def to_nhwc(call: Call, x: Node) -> Node:
    """Return an NCHW value transposed to NHWC. Layout passes cancel inverse transposes."""
    return call.emit(transpose, x, TO_NHWC, edge=with_layout(edge_of(x), NHWC))


def to_nchw(call: Call, x: Node) -> Node:
    """Return the inverse of `to_nhwc`."""
    return call.emit(transpose, x, TO_NCHW, edge=with_layout(edge_of(x), ROW_MAJOR))
