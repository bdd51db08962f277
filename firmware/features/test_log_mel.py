# SPDX-License-Identifier: Apache-2.0
"""Features of integer arithmetic against those of floating point, by other people's transforms."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.fft import dct

from firmware.features.log_mel import LogMel, LogMelError

Floats = NDArray[np.float64]


def _in_float(features: LogMel, samples: NDArray[np.int64]) -> Floats:
    """Return log2 of energies of 1 + power, by torch.stft and scipy's DCT."""
    window = torch.zeros(features.size, dtype=torch.float64)
    window[: features.frame] = torch.hann_window(features.frame, dtype=torch.float64)
    filled = torch.zeros(features.size, dtype=torch.float64)
    filled[: features.frame] = torch.from_numpy(samples.astype(np.float64))
    lines = torch.stft(
        filled,
        features.size,
        window=window,
        center=False,
        return_complex=True,
        hop_length=features.size,
    )
    # The fixed point has 15 - log2(size) fractional bits, and drops 12 of the power's.
    scale = 2.0 ** (2 * (15 - int(np.log2(features.size))) - 12)
    powers = (lines[:, 0].abs() ** 2).numpy() * scale
    mel = [
        (powers[first : first + len(weights)] * weights / 2**15).sum()
        for first, weights in features.triangles
    ]
    bands = np.log2(np.maximum(mel, 1))
    whole = dct(bands, norm="ortho")[: features.coefficients] if features.coefficients else bands
    return np.asarray(whole, np.float64)


@st.composite
def _features(draw: st.DrawFn) -> LogMel:
    rate = draw(st.sampled_from([8000, 16000, 22050]))
    frame = draw(st.integers(160, 1024))
    bands = draw(st.integers(1, 12))
    coefficients = draw(st.integers(0, bands))
    return LogMel(rate, frame, frame, bands, low=100, coefficients=coefficients)


@settings(max_examples=25, deadline=None)
@given(_features(), st.integers(0, 2**32 - 1), st.sampled_from([1000, 8000, 32767]))
def test_loud_sound_is_as_in_floating_point(features: LogMel, seed: int, loudness: int) -> None:
    samples = np.random.default_rng(seed).integers(-loudness, loudness + 1, features.frame)
    found = features.frame_features(samples.astype(np.int16)) / (1 << features.fraction)
    expected = _in_float(features, samples)
    assert np.abs(found - expected).max() < (0.03 if not features.coefficients else 0.1)


def test_silence_and_frames() -> None:
    features = LogMel(8000, 256, 128, 20)
    assert not features.frame_features(np.zeros(256, np.int16)).any()
    samples = np.random.default_rng(0).integers(-999, 999, 256 + 3 * 128).astype(np.int16)
    spectrogram = features(samples)
    assert spectrogram.shape == (4, 20)
    assert spectrogram.dtype == np.float32
    second = features.frame_features(samples[128:384]) / np.float32(256)
    assert (spectrogram[1] == second).all()


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"frame": 1}, "frame must be 2 to 2048 samples; got 1"),
        ({"frame": 4096}, "frame must be 2 to 2048 samples; got 4096"),
        ({"bands": 0}, "bands must be 1 to 64; got 0"),
        ({"bands": 65}, "bands must be 1 to 64; got 65"),
        ({"bands": 60, "frame": 128}, "are too narrow for lines of 62.5 Hz"),
        ({"coefficients": 21}, "coefficients must be 0 to 20, the number of bands; got 21"),
        ({"hop": 0}, "hop must be 1 or more"),
        ({"low": 5000}, "low < high <= 4000 Hz"),
        ({"high": 4001}, "low < high <= 4000 Hz"),
    ],
)
def test_what_cannot_be(changed: dict[str, int], says: str) -> None:
    parameters = {"rate": 8000, "frame": 256, "hop": 128, "bands": 20} | changed
    with pytest.raises(LogMelError, match=says):
        LogMel(**parameters)
