# SPDX-License-Identifier: Apache-2.0
"""For owners of NXP's SDK: results of its converter for networks.

    bazel run //measure/neutron:check -- --part=imxrt700 --models=ds_cnn,resnet8

Set --runner to ExecuTorch's nxp_executor_runner of this machine. Programs then run on NXP's
simulator. Their outputs are compared with the reference. Arguments after `--` go to the runner:
--firmware, --nsys and --nsys_config. Only networks that run on the NPU as a whole are run.
"""

from __future__ import annotations

from tools.text.signal_handling import run_main

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from absl import flags

from aot.backends.npus import NEUTRONS
from measure.neutron.check import CheckRow, checked
from tools.text.table import table

_MODELS = ("ds_cnn", "mobilenet_v1", "resnet8", "deep_autoencoder")
_HEAD = ("model", "delegates", "ops on it", "payload", "scratch", "values that differ", "at most")

_PART = flags.DEFINE_enum("part", "imxrt700", list(NEUTRONS), "the part")
_NAMES = flags.DEFINE_list("models", list(_MODELS), "packages of aot/models")
_RUNNER = flags.DEFINE_string("runner", None, "nxp_executor_runner; without it nothing is run")
_SAMPLES = flags.DEFINE_integer("samples", 4, "to calibrate with, and to run", 1)


def cells(name: str, row: CheckRow) -> list[str]:
    run = "not run" if row.differing is None else f"{row.differing} of {row.values}"
    largest = "" if row.largest is None else str(row.largest)
    ops = f"{row.on_npu} of {row.ops}"
    payload, scratch = f"{row.payload_bytes:,}", f"{row.scratch_bytes:,}"
    return [name, str(row.delegates), ops, payload, scratch, run, largest]


def main(argv: Sequence[str]) -> None:
    runner = None if _RUNNER.value is None else Path(_RUNNER.value)
    rows = {}
    for name in _NAMES.value:
        network = importlib.import_module(f"aot.models.{name}.model")
        rows[name] = checked(network, _PART.value, _SAMPLES.value, runner, argv[1:])
    fine = [cells(name, row) for name, row in rows.items() if not row.problem]
    if fine:
        print(table([_HEAD, *fine], "lrrrrrr"))
    for name, row in rows.items():
        if row.problem:
            print(f"{name} fails: {row.problem}")
    sys.exit(any(row.problem for row in rows.values()))


if __name__ == "__main__":
    run_main(main)
