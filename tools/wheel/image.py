# SPDX-License-Identifier: Apache-2.0
"""An image of a model, made by the compiler on PATH and counted in the QEMU on PATH.

It is the image of `check_image`: the model, its kernels and runtime, the board's start-up code, and
some stored inputs.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_GCC, _OBJDUMP, _QEMU = "arm-none-eabi-gcc", "arm-none-eabi-objdump", "qemu-system-arm"

_APP = [f"firmware/apps/{name}.c" for name in ("check", "compare_bits", "compare_close")]
_APP += ["firmware/apps/inference.c", "firmware/runtime/profile_cortex_m.c"]
_APP += ["kernels/common/status.c"]
_EXECUTOR = ["firmware/runtime/executor.c"]
_MARKED = ["firmware/runtime/executor_profiled.c", "firmware/runtime/cycles_cortex_m.c"]

_START = ("abort", "core", "cxx", "exit", "fault", "print", "semihosting", "stack", "startup")
_CPU = {
    "armv6m": ("cpu_armv6m",),
    "armv7m": ("cpu_armv7m", "cpu_mainline"),
    "cortex_m33": ("cpu_armv8m", "cpu_cortex_m33", "cpu_mainline"),
    "cortex_m55": ("cpu_armv8m", "cpu_cortex_m55", "cpu_mainline"),
}
"""Sources by `startup` of the core (boards/common/BUILD.bazel)."""

# Start-up code runs before the core is checked, so without Armv8.1-M's loops.
_ANY_CORE = "-fno-branch-count-reg"

VECTORS = 4
"""Stored inputs of the image."""

# Like link_for_board of boards/board_binary.bzl.
_LINK = ["-nostartfiles", "-static", "-Wl,--build-id=none,--gc-sections,--orphan-handling=error"]
_LINK += ["-Wl,--fatal-warnings,--no-check-sections,--emit-relocs"]

# tools/image/link_map.py knows objects of the build by this folder.
_OBJECTS = "bazel-out/wheel/bin"


class NoImageError(Exception):
    """Model without an image on this machine; the text gives the reason."""


@dataclass(frozen=True)
class Programs:
    """Paths of the programs, and of QEMU's plugin."""

    gcc: str
    objdump: str
    qemu: str
    plugin: Path


def _plugin(here: Path, qemu: str) -> Path:
    """Return the plugin for a QEMU: that of the newest version not after its own."""
    text = subprocess.run([qemu, "--version"], capture_output=True, text=True).stdout
    found = re.search(r"version (\d+)\.(\d+)", text)
    own = (int(found[1]), int(found[2])) if found else (0, 0)
    plugins = {
        tuple(map(int, file.stem.split("_")[2:])): file
        for file in (here / "tools/simulator/plugin").glob("count_qemu_*.so")
    }
    fitting = [version for version in plugins if version <= own]
    if not fitting:
        raise NoImageError(f"{qemu} is too old to count instructions: 7.2 is the first that can")
    return plugins[max(fitting)]


def find_programs(here: Path, facts: Mapping[str, Any], plan: Mapping[str, Any]) -> Programs:
    """Return the programs needed for a model on a board.

    Raises:
      NoImageError: a program is missing, or this model or board has no image here.
    """
    if (facts["simulator"] or {}).get("kind") != "qemu":
        raise NoImageError(f"QEMU has no machine like {facts['name']}")
    if any("delegate" in step for step in plan["steps"]):
        raise NoImageError("a part of the model runs on an NPU, whose driver images of Bazel have")
    found = {name: shutil.which(name) or "" for name in (_GCC, _OBJDUMP, _QEMU)}
    missing = [name for name, path in found.items() if not path]
    if missing:
        raise NoImageError(f"not on PATH: {', '.join(missing)}")
    return Programs(found[_GCC], found[_OBJDUMP], found[_QEMU], _plugin(here, found[_QEMU]))


def _start(facts: Mapping[str, Any], startup: str) -> dict[str, list[str]]:
    """Return the board's start-up sources with their flags."""
    chip_init = "boards/common:startup_with_chip_init" in facts["startup"]
    files = [f"boards/common/{name}.c" for name in (*_START, *_CPU[startup])]
    for label in facts["startup"]:
        if not label.startswith("boards/common:startup"):
            files.append(f"{label.replace(':', '/')}.c")
    flags = [_ANY_CORE, *(["-DPL_CHIP_INIT"] if chip_init else [])]
    return dict.fromkeys(files, flags)


def _run(command: Sequence[str | Path], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        raise NoImageError("\n".join([f"{command[0]} failed:", *lines[:10]]))


def link(
    here: Path,
    programs: Programs,
    facts: Mapping[str, Any],
    core: Mapping[str, Any],
    packed: Path,
    vectors: Path,
    script: Path,
    folder: Path,
) -> dict[str, Path]:
    """Compile and link the image as it is and with its steps marked.

    Args:
      here: the wheel's package.
      programs: compiler and others.
      facts: the board's data.
      core: flags and start-up code of its core.
      packed: the model's package, unpacked.
      vectors: stored inputs, as C.
      script: the board's linker script.
      folder: for the result.

    Returns:
      The map files of the programs `image` and `marked` by these names. The programs are next to
      them and end in .linked.elf.

    Raises:
      NoImageError: the compiler does not take the sources.
    """
    model = {f"model/{file.name}": file for file in (*packed.glob("src/*.plan.c"), vectors)}
    kernels = {str(f.relative_to(packed / "src")): f for f in packed.glob("src/*/**/*.c")}
    start = _start(facts, core["startup"])
    ours = {name: here / name for name in (*_APP, *_EXECUTOR, *_MARKED, *start)}
    sources = {**kernels, **model, **ours}
    flags = [*core["flags"], "-masm-syntax-unified", *core["image_flags"]]
    includes = [f"-I{packed / 'src'}", f"-I{here}"]

    def compile_(name: str) -> str:
        output = folder / _OBJECTS / f"{name.removesuffix('.c')}.o"
        output.parent.mkdir(parents=True, exist_ok=True)
        more = start.get(name, [])
        if name.startswith("kernels/"):
            more = core["helium_flags" if name.endswith("_mve.c") else "kernel_flags"]
        _run([programs.gcc, *flags, *more, *includes, "-c", sources[name], "-o", output], folder)
        return str(output.relative_to(folder))

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        objects = dict(zip(sources, threads.map(compile_, sources), strict=True))
    maps = {}
    for name, others in (("image", _MARKED), ("marked", _EXECUTOR)):
        maps[name] = folder / f"{name}.map"
        linked = [path for source, path in objects.items() if source not in others]
        flags = [*core["flags"], *_LINK, "-T", script, f"-Wl,-Map={maps[name]}"]
        _run([programs.gcc, *flags, *linked, "-o", folder / f"{name}.linked.elf"], folder)
    return maps
