# SPDX-License-Identifier: Apache-2.0
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
