# SPDX-License-Identifier: Apache-2.0
"""An image has the kernels its model uses, and no other."""

import re
from pathlib import Path

import kernels.registry
from tools.simulator.elf import Elf

PROGRAM = Path(__file__).parent / "check_test.mps2_an385.program.elf"
FOLDERS = {path.parent.name for path in Path(kernels.registry.__file__).parent.glob("*/kernel.py")}


def linked_kernels() -> set[str]:
    """Return functions with the name of a kernel's folder, and all that compute in float32."""
    names = {symbol.name for symbol in Elf(PROGRAM).symbols if symbol.is_function}
    return {
        name
        for name in names
        if name.endswith("_f32")
        or any(re.fullmatch(rf"pl_{folder}_(\w+_)?(s8|x8|x32)", name) for folder in FOLDERS)
    }


def test_only_what_the_model_uses() -> None:
    assert len(FOLDERS) > 10
    assert linked_kernels() == {
        "pl_add_down_s8",
        "pl_conv2d_rows_s8",
        "pl_depthwise_conv2d_s8",
        "pl_gather_dense_window_s8",  # from kernels/common, for windows reaching into padding
        "pl_linear_s8",
        "pl_max_pool2d_s8",
    }
