# SPDX-License-Identifier: Apache-2.0
"""One-line error on machines unable to run the tools."""

import os
import platform

import pytest

from tools.bootstrap.machine import check_machine
from tools.bootstrap.report import SetupError


@pytest.mark.parametrize(
    ("system", "processor", "libc", "message"),
    [
        ("Linux", "x86_64", "glibc 2.34", ""),
        ("Linux", "x86_64", "glibc 2.36", ""),
        ("Linux", "x86_64", "glibc 3.0", ""),
        ("Linux", "x86_64", "glibc 2.31", "this machine has glibc 2.31. "),
        ("Linux", "x86_64", None, "this machine has no glibc. "),
        ("Linux", "aarch64", "glibc 2.36", ""),
        ("Linux", "riscv64", "glibc 2.36", "this machine is Linux on riscv64. "),
        ("Darwin", "arm64", None, "this machine is Darwin on arm64. "),
    ],
)
def test_machines(
    monkeypatch: pytest.MonkeyPatch, system: str, processor: str, libc: str | None, message: str
) -> None:
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: processor)
    monkeypatch.setattr(os, "confstr", lambda name: libc)
    if not message:
        check_machine()
        return
    with pytest.raises(SetupError) as error:
        check_machine()
    assert str(error.value).startswith(message)
    assert str(error.value).count("\n") == 0
