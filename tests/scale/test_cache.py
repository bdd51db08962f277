# SPDX-License-Identifier: Apache-2.0
"""Cache sharing between two clones on nginx.

The clones have different folders and homes. The second one runs no action built by the first.
"""

from __future__ import annotations

import os
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scale.clone import Action, Clone
from tests.scale.servers import nginx
from tools.lint.workspace import workspace_root

TARGETS = os.environ.get("TARGETS", "//boards:corstone300_app").split()


@pytest.fixture
def folder() -> Iterator[Path]:
    """Not the test's own folder: Bazel's paths would become too long there."""
    with tempfile.TemporaryDirectory(prefix="scale-", ignore_cleanup_errors=True) as name:
        yield Path(name)


def key_of(action: Action) -> frozenset[tuple[str, str]]:
    """Return Bazel's identity of an action, without the folder of its configuration."""
    return frozenset(
        (re.sub("bazel-out/[^/]+/bin", "", name), re.sub("bazel-out/[^/]+/bin", "", value))
        for name, value in action.key.items()
    )


def test_a_second_clone_runs_nothing(folder: Path) -> None:
    root = workspace_root()
    with nginx(folder / "nginx") as address:
        built = []
        for name in ("a", "second"):
            clone = Clone(folder / name, root)
            start = time.monotonic()
            actions = clone.run("build", TARGETS, f"--remote_cache={address}")
            seconds = time.monotonic() - start
            ran = [action for action in actions if action.runner != "remote cache hit"]
            print(f"{name}: {len(actions)} actions, {len(ran)} run, {seconds:.0f} s")
            built.append((actions, ran))
    (every, first), (again, second) = built
    before = {action.output: action for action in first}
    for action in second:
        print(action, "ran again because of", before[action.output].changes(action))
    # If an action is the same for two boards, the first build runs it once.
    assert {key_of(action) for action in every} == {key_of(action) for action in first}
    assert len(again) == len(every) > 10
    assert second == []
