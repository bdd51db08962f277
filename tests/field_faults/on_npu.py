# SPDX-License-Identifier: Apache-2.0
"""Some cases of each class for Ethos-U, on larger inputs: small ones stay on the core."""

from collections.abc import Iterator
from dataclasses import replace

from tests.field_faults.table import CLASSES, with_large_biases
from tests.ops.bundle import Bundle, as_model
from tests.ops.case import Case, Input

_SOME = 4  # cases of a class, or few more
_ROWS, _SIDE = 64, 4  # times those of the table


def cases() -> Iterator[Case]:
    for make in CLASSES:
        all_of_class = list(make())
        for case in all_of_class[:: max(1, len(all_of_class) // _SOME)]:
            yield replace(case, inputs=tuple(map(_larger, case.inputs)))


def _larger(given: Input) -> Input:
    match given.shape:
        case batch, channels, height, width:
            return replace(given, shape=(batch, channels, height * _SIDE, width * _SIDE))
        case rows, width:
            return replace(given, shape=(rows * _ROWS, width))
    return given


_factory, calibration, test_inputs = as_model(cases)


def factory() -> Bundle:
    return with_large_biases(_factory())
