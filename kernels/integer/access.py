# SPDX-License-Identifier: Apache-2.0
"""Access maps of ops of integers: memory read and written by a call."""

from dataclasses import replace

from kernels.common.access import Access
from kernels.common.access_forms import INT16, SHIFT, two_operands, within

_HEADER = "kernels/integer/integer.h"
_INTEGER = two_operands(_HEADER, 4, has_params=False)
_BOOL = two_operands(_HEADER, 4, result=1, has_params=False)
_ONE = replace(_INTEGER, reads={"a": _INTEGER.reads["a"]})
_QUANTIZED = (*within("shift", *SHIFT), *within("output_zero_point", *INT16))


def _quantize(size: int) -> Access:
    output = two_operands(_HEADER, 4, result=size).writes
    return replace(_ONE, writes=output, has_params=True, arithmetic=_QUANTIZED)


ACCESS: dict[str, Access] = {
    **{
        f"pl_integer_{op}": _INTEGER
        for op in ["add", "sub", "mul", "minimum", "maximum", "and", "divide", "modulo"]
    },
    "pl_integer_less": _BOOL,
    "pl_integer_equal": _BOOL,
    "pl_integer_place": two_operands(
        _HEADER, 4, "rows >= 1 and columns >= 1", "rows * columns <= 65535 * 32768"
    ),
    "pl_integer_quantize": _quantize(1),
    "pl_integer_quantize_s16": _quantize(2),
    "pl_integer_to_float": _ONE,
}
