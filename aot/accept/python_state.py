# SPDX-License-Identifier: Apache-2.0
"""Finds state that forward keeps in Python between runs. Export would make it constant."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import torch

from aot.errors import LoweringError
from aot.upstream.torch import tree_flatten, tree_leaves

_OWN_ATTRIBUTES = frozenset(vars(torch.nn.Module()))

# Structure of lists, tuples and dicts, and their items, by path.
_Values = dict[str, tuple[object, list[Any]]]


def check_python_state(model: torch.nn.Module, example_inputs: Sequence[torch.Tensor]) -> None:
    """Raise LoweringError if forward depends on state kept in Python.

    Counters and caches do no harm. An index into a buffer, or a list of the last inputs, does.

    Two copies of the model run. One is the model after a run; the other knows this run only by its
    buffers.

    Raises:
      LoweringError: the two copies give different results.
    """
    try:
        used = copy.deepcopy(model)
        before = _python_values(used)
        run_near(used, example_inputs, seed=0)
        kept = _changed(before, _python_values(used))
        if not kept:
            return
        fresh = copy.deepcopy(model)
        for a, b in zip(used.modules(), fresh.modules(), strict=True):
            b._buffers.update({n: x if x is None else x.clone() for n, x in a._buffers.items()})
        same = all(
            torch.equal(a, b)
            for a, b in zip(
                run_near(used, example_inputs, seed=1),
                run_near(fresh, example_inputs, seed=1),
                strict=True,
            )
        )
    except Exception:  # export reports errors of forward or of a copy better
        return
    if not same:
        raise LoweringError(
            f"forward keeps {', '.join(kept)} in Python and computes another result after it "
            "changes. On the device it would keep its present value\n"
            "    instead: use a float32 buffer that forward changes (register_buffer), "
            "docs/state.md"
        )


def run_near(
    model: torch.nn.Module, example_inputs: Sequence[torch.Tensor], seed: int
) -> list[torch.Tensor]:
    """Return the results of a run near the example, and the buffers after it."""
    generator = torch.Generator().manual_seed(seed)
    noise = [torch.randn(x.shape, generator=generator) for x in example_inputs]
    inputs = [
        x + n if x.is_floating_point() else x for x, n in zip(example_inputs, noise, strict=True)
    ]
    with torch.no_grad(), torch.random.fork_rng():
        torch.manual_seed(seed)  # for a model that draws random numbers
        results = tree_leaves(model(*inputs))
    return [x for x in [*results, *model.buffers()] if isinstance(x, torch.Tensor)]


def _python_values(model: torch.nn.Module) -> _Values:
    """Return the attributes of a model and its submodules except parameters, buffers
    and modules.
    """
    values: _Values = {}
    for path, part in model.named_modules():
        for name, value in vars(part).items():
            if name not in _OWN_ATTRIBUTES:
                leaves, structure = tree_flatten(value)
                values[f"{path}.{name}".removeprefix(".")] = structure, leaves
    return values


def _changed(before: _Values, after: _Values) -> list[str]:
    """Return the paths whose structure, number or object has changed."""
    return [name for name, value in after.items() if not _same(before.get(name), value)]


def _same(before: tuple[object, list[Any]] | None, after: tuple[object, list[Any]]) -> bool:
    if before is None or before[0] != after[0]:
        return False
    pairs = zip(before[1], after[1], strict=True)
    return all(a is b or (isinstance(b, (bool, int, float, str)) and a == b) for a, b in pairs)
