# SPDX-License-Identifier: Apache-2.0
"""Packing for kernels/linear/linear_w4.h: weights of four bits, two a byte."""

import math
from dataclasses import dataclass

import numpy as np

from kernels.common.gemm_blocks import BLOCK_CHANNELS
from kernels.common.kernel import INT8_MAX, INT8_MIN, AnyArray, Constant
from kernels.common.quantization import halving_shifts

_WORD, _CHUNK = 8, 32
_PAIRS_GROUP = 504
"""Number of weights whose products, times 4096, fit 32 bits."""
_BLOCKS_DEPTH = 2**17 - 1
"""Number of weights whose products, times 16, fit 32 bits."""

Packed = tuple[dict[str, Constant], int]
"""Fields of data, and the group of dims."""


@dataclass(frozen=True)
class FourBits:
    """Weights [channels, depth] in [-8, 7] and their parameters.

    `scale` is [channels, groups]. `bias` has the input's zero point folded in. `reach` is the
    largest possible magnitude of the sums.
    """

    weight: AnyArray
    scale: AnyArray
    group: int
    bias: AnyArray
    reach: AnyArray
    multiplier: AnyArray
    shift: AnyArray

    def plain(self, packed: AnyArray) -> Packed:
        """Return the weights for pl_linear_w4_s8, unchanged from the op's."""
        return {
            "weight": Constant(packed),
            "group_scale": Constant(self.scale),
            "bias": Constant(self.bias.astype(np.int32)),
            "multiplier": Constant(self.multiplier),
            "shift": Constant(self.shift),
        }, self.group

    def pairs(self) -> Packed | None:
        """Pack for pl_linear_w4_pairs_s8; None for groups, sums or factors it does not support."""
        channels, depth = self.weight.shape
        right = halving_shifts(self.multiplier, self.shift)
        if right is None or self.reach.max() >= 2**30:
            return None
        group = min(_PAIRS_GROUP, -(-depth // _WORD) * _WORD)
        if self.group < depth:
            if self.group % _WORD:
                return None
            group = max(n for n in range(_WORD, group + 1, _WORD) if self.group % n == 0)
        # The steps of four values are the first and third, and the second and fourth. Fewer values
        # are in order, padded with zeros. The steps of a word begin with its highest bits.
        fours = depth // 4 * 4
        order = np.arange(depth)
        order[:fours] = order[:fours].reshape(-1, 2, 2).swapaxes(1, 2).reshape(-1)
        steps = np.pad(self.weight[:, order], ((0, 0), (0, -depth % _WORD)))
        halves = steps.reshape(channels, -1, 4, 2)[:, :, ::-1].astype(np.uint32) & 15
        words = halves << np.array([[4 * n, 4 * n + 16] for n in range(4)], np.uint32)
        factors = np.stack([self.bias, self.multiplier, right], axis=1)
        return {
            "weight": Constant(words.sum(axis=(2, 3), dtype=np.uint32).reshape(-1).view(np.int8)),
            "group_scale": Constant(self._scales(np.arange(0, depth, group))),
            "bias": Constant(factors.astype(np.int32).reshape(-1)),
        }, group

    def blocks(self) -> Packed | None:
        """Pack for pl_linear_w4_blocks_s8; None for groups or factors it does not support."""
        channels, depth = self.weight.shape
        whole = depth // _CHUNK * _CHUNK
        shift = np.where(self.multiplier == 0, -1, self.shift)
        if shift.max() >= 0 or depth > _BLOCKS_DEPTH:
            return None
        if self.group < depth and self.group % _CHUNK:
            return None
        group = max(_CHUNK, whole if self.group == depth else math.gcd(self.group, whole))
        scales = self._scales(np.arange(0, whole, group)).astype(np.int32)
        differences = scales - np.pad(scales, ((0, 0), (0, 1)))[:, 1:]
        if whole and not INT8_MIN <= differences.min() <= differences.max() <= INT8_MAX:
            return None
        if whole < depth:
            differences = np.concatenate([differences, self._scales(np.array([depth - 1]))], axis=1)
        # The first 16 of 32 weights are in the low halves, and the rest is split likewise. These
        # bytes of four channels are one after another.
        padded = np.pad(self.weight, ((0, -channels % BLOCK_CHANNELS), (0, 0)))
        blocks = padded.reshape(-1, BLOCK_CHANNELS, depth)
        chunks = blocks[:, :, :whole].reshape(*blocks.shape[:2], -1, 2, _CHUNK // 2).swapaxes(1, 2)
        rest = blocks[:, :, whole:]
        half = -(-rest.shape[2] // 2)
        second = np.pad(rest[:, :, half:], ((0, 0), (0, 0), (rest.shape[2] % 2, 0)))
        parts = _bytes(chunks[..., 0, :], chunks[..., 1, :]), _bytes(rest[:, :, :half], second)
        weight = np.concatenate([part.reshape(len(blocks), -1) for part in parts], axis=1)
        vectors = np.stack([self.bias, self.multiplier, shift], axis=1)
        return {
            "weight": Constant(weight.reshape(-1)),
            "group_scale": Constant(_by_fours(differences).astype(np.int8)),
            "bias": Constant(_by_fours(vectors).astype(np.int32)),
        }, group

    def _scales(self, channels: AnyArray) -> AnyArray:
        """Return the scales of the groups containing these input channels."""
        scales: AnyArray = np.ascontiguousarray(self.scale[:, channels // self.group])
        return scales


def _bytes(low: AnyArray, high: AnyArray) -> AnyArray:
    both: AnyArray = (low & 15) | (high << 4)
    return both


def _by_fours(vectors: AnyArray) -> AnyArray:
    """Return [channels, n] as consecutive [n][4] of four channels."""
    padded = np.pad(vectors, ((0, -len(vectors) % BLOCK_CHANNELS), (0, 0)))
    fours = padded.reshape(-1, BLOCK_CHANNELS, vectors.shape[1]).swapaxes(1, 2)
    return np.ascontiguousarray(fours).reshape(-1)
