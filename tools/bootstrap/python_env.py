# SPDX-License-Identifier: Apache-2.0
"""Makes the Python environment of tools/python/requirements.txt and prints its folder.

The environment lies in the user's cache folder and is named after the lock file and the Python that
made it. Packages of a second lock file, or those that a user wants, lie in a small environment of
their own, which sees the large one. Called by @python_env, @python_checks, @python_docs and
@python_proofs, before there is any environment: standard library only.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from tools.bootstrap.cache import cache_root, make_once
from tools.bootstrap.interpreter import find_python
from tools.bootstrap.machine import HERE, check_machine
from tools.bootstrap.pip import run_pip
from tools.bootstrap.prefix import free_megabytes
from tools.bootstrap.report import SetupError, give, owned, run, run_main, say

# Increase this when the creation of an environment changes.
RECIPE = 2
NEEDED_MEGABYTES = 3000
DOWNLOAD_MEGABYTES = 355

# Package folders nothing imports: tests and examples, mypy's programs (also compiled to machine
# code), and ExecuTorch's parts for other hardware.
_OTHERS = ("apple", "cadence", "mediatek", "mlx", "qualcomm", "samsung", "vulkan")
_NOT_IMPORTED = ("tests", "examples", "mypyc?") + tuple(
    f"executorch/backends/{name}" for name in _OTHERS
)

_VERSIONS = """
import importlib.metadata, json
print(json.dumps({d.metadata["Name"]: d.version for d in importlib.metadata.distributions()}))
"""

# PyTorch's own index of CPU builds. The default index has builds for graphics cards. They need
# gigabytes of libraries unused here.
TORCH_INDEX = "https://download.pytorch.org/whl/cpu"
_CPU_TORCH = (
    "torch comes in its CPU build: from the places that pip is set to, else from "
    f"{TORCH_INDEX}. Let pip reach that, or name an index in PIP_EXTRA_INDEX_URL or a folder with "
    "the wheel in PIP_FIND_LINKS."
)


_NO_HASHES = (
    "no hash of torch's CPU build for {architecture} is known: make a virtual environment of "
    "Python 3.11 with the packages of {lock}, and set PILOTLIGHT_PYTHON_ENV to its folder"
)


def has_hashes() -> bool:
    """Return True if the lock files have hashes of packages for this architecture."""
    return HERE.debian == "amd64"


def check_hashes(lock: Path) -> None:
    """Raise SetupError if the lock files have no hashes of packages for this architecture."""
    if not has_hashes():
        raise SetupError(_NO_HASHES.format(architecture=HERE.debian, lock=lock))


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked_versions(lock: Path) -> dict[str, str]:
    """Return version by normalised name of every package in a lock file."""
    pins = re.findall(r"^([A-Za-z0-9._-]+)==([^\s\\;]+)", lock.read_text(), re.MULTILINE)
    return {_normal(name): version for name, version in pins}


def lacking(python: Path, lock: Path) -> str:
    """Return the packages of the lock file missing in an environment, "" if it has all."""
    listed = json.loads(run("listing packages", [python, "-c", _VERSIONS]))
    found = {_normal(name): version for name, version in listed.items()}
    wrong = []
    for name, version in locked_versions(lock).items():
        # A local version such as 2.13.0+cpu is a build of 2.13.0.
        if found.get(name, "").split("+")[0] != version.split("+")[0]:
            wrong.append(f"{name} {version} (found: {found.get(name, 'none')})")
    return ", ".join(wrong)


def check(python: Path, lock: Path) -> None:
    """Raise SetupError unless the environment has every package of the lock file."""
    if wrong := lacking(python, lock):
        raise SetupError(f"{python} lacks {wrong}")


def _try_torch(python: Path) -> None:
    try:
        run("trying torch", [python, "-c", "import torch"])
    except SetupError as error:
        raise SetupError(f"{error}\n{_CPU_TORCH}") from error


def _rename_in_scripts(folder: Path, old: str, new: str) -> None:
    for path in folder.iterdir():
        if path.is_file() and not path.is_symlink():
            data = path.read_bytes()
            if data.startswith(b"#!"):
                path.write_bytes(data.replace(old.encode(), new.encode()))


def _install_from(python: Path, file: Path, indexes: Sequence[str]) -> None:
    """Install the pinned packages of a file from the first index with all of them.

    Args:
        python: of the environment.
        file: requirements with hashes.
        indexes: addresses; "" stands for pip's configured indexes.

    Raises:
        SetupError: no index has the packages with these hashes.
    """
    options = ["--no-deps", "--no-compile", "--require-hashes", "--only-binary=:all:"]
    options.append(f"--requirement={file}")
    problems = []
    for index in indexes:
        try:
            run_pip(python, ["install", *options, *([f"--index-url={index}"] if index else [])])
        except SetupError as error:
            problems.append(str(error))
        else:
            return
    raise SetupError("\n".join(problems))


def _install(python: Path, lock: Path, work: Path) -> None:
    """Install the packages of a lock file, torch in parallel to the others: pip unpacks one at a
    time.

    Raises:
        SetupError: pip's exit status is not 0.
    """
    packages = re.split(r"^(?=[A-Za-z0-9])", lock.read_text(), flags=re.MULTILINE)
    groups: dict[str, str] = {"torch": "", "others": ""}
    for package in packages:
        groups["torch" if package.startswith("torch==") else "others"] += package
    files = {name: work / f"{name}.txt" for name, text in groups.items() if "==" in text}
    for name, file in files.items():
        file.write_text(groups[name])
    with ThreadPoolExecutor() as threads:
        pips = [
            threads.submit(_install_from, python, files[name], indexes)
            for name, indexes in (("torch", ["", TORCH_INDEX]), ("others", [""]))
            if name in files
        ]
    for pip in pips:
        pip.result()


def _compile(python: Path, folder: Path) -> None:
    """Compile packages. Some carry templates with invalid Python; they stay uncompiled."""
    # Modules without any importer are a third of all files.
    command: list[str | Path] = [python, "-m", "compileall", "-q", "-j", "0"]
    command += ["-x", f"/site-packages/(.*/)?({'|'.join(_NOT_IMPORTED)})/", folder / "lib"]
    subprocess.run(owned(command), capture_output=True)


def _make(python: Path, lock: Path, final: Path, work: Path, result: Path) -> None:
    count = len(locked_versions(lock))
    say(
        f"setting up the Python environment in {final} "
        f"(once; {count} packages, {DOWNLOAD_MEGABYTES} MB to download, 2 GB on disk)"
    )
    if free_megabytes(result) < NEEDED_MEGABYTES:
        raise SetupError(f"{final.parent} has less than {NEEDED_MEGABYTES} MB of free space")
    check_machine()
    start = time.monotonic()
    run("making the environment", [python, "-m", "venv", "--without-pip", result])
    python = result / "bin/python3"
    try:
        _install(python, lock, work)
    except SetupError as error:
        hint = f"\n{_CPU_TORCH}" if "torch==" in str(error) else ""
        raise SetupError(f"{error}{hint}") from error
    check(python, lock)
    _try_torch(python)
    _compile(python, result)
    _rename_in_scripts(result / "bin", str(result), str(final))
    say(f"the Python environment is ready ({time.monotonic() - start:.0f} s)")


def _lay_over(base: Path, result: Path) -> Path:
    """Make an environment with the packages of `base` alone and return its Python."""
    run("making the environment", [base / "bin/python3", "-m", "venv", "--without-pip", result])
    (result / "base").symlink_to(base)
    (packages,) = result.glob("lib/python3.*/site-packages")
    below = packages.relative_to(result)
    (packages / "pilotlight.pth").write_text(f"../../../base/{below}\n")
    for program in (base / "bin").iterdir():
        if not (result / "bin" / program.name).exists():
            (result / "bin" / program.name).symlink_to(program)
    return result / "bin/python3"


def _add(
    base: Path, requirements: Sequence[Path], lock: Path, final: Path, work: Path, result: Path
) -> None:
    """Make an environment with the packages of `base` and of a user's requirements.

    Raises:
        SetupError: pip finds no such packages, or they need other versions than the lock
            file's.
    """
    say(f"adding {', '.join(map(str, requirements))} to the Python environment (once)")
    python = _lay_over(base, result)
    constraints = work / "constraints.txt"
    pins = locked_versions(lock).items()
    constraints.write_text("".join(f"{name}=={version}\n" for name, version in pins))
    wanted = [f"--requirement={path}" for path in requirements]
    run_pip(python, ["install", f"--constraint={constraints}", *wanted])
    _rename_in_scripts(result / "bin", str(result), str(final))


def _add_locked(base: Path, more: Path, final: Path, work: Path, result: Path) -> None:
    """Make an environment with the packages of `base` and of a second lock file.

    Raises:
        SetupError: pip does not find them.
    """
    count = len(locked_versions(more))
    say(f"adding {count} packages of {more.name} to the Python environment (once)")
    start = time.monotonic()
    python = _lay_over(base, result)
    _install(python, more, work)
    check(python, more)
    _compile(python, result)
    _rename_in_scripts(result / "bin", str(result), str(final))
    say(f"they are there ({time.monotonic() - start:.0f} s)")


def _lines(path: Path) -> list[str]:
    """Return the lines of a requirements file without comments and empty lines."""
    return [line for line in path.read_text().splitlines() if line and not line.startswith("#")]


def _name(kind: str, *parts: object) -> str:
    """Return the name of an environment, depending on its parts."""
    return f"python-{kind}-{hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]}"


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock", type=Path, required=True)
    parser.add_argument(
        "--more", type=Path, help="second lock file, of packages beside the first's"
    )
    parser.add_argument("--kind", default="checks", help="of the environment with --more")
    parser.add_argument(
        "--requirements", type=Path, action="append", default=[], help="what a user wants besides"
    )
    parser.add_argument("--environment", type=Path, help="use this one, which has all of the lock")
    options = parser.parse_args(argv)
    if options.environment:
        base = options.environment
        check(base / "bin/python3", options.lock)
        _try_torch(base / "bin/python3")
    else:
        check_hashes(options.lock)
        python = find_python()
        name = _name("build", RECIPE, str(python), *_lines(options.lock))
        base = make_once(name, partial(_make, python, options.lock, cache_root() / name))
    if options.more and not (
        options.environment and not lacking(base / "bin/python3", options.more)
    ):
        check_hashes(options.more)
        name = _name(options.kind, RECIPE, str(base), *_lines(options.more))
        base = make_once(name, partial(_add_locked, base, options.more, cache_root() / name))
    if options.requirements:
        name = _name("with", RECIPE, str(base), *map(_lines, options.requirements))
        final = cache_root() / name
        base = make_once(name, partial(_add, base, options.requirements, options.lock, final))
    give(base)


if __name__ == "__main__":
    sys.exit(run_main("the Python environment", lambda: main(sys.argv[1:])))
