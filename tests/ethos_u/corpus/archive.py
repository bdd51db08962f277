# SPDX-License-Identifier: Apache-2.0
"""A lowered part of the corpus in one file: TOSA graphs, payloads, and Vela's estimates."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class Estimate:
    """Vela's own figures for a payload."""

    cycles: int
    mac_cycles: int  # for operators with MACs
    macs: int


@dataclass(frozen=True)
class Compiled:
    """A payload and its target."""

    accelerator: str
    memory_mode: str
    payload: bytes
    estimate: Estimate


@dataclass(frozen=True)
class Lowered:
    """The Arm backend's result for a part of a graph, and Vela's result for that."""

    name: str
    tosa: bytes
    compiled: list[Compiled]


def add_entry(archive: zipfile.ZipFile, name: str, data: bytes) -> None:
    """Add a file without a time stamp: the same data give the same bytes."""
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


def write_archive(path: Path, parts: list[Lowered]) -> None:
    """Write an archive. The same parts give the same bytes."""
    with zipfile.ZipFile(path, "w") as archive:
        for part in parts:
            add_entry(archive, f"{part.name}/tosa", part.tosa)
            for compiled in part.compiled:
                folder = f"{part.name}/{compiled.accelerator}/{compiled.memory_mode}"
                add_entry(archive, f"{folder}/payload", compiled.payload)
                figures = json.dumps(asdict(compiled.estimate))
                add_entry(archive, f"{folder}/estimate", figures.encode())


def read_archive(path: Path) -> Iterator[Lowered]:
    """Yield the parts of an archive, in the order they were written."""
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        for tosa in (name for name in names if name.endswith("/tosa")):
            part = tosa.removesuffix("/tosa")
            compiled = []
            for name in names:
                if name.startswith(f"{part}/") and name.endswith("/payload"):
                    _, accelerator, mode, _ = name.split("/")
                    figures = json.loads(archive.read(name.removesuffix("payload") + "estimate"))
                    compiled.append(
                        Compiled(accelerator, mode, archive.read(name), Estimate(**figures))
                    )
            yield Lowered(part, archive.read(tosa), compiled)
