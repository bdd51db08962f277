# SPDX-License-Identifier: Apache-2.0
"""Vela's own waits are needed: without one of them the model reports a hazard."""

import struct
from collections.abc import Iterator
from pathlib import Path

import pytest

from npu.ethos_u.isa import COMMANDS, Family
from npu.ethos_u.npu_model import EthosUError, EthosUModel
from npu.ethos_u.payload import parse_payload
from tests.ethos_u.corpus.archive import read_archive

_ARCHIVES = sorted(Path("tests/ethos_u/corpus").glob("*.zip"))
_KEYS = {command.name: key for key, command in COMMANDS[Family.U55].items()}  # U85: the same


def _without_wait(payload: bytes, name: str, family: Family) -> Iterator[bytes]:
    """Yield the payload with one command `name` after the other changed to wait for nothing."""
    words = parse_payload(payload).words
    start = payload.index(struct.pack(f"<{len(words)}I", *words))
    at = 0
    while at < len(words):
        if words[at] & 0xFFFF == _KEYS[name]:
            most = COMMANDS[family][_KEYS[name]].mask(False)
            changed = bytearray(payload)
            struct.pack_into("<I", changed, start + 4 * at, _KEYS[name] | most << 16)
            yield bytes(changed)
        at += 2 if words[at] >> 14 & 3 == 1 else 1


@pytest.mark.parametrize(
    ("accelerator", "name"),
    [
        ("ethos-u55-128", "OP_DMA_WAIT"),
        ("ethos-u55-128", "OP_KERNEL_WAIT"),
        ("ethos-u65-512", "OP_DMA_WAIT"),
        ("ethos-u65-512", "OP_KERNEL_WAIT"),
        ("ethos-u85-1024", "OP_DMA_WAIT"),
    ],
)
def test_a_missing_wait_is_a_hazard(accelerator: str, name: str) -> None:
    family = Family.U85 if accelerator.startswith("ethos-u85-") else Family.U55
    waits = found = 0
    for archive in _ARCHIVES:
        for part in read_archive(archive):
            compiled = next(c for c in part.compiled if c.accelerator == accelerator)
            for payload in _without_wait(compiled.payload, name, family):
                waits += 1
                try:
                    EthosUModel(accelerator, check_hazards=True).inspect(payload)
                except EthosUError as error:
                    assert error.status == "ETHOS_U_ERROR_HAZARD"
                    found += 1
    print(accelerator, name, waits, found)
    assert found == waits > 0
