# SPDX-License-Identifier: Apache-2.0
"""Vela's figures for each layer of a payload: cycles, MACs, and traffic."""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

_TABLE = re.compile(r'<table name="(\w+)">\s*<!\[CDATA\[\n(.*?)\]\]>', re.DOTALL)
_NAME = re.compile(r"v\d+")
_TRAFFIC = re.compile(r"([A-Z]\w*?)(Lut|FeatureMap|Weights|Scales)_(?:read|write)")
_FAR_ACCESS = re.compile(r"(?!Sram)[A-Z]\w*_ac")
_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2D")


@dataclass(frozen=True)
class NpuLayer:
    """An NPU operation in Vela's schedule; cycles are Vela's estimates.

    Attributes:
      value: name of its result's TOSA tensor.
      kind: Vela's operator, e.g. "Conv2D".
      macs: multiply-accumulates.
      traffic: bytes read and written by memory, e.g. {"sram": 192, "off_chip_flash":
        1024}.
    """

    value: str
    kind: str
    cycles: int
    macs: int
    traffic: dict[str, int]


def layers_of(database: str) -> list[NpuLayer]:
    """Return the layers from Vela's debug database, in the order of the command stream."""
    tables = {name: list(csv.DictReader(text.splitlines())) for name, text in _tables(database)}
    debug = {row["id"]: row for row in tables["perf_debug"]}
    rows = tables["perf"]
    return [
        NpuLayer(
            row["name"],
            row["operator"],
            _cycles(row, share),
            round(int(row["mac_count"]) * share),
            _traffic(debug[row["id"]], share),
        )
        for row, share in zip(rows, _shares(rows), strict=True)
    ]


def _shares(rows: Sequence[Mapping[str, str]]) -> list[float]:
    """Return the share of Vela's count really executed by the NPU, for each row.

    Vela splits a convolution with dilation above 2. Each part takes every n-th row or column from
    one start. Vela counts each part as if it covered all rows and columns from its start. The parts
    from the first start give the true count, one for each image of a batch.
    """
    macs: defaultdict[str, list[int]] = defaultdict(list)
    for row in rows:
        macs[row["optimised_id"]].append(int(row["mac_count"]))
    shares = []
    for row in rows:
        parts = macs[row["optimised_id"]]
        whole = max(parts) * parts.count(max(parts))
        splits = row["operator"] in _CONVOLUTIONS and whole > 0
        shares.append(whole / sum(parts) if splits else 1.0)
    return shares


def _cycles(row: Mapping[str, str], share: float) -> int:
    """Return an operation's cycles. Weights are read again for each part."""
    cycles = int(row["op_cycles"])
    far = [int(text) for column, text in row.items() if _FAR_ACCESS.fullmatch(column)]
    return min(cycles, max(round(cycles * share), *far, 0))


def writers_of(layers: Sequence[NpuLayer], writers: Mapping[str, str]) -> list[str]:
    """Return the op of each layer, by its value.

    The name of a Vela operator starts with the name of its value. An operator of an input, or of no
    value, belongs to the next layer.

    Args:
      writers: the op that added a value, by the value's name; "" for inputs.
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


def _traffic(row: Mapping[str, str], share: float) -> dict[str, int]:
    total: dict[str, int] = {}
    for column, value in row.items():
        match = _TRAFFIC.fullmatch(column)
        if match and value.isdigit() and int(value):
            name = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", match[1]).lower()
            moved = round(int(value) * (share if match[2] == "FeatureMap" else 1))
            total[name] = total.get(name, 0) + moved
    return total
