# SPDX-License-Identifier: Apache-2.0
"""Tools fetched in addition to Bazel."""

import shutil
import subprocess
import sys

import pytest

from tools.bootstrap import first_time
from tools.bootstrap.fetch import _arguments
from tools.bootstrap.lock import locked_packages


@pytest.fixture(autouse=True)
def nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any tool."""
    for name in ("CC", *(f"PILOTLIGHT_{n}" for n in ("PYTHON_ENV", "QEMU", "ARM_GNU_TOOLCHAIN"))):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(shutil, "which", lambda _: None)


def test_every_request_is_locked() -> None:
    tools = first_time.missing_tools()
    assert list(tools) == ["Python packages", "arm-gnu-toolchain", "qemu", "host-gcc"]
    for megabytes, (module, *arguments) in tools.values():
        assert megabytes > 20
        if module == "tools.bootstrap.fetch":
            options = _arguments(arguments)
            locked_packages(options.suite, options.packages, options.without)


def test_first_image_takes_at_most_750_megabytes() -> None:
    """Includes Bazel and Python."""
    beside = sum(megabytes for megabytes, _ in first_time.missing_tools().values())
    assert beside + 160 + 19 <= 750


def test_tools_of_a_user_are_not_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "/usr/bin/gcc")
    monkeypatch.setenv("PILOTLIGHT_PYTHON_ENV", "/mine")
    monkeypatch.setattr(shutil, "which", {"qemu-system-arm": "/q"}.get)
    assert list(first_time.missing_tools()) == ["arm-gnu-toolchain"]


def _with_programs(
    monkeypatch: pytest.MonkeyPatch, *programs: str
) -> list[subprocess.Popen[bytes]]:
    """Simulate tools, each set up by one line of Python."""
    started: list[subprocess.Popen[bytes]] = []
    start = subprocess.Popen

    def popen(command: list[str], stdout: int) -> subprocess.Popen[bytes]:
        process = start([sys.executable, "-c", command[-1]], stdout=stdout)
        started.append(process)
        return process

    tools = {program: (1, ["-", program]) for program in programs}
    monkeypatch.setattr(first_time, "missing_tools", lambda: tools)
    monkeypatch.setattr(subprocess, "Popen", popen)
    return started


def test_waits_for_all_and_minds_no_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    started = _with_programs(monkeypatch, "pass", "raise SystemExit(3)")
    with first_time.tools_beside():
        assert len(started) == 2
    assert [process.returncode for process in started] == [0, 3]


def test_ends_all_when_bazel_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    started = _with_programs(monkeypatch, "import time; time.sleep(600)")
    with pytest.raises(OSError, match="no space"), first_time.tools_beside():
        raise OSError("no space")
    assert started[0].returncode not in (None, 0)  # ended before it would have been done
