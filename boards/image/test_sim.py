# SPDX-License-Identifier: Apache-2.0
from typing import Any

from boards.image.sim import steps, summary
from boards.simulator.counts import Counts, Region
from boards.simulator.simulate import Run

_CONSOLE = "PL:STAT images 450\nnot PL:STAT x 1\nPL:STAT correct on device 441\nPL:PASS\n"

_SIZE: dict[str, Any] = {
    "name": "app",
    "board": "microbit",
    "core": "cortex-m0",
    "memories": [
        {"name": "flash", "kind": "flash", "size": 262144, "used": 65536},
        {"name": "ram", "kind": "ram", "size": 16384, "used": 1024},
        {"name": "other", "kind": "ram", "size": 16384, "used": 0},
    ],
    "stack": {"size": 2048, "bound": 700},
}


def _run(regions: dict[int, Region]) -> Run:
    return Run(_CONSOLE, 0, "", Counts(total=9, regions=regions), 1.0)


def test_the_table_at_the_end() -> None:
    run = _run({0: Region(entries=450, instructions=450 * 123456)})
    assert summary(run, _SIZE, {"accuracy": 0.98, "model": "digits"}).splitlines() == [
        "app on microbit (cortex-m0), simulated",
        "  accuracy                    98.00%",
        "  model                       digits",
        "  images                      450",
        "  correct on device           441 (98.00%)",
        "  instructions per inference  123,456",
        "  flash (flash)               65,536 of 262,144 bytes (25.0%)",
        "  ram (ram)                   1,024 of 16,384 bytes (6.2%)",
        "  of that the stack           at most 700 of 2,048 bytes",
    ]


def test_what_was_not_measured_is_not_in_the_table() -> None:
    size = _SIZE | {"stack": {"size": 2048, "bound": None}}
    text = summary(Run("PL:PASS\n", 0, "", Counts(total=9), 1.0), size, {})
    assert "instructions" not in text
    assert "no bound of 2,048 bytes" in text


def test_steps() -> None:
    plan = {
        "steps": [
            {"step": 1, "op": "pl::conv2d", "outputs": ["a int8", "b int8"]},
            {"step": 2, "op": "pl::linear", "outputs": ["c int8"]},
        ]
    }
    run = _run({0: Region(2, 900), 1: Region(2, 600), 2: Region(2, 200)})
    assert [line.split() for line in steps(run, plan).splitlines()] == [
        ["instructions", "step"],
        ["300", "pl::conv2d", "a", "int8", "b", "int8"],
        ["100", "pl::linear", "c", "int8"],
    ]
    assert steps(_run({0: Region(2, 900)}), plan) == ""
