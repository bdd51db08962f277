# SPDX-License-Identifier: Apache-2.0
"""The payload of ExecuTorch's NeutronBackend: the output of NXP's converter for a region, after a
header. The header maps the tensors of the call to those of the NPU. payload.c reads the same.

Four blocks, each padded with zeros to 16 bytes:

    header      bytes: number of inputs and outputs of the NPU, and of inputs of the call;
                for each input and output of the NPU: channels_last (1) or not (0); for
                each input its place in the call, for each output likewise; the version
    microcode   words, little-endian; some of them describe the rest, see below
    weights
    kernels     the rest
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

ALIGNMENT = 16  # alignment of the payload, its blocks, scratch memory, inputs and outputs
MAGIC = 0x64434D6E
VERSIONS = (0, 1)
WORDS = 15  # minimum of the microcode
_COUNTS = 3
_MOST = 255  # inputs, outputs
_MAX_SCRATCH_BYTES = 2**31 - 1
_PROFILE_BYTES = 0x7FFFFFFF  # the highest bit is another thing


class NeutronPayloadError(ValueError):
    """The bytes are no such payload; the text gives the reason."""


@dataclass(frozen=True)
class NeutronProgram:
    """Output of NXP's converter for a region.

    Attributes:
      inputs: for each input of the NPU its place among the region's.
      outputs: for each output of the NPU its place among the region's.
      microcode: see above.
      weights: likewise.
      kernels: likewise.
      version: of the payload, one of VERSIONS.
    """

    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    microcode: bytes
    weights: bytes
    kernels: bytes
    version: int


@dataclass(frozen=True)
class Sizes:
    """Memory needs of a program on the device, in bytes, rounded up to ALIGNMENT.

    Attributes:
      scratch: memory for its own intermediate values.
      profile: for its recorded times, if it was converted with them.
      debug: likewise, for debugging.
      fetched: for weights that the core copies out of flash memory.
    """

    scratch: int
    profile: int
    debug: int
    fetched: int

    @property
    def total(self) -> int:
        return self.scratch + self.profile + self.debug + self.fetched


@dataclass(frozen=True)
class Parsed:
    """A parsed payload.

    Attributes:
      program: its contents; kernels include their zero padding.
      arguments: number of inputs of the call.
      channels_last: True or False for each input, then for each output of the NPU.
      sizes: its memory needs.
    """

    program: NeutronProgram
    arguments: int
    channels_last: tuple[bool, ...]
    sizes: Sizes


def compose(program: NeutronProgram, arguments: int, channels_last: Sequence[bool] = ()) -> bytes:
    """Return a payload, byte for byte the same as in ExecuTorch's own export.

    Args:
      program: its contents.
      arguments: number of inputs of the call.
      channels_last: True or False for each input, then for each output of the NPU; by
        default False for all.

    Raises:
      PayloadError: there are more than 255 inputs or outputs, or it cannot be read back.
    """
    tensors = len(program.inputs) + len(program.outputs)
    flags = list(channels_last) or [False] * tensors
    numbers = (len(program.inputs), len(program.outputs), arguments)
    if max(*numbers, *program.inputs, *program.outputs) > _MOST:
        raise NeutronPayloadError(
            f"{numbers[0]} inputs and {numbers[1]} outputs; {_MOST} at most are supported"
        )
    header = bytes([*numbers, *flags, *program.inputs, *program.outputs, program.version])
    blocks = (header, program.microcode, program.weights, program.kernels)
    payload = b"".join(_padded(block) for block in blocks)
    parse(payload)
    return payload


def parse(data: bytes) -> Parsed:
    """Parse a payload.

    Raises:
      PayloadError: it is damaged, or of an unknown version.
    """
    if len(data) < _COUNTS:
        raise NeutronPayloadError(f"{len(data)} bytes are too few for a header")
    inputs, outputs, arguments = data[:_COUNTS]
    tensors = inputs + outputs
    used = _COUNTS + 2 * tensors + 1
    header = data[: _aligned(used)]
    if len(header) < _aligned(used) or any(header[used:]) or inputs == 0 or outputs == 0:
        raise NeutronPayloadError(f"the header of {inputs} inputs and {outputs} outputs is damaged")
    flags = header[_COUNTS : _COUNTS + tensors]
    maps = tuple(header[_COUNTS + tensors : used - 1])
    version = header[used - 1]
    if version not in VERSIONS:
        raise NeutronPayloadError(
            f"version {version} is unknown; known are {', '.join(map(str, VERSIONS))}"
        )
    if max(flags) > 1 or max(maps[:inputs]) >= arguments:
        raise NeutronPayloadError("the header names a format or an input that does not exist")
    if sorted(maps[inputs:]) != list(range(outputs)):
        raise NeutronPayloadError(
            f"the header maps the outputs to {list(maps[inputs:])}, but there are {outputs}"
        )
    rest = data[len(header) :]
    if len(rest) < 4 * WORDS:
        raise NeutronPayloadError(f"{len(rest)} bytes are too few for microcode")
    words = struct.unpack_from(f"<{WORDS}I", rest)
    if words[0] != MAGIC:
        raise NeutronPayloadError(
            f"the microcode starts with {words[0]:#010x}; it must start with {MAGIC:#010x}"
        )
    first = 11 if version == 0 else 13
    if words[first : first + 2] != (inputs, outputs):
        raise NeutronPayloadError(
            "microcode and header have different numbers of inputs and outputs"
        )
    microcode, weights = words[6], words[7]
    kernels = _aligned(microcode) + _aligned(weights)
    if microcode < 4 * WORDS or kernels > len(rest) or len(rest) % ALIGNMENT:
        raise NeutronPayloadError(
            f"{microcode} bytes of microcode and {weights} of weights do not fit the payload of "
            f"{len(rest)} bytes"
        )
    start = _aligned(microcode)
    program = NeutronProgram(
        maps[:inputs],
        maps[inputs:],
        rest[:microcode],
        rest[start : start + weights],
        rest[kernels:],
        version,
    )
    return Parsed(program, arguments, tuple(map(bool, flags)), _sizes(words, version))


def _sizes(words: Sequence[int], version: int) -> Sizes:
    if version == 0:
        sizes = Sizes(_aligned(words[9]), 0, 0, _aligned(words[10]))
    else:
        profile = words[10] & _PROFILE_BYTES
        sizes = Sizes(*map(_aligned, (words[9], profile, words[11], words[12])))
    if sizes.total > _MAX_SCRATCH_BYTES:
        raise NeutronPayloadError(f"{sizes.total} bytes of scratch memory are out of range")
    return sizes


def _aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _padded(block: bytes) -> bytes:
    return block + bytes(_aligned(len(block)) - len(block))
