# SPDX-License-Identifier: Apache-2.0
"""Models that change their buffers: the values equal those of the user's own module, run by run."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from executorch.runtime import Runtime
from torch import nn

from aot.dialect.graph import edge_of, state_nodes
from aot.dialect.verifier import verify
from aot.lower import Lowered, lower
from aot.options import Io, Measure, Quantize
from aot.passes.rewrite.state_copies import copy_shared_states
from aot.pte.testing import export_graph
from aot.testing.fixtures import forget_rules, op_counts, samples
from aot.testing.lockstep import compare
from aot.testing.stand_in import stand_in_target
from aot.testing.stateful import SHAPE, Buffers, Nested, ramp, returned, zeros


def _assigned(m: Any, x: torch.Tensor) -> Any:
    old = m.a
    m.a = x * 0.5 + old * 0.5
    return m.a - old


def _copied(m: Any, x: torch.Tensor) -> Any:
    m.a.copy_(m.a * 0.5 + x)
    return torch.tanh(m.a)


def _whole(m: Any, x: torch.Tensor) -> Any:
    y = x - m.a
    m.a[:] = x
    return y


def _shifted(m: Any, x: torch.Tensor) -> Any:
    m.a[:, :-1] = m.a[:, 1:].clone()
    m.a[:, -1] = x.mean(1)
    return m.a * 2.0


def _rolled(m: Any, x: torch.Tensor) -> Any:
    m.a = torch.roll(m.a, 1, 1)
    m.a[:, :1] = x[:, :1]
    return m.a.mean(1)


def _swapped(m: Any, x: torch.Tensor) -> Any:
    y = m.a * 2.0 + x
    kept = m.a.clone()
    m.a.copy_(m.b)
    m.b.copy_(kept)
    return y


def _delayed(m: Any, x: torch.Tensor) -> Any:
    old = m.b.clone()
    m.b.copy_(m.a)
    m.a.copy_(x)
    return old + x, old[:, 2:4]


def _fixed(m: Any, x: torch.Tensor) -> Any:
    m.a = torch.sigmoid(m.a + x)
    return m.a * 2.0


def _two_scales(m: Any, x: torch.Tensor) -> Any:
    """The state's range is larger than that of sigmoid, its new value."""
    y = torch.cat([m.a, x * 4.0], 1)
    m.a = torch.sigmoid(x)
    return y * 0.5


def _scalar(m: Any, x: torch.Tensor) -> Any:
    y = x * m.a + m.b
    m.b.copy_(m.a)
    m.a.mul_(0.5).add_(x.mean())
    return y


def _counted(m: Any, x: torch.Tensor) -> Any:
    m.count += 1
    m.unread.copy_(x)
    m.same.copy_(m.same)
    m.a.add_(x * 0.25)
    return m.a * m.same


def _difference(m: Any, x: torch.Tensor) -> Any:
    """The state becomes the input itself."""
    y = x - m.a
    m.a = x
    return y


def _chain(m: Any, x: torch.Tensor) -> Any:
    """Assignments do not change values read before."""
    y = x + m.b * 0.5
    m.b = m.a
    m.a = x
    return y


def _exchanged(m: Any, x: torch.Tensor) -> Any:
    y = x * m.a
    m.a, m.b = m.b, m.a
    return y


def _earlier(m: Any, x: torch.Tensor) -> Any:
    """The old value, in other shapes."""
    old = m.a
    m.a = x * 0.5
    return old.reshape(2, 3), old.reshape(6), m.a


def _in_a_name_of_others(m: Any, x: torch.Tensor) -> Any:
    """Buffers are called as the input and as another module's buffer."""
    m.x = m.x * 0.5 + x
    m.inner_a = m.inner_a * 0.5 + m.x
    return m.inner(x) + m.inner_a


def name_of_others() -> nn.Module:
    module = Buffers(_in_a_name_of_others, x=zeros(), inner_a=zeros())
    module.inner = Buffers(returned, a=zeros())
    return module


class Twice(nn.Module):
    """One module in two places: the second call goes on where the first one ended."""

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.inner(self.inner(x) * 0.5)
        return result


Make = Callable[[], nn.Module]
# Models and their lowering: number of states, ops of the dialect.
MODELS: dict[str, tuple[Make, int, dict[str, int]]] = {
    "assigned": (lambda: Buffers(_assigned, a=ramp()), 1, {"pl.lut": 2, "pl.add": 2}),
    "copied": (lambda: Buffers(_copied, a=ramp()), 1, {"pl.lut": 2, "pl.add": 1}),
    "the whole slice": (lambda: Buffers(_whole, a=ramp()), 1, {"pl.add": 1, "pl.cat": 1}),
    "shifted": (
        lambda: Buffers(_shifted, a=zeros()),
        1,
        {"pl.slice": 3, "pl.cat": 2, "pl.mean": 1, "pl.lut": 1, "pl.reshape": 1},
    ),
    "rolled": (lambda: Buffers(_rolled, a=zeros()), 1, {}),
    "swapped": (lambda: Buffers(_swapped, a=ramp(), b=zeros()), 2, {}),
    "delayed": (lambda: Buffers(_delayed, a=zeros(), b=zeros()), 2, {}),
    "returned": (lambda: Buffers(returned, a=ramp()), 1, {"pl.lut": 1, "pl.add": 1}),
    "a fixed range": (lambda: Buffers(_fixed, a=zeros()), 1, {"pl.add": 1, "pl.lut": 2}),
    "two scales": (lambda: Buffers(_two_scales, a=ramp() * 3.0), 1, {}),
    "scalars": (lambda: Buffers(_scalar, a=torch.tensor(0.5), b=torch.tensor(0.0)), 2, {}),
    "what nobody reads": (
        lambda: Buffers(
            _counted,
            a=zeros(),
            count=torch.zeros(1, dtype=torch.int64),
            unread=zeros(),
            same=ramp() + 2.0,
        ),
        1,
        {"pl.lut": 1, "pl.add": 1, "pl.mul": 1},
    ),
    "in a submodule": (lambda: Nested(Buffers(_assigned, a=ramp())), 1, {}),
    "the input": (lambda: Buffers(_difference, a=ramp()), 1, {"pl.add": 1, "pl.cat": 1}),
    "the input of a submodule": (lambda: Nested(Buffers(_difference, a=ramp())), 1, {}),
    "a chain": (lambda: Buffers(_chain, a=ramp(), b=zeros()), 2, {}),
    "a chain in a submodule": (lambda: Nested(Buffers(_chain, a=ramp(), b=zeros())), 2, {}),
    "exchanged": (lambda: Buffers(_exchanged, a=ramp(), b=zeros()), 2, {}),
    "exchanged in a submodule": (lambda: Nested(Buffers(_exchanged, a=ramp(), b=zeros())), 2, {}),
    "the old value, reshaped": (
        lambda: Buffers(_earlier, a=ramp()),
        1,
        {"pl.lut": 1, "pl.reshape": 2, "pl.cat": 2},
    ),
    "names of others": (name_of_others, 3, {}),
    "called twice": (lambda: Twice(Buffers(returned, a=ramp())), 1, {}),
}
Sequence = list[tuple[torch.Tensor, ...]]
CALIBRATION: list[Sequence] = [
    samples(SHAPE, count=12),
    [(x,) for _, x in samples(SHAPE, SHAPE, count=12)],
]


def lowered(name: str) -> Lowered:
    module = MODELS[name][0]().eval()
    return lower(module, CALIBRATION[0][0], calibration=CALIBRATION)


@functools.cache
def shared(name: str) -> tuple[nn.Module, Lowered]:
    """Return a model and its lowered form, for tests running them. Lowering leaves the buffers
    alone.
    """
    module = MODELS[name][0]().eval()
    before = {key: value.clone() for key, value in module.named_buffers()}
    result = lower(module, CALIBRATION[0][0], calibration=CALIBRATION)
    assert all(torch.equal(before[key], value) for key, value in module.named_buffers())
    return module, result


def as_list(result: object) -> list[torch.Tensor]:
    return [result] if isinstance(result, torch.Tensor) else list(result)  # type: ignore[call-overload]


def run(result: Lowered, sequence: Sequence) -> list[torch.Tensor]:
    return [y for x in sequence for y in result.reference(x)]


@pytest.mark.parametrize("name", MODELS)
def test_runs_are_those_of_the_module(name: str) -> None:
    _, states, ops = MODELS[name]
    module, result = shared(name)
    assert len(state_nodes(result.module)) == len(result.report["states"]) == states
    assert not ops or op_counts(result.module) == ops
    for old, new in state_nodes(result.module):
        assert old.meta["val"].dtype == torch.int8
        assert edge_of(old).quantization == edge_of(new).quantization
    noise = signal = 0.0
    for x in CALIBRATION[0]:
        actual = result.dequantize_outputs(result.reference(x))
        for a, b in zip(actual, as_list(module(*x)), strict=True):
            noise += float(((a - b) ** 2).sum())
            signal += float((b**2).sum())
    assert signal / noise > 10**2.5, "25 dB"


def test_an_exported_program_is_as_good() -> None:
    program = torch.export.export(Buffers(_delayed, a=zeros(), b=zeros()).eval(), (zeros(),))
    result = lower(program, (zeros(),), calibration=CALIBRATION)
    for _ in range(2):
        assert all(
            map(torch.equal, run(result, CALIBRATION[0]), run(lowered("delayed"), CALIBRATION[0]))
        )
        result.reset()


@pytest.mark.parametrize("name", ["assigned", "delayed", "two scales"])
def test_reset_begins_again(name: str) -> None:
    result = lowered(name)
    first = run(result, CALIBRATION[0])
    second = run(result, CALIBRATION[0])
    result.reset()
    third = run(result, CALIBRATION[0])
    assert all(map(torch.equal, first, third))
    assert not all(map(torch.equal, first, second)), "state was carried on"


@pytest.mark.parametrize("name", MODELS)
def test_ops_are_close_to_torchaos(name: str) -> None:
    assert compare(shared(name)[1], CALIBRATION[0]).largest <= 1


@pytest.mark.parametrize(
    ("name", "copies"),
    [("assigned", 0), ("the whole slice", 1), ("swapped", 2), ("delayed", 3), ("scalars", 1)],
)
def test_values_that_are_another_ones_are_copied(name: str, copies: int) -> None:
    graph = lowered(name).folded
    assert copy_shared_states(graph) == copies
    verify(graph, "copy_shared_states")
    assert copy_shared_states(graph) == 0


@pytest.mark.parametrize("name", ["assigned", "delayed", "scalars"])
def test_state_goes_through_delegates(name: str) -> None:
    module = MODELS[name][0]().eval()
    target = stand_in_target({"add", "mul", "cat"})
    result = lower(module, CALIBRATION[0][0], target=target, calibration=CALIBRATION)
    assert result.report["delegates"]
    expected = run(lowered(name), CALIBRATION[0])
    assert all(map(torch.equal, run(result, CALIBRATION[0]), expected))


def test_calibration_carries_state_through_a_sequence() -> None:
    """A sum over a sequence has a range not visible in any single sample."""
    ones = [(torch.ones(SHAPE),)] * 10

    def total(m: Any, x: torch.Tensor) -> Any:
        m.a += x
        return m.a * 0.5

    def scale(calibration: Any) -> float:
        module = Buffers(total, a=zeros()).eval()
        result = lower(
            module, ones[0], calibration=calibration, measure=Measure(min_sqnr=-math.inf)
        )
        assert result.report["calibration_samples"] == 10
        return float(result.report["states"][0]["scale"])

    assert scale(ones) == pytest.approx(10 / 255, rel=0.02)
    assert scale([ones[:5], ones[5:]]) == pytest.approx(5 / 255, rel=0.02)
    assert scale(iter([iter(ones[:5]), iter(ones[5:])])) == scale([ones[:5], ones[5:]])
    assert scale([[one] for one in ones]) == pytest.approx(1 / 255, rel=0.02)


@pytest.mark.parametrize("name", ["swapped", "delayed", "the whole slice"])
def test_is_what_executorch_would_write(name: str) -> None:
    result = lowered(name)
    assert result.pte == export_graph(result.module)


def _maximum(m: Any, x: torch.Tensor) -> Any:
    y = torch.minimum(m.a, x)
    m.a = torch.maximum(m.a, x)
    return y


def test_executorchs_own_runtime_keeps_the_state(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Uses the float kernels of that runtime: the largest values so far."""
    forget_rules(monkeypatch, torch.ops.aten.minimum.default, torch.ops.aten.maximum.default)
    module = Buffers(_maximum, a=zeros()).eval()
    data = CALIBRATION[0]
    result = lower(
        module,
        data[0],
        calibration=data,
        quantize=Quantize(allow_float_fallback=True),
        io=Io(float_io=True),
    )
    assert [s["dtype"] for s in result.report["states"]] == ["float32"]
    path = tmp_path / "model.pte"
    path.write_bytes(result.pte)
    method = Runtime.get().load_program(path).load_method("forward")
    assert method is not None
    for x in data:
        (expected,) = result.reference(x)
        assert torch.equal(method.execute(list(x))[0], expected)
        assert torch.equal(module(*x), expected)
