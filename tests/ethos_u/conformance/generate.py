# SPDX-License-Identifier: Apache-2.0
"""Generates TOSA's own conformance tests for operators and compiles them with Vela.

The generator is tosa-tools'. Its output is the same every time. Each test is a graph of one
operator, with inputs.
"""

from __future__ import annotations

import io
import json
import multiprocessing
import os
import subprocess
import sys
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
from absl import app, flags

from tests.ethos_u.corpus.archive import add_entry

_OPERATORS = flags.DEFINE_list("operators", [], "TOSA operators; all without it.")
_SAMPLE = flags.DEFINE_integer("sample", 1, "Keep one test in so many.")
_ACCELERATOR = flags.DEFINE_string("accelerator", "ethos-u55-128", "Vela's name for the NPU.")
_MEMORY_MODE = flags.DEFINE_string("memory_mode", "Shared_Sram", "Vela's memory mode.")
_OUTPUT = flags.DEFINE_string("output", None, "The archive.", required=True)

_VELA_SECONDS = 60


def _generate(folder: Path) -> list[Path]:
    """Generate folders of positive tests: INT profile, 16-bit and double-rounding extensions."""
    tools = Path(sys.executable).parent
    command = [
        str(tools / "tosa_verif_conformance_generator"),
        "--profile=tosa-pro-int",
        *("--extension", "tosa-ext-int16", "tosa-ext-doubleround"),
        "--test-type=positive",
        "--tosa-version=1.0.1",
        "--output-type=binary",
        f"--output-directory={folder / 'tests'}",
        f"--build-directory={folder / 'build'}",
        "-j1",
    ]
    if _OPERATORS.value:
        command += ["--operators", *_OPERATORS.value]
    environment = {**os.environ, "PATH": f"{tools}:/usr/bin:/bin"}
    subprocess.run(command, check=True, env=environment, stdout=subprocess.DEVNULL)
    tests = sorted(path.parent for path in (folder / "tests").rglob("desc.json"))
    return [path for path in tests if zlib.crc32(path.name.encode()) % _SAMPLE.value == 0]


def _compile_all(connection: Connection, accelerator: str, memory_mode: str) -> None:
    """Compile TOSA files in a worker; return payloads or Vela's objections."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    from tests.ethos_u.corpus.vela import compile_payload

    while True:
        tosa = connection.recv_bytes()
        try:
            connection.send((compile_payload(tosa, accelerator, memory_mode)[0], ""))
        except (Exception, SystemExit) as error:
            connection.send((b"", str(error) or type(error).__name__))


class _Compiler:
    """Vela in a process of its own, because it may crash or never end."""

    def __init__(self) -> None:
        self._process: multiprocessing.Process | None = None

    def compile(self, tosa: bytes) -> tuple[bytes, str]:
        """Return a payload, or the reason why there is none."""
        if self._process is None or not self._process.is_alive():
            self._connection, other = multiprocessing.Pipe()
            self._process = multiprocessing.Process(
                target=_compile_all,
                args=(other, _ACCELERATOR.value, _MEMORY_MODE.value),
                daemon=True,
            )
            self._process.start()
            other.close()
        self._connection.send_bytes(tosa)
        try:
            if self._connection.poll(_VELA_SECONDS):
                result: tuple[bytes, str] = self._connection.recv()
                return result
        except EOFError:
            return b"", "Vela crashed"
        self._process.kill()
        self._process.join()
        return b"", f"Vela took more than {_VELA_SECONDS} s"


def _entries(tests: list[Path], folder: Path) -> Iterator[tuple[str, bytes]]:
    compiler = _Compiler()
    for test in tests:
        description = json.loads((test / "desc.json").read_text())
        tosa = (test / description["tosa_file"]).read_bytes()
        name = str(test.relative_to(folder / "tests" / "operators"))
        inputs = io.BytesIO()
        arrays = [np.load(test / file, allow_pickle=False) for file in description["ifm_file"]]
        np.savez_compressed(inputs, *arrays)
        payload, objection = compiler.compile(tosa)
        yield f"{name}/tosa", tosa
        yield f"{name}/inputs.npz", inputs.getvalue()
        if payload:
            yield f"{name}/payload", payload
        else:
            yield f"{name}/objection", objection.encode()


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    with tempfile.TemporaryDirectory() as name, zipfile.ZipFile(_OUTPUT.value, "w") as archive:
        folder = Path(name)
        for entry, data in _entries(_generate(folder), folder):
            add_entry(archive, entry, data)


if __name__ == "__main__":
    app.run(main)
