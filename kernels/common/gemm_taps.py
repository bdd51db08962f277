# SPDX-License-Identifier: Apache-2.0
"""Packing for kernels/common/gemm_taps_s8.h: two taps in a word."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kernels.common.gemm import reach
from kernels.common.kernel import INT8_MIN, INT32_MAX, AnyArray, Constant, KernelCall, OpCall, Value
from kernels.common.overlap import Overlap, overlap
from kernels.common.quantization import activation_range, zero_point
from kernels.common.steps import Steps

LEAST_DEPTH, _LEAST_OF_GROUP = 8, 3
"""Fewer values, or fewer output channels of one of several groups: expanding a row takes longer
than the multiplication saves.
"""

_SCRATCH = (24 * 1024, 7 * 1024, 1280)
"""Bytes of scratch for choices of a block, if they are enough for two channels."""

_WORTH = 20
"""The first of them is a choice if it saves more than one in so many instructions."""

_PRODUCT, _EXPANDED = 2, 3
"""Instructions of a product, and of a value expanded."""

_ROWS = 2
"""Rows multiplied together."""

_LEAST_BLOCK = 2
_BAND = 16
"""Rows of a band for the smallest scratch: the output may alias the input so far ahead."""

_MOST_ROWS = 1 << 20

SIGNED_WORDS = 7
"""PL_TAPS_SIGNED_STAGE of gemm_taps_s8.h."""


@dataclass(frozen=True)
class Block:
    """Channels expanded together, rows of a band, and bytes of scratch."""

    channels: int
    band: int
    scratch: int


@dataclass(frozen=True)
class TapPairs:
    """Weights [groups * channels, depth], depth a multiple of 4, and constants of their last stage,
    [groups * channels, words].
    """

    weight: AnyArray
    stage: AnyArray
    signed: bool

    @classmethod
    def of(
        cls,
        call: OpCall,
        weight: AnyArray,
        bias: AnyArray,
        multiplier: AnyArray,
        shift: AnyArray,
        groups: int = 1,
    ) -> "TapPairs | None":
        """Make them; None if they are not exact or do not pay.

        Args:
          call: with the output's zero point and range.
          weight: int8 [groups * channels, depth].
          bias: [groups * channels], the input's zero point folded in.
          multiplier, shift: int32 [groups * channels].
          groups: with weights of their own.
        """
        few = groups > 1 and len(weight) // groups < _LEAST_OF_GROUP
        if few or weight.shape[1] < LEAST_DEPTH:
            return None
        padded = np.pad(weight, ((0, 0), (0, -weight.shape[1] % 4)))
        fours = padded.reshape(len(weight), -1, 4)
        # Two products of -128 by -128 do not fit in 16 bits.
        if ((fours[..., :2] == INT8_MIN) & (fours[..., 2:] == INT8_MIN)).any():
            return None
        last = last_stage(call, weight, bias, multiplier, shift)
        return None if last is None else cls(padded, *last)

    @property
    def name(self) -> str:
        """Part of the function's name."""
        return "signed_" * self.signed

    def constants(self) -> dict[str, Constant]:
        """Return the data fields weight and stage."""
        fours = self.weight.reshape(len(self.weight), -1, 4)[..., [2, 3, 0, 1]]
        packed = (fours.astype(np.int16) + 128).astype(np.uint8).reshape(-1).view(np.int8)
        return {"weight": Constant(packed), "stage": words(self.stage)}

    def blocks(self, groups: int = 1, copied: int = 0) -> Iterator[Block]:
        """Yield the choices, from much scratch to little.

        Args:
          groups: with weights of their own.
          copied: rows copied as bytes first.
        """
        channels, depth = len(self.weight) // groups, self.weight.shape[1]
        rows = (4 + copied) * depth
        of_channel = 4 * (depth // 2 + self.stage.shape[1])
        passes = {}
        for most in _SCRATCH:
            block = min(channels, (most - rows) // of_channel)
            if block >= min(channels, _LEAST_BLOCK):
                passes[most] = -(-channels // block)
        # Rows are expanded once a pass, by instructions for a value of a row.
        first, second = (_PRODUCT * channels + _EXPANDED * passes.get(m, 0) for m in _SCRATCH[:2])
        if _SCRATCH[1] in passes and (second - first) * _WORTH <= second:
            del passes[_SCRATCH[0]]
        last = 0
        for most, count in passes.items():
            if count == last:
                continue
            last = count
            block = -(-channels // count)
            band = _BAND if count > 1 and most == _SCRATCH[-1] else _MOST_ROWS
            yield Block(block, band, rows + block * of_channel)

    def overlap(
        self, block: Block, source: Value, output: Value, starts: AnyArray, groups: int = 1
    ) -> tuple[Overlap, ...]:
        """Return the overlap of a choice. A block of all channels reads two rows before their
        results, others read a band once for each block.
        """
        if groups > 1:
            return ()
        if block.channels == len(self.weight):
            return overlap(source, output, starts, _ROWS, reads_first=True)
        return overlap(source, output, starts, block.band) if block.band == _BAND else ()


def block_of(channels: int, depth: int, stage_words: int, most: int = _SCRATCH[1]) -> Block | None:
    """Return the largest block in `most` bytes of scratch; None if it is too small.

    Args:
      channels: all of them.
      depth: values of a row, a multiple of 4.
      stage_words: words of a channel's last stage.
      most: bytes of scratch.
    """
    of_channel = 4 * (depth // 2 + stage_words)
    fitting = min(channels, (most - 4 * depth) // of_channel)
    if fitting < min(channels, _LEAST_BLOCK):
        return None
    block = -(-channels // -(-channels // fitting))
    return Block(block, _MOST_ROWS, 4 * depth + block * of_channel)


def last_stage(
    call: OpCall, weight: AnyArray, bias: AnyArray, multiplier: AnyArray, shift: AnyArray
) -> tuple[AnyArray, bool] | None:
    """Return the constants of a last stage, [channels, words], and True if they are signed.

    The arguments are those of `TapPairs.of`.
    """
    low, top = activation_range(call).values()
    steps = Steps.of(multiplier, shift, zero_point(call, "output_zero_point"), low, top)
    if steps is None or (reach(bias, weight) + np.abs(steps.first)).max() >= INT32_MAX:
        return None
    turn = [steps.turn, -steps.less] if steps.signed else []
    stage = [bias - steps.first, *turn, steps.limit, steps.high, steps.fine, steps.offset]
    return np.stack(stage, axis=1), steps.signed


def words(values: AnyArray) -> Constant:
    """Return integers as int32, modulo 2^32."""
    wrapped = values.astype(np.uint64).astype(np.uint32).view(np.int32)
    return Constant(np.ascontiguousarray(wrapped).reshape(-1))


def digits(weight: AnyArray) -> Constant:
    """Return weights [channels, depth] for pl_linear_digits_s8: four channels in a word."""
    padded = np.pad(weight.astype(np.int64), ((0, -len(weight) % 4), (0, 0)))
    w = padded.reshape(-1, 4, weight.shape[1]).swapaxes(1, 2) + [128, 128, 128, 0]
    packed = w @ [1, 1 << 8, 1 << 16, 1 << 24]
    return Constant(words(packed).array.view(np.int8))


def with_fallbacks(calls: Sequence[KernelCall], last: KernelCall) -> KernelCall:
    """Return the first of the calls, each with the next one as its fallback call.

    Args:
      calls: from much scratch to little.
      last: the call without pairs of taps.
    """
    found: KernelCall | None = last
    while found is not None and not found.overlap and found.scratch >= calls[-1].scratch:
        found = found.fallback
    for call in reversed(calls):
        found = replace(call, fallback=found)
    assert found is not None
    return found
