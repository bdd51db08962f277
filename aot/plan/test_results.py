# SPDX-License-Identifier: Apache-2.0
"""Ops with several results: each has its own memory, and a damaged list of them is an error."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from executorch.exir import schema as et

from aot.plan.plan import make_plan
from aot.plan.pte import read_program
from aot.plan.testing import export_pte, sample_board
from aot.pte.conventions import PteError, sealed
from aot.upstream.executorch import deserialize_pte_binary, serialize_pte_binary

OPS: Any = torch.ops.pl


class Largest(torch.nn.Module):
    """int8 [2, 5, 3] -> the largest value of each column, and its index."""

    def forward(self, x: torch.Tensor) -> Any:
        return OPS.max_with_indices(x, 1, False)


def largest() -> bytes:
    return export_pte(Largest(), [torch.zeros(2, 5, 3, dtype=torch.int8)])


def test_several_results_have_memory_each() -> None:
    program = read_program(largest())
    (call,) = program.calls
    assert [(value.dtype, value.shape) for value in call.outputs] == [
        ("int8", (2, 3)),
        ("int32", (2, 3)),
    ]
    assert [port.value for port in program.outputs] == list(call.outputs)
    assert [(port.scale, port.zero_point) for port in program.outputs] == [(0.5, 3), (0.0, 0)]
    plan = make_plan(program, sample_board())
    (step,) = plan.sharing.steps
    assert step.writes == call.outputs
    first, second = sorted((plan.address(v.name).offset, v.bytes) for v in call.outputs)
    assert sum(first) <= second[0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda results: results.reverse(), r"writes values \[\d+, \d+\], but returns"),
        (lambda results: results.pop(), r"writes values \[\d+, \d+\], but returns \[\d+\]"),
        (lambda results: results.append(0), "but returns"),
    ],
)
def test_damaged_results(change: Callable[[list[int]], None], message: str) -> None:
    file = copy.deepcopy(deserialize_pte_binary(largest()))
    (plan,) = (p for p in file.program.execution_plan if p.name == "forward")
    call = plan.chains[0].instructions[0].instr_args
    assert isinstance(call, et.KernelCall)
    returned = plan.values[call.args[-1]].val
    assert isinstance(returned, et.TensorList)
    change(returned.items)
    with pytest.raises(PteError, match=message):
        read_program(sealed(bytes(serialize_pte_binary(file))))
