# SPDX-License-Identifier: Apache-2.0
"""Programs from torch's own databases of operators and modules, the sample source of its tests."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import nn

from aot.upstream.torch import (
    module_samples,
    operator_samples,
    tree_flatten,
    tree_unflatten,
)
from measure.survey.programs import SurveyProgram

_DTYPES = (torch.float32, torch.int64, torch.bool)
_MOST_ELEMENTS = 4096

PLACES = ("input", "buffer", "between")
"""All tensors of a call are inputs; all but the first are buffers; or layers are around it."""


class SampleCall(nn.Module):
    """A call of a function of tensors.

    Args:
      function: takes `arguments`, a tuple of positional and keyword arguments.
      arguments: with tensors in them.
      place: one of PLACES.
      part: a module of the function.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        arguments: tuple[Any, Any],
        place: str,
        part: nn.Module | None = None,
    ) -> None:
        super().__init__()
        self._leaves, self._spec = tree_flatten(arguments)
        self._function, self._place, self.part = function, place, part
        tensors = [i for i, leaf in enumerate(self._leaves) if isinstance(leaf, torch.Tensor)]
        self.taken = tensors[:1] if place == "buffer" else tensors
        for i in tensors:
            if i not in self.taken:
                self.register_buffer(f"leaf_{i}", self._leaves[i])

    def forward(self, *inputs: torch.Tensor) -> Any:
        leaves = list(self._leaves)
        for i in range(len(leaves)):
            leaves[i] = getattr(self, f"leaf_{i}", leaves[i])
        for i, value in zip(self.taken, inputs, strict=True):
            leaves[i] = self._layer(value)
        args, kwargs = tree_unflatten(leaves, self._spec)
        result = self._function(*args, **kwargs)
        return self._layer(result) if isinstance(result, torch.Tensor) else result

    def _layer(self, x: torch.Tensor) -> torch.Tensor:
        """Keep the sign, and values of at most 1."""
        is_around = self._place == "between" and x.dtype == torch.float32
        return torch.clamp(x * 0.875, -64.0, 64.0) if is_around else x


def program_of(
    name: str,
    make: Callable[[], tuple[Callable[..., Any], nn.Module | None]],
    arguments: tuple[Any, Any],
    place: str,
) -> SurveyProgram:
    """Return a program of one call; its samples are the arguments, and those in other orders."""

    def module() -> SampleCall:
        torch.manual_seed(0)
        function, part = make()
        return SampleCall(function, copy.deepcopy(arguments), place, part).eval()

    def samples() -> list[tuple[torch.Tensor, ...]]:
        leaves, _ = tree_flatten(arguments)
        taken = [leaves[i] for i in module().taken]
        return [tuple(_turned(x, turn) for x in taken) for turn in range(4)]

    return SurveyProgram(f"{name} {place}", module, samples)


def _turned(x: torch.Tensor, turn: int) -> torch.Tensor:
    """Return floats in another order, equally legal for most functions."""
    if not x.is_floating_point() or not x.numel():
        return x.clone()
    return x.flatten().roll(turn).reshape(x.shape).contiguous()


def of_operators(place: str, count: int) -> Iterator[tuple[str, Iterator[SurveyProgram]]]:
    """Yield programs of each operator's first samples."""
    for info in operator_samples():
        name = f"{info.name}.{info.variant_test_name}".rstrip(".")
        dtypes = [dtype for dtype in _DTYPES if dtype in info.dtypes]
        if dtypes:
            yield name, _samples(name, info, dtypes[0], place, count)


def _samples(
    name: str, info: Any, dtype: torch.dtype, place: str, count: int
) -> Iterator[SurveyProgram]:
    torch.manual_seed(0)
    given = enumerate(info.sample_inputs("cpu", dtype, requires_grad=False))
    for index, sample in itertools.islice(given, count):
        arguments = ((sample.input, *sample.args), dict(sample.kwargs))
        if _is_small(arguments):
            yield program_of(f"{name}/{index}", lambda: (info.op, None), arguments, place)


def of_modules(place: str, count: int) -> Iterator[tuple[str, Iterator[SurveyProgram]]]:
    """Yield programs of each module's first inputs."""
    for info in module_samples():
        name = info.module_cls.__name__
        yield name, _inputs(name, info, place, count)


def _inputs(name: str, info: Any, place: str, count: int) -> Iterator[SurveyProgram]:
    torch.manual_seed(0)
    given = info.module_inputs_func(
        info, device="cpu", dtype=torch.float32, requires_grad=False, training=False
    )
    for index, sample in enumerate(given[:count]):
        built, called = sample.constructor_input, sample.forward_input

        def make(built: Any = built) -> tuple[Callable[..., Any], nn.Module]:
            part = info.module_cls(*built.args, **built.kwargs).eval()
            return part, part

        arguments = (tuple(called.args), dict(called.kwargs))
        if _is_small(arguments):
            yield program_of(f"{name}/{index}", make, arguments, place)


def _is_small(arguments: Sequence[Any]) -> bool:
    leaves, _ = tree_flatten(arguments)
    tensors = [x for x in leaves if isinstance(x, torch.Tensor)]
    return bool(tensors) and sum(x.numel() for x in tensors) <= _MOST_ELEMENTS
