# SPDX-License-Identifier: Apache-2.0
"""Packs small payloads of the corpus for fuzz_main: each with its uint32 size in front."""

from __future__ import annotations

import struct
from pathlib import Path

from absl import app, flags

from tests.ethos_u.corpus.archive import read_archive

_TARGETS = flags.DEFINE_list("targets", [], "accelerator/memory_mode pairs to take.")
_LARGEST = flags.DEFINE_integer("largest", 9500, "Bytes of a payload at most.")
_OUTPUT = flags.DEFINE_string("output", None, "The file.", required=True)


def main(argv: list[str]) -> None:
    payloads = [
        compiled.payload
        for path in argv[1:]
        for part in read_archive(Path(path))
        for compiled in part.compiled
        if f"{compiled.accelerator}/{compiled.memory_mode}" in _TARGETS.value
        and len(compiled.payload) <= _LARGEST.value
    ]
    packed = b"".join(struct.pack("<I", len(payload)) + payload for payload in payloads)
    Path(_OUTPUT.value).write_bytes(packed)


if __name__ == "__main__":
    app.run(main)
