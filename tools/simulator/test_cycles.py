# SPDX-License-Identifier: Apache-2.0
"""Cores with estimates; LLVM's figures are tested in test_cycles_llvm.py."""

import os

import pytest

from tools.simulator.blocks import CyclesError
from tools.simulator.cycles import Tools, check_core


def test_cores() -> None:
    for core in ("cortex-m7+nofp.dp", "cortex-m33", "cortex-m0plus"):
        check_core(core)
    without = os.environ["WITHOUT_CYCLES"].split()  # LLVM is not fetched for these
    assert "cortex-m23" in without
    for core in without:
        with pytest.raises(CyclesError, match=f"no model estimates cycles for {core}, only for"):
            check_core(core)


def test_a_target_without_llvm_says_which_has_it() -> None:
    with pytest.raises(CyclesError, match="lacks llvm-mca; use the target <image>.cycles"):
        Tools.of_build()
