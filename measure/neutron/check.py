# SPDX-License-Identifier: Apache-2.0
"""Results of NXP's converter for a network, and of its simulator."""

from __future__ import annotations

import itertools
import math
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from aot.errors import LoweringError
from aot.lower import Lowered, lower
from aot.options import Measure
from aot.targets import target_named

_TIME_LIMIT_S = 3600.0
_SHOWN = 2000  # number of the runner's printed characters shown


@dataclass(frozen=True)
class CheckRow:
    """Result for a network.

    Attributes:
      problem: the reason for missing attributes; "" if there are none.
      delegates: their number.
      on_npu: its ops there.
      ops: all of them.
      payload_bytes: of all delegates.
      scratch_bytes: of the delegate with the largest request.
      values: of all compared outputs.
      differing: the number of values different from the reference; None if nothing was run.
      largest: the largest difference; likewise.
    """

    problem: str = ""
    delegates: int = 0
    on_npu: int = 0
    ops: int = 0
    payload_bytes: int = 0
    scratch_bytes: int = 0
    values: int = 0
    differing: int | None = None
    largest: int | None = None


def checked(
    network: Any, part: str, samples: int, runner: Path | None, arguments: Sequence[str] = ()
) -> CheckRow:
    """Convert a network, and run the result if there is a runner.

    Args:
      network: a module with `factory` and `calibration`.
      part: a key of NEUTRONS.
      samples: number of calibration samples to convert with, and to run.
      runner: ExecuTorch's nxp_executor_runner, which runs .pte files on NXP's simulator.
      arguments: extra runner arguments, next to model, inputs and outputs.
    """
    data = list(itertools.islice(network.calibration(), samples))
    try:
        lowered = lower(
            network.factory(),
            data[0],
            target=target_named(part),
            calibration=data,
            measure=Measure(per_op=False, min_sqnr=-math.inf, min_agreement=0.0),
        )
        report = lowered.report
        compared = None
        if runner is not None and all(op["runs_on"] == "neutron" for op in report["ops"]):
            compared = _compared(lowered, data, runner, arguments)
    except LoweringError as error:
        return CheckRow(str(error))
    delegates = report["delegates"]
    values, differing, largest = compared or (0, None, None)
    return CheckRow(
        delegates=len(delegates),
        on_npu=sum(op["runs_on"] == "neutron" for op in report["ops"]),
        ops=len(report["ops"]),
        payload_bytes=sum(one["payload_bytes"] for one in delegates),
        scratch_bytes=max((one["scratch_bytes"] for one in delegates), default=0),
        values=values,
        differing=differing,
        largest=largest,
    )


def _compared(
    lowered: Lowered,
    data: Sequence[tuple[torch.Tensor, ...]],
    runner: Path,
    arguments: Sequence[str],
) -> tuple[int, int, int]:
    """Return the number of values, the number of differences, and the largest difference."""
    inputs = [lowered.quantize_inputs(lowered.moved.taken(sample)) for sample in data]
    differences = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "model.pte").write_bytes(lowered.pte)
        for index, sample in enumerate(inputs):
            # If given a folder, the runner uses each file as the only input. These files are listed
            # instead.
            files = [folder / f"{index}_{place}.bin" for place in range(len(sample))]
            for x, file in zip(sample, files, strict=True):
                x.contiguous().numpy().tofile(file)
            results = folder / f"{index}_results"
            command = [
                *(str(runner), "--model", str(folder / "model.pte")),
                *("--inputs", ",".join(map(str, files)), "--output", str(results)),
                *arguments,
            ]
            _run(command)
            own, found = lowered.reference(sample), sorted(results.glob("*.bin"))
            if len(found) != len(own):
                raise LoweringError(
                    f"{runner} gives {len(found)} outputs, where {len(own)} are expected"
                )
            differences += [_difference(x, path) for x, path in zip(own, found, strict=True)]
    off = np.concatenate(differences)
    return off.size, int((off > 0).sum()), int(off.max())


def _difference(own: torch.Tensor, path: Path) -> np.ndarray[Any, Any]:
    expected = own.contiguous().numpy()
    given = np.fromfile(path, expected.dtype)
    if given.size != expected.size:
        raise LoweringError(
            f"an output has {given.size} values, where {expected.size} are expected"
        )
    wide = expected.ravel().astype(np.int64) - given.astype(np.int64)
    result: np.ndarray[Any, Any] = np.abs(wide)
    return result


def _run(command: Sequence[str]) -> None:
    try:
        ended = subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_TIME_LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise LoweringError(f"{command[0]}: {error}") from error
    if ended.returncode:
        printed = ended.stdout.decode(errors="replace")[-_SHOWN:]
        raise LoweringError(f"{command[0]} fails with status {ended.returncode}:\n{printed}")
