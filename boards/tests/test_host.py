# SPDX-License-Identifier: Apache-2.0
"""Programs for boards run on the host as well, under sanitizers."""

import io
import os
from pathlib import Path

import pytest

from boards.board import load_board
from tools.simulator.simulate import Run, SimulatorError, simulate

_BOARD = load_board(Path("boards/host/host.json"))


def _run(program: str) -> Run:
    return simulate(Path(f"boards/tests/{program}.host.elf"), _BOARD, time_limit=20)


def test_a_good_end() -> None:
    run = _run("hello")
    assert run.problem == ""
    assert run.console.splitlines()[0] == "0 4294967295 -2147483648 -1"


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("status", "exit status 7"),
        ("silent", "the last line is not PL:PASS"),
        ("not_last", "the last line is not PL:PASS"),
        ("fail", "PL:FAIL seven is not eight"),
    ],
)
def test_an_end_that_is_not_good(program: str, problem: str) -> None:
    assert _run(program).problem.startswith(problem)


def test_sanitizers_notice_a_read_past_an_array() -> None:
    run = _run("out_of_bounds")
    assert run.exit_status not in (0, None)
    assert "out_of_bounds.c:" in run.problem
    assert "index 4 out of bounds" in run.problem or "AddressSanitizer" in run.problem


def test_instructions_are_not_counted() -> None:
    with pytest.raises(SimulatorError, match="only QEMU counts"):
        simulate(Path("boards/tests/hello.host.elf"), _BOARD, count=True)


def test_what_it_prints_is_shown_to_its_last_byte(tmp_path: Path) -> None:
    program, shown = tmp_path / "program", io.StringIO()
    program.write_text("#!/bin/sh\nprintf '21 \\302'; sleep 0.1; printf '\\260C \\302'\n")
    program.chmod(0o755)
    simulate(program, _BOARD, time_limit=20, echo=shown)
    assert shown.getvalue() == "21 °C \N{REPLACEMENT CHARACTER}"


class _Closed(io.StringIO):
    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_program_that_never_ends_does_where_nobody_reads_on(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho $$ >'{tmp_path}/pid'; echo hello; exec sleep 600\n")
    program.chmod(0o755)
    with pytest.raises(BrokenPipeError):
        simulate(program, _BOARD, time_limit=300, echo=_Closed())
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
