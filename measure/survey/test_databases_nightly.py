# SPDX-License-Identifier: Apache-2.0
"""No program of torch's databases, and no call drawn from schemas, ends in a bare exception."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from measure.survey.databases import PLACES
from measure.survey.databases_main import TABLES, tried
from measure.survey.programs import SurveyProgram

_SAMPLES = 1000  # per operator: all
_CALLS = 4
"""Calls drawn of each schema."""

SETTINGS = [
    (table, quantization, place)
    for table in TABLES
    for quantization in ("int8", "int16", "float32")
    for place in PLACES
]


def _programs(table: str, place: str) -> Iterator[SurveyProgram]:
    """Yield the programs of this shard."""
    index, parts = (int(os.environ.get(f"TEST_{x}", d)) for x, d in _SHARDS)
    count = _CALLS if table == "schemas" else _SAMPLES
    for number, (_, programs) in enumerate(TABLES[table](place, count)):
        if number % parts == index:
            yield from programs


_SHARDS = (("SHARD_INDEX", 0), ("TOTAL_SHARDS", 1))


@pytest.mark.parametrize(("table", "quantization", "place"), SETTINGS)
def test_nothing_is_bare(table: str, quantization: str, place: str) -> None:
    if status := os.environ.get("TEST_SHARD_STATUS_FILE"):
        open(status, "w").close()  # marks a test with shard support for Bazel
    rows = {program.name: tried(program, quantization) for program in _programs(table, place)}
    assert {name: str(row) for name, row in rows.items() if row.outcome == "bare"} == {}
