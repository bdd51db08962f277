# SPDX-License-Identifier: Apache-2.0
"""Kernels compile with the flags of users' projects: debug and release builds, GNU dialects, a
frame pointer. None of them changes what a kernel computes with floats.

At night: all kernels, cores and flags (FLAGS_OF_KERNELS=all).
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

from tools.python.runfile import runfile

_ROOT = Path("WORKSPACE").resolve(strict=True).parent
_ALL = os.environ.get("FLAGS_OF_KERNELS") == "all"

_CORES = {
    "cortex-m0": ("thumb1", "soft"),
    "cortex-m3": ("scalar", "soft"),
    "cortex-m4": ("dsp", "hard"),
    "cortex-m33": ("dsp", "hard"),
    "cortex-m55": ("mve", "hard"),
}
_FORM = re.compile(r"_(scalar|dsp|mve|thumb1)\.c$")
_FUSED = re.compile(r"\tvfn?m[as]\.")

_FLAGS = ["-O0 -std=gnu11", "-Os -std=c99", "-O2 -fno-omit-frame-pointer -std=gnu17"]
_MORE_FLAGS = ["-Og -std=gnu17", "-O1 -std=c11", "-O3 -std=gnu17", "-O2 -flto -std=c11"]
_SOME_CORES = ["cortex-m3", "cortex-m4", "cortex-m55"]


def _tool(name: str) -> Path:
    found = runfile(f"arm_gnu_toolchain/bin/arm-none-eabi-{name}")
    assert found is not None
    return found.resolve()


def _sources(isa: str) -> list[Path]:
    """Return the sources of a class of core; of some of them the quick test takes a few."""
    every = [
        path.relative_to(_ROOT)
        for path in sorted((_ROOT / "kernels").glob("*/*.c"))
        if not path.stem.endswith("_test") and path.parent.name != "testing"
    ]
    classes = {
        "scalar": ["scalar"],
        "thumb1": ["thumb1", "scalar"],
        "dsp": ["dsp", "scalar"],
        "mve": ["mve", "dsp", "scalar"],
    }[isa]
    forms = {path: _FORM.search(path.name) for path in every}
    taken = []
    for path, form in forms.items():
        rank = classes.index(form[1]) if form and form[1] in classes else None
        base = path.name[: form.start()] if form else ""
        better = [f"{base}_{other}.c" for other in classes[: rank or 0]]
        if (form is None or rank is not None) and not any(
            path.with_name(name) in forms for name in better
        ):
            taken.append(path)
    return taken


def _is_of_flags(path: Path) -> bool:
    text = (_ROOT / path).read_text()
    return any(word in text for word in ("optimized.h", "exact_floats.h", '"push {r7}'))


def _compile(core: str, flags: str, source: Path, output: Path) -> str:
    options = ["-mthumb", f"-mcpu={core}", f"-mfloat-abi={_CORES[core][1]}", "-I."]
    command = [*options, *flags.split(), "-c", str(source), "-o", str(output)]
    done = subprocess.run([_tool("gcc"), *command], cwd=_ROOT, capture_output=True, text=True)
    return "" if done.returncode == 0 else f"{source}: {done.stderr.strip().splitlines()[-1]}"


@pytest.mark.parametrize("core", _CORES if _ALL else _SOME_CORES)
@pytest.mark.parametrize("flags", [*_FLAGS, *_MORE_FLAGS] if _ALL else _FLAGS)
def test_kernels_compile(tmp_path: Path, core: str, flags: str) -> None:
    sources = [source for source in _sources(_CORES[core][0]) if _ALL or _is_of_flags(source)]
    assert sources
    objects = {source: tmp_path / f"{source.stem}.o" for source in sources}
    problems = [_compile(core, flags, source, output) for source, output in objects.items()]
    assert not [problem for problem in problems if problem]
    for source, output in objects.items():
        if "-flto" in flags:
            continue
        listing = subprocess.run([_tool("objdump"), "-d", output], capture_output=True, text=True)
        # Helium's kernels say where they fuse; the reference does, too.
        assert source.name.endswith("_mve.c") or not _FUSED.search(listing.stdout), source


@pytest.mark.parametrize("dialect", ["c++17", "c++20"])
def test_headers_in_cxx(tmp_path: Path, dialect: str) -> None:
    headers = ["firmware/runtime/model.h", "firmware/runtime/values.h", "boards/common/irq.h"]
    source = tmp_path / "app.cc"
    source.write_text("".join(f'#include "{header}"\n' for header in headers))
    assert (
        _compile("cortex-m33", f"-Wall -Wextra -Werror -std={dialect}", source, tmp_path / "app.o")
        == ""
    )
