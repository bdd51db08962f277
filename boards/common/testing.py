# SPDX-License-Identifier: Apache-2.0
"""Links sources with a board's linker script, for tests of it and of later steps."""

import subprocess
from collections.abc import Mapping
from pathlib import Path

from boards.board import Board
from boards.common.linker_script import linker_script
from tools.python.runfile import runfile
from tools.simulator.elf import Elf

_OPTIONS = ("-O1", "-nostdlib", "-fdata-sections")

_RESET = """
void pl_reset(void) { for (;;) {} }
void pl_fault(void) { for (;;) {} }
__attribute__((section(".vectors"), used)) static void (*const vectors[2])(void) = {0, pl_reset};
"""


def link(
    folder: Path, board: Board, sources: Mapping[str, str], *options: str
) -> tuple[Elf | None, str]:
    """Compile and link for a board.

    Args:
      folder: for program.elf, program.map and other outputs.
      board: the target board.
      sources: C by the file's name without suffix; start-up code is added.
      *options: further ones for GCC.

    Returns:
      The program, None if it does not link, and the messages.
    """
    (folder / "board.ld").write_text(linker_script(board))
    for name, text in (("reset", _RESET), *sources.items()):
        (folder / f"{name}.c").write_text(text)
    compiler = runfile("arm_gnu_toolchain/bin/arm-none-eabi-gcc")
    assert compiler is not None
    # GCC finds its parts relative to its real path.
    gcc = [str(compiler.resolve()), "-mthumb", f"-mcpu={board.core}", *_OPTIONS]
    for name in ("reset", *sources):
        compile_it = [*gcc, *options, "-c", f"{name}.c", "-o", f"{name}.o"]
        subprocess.run(compile_it, cwd=folder, check=True)
    command = [
        *(*gcc, "-T", "board.ld", "-Wl,-Map=program.map", "-o", "program.elf"),
        *("-Wl,--orphan-handling=error", "-Wl,--fatal-warnings", "-Wl,--no-check-sections"),
        *(*options, "reset.o", *(f"{name}.o" for name in sources)),
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return Elf(folder / "program.elf") if done.returncode == 0 else None, done.stderr
