# SPDX-License-Identifier: Apache-2.0
"""The two payload readers, payload.py and payload.c, read and refuse the same bytes."""

import ctypes
import mmap
import os
import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from npu.neutron.payload import (
    MAGIC,
    VERSIONS,
    WORDS,
    NeutronPayloadError,
    NeutronProgram,
    compose,
    parse,
)

# More of them at night.
EXAMPLES = int(os.environ.get("EXAMPLES", "500"))

_LIBRARY = ctypes.CDLL(str(Path(__file__).parent / "libpayload.so"))
_HEADER = 16
_SIZES = {0: (9, 10), 1: (9, 10, 11, 12)}  # words of sizes, by the version


def _payload(
    version: int = 1,
    changes: dict[int, int] | None = None,
    inputs: tuple[int, ...] = (2, 0),
    outputs: tuple[int, ...] = (1, 0),
    arguments: int = 3,
) -> bytes:
    """`changes` are words of the microcode."""
    words = [0] * WORDS
    words[0], words[6], words[7] = MAGIC, 4 * WORDS, 20
    first = 11 if version == 0 else 13
    words[first : first + 2] = len(inputs), len(outputs)
    for number, word in enumerate(_SIZES[version]):
        words[word] = 100 * number + 33
    microcode = struct.pack(f"<{WORDS}I", *words)
    program = NeutronProgram(inputs, outputs, microcode, bytes(range(20)), b"kernels", version)
    flags = [i in (0, len(inputs) + 1) for i in range(len(inputs) + len(outputs))]
    data = bytearray(compose(program, arguments, flags))
    for word, value in (changes or {}).items():
        struct.pack_into("<I", data, _HEADER + 4 * word, value)
    return bytes(data)


def _with(changes: dict[int, int], version: int = 1) -> bytes:
    """Return the payload with other bytes in the header."""
    data = bytearray(_payload(version))
    for at, value in changes.items():
        data[at] = value
    return bytes(data)


def _guarded() -> npt.NDArray[np.uint8]:
    """Return memory with an unreadable page after it."""
    pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    memory = np.frombuffer(pages, np.uint8)
    guard = ctypes.c_void_p(memory.ctypes.data + mmap.PAGESIZE)
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.mprotect(guard, ctypes.c_size_t(mmap.PAGESIZE), 0) == 0, ctypes.get_errno()
    return memory[: mmap.PAGESIZE]


_MEMORY = _guarded()


def _status_of_c(data: bytes, shift: int = 0) -> tuple[int, list[int]]:
    start = len(_MEMORY) - (len(data) + shift + 15) // 16 * 16
    _MEMORY[start + shift :][: len(data)] = np.frombuffer(data, np.uint8)
    numbers = (ctypes.c_uint32 * 2048)()
    status = _LIBRARY.parse_payload(
        ctypes.c_void_p(_MEMORY.ctypes.data + start + shift), ctypes.c_size_t(len(data)), numbers
    )
    count = 10 + 2 * (numbers[0] + numbers[1])
    return status, list(numbers[:count]) if status == 0 else []


def _numbers_of_python(data: bytes) -> list[int]:
    """The numbers of payload_test_library.c; none if payload.py refuses."""
    try:
        parsed = parse(data)
    except NeutronPayloadError:
        return []
    program, sizes = parsed.program, parsed.sizes
    tensors = len(program.inputs) + len(program.outputs)
    microcode = -(-(4 + 2 * tensors) // 16) * 16
    weights = microcode + -(-len(program.microcode) // 16) * 16
    return [
        *(len(program.inputs), len(program.outputs), parsed.arguments),
        *(microcode, weights, len(data) - len(program.kernels)),
        *(sizes.scratch, sizes.profile, sizes.debug, sizes.fetched),
        *map(int, parsed.channels_last),
        *(*program.inputs, *program.outputs),
    ]


_SOUND = {
    "version 0": _payload(0),
    "version 1": _payload(1),
    "no weights": _payload(changes={7: 0}),
    "kernels of no bytes": _payload(changes={7: 48}),
    "the highest bit of the profile": _payload(changes={10: 0x80000000}),
    "all memory there is": _payload(changes={9: 2**31 - 1024}),
    "bytes behind the kernels": _payload() + bytes(16),
    "an input twice": _with({7: 2, 8: 2}),
    "fewer arguments than outputs": _payload(inputs=(0,), arguments=1),
    "more outputs than arguments": _payload(inputs=(0,), outputs=(2, 0, 1), arguments=1),
    "a header without padding": _payload(inputs=(2, 1, 0), outputs=(2, 0, 1)),
    "a header of 32 bytes": _payload(0, inputs=(2, 1, 0, 3), outputs=(2, 0, 1), arguments=4),
}
_THREE = _payload(outputs=(2, 0, 1))  # outputs at 10 to 12


def _headed(inputs: int, outputs: int) -> bytes:
    """One tensor, an input or an output; nothing else is wrong."""
    header = bytes([inputs, outputs, inputs, 0, 0, 1]).ljust(_HEADER, b"\0")
    return header + _payload(changes={13: inputs, 14: outputs})[_HEADER:]


def _behind_a_byte(inputs: int, changes: dict[int, int]) -> bytes:
    """Return valid microcode after one byte; as a header, that byte gives 110 outputs."""
    words = [0] * WORDS
    words[0], words[6], words[13], words[14] = MAGIC, 4 * WORDS, inputs, MAGIC & 0xFF
    data = bytearray(bytes([inputs]) + struct.pack(f"<{WORDS}I", *words)).ljust(241, b"\0")
    for at, value in changes.items():
        data[at] = value
    return bytes(data)


def _three(*outputs: int) -> bytes:
    return _THREE[:10] + bytes(outputs) + _THREE[13:]


@pytest.mark.parametrize("name", _SOUND)
def test_both_read(name: str) -> None:
    status, numbers = _status_of_c(_SOUND[name])
    assert status == 0
    assert numbers == _numbers_of_python(_SOUND[name])


# Header: counts at 0 to 2, formats at 3 to 6, inputs at 7 and 8, outputs at 9 and 10, then the
# version.
_MALFORMED = {
    "nothing": (b"", "0 bytes are too few for a header"),
    "two bytes": (_payload()[:2], "2 bytes are too few for a header"),
    "half a header": (_payload()[:12], "header of 2 inputs and 2 outputs is damaged"),
    "no inputs": (_with({0: 0}), "header of 0 inputs"),
    "no outputs": (_with({1: 0}), "and 0 outputs is damaged"),
    "an output alone": (_headed(0, 1), "header of 0 inputs"),
    "an input alone": (_headed(1, 0), "and 0 outputs is damaged"),
    "padding": (_with({12: 1}), "is damaged"),
    "no inputs, microcode behind a byte": (_behind_a_byte(0, {}), "header of 0 inputs and 110"),
    "padding, microcode behind a byte": (_behind_a_byte(1, {239: 1}), "1 inputs and 110 outputs"),
    "version 2, microcode behind a byte": (_behind_a_byte(1, {225: 2}), "version 2"),
    "the last byte of padding": (_with({15: 1}), "is damaged"),
    "version 2": (_with({11: 2}), "version 2"),
    "a format": (_with({3: 2}), "names a format"),
    "the last format": (_with({6: 2}), "names a format"),
    "an input that is not there": (_with({7: 3}), "or an input that does not exist"),
    "the last input": (_with({8: 3}), "or an input that does not exist"),
    "an output twice": (_with({9: 0}), r"maps the outputs to \[0, 0\], but there are 2"),
    "the other output twice": (_with({10: 1}), r"maps the outputs to \[1, 1\], but there are 2"),
    "an output that is not there": (
        _with({9: 2}),
        r"maps the outputs to \[2, 0\], but there are 2",
    ),
    "the last output": (_with({10: 2}), r"maps the outputs to \[1, 2\], but there are 2"),
    "the last of three twice": (
        _three(0, 1, 1),
        r"maps the outputs to \[0, 1, 1\], but there are 3",
    ),
    "the first of three twice": (
        _three(0, 1, 0),
        r"maps the outputs to \[0, 1, 0\], but there are 3",
    ),
    "little microcode": (_payload()[: _HEADER + 48], "48 bytes are too few for microcode"),
    "no whole block": (_payload()[:-1], "of weights do not fit"),
    "another magic": (_payload(changes={0: MAGIC + 1}), "starts with"),
    "short microcode": (_payload(changes={6: 4 * WORDS - 1}), "59 bytes of microcode and 20"),
    "long microcode": (_payload(changes={6: 0xFFFFFFFF}), "bytes of microcode and 20"),
    "long weights": (_payload(changes={7: 0xFFFFFFFF}), "4294967295 of weights"),
    "weights past the end": (_payload(changes={7: 49}), "49 of weights"),
    "other inputs": (_payload(changes={13: 1}), "microcode and header have different numbers"),
    "other outputs": (_payload(changes={14: 1}), "microcode and header have different numbers"),
    "other inputs, version 0": (
        _payload(0, {11: 1}),
        "microcode and header have different numbers",
    ),
    "other outputs, version 0": (
        _payload(0, {12: 1}),
        "microcode and header have different numbers",
    ),
    **{
        f"word {word} of version {version}": (
            _payload(version, {word: 0x7FFFFFFF}),
            "bytes of scratch memory",
        )
        for version in VERSIONS
        for word in _SIZES[version]
    },
}


@pytest.mark.parametrize("name", _MALFORMED)
def test_both_refuse(name: str) -> None:
    data, message = _MALFORMED[name]
    with pytest.raises(NeutronPayloadError, match=message):
        parse(data)
    assert _status_of_c(data)[0] == -3  # NEUTRON_ERROR_PAYLOAD


def test_pointers() -> None:
    numbers = (ctypes.c_uint32 * 2048)()
    assert _LIBRARY.parse_payload(None, ctypes.c_size_t(16), numbers) == -1
    for shift in (1, 2, 4, 8):
        assert _status_of_c(_payload(), shift)[0] == -2


_INTERESTING = st.sampled_from([0, 1, 2, 3, 15, 16, 17, 59, 60, 64, 0x7FFFFFF0, 0xFFFFFFFF])


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.sampled_from(VERSIONS),
    st.lists(st.tuples(st.integers(0, _HEADER - 1), st.integers(0, 4)), max_size=2),
    st.lists(
        st.tuples(st.integers(0, WORDS - 1), _INTERESTING | st.integers(0, 2**32 - 1)), max_size=3
    ),
    st.none() | st.integers(0, len(_payload())),
)
@example(1, [], [], None)
def test_both_agree(
    version: int, header: list[tuple[int, int]], words: list[tuple[int, int]], size: int | None
) -> None:
    data = bytearray(_payload(version, dict(words)))
    for at, value in header:
        data[at] = value
    assert _numbers_of_python(bytes(data[:size])) == _status_of_c(bytes(data[:size]))[1]
