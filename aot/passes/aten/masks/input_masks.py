# SPDX-License-Identifier: Apache-2.0
"""An input of 0 and far negative numbers such as -1e9, like an attention mask -> where(kept, 0,
number).

No range holds such numbers next to others. additive_masks.py follows the choice to the softmax, as
with boolean masks. The example identifies the mask; calibration must agree
(aot/quality/mask_warnings.py). An input returned unchanged stays.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.fx import GraphModule, Node

from aot.passes.aten.build import call, constant
from aot.passes.aten.masks.mask_nodes import FARTHER

_aten = torch.ops.aten
_GIVEN = "given_mask"


def input_masks(module: GraphModule, inputs: Sequence[torch.Tensor]) -> int:
    """Rewrite the graph in place; return the number of mask inputs.

    Args:
      module: its states are inputs, after all others.
      inputs: a sample.
    """
    count = 0
    nodes = [node for node in module.graph.nodes if node.op == "placeholder"]
    for node, value in zip(nodes, inputs, strict=False):
        if not is_mask_of_numbers(value) or bool((value == 0).all()):
            continue
        far = value[value != 0]
        readers = [user for user in node.users if user.op != "output"]
        if far.numel() == value.numel() or not readers:
            continue
        with module.graph.inserting_before(nodes[-1].next):
            kept = call(node, _aten.gt.Scalar, node, -FARTHER / 2)
            kept.meta[_GIVEN] = True
            numbers = [
                constant(module, node, name, number)
                for name, number in (("zero", torch.tensor(0.0)), ("hidden", far.max()))
            ]
            made = call(node, _aten.where.self, kept, *numbers)
        for user in readers:
            user.replace_input_with(node, made)
        count += 1
    return count


def is_mask_of_numbers(value: torch.Tensor) -> bool:
    """Return True if all floats are 0 or far below, and finite."""
    is_float = value.dtype is torch.float32 and value.numel() > 1
    is_far = (value <= -FARTHER) & value.isfinite()
    return is_float and bool(((value == 0) | is_far).all())


def is_given(node: Node) -> bool:
    """Return True if a node is the mask of an input."""
    return _GIVEN in node.meta
