# SPDX-License-Identifier: Apache-2.0
"""Find the settings of a model with the best quality under limits of time and memory.

    bazel run //tools:fit -- --model=net.py:Net --calibration=net.py:data \\
        --board=//boards/nucleo_l476rg --max_ms=20 --max_flash=200KB --max_ram=40KB \\
        --min_metric=0.97 --json=fit.json --page=fit.html

Held-out data, with labels or a metric, are those of //aot:lower. Exit status: 0; 3 if nothing fits.
"""

from __future__ import annotations

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

import json
import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

with imports_that_stay():
    import torch
    from absl import app, flags, logging

    from aot import measure_flags
    from aot.accept.inputs import first_sample
    from aot.accept.references import function
    from aot.errors import LoweringError
    from aot.lower import Lowered, lower
    from aot.options import Io, Quantize
    from aot.passes.rewrite.io_layouts import AUTO
    from aot.plan.load import load_modules
    from boards.board import BoardError, load_board
    from measure.fit.cost import FitCosts
    from measure.fit.results import ABOUT, as_json, as_page, as_text, to_paste
    from measure.fit.search import FitLimits, Search
    from tools.text.progress import clear

_MODEL = flags.DEFINE_string("model", None, "pkg.module:factory or net.py:Net", required=True)
_CALIBRATION = flags.DEFINE_string(
    "calibration", None, "calibration data, pkg.module:function", required=True
)
_BOARD = flags.DEFINE_string(
    "board", None, "the board: //boards/<name>, or the path of a board.json", required=True
)
_CLOCK = flags.DEFINE_float("clock_mhz", None, "clock of the core, if not the board's timer")
_MAX_MS = flags.DEFINE_float("max_ms", None, "most milliseconds of an inference, estimated")
_MAX_FLASH = flags.DEFINE_string("max_flash", None, "most bytes of the model's constants, or 200KB")
_MAX_RAM = flags.DEFINE_string("max_ram", None, "most bytes of its arena, or 40KB")
_LOWERINGS = flags.DEFINE_integer("lowerings", 30, "most lowerings", lower_bound=1)
_OPTIMIZE = flags.DEFINE_enum("optimize", "speed", ["speed", "memory"], "as of plan_library")
_JSON = flags.DEFINE_string("json", None, "file for all trials")
_PAGE = flags.DEFINE_string("page", None, "file for a page with the table")

flags.adopt_module_key_flags(measure_flags)

STATUS_NOTHING_FITS = 3
_TAKEN = ("evaluation", "metric", "min_metric")
_UNITS = {"": 1, "B": 1, "KB": 1024, "MB": 1024**2}


def size(text: str | None) -> int | None:
    """Return bytes of "40KB", or of a number.

    Raises:
      LoweringError: it is no size.
    """
    if text is None:
        return None
    found = re.fullmatch(r"([0-9.]+) ?(|B|KB|MB)", text)
    if found is None:
        raise LoweringError(f"{text!r} is no size: give bytes, or a number with KB or MB.")
    return int(float(found[1]) * _UNITS[found[2]])


def _path(name: str) -> Path:
    return Path(os.environ.get("BUILD_WORKING_DIRECTORY", ".")) / name


def _board_file(name: str) -> Path:
    """Return the file of a board, given by its label or by the file itself."""
    if not name.startswith("//"):
        return _path(name)
    package, _, target = name.removeprefix("//").partition(":")
    return Path(package) / f"{target or Path(package).name}.data.json"


def run() -> int:
    torch.set_num_threads(1)
    if not flags.FLAGS["verbosity"].present:
        logging.set_verbosity(logging.ERROR)  # each lowering warns of the same
    others = [f.name for f in flags.FLAGS.get_key_flags_for_module(measure_flags) if f.present]
    if others := [name for name in others if name not in _TAKEN]:
        raise LoweringError(f"--{', --'.join(others)}: no use here; give --min_metric")
    limits = FitLimits(
        max_ms=_MAX_MS.value,
        max_flash=size(_MAX_FLASH.value),
        max_ram=size(_MAX_RAM.value),
        min_metric=flags.FLAGS.min_metric,
    )
    load_modules()
    board = load_board(_board_file(_BOARD.value))
    clock = board.timer.clock_hz if board.timer is not None else 0
    clock = round(_CLOCK.value * 1e6) if _CLOCK.value else clock
    if limits.max_ms is not None and not clock:
        raise LoweringError(f"--max_ms needs --clock_mhz: the clock of {board.name} is not known.")
    first, data = first_sample(function(_CALIBRATION.value)(), _CALIBRATION.value)
    samples = list(data)
    asked = measure_flags.without_limits(measure_flags.evaluation(_MODEL.value))
    model = function(_MODEL.value)()

    def lower_so(quantize: Quantize) -> Lowered:
        return lower(
            model,
            first,
            calibration=samples,
            quantize=quantize,
            io=Io(io_layout=AUTO),
            measure=asked,
        )

    search = Search(lower_so, FitCosts(board, clock, _OPTIMIZE.value), limits, _LOWERINGS.value)
    chosen, front = search.run(Quantize()), search.front()
    clear()
    for quantize, reason in search.refused:
        print(f"refused: {to_paste(quantize)}: {reason.splitlines()[0]}", file=sys.stderr)
    print(as_text(front, chosen))
    print(ABOUT)
    title = f"{_MODEL.value} on {board.name}"
    if _JSON.value:
        found = as_json(search.trials, front, chosen, limits)
        _path(_JSON.value).write_text(json.dumps(found, indent=1) + "\n")
    if _PAGE.value:
        _path(_PAGE.value).write_text(as_page(title, front, chosen, limits))
    if chosen is None:
        print(f"nothing of {len(search.trials)} lowerings keeps the limits", file=sys.stderr)
        return STATUS_NOTHING_FITS
    print(f"\nbest that fits: {to_paste(chosen.quantize)}")
    return 0


def main(argv: Sequence[str]) -> int:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected argument {argv[1]!r}")
    try:
        return run()
    except (LoweringError, BoardError) as error:
        print(f"ERROR: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    run_main(main)
