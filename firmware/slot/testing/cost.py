# SPDX-License-Identifier: Apache-2.0
"""Cost of a slot on boards: additional flash compared with an app without one, and instructions."""

import json
from dataclasses import dataclass
from pathlib import Path

from boards.board import load_board
from tools.simulator.simulate import simulate

BOARDS = ("corstone300", "mps2_an386", "lm3s6965evb", "microbit")
_FOLDER = Path("firmware/slot/testing")


@dataclass(frozen=True)
class SlotCost:
    """Attributes:
    flash: additional bytes compared with no slot, without the package in the image. check, load:
    instructions for signature and contents, for relocations and bounds. self_test: of two vectors.
    inference: of the same model, built in.
    """

    board: str
    flash: int
    package: int
    check: int
    load: int
    self_test: int
    inference: int


def _flash(size: Path) -> int:
    memories = json.loads(size.read_text())["memories"]
    return sum(int(memory["used"]) for memory in memories if memory["kind"] == "flash")


def cost(board: str) -> SlotCost:
    """Run the programs of a board in its simulator."""
    name = _FOLDER / f"with_slot_{board}"
    without = _FOLDER / f"without_slot_{board}.size.json"
    data = load_board(Path(f"boards/{board}/{board}.data.json"))
    run = simulate(Path(f"{name}.elf"), data, time_limit=300, count=True)
    if run.problem or run.counts is None:
        raise AssertionError(f"{board}: {run.problem}\n{run.console}")
    inference, check, load, self_test = (run.counts.regions[i].instructions for i in range(4))
    package = (_FOLDER / f"{board}_package.plpk").stat().st_size
    flash = _flash(Path(f"{name}.size.json")) - _flash(without) - package
    return SlotCost(board, flash, package, check, load, self_test, inference)
