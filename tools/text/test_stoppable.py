# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys

import pytest

from tools.text.stoppable import stoppable


def test_a_program_that_is_stopped_says_so_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    def main(argv: list[str]) -> int:
        if argv:
            raise KeyboardInterrupt
        return 3

    assert stoppable(main)([]) == 3
    with pytest.raises(SystemExit) as stopped:
        stoppable(main)(["a"])
    assert stopped.value.code == 130
    assert capsys.readouterr() == ("", "stopped\n")


@pytest.mark.parametrize("lines", [1, 100_000])
def test_a_program_that_nobody_reads_ends(lines: int) -> None:
    """Whether it notices while it prints or at its end."""
    code = (
        "import sys; from tools.text.stoppable import stoppable; sys.stdin.read();"
        f"sys.exit(stoppable(lambda _: print('\\n'.join(['line'] * {lines})))([]))"
    )
    pipe = subprocess.PIPE
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment) as run:
        assert run.stdin and run.stdout and run.stderr
        run.stdout.close()
        run.stdin.close()
        assert (run.stderr.read(), run.wait()) == (b"", 141)
