# SPDX-License-Identifier: Apache-2.0
"""Frames of sound, and their features from log_mel.py, for log_mel_test.c."""

import sys
from pathlib import Path

import numpy as np

from firmware.features.log_mel import Int16s, LogMel

SPEECH = LogMel(rate=8000, frame=256, hop=128, bands=20)
MFCC = LogMel(rate=16000, frame=480, hop=320, bands=40, high=4000, coefficients=10)


def frames(length: int) -> list[Int16s]:
    """Return silence, the loudest sound, single samples, tones, and noise of all volumes."""
    random = np.random.default_rng(length)
    time = np.arange(length)
    loudest = np.where(time % 2 == 0, 32767, -32768)
    click = np.zeros(length)
    click[length // 2] = -32768
    tones = [32767 * np.sin(2 * np.pi * time * f) for f in (0.01, 0.11, 0.25, 0.49)]
    noises = [random.integers(-(1 << bits), 1 << bits, length) for bits in (0, 1, 4, 8, 12, 15)]
    found = [np.zeros(length), loudest, np.full(length, -32768), click, *tones, *noises]
    return [np.asarray(frame).astype(np.int16) for frame in found]


def _rows(name: str, rows: list[Int16s]) -> str:
    lines = ",\n".join("    {" + ", ".join(map(str, row)) + "}" for row in rows)
    return f"static const int16_t {name}[{len(rows)}][{len(rows[0])}] = {{\n{lines},\n}};\n"


def main() -> None:
    text = "// Made by cases_main.py.\n#include <stdint.h>\n"
    for name, features in (("speech", SPEECH), ("mfcc", MFCC)):
        samples = frames(features.frame)
        text += _rows(f"{name}_samples", samples)
        text += _rows(f"{name}_values", [features.frame_features(frame) for frame in samples])
    Path(sys.argv[1]).write_text(text)


if __name__ == "__main__":
    main()
