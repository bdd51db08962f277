# SPDX-License-Identifier: Apache-2.0
"""Zero-copy chaining: the output of one model is the input of the next, in a shared arena.

The first model is planned as usual. The next plan places its input at the output's address in the
first model's plan.json, and everything else around it.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from aot.plan.layout import ALIGNMENT
from aot.plan.planner import MemoryBlock
from aot.plan.program import PlanProgram, Port
from aot.plan.sharing import Sharing


class ChainingError(Exception):
    """An output cannot become the input. The text has the reason."""


@dataclass(frozen=True)
class Chaining:
    """Place of the first output of the model `of`: a byte offset in the arena of a pool."""

    of: str
    pool: str
    offset: int

    def pin(
        self, blocks: list[MemoryBlock], program: PlanProgram, sharing: Sharing
    ) -> list[MemoryBlock]:
        """Return the blocks, with the first input fixed at this place.

        Raises:
            HandoverError: it cannot lie there.
        """
        location = sharing.locations[program.inputs[0].value.name]
        at = self.offset - location.offset
        pinned = next(block for block in blocks if block.name == location.block)
        pools = frozenset({self.pool})
        if at < 0 or at % max(ALIGNMENT, pinned.alignment) or not pinned.may_lie_in(self.pool):
            raise ChainingError(
                f"input 0 cannot be at output 0 of {self.of}, {self.offset} bytes into the arena "
                f"in {self.pool}. It is {location.offset} bytes into a buffer that its steps "
                "share, or out of reach of an NPU"
            )
        there = replace(pinned, at=at, pools=pools)
        return [there if block is pinned else block for block in blocks]


def left_to_share(
    blocks: list[MemoryBlock], program: PlanProgram, sharing: Sharing, shared: str
) -> list[MemoryBlock]:
    """Return the blocks, with the first output in the arena that models share.

    Raises:
        HandoverError: it is not in memory, or cannot lie there.
    """
    location = sharing.locations.get(program.outputs[0].value.name)
    if location is None:
        raise ChainingError("hands_over: output 0 is a constant, so no buffer holds it")
    left = next(block for block in blocks if block.name == location.block)
    if not left.may_lie_in(shared):
        raise ChainingError(
            f"hands_over: output 0 cannot be in {shared}, because an NPU needs it in another memory"
        )
    there = replace(left, pools=frozenset({shared}))
    return [there if block is left else block for block in blocks]


def chaining(first: Mapping[str, Any], program: PlanProgram, shared: str) -> Chaining:
    """Return the place from the first model's plan.json, for a program that reads its output.

    Args:
        first: the first model's plan.json.
        program: the one taking the output.
        shared: name of the memory with the models' shared arena.

    Raises:
        HandoverError: it has no such output.
    """
    name, output, port = first["name"], first["outputs"][0], program.inputs[0]
    if not first["arena"]["shared"]:
        raise ChainingError(
            f"{name} has no buffer in the shared arena ({shared}), or has state. "
            f"plan_library(hands_over = True) of {name} puts its first output there, if the model "
            "has no state and `share` is not False"
        )
    if output.get("pool") != shared:
        raise ChainingError(
            f"output 0 of {name} is a constant, or outside of the shared arena ({shared}). "
            f"plan_library(hands_over = True) of {name} puts it there"
        )
    differs = {
        what: f"{what} {theirs} and {ours}"
        for what, theirs, ours in _compared(output, port)
        if theirs != ours
    }
    if differs:
        advice = [text for whats, text in _ADVICE if differs.keys() & whats]
        if math.prod(output["shape"]) != math.prod(port.shape):
            advice = ["input_from is the plan of the model that runs before this one"]
        text = "; ".join([", ".join(differs.values()), *advice])
        raise ChainingError(f"output 0 of {name} and input 0 differ: {text}")
    return Chaining(name, output["pool"], output["offset"])


_ADVICE = (
    (
        {"layout"},
        'io_layout = "nhwc" of both models has the channels of images last, without a permute for '
        "that in the models themselves",
    ),
    (
        {"scale", "zero point"},
        "lower the model with the one before as input_from, so that its input is quantized alike, "
        "and both without float_io, or both with it",
    ),
)


def _compared(output: Mapping[str, Any], port: Port) -> list[tuple[str, Any, Any]]:
    return [
        ("dtype", output["dtype"], port.value.dtype),
        ("shape", output["shape"], list(port.shape)),
        ("layout", output["layout"], port.layout),
        ("scale", output["scale"], port.scale),
        ("zero point", output["zero_point"], port.zero_point),
    ]
