# SPDX-License-Identifier: Apache-2.0
"""Tests of the disassembler."""

import pytest

from npu.ethos_u.disassembly import describe, disassemble, family_of
from npu.ethos_u.isa import COMMANDS, Family
from npu.ethos_u.payload import PayloadError, parse_payload
from npu.ethos_u.testing.payloads import COPY, payload, words


def test_lines() -> None:
    lines = list(describe(parse_payload(payload())))
    assert lines[0].startswith("Ethos-U55, 128 MACs, 24 KB SHRAM (CONFIG 0x00001807")
    assert lines[1] == "weights 256 bytes, scratch 96 bytes"
    assert lines[2] == "input 0: 1x1x1x2x3x4, 1-byte elements at 1+0x10"
    assert "    1      1  SET_IFM_BASE0          1+0x10" in lines
    assert (
        "   13     20  SET_IFM_PRECISION      activation_type=SIGNED activation_precision=B8 "
        "activation_format=NHWC scale_mode=0 round_mode=DOUBLE" in lines
    )
    assert "   39     53  SET_ACTIVATION_MIN     -128" in lines
    assert lines[-2].startswith("   46     61  OP_POOL                pooling_mode=AVERAGE")
    assert lines[-2].endswith("; IFM depth 4 int8 NHWC, window 1x1, OFM 2x3x4 int8 NHWC")
    assert lines[-1] == "   47     62  OP_STOP                mask=65535"


def test_addresses_name_their_region() -> None:
    stream = words(
        [
            ("SET_OFM_REGION", 2, 0),
            ("SET_OFM_BASE0", 1, 0x40),
            ("SET_OFM_STRIDE_Y", 0xFF, 0xFFFFFFF0),
            ("SET_DMA0_DST_REGION", 0x103, 0),
            ("SET_DMA0_DST", 0, 0x5800),
        ]
    )
    lines = list(disassemble(tuple(stream), Family.U55))
    assert lines[1].endswith("SET_OFM_BASE0          2+0x100000040")
    assert lines[2].endswith("SET_OFM_STRIDE_Y       -16")
    assert lines[4].endswith("SET_DMA0_DST           internal+0x5800")
    assert "truncated: no OP_STOP" in lines[5]


def test_garbage_is_named() -> None:
    lines = list(disassemble((0x12340200, 0x0080FF80 & 0xFFFF0000 | 0x100, 0x4000), Family.U55))
    assert lines[0].endswith("unknown 0x12340200")
    assert lines[1].endswith("pad=0  reserved bits 0x80")
    assert lines[2].endswith("truncated: 0x00004000 has no payload word")


def test_every_command_disassembles() -> None:
    for family, commands in COMMANDS.items():
        for key, command in commands.items():
            stream = (key, 0) if command.has_payload else (key,)
            (first, *_) = disassemble(stream, family)
            assert command.name in first


def test_families() -> None:
    assert family_of(0x00001807) == Family.U55
    assert family_of(0x10003008) == Family.U55
    assert family_of(0x20000008) == Family.U85
    with pytest.raises(PayloadError, match="unknown product 3"):
        family_of(0x30000000)
    assert len(COPY) == 48
