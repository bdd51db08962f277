# SPDX-License-Identifier: Apache-2.0
"""Fetch the tools every image needs besides Bazel, in parallel processes.

Repository rules find the installed tools. They handle a tool given by a variable or found on PATH
themselves.
"""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tools.bootstrap.lock import locked_packages
from tools.bootstrap.python_env import DOWNLOAD_MEGABYTES, has_hashes
from tools.bootstrap.report import owned, say
from tools.bootstrap.versions import read_versions

_TOOLS = Path(__file__).resolve().parents[1]
_REQUESTS = _TOOLS / "repositories/requests.bzl"

# Tool: its variable, its program on PATH if accepted, the name of its suite in versions.env.
_DEBIAN = {
    "ARM_GNU_TOOLCHAIN": ("PILOTLIGHT_ARM_GNU_TOOLCHAIN", "arm-none-eabi-gcc"),
    "QEMU": ("PILOTLIGHT_QEMU", "qemu-system-arm"),
    "HOST_GCC": ("CC", ""),
}


def _arguments(request: Mapping[str, Any], suite: str) -> list[str]:
    """Return the arguments of fetch.py, as `fetch_debian` of the repository rules gives them."""
    arguments = [f"--name={request['name']}", f"--suite={suite}"]
    arguments += [f"--check={program}" for program in request.get("checks", ())]
    arguments += [f"--keep={pattern}" for pattern in request.get("keep", ())]
    arguments += [f"--link={path}={to}" for path, to in request.get("links", {}).items()]
    arguments += [f"--without={package}" for package in request.get("without", ())]
    return [*arguments, *request["packages"]]


def missing_tools() -> dict[str, tuple[int, list[str]]]:
    """Return megabytes and Python's arguments of each tool the rules will fetch."""
    versions = read_versions()
    requests = runpy.run_path(str(_REQUESTS))
    found = {}
    if not os.environ.get("PILOTLIGHT_PYTHON_ENV") and has_hashes():
        lock = _TOOLS / "python/requirements.txt"
        found["Python packages"] = (
            DOWNLOAD_MEGABYTES,
            ["tools.bootstrap.python_env", f"--lock={lock}"],
        )
    for tool, (variable, program) in _DEBIAN.items():
        if os.environ.get(variable) or (program and shutil.which(program)):
            continue
        request, suite = requests[tool], versions[f"{tool}_SUITE"]
        locked = locked_packages(suite, request["packages"], request.get("without", ()))
        arguments = ["tools.bootstrap.fetch", *_arguments(request, suite)]
        found[request["name"]] = (locked.megabytes, arguments)
    return found


@contextmanager
def tools_beside() -> Iterator[None]:
    """Fetch missing tools while the body runs, and wait for them.

    Failures are left to the rules. They try again, perhaps from another place.
    """
    tools = missing_tools()
    items = ", ".join(f"{name} {size}" for name, (size, _) in tools.items())
    say(f"fetching beside Bazel, in MB: {items}")
    processes = [
        subprocess.Popen(owned([sys.executable, "-m", *arguments]), stdout=subprocess.DEVNULL)
        for _, arguments in tools.values()
    ]
    try:
        yield
        for process in processes:
            process.wait()
    finally:
        for process in processes:
            process.terminate()
            process.wait()
