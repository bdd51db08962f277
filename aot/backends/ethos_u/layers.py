# SPDX-License-Identifier: Apache-2.0
"""What Vela says of each layer of a payload: cycles, MACs, and traffic."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_TABLE = re.compile(r'<table name="(\w+)">\s*<!\[CDATA\[\n(.*?)\]\]>', re.DOTALL)
_NAME = re.compile(r"v\d+")
_TRAFFIC = re.compile(r"([A-Z]\w*?)(?:Lut|FeatureMap|Weights|Scales)_(?:read|write)")


@dataclass(frozen=True)
class Layer:
    """An operation of the NPU, as Vela schedules it; cycles are its estimates.

    Attributes:
      value: name of TOSA's tensor that it gives.
      kind: Vela's operator, e.g. "Conv2D".
      macs: multiply-accumulates.
      traffic: bytes read and written by memory, e.g. {"sram": 192, "off_chip_flash": 1024}.
    """

    value: str
    kind: str
    cycles: int
    macs: int
    traffic: dict[str, int]


def layers_of(database: str) -> list[Layer]:
    """Of Vela's debug database, in the order of the command stream."""
    tables = {name: list(csv.DictReader(text.splitlines())) for name, text in _tables(database)}
    bytes_of = {row["id"]: _traffic(row) for row in tables["perf_debug"]}
    return [
        Layer(
            row["name"],
            row["operator"],
            int(row["op_cycles"]),
            int(row["mac_count"]),
            bytes_of[row["id"]],
        )
        for row in tables["perf"]
    ]


def writers_of(layers: Sequence[Layer], writers: Mapping[str, str]) -> list[str]:
    """Whose each layer is, by the value that it gives. Vela's own operators are of the value whose
    name theirs starts with; where that is an input, or none, they are there for what comes next.

    Args:
      writers: by the name of a value who added it, "" for inputs.
    """
    found: list[str] = []
    following = ""
    for layer in reversed(layers):
        name = _NAME.match(layer.value)
        following = (name and writers.get(name[0])) or following
        found.append(following)
    return found[::-1]


def _tables(database: str) -> Iterator[tuple[str, str]]:
    for match in _TABLE.finditer(database):
        yield match[1], match[2]


def _traffic(row: dict[str, str]) -> dict[str, int]:
    total: dict[str, int] = {}
    for column, value in row.items():
        match = _TRAFFIC.fullmatch(column)
        if match and value.isdigit() and int(value):
            name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", match[1]).lower()
            total[name] = total.get(name, 0) + int(value)
    return total
