# SPDX-License-Identifier: Apache-2.0
"""The biases of table.py alone, small enough for a board with 16 KB of RAM."""

from tests.field_faults.table import bias_by_isa, with_large_biases
from tests.ops.bundle import Bundle, as_model

_factory, calibration, test_inputs = as_model(bias_by_isa)


def factory() -> Bundle:
    return with_large_biases(_factory())
