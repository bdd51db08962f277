# SPDX-License-Identifier: Apache-2.0
"""The form of this folder's tables: small modules, each with its expected lowering."""

import math
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from aot.models.seeded import seed_weights

CALIBRATION_ITEMS = 16


@dataclass(frozen=True)
class Input:
    """A float32 input, uniform in [low, high], NCHW or row major unless channels_last; or int64
    indices below a limit, or any numbers of a narrower type.
    """

    shape: tuple[int, ...]
    low: float = -2.0
    high: float = 2.0
    channels_last: bool = False
    below: int = 0
    narrow: str = ""


@dataclass(frozen=True)
class Case:
    """One op with one set of attributes, or one pattern of ops.

    Attributes:
      name: unique, starts with the op.
      module: makes the float module; `build` gives it weights.
      inputs: one for each argument of forward.
      ops: count of each dialect op in the lowered graph: {"conv2d": 1}. Left out:
        transposes (below), and reshape and the channels_last I/O layout ops. They move no
        bytes.
      transposes: count of transposes that move bytes, i.e. reorder dimensions larger
        than 1.
      refused: regular expression for the lowering error; empty if the case lowers.
    """

    name: str
    module: Callable[[], nn.Module]
    inputs: tuple[Input, ...]
    ops: Mapping[str, int]
    transposes: int = 0
    refused: str = ""


class Function(nn.Module):
    """A module of a function of tensors, for ops called as functions by users."""

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> object:
        return self.function(*inputs)


def sequence(*makers: Callable[[], nn.Module]) -> nn.Module:
    return nn.Sequential(*(make() for make in makers))


def spatial(
    name: str,
    module: Callable[[], nn.Module],
    shape: tuple[int, ...],
    ops: Mapping[str, int],
    low: float = -2.0,
    high: float = 2.0,
) -> Case:
    """Return a case of ops over [N, C, H, W] or [N, C, L]: it is transposed to NHWC and back.

    A side where the channels or the rest have one element needs no transpose.
    """
    with torch.no_grad():
        result = module()(torch.zeros(shape)).shape
    transposes = sum(s[1] > 1 and math.prod(s[2:]) > 1 for s in (shape, result))
    return Case(name, module, (Input(shape, low, high),), ops, transposes)


def build(case: Case) -> nn.Module:
    """Return the case's module in eval mode, with seeded weights and BatchNorm statistics."""
    module = case.module()
    inputs = draw(case, "weights")
    if any(isinstance(layer, nn.BatchNorm1d | nn.BatchNorm2d) for layer in module.modules()):
        inputs = tuple(torch.cat(column) for column in zip(*calibration(case), strict=True))
    return seed_weights(module, *inputs, seed=_seed(case, "weights"))


def calibration(case: Case) -> list[tuple[torch.Tensor, ...]]:
    """Return inputs for calibration; the first is the example input."""
    return [draw(case, f"calibration {item}") for item in range(CALIBRATION_ITEMS)]


def held_out(case: Case, count: int = 2) -> list[tuple[torch.Tensor, ...]]:
    """Return inputs for comparison, from a tenth wider range than calibration's: some saturate."""
    return [draw(case, f"held out {item}", widen=1.1) for item in range(count)]


def draw(case: Case, purpose: str, widen: float = 1.0) -> tuple[torch.Tensor, ...]:
    """Return one set of inputs. The same case and purpose give the same values."""
    rng = np.random.default_rng(_seed(case, purpose))
    tensors = []
    for spec in case.inputs:
        if spec.below:
            tensors.append(torch.from_numpy(rng.integers(0, spec.below, spec.shape)))
            continue
        if spec.narrow:
            kind = np.iinfo(spec.narrow)
            numbers = rng.integers(kind.min, kind.max, spec.shape, endpoint=True)
            tensors.append(torch.from_numpy(numbers.astype(spec.narrow)))
            continue
        centre, radius = (spec.high + spec.low) / 2.0, (spec.high - spec.low) / 2.0 * widen
        tensor = torch.from_numpy(rng.uniform(centre - radius, centre + radius, spec.shape)).float()
        if spec.channels_last:
            tensor = tensor.contiguous(memory_format=torch.channels_last)
        tensors.append(tensor)
    return tuple(tensors)


def _seed(case: Case, purpose: str) -> int:
    return zlib.crc32(f"{case.name}: {purpose}".encode())
