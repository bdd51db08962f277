# SPDX-License-Identifier: Apache-2.0
"""The command `pilotlight` of the wheel.

    pilotlight package model.py --board=nucleo_h743zi -o firmware

Each step is a program of its own, as in Bazel's rules.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from click.shell_completion import get_completion_class

from tools.doctor import doctor as doctors
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
    """Turn a PyTorch model into firmware for a Cortex-M microcontroller.

    \b
    Examples:
      pilotlight package model.py --board=nucleo_h743zi -o firmware
      pilotlight report model.py --board=nucleo_h743zi -o report
      pilotlight lower --model=model.py:factory --calibration=model.py:calibration --output=x.pte
      pilotlight plan --pte=x.pte --board=nucleo_h743zi --name=x --source=x.c --header=x.h

    `pilotlight completion --help` shows how your shell completes these.
    """


def _passed_on(name: str, module: str, summary: str) -> None:
    """Add a command for a program; it passes all flags."""

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
    """Replace a board's name after --board by its file in the wheel."""
    boards = _boards()
    found: list[str] = []
    for argument in arguments:
        flag, is_flag, name = argument.rpartition("--board=")
        if is_flag or found[-1:] == ["--board"]:
            argument = f"{flag}{is_flag}{_data(name) if name in boards else name}"
        found.append(argument)
    return found


_passed_on("lower", "aot.lower_main", "Lower a PyTorch model, .tflite or .onnx file to a .pte.")
_passed_on("plan", "aot.plan.compile", "Compile a .pte to C for a board.")
_passed_on("ops", "aot.support.supported_ops", "List the ATen operators and their forms.")


@dataclass(frozen=True)
class _Planned:
    """Files of a model lowered and planned for a board."""

    name: str
    facts: Path
    pte: Path
    vectors: Path
    lowering: Path
    plan: Path
    source: Path
    header: Path


def _of_a_model(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the arguments of lowering and planning."""
    for option in (
        click.option(
            "--optimize",
            type=click.Choice(["speed", "memory"]),
            default="speed",
            show_default=True,
            help="Fewest instructions, or the smallest arena.",
        ),
        click.option(
            "--quantization", default="int8", show_default=True, help="As of `pilotlight lower`."
        ),
        click.option(
            "--target", default="cortex-m", show_default=True, help="As of `pilotlight lower`."
        ),
        click.option("--name", help="The model's name in C; by default the file's."),
        click.option(
            "--board",
            required=True,
            shell_complete=lambda _context, _parameter, start: [
                name for name in _boards() if name.startswith(start)
            ],
            help="A name from `pilotlight boards`, or a board's .json.",
        ),
        click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path)),
    ):
        command = option(command)
    return command


def _planned(
    folder: Path,
    model: Path,
    board: str,
    name: str | None,
    target: str,
    quantization: str,
    optimize: str,
) -> _Planned:
    """Lower and plan a model into a folder."""
    boards = _boards()
    if board not in boards and not Path(board).is_file():
        raise click.BadParameter(f"{board!r}; `pilotlight boards` lists them", param_hint="--board")
    name = name or re.sub(r"\W", "_", model.stem)
    done = _Planned(
        name,
        facts=_data(board) if board in boards else Path(board),
        pte=folder / f"{name}.pte",
        vectors=folder / "vectors.npz",
        lowering=folder / f"{name}.lowering.json",
        plan=folder / f"{name}.json",
        source=folder / f"{name}.plan.c",
        header=folder / f"{name}.h",
    )
    program = f"--program={folder / 'model.program'}"
    lower = [f"--tflite={model}"]
    if model.suffix != ".tflite":
        lower = [f"--model={model}:factory", f"--calibration={model}:calibration"]
        lower += [f"--quantization={quantization}"]
    lower += [f"--target={target}", f"--output={done.pte}", f"--report={done.lowering}", program]
    click.echo(f"lowering {model}", err=True)
    _run("aot.lower_main", [*lower, f"--vectors={done.vectors}"])
    compile_ = [f"--pte={done.pte}", program, f"--board={done.facts}", f"--name={name}"]
    compile_ += [f"--optimize={optimize}", "--share"]
    compile_ += [f"--source={done.source}", f"--header={done.header}", f"--json={done.plan}"]
    click.echo(f"planning for {board}", err=True)
    _run("aot.plan.compile", compile_)
    return done


@main.command(epilog="Example: pilotlight package model.py --board=nucleo_h743zi -o firmware")
@_of_a_model
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, help="A folder, or a .zip."
)
def package(output: Path, **given: Any) -> None:
    """Make a library of a model for CMake, Zephyr, Arduino, PlatformIO or a CMSIS-Pack.

    MODEL is a Python file with `factory()` and `calibration()`, or a quantized .tflite file. The
    library holds the model's plan, its kernels, the runtime, and a check of the model on the
    device.
    """
    with tempfile.TemporaryDirectory() as text:
        folder = Path(text)
        done = _planned(folder, **given)
        cores = json.loads((_HERE / "cores.json").read_text())
        core = json.loads(done.facts.read_text())["core"]
        packed = output if output.suffix == ".zip" else folder / "package.zip"
        flags_by_core = json.dumps({c: facts["flags"] for c, facts in cores.items()})
        pack = [f"--board={done.facts}", f"--isa={cores[core]['isa']}", f"--tree={_HERE}"]
        pack += [f"--plan={done.plan}", f"--pte={done.pte}", f"--vectors={done.vectors}"]
        pack += [f"--name={done.name}", f"--license={_HERE / 'LICENSE'}"]
        pack += [f"--flags_by_core={flags_by_core}", f"--output={packed}"]
        _run("tools.package.make_package", [*pack, done.source, done.header])
        if packed != output:
            with zipfile.ZipFile(packed) as archive:
                archive.extractall(output)
    click.echo(f"{output}: README.md there lists the files for each build system", err=True)


@main.command(epilog="Example: pilotlight report model.py --board=nucleo_h743zi -o report")
@_of_a_model
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="A folder.")
def report(output: Path, **given: Any) -> None:
    """Write a page about a model on a board: ops, memories, quality, and possible changes.

    The folder then holds the page, the same as Markdown and JSON, and the reports of lowering and
    planning. Instructions and code sizes need an image, built by Bazel.
    """
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as text:
        done = _planned(Path(text), **given)
        files = {
            "html": output / "report.html",
            "markdown": output / "report.md",
            "json": output / "report.json",
        }
        flags = [f"--board={done.facts}", f"--plan={done.plan}", f"--pte={done.pte}"]
        flags += [f"--{kind}={file}" for kind, file in files.items()]
        flags += [f"--library={file}" for file in sorted((_HERE / "page_libraries").iterdir())]
        _run("tools.report.plan_report", [*flags, f"--lowering={done.lowering}"])
        shutil.copy(done.lowering, output / "lowering.json")
        shutil.copy(done.plan, output / "plan.json")
    click.echo(f"{files['html']}", err=True)


@main.command()
def boards() -> None:
    """List the boards with core, NPU and memories."""
    for name, facts in _boards().items():
        memories = ", ".join(f"{m['name']} {m['size'] // 1024} KB" for m in facts["memories"])
        npu = ", ".join(engine.get("configuration", "") for engine in facts.get("engines", []))
        click.echo(f"{name:24} {facts['core']:20} {npu:16} {memories}")


@main.command(
    add_help_option=False,
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
)
@click.pass_context
def doctor(context: click.Context) -> None:
    """Show installed and missing tools; --clean lists and cleans the cache."""
    sys.exit(doctors.main(context.args))


@main.command(epilog='Example: eval "$(pilotlight completion bash)"')
@click.argument("shell", type=click.Choice(["bash", "fish", "zsh"]))
def completion(shell: str) -> None:
    """Print a shell script to complete commands, options and boards."""
    kind = get_completion_class(shell)
    assert kind is not None
    click.echo(kind(main, {}, "pilotlight", "_PILOTLIGHT_COMPLETE").source())


if __name__ == "__main__":
    main()
