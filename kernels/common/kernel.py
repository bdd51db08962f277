# SPDX-License-Identifier: Apache-2.0
"""Interface between the plan compiler and the kernel library.

The plan compiler decodes an instruction of a .pte into an `OpCall`. The op's kernel folder turns it
into a `KernelCall`. This holds the C function to run and the fields of its params, dims and data
structs. It also holds constants packed for the ISA, scratch, and permitted in-place pairs. No torch
here.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

import numpy.typing as npt

from kernels.common.tensor import DTYPES, MAX_RANK

if TYPE_CHECKING:
    from kernels.common.overlap import Overlap
    from kernels.common.rows import ByRows

Isa = Literal["scalar", "thumb1", "dsp", "mve"]
PLAIN: tuple[Isa, ...] = ("scalar", "thumb1")
"""Classes without the DSP extension."""

AnyArray = npt.NDArray[Any]

INT8_MIN, INT8_MAX = -128, 127
INT16_MIN, INT16_MAX = -(2**15), 2**15 - 1
INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


class KernelError(ValueError):
    """Error: no kernel of the library can run a call. The message gives the call and the reason."""


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor as the plan sees it: contiguous, in the order of `shape`.

    Activations are aligned to their item size at least. `constant` holds the elements of a
    weight or table, None for an activation.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    constant: AnyArray | None = None

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    @property
    def item_bytes(self) -> int:
        return DTYPES[self.dtype].bytes

    @property
    def bytes(self) -> int:
        return self.size * self.item_bytes


@dataclass(frozen=True, eq=False)
class Constant:
    """An array that goes to flash unchanged; equal ones may be merged."""

    array: AnyArray
    alignment: int = 4


@dataclass(frozen=True, eq=False)
class Array:
    """A C array referenced by a struct field, for data without a fixed length."""

    element_type: str
    items: tuple["Field", ...]


@dataclass(frozen=True)
class Symbol:
    """A program variable referenced by a struct field, by its C name."""

    name: str


Operand = Value | Constant
Field = (
    int
    | float
    | str
    | Operand
    | Array
    | Symbol
    | tuple["Field", ...]
    | Mapping[str, "Field"]
    | None
)


@dataclass(frozen=True, eq=False)
class KernelCall:
    """One call of a C kernel: `function(ctx, &params, &dims, &data)`.

    `header` is relative to the workspace. Its stem defines the struct names:
    "kernels/conv2d/conv2d.h" declares pl_conv2d_params, pl_conv2d_dims and pl_conv2d_data. An empty
    mapping means that the kernel takes NULL there. `scratch` is in bytes, aligned to 16 by the
    caller.

    Each pair of `in_place` holds an input and an output that may start at the same address.
    `overlap` lists outputs that may alias an input at an alias distance.

    `fallback` is the fallback call: the same result from the same operands, with more instructions
    and less memory. It needs less scratch, or its output may alias more of its input. It may have a
    fallback call itself. `rows` describes the computation of one row by the same function.
    """

    function: str
    header: str
    params: Mapping[str, Field]
    dims: Mapping[str, Field]
    data: Mapping[str, Field]
    scratch: int = 0
    in_place: tuple[tuple[str, str], ...] = ()
    overlap: "tuple[Overlap, ...]" = ()
    fallback: "KernelCall | None" = None
    rows: "ByRows | None" = None

    @property
    def struct_prefix(self) -> str:
        return "pl_" + PurePosixPath(self.header).stem


@dataclass(frozen=True, eq=False)
class OpCall:
    """One operator call with its arguments by schema name.

    `id` is the call's in reports. `module` is the path of the user's module it comes from, "" if
    unknown. `small` requests size-optimized functions, even if others are faster. The accessors
    return an argument in its type, or raise a KernelError with its name.
    """

    op: str
    args: Mapping[str, Any]
    outputs: tuple[Value, ...]
    id: str = ""
    module: str = ""
    small: bool = False

    @property
    def place(self) -> str:
        """Id and module for a message, "" if both are unknown."""
        return ", ".join(filter(None, (self.id and f"op {self.id}", self.module)))

    def tensor(self, name: str, dtype: str | None = None, rank: int | None = None) -> Value:
        value = self._get(name, Value)
        assert isinstance(value, Value)
        self._check_tensor(name, value, dtype, rank)
        return value

    def optional_tensor(self, name: str, dtype: str, size: int) -> Value | None:
        """Return a tensor of so many elements, or None where the call leaves it out."""
        if self.args.get(name) is None:
            return None
        value = self.tensor(name, dtype)
        self.require(value.size == size, f"{name} has {value.size} elements, not {size}")
        return value

    def tensors(self, name: str, dtype: str | None = None) -> tuple[Value, ...]:
        values = tuple(self._get(name, Sequence))
        for index, value in enumerate(values):
            self._check_tensor(f"{name}[{index}]", value, dtype, None)
        return values

    def constant(self, name: str, dtype: str, rank: int | None = None) -> AnyArray:
        """Return the elements of a tensor argument that must be known at build time."""
        value = self.tensor(name, dtype, rank)
        if value.constant is None:
            raise self.error(f"{name} must be a constant, not the activation {value.name!r}")
        self.require(
            tuple(value.constant.shape) == value.shape,
            f"{name} has data of shape {value.constant.shape}, but its type has {value.shape}",
        )
        return value.constant

    def output(self, dtype: str | None = None, rank: int | None = None, index: int = 0) -> Value:
        if index >= len(self.outputs):
            raise self.error(f"output {index} is missing")
        value = self.outputs[index]
        self._check_tensor(f"output {index}", value, dtype, rank)
        return value

    def integer(self, name: str, minimum: int = INT32_MIN, maximum: int = INT32_MAX) -> int:
        value = self._get(name, int)
        self.require(
            minimum <= value <= maximum, f"{name} is {value}, not in [{minimum}, {maximum}]"
        )
        return int(value)

    def integers(
        self, name: str, count: int | None = None, minimum: int = INT32_MIN
    ) -> tuple[int, ...]:
        values = tuple(self._get(name, Sequence))
        self.require(
            count is None or len(values) == count, f"{name} has {len(values)} items, not {count}"
        )
        self.require(
            all(isinstance(v, int) and minimum <= v <= INT32_MAX for v in values),
            f"{name} is {list(values)}, its items must be integers of at least {minimum}",
        )
        return values

    def real(self, name: str) -> float:
        return float(self._get(name, (int, float)))

    def flag(self, name: str) -> bool:
        return bool(self._get(name, (bool, int)))

    def error(self, text: str) -> KernelError:
        where = ", ".join(repr(output.name) for output in self.outputs)
        place = f" ({self.place})" if self.place else ""
        return KernelError(f"{self.op} -> {where}{place}: {text}")

    def require(self, condition: bool, text: str) -> None:
        if not condition:
            raise self.error(text)

    def _get(self, name: str, kind: Any) -> Any:
        if name not in self.args:
            raise self.error(f"argument {name!r} is missing; the call has {sorted(self.args)}")
        value = self.args[name]
        if not isinstance(value, kind) or isinstance(value, str):
            raise self.error(f"argument {name!r} is {type(value).__name__}, {value!r}")
        return value

    def _check_tensor(self, name: str, value: Any, dtype: str | None, rank: int | None) -> None:
        if not isinstance(value, Value):
            raise self.error(f"{name} must be a tensor; it is {type(value).__name__}")
        self.require(dtype is None or value.dtype == dtype, f"{name} is {value.dtype}, not {dtype}")
        self.require(
            rank is None or len(value.shape) == rank,
            f"{name} has shape {list(value.shape)}, not {rank} dimensions",
        )
        self.require(
            len(value.shape) <= MAX_RANK,
            f"{name} has shape {list(value.shape)}, more than {MAX_RANK} dimensions",
        )
        self.require(
            all(size > 0 for size in value.shape),
            f"{name} has shape {list(value.shape)}: empty tensors have no kernel",
        )


Planner = Callable[[OpCall, Isa], KernelCall]

KERNELS: dict[str, Planner] = {}
"""Planners by op name ("pl::conv2d"); filled as kernel modules are imported, see
kernels.registry.
"""


def kernel(op: str) -> Callable[[Planner], Planner]:
    """Register a planner: `@kernel("pl::conv2d")`."""

    def register(planner: Planner) -> Planner:
        if op in KERNELS:
            raise AssertionError(f"two kernels are registered for {op}")
        KERNELS[op] = planner
        return planner

    return register
