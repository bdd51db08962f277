# SPDX-License-Identifier: Apache-2.0
"""The package of a model, built in a foreign build, computes the right results in QEMU. Its files
for other build systems list exactly the existing files.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ElementTree
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from tools.package.choose import ChoiceError, check_plan, choose, linked
from tools.python.runfile import runfile
from tools.simulator.elf import Elf

_GCC = Path("../arm_gnu_toolchain/bin/arm-none-eabi-gcc").resolve()
_AR = _GCC.with_name("arm-none-eabi-ar")
_ZIP = Path("boards/mps2_an385_app.package.zip")

# Zip, machine of QEMU and its RAM. They include a core without Thumb-2, float kernels, several
# inputs with names invalid in C, state, and two models.
_EVERY = [
    (_ZIP, "mps2-an385", "64K"),
    (Path("boards/microbit_app.package.zip"), "microbit", "16K"),
    (Path("tests/foreign/floats.package.zip"), "mps2-an385", "64K"),
    (Path("tests/foreign/several-ports.v2.package.zip"), "mps2-an385", "64K"),
    (Path("tests/foreign/state.package.zip"), "mps2-an385", "64K"),
    (Path("tests/foreign/wide_state.package.zip"), "mps2-an385", "64K"),
    (Path("tests/several/two_models.package.zip"), "mps2-an385", "64K"),
]

# A core with Thumb-2 and one without, and a name invalid in C.
_WITH_MAKE = [_EVERY[0], _EVERY[1], _EVERY[3]]

_START = """\
#include <stdint.h>
extern uint32_t stack_top[], data_load[], data_start[], data_end[], bss_start[], bss_end[];
int main(void);
static void exit_with(int status) {
  register uint32_t call __asm__("r0") = 0x20;  // SYS_EXIT_EXTENDED
  uint32_t block[] = {0x20026, (uint32_t)status};
  register uint32_t *argument __asm__("r1") = block;
  __asm__ volatile("bkpt 0xab" : : "r"(call), "r"(argument) : "memory");
}
void start(void) {
  for (uint32_t *to = data_start, *from = data_load; to < data_end; ++to, ++from) *to = *from;
  for (uint32_t *to = bss_start; to < bss_end; ++to) *to = 0;
  exit_with(main());
}
__attribute__((section(".vectors"), used)) static const void *const vectors[] = {
    stack_top, (const void *)start};
"""

_SCRIPT = """\
MEMORY { FLASH (rx) : ORIGIN = 0, LENGTH = 256K  RAM (rw) : ORIGIN = 0x20000000, LENGTH = RAM_SIZE }
ENTRY(start)
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } > FLASH
  .data : ALIGN(4) { data_start = .; *(.data*) . = ALIGN(4); data_end = .; } > RAM AT > FLASH
  data_load = LOADADDR(.data);
  .bss (NOLOAD) : ALIGN(4) { bss_start = .; *(.bss*) *(COMMON) . = ALIGN(4); bss_end = .; } > RAM
  stack_top = ORIGIN(RAM) + LENGTH(RAM);
}
"""


@dataclass(frozen=True)
class Board:
    """Runner of a package: a machine of QEMU, and the size of its RAM."""

    machine: str = "mps2-an385"
    ram: str = "64K"


_M3 = Board()


def extracted(path: Path, factory: pytest.TempPathFactory) -> Path:
    folder = factory.mktemp("package")
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    return folder


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return extracted(_ZIP, tmp_path_factory)


@pytest.fixture(scope="module", params=_EVERY, ids=lambda one: one[0].name)
def every(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Board]:
    path, machine, ram = request.param
    return extracted(path, tmp_path_factory), Board(machine, ram)


def name_of(package: Path) -> str:
    (description,) = package.glob("Pilotlight.*.pdsc")
    return description.name.split(".")[1]


def flags(package: Path) -> list[str]:
    return (package / "flags.txt").read_text().split()


def sources(package: Path) -> list[str]:
    return sorted(str(path.relative_to(package)) for path in package.glob("src/**/*.c"))


def run(package: Path, folder: Path, *more: str, board: Board = _M3) -> int:
    """Build the package with a start-up and a linker script of its own, and run it."""
    (folder / "start.c").write_text(_START)
    (folder / "foreign.ld").write_text(_SCRIPT.replace("RAM_SIZE", board.ram))
    program = folder / "program.elf"
    checks = sorted(path.stem for path in package.glob("src/*_check.h"))
    includes = "".join(f'#include "{check}.h"\n' for check in checks)
    calls = " || ".join(f"{check}() != 0" for check in checks)
    (folder / "main.c").write_text(f"{includes}int main(void) {{ return {calls}; }}\n")
    strict = ["-Wall", "-Wextra", "-Werror"]
    linking = ["-nostartfiles", "--specs=nano.specs", f"-T{folder / 'foreign.ld'}"]
    own = [str(folder / name) for name in ("start.c", "main.c")]
    command = [str(_GCC), *flags(package), *strict, "-Isrc", *own, *more, *linking]
    subprocess.run([*command, "-o", str(program)], cwd=package, check=True)
    arena = max((s for s in Elf(program).symbols if "arena" in s.name), key=lambda s: s.size)
    assert arena.address >= 0x20000000
    stored = [s for s in Elf(program).sections if s.allocated and s.stored and s.size]
    assert all(s.load < 0x20000000 and s.name != ".bss" for s in stored)
    qemu = runfile("qemu/qemu-system-arm")
    assert qemu is not None
    machine = ["-M", board.machine, "-nographic", "-semihosting-config", "enable=on"]
    return subprocess.run([qemu, *machine, "-kernel", program], timeout=60, check=False).returncode


def test_it_computes_what_it_has_to(every: tuple[Path, Board], tmp_path: Path) -> None:
    package, board = every
    assert run(package, tmp_path, *sources(package), board=board) == 0


def test_the_check_finds_a_wrong_weight(package: Path, tmp_path: Path) -> None:
    wrong = tmp_path / "package"
    shutil.copytree(package, wrong)
    plan = wrong / "src/boards/digits.plan.c"
    text = plan.read_text()
    first = re.search(r"(constant_2\[\d+\][^=]*=\s*\{)(-?\d+)", text)
    assert first
    changed = f"{first[1]}{-int(first[2]) or 99}"
    plan.write_text(text.replace(first[0], changed))
    assert run(wrong, tmp_path, *sources(wrong)) != 0


@pytest.mark.skipif(shutil.which("make") is None, reason="this machine has no make")
@pytest.mark.parametrize("every", _WITH_MAKE, ids=lambda one: one[0].name, indirect=True)
def test_the_makefile(every: tuple[Path, Board], tmp_path: Path) -> None:
    package, board = every
    build = tmp_path / "build"
    subprocess.run(
        ["make", "-s", f"CC={_GCC}", f"AR={_AR}", f"BUILD={build}"], cwd=package, check=True
    )
    library = build / f"lib{name_of(package)}.a"
    assert run(package, tmp_path, str(library), board=board) == 0


@pytest.mark.skipif(shutil.which("cmake") is None, reason="this machine has no CMake")
def test_cmake(package: Path, tmp_path: Path) -> None:
    build = tmp_path / "build"
    options = {
        "CMAKE_SYSTEM_NAME": "Generic",
        "CMAKE_C_COMPILER": str(_GCC),
        "CMAKE_AR": str(_AR),
        "CMAKE_TRY_COMPILE_TARGET_TYPE": "STATIC_LIBRARY",
        "CMAKE_C_FLAGS": " ".join(flags(package)),
    }
    given = [f"-D{name}={value}" for name, value in options.items()]
    command = ["cmake", "-G", "Unix Makefiles", "-S", str(package), "-B", str(build)]
    subprocess.run([*command, *given], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", build], check=True, stdout=subprocess.DEVNULL)
    assert run(package, tmp_path, str(build / "libdigits.a")) == 0


def test_other_build_files_name_what_is_there(every: tuple[Path, Board]) -> None:
    package, _ = every
    name = name_of(package)
    assert re.fullmatch(r"[A-Za-z]\w*", name, re.ASCII)
    every_source = sources(package)
    module = dict(
        re.findall(r"^ *(\w+): (\S+)$", (package / "zephyr/module.yml").read_text(), re.M)
    )
    assert module.keys() == {"name", "cmake", "kconfig"} and module["name"] == name
    assert (package / module["cmake"] / "CMakeLists.txt").exists()
    assert (package / module["kconfig"]).read_text().startswith(f"config {name.upper()}\n")
    zephyr = (package / "zephyr/CMakeLists.txt").read_text()
    assert sorted(re.findall(r"\.\./(src/\S+\.c)", zephyr)) == every_source
    pack = ElementTree.parse(package / f"Pilotlight.{name}.pdsc").getroot()
    files = {(f.get("category"), f.get("name")) for f in pack.iter("file")}
    assert sorted(name for kind, name in files if kind == "sourceC" and name) == every_source
    assert all((package / str(name)).exists() for _, name in files)
    library = json.loads((package / "library.json").read_text())
    (example,) = library["examples"]
    assert all((package / example["base"] / name).exists() for name in example["files"])
    lines = (package / "library.properties").read_text().splitlines()
    properties = dict(line.split("=", 1) for line in lines)
    includes = properties["includes"].split(",")
    assert sorted(includes) == sorted(path.name for path in package.glob("src/*_check.h"))
    program = (package / "example_main.c").read_text()
    sketch = (package / "examples/check/check.ino").read_text()
    assert all(f'"{one}"' in program and f"<{one}>" in sketch for one in includes)
    needed = {"name", "version", "author", "maintainer", "sentence", "paragraph", "category"}
    assert needed <= properties.keys()


@pytest.mark.parametrize("path", [one[0] for one in _EVERY], ids=lambda path: path.name)
def test_nothing_in_it_is_of_this_machine_or_this_day(path: Path) -> None:
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        texts = {entry.filename: archive.read(entry).decode() for entry in entries}
    assert [entry.filename for entry in entries] == sorted(texts)
    assert {(entry.date_time, entry.external_attr >> 16) for entry in entries} == {
        ((1980, 1, 1, 0, 0, 0), 0o644)
    }
    ours = ("bazel-out", "execroot", f"{Path.home()}/", f"{Path.cwd()}/")
    assert not [name for name, text in texts.items() if any(one in text for one in ours)]
    core = "cortex-m0" if "microbit" in path.name else "cortex-m3"
    assert {"-std=c11", "-mthumb", f"-mcpu={core}"} <= set(texts["flags.txt"].split())


def test_only_the_kernels_that_are_called_are_in_it(package: Path) -> None:
    folders = {path.parts[2] for path in map(Path, sources(package)) if path.parts[1] == "kernels"}
    assert folders == {"common", "conv2d", "linear", "max_pool2d"}


def test_a_model_on_an_engine_is_refused_whatever_else_is_linked() -> None:
    on_cpu = {"id": "0", "module": "conv"}
    check_plan({"steps": [on_cpu]})
    with pytest.raises(ChoiceError, match=r"op 1, head, runs on an NPU, .* a board without one"):
        check_plan({"steps": [on_cpu, {"id": "1", "module": "head", "delegate": {}}]})


def test_a_missing_source_is_named(tmp_path: Path) -> None:
    head = "Archive member included to satisfy reference by file (symbol)\n\n"
    member = "bazel-out/x/bin/firmware/runtime/libdelegate.a(delegate.o)\n"
    assert linked(head + member) == {"firmware/runtime/delegate"}
    plan = tmp_path / "net.plan.c"
    plan.write_text('#include "gone.h"\n')
    sources, own = {"net.plan.c": plan}, {"net.plan"}
    with pytest.raises(ChoiceError, match=r"kernels/a/a_s8.*: the source is unknown"):
        choose(sources, own | {"kernels/a/a_s8"}, ["net"])
    with pytest.raises(ChoiceError, match=r"net.plan.c includes gone.h, which is not a source"):
        choose(sources, own, ["net"])
    plan.write_text("")
    with pytest.raises(ChoiceError, match="the program does not contain the plan other"):
        choose(sources, own, ["net", "other"])
