# SPDX-License-Identifier: Apache-2.0
"""Argument groups of `lower`: Quantize, Io, Measure."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import torch

from aot.errors import LoweringError, describe
from aot.passes.rewrite.io_layouts import KEEP, LAYOUTS
from aot.quality.decibels import MIN_SQNR_DB
from aot.quality.evaluation import Evaluation
from aot.quality.metric import Metric
from aot.quality.quality import Limits
from aot.quantizer.training import Train
from aot.upstream.torchao import Quantizer


@dataclass(frozen=True, kw_only=True)
class Quantize:
    """Settings of quantization.

    Attributes:
      quantization: "int8", "int16", "int8w4", "int8w4g32" or "float32"; or by layer, {"default":
        "int8", "head": "float32"} (docs/accuracy.md).
      quantizer: torchao's, or your own of its kind. Its annotations stay.
      observer: derives ranges from calibration: "histogram", "minmax", "moving_average", "mse" or
        "percentile"; or by layer, {"default": "minmax", "features.*": "mse"} (docs/accuracy.md).
      equalize: give the channels between two layers one magnitude first (cross-layer equalization).
      correct_bias: compensate shifted means of layers in their biases.
      train: quantization-aware training: changes the module's parameters in place
        (docs/qat.md).
      allow_float_fallback: run ops without an int8 form in float32 on the device; the report lists
        them.

    Raises:
      LoweringError: a switch is no bool, or `train` no training loop.
    """

    quantization: str | Mapping[str, str] = "int8"
    quantizer: Quantizer | None = None
    observer: str | Mapping[str, str] = "histogram"
    equalize: bool = False
    correct_bias: bool = False
    train: Train | None = None
    allow_float_fallback: bool = False

    def __post_init__(self) -> None:
        _check_switches(self)
        if self.train is not None:
            _check_train(self.train)


@dataclass(frozen=True, kw_only=True)
class Io:
    """Settings of inputs and outputs on the device.

    Attributes:
      float_io: keep float32 model inputs and outputs; they are quantized on the device.
      io_layout: "keep" the model's own; "nhwc" for [N, H, W, C] inputs and outputs without a copy;
        "auto": [N, H, W, C] and [N, L, C] for inputs and outputs with a transpose on the device
        otherwise. The report lists them.
      input_from: the report of a model. Its first output becomes this model's first input, with
        the same type, scale and zero point.

    Raises:
      LoweringError: `float_io` is no bool, or there is no such layout.
    """

    float_io: bool = False
    io_layout: str = KEEP
    input_from: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        _check_switches(self)
        if self.io_layout not in LAYOUTS:
            raise LoweringError(
                f"io_layout must be one of {', '.join(LAYOUTS)}; got {self.io_layout!r}."
            )


@dataclass(frozen=True, kw_only=True)
class Measure(Limits):
    """Settings of the comparison with the float model, and its limits.

    Attributes:
      evaluation: held-out data to measure on: samples as in calibration. For a classifier: the
        inputs [N, ...] (of several inputs a tuple, or a dict by name) and the right classes, int64
        [N]. The default is a part of the calibration samples, with too good results.
      min_sqnr: required signal to quantization noise of each output, in dB.
      min_agreement: required share of samples with the float model's class, in [0, 1]. The default
        is 0.9, of samples with a clear class in float.
      min_part_sqnr: required SQNR of each part of an output, in dB, such as a column.
      min_sample_sqnr: required SQNR of nine of ten samples, in dB.
      min_sequence_sqnr: required SQNR of each sequence, in dB.
      metric: your own function `metric(outputs, labels) -> float`, larger is better. It takes the
        outputs of all samples as a tensor [N, ...] (several outputs: a tuple), and the second item
        of `evaluation`.
      min_metric: required value of the metric for the lowered model.
      per_op: also measure the loss by each value's quantization alone, on a few samples.

    Raises:
      LoweringError: `per_op` is no bool, a limit no such number, or the metric no function of two
        arguments.
    """

    evaluation: Evaluation | None = None
    min_sqnr: float = MIN_SQNR_DB
    min_agreement: float | None = None
    min_part_sqnr: float | None = None
    min_sample_sqnr: float | None = None
    min_sequence_sqnr: float | None = None
    metric: Metric | None = None
    min_metric: float | None = None
    per_op: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_switches(self)
        if self.metric is None and self.min_metric is not None:
            raise LoweringError("min_metric needs a metric, a function of outputs and labels.")
        if self.metric is not None:
            _check_takes(self.metric, "metric", "outputs and labels", None, None)


GROUPS = {"quantize": Quantize, "io": Io, "measure": Measure}
"""Groups by argument of `lower`."""


def grouped(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments of `lower` with each setting moved into its group.

    Raises:
      LoweringError: a setting is given beside its group, or is not valid.
    """
    found = dict(arguments)
    for name, group in GROUPS.items():
        own = {f.name: found.pop(f.name) for f in fields(group) if f.name in found}
        if own and name in found:
            raise LoweringError(f"{', '.join(own)} beside {name}: give {group.__name__} all of it")
        if own:
            found[name] = group(**own)
    return found


def _check_switches(settings: Quantize | Io | Measure) -> None:
    for field in fields(settings):
        value = getattr(settings, field.name)
        if field.type == "bool" and not isinstance(value, bool):
            raise LoweringError(
                f"{field.name} must be True or False (for the whole model); got {value!r:.40}."
            )


def _check_train(train: object) -> None:
    """Raise LoweringError unless a training function takes the module."""
    if not callable(train) or isinstance(train, type):
        raise LoweringError(
            f"train must be a function that trains the module passed to it; got {describe(train)}."
        )
    _check_takes(train, "train", "one argument, the module to train", torch.nn.Module())


def _check_takes(function: object, name: str, what: str, *arguments: object) -> None:
    """Raise LoweringError if a user's function does not take these arguments."""
    if not callable(function):
        raise LoweringError(f"{name} must be a function of {what}; got {describe(function)}.")
    with contextlib.suppress(ValueError):  # a function without a signature
        signature = inspect.signature(function)
        try:
            signature.bind(*arguments)
        except TypeError as error:
            raise LoweringError(
                f"{name} must be a function of {what}; it takes {signature}."
            ) from error
