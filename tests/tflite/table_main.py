# SPDX-License-Identifier: Apache-2.0
"""Print the sizes of models here and with TFLite Micro: the table of docs/tflite.md.

tools/bazel run //tests/tflite:table [-- --tflite=a.tflite,b.tflite]
"""

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

import os
from pathlib import Path

with imports_that_stay():
    import torch
    from absl import app, flags
    from tflite_micro.python.tflite_micro import runtime

    from aot.lower_tflite import lower_tflite, random_inputs
    from aot.plan.plan import make_plan
    from aot.plan.pte import read_program
    from aot.plan.testing import sample_board
    from kernels.common.kernel import Isa
    from measure.tflite.tflm import ARENA_BYTES, arena_of_tflm, exported_network
    from tools.text.table import table

_FILES = flags.DEFINE_list("tflite", [], "Files; without them the networks of MLPerf Tiny.")
_NETWORKS = ("ds_cnn", "mobilenet_v1", "resnet8", "deep_autoencoder")
_SAMPLES = 4
_ISAS: tuple[Isa, ...] = ("dsp", "mve")


def different_values(data: bytes) -> str:
    """Return the number of output values that differ from TFLite Micro's, for a few
    random inputs.
    """
    lowered = lower_tflite(data)
    interpreter = runtime.Interpreter.from_bytes(data, arena_size=ARENA_BYTES)
    count = different = 0
    for sample in random_inputs(lowered, _SAMPLES):
        for index, x in enumerate(sample):
            interpreter.set_input(x.numpy(), index)
        interpreter.invoke()
        for index, y in enumerate(lowered.reference(sample)):
            different += int((y.numpy() != interpreter.get_output(index)).sum())
            count += y.numel()
    return f"{different} of {count:,}"


def row(name: str, data: bytes) -> tuple[str, ...]:
    """Return a model's line."""
    program = read_program(lower_tflite(data).pte)
    boards = [sample_board(arena=(1 << 24,), weights=1 << 24, isa=isa) for isa in _ISAS]
    plans = [make_plan(program, board) for board in boards]
    small = make_plan(program, boards[0], "memory")
    constants = [sum(c.array.nbytes for c in plan.constants) for plan in plans]
    return (
        name,
        f"{arena_of_tflm(data).total:,}",
        *(f"{plan.arena_bytes:,}" for plan in (*plans, small)),
        f"{len(data):,}",
        *(f"{size:,}" for size in constants),
        different_values(data),
    )


def main(argv: list[str]) -> None:
    if len(argv) > 1:
        raise app.UsageError(f"unexpected arguments: {argv[1:]}")
    torch.set_num_threads(1)
    head = ("model", "RAM, TFLM's arena", "arena, DSP", "arena, Helium", "arena, DSP, memory")
    more = ("flash, .tflite", "constants, DSP", "constants, Helium", "values not TFLM's")
    folder = Path(os.environ.get("BUILD_WORKING_DIRECTORY", "."))
    models = {Path(path).stem: (folder / path).read_bytes() for path in _FILES.value}
    models = models or {name: exported_network(name) for name in _NETWORKS}
    rows = [row(name, data) for name, data in models.items()]
    print(table([(*head, *more), *rows], "lrrrrrrrr"))


if __name__ == "__main__":
    run_main(main)
