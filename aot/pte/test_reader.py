# SPDX-License-Identifier: Apache-2.0
"""The reader finds the same data in a file as ExecuTorch's reader. No damage passes its checks.

Errors for files damaged as a whole are tested with the plan compiler, which uses this reader.
"""

from __future__ import annotations

import functools
import inspect
import random
import re
from dataclasses import fields, is_dataclass
from importlib import resources
from typing import Any

import pytest
import torch
from executorch.exir import schema as et

import kernels.ops  # noqa: F401  (registers torch.ops.pl)
from aot.pte import schema
from aot.pte.conventions import Border, Needs, PteError, constant_methods, sealed
from aot.pte.reader import delegate_payloads, read_pte
from aot.pte.testing import export_pte
from aot.upstream.executorch import (
    PTEFile,
    deserialize_pte_binary,
    serialize_pte_binary,
)

PAYLOADS = [b"first" * 40, b"second" * 20]


class Network(torch.nn.Module):
    """Tensors of every element type, lists of tensors and of numbers, nothing, numbers."""

    table: torch.Tensor
    bias: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.norm = torch.nn.LayerNorm(4)
        self.register_buffer("table", torch.arange(-128, 128).to(torch.int8))
        self.register_buffer("bias", torch.arange(5, dtype=torch.int32))

    def forward(self, x: torch.Tensor, f: torch.Tensor) -> tuple[torch.Tensor, ...]:
        ops: Any = torch.ops.pl
        x = ops.nhwc_to_channels_last(ops.lut(ops.channels_last_to_nhwc(x), self.table))
        f = torch.sum(self.norm(f), dim=[1]).pow(2.0)
        return x, ops.cat([f, ops.dequantize(f.to(torch.int8), 0.5, 3)], 0), self.bias + 1


BORDERS = ([Border(0.5, 3, "nhwc"), Border(0.0, 0, "row_major")], [Border(0.25, -128, "nhwc")] * 3)


@functools.cache
def sample(constants: bool = True) -> bytes:
    if not constants:
        module = torch.nn.ReLU()
        borders = [Border(0.0, 0, "row_major")]
        return export_pte(module, [torch.ones(3)], constant_methods(borders, borders))
    x = torch.zeros(1, 3, 4, 4, dtype=torch.int8).to(memory_format=torch.channels_last)
    return export_pte(Network().eval(), [x, torch.ones(2, 3, 4)], constant_methods(*BORDERS))


@functools.cache
def with_delegates(in_segments: bool) -> bytes:
    file = deserialize_pte_binary(sample())
    plan = file.program.execution_plan[0]
    for index, payload in enumerate(PAYLOADS):
        reference = et.BackendDelegateDataReference(et.DataLocation.INLINE, index)
        specs = [et.CompileSpec(*spec) for spec in Needs(alignment=1).compile_specs().items()]
        plan.delegates.append(et.BackendDelegate(f"Backend{index}", reference, specs))
        file.program.backend_delegate_data.append(et.BackendDelegateInlineData(payload))
    plan.chains[0].instructions.append(et.Instruction(et.DelegateCall(1, [0, 1])))
    data = serialize_pte_binary(
        PTEFile(program=file.program), extract_delegate_segments=in_segments
    )
    return sealed(bytes(data))


def check_same(mine: Any, theirs: Any, where: str) -> None:
    if is_dataclass(mine):
        assert type(mine).__name__ == type(theirs).__name__, where
        for part in fields(mine):
            name = part.name
            check_same(getattr(mine, name), getattr(theirs, name), f"{where}.{name}")
    elif isinstance(mine, list):
        assert len(mine) == len(theirs or []), where
        for index, (a, b) in enumerate(zip(mine, theirs or [], strict=True)):
            check_same(a, b, f"{where}[{index}]")
    else:
        assert mine == theirs, where


@pytest.mark.parametrize("kind", ["constants", "no constants", "delegates"])
def test_reads_what_executorch_reads(kind: str) -> None:
    data = with_delegates(in_segments=False) if kind == "delegates" else sample(kind == "constants")
    artefact, theirs = read_pte(data), deserialize_pte_binary(data).program
    check_same(artefact.forward, theirs.execution_plan[0], "forward")
    constants = [bytes(buffer.storage) for buffer in theirs.constant_buffer]
    assert list(artefact.constants[1:]) == constants[1:]


def test_reads_the_border() -> None:
    artefact = read_pte(sample())
    assert ([*artefact.inputs], [*artefact.outputs]) == BORDERS


@pytest.mark.parametrize("in_segments", [False, True])
def test_reads_payloads(in_segments: bool) -> None:
    for index, payload in enumerate(PAYLOADS):
        assert delegate_payloads(with_delegates(in_segments), f"Backend{index}") == [payload]
    assert delegate_payloads(with_delegates(in_segments), "Backend2") == []


def test_fields_have_the_numbers_of_executorchs_schema() -> None:
    text = (resources.files("executorch.exir._serialize") / "program.fbs").read_text()
    text = re.sub(r"//.*", "", text)
    unions = re.findall(r"union (\w+)", text)
    tables = dict(re.findall(r"table (\w+) \{(.*?)\}", text, re.DOTALL))
    for kind, members in inspect.getmembers(schema, is_dataclass):
        names: list[str] = []
        for name, type_ in re.findall(r"(\w+)\s*:\s*\[?(\w+)", tables[kind]):
            names += [f"{name}'s type", name] if type_ in unions else [name]
        for part in fields(members):
            assert names.index(part.name) == part.metadata["flatbuffer"].number, (kind, part.name)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_tables_are_an_error_or_readable(seed: int) -> None:
    """The checksum is made right again, as it would hide all other checks."""
    rng = random.Random(seed)
    original = with_delegates(in_segments=True)[:-4]
    end = int.from_bytes(original[16:24], "little")
    outcomes = set()
    for _ in range(500):
        data = bytearray(original)
        for _ in range(rng.choice([1, 1, 4])):
            data[rng.randrange(end)] = rng.choice([0, 1, 127, 128, 255])
        for read in (read_pte, lambda d: delegate_payloads(d, "Backend1")):
            try:
                read(sealed(bytes(data)))
                outcomes.add("read")
            except PteError as error:
                assert "\n" not in str(error)
                outcomes.add("error")
    assert outcomes == {"read", "error"}
