# SPDX-License-Identifier: Apache-2.0
"""Links start-up code, console and one program for a board, without a separate build for each.

Sources, linker script and core options are those of images. A Bazel build for a board, with a
configuration and all tools built again for it, costs a hundred times as much. Unicorn does not
support Helium, so the compiler makes Cortex-M33 code for cores with it. The core check at the start
then reads registers with Helium.
"""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from boards.board import Board
from boards.common.linker_script import linker_script
from tools.python.runfile import runfile
from tools.simulator.elf import Elf

_COMMON = Path("boards/common")
_START_UP = ("abort", "core", "cxx", "exit", "fault", "semihosting", "stack", "startup", "print")
_OF_ARMV8M = ("cpu_mainline", "cpu_armv8m")
_OF_ARMV7M = ("cpu_mainline", "cpu_armv7m")
_OF_CORE = {
    "cortex-m0plus": ("cpu_armv6m",),
    "cortex-m4": _OF_ARMV7M,
    "cortex-m7": _OF_ARMV7M,
    "cortex-m33": (*_OF_ARMV8M, "cpu_cortex_m33"),
    "cortex-m55": (*_OF_ARMV8M, "cpu_cortex_m55"),
    "cortex-m85": (*_OF_ARMV8M, "cpu_cortex_m55"),
}
_WITH_HELIUM = ("cortex-m55", "cortex-m85")
_WITHOUT_FPU = ("cortex-m0plus",)
_OPTIONS = (
    "-std=c11",
    "-Os",
    "-ffunction-sections",
    "-fdata-sections",
    "-I.",
    "-masm-syntax-unified",
)
_LINK = ("-nostartfiles", "-static", "-Wl,--orphan-handling=error", "-Wl,--fatal-warnings")


class Images:
    """Programs in a folder. The common part of a core's boards is compiled once."""

    def __init__(self, folder: Path):
        compiler = runfile("arm_gnu_toolchain/bin/arm-none-eabi-gcc")
        assert compiler is not None
        self._gcc = str(compiler.resolve())  # GCC finds its parts relative to its real path
        self._folder = folder

    def _objects(self, board: Board, sources: Sequence[Path]) -> list[str]:
        defines = ["-DPL_CHIP_INIT"] * board.startup[0].endswith("with_chip_init")
        folder = self._folder / "".join((board.core, *defines))
        folder.mkdir(exist_ok=True)
        objects = {source: folder / f"{source.stem}.o" for source in sources}
        for source, made in objects.items():
            if not made.exists():
                options = [*_core(board), *(_OPTIONS if source.suffix == ".c" else ()), *defines]
                command = [self._gcc, *options, "-c", str(source), "-o", str(made)]
                subprocess.run(command, check=True)
        return [str(made) for made in objects.values()]

    def link(self, board: Board, program: Path) -> Elf:
        """Return a program linked for a board; its sources have the names of its libraries."""
        libraries = [label.replace(":", "/") for label in board.startup[1:]]
        sources = [
            *(_COMMON / f"{name}.c" for name in (*_START_UP, *_OF_CORE[board.core])),
            *(next(Path().glob(f"{library}.[cS]")) for library in libraries),
            program,
        ]
        script = self._folder / f"{board.name}.ld"
        script.write_text(linker_script(board))
        elf = self._folder / f"{board.name}.elf"
        objects = self._objects(board, sources)
        command = [self._gcc, *_core(board), *_LINK, "-T", str(script), *objects, "-o", str(elf)]
        subprocess.run(command, check=True)
        return Elf(elf)


def _core(board: Board) -> list[str]:
    if board.core in _WITH_HELIUM:
        return ["-mthumb", "-mcpu=cortex-m33", "-mfloat-abi=hard", "-D__ARM_FEATURE_MVE=3"]
    abi = "soft" if board.core in _WITHOUT_FPU else "hard"
    return ["-mthumb", f"-mcpu={board.core}", f"-mfloat-abi={abi}"]
