# SPDX-License-Identifier: Apache-2.0
"""C samples of pages compile against the real headers, without a warning.

A line `...` separates declarations from statements of a function. A sample without this line has
only declarations if it begins with one of a function or variable, else only statements. PLACES
declares the parts that a sample leaves to the reader, and no others.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from aot.plan.emit_header import header as plan_header
from aot.plan.plan import make_plan
from aot.plan.pte import read_program
from aot.plan.testing import Network, export_pte, sample_board
from aot.slot.kernel_table import header as kernels_header
from boards.board import Timer
from boards.irq_numbers import irqs_header
from tests.docs.samples import by_page
from tools.lint.workspace import workspace_root

_ROOT = workspace_root()
_OPTIONS = ("-std=gnu11", "-fsyntax-only", "-Wall", "-Wextra", "-Werror")
_DECLARATION = re.compile(r"#include|static |PL_\w+(?: |\()|int main\(")


@dataclass(frozen=True)
class Place:
    """Surroundings of a sample.

    Attributes:
      headers: included before it.
      outside: declarations before it.
      inside: declarations at the start of its function.
      unused: variables whose use is left to the reader.
    """

    headers: tuple[str, ...] = ()
    outside: str = ""
    inside: str = ""
    unused: tuple[str, ...] = ()


_MODEL = "firmware/runtime/model.h"

# By page, in the order of its samples.
PLACES: dict[str, list[Place]] = {
    "docs/device_code.md": [Place(outside="void read_the_sensor(void);")],
    "docs/ethos_u_firmware.md": [
        Place(
            (_MODEL, "firmware/ethos_u/this_npu.h", "boards/common/print.h"),
            "extern const pl_plan plan;",
            unused=("status",),
        ),
        Place(
            ("firmware/runtime/split.h",),
            "void read_the_next_frame(void);",
            "pl_model model; pl_tensor input, output;",
        ),
        Place(
            ("npu/ethos_u/model/model_device.h", "firmware/ethos_u/driver/this_board.h"),
            inside="ethos_u_model_device model; static uint8_t workspace[8192];"
            "ethos_u_driver driver; ethos_u_device *device; ethos_u_payload payload;"
            "ethos_u_scratch scratch = {0};"
            "const uint8_t *data = NULL; uint32_t size = 0; const void *inputs[1] = {NULL};"
            "void *outputs[1] = {NULL};",
        ),
    ],
    "docs/memory.md": [
        Place(
            (_MODEL,),
            "int camera_line(void *user, uint32_t row, void *to);",
            "pl_status status; pl_model model; pl_tensor output; int camera = 0;",
            unused=("status",),
        )
    ],
    "docs/neutron.md": [
        Place(
            (_MODEL, "firmware/neutron/engine.h", "boards/common/print.h"),
            "extern const pl_plan plan;",
            "pl_model model;",
            unused=("status",),
        )
    ],
    "docs/tflite.md": [
        Place((_MODEL,), inside="pl_tensor input; const uint8_t *bytes = NULL; size_t size = 0;")
    ],
    "docs/tutorials/your_model.md": [
        Place(
            ("boards/common/print.h",),
            "enum { AXES = 3, WINDOW = 64, WINDOWS = 6 };"
            "int32_t read_sensor(uint32_t time, uint32_t axis);",
        )
    ],
    "docs/updates.md": [
        Place(
            ("firmware/slot/slot.h", _MODEL, "my_kernels.h"),
            "#define PL_PUBLIC_KEY {0}\nextern const uint8_t my_flash[];"
            "bool my_erase(void *user, uint32_t offset); void start_watchdog(void);"
            "bool my_program(void *user, uint32_t offset, const uint8_t *data);",
            "pl_status status; pl_model model;",
            unused=("status",),
        )
    ],
    "docs/your_own_app.md": [
        Place(
            (_MODEL, "firmware/runtime/values.h", "digits_plan.h"),
            inside="float pixels[64] = {0};",
        ),
        Place(
            ("motion_plan.h", _MODEL), inside="pl_tensor input; int time = 0, axis = 0, value = 0;"
        ),
        Place(
            (_MODEL,),
            inside="pl_status status; pl_model first, second; pl_tensor input, between, output;",
        ),
    ],
    "kernels/README.md": [Place(("kernels/lut/lut.h",))],
}


def _plan(name: str, shape: tuple[int, ...]) -> str:
    """Return the header of a plan with an input of this shape."""
    network = Network()
    program = read_program(export_pte(network, [network.example()]))
    plan = make_plan(program, sample_board(), "speed")
    port = replace(program.inputs[0], shape=shape, layout="nlc" if len(shape) == 3 else "row_major")
    return plan_header(
        replace(plan, graph=replace(plan.graph, program=replace(program, inputs=(port,)))), name
    )


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the headers that a build generates."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "boards").mkdir()
    board = replace(sample_board(), irqs={"TIMER0": 8}, timer=Timer(0, 1_000_000, "TIMER0"))
    (folder / "boards" / "irqs.h").write_text(irqs_header(board))
    (folder / "digits_plan.h").write_text(_plan("digits_plan", (1, 64)))
    (folder / "motion_plan.h").write_text(_plan("motion_plan", (1, 64, 3)))
    io: dict[str, list[object]] = {"inputs": [], "outputs": []}
    (folder / "my_kernels.h").write_text(kernels_header("my_kernels", {"digits": io}))
    return folder


def _program(sample: str, place: Place) -> str:
    """Return the C file of a sample in its surroundings."""
    outside, split, inside = sample.partition("\n...\n")
    if not split and not _DECLARATION.match(sample):
        outside, inside = "", sample
    unused = "".join(f"(void){name};\n" for name in place.unused)
    return (
        "".join(f'#include "{header}"\n' for header in place.headers)
        + f"{place.outside}\n{outside}\nint sample(void);\nint sample(void) {{\n"
        + f"{place.inside}\n{inside}\n{unused}return 0;\n}}\n"
    )


def _errors(code: str, generated: Path) -> str:
    folders = (f"-I{_ROOT}", f"-I{generated}", f"-I{_ROOT}/firmware/neutron/interface")
    command = [os.environ.get("CC", "gcc"), *_OPTIONS, *folders, "-xc", "-"]
    return subprocess.run(command, input=code, capture_output=True, text=True).stderr


_SAMPLES = [
    pytest.param(page, index, text, id=f"{page}-{index}")
    for page, texts in sorted(by_page("c").items())
    for index, text in enumerate(texts)
]


@pytest.mark.parametrize(("page", "index", "text"), _SAMPLES)
def test_a_sample_compiles(page: str, index: int, text: str, generated: Path) -> None:
    assert _errors(_program(text, PLACES[page][index]), generated) == ""


def test_each_place_has_a_sample() -> None:
    counts = {page: len(places) for page, places in PLACES.items()}
    assert counts == {page: len(texts) for page, texts in by_page("c").items()}


def _renamed(text: str) -> str:
    return re.sub(r"\b(pl|ethos_u|neutron)_\w+(?=\()", r"\g<0>_x", text)


def _one_argument_more(text: str) -> str:
    return re.sub(r"\bpl_model_run\(", "pl_model_run(0, ", text)


@pytest.mark.parametrize("change", [_renamed, _one_argument_more])
def test_a_wrong_call_is_found(change: Callable[[str], str], generated: Path) -> None:
    page = "docs/your_own_app.md"
    text, *_ = by_page("c")[page]
    assert _errors(_program(change(text), PLACES[page][0]), generated)
