# SPDX-License-Identifier: Apache-2.0
"""Permitted tensors on a device: the one table of element types, and the maximum rank.

All Python code uses this table, from the dialect to the plan. The module imports nothing.
"""

from dataclasses import dataclass

MAX_RANK = 6
"""PL_MAX_RANK of types.h."""


@dataclass(frozen=True)
class DType:
    """An element type.

    Attributes:
      bytes: of one element.
      c_type: in device code.
      scalar_type: PyTorch's number for it, used in a .pte.
    """

    bytes: int
    c_type: str
    scalar_type: int


DTYPES: dict[str, DType] = {
    "int8": DType(1, "int8_t", 1),
    "int32": DType(4, "int32_t", 3),
    "float32": DType(4, "float", 6),
    "int16": DType(2, "int16_t", 2),
    "bool": DType(1, "uint8_t", 11),
}
"""Element types by their name in numpy and torch. In C a type's code is its position in this table,
and `dtype.h` is generated from it (dtype_header.py).
"""
