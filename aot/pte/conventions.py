# SPDX-License-Identifier: Apache-2.0
"""What a .pte of Pilotlight's has beside ExecuTorch's own format; imports no torch.

The method `forward` is the model. Constant methods say what its inputs and outputs are:
`pl_format_version` gives a number, `pl_{input,output}_{scales,zero_points,layouts}` a list with an
item for each of them. `pl_op_modules` gives the module of the user's model that each instruction of
`forward` comes from; the place of an instruction is the id of its op. Behind the program, where
ExecuTorch's readers do not look, is the CRC-32 of all that comes before: four bytes, little endian.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from kernels.common.tensor import DTYPES

FORMAT_VERSION = 1
FORWARD = "forward"
FORMAT_VERSION_METHOD = "pl_format_version"
OP_MODULES_METHOD = "pl_op_modules"
CHECKSUM_BYTES = 4

Side = Literal["input", "output"]
SIDES: tuple[Side, ...] = ("input", "output")

Layout = Literal["row_major", "nchw", "nhwc"]
LAYOUTS: tuple[Layout, ...] = ("row_major", "nchw", "nhwc")
"""A layout's code is its place in this list."""

DTYPE_NAMES = {dtype.scalar_type: name for name, dtype in DTYPES.items()}
"""By PyTorch's number, which a tensor of a .pte has."""


class PteError(ValueError):
    """The file is not a .pte that can become a plan; the text says why."""


@dataclass(frozen=True)
class Border:
    """What a .pte says of an input or output beside shape and dtype.

    `scale` is 0.0 where it is not quantized.
    """

    scale: float
    zero_point: int
    layout: Layout


def scales_method(side: Side) -> str:
    return f"pl_{side}_scales"


def zero_points_method(side: Side) -> str:
    return f"pl_{side}_zero_points"


def layouts_method(side: Side) -> str:
    return f"pl_{side}_layouts"


ConstantMethods = dict[str, int | list[int] | list[float] | list[str]]


def constant_methods(
    inputs: Sequence[Border], outputs: Sequence[Border], modules: Sequence[str] = ()
) -> ConstantMethods:
    """All constant methods, in the order of the file.

    Args:
      inputs: what the model takes.
      outputs: what the model gives.
      modules: of each instruction, "" where it has none; nothing where they are unknown.
    """
    methods: ConstantMethods = {FORMAT_VERSION_METHOD: FORMAT_VERSION}
    for side, borders in zip(SIDES, (inputs, outputs), strict=True):
        methods[scales_method(side)] = [border.scale for border in borders]
        methods[zero_points_method(side)] = [border.zero_point for border in borders]
        methods[layouts_method(side)] = [LAYOUTS.index(border.layout) for border in borders]
    if modules:
        methods[OP_MODULES_METHOD] = list(modules)
    return methods


def checksum(program: bytes) -> bytes:
    """What follows a program in its file."""
    return zlib.crc32(program).to_bytes(CHECKSUM_BYTES, "little")


def sealed(program: bytes) -> bytes:
    """A program and its checksum: the file."""
    return program + checksum(program)
