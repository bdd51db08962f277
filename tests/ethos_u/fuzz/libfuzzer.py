# SPDX-License-Identifier: Apache-2.0
"""Builds the fuzz target with clang's libFuzzer and runs it on the corpus's payloads.

    tools/bazel run //tests/ethos_u/fuzz:libfuzzer -- -max_total_time=600

Arguments go to libFuzzer. It follows the branches taken by an input; the bounded run does not. You
need a clang with its fuzzer runtime. $CLANG selects another clang than the one on PATH.
"""

from __future__ import annotations

from tools.text.signal_handling import stoppable

import os
import shutil
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

_SOURCES = Path("npu/ethos_u")
_FOLDER = Path("tests/ethos_u/fuzz")
_FLAGS = ("-std=c11", "-O1", "-g", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover")


def seeds(packed: bytes) -> Iterator[bytes]:
    """Yield the payloads packed by seeds.py, each after its uint32 size."""
    at = 0
    while at < len(packed):
        (size,) = struct.unpack_from("<I", packed, at)
        yield packed[at + 4 : at + 4 + size]
        at += 4 + size


def sources(root: Path) -> list[Path]:
    """Return the target's sources and all linked ones."""
    found = [*(root / _SOURCES).glob("*.c"), *(root / _SOURCES / "model").glob("*.c")]
    return [
        *sorted(path for path in found if "_test" not in path.name),
        root / _FOLDER / "fuzz_target.c",
    ]


def main(argv: Sequence[str]) -> int:
    clang = shutil.which(os.environ.get("CLANG", "clang"))
    if clang is None:
        print("there is no clang: install one with libFuzzer, or name it in CLANG", file=sys.stderr)
        return 1
    root = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"])
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, inputs = folder / "fuzz", folder / "inputs"
        command = [clang, *_FLAGS, "-I", str(root), "-o", str(program), *map(str, sources(root))]
        if subprocess.run(command, check=False).returncode != 0:
            print(f"{clang} cannot build it; has it its fuzzer runtime?", file=sys.stderr)
            return 1
        inputs.mkdir()
        for index, payload in enumerate(seeds((_FOLDER / "seeds.bin").read_bytes())):
            (inputs / str(index)).write_bytes(payload)
        # Findings are written where the user is.
        where = os.environ["BUILD_WORKING_DIRECTORY"]
        return subprocess.run(
            [str(program), *argv[1:], str(inputs)], cwd=where, check=False
        ).returncode


if __name__ == "__main__":
    sys.exit(stoppable(main)(sys.argv))
