# SPDX-License-Identifier: Apache-2.0
"""Tests of the command table."""

from pathlib import Path

import pytest

from npu.ethos_u.isa import COMMANDS, Family, value_name
from npu.ethos_u.isa_header import header


def test_header_is_up_to_date() -> None:
    """Else write it anew: `tools/bazel run //npu/ethos_u:isa_header`."""
    path = Path(__file__).parent / "model" / "commands.h"
    assert path.read_text() == header()


@pytest.mark.parametrize("family", Family)
def test_fields_do_not_overlap(family: Family) -> None:
    for command in COMMANDS[family].values():
        for in_payload, width in ((False, 16), (True, 32)):
            fields = [field for field in command.fields if field.in_payload == in_payload]
            bits = sum(field.high - field.low + 1 for field in fields)
            mask = command.mask(in_payload)
            assert mask.bit_count() == bits, command.name
            assert mask < 1 << width, command.name
            assert command.has_payload or not in_payload or not fields, command.name


def test_field_values() -> None:
    command = COMMANDS[Family.U55][0x105]
    assert command.name == "SET_IFM_PRECISION"
    values = {field.name: field.value(0x8345 << 16, 0) for field in command.fields}
    assert values == {
        "activation_type": 1,
        "activation_precision": 1,
        "activation_format": 1,
        "scale_mode": 3,
        "round_mode": 2,
    }


@pytest.mark.parametrize(
    ("family", "field", "value", "name"),
    [
        (Family.U55, "elementwise_mode", 5, "LRELU"),
        (Family.U85, "elementwise_mode", 5, "LRELU"),
        (Family.U85, "elementwise_mode", 11, "DIV"),
        (Family.U55, "elementwise_mode", 11, "11"),
        (Family.U55, "round_mode", 2, "NATURAL"),
        (Family.U85, "round_mode", 2, "DOUBLE_ASYMMETRIC"),
        (Family.U55, "depth_m1", 7, "7"),
    ],
)
def test_value_names(family: Family, field: str, value: int, name: str) -> None:
    assert value_name(family, field, value) == name
