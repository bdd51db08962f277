# SPDX-License-Identifier: Apache-2.0
"""The table of element types and the rank agree with numpy and the device code."""

import re
from pathlib import Path

import numpy as np
import pytest

from kernels.common.dtype_header import header
from kernels.common.tensor import DTYPES, MAX_RANK


def test_the_device_has_the_same_rank() -> None:
    types = Path("kernels/common/types.h").read_text()
    assert re.findall(r"#define PL_MAX_RANK (\d+)", types) == [str(MAX_RANK)]


@pytest.mark.parametrize("name", DTYPES)
def test_sizes_are_numpys(name: str) -> None:
    assert np.dtype(name).itemsize == DTYPES[name].bytes
    assert DTYPES[name].c_type in (f"{name}_t", "float", "uint8_t")


def test_the_device_has_the_same_element_types() -> None:
    assert Path("kernels/common/dtype.h").read_text() == header(), (
        "run tools/bazel run //kernels/common:dtype_header"
    )
