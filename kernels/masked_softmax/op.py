# SPDX-License-Identifier: Apache-2.0
"""pl::masked_softmax: softmax over the elements of the last dimension that a mask keeps."""

from __future__ import annotations

import torch

from aot.dialect.library import define
from aot.dialect.quantization import ACTIVATION_TYPES
from aot.dialect.signature import Activation, Int32, Mask
from kernels.softmax.op import wide_exponentials, wide_shares


@define()
def masked_softmax(input: Activation, mask: Mask, exp_table: Int32, steps: int) -> torch.Tensor:
    """Return pl::softmax over the last dimension, with maximum and sum of the kept elements.

    Other elements, and rows without a kept one, give 0: -128 in int8.

    input int8 or int16 [..., N]; mask bool [..., N], true for kept elements, broadcasts in the
    leading dimensions; exp_table, steps and the result's quantization are those of pl::softmax.
    """
    x = input.to(torch.int64)
    kept = mask.expand(x.shape)
    largest = x.masked_fill(~kept, ACTIVATION_TYPES[input.dtype].quant_min).amax(
        dim=-1, keepdim=True
    )
    if input.dtype is torch.int16:
        e = wide_exponentials((largest - x).clamp(min=0), exp_table).where(kept, 0)
        return wide_shares(e, e.sum(dim=-1, keepdim=True))
    e = exp_table.to(torch.int64)[(largest - x).clamp(min=0)].where(kept, 0)
    total = e.sum(dim=-1, keepdim=True).clamp(min=1)
    out = (e * steps + total // 2) // total - 128
    return out.clamp(max=127).to(torch.int8)
