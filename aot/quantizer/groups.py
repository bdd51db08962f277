# SPDX-License-Identifier: Apache-2.0
"""Values that have one quantization."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch.fx import Node

from aot.rules.rule import Fixed


@dataclass
class Group:
    """Values of one quantization, with the zero point 0 if it is symmetric, int16 if it is wide or
    a loop carries them, then with `spare_bits` above what is observed; with the scale of all of a
    fixed range if it is whole; exact if they are whole numbers as the model is given them;
    `headroom` as the members ask for that are observed by themselves.
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
    """The partition of quantized values into groups; `alone` are those that share with no other,
    `wide` those that are int16.
    """

    def __init__(self, alone: set[Node], wide: set[Node]) -> None:
        self._alone = alone
        self._wide = wide
        self._of: dict[Node, Group] = {}

    def __contains__(self, value: Node) -> bool:
        return value in self._of

    def __getitem__(self, value: Node) -> Group:
        return self._of[value]

    def add(self, value: Node, fixed: Fixed | None = None, headroom: float = 0.0) -> None:
        if value not in self._of:
            self._of[value] = Group([value], fixed, headroom, wide=value in self._wide)

    def join(self, value: Node, other: Node) -> bool:
        """Makes two values share, unless that would narrow a fixed range, or one of them is int16
        and no state that a loop carries; says whether they share now.
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
