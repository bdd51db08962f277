# SPDX-License-Identifier: Apache-2.0
"""Groups of values that share one quantization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

import torch
from torch.fx import Node

from aot.dialect.graph import state_of
from aot.dialect.quantization import Quantization
from aot.dialect.rule import (
    KNOWN_OUTPUT,
    Carries,
    Exact,
    Fixed,
    Integers,
    Output,
    Rule,
    Shares,
    Within,
)
from aot.quantizer.supported import is_float_tensor
from aot.rules import fused_clamp
from aot.rules.integers import whole_quantization
from aot.rules.movement import pad_value


@dataclass
class Group:
    """Values with one quantization.

    - `symmetric`: the zero point is 0.
    - `wide`: int16. So are values carried by a loop (`carried`), with `spare_bits`
      above the observed range.
    - `whole`: the scale covers all of a fixed range.
    - `exact`: integer inputs, kept as the model gets them.
    - `headroom`: requested by members observed by themselves.
    """

    members: list[Node] = field(default_factory=list)
    fixed: Fixed | None = None
    headroom: float = 0.0
    symmetric: bool = False
    carried: bool = False
    spare_bits: int = 0
    whole: bool = False
    wide: bool = False
    exact: bool = False


class Groups:
    """Partition of quantized values into groups.

    `alone` are values that share with no other, `wide` are int16 values.
    """

    def __init__(self, alone: set[Node], wide: set[Node]) -> None:
        self._alone = alone
        self._wide = wide
        self._of: dict[Node, Group] = {}

    def __contains__(self, value: Node) -> bool:
        return value in self._of

    def __getitem__(self, value: Node) -> Group:
        return self._of[value]

    def firsts(self, order: Mapping[Node, int]) -> dict[Node, Node]:
        """Return for each value the first member of its group."""
        groups = {id(group): group for group in self._of.values()}
        of_group = {key: min(g.members, key=order.__getitem__) for key, g in groups.items()}
        return {value: of_group[id(group)] for value, group in self._of.items()}

    def add(self, value: Node, fixed: Fixed | None = None, headroom: float = 0.0) -> None:
        """Put a value into a group of its own, if it has no group. Integer inputs are exact."""
        if value in self._of:
            return
        whole = whole_quantization(value)
        fixed = fixed if whole is None else Fixed(whole)
        exact = whole is not None
        self._of[value] = Group([value], fixed, headroom, wide=value in self._wide, exact=exact)

    def join(self, value: Node, other: Node) -> bool:
        """Let two values share a group. Return True if they now do.

        They do not share if that would narrow a fixed range. They also do not share if one is int16
        and no state carried by a loop.
        """
        a, b = self._of[value], self._of[other]
        if a is b:
            return True
        is_carried = a.carried or b.carried  # hence int16, whatever its layers ask for
        if (
            a.fixed != b.fixed
            or (a.wide != b.wide and not is_carried)
            or not self._alone.isdisjoint((value, other))
        ):
            return False
        a.members.extend(b.members)
        a.headroom = max(a.headroom, b.headroom)
        a.carried |= b.carried
        a.spare_bits = max(a.spare_bits, b.spare_bits)
        a.whole |= b.whole
        a.exact |= b.exact
        for member in b.members:
            self._of[member] = a
        return True


def grouped(
    covered: Mapping[Node, Rule],
    inner: Set[Node],
    states: Sequence[tuple[Node, Node]],
    theirs: set[Node],
    wide: set[Node],
    given: Mapping[Node, Quantization],
) -> Groups:
    """Return the groups of a graph's values, by the rules of its ops.

    Args:
      covered: the nodes that become ops of the dialect, with their rules.
      inner: those of them whose own value is not visible, because a clamp is fused with
        them.
      states: each old state, and its new value.
      theirs: nodes quantized by another quantizer.
      wide: values that are int16.
      given: inputs with known quantization.
    """
    groups = Groups(theirs, wide)
    for value, quantization in given.items():
        groups.add(value, Fixed(quantization))
    for old, new in states:
        rule = covered.get(new)
        known = rule.output if rule is not None else None
        if isinstance(known, Fixed) and _holds(known.quantization, state_of(old).initial):
            groups.add(old, known)
    for node, rule in covered.items():
        if fused_clamp(node) is None:
            for value in rule.activations(node):
                groups.add(value)
        if node in inner:
            continue
        output: Output | Within = node.meta.get(KNOWN_OUTPUT, rule.output)
        if isinstance(output, Integers):
            continue
        if isinstance(output, Fixed):
            groups.add(node, output)
        elif isinstance(output, Exact):
            groups.add(node, Fixed(output.quantization))
            groups[node].exact = True
        elif isinstance(output, Shares):
            sources = rule.activations(node)
            ranges = {groups[s].fixed for s in sources}
            fixed = ranges.pop() if len(ranges) == 1 else None
            # Sources of one fixed range pass it on. If ranges differ, or the padding value is
            # outside, the output is observed.
            if fixed is not None and node.target is torch.ops.aten.constant_pad_nd.default:
                padding = torch.tensor(pad_value(node))
                fixed = fixed if _holds(fixed.quantization, padding) else None
            groups.add(node, fixed)
            for source in sources:
                groups.join(source, node)
        elif isinstance(output, Within):
            groups.add(node)
            groups.join(rule.activations(node)[output.activation], node)
        elif isinstance(output, Carries):
            groups.add(node)
            groups[node].carried = True
            groups.join(node, rule.activations(node)[output.activation])
            groups[node].spare_bits = max(groups[node].spare_bits, output.spare_bits)
        else:
            groups.add(node, headroom=output.headroom)
    for old, new in states:
        if old in groups and is_float_tensor(new):
            groups.add(new)
            groups.join(old, new)
    return groups


def _holds(quantization: Quantization, value: torch.Tensor) -> bool:
    """Return True if a range covers all elements of a tensor, within half a step."""
    steps = value / quantization.scale + quantization.zero_point
    kind = quantization.type
    return bool(((steps >= kind.quant_min - 0.5) & (steps <= kind.quant_max + 0.5)).all())
