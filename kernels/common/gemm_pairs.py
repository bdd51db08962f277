# SPDX-License-Identifier: Apache-2.0
"""Packing for kernels/common/gemm_pairs_s8.h: two int8 weights in 16 bits."""

from dataclasses import dataclass

import numpy as np

from kernels.common.kernel import INT16_MIN, AnyArray, Constant
from kernels.common.quantization import halving_shifts

ROWS = 4
"""PL_PAIRS_ROWS."""


@dataclass(frozen=True)
class Pairs:
    """Weights and their parameters, [groups, channels, …], channels even."""

    weight: AnyArray
    bias: AnyArray
    multiplier: AnyArray
    right: AnyArray
    wide: bool
    """True if two weights are two bytes, for pl_multiply_wide_pairs_s8."""

    @classmethod
    def of(
        cls, weight: AnyArray, bias: AnyArray, multiplier: AnyArray, shift: AnyArray, groups: int
    ) -> "Pairs | None":
        """Make the pairs; None if a sum or a factor leaves the bounds of gemm_pairs_s8.h.

        Args:
          weight: int8 [groups * channels, runs, values of a run].
          bias: [groups * channels], the input's zero point folded in.
          multiplier, shift: int32 [groups * channels].
          groups: with weights of their own.
        """
        right = halving_shifts(multiplier, shift)
        if right is None:
            return None

        def grouped(array: AnyArray) -> AnyArray:
            parts = array.reshape(groups, -1, *array.shape[1:]).astype(np.int64)
            return np.pad(parts, ((0, 0), (0, parts.shape[1] % 2), *[(0, 0)] * (array.ndim - 1)))

        matrix, folded = grouped(weight), grouped(bias)
        reach = np.abs(folded) + 128 * np.abs(matrix).sum(axis=(2, 3))
        together = 256 * matrix[:, 0::2] + matrix[:, 1::2]
        wide = bool(reach[:, 0::2].max() >= 2**23 or together.min() < INT16_MIN)
        pairs = cls(matrix, folded, grouped(multiplier), grouped(right), wide)
        return pairs if reach.max() < 2**30 else None

    @property
    def steps(self) -> int:
        """Steps of a row: pl_steps_of."""
        depth: int = self.weight[0, 0].size
        return -(-depth // 4) * 2

    def constants(self, alone: bool = False) -> dict[str, Constant]:
        """Return the data fields weight and bias, including the factors.

        Args:
          alone: the last channel has no partner, and its weights are not multiplied by 256.
        """
        groups, channels, runs, count = self.weight.shape
        steps = self._together.reshape(groups, channels // 2, -1)[..., _order(runs, count)]
        steps = np.pad(steps, ((0, 0), (0, 0), (0, -steps.shape[2] % 4)))
        starts = self.bias.reshape(-1, 2)
        if not self.wide:
            starts = starts @ [[256, 0], [1, 1]]  # modulo 2^32, as the sums are
        if alone:
            steps[:, -1] //= 256
            starts = np.concatenate([starts[:-1], self.bias.reshape(-1, 2)[-1:]])
        scale = np.stack([self.multiplier, self.right], axis=-1)
        factors = np.concatenate([starts, scale.reshape(-1, 4)], axis=1, dtype=np.int32)
        return {
            "weight": Constant(steps.astype(np.int16).reshape(-1).view(np.int8)),
            "bias": Constant(factors.reshape(-1)),
        }

    def apart(self) -> dict[str, Constant]:
        """Return the data with int16 weights: two steps of a channel in turn, for two channels."""
        _, channels, runs, count = self.weight.shape
        steps = self.weight[0].reshape(channels, -1)[:, _order(runs, count)]
        steps = np.pad(steps, ((0, 0), (0, -steps.shape[1] % 4)))
        fours = steps.reshape(channels, -1, 4).swapaxes(0, 1)
        scale = np.stack([self.multiplier, self.right], axis=-1)
        factors = np.concatenate([self.bias.reshape(-1), scale.reshape(-1)], dtype=np.int32)
        return {
            "weight": Constant(np.ascontiguousarray(fours, np.int16).reshape(-1).view(np.int8)),
            "bias": Constant(factors),
        }

    @property
    def _together(self) -> AnyArray:
        second = self.weight[:, 1::2]
        together: AnyArray = 256 * self.weight[:, 0::2] + (second & 255 if self.wide else second)
        return together


def _order(runs: int, count: int) -> AnyArray:
    """Return the positions in a row of runs for the values of its steps."""
    values = np.arange(runs * count).reshape(runs, count)
    fours, rest = np.split(values, [count // 4 * 4], axis=1)
    # The steps of four values are the first and third, and the second and fourth.
    fours = fours.reshape(runs, -1, 2, 2).swapaxes(2, 3).reshape(runs, -1)
    twos, lasts = np.split(rest, [rest.shape[1] // 2 * 2], axis=1)
    order: AnyArray = np.concatenate([part.reshape(-1) for part in (fours, twos, lasts)])
    return order
