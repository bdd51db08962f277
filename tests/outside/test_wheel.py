# SPDX-License-Identifier: Apache-2.0
"""The wheel works without Bazel, next to a project with the same folder names as ours."""

import json
import os
import re
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.outside.wheel import MODEL, call, run_check
from tools.lint.workspace import workspace_root
from tools.python.runfile import runfile
from tools.version import VERSION
from tools.wheel.make import ROOMS, built_files, imported, make_wheel

ROOT = workspace_root()
_REQUIREMENTS = ROOT / "tools/python/requirements.in"

# pip's name of a package, where it is imported by another one.
_IMPORTED_AS = {
    "absl-py": "absl",
    "ethos-u-vela": "ethosu",
    "protobuf": "google",
    "pyelftools": "elftools",
    "tosa-tools": "tosa",
}

_MODEL = f"import kernels.mine\nimport tools.mine\n{MODEL}"


def _pip(*arguments: str) -> None:
    command = [sys.executable, "-m", "pip", *arguments]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_wheel(ROOT, built_files(), tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment with the wheel. It finds the wheel's dependencies in this one."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python3.*/site-packages")
    # click is a package of tests: @python_checks.
    here = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "these.pth").write_text("".join(f"{path}\n" for path in here))
    offline = ["--no-compile", "--no-deps", "--no-index"]
    _pip(f"--python={folder}/bin/python3", "install", *offline, str(wheel))
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A user's project."""
    for folder in (*ROOMS, "tests"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "__init__.py").touch()
        (tmp_path / folder / "mine.py").write_text("WEIGHT = 1\n")
    (tmp_path / "model.py").write_text(_MODEL)
    (tmp_path / "calendar.py").write_text("raise ImportError('in place of the standard library')\n")
    return tmp_path


def test_wheel_has_one_name_no_tests_and_asks_for_what_it_imports(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        modules = {n: archive.read(n) for n in names if n.endswith(".py")}
    assert {n.split("/")[0] for n in names} == {"pilotlight", f"pilotlight-{VERSION}.dist-info"}
    assert [n for n in modules if re.search(r"(^|/)(test_|testing|cases|conftest)", n)] == []
    found = {name for text in modules.values() for name in imported(text)}
    roots = {name.split(".")[0] for name in found} - set(sys.stdlib_module_names)
    foreign = roots - {"pilotlight"}
    assert foreign.isdisjoint(ROOMS)
    asked = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    names = [re.split("[=<>]", item)[0] for item in asked]
    # `python.runfiles` is Bazel's.
    optional = {"eiq_neutron_sdk", "python", "tosa_reference_model", "tosa_serializer"}
    assert {_IMPORTED_AS.get(name, name) for name in names} | optional == foreign | optional
    pinned = re.findall(r"^([\w-]+)==([\d.]+)", _REQUIREMENTS.read_text(), re.MULTILINE)
    ranges = {wanted.name: wanted.specifier for wanted in map(Requirement, asked)}
    assert [pin for pin in pinned if not ranges[pin[0]] or pin[1] not in ranges[pin[0]]] == []


def test_same_bytes(wheel: Path, tmp_path: Path) -> None:
    again = make_wheel(ROOT, built_files(), tmp_path)
    assert again.name == wheel.name and again.read_bytes() == wheel.read_bytes()


def test_lower_for_an_npu_and_plan(environment: Path, project: Path) -> None:
    flags = ["--model=model.py:factory", "--calibration=model.py:calibration", "--output=net.pte"]
    flags += ["--target=ethos-u55-128", "--report=net.json"]
    call(environment, project, "pilotlight", "lower", *flags)
    assert "EthosUBackend" in (project / "net.json").read_text()
    flags = ["--pte=net.pte", "--name=net", "--source=n.c"]
    for board in (["--board=corstone300_ethos_u55"], ["--board", "corstone300_ethos_u55"]):
        call(environment, project, "pilotlight", "plan", *flags, *board)
        assert "EthosUBackend" in (project / "n.c").read_text()
        (project / "n.c").unlink()


def test_package_builds_and_runs_on_the_host(environment: Path, project: Path) -> None:
    command = ["package", "model.py", "--board=mps2_an385", "--optimize=memory", "-o", "out"]
    call(environment, project, "pilotlight", *command)
    run_check(project)


def test_progress_bar_on_a_terminal(environment: Path, project: Path) -> None:
    command = ["package", "model.py", "--board=mps2_an385", "-o", "out"]
    terminal, end = os.openpty()
    environ = {"HOME": str(project), "PATH": "/usr/bin:/bin"}
    with subprocess.Popen(
        [environment / "bin/pilotlight", *command], cwd=project, stderr=end, env=environ
    ) as process:
        os.close(end)
        shown = b""
        while part := _read_terminal(terminal):
            shown += part
    os.close(terminal)
    assert process.returncode == 0, shown
    text = shown.decode()
    assert re.search(r"\[#{8}-{16}\] 2/3 planning for mps2_an385", text)
    assert "1/3 exporting" in text and "] exporting" not in text
    # A warning stays.
    assert re.search(r"^.*W\d{4} .* looks like torch.randn .*\r\n", text, re.MULTILINE)


def _read_terminal(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the program has ended
        return b""


def test_report_is_one_page(environment: Path, project: Path) -> None:
    command = ["report", "model.py", "--board=corstone300_ethos_u55", "-o", "out"]
    call(environment, project, "pilotlight", *command, "--target=ethos-u55-128")
    page = (project / "out/report.html").read_text()
    assert "dagre" in page and "corstone300_ethos_u55" in page
    report = json.loads((project / "out/report.json").read_text())
    assert report["models"][0]["delegates"]
    plan = json.loads((project / "out/plan.json").read_text())
    (memory,) = [m for m in report["memories"] if m["name"] == plan["weights"]["memory"]]
    assert memory["used"] >= plan["weights"]["bytes"] > 0


def _path(*programs: str) -> str:
    """Return a PATH with programs of the build."""
    folders = [found.resolve().parent for found in map(runfile, programs) if found]
    assert len(folders) == len(programs)
    return ":".join(map(str, [*folders, "/usr/bin", "/bin"]))


_GCC, _QEMU = "arm_gnu_toolchain/bin/arm-none-eabi-gcc", "qemu/qemu-system-arm"


# One for each start-up code, and one whose chip needs preparation.
@pytest.mark.parametrize("board", ["microbit", "lm3s6965evb", "mps2_an505", "corstone300"])
def test_report_counts_with_compiler_and_qemu(environment: Path, project: Path, board: str) -> None:
    command = ["report", "model.py", f"--board={board}", "-o", "out"]
    call(environment, project, "pilotlight", *command, PATH=_path(_GCC, _QEMU))
    report = json.loads((project / "out/report.json").read_text())
    assert report["not_counted"] == ""
    assert report["device"]["equal"] == report["device"]["vectors"] > 0
    (model,) = report["models"]
    steps = [step["instructions"] for step in model["steps"]]
    assert all(steps) and sum(steps) <= report["instructions"] <= 1.1 * sum(steps)
    kinds = {symbol["kind"] for symbol in report["symbols"]}
    assert {"kernels", "plan", "program", "runtime", "weights"} <= kinds
    assert report["stack"]["bound"] <= report["stack"]["size"]
    assert (project / "out/trace.json").exists()


def test_report_says_what_it_lacks_for_instructions(environment: Path, project: Path) -> None:
    command = ["report", "model.py", "--board=mps2_an385", "-o", "out"]
    lacking = call(environment, project, "pilotlight", *command, PATH=_path(_QEMU))
    assert "not on PATH: arm-none-eabi-gcc, arm-none-eabi-objdump\n" in lacking
    assert (project / "out/report.html").exists()


@pytest.mark.parametrize("shell", ["bash", "fish", "zsh"])
def test_completion(environment: Path, project: Path, shell: str) -> None:
    text = call(environment, project, "pilotlight", "completion", shell)
    assert "_PILOTLIGHT_COMPLETE" in text


def test_boards_complete(environment: Path, project: Path) -> None:
    text = call(
        environment,
        project,
        "pilotlight",
        _PILOTLIGHT_COMPLETE="bash_complete",
        COMP_WORDS="pilotlight package --board nucleo_h",
        COMP_CWORD="3",
    )
    assert text == "plain,nucleo_h743zi\n"


def test_import_is_quick_and_gives_lower(environment: Path, project: Path) -> None:
    text = "import sys, pilotlight; assert 'torch' not in sys.modules; print(pilotlight.lower)"
    assert "function lower" in call(environment, project, "python3", "-Pc", text)


@pytest.mark.parametrize("command", ["completion", "doctor", "ops", "package", "plan", "report"])
def test_commands_explain_themselves(environment: Path, project: Path, command: str) -> None:
    assert "--" in call(environment, project, "pilotlight", command, "--help")


def test_boards_and_doctor(environment: Path, project: Path) -> None:
    boards = call(environment, project, "pilotlight", "boards")
    assert re.search(r"^nucleo_h743zi +cortex-m7 ", boards, re.MULTILINE)
    text = call(environment, project, "pilotlight", "doctor", PILOTLIGHT_QEMU="/opt/qemu")
    assert text.startswith(f"pilotlight {VERSION}, wheel\n")
    assert "torch  " in text and "/opt/qemu" in text and "PILOTLIGHT_GDB " in text
    assert "nothing to remove" in call(environment, project, "pilotlight", "doctor", "--clean")


def test_wrong_arguments_end_in_a_line(environment: Path, project: Path) -> None:
    command = ["pilotlight", "package", "model.py", "--board=mine", "-o", "out"]
    assert "'mine'; `pilotlight boards` lists them" in call(
        environment, project, *command, status=2
    )
    for flags in (["--model=model.py:factory"], ["--tflite=none.tflite"]):
        command = ["pilotlight", "lower", "--output=x.pte", *flags]
        assert "ERROR: " in call(environment, project, *command, status=2)
    (project / "model.py").write_text("def factory():\n    return None\n")
    command = ["pilotlight", "package", "model.py", "--board=pico", "-o", "out"]
    assert "ERROR: " in call(environment, project, *command, status=1)
