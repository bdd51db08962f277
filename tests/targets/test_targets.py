# SPDX-License-Identifier: Apache-2.0
"""User-defined target in one Python file, through the build: accepted ops, reasons for refused ops,
the artefact, and the results.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aot.upstream.executorch import deserialize_pte_binary

FOLDER = Path(__file__).parent
OF_FILE, OF_MODULE = "of_file", "of_module"
CPU_OPS = ["pl.transpose", "pl.conv2d", "pl.add", "pl.max_pool2d", "pl.lut"]


def report(name: str) -> dict[str, Any]:
    return dict(json.loads((FOLDER / f"{name}.report.json").read_text()))


def digest(name: str) -> str:
    return hashlib.sha256((FOLDER / name).read_bytes()).hexdigest()


def test_what_runs_where_and_why() -> None:
    made = report(OF_FILE)
    assert made["target"] == "sample-soc"
    rows = [(row["op"], row["runs_on"], row["delegate"]) for row in made["ops"]]
    assert [(op, delegate) for op, backend, delegate in rows if backend == "npu"] == [
        ("pl.conv2d", 0),
        ("pl.conv2d", 1),
        ("pl.max_pool2d", 1),
    ]
    told = {row["op"]: row["not_on"].get("npu") for row in made["ops"] if row["delegate"] is None}
    assert told["pl.conv2d"] == "its kernel is 5x5, of at most 3x3"
    assert told["pl.max_pool2d"] == "a region without a convolution is not worth the way"
    assert told["pl.lut"] == "it has convolutions and max pooling only"
    assert set(CPU_OPS) <= set(told)


def test_the_artefact_has_what_the_report_says() -> None:
    program = deserialize_pte_binary((FOLDER / f"{OF_FILE}.pte").read_bytes()).program
    ids = [delegate.id for delegate in program.execution_plan[0].delegates]
    rows = report(OF_FILE)["delegates"]
    assert ids == [row["backend_id"] for row in rows] == ["SampleNpu"] * 2
    assert [(row["scratch_bytes"], row["alignment"]) for row in rows] == [(128, 32)] * 2
    assert all(row["report"] == {"ops": row["payload_bytes"] // 1000} for row in rows)


@pytest.mark.parametrize("suffix", [".pte", ".report.json", ".vectors.npz"])
def test_two_builds_give_the_same_bytes(suffix: str) -> None:
    """One build has the file, the other the module in deps: two processes."""
    assert digest(f"{OF_FILE}{suffix}") == digest(f"{OF_MODULE}{suffix}")


def test_the_numbers_are_the_cpus() -> None:
    """`cpu` asks for the same traits, and its engine takes nothing."""
    with np.load(FOLDER / "cpu.vectors.npz") as cpu, np.load(FOLDER / "of_file.vectors.npz") as npu:
        assert sorted(cpu) == sorted(npu)
        assert all(np.array_equal(cpu[name], npu[name]) for name in cpu)
    assert {row["runs_on"] for row in report("cpu")["ops"]} == {"cortex_m"}
    assert report("cpu")["delegates"] == []
