# SPDX-License-Identifier: Apache-2.0
"""Access maps of logarithms of softmaxes: memory read and written by a call."""

from kernels.common.access import Access, Extent
from kernels.common.access_forms import INT8, SHIFT, WIDTH, sizes, within

_SHIFTS = within("input_shift log_shift", *SHIFT)


def _log_softmax(size: int, *arithmetic: str) -> Access:
    whole = Extent("outer * size * inner", size)
    return Access(
        f"kernels/log_softmax/log_softmax{WIDTH[size]}.h",
        sizes("outer size inner"),
        {"input": whole, "exp_table": Extent(str(256 * size), 4)},
        {"output": whole},
        arithmetic=(*_SHIFTS, *arithmetic),
    )


ACCESS: dict[str, Access] = {
    "pl_log_softmax_s8": _log_softmax(
        1, *within("fraction_bits", 0, 31), *within("output_zero_point", *INT8)
    ),
    "pl_log_softmax_s16": _log_softmax(2),
}
