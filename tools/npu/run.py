# SPDX-License-Identifier: Apache-2.0
"""Runs an Ethos-U payload in the NPU model.

bazel run //tools/npu:run -- FILE --inputs x.npy,y.npy --outputs DIR [--profile]
"""

from __future__ import annotations

from tools.text.signal_handling import run_main

import tokenize
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from absl import app, flags

from npu.ethos_u.isa import Family, value_name
from npu.ethos_u.npu_model import (
    REGIONS,
    EthosUError,
    EthosUModel,
    Operation,
    Summary,
    configuration_of,
)
from npu.ethos_u.payload import PayloadError, parse_payload
from tools.npu.paths import user_path
from tools.npu.payload_file import read_payloads
from tools.text.table import table

# Numpy's errors for files other than arrays.
_UNSOUND = (
    EOFError,
    MemoryError,
    SyntaxError,
    ValueError,
    tokenize.TokenError,
    zipfile.BadZipFile,
)

_INPUTS = flags.DEFINE_list("inputs", [], ".npy files, one an input.")
_OUTPUTS = flags.DEFINE_string("outputs", None, "Folder for output_0.npy and so on.")
_DELEGATE = flags.DEFINE_integer("delegate", 0, "Which Ethos-U delegate of a .pte.")
_PROFILE = flags.DEFINE_bool("profile", False, "Print what each operation did.")
_HAZARDS = flags.DEFINE_bool("hazards", False, "Report missing waits as errors.")


def _shape(shape: tuple[int, int, int]) -> str:
    return "x".join(str(size) for size in shape) if any(shape) else "-"


def _name(operation: Operation) -> str:
    """Return a name such as "POOL AVERAGE"."""
    name = operation.name.removeprefix("OP_")
    modes = {"POOL": "pooling_mode", "ELEMENTWISE": "elementwise_mode"}
    if name in modes:
        return f"{name} {value_name(Family.U55, modes[name], operation.mode)}"
    return name


def profile_table(operations: list[Operation], summary: Summary) -> str:
    """Return a table of operations: estimated cycles, MACs, bytes accessed in each region."""
    total = summary.counts
    traffic = {f"read {region}": total.read[region] for region in range(REGIONS)}
    traffic |= {f"written {region}": total.written[region] for region in range(REGIONS)}
    used = [name for name, count in traffic.items() if count]
    cells: list[tuple[object, ...]] = [
        ("command", "operation", "IFM", "OFM", "cycles", "MACs", *used)
    ]
    rows = [
        (str(op.command), _name(op), _shape(op.ifm_shape), _shape(op.ofm_shape), op.counts)
        for op in operations
    ]
    for command, name, ifm, ofm, counts in [*rows, ("total", "", "", "", total)]:
        columns = dict(zip(traffic, (*counts.read, *counts.written), strict=True))
        moved = (columns[region] for region in used)
        cells.append((command, name, ifm, ofm, counts.cycles or "-", counts.macs, *moved))
    return "\n".join(
        [
            table(cells, "rl" + (4 + len(used)) * "r"),
            "cycles are estimates, none for U85; bytes by region: 0 constants, 1 scratch, "
            "2 fast scratch",
            f"workspace of the model: {summary.workspace_bytes} bytes",
        ]
    )


def _load(path: Path) -> npt.NDArray[Any]:
    """Return the array of a .npy file. ValueError if it is none."""
    try:
        array = np.load(path, allow_pickle=False)
    except _UNSOUND as error:
        raise ValueError(f"{path} is not a valid .npy file: {error}") from error
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{path} holds several arrays (.npz); give one .npy file per input")
    return array


def _run(path: Path) -> None:
    payloads = read_payloads(path)
    if not 0 <= _DELEGATE.value < len(payloads):
        raise PayloadError(f"{path} has {len(payloads)} Ethos-U delegates")
    data = payloads[_DELEGATE.value]
    model = EthosUModel(configuration_of(parse_payload(data)), check_hazards=_HAZARDS.value)
    inputs = [_load(user_path(name)) for name in _INPUTS.value]
    outputs = model.run(data, inputs)
    for index, output in enumerate(outputs):
        print(f"output {index}: {output.dtype} {'x'.join(str(size) for size in output.shape)}")
    if _OUTPUTS.value is not None:
        folder = user_path(_OUTPUTS.value)
        folder.mkdir(parents=True, exist_ok=True)
        for index, output in enumerate(outputs):
            np.save(folder / f"output_{index}.npy", output)
    if _PROFILE.value and model.summary is not None:
        print(profile_table(model.operations, model.summary))


def main(argv: list[str]) -> None:
    if len(argv) != 2:
        raise app.UsageError("give one file: a .pte, or a payload (vela_bin_stream)")
    try:
        _run(user_path(argv[1]))
    except (EthosUError, OSError, PayloadError, ValueError) as error:
        raise SystemExit(f"run: {error}") from error


if __name__ == "__main__":
    run_main(main)
