# SPDX-License-Identifier: Apache-2.0
"""Tensors of rank 0: every op torch takes them for, in one model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F

from aot.lower import lower
from aot.options import Measure, Quantize
from aot.pte.reader import read_tables
from aot.testing.fixtures import model, samples

_ZERO = torch.tensor(0)
_TABLE = torch.tensor([[0.5, 1.5], [-1.0, 2.0]])

Case = Callable[[torch.Tensor], torch.Tensor]

VALUES: dict[str, Case] = {
    "amax": lambda x: x.amax(0),
    "cat": lambda x: torch.cat([x.reshape(1), 2 * x.reshape(1)]),
    "cosine_similarity": lambda x: F.cosine_similarity(x, x + 3.0, 0),
    "cummin": lambda x: x.cummin(0)[0],
    "cumprod": lambda x: x.cumprod(0),
    "cumsum": lambda x: x.cumsum(-1),
    "embedding": lambda x: F.embedding((x > 0).long(), _TABLE),
    "expand": lambda x: x.expand(2, 3),
    "flip": lambda x: x.flip(0),
    "gather": lambda x: x.gather(0, _ZERO),
    "gather by what is computed": lambda x: x.gather(0, (x > 9).long()),
    "index_add": lambda x: x.index_add(0, _ZERO, x * 2),
    "index_copy": lambda x: x.index_copy(0, _ZERO, x * 2),
    "index_fill": lambda x: x.index_fill(0, _ZERO, 0.5) + x,
    "index_select": lambda x: x.index_select(0, _ZERO),
    "kthvalue": lambda x: x.kthvalue(1)[0],
    "log_softmax": lambda x: x.log_softmax(0) + x,
    "logcumsumexp": lambda x: x.logcumsumexp(0),
    "logsumexp": lambda x: x.logsumexp(0),
    "logsumexp over nothing": lambda x: x.logsumexp(()),
    "max": lambda x: x.max(0)[0],
    "mean": lambda x: x.mean(0),
    "median": lambda x: x.median(),
    "median along": lambda x: x.median(0)[0],
    "norm": lambda x: torch.linalg.vector_norm(x, 2, 0),
    "normalize": lambda x: F.normalize(x + 4.0, dim=-1),
    "permute": lambda x: x.permute([]) * 2,
    "prod": lambda x: x.prod(),
    "prod along": lambda x: x.prod(0),
    "prod that keeps": lambda x: x.prod(0, keepdim=True),
    "repeat": lambda x: x.repeat(2, 1),
    "roll": lambda x: x.roll(1),
    "scatter": lambda x: x.scatter(0, _ZERO, x * 2),
    "scatter of a number": lambda x: x.scatter(0, _ZERO, 2.5) + x,
    "scatter_add": lambda x: x.scatter_add(0, _ZERO, x * 2),
    "softmax": lambda x: x.softmax(0) + x,
    "sort": lambda x: x.sort(0)[0],
    "squeeze": lambda x: x.squeeze(0),
    "stack": lambda x: torch.stack([x, x * 2]),
    "std": lambda x: x.std(0, correction=0) + x,
    "sum": lambda x: x.sum(0),
    "t": lambda x: x.t() * 2,
    "take": lambda x: x.take(_ZERO),
    "topk": lambda x: x.topk(1, 0)[0],
    "transpose": lambda x: x.transpose(0, -1),
    "unfold": lambda x: x.unfold(0, 1, 1),
    "where": lambda x: torch.where(x > 0, x, x * 2),
}

EXACT: dict[str, Case] = {
    "any": lambda x: (x > 0).any(0),
    "argmax": lambda x: x.argmax(0),
    "argsort": lambda x: x.argsort(0),
    "both": lambda x: (x > 0) & (x < 1),
    "comparison": lambda x: x > 0,
    "count": lambda x: (x + 9).count_nonzero(),
    "count along": lambda x: (x + 9).count_nonzero(0),
    "cumsum of a mask": lambda x: (x > 0).cumsum(0),
    "one_hot": lambda x: F.one_hot((x > 0).long(), 2),
    "pad": lambda x: F.pad((x > 0).reshape(1), (1, 2), value=True),
    "sum of a mask": lambda x: (x > 0).sum(0),
}
"""Masks and integer results of ops."""

INTEGERS: dict[str, Case] = {
    "clamp": lambda x: ((x > 0).long() * 3).clamp(1, 2),
    "comparison with a number": lambda x: (x > 0).long() > 0,
    "number added": lambda x: (x > 0).long() + 1,
    "sum of integers": lambda x: (x > 0).long().sum(),
}
"""Arithmetic on integers: layers of int16 and float32 have none."""


@pytest.mark.parametrize("quantization", ["int8", "int16", "float32"])
def test_shapes_and_values(quantization: str) -> None:
    exact = {**EXACT, **(INTEGERS if quantization == "int8" else {})}
    cases = {**VALUES, **exact}
    net = model(lambda x: [case(x) for case in cases.values()])
    data = samples((), count=8)
    lowered = lower(
        net,
        data[0],
        calibration=data,
        quantize=Quantize(quantization=quantization),
        measure=Measure(min_agreement=0.0, per_op=False),
    )
    (plan,) = (p for p in read_tables(lowered.pte).execution_plan if p.name == "forward")
    tensors: list[Any] = [plan.values[index].val for index in plan.outputs]
    stored = [tuple(tensor.sizes) for tensor in tensors]
    for sample in data:
        expected, given = net(*sample), lowered.reference(sample)
        actual = lowered.dequantize_outputs(given)
        for name, y, kept, raw, sizes in zip(cases, expected, actual, given, stored, strict=True):
            assert kept.shape == raw.shape == y.shape == torch.Size(sizes), name
            if name in exact:
                assert torch.equal(kept.long(), y.long()), name
            else:
                error = (kept - y).abs().max()
                assert error < 0.05 * max(1.0, float(y.abs().max())), (name, y, kept)
