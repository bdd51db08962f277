# SPDX-License-Identifier: Apache-2.0
"""Models fitting on a board one by one, but not together: the build reports the missing bytes and
the reason.
"""

import re
import subprocess
from pathlib import Path

_FOLDER = Path("tests/several")
_DOES_NOT_FIT = 3


def test_four_models_on_the_microbit(tmp_path: Path) -> None:
    program = tmp_path / "four_models.elf"
    linked = (_FOLDER / f"four_models.{kind}" for kind in ("linked.elf", "map"))
    done = subprocess.run(
        ["tools/image/fit", "boards/microbit/microbit.json", *linked, program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == _DOES_NOT_FIT, done.stderr
    assert not program.exists()
    title, *table = done.stderr.splitlines()
    assert title == "four_models does not fit on microbit: ram is too small."
    assert [line.split()[0] for line in table[:3]] == ["need", "have", "missing"]
    assert "16,384 bytes" in table[1]
    arenas = re.findall(
        r"([\d,]+) bytes  \.bss\.pl_arena\.ram of tests/several/([\w.]+)", done.stderr
    )
    assert {model for _, model in arenas} == {f"apart_{i}.plan" for i in range(1, 5)}
    assert len({size for size, _ in arenas}) == 1
    assert "2,176 bytes  `stack` and `handler_stack`" in done.stderr
    assert "Take smaller or fewer models" in table[-1]
