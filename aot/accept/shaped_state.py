# SPDX-License-Identifier: Apache-2.0
"""Gives state, which the first run would shape, this shape from the start."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch

from aot.accept.python_state import run_near

_RUNS = 3

Place = tuple[str, str]
"""The path of a module and the name of a buffer."""


@contextmanager
def state_shaped(model: torch.nn.Module, example_inputs: Sequence[torch.Tensor]) -> Iterator[None]:
    """Within the context, give buffers their later shape if the model then computes the same.

    Matches buffers of None, no element or one number before the first run. They become zeros, or
    the number repeated. Results and buffers of some runs must be equal.
    """
    shaped = _shaped(model, example_inputs)
    before = {}
    for (path, name), value in shaped.items():
        part = model.get_submodule(path)
        before[part, name] = part._buffers[name]
        part._buffers[name] = value
    try:
        yield
    finally:
        for (part, name), buffer in before.items():
            part._buffers[name] = buffer


def _shaped(
    model: torch.nn.Module, example_inputs: Sequence[torch.Tensor]
) -> dict[Place, torch.Tensor]:
    """Return the new initial values; none if there are none, or results would differ."""
    if not _candidates(model):
        return {}
    try:
        first, other = copy.deepcopy(model), copy.deepcopy(model)
        expected = run_near(first, example_inputs, 0)
        shaped = _initial(model, first)
        for (path, name), value in shaped.items():
            other.get_submodule(path)._buffers[name] = value.clone()
        given = run_near(other, example_inputs, 0)
        for seed in range(1, _RUNS if shaped else 1):
            expected += run_near(first, example_inputs, seed)
            given += run_near(other, example_inputs, seed)
    except Exception:  # export reports errors of forward or of a copy better
        return {}
    same = [torch.equal(a, b) for a, b in zip(expected, given, strict=True)]
    return shaped if all(same) else {}


def _candidates(model: torch.nn.Module) -> dict[Place, torch.Tensor | None]:
    """Return the buffers that are None or have at most one float element."""
    return {
        (path, name): buffer
        for path, part in model.named_modules()
        for name, buffer in part._buffers.items()
        if buffer is None or (buffer.is_floating_point() and buffer.numel() <= 1)
    }


def _initial(model: torch.nn.Module, used: torch.nn.Module) -> dict[Place, torch.Tensor]:
    """Return initial values for buffers whose shape changes in a run."""
    found: dict[Place, torch.Tensor] = {}
    for (path, name), buffer in _candidates(model).items():
        after = used.get_submodule(path)._buffers[name]
        if after is None or (buffer is not None and buffer.shape == after.shape):
            continue
        number = 0.0 if buffer is None or buffer.numel() == 0 else buffer.item()
        found[path, name] = torch.full_like(after, number)
    return found
