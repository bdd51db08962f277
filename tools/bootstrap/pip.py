# SPDX-License-Identifier: Apache-2.0
"""Runner of pip for any Python, even without an installed pip."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tools.bootstrap.cache import make_once
from tools.bootstrap.interpreter import find_python
from tools.bootstrap.prefix import fetch
from tools.bootstrap.report import SetupError, owned, say
from tools.bootstrap.versions import read_versions


def _pip_wheel(python: Path | str) -> Path:
    """Return a wheel of pip: the copy of Python or Debian, else a downloaded one."""
    # Next to a Python of interpreter.py, or the Python an environment was made with.
    own = Path(python).resolve().parents[1] / "share/python-wheels"
    folders = [own, Path("/usr/share/python-wheels")]
    try:
        import ensurepip
    except ImportError:
        pass
    else:
        folders.insert(1, Path(ensurepip.__file__).parent / "_bundled")
    for folder in folders:
        wheels = sorted(folder.glob("pip-*.whl"))
        if wheels:
            return wheels[-1]
    suite = read_versions()["PIP_SUITE"]

    def make(work: Path, result: Path) -> None:
        say("this Python has no pip: fetching it from Debian (2 MB)")
        fetch(work, result, suite, ["python3-pip-whl"], ["ca-certificates"])

    found = make_once(f"pip-{suite}", make) / "usr/share/python-wheels"
    return sorted(found.glob("pip-*.whl"))[-1]


def pip_settings() -> dict[str, str]:
    """Return the machine's settings of pip by the name of the option."""
    python = find_python()
    environment = {**os.environ, "PYTHONPATH": str(_pip_wheel(python))}
    command = owned([python, "-m", "pip", "config", "list"])
    listed = subprocess.check_output(command, env=environment, text=True)
    found = {}
    for name, value in re.findall(
        r"^(?:global|install|:env:)\.([\w-]+)='(.*)'$", listed, re.MULTILINE
    ):
        found[name] = value.replace("\\n", " ")
    return found


def run_pip(python: Path | str, arguments: Sequence[str]) -> None:
    """Run pip in the given Python with the machine's own settings (index, certificates).

    Progress of downloads appears on stderr.

    Raises:
        SetupError: pip's exit status is not 0.
    """
    environment = {
        **os.environ,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_NO_INPUT": "1",
        "PIP_ROOT_USER_ACTION": "ignore",
        "PYTHONPATH": str(_pip_wheel(python)),
    }
    process = subprocess.Popen(
        owned([python, "-m", "pip", *arguments, "--progress-bar=off"]),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    tail: list[str] = []
    for line in process.stdout:
        tail = [*tail[-20:], line.rstrip()]
        match = re.match(r"\s*Downloading (\S+) (\([0-9.]+ [MG]B\))", line)
        if match:
            say(f"  {match[1].split('/')[-1]} {match[2]}")
    if process.wait() != 0:
        raise SetupError("\n  ".join([f"pip ended with status {process.returncode}:", *tail]))


def install_pinned(name: str, version: str, sha256: str, work: Path) -> Path:
    """Install one wheel of PyPI into a folder below `work` and return that folder.

    Raises:
        SetupError: no wheel with this checksum is available.
    """
    requirements = work / f"{name}.txt"
    requirements.write_text(f"{name}=={version} --hash=sha256:{sha256}\n")
    target = work / name
    shutil.rmtree(target, ignore_errors=True)
    run_pip(
        find_python(),
        ["install", "--no-deps", "--only-binary=:all:", "--require-hashes"]
        + [f"--target={target}", f"--requirement={requirements}"],
    )
    return target
