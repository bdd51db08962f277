# SPDX-License-Identifier: Apache-2.0
from pathlib import Path

import pytest

from tools.simulator.elf import Elf, ElfError

_PROGRAM = Path("boards/tests/hello.corstone300.elf")


def test_functions_and_sections() -> None:
    elf = Elf(_PROGRAM)
    main = elf.function("main")
    assert main is not None and main.is_function and main.size > 0
    assert elf.function_at(main.address) == main
    assert elf.function_at(main.address + main.size - 1) == main
    assert elf.function("no_such_function") is None
    assert elf.function_at(0xFFFFFFF0) is None
    names = [section.name for section in elf.sections]
    assert names[:2] == [".vectors", ".rel.vectors"]
    reset = elf.function("pl_reset")
    assert reset is not None
    assert elf.word(elf.sections[0].address + 4) == reset.address | 1


@pytest.mark.parametrize(
    ("contents", "problem"),
    [
        (b"", "is not an ELF file for 32-bit Arm"),
        (b"#!/bin/sh\n" * 10, "is not an ELF file for 32-bit Arm"),
        (b"\x7fELF\x02\x01" + b"\0" * 100, "is not an ELF file for 32-bit Arm"),
        (b"\x7fELF\x01\x01" + b"\0" * 12 + b"\x28\x00", "is truncated"),
    ],
)
def test_other_files(tmp_path: Path, contents: bytes, problem: str) -> None:
    file = tmp_path / "x.elf"
    file.write_bytes(contents)
    with pytest.raises(ElfError, match=problem):
        Elf(file)


def test_a_file_cut_short(tmp_path: Path) -> None:
    whole = _PROGRAM.read_bytes()
    file = tmp_path / "x.elf"
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ElfError, match="is truncated"):
        Elf(file)
