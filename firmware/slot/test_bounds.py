# SPDX-License-Identifier: Apache-2.0
"""Bounds of kernels against the operands of all their cases: what is written is the output, all of
it, and nothing that the kernels' planners make is refused."""

from collections.abc import Iterator
from typing import get_args

import pytest

from firmware.slot.bounds import BOUNDS
from firmware.slot.expressions import extents
from kernels.common.kernel import Isa, KernelCall, KernelError
from kernels.registry import kernel_call
from kernels.testing.folders import folder
from kernels.testing.oracle import expected_outputs
from kernels.testing.program import op_call

_FOLDERS = sorted({bounds.header.split("/")[1] for bounds in BOUNDS.values()})


def _calls(name: str, isa: Isa) -> Iterator[KernelCall]:
    for case in folder(name).cases():
        call = op_call(case, expected_outputs(case))
        try:
            found: KernelCall | None = kernel_call(call, isa)
        except KernelError:
            continue
        while found is not None:
            yield found
            found = found.nearer


@pytest.mark.parametrize("name", _FOLDERS)
def test_every_call_touches_its_operands_and_no_more(name: str) -> None:
    seen = set()
    for isa in get_args(Isa):
        for call in _calls(name, isa):
            bounds = BOUNDS.get(call.function)
            if bounds is None:
                continue
            seen.add(call.function)
            for operand, (touched, have) in extents(bounds, call, isa).items():
                where = f"{call.function} for {isa}: {operand} of {dict(call.dims)}"
                assert touched <= have, where
                if operand in bounds.writes:
                    assert touched == have, where
    expected = {f for f, bounds in BOUNDS.items() if bounds.header.split("/")[1] == name}
    assert expected <= seen
