# SPDX-License-Identifier: Apache-2.0
"""A workspace of the version before has the names of today after the script."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tools.lint.workspace import workspace_root
from tools.migrate import Moves

ROOT = workspace_root()
PAGE = (ROOT / "docs/migration.md").read_text()
MOVES = Moves(PAGE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            'load("@pilotlight//firmware/plan:plan_library.bzl", "plan_library")',
            'load("@pilotlight//aot/plan:plan_library.bzl", "plan_library")',
        ),
        ('deps = ["@pilotlight//firmware/plan"]', 'deps = ["@pilotlight//aot/plan"]'),
        ("bazel run @pilotlight//firmware/slot:pack", "bazel run @pilotlight//aot/slot:pack"),
        ("@pilotlight//firmware/ethos_u:verify", "@pilotlight//tools/npu:verify"),
        ("@pilotlight//firmware/ethos_u:engine", "@pilotlight//firmware/ethos_u:engine"),
        ("@pilotlight//kernels/bench:bench", "@pilotlight//measure/bench"),
        ('#include "firmware/ethos_u/payload.h"', '#include "npu/ethos_u/payload.h"'),
        ('#include "firmware/runtime/plan.h"', '#include "firmware/runtime/plan.h"'),
        ('"//firmware/plan"', '"//firmware/plan"'),
    ],
)
def test_labels_and_includes(old: str, new: str) -> None:
    assert MOVES.rewritten(old) == new


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("from aot.targets.target import Target", "from aot.backends.target import Target"),
        ("from aot import errors, inputs", "from aot import errors\nfrom aot.accept import inputs"),
        ("import firmware.plan.pte", "import aot.plan.pte"),
        ("from firmware.plan import pte as p", "from aot.plan import pte as p"),
        ("from aot.artefact import Artefact", "from aot.artefact.artefact import Artefact"),
        ("from aot.lower import lower", "from aot.lower import lower"),
    ],
)
def test_imports(old: str, new: str) -> None:
    assert MOVES.rewritten(old, python=True) == new


def test_new_names_exist_and_old_ones_do_not() -> None:
    rows = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|$", PAGE, re.MULTILINE)
    assert len(rows) > 100
    for old, new in rows:
        if new.startswith("//"):
            package, _, target = new.removeprefix("//").partition(":")
            build = (ROOT / package / "BUILD.bazel").read_text()
            assert f'"{target or package.rpartition("/")[2]}"' in build, new
        else:
            assert (ROOT / new).exists(), new
            assert not (ROOT / old).is_file(), old


def test_lists_and_writes(tmp_path: Path) -> None:
    build = tmp_path / "BUILD.bazel"
    build.write_text('x = "@pilotlight//firmware/plan:compile"\n')
    (tmp_path / "picture.png").write_bytes(b"\x89PNG @pilotlight//firmware/plan")
    command = [sys.executable, str(ROOT / "tools/migrate.py"), str(tmp_path)]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert '+x = "@pilotlight//aot/plan:compile"' in listed and "1 files to change" in listed
    assert "firmware/plan" in build.read_text()
    subprocess.run([*command, "--write"], capture_output=True, check=True)
    assert build.read_text() == 'x = "@pilotlight//aot/plan:compile"\n'
    assert subprocess.run(command, capture_output=True, text=True).stdout.startswith("0 files")
