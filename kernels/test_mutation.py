# SPDX-License-Identifier: Apache-2.0
"""Are the cases any good? Kernels with a bug must fail theirs, on the host."""

import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

from kernels.testing.case import Mutant
from kernels.testing.folders import folders

_ROOT = Path.cwd()
_TIMEOUT = 60
_TESTING = ["close.c", "runner.c", "arena.c", "stdout.c"]
_FOLDERS = folders()
_ALL = [(folder.name, mutant) for folder in _FOLDERS for mutant in folder.mutants]
_FIRST = {(op, mutant.file): (op, mutant) for op, mutant in reversed(_ALL)}
# A bug of every source in each run, all of them at night.
_MUTANTS = _ALL if os.environ.get("MUTANTS") == "all" else list(reversed(_FIRST.values()))


def _compile(sources: list[Path], output: Path, includes: list[Path]) -> None:
    options = [f"-I{include}" for include in [*includes, _ROOT]]
    command = [os.environ["CC"], "-std=c11", "-O1", "-w", *options, "-o", str(output)]
    link = [] if output.suffix != ".o" else ["-c"]
    subprocess.run([*command, *link, *map(str, sources)], check=True)


def _sources(folder: str) -> list[Path]:
    found = sorted((_ROOT / "kernels" / folder).glob("*.c"))
    assert found, f"no sources of {folder}"
    return [path for path in found if ".sources." not in path.name]


def _used_folders(op: str) -> list[str]:
    """Return the op's folder, common, and the folders of kernels called by its cases or kernels."""
    found = [op, "common"]
    for folder in found:
        for path in sorted((_ROOT / "kernels" / folder).glob("*.[ch]")):
            headers = re.findall(r'#include "kernels/(\w+)/', path.read_text())
            found += [name for name in dict.fromkeys(headers) if name not in (*found, "testing")]
    return found


@cache
def _headers(source: Path) -> frozenset[str]:
    """Return the direct and indirect includes of a source, relative to the repository."""
    included = re.findall(r'#include "([\w/]+\.h)"', source.read_text())
    there = [header for header in included if (_ROOT / header).exists()]
    return frozenset(there).union(*(_headers(_ROOT / header) for header in there))


class Builder:
    """Builds and runs the cases of ops; keeps objects."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._objects: dict[Path, Path] = {}

    def passes(self, op: str, mutant: Mutant | None = None) -> bool:
        """Return True if all cases of an op pass, with a mutated source if given."""
        mutated = None if mutant is None else self._mutate(op, mutant)
        objects = [self._object(source, mutant, mutated) for source in self._program(op)]
        program = self._folder / f"{op}.program"
        _compile(objects, program, [])
        try:
            run = subprocess.run([program], capture_output=True, timeout=_TIMEOUT, check=False)
        except subprocess.TimeoutExpired:
            return False
        return run.returncode == 0 and run.stdout.endswith(b"PL:PASS\n")

    def _program(self, op: str) -> list[Path]:
        """Return the generated cases, their runner, and all sources that the op's
        kernels may call.
        """
        kernels = [source for folder in _used_folders(op) for source in _sources(folder)]
        testing = [_ROOT / "kernels" / "testing" / name for name in _TESTING]
        cases = _ROOT / "kernels" / op / f"{op}_test.sources.host.c"
        print_ = _ROOT / "boards" / "common" / "print.c"
        return [cases, *testing, print_, *kernels]

    def _mutate(self, op: str, mutant: Mutant) -> Path:
        """A folder for #include with nothing but the changed source."""
        text = (_ROOT / "kernels" / mutant.file).read_text()
        assert text.count(mutant.before) == 1, f"{mutant.before!r} occurs not once"
        root = self._folder / f"mutant{_MUTANTS.index((op, mutant))}"
        path = root / "kernels" / mutant.file
        path.parent.mkdir(parents=True)
        path.write_text(text.replace(mutant.before, mutant.after))
        return root

    def _object(self, source: Path, mutant: Mutant | None, mutated: Path | None) -> Path:
        name = source.relative_to(_ROOT)
        if mutant is not None and mutated is not None:
            changed = mutated / "kernels" / mutant.file
            is_kernel = name.parts[0] == "kernels" and name.parts[1] != "testing"
            is_kernel &= ".sources." not in name.name
            if is_kernel and f"kernels/{mutant.file}" in _headers(source):
                output = mutated / f"{name.stem}.o"
                _compile([source], output, [mutated])
                return output
            if name == Path("kernels") / mutant.file:
                output = mutated / f"{name.stem}.o"
                _compile([changed], output, [])
                return output
        if source not in self._objects:
            output = self._folder / f"{name.as_posix().replace('/', '.')}.o"
            _compile([source], output, [])
            self._objects[source] = output
        return self._objects[source]


@pytest.fixture(scope="session")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    return Builder(tmp_path_factory.mktemp("mutants"))


@pytest.mark.parametrize("op", [folder.name for folder in _FOLDERS])
def test_cases_pass_without_a_bug(builder: Builder, op: str) -> None:
    assert builder.passes(op)


@pytest.mark.parametrize(
    ("op", "mutant"),
    _MUTANTS,
    ids=[f"{op}: {mutant.before} -> {mutant.after}" for op, mutant in _MUTANTS],
)
def test_cases_find_the_bug(builder: Builder, op: str, mutant: Mutant) -> None:
    assert not builder.passes(op, mutant), "all cases pass"


def test_bugs_of_the_night_change_their_sources() -> None:
    """A change of a source may remove the place of a mutant."""
    texts = {file: (_ROOT / "kernels" / file).read_text() for file in {m.file for _, m in _ALL}}
    assert [(m.file, m.before) for _, m in _ALL if texts[m.file].count(m.before) != 1] == []


def test_every_kernel_has_a_bug() -> None:
    without = [f"kernels/{folder.name}/cases.py" for folder in _FOLDERS if not folder.mutants]
    assert without == [], "no MUTANTS"
