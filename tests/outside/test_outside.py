# SPDX-License-Identifier: Apache-2.0
"""examples/outside, a workspace that has Pilotlight beside it: built, simulated and run as its page
(docs/outside.md) says, as a module and as a repository of a WORKSPACE.
"""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.bootstrap.cache import cache_root

ROOT = Path("WORKSPACE").resolve().parent
EXAMPLE = ROOT / "examples/outside"
PAGE = (ROOT / "docs/outside.md").read_text()


class Workspace:
    """The example with a Bazel server of its own; both modes have the user's cache of results."""

    def __init__(self, base: Path, *options: str) -> None:
        self._start = [f"{ROOT}/tools/bazel", f"--output_base={base}", "--max_idle_secs=60"]
        self._options = [f"--disk_cache={cache_root() / 'disk'}", "--symlink_prefix=/", *options]

    def bazel(self, command: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [*self._start, command, *self._options, "--noshow_progress", *arguments],
            cwd=EXAMPLE,
            capture_output=True,
            text=True,
        )

    def shutdown(self) -> None:
        subprocess.run([*self._start, "shutdown"], cwd=EXAMPLE, capture_output=True)


@pytest.fixture(scope="module", params=["module", "workspace"])
def workspace(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Workspace]:
    options = {"module": [], "workspace": ["--config=workspace"]}[request.param]
    workspace = Workspace(tmp_path_factory.mktemp("outside") / "base", *options)
    yield workspace
    workspace.shutdown()


def _command(name: str) -> list[str]:
    """A command of Bazel as the page shows it."""
    (command,) = re.findall(rf"^bazel ({name} .*)$", PAGE, re.MULTILINE)
    return str(command).split()


def test_own_model_board_kernel_and_app(workspace: Workspace) -> None:
    done = workspace.bazel(*_command("test"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 tests pass" in done.stdout


def test_image_is_simulated(workspace: Workspace) -> None:
    done = workspace.bazel(*_command("run"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "both_ways_check on rig (cortex-m4), simulated" in done.stdout
    assert re.search(r"equal +4 \(100.00%\)", done.stdout)


def test_page_shows_the_files() -> None:
    shown = re.findall(
        r"\[`[\w.]+`\]\(\.\./(\S+)\)[^\n]*\n\n```starlark\n(.*?)```", PAGE, re.DOTALL
    )
    assert len(shown) == 3
    for file, text in shown:
        assert text in (ROOT / file).read_text(), file


def test_the_debugger_knows_the_lines_of_its_sources(workspace: Workspace) -> None:
    steps = ("-batch", "-ex", "break main", "-ex", "continue", "-ex", "kill")
    done = workspace.bazel("run", "//app:app.debug", "--", "--", *steps)
    assert re.search(r"^Breakpoint 1, main \(\) at app/main.c:\d+$", done.stdout, re.M), done.stderr
