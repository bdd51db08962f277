# SPDX-License-Identifier: Apache-2.0
"""Share of output channels whose last stage is a step function on M0, M0+ and M23.

    bazel run //measure/bench:last_stages                     the ready-made models
    bazel run //measure/bench:last_stages -- /tmp/own.pte     your own

A layer with a channel without constants takes its plain kernel, at about 7 instructions for a
product in place of 2. The last column names the plain kernels of the model's products.
"""

from tools.text.signal_handling import run_main

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from absl import app, flags

from aot.plan.program import PlanProgram
from aot.plan.pte import read_program
from kernels.common.kernel import OpCall, Value
from kernels.common.quantization import activation_range, factors, zero_point
from kernels.common.steps import Steps
from kernels.registry import kernel_call
from tools.text.table import table

_MODELS = flags.DEFINE_multi_string("model", [], ".pte files, if none are arguments.")

_PLAIN = (
    "pl_conv2d_s8",
    "pl_conv2d_runs_s8",
    "pl_conv2d_rows_s8",
    "pl_linear_s8",
    "pl_transpose_conv2d_s8",
)
"""Kernels without a step function."""


@dataclass(frozen=True)
class StageTally:
    """Products of a model.

    Attributes:
        layers: with a multiplier for each channel.
        channels: of these layers.
        solved: channels with constants.
        plain: plain kernels, with their number of calls.
    """

    layers: int
    channels: int
    solved: int
    plain: Counter[str]


def solved_channels(call: OpCall) -> tuple[int, int]:
    """Return the number of channels of a call, and of those with constants."""
    channels = call.constant("multiplier", "int32").size
    multiplier, shift = factors(call, channels)
    stage = (zero_point(call, "output_zero_point"), *activation_range(call).values())
    if Steps.of(multiplier, shift, *stage) is not None:
        return channels, channels
    one_by_one = (
        Steps.of(np.array([m]), np.array([s]), *stage)
        for m, s in zip(multiplier, shift, strict=True)
    )
    return channels, sum(steps is not None for steps in one_by_one)


def _has_stage(call: OpCall) -> bool:
    multiplier = call.args.get("multiplier")
    of_channels = isinstance(multiplier, Value) and multiplier.constant is not None
    return of_channels and call.outputs[0].dtype == "int8"


def tally(program: PlanProgram) -> StageTally:
    """Count the channels of a model's products."""
    found = [solved_channels(call) for call in program.calls if _has_stage(call)]
    names = (kernel_call(call, "thumb1").function for call in program.calls if _has_stage(call))
    return StageTally(
        len(found),
        sum(channels for channels, _ in found),
        sum(solved for _, solved in found),
        Counter(name for name in names if name in _PLAIN),
    )


def row(name: str, of: StageTally) -> tuple[str, ...]:
    """Return a model's line."""
    share = 1 - of.solved / of.channels if of.channels else 0.0
    plain = ", ".join(f"{count} {name}" for name, count in sorted(of.plain.items()))
    return name, f"{of.layers}", f"{of.channels:,}", f"{share:.2%}", plain or "-"


def main(argv: list[str]) -> None:
    models = [Path(model) for model in argv[1:] or _MODELS.value]
    if not models:
        raise app.UsageError("give .pte files")
    head = ("model", "layers", "channels", "without constants", "plain kernels")
    rows = [row(model.stem, tally(read_program(model.read_bytes()))) for model in models]
    print(table([head, *rows], "lrrrl"))


if __name__ == "__main__":
    run_main(main)
