# SPDX-License-Identifier: Apache-2.0
"""Cores with estimates; LLVM's figures are tested in test_cycles_llvm.py."""

import os

import pytest

from tools.simulator.blocks import CyclesError
from tools.simulator.cycles import MODELS, CycleTools, check_core, has_table


def test_cores() -> None:
    for core in ("cortex-m7+nofp.dp", "cortex-m33", "cortex-m0plus"):
        check_core(core)
    with pytest.raises(CyclesError, match="no model estimates cycles for cortex-m23, only for"):
        check_core("cortex-m23")


def test_llvm_is_fetched_for_cores_without_a_table() -> None:
    assert os.environ["WITH_LLVM"].split() == list(MODELS)
    assert not any(map(has_table, MODELS)) and has_table("cortex-m33+nofp")


def test_a_target_without_llvm_says_which_has_it() -> None:
    with pytest.raises(CyclesError, match="lacks llvm-mca; use the target <image>.cycles"):
        CycleTools.of_build("cortex-m55")
