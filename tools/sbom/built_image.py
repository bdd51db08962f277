# SPDX-License-Identifier: Apache-2.0
"""An image as built: its files, sources, models, compiler, and the tools of the build."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from datetime import datetime
from importlib.metadata import metadata
from pathlib import Path
from typing import Any

from elftools.elf.elffile import ELFFile

from tools.bootstrap.lock import LOCK, LockedPackage, read_lock
from tools.bootstrap.versions import VERSIONS_FILE, read_versions
from tools.python.bazel import bazel_program
from tools.sbom.document import SbomImage, Tool, document

_REQUIREMENTS = Path(__file__).parents[1] / "python/requirements.txt"
_PYTHON = ("ethos-u-vela", "executorch", "flatbuffers", "numpy", "torch", "torchao", "tosa-tools")
"""Packages used to convert models."""

_EXPRESSION = re.compile(r"[A-Za-z]+-[\w.+-]+(?: (?:AND|OR|WITH) [A-Za-z]+(?:-[\w.+-]+)?)*")
"""An expression of SPDX, not "BSD License" or a licence's text."""

_GROUPS = ("bin", "elf", "hex", "lowered", "size_json", "sources")
_OUTPUT_FOLDER = re.compile(r"^bazel-out/[^/]+/bin/")


class SbomError(Exception):
    """Document that cannot be made; the text gives the reason."""


def _run(root: Path, *arguments: str) -> str:
    command = [bazel_program(root), *arguments]
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise SbomError(f"bazel {' '.join(arguments)} failed")
    return done.stdout


def compiler_of(elf: Path) -> str:
    """Return the compiler's text in a program."""
    with elf.open("rb") as file:
        section = ELFFile(file).get_section_by_name(".comment")
        data: bytes = section.data() if section else b""
    return ", ".join(dict.fromkeys(part.decode() for part in data.split(b"\0") if part))


def built(root: Path, label: str) -> SbomImage:
    """Build an image; return its parts.

    Raises:
      SbomError: it cannot be built, or the label is no image.
    """
    groups: dict[str, list[Path]] = {}
    _run(root, "build", f"--output_groups={','.join(_GROUPS)}", label)
    base = Path(_run(root, "info", "execution_root").strip())
    for group in _GROUPS:
        listed = _run(root, "cquery", "--output=files", f"--output_groups={group}", label)
        groups[group] = [Path(line) for line in listed.splitlines()]
    if not groups["elf"] or not groups["size_json"]:
        raise SbomError(
            f"{label} is not an image: give the label of a firmware_image, or of a macro that "
            "makes one"
        )
    elf = base / groups["elf"][0]
    return SbomImage(
        label,
        json.loads((base / groups["size_json"][0]).read_text()),
        [elf, *(base / path for group in ("bin", "hex") for path in groups[group])],
        {_OUTPUT_FOLDER.sub("", str(path)): base / path for path in groups["sources"]},
        [base / path for path in groups["lowered"]],
        compiler_of(elf),
    )


def toolchain_of(compiler: str) -> dict[str, LockedPackage]:
    """Return the locked packages of the compiler; none if the image has another compiler's text."""
    for request, locked in read_lock().items():
        if "gcc-arm-none-eabi" in request.packages:
            found = {package.name: package for package in locked.closure}
            version = found["gcc-arm-none-eabi"].version.split("+")[0]
            if version in compiler:
                return {name: found[name] for name in request.packages}
    return {}


def python_tools(names: tuple[str, ...] = _PYTHON) -> Iterator[Tool]:
    """Yield Python packages of this build, with their declared licences."""
    for name in names:
        facts: Any = metadata(name)
        licence = facts.get("License-Expression") or facts.get("License") or ""
        licence = licence if _EXPRESSION.fullmatch(licence) else "NOASSERTION"
        version = facts["Version"]
        yield Tool(name, version, licence, purl=f"pkg:pypi/{name}@{version.replace('+', '%2B')}")


def document_of(image: SbomImage, date: datetime) -> dict[str, Any]:
    """Return the document of an image, with the tools of this build."""
    versions = read_versions()
    return document(
        image,
        [Tool("bazel", versions["BAZEL_VERSION"], "Apache-2.0"), *python_tools()],
        toolchain_of(image.compiler),
        versions,
        {
            f"tools/bootstrap/{LOCK.name}": LOCK,
            "tools/python/requirements.txt": _REQUIREMENTS,
            "tools/versions.env": VERSIONS_FILE,
        },
        date,
    )
