# SPDX-License-Identifier: Apache-2.0
"""examples/outside, a workspace next to Pilotlight: built, simulated and run as described on its
page (docs/outside.md), as a module and as a repository of a WORKSPACE.
"""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.bootstrap.cache import cache_root
from tools.python.bazel import startup_options

ROOT = Path("WORKSPACE").resolve().parent
EXAMPLE = ROOT / "examples/outside"
PAGE = (ROOT / "docs/outside.md").read_text()


# The debugger's build is another one for each mode, and the BUILD files are the same in both. The
# second mode is tried at night.
_ONE = ["module", "workspace"] if "NIGHTLY" in os.environ else ["module"]
_OPTIONS = {"module": [], "workspace": ["--config=workspace"]}


class Workspace:
    """The example with a Bazel server of its own, the same in both modes, and the user's cache of
    results.

    Attributes:
      program: this Bazel, for tools with Bazel calls of their own.
    """

    def __init__(self, folder: Path, mode: str) -> None:
        lines = [f"--disk_cache={cache_root() / 'disk'}", "--symlink_prefix=/", *_OPTIONS[mode]]
        settings = "".join(f"common {line}\n" for line in lines)
        settings_file = folder / f"{mode}.bazelrc"
        settings_file.write_text(startup_options(ROOT) + settings)
        own = [f"--output_base={folder / 'base'}", f"--bazelrc={settings_file}"]
        real = os.environ.get("BAZEL_REAL", "")
        command = ["env", f"BAZEL_REAL={real}", f"{ROOT}/tools/bazel", "--max_idle_secs=60", *own]
        self.program = folder / mode
        self.program.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
        self.program.chmod(0o755)

    def bazel(self, command: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [self.program, command, "--noshow_progress", *arguments],
            cwd=EXAMPLE,
            capture_output=True,
            text=True,
        )

    def shutdown(self) -> None:
        subprocess.run([self.program, "shutdown"], cwd=EXAMPLE, capture_output=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("outside")
    yield folder
    Workspace(folder, "module").shutdown()


@pytest.fixture(scope="module", params=_OPTIONS)
def workspace(request: pytest.FixtureRequest, folder: Path) -> Workspace:
    return Workspace(folder, request.param)


def _command(name: str) -> list[str]:
    """A command of Bazel as the page shows it."""
    (command,) = re.findall(rf"^bazel ({name} .*)$", PAGE, re.MULTILINE)
    return str(command).split()


def test_every_board_loads_without_our_flags(workspace: Workspace) -> None:
    at_its_highest_clock = "@pilotlight//boards/tests/not_simulated/disco_f407_max"
    done = workspace.bazel("build", "--noanalyze", at_its_highest_clock, "@pilotlight//boards/...")
    assert done.returncode == 0, done.stderr


def test_own_model_board_kernel_and_app(workspace: Workspace) -> None:
    done = workspace.bazel(*_command("test"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "3 tests pass" in done.stdout


def test_image_is_simulated(workspace: Workspace) -> None:
    done = workspace.bazel(*_command("run"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "both_ways_check on rig (cortex-m4), simulated" in done.stdout
    assert re.search(r"equal +4 \(100.00%\)", done.stdout)


# Invalid board values, and their error messages.
_WRONG_BOARDS = {
    "no_clock": (
        'chip = NRF52840, console = uart("uart0", tx = "P0.06"), clock = "max"',
        "no clock max; there is reset alone, as its chip has no max_clock",
    ),
    "no_clock_of_ours": (
        'chip = ALIF_E7, console = uart("uart4", tx = "P12_2"), clock = "max"',
        "no clock max: the secure enclave sets the core's clock",
    ),
    "no_such_clock": (
        'chip = STM32F405, console = uart("usart2", tx = "PA2"), clock = "fast"',
        "no clock fast; there is reset",
    ),
    "no_uart": (
        'chip = RA8M1, console = uart("uart0")',
        'its chip has no UART uart0; there are ["sci9"]',
    ),
    "no_pin": (
        'chip = STM32F405, console = uart("usart2")',
        "the pin `tx` of usart2 is not given",
    ),
    "no_stack": (
        'chip = RA8M1, console = uart("sci9"), stack = 0',
        "`stack` of 0 bytes is less than 128",
    ),
    "no_handler_stack": (
        'chip = RA8M1, console = uart("sci9"), handler_stack = 64',
        "`handler_stack` of 64 bytes is less than 128",
    ),
    "no_memory": (
        'chip = RA8M1, console = uart("sci9"), arena = ["ddr"]',
        "it has no memory ddr; it has",
    ),
    "no_room": (
        'chip = RA8M1, console = uart("sci9"), slot = mcuboot_slot(0, 16 * MB, 2048)',
        "the slot ends behind",
    ),
}


@pytest.mark.parametrize("workspace", _ONE, indirect=True)
def test_what_is_said_of_boards_that_cannot_be(workspace: Workspace, tmp_path: Path) -> None:
    for name, (words, _) in _WRONG_BOARDS.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "BUILD.bazel").write_text(
            'load("@pilotlight//boards:board.bzl", "MB", "board", "mcuboot_slot", "uart")\n'
            'load("@pilotlight//boards/chips:alif_e7.bzl", "ALIF_E7")\n'
            'load("@pilotlight//boards/chips:nrf52840.bzl", "NRF52840")\n'
            'load("@pilotlight//boards/chips:ra8m1.bzl", "RA8M1")\n'
            'load("@pilotlight//boards/chips:stm32f4.bzl", "STM32F405")\n'
            f'board(name = "{name}", description = "", {words})\n'
        )
    path = f"--package_path=%workspace%:{tmp_path}"
    for name, (_, says) in _WRONG_BOARDS.items():
        done = workspace.bazel("build", "--nobuild", path, f"//{name}:all")
        assert done.returncode != 0
        assert f"board {name}: {says}" in done.stderr


@pytest.mark.parametrize("workspace", _ONE, indirect=True)
def test_a_package_that_would_hide_ours_is_named(workspace: Workspace, tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/__init__.py").touch()
    (tmp_path / "tools/net.py").touch()
    (tmp_path / "tools/BUILD.bazel").write_text(
        'load("@pilotlight//aot:pte_model.bzl", "pte_model")\n'
        'pte_model(name = "net", srcs = ["net.py", "__init__.py"])\n'
    )
    path = f"--package_path=%workspace%:{tmp_path}"
    done = workspace.bazel("build", "--nobuild", path, "//tools:net.lower")
    assert done.returncode != 0
    assert "tools/__init__.py: with this file, Python finds this folder in place" in done.stderr
    (tmp_path / "tools/__init__.py").unlink()
    (tmp_path / "tools/init.py").touch()
    build = tmp_path / "tools/BUILD.bazel"
    build.write_text(build.read_text().replace("__init__", "init"))
    done = workspace.bazel("build", "--nobuild", path, "//tools:net.lower")
    assert done.returncode == 0, done.stderr


def test_page_shows_the_files() -> None:
    shown = re.findall(
        r"\[`[\w.]+`\]\(\.\./(\S+)\)[^\n]*\n\n```starlark\n(.*?)```", PAGE, re.DOTALL
    )
    assert len(shown) == 3
    for file, text in shown:
        assert text in (ROOT / file).read_text(), file


@pytest.mark.parametrize("workspace", _ONE, indirect=True)
def test_the_debugger_knows_the_lines_of_its_sources(workspace: Workspace) -> None:
    steps = ("-batch", "-ex", "break main", "-ex", "continue", "-ex", "kill")
    done = workspace.bazel("run", "//app:app.debug", "--", "--", *steps)
    # Pilotlight's own start-up code at the program's stop, with the source line.
    assert re.search(r"common/startup.c:(\d+)\n\1\t *__asm__", done.stdout), done.stderr
    assert re.search(r"^Breakpoint 1, main \(\) at app/main.c:\d+$", done.stdout, re.M), done.stderr


@pytest.mark.parametrize("workspace", ["module"], indirect=True)
def test_a_survey_measures_the_image_that_is_simulated(
    workspace: Workspace, tmp_path: Path
) -> None:
    """Lowering again with the existing quantization gives the same figures."""
    said = workspace.bazel(*_command("run")).stdout
    (counted,) = re.findall(r"instructions per inference +([\d,]+)", said)
    used = [int(n.replace(",", "")) for n in re.findall(r"\(flash\) +([\d,]+) of", said)]
    start, found = tmp_path / "survey", tmp_path / "survey.json"
    made = workspace.bazel("run", f"--script_path={start}", "@pilotlight//tools:survey")
    assert made.returncode == 0, made.stderr
    wanted = ["--models=//:both_ways", "--boards=//boards/rig", "--quantization=int8"]
    done = subprocess.run(
        [start, *wanted, "--kernels=//kernels/flip", f"--json={found}"],
        cwd=EXAMPLE,
        env=os.environ | {"BAZEL_REAL": str(workspace.program)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (image,) = json.loads(found.read_text())["images"]
    assert image["refused"] == image["not_counted"] == ""
    assert f"{image['instructions']:,}" == counted and counted in done.stdout
    assert image["flash"] == sum(used)
