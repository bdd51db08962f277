# SPDX-License-Identifier: Apache-2.0
"""Old values in memory of torch.empty and its kin reach no range, and no result."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from aot.accept.export import export_aten
from aot.errors import LoweringError
from aot.lower import lower
from aot.options import Measure
from aot.testing.fixtures import model, op_counts, samples

Empty = Callable[[Tensor], Tensor]

# name: a tensor of [4, 12] with undefined memory
EMPTY: dict[str, Empty] = {
    "empty": lambda x: torch.empty(4, 12),
    "empty_like": lambda x: torch.empty_like(torch.cat([x, x], 1)),
    "empty_permuted": lambda x: torch.empty_permuted((4, 12), (1, 0)),
    "empty_strided": lambda x: torch.empty_strided((4, 12), (12, 1)),
    "new_empty": lambda x: x.new_empty(4, 12),
    "new_empty_strided": lambda x: x.new_empty_strided((4, 12), (12, 1)),
}


def by_steps(x: Tensor, y: Tensor) -> Tensor:
    y[:, ::2] = x
    y[:, 1::2] = -x
    return y


def by_slices(x: Tensor, y: Tensor) -> Tensor:
    y[:, :6] = x
    y[:, 6:] = x.flip(1)
    return y * 2


def by_rows(x: Tensor, y: Tensor) -> Tensor:
    for row in range(4):
        y.select(0, row).copy_(torch.cat([x[row], -x[row]]))
    return y


def by_copy(x: Tensor, y: Tensor) -> Tensor:
    return y.copy_(torch.cat([x, x], 1)) + 1.0


def by_fill(x: Tensor, y: Tensor) -> Tensor:
    return y.zero_() + torch.cat([x, x], 1)


WRITTEN = (by_steps, by_slices, by_rows, by_copy, by_fill)


def program(
    net: nn.Module, example: tuple[Tensor, ...], core: bool
) -> torch.export.ExportedProgram:
    exported = torch.export.export(net, example)
    return exported.run_decompositions() if core else exported


@pytest.fixture(autouse=True)
def _old_values() -> None:
    junk = [torch.full((n,), 1e30) for n in range(1, 200)]
    del junk


@pytest.mark.parametrize("core", [False, True])
@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize("name", EMPTY)
def test_what_is_written_stays(name: str, written: Callable[..., Tensor], core: bool) -> None:
    net = model(lambda x: written(x, EMPTY[name](x)))
    (example,) = samples((4, 6), count=1)
    graph = export_aten(program(net, example, core), example)
    assert not any("empty" in op for op in op_counts(graph))
    assert all(bool((b.abs() < 100).all()) for b in graph.buffers() if b.is_floating_point())
    torch.testing.assert_close(graph(*example)[0], net(*example), rtol=0.0, atol=0.0)


@pytest.mark.parametrize(
    "net, shape",
    [
        (nn.CircularPad1d(3), (1, 2, 5)),
        (nn.CircularPad2d(1), (3, 4, 5)),
        (nn.Conv2d(4, 4, 3, padding=1, padding_mode="circular"), (1, 4, 6, 6)),
        (model(lambda x: by_steps(x, x.new_empty(4, 12))), (4, 6)),
    ],
)
def test_ranges_are_of_values(net: nn.Module, shape: tuple[int, ...]) -> None:
    data = samples(shape, count=16)
    lowered = lower(
        program(net.eval(), data[0], True), data[0], calibration=data, measure=Measure(per_op=False)
    )
    assert (lowered.quality.outputs[0].sqnr_db or 0.0) > 35.0


READ: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "all of it": lambda x, y: torch.cat([x, x], 1) + y,
    "what is left": lambda x, y: (y.index_fill_(1, torch.arange(0, 11), 0.0)).sum(1),
    "every second": lambda x, y: torch.slice_scatter(y, x, 1, 0, 12, 2).relu(),
}


@pytest.mark.parametrize("name", READ)
def test_refuses_what_nothing_was_written_to(name: str) -> None:
    net = model(lambda x: READ[name](x, x.new_empty(4, 12)))
    (example,) = samples((4, 6), count=1)
    with pytest.raises(LoweringError, match="new_empty.* were never written") as caught:
        export_aten(net, example)
    assert "\n    at " in str(caught.value) and "torch.zeros" in str(caught.value)


def test_a_part_that_nothing_reads_is_no_error() -> None:
    def function(x: Tensor) -> Tensor:
        y = x.new_empty(4, 12)
        y[:, :6] = x
        return y[:, 1:5].relu()

    (example,) = samples((4, 6), count=1)
    graph = export_aten(model(function), example)
    torch.testing.assert_close(graph(*example), function(*example))
