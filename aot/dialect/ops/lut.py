# SPDX-License-Identifier: Apache-2.0
"""pl::lut: any function of one int8 value, as a table."""

from __future__ import annotations

import torch

from aot.dialect.library import define
from aot.dialect.transposes import elementwise


def _infer(input: torch.Tensor, table: torch.Tensor) -> tuple[tuple[int, ...], torch.dtype]:
    return tuple(input.shape), table.dtype


@define(
    "Tensor input, Tensor table",
    infer=_infer,
    dtypes={"input": (torch.int8,), "table": (torch.int8, torch.bool)},
    transposes=elementwise("input"),
)
def lut(input: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
    """table[input + 128]; table int8 or bool [256], shape and layout are the input's."""
    return table[input.to(torch.int64) + 128]
