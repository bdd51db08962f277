# SPDX-License-Identifier: Apache-2.0
"""Writes a model with an input and an output of every element type, and vectors for it.

Each output is its input twice, one after the other.
"""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from absl import app, flags

from aot.plan.testing import export_pte
from kernels.common.tensor import DTYPES

COUNT = 4
SHAPE = (3, 5)

_PTE = flags.DEFINE_string("pte", None, "The .pte to write.", required=True)
_VECTORS = flags.DEFINE_string("vectors", None, "The .npz to write.", required=True)


class Twice(torch.nn.Module):
    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ops: Any = torch.ops.pl
        return tuple(ops.cat([x, x], 0) for x in inputs)


def values(dtype: torch.dtype, seed: int) -> torch.Tensor:
    """Return random values of a dtype: any bits of an integer, any truth, any number."""
    random = torch.Generator().manual_seed(seed)
    if dtype is torch.float32:
        return torch.randn(SHAPE, generator=random)
    if dtype is torch.bool:
        return torch.rand(SHAPE, generator=random) < 0.5
    limits = torch.iinfo(dtype)
    return torch.randint(limits.min, limits.max, SHAPE, generator=random, dtype=dtype)


def main(argv: list[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unknown argument {argv[1]!r}")
    dtypes = [getattr(torch, name) for name in DTYPES]
    vectors = [[values(dtype, seed) for dtype in dtypes] for seed in range(COUNT)]
    Path(_PTE.value).write_bytes(export_pte(Twice(), vectors[0]))
    columns = zip(*vectors, strict=True)
    inputs = [np.stack([x.numpy() for x in column]) for column in columns]
    arrays = {f"input_{i}": x for i, x in enumerate(inputs)}
    arrays |= {f"output_{i}": np.concatenate([x, x], 1) for i, x in enumerate(inputs)}
    np.savez(_VECTORS.value, **arrays)
    return 0


if __name__ == "__main__":
    app.run(main)
