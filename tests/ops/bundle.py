# SPDX-License-Identifier: Apache-2.0
"""Many cases as one model, so that one lowering, one plan and one image exercise a whole table."""

from collections.abc import Callable, Iterable, Iterator

import torch
from torch import nn

from tests.ops.case import Case, build, calibration, held_out

Samples = Callable[[], Iterator[tuple[torch.Tensor, ...]]]


class Bundle(nn.Module):
    """Runs each case's module on its own inputs; the outputs follow in the order of the cases."""

    def __init__(self, cases: Iterable[Case]) -> None:
        super().__init__()
        self.cases = tuple(cases)
        self.parts = nn.ModuleDict({case.name: build(case) for case in self.cases})
        self.eval()

    def forward(self, *inputs: torch.Tensor) -> tuple[torch.Tensor, ...]:
        results: list[torch.Tensor] = []
        start = 0
        for case, part in zip(self.cases, self.parts.values(), strict=True):
            end = start + len(case.inputs)
            results += as_tuple(part(*inputs[start:end]))
            start = end
        return tuple(results)


def as_tuple(result: torch.Tensor | Iterable[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Return a module's result, one tensor or several, as a tuple."""
    return (result,) if isinstance(result, torch.Tensor) else tuple(result)


def as_model(cases: Callable[[], Iterable[Case]]) -> tuple[Callable[[], Bundle], Samples, Samples]:
    """Return the functions `factory`, `calibration` and `test_inputs` of a bundle for pte_model."""

    def joined(samples: Callable[[Case], list[tuple[torch.Tensor, ...]]]) -> Samples:
        def joined_samples() -> Iterator[tuple[torch.Tensor, ...]]:
            for columns in zip(*(samples(case) for case in cases()), strict=True):
                yield tuple(tensor for column in columns for tensor in column)

        return joined_samples

    return lambda: Bundle(cases()), joined(calibration), joined(held_out)
