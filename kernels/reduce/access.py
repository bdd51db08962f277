# SPDX-License-Identifier: Apache-2.0
"""Access maps of reductions: memory read and written by a call."""

from dataclasses import replace

from kernels.common.access import Access, Extent
from kernels.common.access_forms import INT8, REDUCED, SHIFT, reduction, within

_HEADER = "kernels/reduce/reduce.h"
_STAGE = (*within("shift", *SHIFT), *within("input_zero_point output_zero_point", *INT8))
_LOG = (*_STAGE, *within("log_shift", *SHIFT))
_LOG_S8 = (*_LOG, *within("fraction_bits", 0, 31))
_MOMENT = (*_STAGE, *within("fraction_bits", -62, 62))


def _extreme(size: int) -> Access:
    return reduction(_HEADER, size, size, has_params=False)


def _sum(size: int) -> Access:
    return reduction(_HEADER, size, 4, has_params=False)


def _cumsum(size: int) -> Access:
    """Return a result for each value of the only reduced dimension."""
    return replace(
        reduction(_HEADER, size, size, *_STAGE, *within("fraction_bits", 0, 22)),
        writes={"output": Extent(REDUCED, size)},
        needs=("reduced[0] == 1 and reduced[1] == 1",),
    )


ACCESS: dict[str, Access] = {
    "pl_amax_s8": _extreme(1),
    "pl_amin_s8": _extreme(1),
    "pl_amax_s16": _extreme(2),
    "pl_amin_s16": _extreme(2),
    "pl_sum_bool": _sum(1),
    "pl_sum_s16": _sum(2),
    "pl_sum_s32": _sum(4),
    "pl_second_moment_s8": reduction(_HEADER, 1, 1, *_MOMENT),
    "pl_second_moment_s16": reduction(_HEADER, 2, 2, *_MOMENT),
    "pl_logsumexp_s8": reduction(_HEADER, 1, 1, *_LOG_S8, table=256),
    "pl_logsumexp_s16": reduction(_HEADER, 2, 2, *_LOG, table=512),
    "pl_cumsum_s8": _cumsum(1),
    "pl_cumsum_s16": _cumsum(2),
}
