# SPDX-License-Identifier: Apache-2.0
"""Handlers that the linker places, and those that it cannot place."""

import subprocess
from pathlib import Path

import pytest

from boards.board import load_board
from boards.common.testing import link
from tools.image.handlers import wrong_handlers
from tools.python.runfile import runfile

_BOARD = load_board(Path("boards/microbit/microbit.json"))


def _wrong(folder: Path, source: str, archives: tuple[Path, ...] = ()) -> str:
    options = ("-ffunction-sections", "-Wl,--gc-sections", "-Wl,--emit-relocs")
    elf, messages = link(folder, _BOARD, {"program": source}, *options)
    assert elf is not None, messages
    return wrong_handlers(_BOARD, elf, (folder / "program.map").read_text(), archives)


@pytest.mark.parametrize(
    "source",
    [
        "void TIMER0_IRQHandler(void) {} void SysTick_Handler(void) {} void UART0_Handler(void) {}",
        # Vendors' functions that handlers call, linked and not.
        "void HAL_TIM_IRQHandler(void *timer) { *(int *)timer = 0; }",
        "__attribute__((noinline)) void FLEX_IRQHandler(int i) { *(volatile int *)i = 0; }"
        "void TIMER0_IRQHandler(void) { FLEX_IRQHandler(1); }",
        "void handler(void) {} void Event_Handler(void) {} void Reset_Handler(void) {}",
    ],
)
def test_handlers_that_have_a_place(tmp_path: Path, source: str) -> None:
    assert _wrong(tmp_path, source) == ""


def test_two_handlers_for_one_interrupt(tmp_path: Path) -> None:
    text = _wrong(tmp_path, "void TIMER0_IRQHandler(void) {} void TIMER0_Handler(void) {}")
    assert text.startswith("TIMER0_IRQHandler and TIMER0_Handler are both defined; keep TIMER0_IRQ")


@pytest.mark.parametrize(
    "name",
    ["TIMER9_IRQHandler", "TIMER9_Handler", "GPIO1_Combined_0_15_IRQHandler"],
)
@pytest.mark.parametrize("attribute", ["", "__attribute__((used, retain)) "])
def test_a_handler_of_no_interrupt(tmp_path: Path, name: str, attribute: str) -> None:
    source = f"{attribute}void {name}(void) {{}} int other; int *also(void) {{ return &other; }}"
    assert _wrong(tmp_path, source).startswith(f"{name} is in no vector of microbit, and nothing")


def test_a_handler_in_a_library_that_nothing_takes(tmp_path: Path) -> None:
    compiler = runfile("arm_gnu_toolchain/bin/arm-none-eabi-gcc")
    assert compiler is not None
    (tmp_path / "it.c").write_text("void TIMER9_IRQHandler(void) {} void HAL_IRQHandler(void) {}")
    gcc = compiler.resolve()
    subprocess.run(
        [gcc, "-mthumb", "-mcpu=cortex-m0", "-c", "it.c", "-o", "it.o"], cwd=tmp_path, check=True
    )
    archiver = gcc.with_name("arm-none-eabi-gcc-ar")
    subprocess.run([archiver, "rcs", "libit.a", "it.o"], cwd=tmp_path, check=True)
    text = _wrong(tmp_path, "int main;", (tmp_path / "libit.a",))
    assert text.startswith("TIMER9_IRQHandler is in no vector") and text.count("\n") == 1
