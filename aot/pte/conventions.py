# SPDX-License-Identifier: Apache-2.0
"""Additions of Pilotlight to ExecuTorch's .pte format. This module imports no torch.

The method `forward` is the model. Constant methods describe its inputs and outputs:
`pl_format_version` returns a number, `pl_{input,output}_{scales,zero_points,layouts}` a list with
an item for each. `pl_input_names` returns the names of forward's arguments. `pl_op_modules` returns
the module of the user's model for each instruction of `forward`; the index of an instruction is the
id of its op. A delegate's compile specs hold its payload's needs of the device (`Needs`), as well
as the backend's own specs. The CRC-32 of the whole program follows it: four bytes, little endian.
ExecuTorch's readers ignore it.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from kernels.common.tensor import DTYPES

FORMAT_VERSION = 1
FORWARD = "forward"
FORMAT_VERSION_METHOD = "pl_format_version"
OP_MODULES_METHOD = "pl_op_modules"
INPUT_NAMES_METHOD = "pl_input_names"
CHECKSUM_BYTES = 4
STATE_WRITE = ("aten::copy_", "")
"""Op that gives state its new value. These are the last calls, one for each state, as in
ExecuTorch's own export.
"""

Side = Literal["input", "output"]
SIDES: tuple[Side, ...] = ("input", "output")

Layout = Literal["row_major", "nchw", "nhwc", "nlc"]
LAYOUTS: tuple[Layout, ...] = ("row_major", "nchw", "nhwc", "nlc")
"""A layout's code is its place in this list."""

DTYPE_NAMES = {dtype.scalar_type: name for name, dtype in DTYPES.items()}
"""Dtype names by PyTorch's scalar type number, as stored in a .pte tensor."""


class PteError(ValueError):
    """The file is not a .pte that can become a plan. The text has the reason."""


@dataclass(frozen=True)
class Border:
    """Description of an input or output in a .pte, in addition to shape and dtype.

    `scale` is 0.0 without quantization. `name` is the name of forward's argument; outputs have "".
    """

    scale: float
    zero_point: int
    layout: Layout
    name: str = ""


CONFIGURATION_SPEC = "pl_configuration"
SCRATCH_BYTES_SPEC = "pl_scratch_bytes"
ALIGNMENT_SPEC = "pl_alignment"
CACHE_BYTES_SPEC = "pl_cache_bytes"
_SPEC_NUMBER_BYTES = 4
_MAX_SCRATCH_BYTES = 2**31 - 1
_MAX_ALIGNMENT = 4096


@dataclass(frozen=True)
class Needs:
    """Device requirements of a delegate's payload.

    Attributes:
      configuration: the target engine as boards name it, e.g. "ethos-u55-128"; "" if
        any engine will do.
      scratch_bytes: engine memory besides inputs and outputs during a run.
      alignment: in bytes, a power of two: of payload, scratch memory, inputs and outputs.
      cache_bytes: additional memory of the engine's own. The board has to have it.
    """

    configuration: str = ""
    scratch_bytes: int = 0
    alignment: int = 16
    cache_bytes: int = 0

    def __post_init__(self) -> None:
        """Raise ValueError for requirements no device can meet."""
        is_power_of_two = self.alignment > 0 and self.alignment & (self.alignment - 1) == 0
        if not is_power_of_two or self.alignment > _MAX_ALIGNMENT:
            raise ValueError(
                f"alignment {self.alignment} must be a power of two, {_MAX_ALIGNMENT} at most"
            )
        if not 0 <= self.scratch_bytes <= _MAX_SCRATCH_BYTES:
            raise ValueError(f"{self.scratch_bytes} bytes of scratch memory are out of range")
        if not 0 <= self.cache_bytes <= _MAX_SCRATCH_BYTES:
            raise ValueError(f"{self.cache_bytes} bytes of cache are out of range")
        if self.configuration and not is_name(self.configuration):
            raise ValueError(f"configuration {self.configuration!r} must be a name")

    def compile_specs(self) -> dict[str, bytes]:
        """Return the compile specs in file order."""
        numbers = {SCRATCH_BYTES_SPEC: self.scratch_bytes, ALIGNMENT_SPEC: self.alignment}
        if self.cache_bytes:
            numbers[CACHE_BYTES_SPEC] = self.cache_bytes
        return {
            CONFIGURATION_SPEC: self.configuration.encode(),
            **{k: v.to_bytes(_SPEC_NUMBER_BYTES, "little") for k, v in numbers.items()},
        }

    @staticmethod
    def of(specs: Mapping[str, bytes]) -> Needs:
        """Parse compile specs. Raise ValueError if a Pilotlight spec is missing or invalid."""
        for name in (CONFIGURATION_SPEC, SCRATCH_BYTES_SPEC, ALIGNMENT_SPEC):
            if name not in specs:
                raise ValueError(f"the compile spec {name} is missing")
        none = bytes(_SPEC_NUMBER_BYTES)
        numbers = [specs[SCRATCH_BYTES_SPEC], specs[ALIGNMENT_SPEC]]
        numbers.append(specs.get(CACHE_BYTES_SPEC, none))
        if any(len(number) != _SPEC_NUMBER_BYTES for number in numbers):
            raise ValueError(
                f"a number among the compile specs does not have {_SPEC_NUMBER_BYTES} bytes"
            )
        return Needs(
            specs[CONFIGURATION_SPEC].decode("ascii"),
            *(int.from_bytes(number, "little") for number in numbers),
        )


def is_name(text: str) -> bool:
    """Return True if a text can be a backend id or an engine configuration.

    Valid characters are ASCII letters, digits and `_.+:-`.
    """
    return re.fullmatch(r"[\w.+:-]+", text, re.ASCII) is not None


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
    """Return all constant methods, in file order.

    Args:
      inputs: the model's inputs.
      outputs: the model's outputs.
      modules: one for each instruction, "" if it has none; empty if they are unknown.
    """
    methods: ConstantMethods = {FORMAT_VERSION_METHOD: FORMAT_VERSION}
    for side, borders in zip(SIDES, (inputs, outputs), strict=True):
        methods[scales_method(side)] = [border.scale for border in borders]
        methods[zero_points_method(side)] = [border.zero_point for border in borders]
        methods[layouts_method(side)] = [LAYOUTS.index(border.layout) for border in borders]
    if any(border.name for border in inputs):
        methods[INPUT_NAMES_METHOD] = [border.name for border in inputs]
    if modules:
        methods[OP_MODULES_METHOD] = list(modules)
    return methods


def checksum(program: bytes) -> bytes:
    """Return the checksum that follows a program in its file."""
    return zlib.crc32(program).to_bytes(CHECKSUM_BYTES, "little")


def sealed(program: bytes) -> bytes:
    """Return the file: a program and its checksum."""
    return program + checksum(program)
