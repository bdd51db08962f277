# SPDX-License-Identifier: Apache-2.0
"""A few programs of each table, and their outcomes. The nightly suite has all of them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from measure.survey.databases import PLACES, SampleCall, program_of
from measure.survey.databases_main import OUTCOMES, as_json, tried
from measure.survey.schemas import of_schemas

_STORED = json.loads((Path(__file__).parent / "databases.json").read_text())
_X = torch.tensor([[0.5, -1.0, 1.5], [2.0, 0.25, -0.75]])


def outcome(function: Callable[..., Any], place: str = "input", quantization: str = "int8") -> str:
    program = program_of("it", lambda: (function, None), ((_X, _X.flip(0)), {}), place)
    return tried(program, quantization).outcome


@pytest.mark.parametrize("place", PLACES)
def test_what_lowers_is_right(place: str) -> None:
    assert outcome(torch.add, place) == "right"


def test_what_does_not_lower(monkeypatch: pytest.MonkeyPatch) -> None:
    assert outcome(lambda x, y: x[y > 0]) == "refused"
    assert outcome(lambda x, y: torch.mm(x, y)) == "invalid"
    monkeypatch.setattr("aot.support.support.rule_for", None)
    assert outcome(torch.add) == "bare"


def test_what_is_not_the_model_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("measure.survey.databases_main.problem_of", lambda *_: "0 dB")
    assert outcome(torch.add) == "wrong"


def test_places_of_tensors() -> None:
    taken = {place: len(SampleCall(torch.add, ((_X, _X), {}), place).taken) for place in PLACES}
    assert taken == {"input": 2, "buffer": 1, "between": 2}
    around = SampleCall(torch.add, ((_X, _X), {}), "between")
    assert torch.equal(around(_X, _X), 2.0 * 0.875 * 0.875 * _X)


def test_calls_are_drawn_from_schemas_always_the_same() -> None:
    first, second = (
        {name: [p.samples()[0] for p in programs] for name, programs in itertools.islice(table, 9)}
        for table in (of_schemas("input", 2), of_schemas("input", 2))
    )
    assert first.keys() == second.keys()
    assert all(
        torch.equal(a, b)
        for name in first
        for x, y in zip(first[name], second[name], strict=True)
        for a, b in zip(x, y, strict=True)
    )


def test_the_file_is_as_it_is_written() -> None:
    assert (Path(__file__).parent / "databases.json").read_text() == as_json(_STORED)
    counts = [set(row) for rows in _STORED.values() for row in rows.values()]
    assert set().union(*counts) <= {*OUTCOMES}
