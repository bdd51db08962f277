# SPDX-License-Identifier: Apache-2.0
"""The advice of a page is correct: settings include all ops that must change together, once."""

from __future__ import annotations

from typing import Any

import pytest

from tools.report.advice import advice

Fields = dict[str, Any]


def layer(id_: str, op: str, module: str, after: list[str], alone_db: float, **more: Any) -> Fields:
    """Return an op of a joined report with a result of 64 features."""
    tensor = {"name": f"value_{id_}", "shape": [1, 64], "dtype": "int8"}
    fields: Fields = {"inputs": [tensor], "outputs": [tensor], "macs": 0, "source": f"of {module}"}
    fields |= {"precision": "int8", "delegate": None, "from": ["aten.linear"], "after": after}
    quality = {"alone_db": alone_db}
    return {"id": id_, "op": op, "module": module, "quality": quality} | fields | more


def advised(*ops: Fields, outputs_db: float = 40.0, states: tuple[Fields, ...] = ()) -> Fields:
    model: Fields = {"ops": ops, "steps": [], "arena": None, "warnings": [], "constant_bytes": 9000}
    model |= {"isa": "scalar"}
    model |= {"name": "net", "states": states, "quality": {"outputs": [{"sqnr_db": outputs_db}]}}
    image: Fields = {"stack": {"bound": None, "size": 0}, "symbols": [], "board": {"npu": None}}
    return advice(image | {"models": [model]})


def test_more_bits_are_for_a_layer_and_what_reads_it() -> None:
    """An int8 reader would round its input."""
    first = layer("0", "pl.linear", "größe (Linear)", ["in x"], 41.0)
    moved = layer("1", "pl.reshape", "", ["0"], 150.0)
    reader = layer("2", "pl.lut", "", ["1"], 70.0, **{"from": ["aten.tanh"]})
    (row,) = advised(first, moved, reader)["better"]
    assert 'quantization={"größe": "int16", ":tanh": "int16"}' in row["text"]
    assert row["text"].startswith("größe (Linear) and what reads it") and row["ops"] == ["0"]
    (row,) = advised(first, moved, reader | {"precision": "float32"})["better"]
    assert 'quantization={"größe": "int16"}' in row["text"]
    assert not advised(first, moved, reader | {"from": []})["better"]
    assert not advised(first, outputs_db=20.0)["better"]


_MEASURE = "of what values cost alone: measure the gain (docs/quality.md)"


@pytest.mark.parametrize(
    ("outputs_db", "alone_db", "states", "gains"),
    [
        (42.5, 49.0, (), ["up to 6.6 dB, predicted", "up to 1.1 dB, predicted"]),
        # A small gain may as well be none.
        (43.2, 54.0, (), ["up to 10.9 dB, predicted", f"8% {_MEASURE}"]),
        # Values cost but a part of all, more than all, or cost it again in the next run.
        (40.0, 49.0, (), [f"78% {_MEASURE}", f"22% {_MEASURE}"]),
        (44.0, 49.0, (), [f"78% {_MEASURE}", f"22% {_MEASURE}"]),
        (42.5, 49.0, ({"name": "h"},), [f"78% {_MEASURE}", f"22% {_MEASURE}"]),
    ],
)
def test_a_gain_is_predicted_where_noises_add_up(
    outputs_db: float, alone_db: float, states: tuple[Fields, ...], gains: list[str]
) -> None:
    ops = (
        layer("0", "pl.linear", "a", ["in x"], 43.5),
        layer("1", "pl.lut", "b", ["in y"], alone_db),
    )
    rows = advised(*ops, outputs_db=outputs_db, states=states)["better"]
    assert [row["ops"] for row in rows] == [["0"], ["1"]]
    assert [row["gain"] for row in rows] == gains


def test_weights_of_four_bits_get_eight() -> None:
    first = layer("0", "pl.linear", "front", ["in x"], 41.0)
    narrow = layer("1", "pl.linear_w4", "back", ["0"], 21.0)
    (row,) = advised(first, narrow)["better"]
    assert "back with weights of eight bits" in row["text"]
    assert 'quantization={"back": "int8"}' in row["text"]


def test_a_layer_that_is_called_twice_is_advice_once() -> None:
    inner = layer("0", "pl.linear", "block.inner", ["in x"], 45.0, macs=64 * 64)
    outer = layer("1", "pl.add", "block (Block)", ["0"], 46.0, **{"from": ["aten.add"]})
    again = (inner | {"id": "2", "after": ["1"]}, outer | {"id": "3", "after": ["2"]})
    rows = advised(inner, outer, *again)
    assert [row["ops"] for row in rows["better"]] == [["0", "2"], ["1", "3"]]
    # The module's own functions, without its submodules.
    assert '"block.inner": "int16", "block:add": "int16"' in rows["better"][0]["text"]
    (smaller,) = rows["smaller"]
    saved = 64 * (64 - 32 - 2)
    assert smaller["gain"].startswith(f"about {saved:,} of 9,000 bytes of weights, less")
    assert smaller["ops"] == ["0", "2"]


@pytest.mark.parametrize(
    ("op", "macs", "calls", "is_advised"),
    [
        ("pl.linear", 64 * 64, ["aten.linear"], True),
        ("pl.conv2d", 64 * 64, ["aten.convolution", "aten.relu"], True),
        ("pl.conv2d", 9 * 64 * 64, ["aten.convolution"], False),
        ("pl.conv2d", 64 * 8, ["aten.convolution"], False),
        ("pl.linear", 64 * 64, ["aten.matmul"], False),
        ("pl.bmm", 64 * 64, ["aten.linear"], False),
    ],
)
def test_four_bits_are_for_what_has_them(
    op: str, macs: int, calls: list[str], is_advised: bool
) -> None:
    only = layer("0", op, "layer", ["in x"], 150.0, macs=macs, **{"from": calls})
    assert bool(advised(only)["smaller"]) == is_advised


def test_few_bytes_are_no_advice() -> None:
    """The kernel of four bits takes flash as well."""
    few = layer("0", "pl.linear", "layer", ["in x"], 150.0, macs=64)
    one = [few["outputs"][0] | {"shape": [1, 1]}]
    assert not advised(few | {"outputs": one})["smaller"]
