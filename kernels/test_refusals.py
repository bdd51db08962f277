# SPDX-License-Identifier: Apache-2.0
"""Calls that no kernel can run are refused with a message on the error."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

import pytest

from kernels.common.kernel import Isa, KernelError, OpCall
from kernels.registry import all_kernels, kernel_call
from kernels.testing.calls import activation
from kernels.testing.folders import folders

CALLS = [valid for folder in folders() for valid in folder.calls]
VALID = {(valid.call.op, valid.call.output().dtype): valid for valid in CALLS}
_REFUSED = [(valid.call, changes, message) for valid in CALLS for changes, message in valid.refused]


def test_every_op_has_a_valid_call_and_refused_ones() -> None:
    refused = {op: any(v.refused for v in CALLS if v.call.op == op) for op, _ in VALID}
    for op, planner in all_kernels().items():
        path = f"{planner.__module__.rpartition('.')[0].replace('.', '/')}/cases.py"
        assert op in refused, f"{path}: CALLS has no valid call of {op}"
        assert refused[op], f"{path}: nothing that {op} refuses, in CALLS"


def test_every_op_has_one_valid_call_for_a_type() -> None:
    assert len(VALID) == len(CALLS)


@pytest.mark.parametrize(("op", "dtype"), VALID)
def test_takes_valid_calls(op: str, dtype: str) -> None:
    for isa in get_args(Isa):
        assert kernel_call(VALID[op, dtype].call, isa).function.startswith("pl_")


@pytest.mark.parametrize(
    ("valid", "changes", "message"),
    _REFUSED,
    ids=[f"{call.op} {call.output().dtype}: {text}" for call, _, text in _REFUSED],
)
def test_refuses(valid: OpCall, changes: Mapping[str, Any], message: str) -> None:
    with pytest.raises(KernelError, match=message) as caught:
        kernel_call(replace(valid, args={**valid.args, **changes}), "scalar")
    assert str(caught.value).startswith(f"{valid.op} -> 'y'")


def test_refuses_results_of_another_type() -> None:
    valid = VALID["pl::max_with_indices", "int8"].call
    with pytest.raises(KernelError, match="output 1 is int8, not int32"):
        kernel_call(replace(valid, outputs=(valid.output(), activation(2, name="i"))), "scalar")
    with pytest.raises(KernelError, match="output 1 is missing"):
        kernel_call(replace(valid, outputs=valid.outputs[:1]), "scalar")


def test_refuses_missing_arguments() -> None:
    with pytest.raises(KernelError, match="'perm' is missing"):
        call = VALID["pl::transpose", "int8"].call
        kernel_call(replace(call, args={"input": call.args["input"]}), "scalar")


def test_refuses_unknown_ops() -> None:
    with pytest.raises(KernelError, match="this op has no kernel"):
        kernel_call(OpCall("aten::erfinv.out", {}, (activation(1, name="y"),)), "scalar")


@pytest.mark.parametrize("shape", [(1, 2, 1, 2, 1, 2, 1), (2, 0)])
def test_refuses_shapes_without_kernels(shape: tuple[int, ...]) -> None:
    table = VALID["pl::lut", "int8"].call.args["table"]
    call = OpCall(
        "pl::lut",
        {"input": activation(*shape), "table": table},
        (activation(*shape, name="y"),),
    )
    with pytest.raises(KernelError, match="more than 6 dimensions|empty tensors"):
        kernel_call(call, "scalar")
