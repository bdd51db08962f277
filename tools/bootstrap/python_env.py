# SPDX-License-Identifier: Apache-2.0
"""Makes the Python environment of tools/python/requirements.txt and prints its folder.

The environment lies in the user's cache folder and is named after the lock file and the Python that
made it. Called by @python_env, before there is any environment: standard library only.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tools.bootstrap.cache import cache_root, make_once
from tools.bootstrap.pip import run_pip
from tools.bootstrap.prefix import free_megabytes
from tools.bootstrap.report import SetupError, give, owned, run, run_main, say

# Raise this when the way that an environment is made changes.
RECIPE = 1
NEEDED_MEGABYTES = 3500

_VERSIONS = """
import importlib.metadata, json
print(json.dumps({d.metadata["Name"]: d.version for d in importlib.metadata.distributions()}))
"""

# The build of torch for graphics cards needs gigabytes of libraries that nothing here uses.
_CPU_TORCH = (
    "torch is wanted in its CPU build: let pip find it (the index that PyTorch names for CPU "
    "builds, in PIP_EXTRA_INDEX_URL or pip.conf; or a folder with the wheel, in PIP_FIND_LINKS)"
)


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locked_versions(lock: Path) -> dict[str, str]:
    """Returns version by normalised name of every package in a lock file."""
    pins = re.findall(r"^([A-Za-z0-9._-]+)==([^\s\\;]+)", lock.read_text(), re.MULTILINE)
    return {_normal(name): version for name, version in pins}


def check(python: Path, lock: Path) -> None:
    """Raises SetupError unless the environment has every package of the lock file."""
    listed = json.loads(run("listing packages", [python, "-c", _VERSIONS]))
    found = {_normal(name): version for name, version in listed.items()}
    wrong = []
    for name, version in locked_versions(lock).items():
        # A local version such as 2.13.0+cpu is a build of 2.13.0.
        if found.get(name, "").split("+")[0] != version.split("+")[0]:
            wrong.append(f"{name} {version} (found: {found.get(name, 'none')})")
    if wrong:
        raise SetupError(f"{python} lacks " + ", ".join(wrong))
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


def _make(lock: Path, final: Path, result: Path) -> None:
    count = len(locked_versions(lock))
    say(
        f"setting up the Python environment in {final} "
        f"(once; {count} packages, 400 MB to download, 2 GB on disk)"
    )
    if free_megabytes(result) < NEEDED_MEGABYTES:
        raise SetupError(f"{final.parent} has less than {NEEDED_MEGABYTES} MB of free space")
    start = time.monotonic()
    run("making the environment", [sys.executable, "-m", "venv", "--without-pip", result])
    python = result / "bin/python3"
    try:
        options = ["--no-deps", "--no-compile", "--require-hashes"]
        run_pip(python, ["install", *options, f"--requirement={lock}"])
    except SetupError as error:
        hint = f"\n{_CPU_TORCH}" if "torch==" in str(error) else ""
        raise SetupError(f"{error}{hint}") from error
    check(python, lock)
    # Some packages carry templates that are no Python; they are left as they are.
    compile_all: list[str | Path] = [python, "-m", "compileall", "-q", "-j", "0", result / "lib"]
    subprocess.run(owned(compile_all), capture_output=True)
    _rename_in_scripts(result / "bin", str(result), str(final))
    say(f"the Python environment is ready ({time.monotonic() - start:.0f} s)")


def main(argv: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lock", type=Path, required=True)
    parser.add_argument("--check", type=Path, help="only check this environment")
    options = parser.parse_args(argv)
    if options.check:
        check(options.check / "bin/python3", options.lock)
        give(options.check)
        return
    lines = options.lock.read_text().splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    identity = json.dumps([RECIPE, sys.version, os.path.realpath(sys.executable), *pins])
    name = f"python-env-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"
    final = cache_root() / name
    make_once(name, lambda work, result: _make(options.lock, final, result))
    give(final)


if __name__ == "__main__":
    sys.exit(run_main("the Python environment", lambda: main(sys.argv[1:])))
