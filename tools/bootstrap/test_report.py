# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tools.bootstrap.report import SetupError, give, run, run_main

# Runs a long-lasting program, and first prints a message.
LASTING = """
import sys
from tools.bootstrap.report import run
run("lasting", ["sh", "-c", "echo $$ > $0; exec sleep infinity", sys.argv[1]])
"""


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def wait_until(condition: Callable[[], bool]) -> None:
    """Wait without a limit; the test's own timeout ends it."""
    while not condition():
        time.sleep(0.02)


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_programs_end_with_the_set_up(tmp_path: Path, how: signal.Signals) -> None:
    number = tmp_path / "process"
    parent = subprocess.Popen(
        [sys.executable, "-c", LASTING, number],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    wait_until(lambda: number.exists() and number.read_text() != "" or parent.poll() is not None)
    child = int(number.read_text())
    assert is_running(child)
    parent.send_signal(how)
    parent.wait()
    wait_until(lambda: not is_running(child))


def test_failed_program_is_quoted() -> None:
    with pytest.raises(SetupError, match="trying: sh failed: no such thing"):
        run("trying", ["sh", "-c", "echo no such thing >&2; exit 3"])


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (SetupError("no mirror"), 1, "pilotlight: cannot set up it: no mirror\npilotlight: do x\n"),
        (OSError("disk full"), 1, "pilotlight: cannot set up it: disk full\npilotlight: do x\n"),
        (
            KeyboardInterrupt(),
            130,
            "pilotlight: interrupted; run the command again to go on from here\n",
        ),
        (None, 0, ""),
    ],
)
def test_errors_become_text_and_status(
    error: BaseException | None, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def main() -> None:
        if error:
            raise error

    assert run_main("it", main, "do x") == status
    assert capsys.readouterr().err == said


def test_result_goes_to_the_file_or_to_stdout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("PILOTLIGHT_RESULT", raising=False)
    give(Path("/some/where"))
    assert capsys.readouterr().out == "/some/where\n"
    monkeypatch.setenv("PILOTLIGHT_RESULT", str(tmp_path / "result"))
    give(Path("/some/where"))
    assert capsys.readouterr().out == ""
    assert (tmp_path / "result").read_text() == "/some/where\n"
