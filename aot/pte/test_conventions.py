# SPDX-License-Identifier: Apache-2.0
"""Numbers in a .pte: those not defined by Pilotlight are ExecuTorch's. Reading needs no torch."""

import subprocess
import sys

import pytest
import torch
from executorch.exir.scalar_type import ScalarType
from executorch.exir.tensor import scalar_type_enum

from aot.pte.conventions import DTYPE_NAMES, Border, checksum, constant_methods, sealed
from kernels.common.tensor import DTYPES


@pytest.mark.parametrize("name", DTYPES)
def test_element_types_are_executorchs(name: str) -> None:
    dtype = getattr(torch, name)
    assert scalar_type_enum(dtype) == ScalarType(DTYPES[name].scalar_type)
    assert DTYPE_NAMES[DTYPES[name].scalar_type] == name
    assert dtype.itemsize == DTYPES[name].bytes


def test_constant_methods() -> None:
    image, row = Border(0.5, 3, "nhwc"), Border(0.0, 0, "row_major")
    assert constant_methods([image], [row, image]) == {
        "pl_format_version": 1,
        "pl_input_scales": [0.5],
        "pl_input_zero_points": [3],
        "pl_input_layouts": [2],
        "pl_output_scales": [0.0, 0.5],
        "pl_output_zero_points": [0, 3],
        "pl_output_layouts": [0, 2],
    }


def test_the_checksum_is_crc32() -> None:
    assert checksum(b"123456789") == bytes.fromhex("2639f4cb")
    assert sealed(b"123456789") == b"123456789" + checksum(b"123456789")


@pytest.mark.parametrize(
    "module",
    [
        "aot.pte.conventions",
        "aot.pte.reader",
        "npu.ethos_u.payload",
        "aot.plan.compile",
        "aot.plan.plan",
    ],
)
def test_what_plans_need_imports_no_torch(module: str) -> None:
    script = f"import sys, {module}; sys.exit('torch' in sys.modules)"
    environment = {"PYTHONPATH": ":".join(sys.path)}
    assert subprocess.run([sys.executable, "-c", script], env=environment).returncode == 0
