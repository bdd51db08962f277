# SPDX-License-Identifier: Apache-2.0
"""Unpacks Debian packages into a folder and makes their programs run from there."""

import fnmatch
import json
import os
import platform
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tools.bootstrap.apt import Apt, Package
from tools.bootstrap.report import SetupError, run, say
from tools.bootstrap.sources import machine_mirrors

LIBRARIES = Path("usr/lib/x86_64-linux-gnu")
LOADER = LIBRARIES / "ld-linux-x86-64.so.2"

# The wrapper finds the real program through symbolic links, but passes on the name it was called
# by: gcc looks for its parts relative to that.
_WRAPPER = """#!/bin/sh
d=$(readlink -f "$0")
d=${{d%/*}}
exec "$d/{up}/{loader}" --library-path "$d/{up}/{libraries}" --argv0 "$0" "$d/{name}.elf" "$@"
"""


def fetch(
    work: Path, result: Path, suite: str, packages: Sequence[str], without: Iterable[str] = ()
) -> dict[str, str]:
    """Downloads packages with all that they need and unpacks them into `result`.

    Returns:
        version by package name; also written to `result/packages.json` with checksums.

    Raises:
        SetupError: nothing usable was fetched from any mirror of this machine.
    """
    if platform.machine() != "x86_64":
        raise SetupError(f"only x86-64 machines are set up, this one is {platform.machine()}")
    for program in ("apt-get", "dpkg-deb"):
        if not shutil.which(program):
            raise SetupError(f"this machine has no {program}: it is not Debian nor like it")
    problems = []
    for mirror in machine_mirrors():
        try:
            apt = Apt(work, mirror, suite, without)
            say(f"reading the index of Debian {suite} (10 MB)")
            apt.update()
            closure = apt.closure(packages)
            files = apt.download(packages, closure)
        except SetupError as error:
            problems.append(f"{mirror.uri}: {error}")
            continue
        size = sum(package.size for package in closure)
        say(f"unpacking {len(files)} packages, {size / 1e6:.0f} MB")
        for path in files:
            run(f"unpacking {path.name}", ["dpkg-deb", "-x", path, result])
        _merge_usr(result)
        return _write_manifest(result, suite, closure)
    raise SetupError("\n".join(problems))


def _merge_usr(result: Path) -> None:
    """Moves /bin, /lib and the like, which older suites still fill, below /usr."""
    for name in ("bin", "lib", "lib64", "sbin"):
        folder = result / name
        if folder.is_dir() and not folder.is_symlink():
            shutil.copytree(folder, result / "usr" / name, symlinks=True, dirs_exist_ok=True)
            shutil.rmtree(folder)
            folder.symlink_to(f"usr/{name}")


def _write_manifest(result: Path, suite: str, closure: Sequence[Package]) -> dict[str, str]:
    rows = {p.name: {"version": p.version, "sha256": p.sha256} for p in closure}
    text = json.dumps({"suite": suite, "packages": rows}, indent=1, sort_keys=True)
    (result / "packages.json").write_text(text + "\n")
    return {name: row["version"] for name, row in rows.items()}


def _executables(result: Path) -> Iterator[Path]:
    for path in sorted(result.rglob("*")):
        if path.is_symlink() or not path.is_file() or not os.access(path, os.X_OK):
            continue
        with path.open("rb") as handle:
            head = handle.read(18)
        if head[:4] != b"\x7fELF" or ".so" in path.name:
            continue
        yield path


def wrap_programs(result: Path) -> int:
    """Puts a relocatable wrapper in the place of each ELF program and returns how many.

    The wrapper starts program `X.elf` with the loader and the libraries of `result`, wherever
    that folder is moved.
    """
    count = 0
    for path in _executables(result):
        up = os.path.relpath(result, path.parent)
        path.rename(path.with_name(path.name + ".elf"))
        path.write_text(_WRAPPER.format(up=up, loader=LOADER, libraries=LIBRARIES, name=path.name))
        path.chmod(0o755)
        count += 1
    return count


def prune(result: Path, keep: Sequence[str]) -> None:
    """Removes every file whose path under `result` matches none of the patterns `keep`."""
    for path in sorted(result.rglob("*"), reverse=True):
        name = str(path.relative_to(result))
        if path.is_dir() and not path.is_symlink():
            if not any(path.iterdir()):
                path.rmdir()
        elif not any(fnmatch.fnmatchcase(name, pattern) for pattern in keep):
            path.unlink()


def free_megabytes(folder: Path) -> int:
    """Returns the free space of the file system that holds `folder`."""
    return shutil.disk_usage(folder).free // 1_000_000
