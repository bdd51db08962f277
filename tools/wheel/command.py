# SPDX-License-Identifier: Apache-2.0
"""The command `pilotlight` of the wheel.

    pilotlight package model.py --board=nucleo_h743zi -o firmware

Each step is a program of its own, the same that Bazel's rules start.
"""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from tools.version import VERSION

_HERE = Path(__file__).parents[2]
_ROOT = _HERE.name

_STATUSES = """\b
Exit status:
  0  done
  1  the model cannot be lowered or packed; the text says why
  2  wrong arguments, or a file that cannot be read
  3  the model does not fit on the board; a table shows what is needed
"""


def _boards() -> Mapping[str, Mapping[str, Any]]:
    files = sorted((_HERE / "boards").glob("*/*.data.json"))
    return {file.parent.name: json.loads(file.read_text()) for file in files}


def _data(board: str) -> Path:
    return _HERE / "boards" / board / f"{board}.data.json"


_PROGRAM = """\
import os, runpy, sys
sys.path.append(os.getcwd())  # last: a user's calendar.py does not hide Python's own
runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
"""


def _run(module: str, arguments: Sequence[str | Path]) -> None:
    """Runs a program of the wheel; ends with its status if it fails."""
    command = [sys.executable, "-P", "-c", _PROGRAM, f"{_ROOT}.{module}", *map(str, arguments)]
    status = subprocess.run(command).returncode
    if status:
        sys.exit(status if status > 0 else 128 - status)


@click.group(epilog=_STATUSES)
@click.version_option(VERSION, prog_name="pilotlight")
def main() -> None:
    """From a PyTorch model to firmware for a Cortex-M microcontroller.

    \b
    Examples:
      pilotlight package model.py --board=nucleo_h743zi -o firmware
      pilotlight lower --model=model.py:factory --calibration=model.py:calibration --output=x.pte
      pilotlight plan --pte=x.pte --board=nucleo_h743zi --name=x --source=x.c --header=x.h

    Shell completion: `eval "$(_PILOTLIGHT_COMPLETE=bash_source pilotlight)"`; likewise for zsh and
    fish.
    """


def _passed_on(name: str, module: str, summary: str) -> None:
    """Adds a command that hands its flags to a program."""

    @main.command(
        name,
        help=f"{summary} `pilotlight {name} --help` lists all flags.",
        add_help_option=False,
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
    @click.pass_context
    def run(context: click.Context) -> None:
        _run(module, _with_board_files(context.args))


def _with_board_files(arguments: Sequence[str]) -> list[str]:
    """Replaces a board's name in --board by the file of that name in the wheel."""
    boards = _boards()

    def file(match: re.Match[str]) -> str:
        name = match[1]
        return f"--board={_data(name)}" if name in boards else match[0]

    return [re.sub(r"^--board=(\w+)$", file, argument) for argument in arguments]


_passed_on("lower", "aot.lower_main", "Lower a PyTorch model or a .tflite file to a .pte.")
_passed_on("plan", "firmware.plan.compile", "Compile a .pte to C for a board.")
_passed_on("ops", "aot.supported_ops", "List the ATen operators and their forms.")


@main.command()
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--board", required=True, help="A name from `pilotlight boards`, or a board's .json.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, help="A folder, or a .zip."
)
@click.option("--name", help="The model's name in C; by default the file's.")
@click.option("--target", default="cortex-m", show_default=True, help="As of `pilotlight lower`.")
@click.option("--quantization", default="int8", show_default=True, help="As of `pilotlight lower`.")
@click.option(
    "--optimize",
    type=click.Choice(["speed", "memory"]),
    default="speed",
    show_default=True,
    help="Fewest instructions, or the smallest arena.",
)
def package(
    model: Path,
    board: str,
    output: Path,
    name: str | None,
    target: str,
    quantization: str,
    optimize: str,
) -> None:
    """Make a library of a model for CMake, Zephyr, Arduino, PlatformIO or a CMSIS-Pack.

    MODEL is a Python file with `factory()` and `calibration()`, or a quantized .tflite file. The
    library holds the model's plan, its kernels, the runtime, and a program that checks the model on
    the device.
    """
    boards = _boards()
    if board not in boards and not Path(board).is_file():
        raise click.BadParameter(f"{board!r}; `pilotlight boards` lists them", param_hint="--board")
    facts = _data(board) if board in boards else Path(board)
    core = json.loads(facts.read_text())["core"]
    cores = json.loads((_HERE / "cores.json").read_text())
    name = name or re.sub(r"\W", "_", model.stem)
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        pte, program, vectors = (folder / f"model.{end}" for end in ("pte", "program", "npz"))
        source, header, plan = (folder / f"{name}{end}" for end in (".plan.c", ".h", ".json"))
        lower = [f"--tflite={model}"]
        if model.suffix != ".tflite":
            lower = [f"--model={model}:factory", f"--calibration={model}:calibration"]
            lower += [f"--quantization={quantization}"]
        lower += [f"--target={target}", f"--output={pte}", f"--program={program}"]
        click.echo(f"lowering {model}", err=True)
        _run("aot.lower_main", [*lower, f"--vectors={vectors}"])
        compile_ = [f"--pte={pte}", f"--program={program}", f"--board={facts}", f"--name={name}"]
        compile_ += [f"--optimize={optimize}", "--share"]
        compile_ += [f"--source={source}", f"--header={header}", f"--json={plan}"]
        click.echo(f"planning for {board}", err=True)
        _run("firmware.plan.compile", compile_)
        packed = output if output.suffix == ".zip" else folder / "package.zip"
        flags_by_core = json.dumps({c: facts["flags"] for c, facts in cores.items()})
        pack = [f"--board={facts}", f"--isa={cores[core]['isa']}", f"--tree={_HERE}"]
        pack += [f"--plan={plan}", f"--pte={pte}", f"--vectors={vectors}", f"--name={name}"]
        pack += [f"--flags_by_core={flags_by_core}", f"--license={_HERE / 'LICENSE'}"]
        _run("boards.package.make_package", [*pack, f"--output={packed}", source, header])
        if packed != output:
            with zipfile.ZipFile(packed) as archive:
                archive.extractall(output)
    click.echo(f"{output}: README.md there shows how to build it", err=True)


@main.command()
def boards() -> None:
    """List the boards with core, NPU and memories."""
    for name, facts in _boards().items():
        memories = ", ".join(f"{m['name']} {m['size'] // 1024} KB" for m in facts["memories"])
        npu = ", ".join(engine.get("configuration", "") for engine in facts.get("engines", []))
        click.echo(f"{name:24} {facts['core']:20} {npu:16} {memories}")


@main.command()
def doctor() -> None:
    """Show what is installed, what is missing, and the PILOTLIGHT_* variables that are set."""
    click.echo(f"pilotlight {VERSION}, Python {platform.python_version()}, {platform.machine()}")
    missing = []
    for line in requires("pilotlight") or []:
        (name,) = re.findall(r"^[\w.-]+", line)
        try:
            click.echo(f"  {name:16} {version(name)}")
        except PackageNotFoundError:
            missing.append(name)
            click.echo(f"  {name:16} MISSING: pip install '{line}'")
    for name, use in (("eiq_neutron_sdk", "targets imxrt700 and mcxn947"),):
        found = "there" if find_spec(name) else f"not there; only {use} need it"
        click.echo(f"  {name:16} {found}")
    for name in sorted(name for name in os.environ if name.startswith("PILOTLIGHT_")):
        click.echo(f"  {name}={os.environ[name]}")
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
