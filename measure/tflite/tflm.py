# SPDX-License-Identifier: Apache-2.0
"""Arena bytes used by TFLite Micro's interpreter for a PyTorch network."""

import importlib
import itertools
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

import torch
from tflite_micro.python.tflite_micro import runtime
from torch import nn

from aot.lower import lower
from aot.options import Io, Measure
from tools.text.printed import captured

ARENA_BYTES = 1 << 24
_SAMPLES = 4


def exported(model: nn.Module, calibration: Iterable[tuple[torch.Tensor, ...]]) -> bytes:
    """Return a network as a .tflite file."""
    data = list(itertools.islice(calibration, _SAMPLES))
    lowered = lower(
        model,
        data[0],
        target="tflite",
        calibration=data,
        io=Io(io_layout="nhwc"),
        measure=Measure(per_op=False, min_sqnr=-math.inf, min_agreement=0.0),
    )
    assert lowered.exported is not None
    return lowered.exported


def exported_network(name: str) -> bytes:
    """Return a ready-made model, a folder of aot/models, as a .tflite file."""
    module = importlib.import_module(f"aot.models.{name}.model")
    return exported(module.factory(), module.calibration())


@dataclass(frozen=True)
class Arena:
    """Arena bytes.

    The memory planner places `activations`, including kernel scratch. The others are the
    interpreter's own data for each op and tensor.
    """

    total: int
    activations: int


def arena_of_tflm(data: bytes) -> Arena:
    """Return the arena bytes of TFLite Micro's interpreter, with its reference kernels, on this
    machine.
    """
    interpreter = runtime.Interpreter.from_bytes(data, arena_size=ARENA_BYTES)
    with captured() as printed:
        interpreter.print_allocations()
        text = printed()
    total, head = (
        int(re.findall(rf"Arena allocation {kind} (\d+) bytes", text)[0])
        for kind in ("total", "head")
    )
    return Arena(total, head)
