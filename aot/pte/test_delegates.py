# SPDX-License-Identifier: Apache-2.0
"""Delegates in a .pte: ExecuTorch's readers and runtime accept them, and Pilotlight's reader checks
them.
"""

from __future__ import annotations

import functools
import struct
from collections.abc import Callable
from typing import Any

import pytest
import torch
from executorch.exir import to_edge_transform_and_lower
from executorch.exir.lowered_backend_module import LoweredBackendModule
from executorch.runtime import Runtime
from torch.fx import GraphModule, symbolic_trace

from aot.dialect.delegate import Delegate, DelegatePayload
from aot.dialect.graph import Edge, Origin
from aot.partition.cut import cut, extract
from aot.pte.conventions import Needs, PteError, sealed
from aot.pte.reader import read_pte, read_tables
from aot.pte.writer import write_pte
from aot.testing.fixtures import folded
from aot.upstream.executorch import (
    PTEFile,
    deserialize_pte_binary,
    serialize_pte_binary,
)

FIRST = DelegatePayload(b"first" * 30, "stand-in-1", 64, 32, {"mode": b"fast"})
SECOND = DelegatePayload(b"second" * 30, alignment=256)


def two_regions(first: DelegatePayload = FIRST, second: DelegatePayload = SECOND) -> GraphModule:
    """Return a graph with two regions.

    (x + y) and (x * y) form one region with two inputs and two results. The product of both is the
    other region.
    """
    graph = folded(lambda x, y: ((z := x + y) * (x * y) + x, z), shapes=[(1, 4, 6), (1, 4, 6)])
    nodes = [n for n in graph.graph.nodes if n.op == "call_function"]
    regions = ((nodes[:2], "BackendA", first), (nodes[2:3], "BackendB", second))
    cut(graph, [(r, Delegate(extract(graph, r), backend, made)) for r, backend, made in regions])
    return graph


def test_calls_take_inputs_and_then_results() -> None:
    artefact = read_pte(write_pte(two_regions()))
    forward = artefact.forward
    tensors: list[Any] = [value.val for value in forward.values]
    calls: list[Any] = [i.instr_args for i in forward.chains[0].instructions]
    first, second, last = calls
    assert [type(c).__name__ for c in calls] == ["DelegateCall", "DelegateCall", "KernelCall"]
    assert first.args[:2] == forward.inputs
    assert second.args[:2] == first.args[2:]
    assert second.args[2] == last.args[0]
    assert [len(c.args) for c in (first, second)] == [4, 3]
    assert [tensors[i].sizes for i in first.args] == [[1, 4, 6]] * 4
    assert (first.delegate_index, second.delegate_index) == (0, 1)
    assert forward.outputs == [last.args[-1], first.args[2]]


def test_delegates_keep_what_the_backend_said() -> None:
    first, second = read_pte(write_pte(two_regions())).delegates
    assert (first.backend, first.payload) == ("BackendA", FIRST.data)
    assert first.needs == Needs("stand-in-1", 64, 32)
    assert (second.backend, second.payload) == ("BackendB", SECOND.data)
    assert second.needs == Needs("", 0, 256)
    data = write_pte(two_regions(second=DelegatePayload(b"x", "npu", 64, cache_bytes=1 << 18)))
    assert read_pte(data).delegates[1].needs == Needs("npu", 64, 16, 1 << 18)


def test_executorch_reads_the_same() -> None:
    data = write_pte(two_regions())
    program = deserialize_pte_binary(data).program
    assert [d.id for d in program.execution_plan[0].delegates] == ["BackendA", "BackendB"]
    payloads = [
        program.backend_delegate_data[d.processed.index].data
        for d in program.execution_plan[0].delegates
    ]
    assert [bytes(p) for p in payloads] == [FIRST.data, SECOND.data]
    specs = program.execution_plan[0].delegates[0].compile_specs
    assert {s.key: bytes(s.value) for s in specs} == {
        "mode": b"fast",
        "pl_configuration": b"stand-in-1",
        "pl_scratch_bytes": bytes([64, 0, 0, 0]),
        "pl_alignment": bytes([32, 0, 0, 0]),
    }


@pytest.mark.parametrize("alignment", [1, 16, 128, 256, 4096])
def test_payloads_lie_aligned_in_the_file(alignment: int) -> None:
    payload = DelegatePayload(b"payload of no round length", alignment=alignment)
    data = write_pte(two_regions(second=payload))
    assert data.count(payload.data) == 1
    assert data.index(payload.data) % max(alignment, 128) == 0


def test_equal_payloads_are_kept_once() -> None:
    data = write_pte(two_regions(second=FIRST))
    assert data.count(FIRST.data) == 1
    assert [d.payload for d in read_pte(data).delegates] == [FIRST.data] * 2


def test_the_same_graph_gives_the_same_bytes() -> None:
    assert write_pte(two_regions()) == write_pte(two_regions())


@pytest.mark.parametrize(
    "payload, message",
    [
        (DelegatePayload(b"x", alignment=24), "alignment 24 must be a power of two"),
        (DelegatePayload(b"x", alignment=0), "alignment 0 must be a power of two"),
        (DelegatePayload(b"x", alignment=8192), "4096 at most"),
        (DelegatePayload(b"x", scratch_bytes=-1), "-1 bytes of scratch"),
        (DelegatePayload(b"x", scratch_bytes=2**31), "2147483648 bytes of scratch"),
        (DelegatePayload(b"x", cache_bytes=-1), "-1 bytes of cache"),
        (DelegatePayload(b"x", configuration='ethos "u"'), "must be a name"),
        (DelegatePayload(b""), "0 bytes of payload"),
    ],
)
def test_what_no_device_can_give_is_refused(payload: DelegatePayload, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        write_pte(two_regions(first=payload))


def xnnpack_payload(module: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> bytes:
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

    edge = to_edge_transform_and_lower(
        torch.export.export(module, inputs), partitioner=[XnnpackPartitioner()]
    )
    graph = edge.exported_program().graph_module
    (lowered,) = [m for m in graph.modules() if isinstance(m, LoweredBackendModule)]
    return bytes(lowered.processed_bytes)


def test_executorchs_runtime_runs_the_delegates() -> None:
    """Uses the only backend in ExecuTorch's Python package for any machine, in float32."""

    class Network(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            ops = torch.ops.aten
            result: torch.Tensor = ops.mul.Tensor(ops.add.Tensor(x, y), x)
            return result

    graph = symbolic_trace(Network())
    shape = (2, 3)
    for node in graph.graph.nodes:
        value = torch.empty(shape, device="meta")
        node.meta.update(val=value, edge=Edge(), origin=Origin())
    delegates = []
    for node in [n for n in graph.graph.nodes if n.op == "call_function"]:
        region = extract(graph, [node])
        payload = DelegatePayload(xnnpack_payload(region, (torch.ones(shape), torch.ones(shape))))
        delegates.append(([node], Delegate(region, "XnnpackBackend", payload)))
    cut(graph, delegates)
    x, y = torch.arange(6.0).reshape(shape), torch.full(shape, 0.5)
    method = Runtime.get().load_program(write_pte(graph)).load_method("forward")
    assert method is not None
    (result,) = method.execute([x, y])
    assert torch.equal(result, (x + y) * x)


@functools.cache
def sample() -> bytes:
    return write_pte(two_regions())


def changed(change: Callable[[Any, Any], object]) -> bytes:
    """The sample with something else in its tables; `change` gets program and first delegate."""
    file = deserialize_pte_binary(sample()[:-4])
    change(file.program, file.program.execution_plan[0].delegates[0])
    data = serialize_pte_binary(
        PTEFile(program=file.program), extract_delegate_segments=True, segment_alignment=256
    )
    return sealed(bytes(data))


def moved(segment: int, offset: int = 0, size: int = 0) -> bytes:
    """Return the sample with another position for a segment: `offset` and `size` are added."""
    data = bytearray(sample()[:-4])
    file_end = int.from_bytes(data[16:24], "little")
    old = read_tables(bytes(data)).segments[segment]
    pairs = [struct.pack("<QQ", *pair) for pair in ((old.size, old.offset), (old.offset, old.size))]
    size_first = data[:file_end].count(pairs[0]) == 1
    assert data[:file_end].count(pairs[0]) + data[:file_end].count(pairs[1]) == 1
    new = old.offset + offset, old.size + size
    at = data.index(pairs[0] if size_first else pairs[1])
    struct.pack_into("<QQ", data, at, *(new[::-1] if size_first else new))
    return sealed(bytes(data))


def _set(delegate: Any, key: str, value: bytes) -> None:
    (spec,) = [s for s in delegate.compile_specs if s.key == key]
    spec.value = value


DAMAGES: dict[str, tuple[Callable[[], bytes], str]] = {
    "an id that is no name": (
        lambda: changed(lambda p, d: setattr(d, "id", 'Back"end')),
        "delegate 0 has the id 'Back\"end'",
    ),
    "no alignment": (
        lambda: changed(lambda p, d: d.compile_specs.pop()),
        r"delegate 0 \(BackendA\): the compile spec pl_alignment is missing",
    ),
    "an alignment of two bytes": (
        lambda: changed(lambda p, d: _set(d, "pl_alignment", b"\x10\0")),
        "a number among the compile specs does not have 4 bytes",
    ),
    "an alignment that is no power of two": (
        lambda: changed(lambda p, d: _set(d, "pl_alignment", b"\x18\0\0\0")),
        "alignment 24 must be a power of two",
    ),
    "too much scratch memory": (
        lambda: changed(lambda p, d: _set(d, "pl_scratch_bytes", b"\0\0\0\xff")),
        "4278190080 bytes of scratch memory",
    ),
    "a configuration that is no text": (
        lambda: changed(lambda p, d: _set(d, "pl_configuration", b"\xff\xfe")),
        "delegate 0",
    ),
    "a misaligned payload": (
        lambda: moved(2, offset=-8),
        "its payload at byte [0-9]+, which is not aligned to 256 bytes",
    ),
    "an empty payload": (
        lambda: changed(lambda p, d: setattr(p.backend_delegate_data[0], "data", b"")),
        r"delegate 0 \(BackendA\) has an empty payload",
    ),
    "a payload behind the end": (lambda: moved(2, size=10**6), "segment 2 ends at"),
    "payloads that overlap": (lambda: moved(2, offset=-200), "segment 2 overlaps"),
    "truncated": (lambda: sealed(sample()[:-100]), "is truncated"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_damage_gives_one_clear_error(name: str) -> None:
    damaged, message = DAMAGES[name]
    with pytest.raises(PteError, match=message) as error:
        read_pte(damaged())
    assert "\n" not in str(error.value)


def test_the_undamaged_sample_is_read() -> None:
    assert len(read_pte(changed(lambda p, d: None)).delegates) == 2
