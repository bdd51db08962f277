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
from tools.wheel import image
from tools.wheel.steps import WheelSteps, end_if_failed, program, steps

_HERE = Path(__file__).parents[2]

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
        end_if_failed(subprocess.run(program(module, _with_board_files(context.args))).returncode)


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
    step: WheelSteps,
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
        lowering=folder / f"{name}.report.json",
        plan=folder / f"{name}.json",
        source=folder / f"{name}.plan.c",
        header=folder / f"{name}.h",
    )
    program = f"--program={folder / 'model.program'}"
    lower = [f"--{model.suffix.lstrip('.')}={model}"]
    if model.suffix not in (".onnx", ".tflite"):
        lower = [f"--model={model}:factory", f"--calibration={model}:calibration"]
        lower += [f"--quantization={quantization}"]
    lower += [f"--target={target}", f"--output={done.pte}", f"--report={done.lowering}", program]
    step.begin(f"lowering {model}")
    step.run("aot.lower_main", [*lower, f"--vectors={done.vectors}"])
    compile_ = [f"--pte={done.pte}", program, f"--board={done.facts}", f"--name={name}"]
    compile_ += [f"--optimize={optimize}", "--share"]
    compile_ += [f"--source={done.source}", f"--header={done.header}", f"--json={done.plan}"]
    step.begin(f"planning for {board}")
    step.run("aot.plan.compile", compile_)
    return done


def _core(done: _Planned) -> dict[str, Any]:
    """Return the facts of the board's core."""
    cores = json.loads((_HERE / "cores.json").read_text())
    return dict(cores[json.loads(done.facts.read_text())["core"]])


def _pack(step: WheelSteps, done: _Planned, output: Path) -> None:
    """Write a model's library to a folder or a .zip."""
    cores = json.loads((_HERE / "cores.json").read_text())
    packed = output if output.suffix == ".zip" else done.pte.with_name("package.zip")
    flags_by_core = json.dumps({core: facts["flags"] for core, facts in cores.items()})
    pack = [f"--board={done.facts}", f"--isa={_core(done)['isa']}", f"--tree={_HERE}"]
    pack += [f"--plan={done.plan}", f"--pte={done.pte}", f"--vectors={done.vectors}"]
    pack += [f"--name={done.name}", f"--license={_HERE / 'LICENSE'}"]
    pack += [f"--flags_by_core={flags_by_core}", f"--output={packed}"]
    step.run("tools.package.make_package", [*pack, done.source, done.header])
    if packed != output:
        with zipfile.ZipFile(packed) as archive:
            archive.extractall(output)


@main.command(epilog="Example: pilotlight package model.py --board=nucleo_h743zi -o firmware")
@_of_a_model
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), required=True, help="A folder, or a .zip."
)
def package(output: Path, **given: Any) -> None:
    """Make a library of a model for CMake, Zephyr, Arduino, PlatformIO or a CMSIS-Pack.

    MODEL is a Python file with `factory()` and `calibration()`, or a quantized .tflite or .onnx
    file. The library holds the model's plan, its kernels, the runtime, and a check of the model on
    the device.
    """
    with tempfile.TemporaryDirectory() as folder, steps(3) as step:
        done = _planned(step, Path(folder), **given)
        step.begin(f"packing {done.name}")
        _pack(step, done, output)
    click.echo(f"{output}: README.md there lists the files for each build system", err=True)


def _measured(step: WheelSteps, done: _Planned, folder: Path) -> list[str]:
    """Make the model's image and count its instructions; return the flags for the page.

    Raises:
      NoImageError: there is no image on this machine.
    """
    facts, plan = json.loads(done.facts.read_text()), json.loads(done.plan.read_text())
    programs = image.find_programs(_HERE, facts, plan)
    step.begin(f"linking for {facts['name']} and running in QEMU")
    _pack(step, done, folder / "package")
    vectors, script = folder / "vectors.c", folder / "board.ld"
    flags = [f"--vectors={done.vectors}", f"--plan={done.plan}", f"--include={done.header.name}"]
    step.run(
        "firmware.apps.vectors_main", [*flags, f"--limit={image.VECTORS}", f"--source={vectors}"]
    )
    step.run("boards.common.linker_script", [done.facts, script])
    core, packed = _core(done), folder / "package"
    maps = image.link(_HERE, programs, facts, core, packed, vectors, script, folder)
    elfs = {name: folder / name / f"{done.name}.elf" for name in maps}
    for name, elf in elfs.items():
        elf.parent.mkdir()
        step.run("tools.image.fit", [done.facts, folder / f"{name}.linked.elf", maps[name], elf])
    board, size = f"--board={done.facts}", f"--size={folder / 'size.json'}"
    counted = folder / "counted.json"
    flags = [f"--elf={elfs['image']}", f"--map={maps['image']}"]
    flags += [f"--objdump={programs.objdump}", f"--output={folder / 'size.json'}"]
    step.run("tools.image.size_report", [board, *flags])
    flags = [f"--plan={done.plan}", f"--marked={elfs['marked']}", f"--output={counted}"]
    flags += [f"--tools={programs.qemu}", f"--tools={programs.plugin}"]
    step.run("tools.report.profile", [board, size, *flags, elfs["image"]])
    return [size, f"--counted={counted}"]


@main.command(epilog="Example: pilotlight report model.py --board=corstone300 -o report")
@_of_a_model
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="A folder.")
def report(output: Path, **given: Any) -> None:
    """Write a page about a model on a board: ops, memories, quality, and possible changes.

    The folder then holds the page, the same as Markdown and JSON, and the reports of lowering and
    planning. With arm-none-eabi-gcc and qemu-system-arm on PATH, and a board that QEMU simulates,
    the page has instructions and code sizes too.
    """
    output.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as text, steps(4) as step:
        done = _planned(step, Path(text), **given)
        files = {
            "html": output / "report.html",
            "markdown": output / "report.md",
            "json": output / "report.json",
        }
        flags = [f"--board={done.facts}", f"--plan={done.plan}", f"--pte={done.pte}"]
        flags += [f"--{kind}={file}" for kind, file in files.items()]
        flags += [f"--library={file}" for file in sorted((_HERE / "page_libraries").iterdir())]
        flags.append(f"--lowering={done.lowering}")
        writer = "tools.report.make_report"
        try:
            flags += [*_measured(step, done, Path(text)), f"--trace={output / 'trace.json'}"]
        except image.NoImageError as error:
            step.say(f"no instructions and code sizes: {error}")
            writer = "tools.report.plan_report"
        step.begin("writing the page")
        step.run(writer, flags)
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
