# SPDX-License-Identifier: Apache-2.0
"""Both payload readers, payload.py and payload.c, refuse the same payloads."""

import ctypes
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from npu.ethos_u.npu_model import CONFIGS
from npu.ethos_u.payload import PayloadError, parse_payload
from npu.ethos_u.testing.payloads import block, payload

_LIBRARY = ctypes.CDLL(str(Path(__file__).parent / "libpayload.so"))
_GOOD = payload()


def _numbers_of_c(data: bytes) -> list[int] | None:
    """Return the numbers read by payload.c, or None if it refuses."""
    memory = np.zeros(len(data) + 16, np.uint8)
    memory = memory[-memory.ctypes.data % 16 :][: len(data)]  # payload.c needs alignment
    memory[:] = np.frombuffer(data, np.uint8)
    numbers = (ctypes.c_uint32 * (len(data) + 16))()
    status = _LIBRARY.parse_payload(
        ctypes.c_void_p(memory.ctypes.data), ctypes.c_size_t(len(data)), numbers
    )
    if status != 0:
        return None
    return list(numbers[: 7 + 10 * (numbers[5] + numbers[6])])


def _numbers_of_python(data: bytes) -> list[int] | None:
    try:
        parsed = parse_payload(data)
    except PayloadError:
        return None
    numbers = [parsed.config, parsed.id, len(parsed.words), len(parsed.weights)]
    numbers += [parsed.scratch_size, len(parsed.inputs), len(parsed.outputs)]
    for tensor in (*parsed.inputs, *parsed.outputs):
        numbers += [*tensor.shape, tensor.element_size, tensor.offset, tensor.region, tensor.bytes]
    return numbers


def test_parse_payload() -> None:
    parsed = parse_payload(_GOOD)
    assert parsed.config == CONFIGS["ethos-u55-128"]
    assert parsed.scratch_size == 96
    assert parsed.weights == bytes(range(256))
    assert parsed.inputs[0].shape == (1, 1, 1, 2, 3, 4)
    assert (parsed.outputs[0].offset, parsed.outputs[0].region) == (64, 1)
    assert (parsed.outputs[0].bytes, parsed.outputs[0].end) == (24, 88)


def _table(*numbers: int, count: int = 1) -> bytes:
    """Return an I/O block; by default with the one entry of `payload`."""
    return struct.pack(f"<{1 + len(numbers)}i", count, *numbers)


def _input(*numbers: int, count: int = 1) -> bytes:
    return payload(blocks={"inputs": _table(*numbers, count=count)})


def _commands(*words: int) -> bytes:
    return payload(blocks={"cmd_data": struct.pack(f"<{len(words)}I", *words)})


def _without(name: str) -> bytes:
    start = _GOOD.index(block(name, b"")[:16])
    (size,) = struct.unpack_from("<I", _GOOD, start + 16)
    return _GOOD[:start] + _GOOD[start + 32 + (size + 15) // 16 * 16 :]


def _with(extra: bytes) -> bytes:
    return _GOOD[:32] + extra + _GOOD[32:]


_COP1 = 0x31504F43
_LARGE = 0x7FFFFFFF

# Payloads with one common status in payload.c, by the error of payload.py.
_MALFORMED = {
    "nothing": (b"", "truncated"),
    "another magic": (b"vela_bin_streaM" + _GOOD[15:], "no vela_bin_stream"),
    "a longer magic": (b"vela_bin_streamX" + _GOOD[16:], "no vela_bin_stream"),
    "cut in a block": (
        _GOOD[:100],
        "block 'cmd_data' needs .* bytes and padding, but 36 bytes are left",
    ),
    "cut before the end": (_GOOD[:-32], "truncated at byte .*: no vela_end_stream"),
    "a block without its padding": (
        _GOOD[:32] + block("inputs", bytes(4))[:-12],
        "block 'inputs' needs 4 bytes and padding, but 4 bytes are left",
    ),
    "a negative size": (_GOOD[:48] + b"\xff\xff\xff\xff" + _GOOD[52:], "needs 4294967295 bytes"),
    "an unknown block": (_with(block("inputz", b"")), "unknown block 'inputz'"),
    "a second start": (_with(block("vela_bin_stream", b"")), "unknown block 'vela_bin_stream'"),
    "a block twice": (_with(block("weight_data", b"")), "block 'weight_data' comes twice"),
    "two sizes of scratch": (_with(block("scratch_data", bytes(96))), "both scratch_size and"),
    "a short scratch size": (payload(blocks={"scratch_size": b"\x60"}), "scratch_size has 1 bytes"),
    "no commands": (_without("cmd_data"), "block 'cmd_data' is missing"),
    "no weights": (_without("weight_data"), "block 'weight_data' is missing"),
    "no scratch": (_without("scratch_size"), "block 'scratch_size' is missing"),
    "no inputs": (_without("inputs"), "block 'inputs' is missing"),
    "no outputs": (_without("outputs"), "block 'outputs' is missing"),
    "half a command word": (
        payload(blocks={"cmd_data": b"COP1" + bytes(3)}),
        "not a multiple of 4",
    ),
    "COP2": (payload(blocks={"cmd_data": b"COP2" + bytes(40)}), "do not start with COP1"),
    "no actions": (_commands(_COP1), "no command stream"),
    "an unknown action": (_commands(_COP1, 9), "unknown or truncated driver action 0x9"),
    "half a configuration": (_commands(_COP1, 1, 0x1807), "unknown or truncated driver action 0x1"),
    "no configuration": (_commands(_COP1, 5, 5, 2 | 1 << 16, 0), "before their configuration"),
    "too few words": (_commands(_COP1, 1, 0, 0, 5, 5, 5, 2 | 9 << 16, 0), "9 command words are"),
    "words not aligned": (_commands(_COP1, 1, 0, 0, 2 | 1 << 16, 0), "start at byte 20"),
    "an empty table": (payload(blocks={"inputs": b""}), "block 'inputs' is truncated: 0 bytes"),
    "a negative count": (_input(count=-1), "truncated: 4294967295 entries in 4 bytes"),
    "half an entry": (_input(1, 1, 1, 1, 1, 1, 1, 16), "truncated: 1 entries in 36 bytes"),
    "a negative dimension": (_input(1, 1, 1, 2, -3, 4, 1, 16, 1), "input 0: shape .*-3.*1 or more"),
    "negative dimensions": (_input(1, 1, 1, 2, -3, -4, 1, 16, 1), "input 0: shape .*-3, -4"),
    "no elements": (_input(1, 1, 1, 0, 3, 4, 1, 16, 1), "input 0: shape .1, 1, 1, 0, 3, 4."),
    "3-byte elements": (
        _input(1, 1, 1, 2, 3, 4, 3, 16, 1),
        "elements of 3 bytes, not 1, 2, 4 or 8",
    ),
    "0-byte elements": (_input(1, 1, 1, 2, 3, 4, 0, 16, 1), "elements of 0 bytes"),
    "negative elements": (_input(1, 1, 1, 2, 3, 4, -1, 16, 1), "elements of -1 bytes"),
    "more than 2 GB": (_input(1, 1, 1, _LARGE, 1, 1, 2, 16, 1), "4294967294 bytes, 2147483647"),
    "more than 64 bits": (_input(*[_LARGE] * 6, 1, 16, 1), "input 0: .* bytes, 2147483647 are the"),
    "a negative offset": (_input(1, 1, 1, 2, 3, 4, 1, -16, 1), "input 0: offset -16 is negative"),
    "a negative offset in fast scratch": (_input(1, 1, 1, 2, 3, 4, 1, -1, 2), "offset -1 is"),
    "beyond the scratch": (_input(1, 1, 1, 2, 3, 4, 1, 73, 1), "at byte 97 of a scratch of 96"),
    "far beyond it": (_input(1, 1, 1, 2, 3, 4, 1, _LARGE, 1), "at byte 2147483671 of"),
    "among the constants": (_input(1, 1, 1, 2, 3, 4, 1, 16, 0), "region 0, not 1"),
    "region 9": (_input(1, 1, 1, 2, 3, 4, 1, 16, 9), "input 0: region 9, not 1"),
    "region -1": (_input(1, 1, 1, 2, 3, 4, 1, 16, -1), "input 0: region -1"),
    "a bad output": (
        payload(blocks={"outputs": _table(1, 1, 1, 2, 3, 4, 1, 16, 3)}),
        "output 0: region 3",
    ),
    "a bad second input": (
        _input(1, 1, 1, 2, 3, 4, 1, 16, 1, 1, 1, 1, 2, 3, 4, 5, 16, 1, count=2),
        "input 1: elements of 5 bytes",
    ),
}


@pytest.mark.parametrize("name", _MALFORMED)
def test_both_refuse(name: str) -> None:
    data, message = _MALFORMED[name]
    with pytest.raises(PayloadError, match=message):
        parse_payload(data)
    assert _numbers_of_c(data) is None


_SOUND = {
    "the one of the other tests": _GOOD,
    "no tensors": payload(blocks={"inputs": bytes(4), "outputs": bytes(4)}),
    "up to the end of the scratch": _input(1, 1, 1, 2, 3, 4, 1, 72, 1),
    "in the fast scratch": _input(1, 1, 1, 2, 3, 4, 8, _LARGE, 2),
    "bytes behind the last entry": _input(1, 1, 1, 2, 3, 4, 1, 16, 1, 7, 7),
    "scratch as bytes": _without("scratch_size")[:32]
    + block("scratch_data", bytes(96))
    + _without("scratch_size")[32:],
    "no weights": payload(blocks={"weight_data": b""}),
    "bytes behind the end": _GOOD + b"more",
}


@pytest.mark.parametrize("name", _SOUND)
def test_both_read(name: str) -> None:
    numbers = _numbers_of_c(_SOUND[name])
    assert numbers is not None
    assert numbers == _numbers_of_python(_SOUND[name])


_INTERESTING = st.sampled_from(
    [0, 1, 2, 3, 4, 8, 16, 96, 0xFF, _LARGE, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF]
)


@settings(max_examples=3000, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, len(_GOOD) // 4 - 1), _INTERESTING | st.integers(0, 2**32 - 1)),
        max_size=4,
    ),
    st.none() | st.integers(0, len(_GOOD)),
)
@example([], None)
def test_both_agree(changes: list[tuple[int, int]], size: int | None) -> None:
    data = bytearray(_GOOD)
    for word, value in changes:
        struct.pack_into("<I", data, 4 * word, value)
    assert _numbers_of_python(bytes(data[:size])) == _numbers_of_c(bytes(data[:size]))
