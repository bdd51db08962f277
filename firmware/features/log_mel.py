# SPDX-License-Identifier: Apache-2.0
"""Features of sound as log_mel.h computes them, to the bit, for training and calibration.

features = LogMel(rate=8000, frame=256, hop=128, bands=20)
spectrogram = features(samples)  # int16 [N] to float32 [frames, bands]: log2 of energies
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Int16s = NDArray[np.int16]
Int64s = NDArray[np.int64]

_FRACTION = 15
_LOG_FRACTION = 8
_MFCC_FRACTION = 6
_POWER_DROPPED = 12
_MANTISSA = 31
_MOST_BANDS = 64
_SIZES = (32, 2048)


class LogMelError(ValueError):
    """Error: parameters the device cannot compute. The message lists them and the reason."""


def _fixed(values: NDArray[np.float64]) -> Int64s:
    scaled = np.rint(values * (1 << _FRACTION))
    return np.asarray(np.clip(scaled, -(1 << _FRACTION), (1 << _FRACTION) - 1), np.int64)


def _rounded(products: Int64s, dropped: int = _FRACTION) -> Int64s:
    return np.asarray((products + (1 << (dropped - 1))) >> dropped, np.int64)


def _halved(values: Int64s) -> Int64s:
    """Divide by two, towards zero, as in C."""
    return np.asarray(np.sign(values) * (np.abs(values) >> 1))


def _mel(hertz: NDArray[np.float64] | float) -> NDArray[np.float64]:
    return np.asarray(2595 * np.log10(1 + np.asarray(hertz) / 700))


@dataclass(frozen=True)
class LogMel:
    """Parameters of the features of sound.

    Attributes:
        rate: samples a second.
        frame: samples of a frame, 2 to 2048.
        hop: samples from the start of a frame to the start of the next.
        bands: of the mel scale, 64 at most.
        low, high: lower end of the first band and upper end of the last, in Hz; 0 is half
            the rate.
        coefficients: of MFCC, 0 for log-mel.
    """

    rate: int
    frame: int
    hop: int
    bands: int
    low: float = 20
    high: float = 0
    coefficients: int = 0

    def __post_init__(self) -> None:
        if not 2 <= self.frame <= _SIZES[1]:
            raise LogMelError(f"frame must be 2 to {_SIZES[1]} samples; got {self.frame}")
        if not 1 <= self.bands <= _MOST_BANDS:
            raise LogMelError(f"bands must be 1 to {_MOST_BANDS}; got {self.bands}")
        if not 0 <= self.coefficients <= self.bands:
            raise LogMelError(
                f"coefficients must be 0 to {self.bands}, the number of bands; got "
                f"{self.coefficients}"
            )
        if self.hop < 1 or not 0 <= self.low < self.top <= self.rate / 2:
            raise LogMelError(
                f"hop must be 1 or more, and 0 <= low < high <= {self.rate / 2:g} Hz, half the "
                f"rate; got hop {self.hop}, low {self.low}, high {self.top}"
            )
        empty = [band for band, weights in enumerate(self.triangles) if not weights[1].any()]
        if empty:
            raise LogMelError(
                f"bands: {self.bands} are too narrow for lines of {self.rate / self.size:g} Hz: "
                f"band {empty[0]} has no line. Use fewer bands or longer frames"
            )

    @property
    def top(self) -> float:
        """Upper end of the last band."""
        return self.high or self.rate / 2

    @property
    def size(self) -> int:
        """Size of the transform: the next power of two from `frame` on."""
        return max(_SIZES[0], 1 << (self.frame - 1).bit_length())

    @property
    def fraction(self) -> int:
        """Fractional bits of the features."""
        return _MFCC_FRACTION if self.coefficients else _LOG_FRACTION

    @property
    def values(self) -> int:
        """Features of a frame."""
        return self.coefficients or self.bands

    @cached_property
    def window(self) -> Int64s:
        """Hann's, [frame]."""
        turns = 2 * np.pi * np.arange(self.frame) / self.frame
        return _fixed(0.5 - 0.5 * np.cos(turns))

    @cached_property
    def turns(self) -> Int64s:
        """Cosine and sine, [size / 2, 2]."""
        angles = 2 * np.pi * np.arange(self.size // 2) / self.size
        return _fixed(np.stack([np.cos(angles), np.sin(angles)], axis=1))

    @cached_property
    def triangles(self) -> list[tuple[int, Int64s]]:
        """Return the first line and the weights of each band."""
        lines = np.arange(self.size // 2) * (self.rate / self.size)
        edges = np.linspace(float(_mel(self.low)), float(_mel(self.top)), self.bands + 2)
        found = []
        for low, middle, high in zip(edges, edges[1:], edges[2:], strict=False):
            up, down = (_mel(lines) - low) / (middle - low), (high - _mel(lines)) / (high - middle)
            weights = np.rint(np.clip(np.minimum(up, down), 0, 1) * (1 << _FRACTION))
            used = np.flatnonzero(weights)
            first, last = (used[0], used[-1] + 1) if used.size else (0, 1)
            found.append((int(first), weights[first:last].astype(np.int64)))
        return found

    @cached_property
    def cosines(self) -> Int64s:
        """The orthonormal DCT-II, [coefficients, bands]."""
        row = np.arange(self.coefficients)[:, None]
        angles = np.pi * row * (np.arange(self.bands) + 0.5) / self.bands
        scale = np.where(row == 0, np.sqrt(1 / self.bands), np.sqrt(2 / self.bands))
        return _fixed(scale * np.cos(angles))

    def _turned(self, re: Int64s, im: Int64s, turns: Int64s) -> tuple[Int64s, Int64s]:
        cosine, sine = turns[:, 0], turns[:, 1]
        return _rounded(re * cosine + im * sine), _rounded(im * cosine - re * sine)

    def _transform(self, re: Int64s, im: Int64s) -> tuple[Int64s, Int64s]:
        """Transform the last dimension."""
        count = re.shape[-1]
        bits = count.bit_length() - 1
        order = [int(f"{i:0{bits}b}"[::-1], 2) for i in range(count)]
        re, im = re[..., order], im[..., order]
        half = 1
        while half < count:
            step = count // half
            even = (np.arange(count) // half) % 2 == 0
            turns = np.tile(self.turns[np.arange(half) * step], (count // half // 2, 1))
            odd_re, odd_im = self._turned(re[..., ~even], im[..., ~even], turns)
            even_re, even_im = re[..., even], im[..., even]
            re, im = np.empty_like(re), np.empty_like(im)
            re[..., even], re[..., ~even] = even_re + odd_re, even_re - odd_re
            im[..., even], im[..., ~even] = even_im + odd_im, even_im - odd_im
            half *= 2
        return re, im

    def _powers(self, frames: Int16s) -> Int64s:
        dropped = self.size.bit_length() - 1
        filled = np.zeros((*frames.shape[:-1], self.size), np.int64)
        filled[..., : self.frame] = frames.astype(np.int64) * self.window >> dropped
        re, im = self._transform(filled[..., ::2], filled[..., 1::2])
        other_re, other_im = (np.roll(z[..., ::-1], 1, -1) for z in (re, im))
        re, im, other_re, other_im = map(_halved, (re, im, other_re, other_im))
        odd_re, odd_im = self._turned(im + other_im, other_re - re, self.turns)
        line_re, line_im = re + other_re + odd_re, im - other_im + odd_im
        return np.asarray(line_re * line_re + line_im * line_im)

    def frame_features(self, frames: Int16s) -> Int16s:
        """Return the result of pl_log_mel for each frame: int16 [..., frame] to int16 [...,
        values].
        """
        powers = (self._powers(frames) >> _POWER_DROPPED).astype(np.uint64)
        energies = [
            powers[..., first : first + len(weights)] @ weights.astype(np.uint64)
            for first, weights in self.triangles
        ]
        bands = _log2(np.stack(energies, axis=-1))
        if self.coefficients:
            dropped = _FRACTION + _LOG_FRACTION - _MFCC_FRACTION
            bands = _rounded(bands @ self.cosines.T, dropped)
        return bands.astype(np.int16)

    def __call__(self, samples: Int16s) -> NDArray[np.float32]:
        """Convert int16 [N] to float32 [frames, values], the features as real numbers."""
        frames = np.lib.stride_tricks.sliding_window_view(samples, self.frame)[:: self.hop]
        return self.frame_features(frames).astype(np.float32) / np.float32(1 << self.fraction)


def _log2(energies: NDArray[np.uint64]) -> Int64s:
    one = np.uint64(1)
    bits = sum((energies >> np.uint64(bit) != 0).astype(np.int64) for bit in range(64))
    whole = np.maximum(np.asarray(bits) - 1, 0)
    right, left = (
        np.maximum(n, 0).astype(np.uint64) for n in (whole - _MANTISSA, _MANTISSA - whole)
    )
    mantissa = energies >> right << left
    result = whole - _FRACTION
    for _ in range(_LOG_FRACTION):
        mantissa = mantissa * mantissa >> np.uint64(_MANTISSA)
        carry = mantissa >> np.uint64(_MANTISSA + 1)
        mantissa = mantissa >> (carry & one)
        result = 2 * result + carry.astype(np.int64)
    return np.where(energies >> np.uint64(_FRACTION) == 0, 0, result)
