# SPDX-License-Identifier: Apache-2.0
"""Real weight streams against Vela's codec; no constant of a payload can change unnoticed."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from ethosu import mlw_codec

from npu.ethos_u.model.weight_decoder import decode_weights
from npu.ethos_u.npu_model import EthosUError, EthosUModel
from npu.ethos_u.payload import parse_payload
from tests.ethos_u.corpus.archive import Compiled, Lowered, read_archive
from tests.ethos_u.corpus.constants import Constant, constants
from tests.ethos_u.corpus.reference import Array, make_inputs

_ARCHIVES = sorted(Path("tests/ethos_u/corpus").glob("*.zip"))
_INPUTS = ("random", "extremes", "small")


def _payloads(archive: Path, *accelerators: str) -> Iterator[tuple[Lowered, Compiled]]:
    """Yield payloads in Vela's default memory mode: the first one of each accelerator."""
    for part in read_archive(archive):
        for accelerator in accelerators:
            yield part, next(c for c in part.compiled if c.accelerator == accelerator)


@pytest.mark.parametrize("archive", _ARCHIVES, ids=lambda archive: archive.stem)
def test_weight_streams_equal_mlw_codec(archive: Path) -> None:
    for part, compiled in _payloads(archive, "ethos-u55-32", "ethos-u55-128", "ethos-u65-512"):
        payload = parse_payload(compiled.payload)
        for constant in constants(payload):
            if constant.kind != "weights":
                continue
            stream = payload.weights[constant.offset : constant.offset + constant.length]
            expected = mlw_codec.decode(bytearray(stream))
            weights, error = decode_weights(stream, len(expected), 64)
            assert error is None, (part.name, constant)
            np.testing.assert_array_equal(weights, expected, str((part.name, constant)))


def _damaged(payload: bytes, damage: list[Constant]) -> bytes:
    """Every byte of these constants is another one."""
    data = bytearray(payload)
    start = payload.index(b"weight_data") + 32  # after the block's header
    for constant in damage:
        for at in range(start + constant.offset, start + constant.offset + constant.length):
            data[at] ^= 0x55
    return bytes(data)


def _outcome(accelerator: str, payload: bytes, runs: list[list[Array]]) -> list[bytes] | str:
    model = EthosUModel(accelerator)
    try:
        return [output.tobytes() for inputs in runs for output in model.run(payload, inputs)]
    except EthosUError as error:
        return error.status


def _damages(payload: bytes) -> Iterator[list[Constant]]:
    """Yield each constant on its own, but all operands together.

    (An operand alone may scale to nothing, e.g. LayerNorm's untrained bias.)
    """
    found = constants(parse_payload(payload))
    yield from ([constant] for constant in found if constant.kind != "operand")
    operands = [constant for constant in found if constant.kind == "operand"]
    if operands:
        yield operands


@pytest.mark.parametrize("archive", _ARCHIVES, ids=lambda archive: archive.stem)
def test_damaged_constants_change_the_result(archive: Path) -> None:
    for part, compiled in _payloads(archive, "ethos-u55-128", "ethos-u65-512"):
        runs = [make_inputs(part.name, kind, part.tosa) for kind in _INPUTS]
        good = _outcome(compiled.accelerator, compiled.payload, runs)
        assert not isinstance(good, str), (part.name, good)
        for damage in _damages(compiled.payload):
            bad = _outcome(compiled.accelerator, _damaged(compiled.payload, damage), runs)
            assert bad != good, (part.name, compiled.accelerator, damage)
