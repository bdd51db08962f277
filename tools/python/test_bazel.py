# SPDX-License-Identifier: Apache-2.0
import os
from pathlib import Path

import pytest

from tools.python.bazel import bazel_program, startup_options


def test_a_workspace_has_its_own_or_gets_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("BAZEL_REAL", raising=False)
    ours = Path(bazel_program(tmp_path))
    assert ours.is_absolute() and os.access(ours, os.X_OK)
    assert "versions.env" in ours.read_text() and ours.with_name("versions.env").exists()
    own = tmp_path / "tools/bazel"
    own.parent.mkdir()
    own.touch()
    assert bazel_program(tmp_path) == str(own)
    monkeypatch.setenv("BAZEL_REAL", "/of/bazelisk")
    assert bazel_program(tmp_path) == "/of/bazelisk"


def test_how_a_server_starts(tmp_path: Path) -> None:
    (tmp_path / ".bazelrc").write_text("# startup --x\nstartup --a=1\nbuild --b\nstartup --c\n")
    assert startup_options(tmp_path) == "startup --a=1\nstartup --c\n"
