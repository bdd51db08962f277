# SPDX-License-Identifier: Apache-2.0
"""Remote execution: --config=remote runs every action on workers without the home and the sources.

The outputs equal those of this machine, byte for byte.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scale.clone import Clone
from tests.scale.servers import buildgrid
from tools.bootstrap.cache import cache_root
from tools.lint.workspace import workspace_root

IMAGES = os.environ.get("TARGETS", "//boards:corstone300_app").split()
TESTS = ["//kernels/conv2d:all"]
WORKERS = 2


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="scale-", ignore_cleanup_errors=True) as name:
        path = Path(name)
        path.chmod(0o755)  # the database runs as another user
        yield path


def as_workers_have_it(root: Path) -> dict[Path, Path]:
    """Return the contents of a worker's image (docs/scale.md): location there, by location here."""
    python = Path(sys.base_prefix)
    shown = {python: python}
    environments = {"requirements": Path(sys.prefix), "checks": Path(pytest.__file__).parents[4]}
    for lock, environment in environments.items():
        data = (root / f"tools/python/{lock}.txt").read_bytes()
        name = f"python-{hashlib.sha256(data).hexdigest()[:12]}"
        shown[environment] = Path("/opt/pilotlight") / name
    return shown


def test_workers_give_the_same_bytes(folder: Path) -> None:
    root = workspace_root()
    here, there = (Clone(folder / name, root) for name in ("here", "there"))
    start = time.monotonic()
    # Includes outputs built on this machine earlier.
    every = "--remote_download_outputs=all"
    here.run("build", [*IMAGES, *TESTS], f"--disk_cache={cache_root() / 'disk'}", every)
    print(f"here: {time.monotonic() - start:.0f} s")
    hide = [Path.home(), Path("/opt"), here.folder, there.folder]
    with buildgrid(folder / "server", WORKERS, hide, as_workers_have_it(root)) as address:
        start = time.monotonic()
        flags = ["--config=remote", f"--remote_executor={address}", "--jobs=20"]
        actions = there.run("build", [*IMAGES, *TESTS], *flags, every)
        print(f"there: {time.monotonic() - start:.0f} s")
        expected, actual = here.outputs(), there.outputs()
        start = time.monotonic()
        tests = there.run("test", TESTS, *flags)
        print(f"tests there: {time.monotonic() - start:.0f} s")
    runners = Counter(action.runner for action in [*actions, *tests])
    print(f"{len(actions)} actions and {len(tests)} of tests: {dict(runners)}")
    assert set(runners) <= {"remote", "remote cache hit"}
    assert sum(action.mnemonic == "TestRunner" for action in tests) > 1
    assert len(expected) > 100
    different = [n for n in expected.keys() | actual if expected.get(n) != actual.get(n)]
    assert sorted(different) == []
