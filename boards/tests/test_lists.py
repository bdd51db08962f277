# SPDX-License-Identifier: Apache-2.0
"""The lists of boards.bzl against the data of the boards."""

import os
from pathlib import Path

from boards.board import load_board

_LISTS = {name: os.environ[name].split() for name in ("ALL", "SIMULATED", "ONE_PER_CORE")}
_BOARDS = {name: load_board(Path(f"boards/{name}/{name}.data.json")) for name in _LISTS["ALL"]}


def test_a_board_is_listed_once() -> None:
    for names in _LISTS.values():
        assert len(names) == len(set(names))


def test_simulated_boards_have_a_simulator_and_the_others_none() -> None:
    assert set(_LISTS["SIMULATED"]) == {name for name, b in _BOARDS.items() if b.simulator}


def test_each_core_that_is_simulated_is_there_once() -> None:
    cores = [_BOARDS[name].core for name in _LISTS["ONE_PER_CORE"]]
    assert len(cores) == len(set(cores))
    # A core without floats or DSP runs programs tested on a smaller one.
    simulated = {_BOARDS[name].core.partition("+")[0] for name in _LISTS["SIMULATED"]}
    assert set(cores) == simulated
