# SPDX-License-Identifier: Apache-2.0
"""Access maps of softmaxes: memory read and written by a call."""

from kernels.common.access import Access, Extent
from kernels.common.access_forms import WIDTH, sizes


def _softmax(size: int, has_params: bool) -> Access:
    whole = Extent("outer * size * inner", size)
    return Access(
        f"kernels/softmax/softmax{WIDTH[size]}.h",
        sizes("outer size inner"),
        {"input": whole, "exp_table": Extent(str(256 * size), 4)},
        {"output": whole},
        has_params=has_params,
    )


ACCESS: dict[str, Access] = {
    "pl_softmax_s8": _softmax(1, has_params=False),
    "pl_softmax_rows_s8": _softmax(1, has_params=False),
    "pl_softmax_steps_s8": _softmax(1, has_params=True),
    "pl_softmax_steps_rows_s8": _softmax(1, has_params=True),
    "pl_softmax_s16": _softmax(2, has_params=False),
}
