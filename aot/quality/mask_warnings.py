# SPDX-License-Identifier: Apache-2.0
"""Checks on calibration data that tensors treated as attention masks are masks.

A float tensor is a mask if the model adds it to the scores of a softmax and it is 0 or far below.
The tensor may be an input or computed. aot/passes/aten/attention/mask_softmax.py raises it to a
floor, because a range with -1e9 has no room for scores.

A row entirely below the floor is a bias, and the floor would erase it. An input of only 0 or -1e9
in the example is a mask, too (aot/passes/aten/masks/input_masks.py). It may hold no other numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torch.fx.node import map_arg

from aot.dialect.graph import border_nodes, tensor_constant
from aot.errors import LoweringError, problem_at
from aot.passes.aten.attention.mask_softmax import floor_of
from aot.passes.aten.masks.input_masks import is_given, is_mask_of_numbers
from aot.passes.aten.masks.mask_nodes import FARTHER

_MATTERS = 0.5
"""Largest tolerated change in the exponent of a weight that counts."""


def check_mask_inputs(
    floats: GraphModule, samples: Sequence[tuple[bool, Sequence[torch.Tensor]]]
) -> None:
    """Raise LoweringError if a bias in calibration data is not the mask that it was taken for.

    Args:
      floats: the model as an ATen graph.
      samples: each with a flag: a sequence starts with it.
    """
    inputs = [n for n in border_nodes(floats)[0] if "state" not in n.meta]
    given = {n.args[0] for n in floats.graph.nodes if is_given(n)}
    for index, (_, sample) in enumerate(samples):
        for node, value in zip(inputs, sample, strict=True):
            if node in given and not is_mask_of_numbers(value):
                others = value[(value != 0) & (value > -FARTHER)]
                raise LoweringError(
                    f"input {node.name} is a mask in the example (only 0 or values below "
                    f"{-FARTHER:g}), but calibration sample {index} holds {float(others[0]):g}. "
                    "Use an example with such values, or a boolean mask."
                )
    masks = [n for n in floats.graph.nodes if floor_of(n) is not None and not _has_state(n)]
    for mask in masks:
        for index, (_, sample) in enumerate(samples):
            bias = _value_of(floats, mask.args[0], sample)
            lowest = _lost(bias, floor_of(mask) or 0.0)
            if lowest is not None:
                problem = problem_at(
                    mask,
                    "the value added to the scores of this softmax is treated as a mask (all "
                    f"below {floor_of(mask):g} is masked). In calibration sample {index} a whole "
                    f"row is masked: its largest value is {lowest:.4g}, and its values differ",
                    "use bias - bias.amax(-1, keepdim=True), which gives the same softmax; or a "
                    "boolean mask",
                )
                raise LoweringError("1 op of the model cannot be lowered:", [problem])


def _lost(bias: torch.Tensor, floor: float) -> float | None:
    """Return the largest value of a row that the mask's floor changes relevantly."""
    largest = bias.amax(-1, keepdim=True)
    apart = (bias - largest).nan_to_num(0.0)  # for minus infinity in the whole row
    left = bias.clamp(min=floor) - largest.clamp(min=floor)
    wrong = (left - apart).abs() > _MATTERS
    wrong &= apart > floor  # an element this far below the largest has no weight
    rows = wrong.any(-1, keepdim=True)
    return float(largest[rows].max()) if bool(rows.any()) else None


def _ancestors(node: Node) -> list[Node]:
    """Return the node and its ancestors, in graph order."""
    found, waiting = {node}, [node]
    while waiting:
        for source in waiting.pop().all_input_nodes:
            if source not in found:
                found.add(source)
                waiting.append(source)
    return [n for n in node.graph.nodes if n in found]


def _has_state(node: Node) -> bool:
    return any("state" in n.meta for n in _ancestors(node))


def _value_of(floats: GraphModule, node: object, sample: Sequence[torch.Tensor]) -> torch.Tensor:
    assert isinstance(node, Node)
    inputs = [n for n in border_nodes(floats)[0] if "state" not in n.meta]
    values: dict[Node, Any] = dict(zip(inputs, sample, strict=True))
    for step in _ancestors(node):
        if step in values:
            continue
        constant = tensor_constant(floats, step)
        if constant is not None:
            values[step] = constant
        else:
            args: Any = map_arg(step.args, values.__getitem__)
            kwargs: Any = map_arg(step.kwargs, values.__getitem__)
            values[step] = step.target(*args, **kwargs)  # type: ignore[operator]
    result = values[node]
    assert isinstance(result, torch.Tensor)
    return result
