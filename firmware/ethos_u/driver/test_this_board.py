# SPDX-License-Identifier: Apache-2.0
"""Tests of the driver's data on a board's NPU."""

from dataclasses import replace
from pathlib import Path

import pytest

from boards.board import AxiLimit, BoardNpu, load_board
from firmware.ethos_u import this_npu
from firmware.ethos_u.driver.this_board import source

_BOARD = load_board(Path("boards/corstone300_ethos_u55/corstone300_ethos_u55.json"))
_NPU = BoardNpu(
    configuration="ethos-u65-512",
    out_of_reach=(),
    base=0x50004000,
    irq=12,
    memory_mode="Dedicated_Sram",
    scratch="ddr",
    axi_limits=(AxiLimit(64, 2, 32, 16), AxiLimit(128, 3, 64, 32)) * 2,
    simulated=False,
)


def test_corstone300() -> None:
    text = source(_BOARD)
    assert ".base = 0x48102000," in text
    assert ".irq = 56," in text
    assert ".memory_mode = ETHOS_U_SHARED_SRAM," in text
    assert ".simulator = simulator," in text


def test_a_board_that_is_not_simulated() -> None:
    text = source(replace(_BOARD, npu=_NPU))
    assert ".memory_mode = ETHOS_U_DEDICATED_SRAM," in text
    assert ".axi_limits = {{0, 2, 32, 16}, {1, 3, 64, 32}, {0, 2, 32, 16}, {1, 3, 64, 32}}," in text
    assert ".simulator = NULL," in text


def test_the_model_is_linked_where_the_board_is_simulated() -> None:
    text = this_npu.source(_BOARD)
    assert 'section(".bss.pl_arena.ddr")' in text
    assert "ethos_u_this_board(simulator())" in text
    assert 'ethos_u_engine(&npu->npu, "ethos-u55-128")' in text
    silicon = this_npu.source(replace(_BOARD, npu=_NPU))
    assert "model" not in silicon and "ethos_u_this_board(NULL)" in silicon
    assert 'ethos_u_engine(&npu->npu, "ethos-u65-512")' in silicon


def test_the_core_sleeps_where_there_are_interrupts() -> None:
    text = this_npu.source(_BOARD)
    assert "void ETHOS_U_IRQHandler(void)" in text and "pl_irq_enable(PL_IRQ_ETHOS_U);" in text
    assert ".wait = ethos_u_sleep;" in text
    machine = this_npu.source(replace(_BOARD, timer=None))
    assert "Handler" not in machine and "sleep" not in machine
    with pytest.raises(ValueError, match="interrupt 56 has no name among the `irqs`"):
        this_npu.source(replace(_BOARD, irqs={}))


def test_the_cache_of_dedicated_sram_is_a_variable() -> None:
    text = this_npu.source(
        replace(_BOARD, npu=replace(_NPU, fast_memory="sram", fast_bytes=393216))
    )
    assert 'static uint8_t fast[393216]\n    __attribute__((section(".bss.pl_arena.sram")' in text
    assert "npu->npu.fast_size = sizeof fast;" in text
    assert "fast" not in this_npu.source(_BOARD)


def test_a_board_without_room_for_the_model() -> None:
    small = replace(_BOARD, arena=_BOARD.arena[:1])
    with pytest.raises(ValueError, match="needs 4194304 bytes of memory, but .*the largest of its"):
        this_npu.source(small)


def test_a_board_without_an_npu() -> None:
    with pytest.raises(ValueError, match="board corstone300_ethos_u55 has no NPU"):
        source(replace(_BOARD, npu=None))
