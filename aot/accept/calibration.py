# SPDX-License-Identifier: Apache-2.0
"""Runs checked calibration data through a prepared graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import permutations
from typing import Any

import numpy as np
import torch
from absl import logging
from torch.fx import GraphModule, Interpreter, Node
from torch.utils.data import Dataset

from aot.dialect.graph import initial_state
from aot.errors import LoweringError, describe, op_name, place_of, raising_line
from aot.quantizer.observers import begin_sample
from aot.upstream.torch import FakeTensor
from tools.text.progress import counted

Sample = torch.Tensor | Sequence[torch.Tensor]
Samples = Iterable[Sample | Iterable[Sample]]
"""Samples, or sequences of samples.

The model's state is carried from one sample to the next. It is reset at the start of a sequence.
Single samples in a row form one sequence.
"""


def as_inputs(sample: Sample, name: str) -> tuple[torch.Tensor, ...]:
    """Return a sample, a tuple of tensors or one tensor, as a tuple.

    Args:
      sample: the user's sample.
      name: the sample's name in errors.

    Raises:
      LoweringError: the sample has another type, or is not on the CPU.
    """
    inputs = (sample,) if isinstance(sample, torch.Tensor | np.ndarray) else sample
    if not isinstance(inputs, tuple | list):
        raise LoweringError(
            f"{name} is {describe(sample)}. Pass a tensor, or a tuple with one tensor for each "
            "argument of forward, in their order."
        )
    for position, value in enumerate(inputs):
        where = f"{name}, input {position}"
        if isinstance(value, np.ndarray):
            raise LoweringError(f"{where} is {describe(value)}. Convert it with torch.from_numpy.")
        if not isinstance(value, torch.Tensor):
            raise LoweringError(f"{where} must be a tensor; got {describe(value)}.")
        is_plain = value.layout is torch.strided and not value.is_nested
        if value.device.type != "cpu" or not is_plain or isinstance(value, FakeTensor):
            raise LoweringError(
                f"{where} is a {type(value).__name__} of layout {value.layout} on device "
                f"{value.device}. Pass dense tensors with data on the CPU."
            )
    return tuple(inputs)


def iterable(data: object, name: str) -> Iterable[Any]:
    """Return an iterator over calibration data. Raise LoweringError if there is none."""
    is_number = isinstance(data, torch.Tensor) and data.dim() == 0
    if isinstance(data, Iterable) and not is_number and not isinstance(data, Mapping | str):
        return data
    instead = " Call it first." if callable(data) else ""
    if isinstance(data, Mapping):
        instead = " Pass one sample as [sample]. Split a batch given by names into its samples."
    if isinstance(data, Dataset):
        instead = " Wrap it in a DataLoader."
    raise LoweringError(
        f"{name} must be a list or generator of samples; got {describe(data)}.{instead}"
    )


def samples_of(data: object, name: str) -> Iterator[tuple[bool, tuple[torch.Tensor, ...]]]:
    """Yield the samples of calibration data, each with a flag: True at the start of a sequence.

    Args:
      data: an iterable of samples or of sequences of samples.
      name: the data's name in errors.

    Raises:
      LoweringError: the data is not iterable, or a sample is no tuple of tensors.
    """
    count, starts = 0, True
    for item in iterable(data, name):
        is_sequence = _is_sequence(item)
        starts |= is_sequence
        for sample in item if is_sequence else [item]:
            yield starts, as_inputs(sample, f"{name} sample {count}")
            count, starts = count + 1, False
        starts = is_sequence


def _is_sequence(item: Any) -> bool:
    """Return True if an item of calibration data is a sequence of samples.

    A sequence is a list of tuples or lists of tensors, or a generator.
    """
    if isinstance(item, list):
        return len(item) > 0 and isinstance(item[0], tuple | list)
    return isinstance(item, Iterator)


def calibrate(
    prepared: GraphModule,
    data: Samples,
    example_inputs: Sequence[torch.Tensor],
    watch: Callable[[bool, Sequence[torch.Tensor]], None] | None = None,
) -> int:
    """Run every sample through the observers. State carries over from sample to sample.

    Args:
      prepared: the graph with observers.
      data: samples, or sequences of samples, of the shapes and dtypes of example_inputs.
      example_inputs: the inputs used for the export.
      watch: called before each sample, with True if a sequence starts with it.

    Returns:
      the number of samples.

    Raises:
      LoweringError: there are no samples; or one has another count, shape or dtype, or
        has NaN or infinite values.
    """
    count = 0
    initial = state = initial_state(prepared)
    with torch.no_grad():
        for starts, inputs in counted(samples_of(data, "calibration"), "calibrating: sample"):
            check_sample(f"calibration sample {count}", inputs, example_inputs)
            state = initial if starts else state
            if watch is not None:
                watch(starts, inputs)
            begin_sample(prepared)
            given = [*(x.contiguous() for x in inputs), *state]
            try:
                results = prepared(*given)
            except IndexError as error:
                raise outside_of_table(f"calibration sample {count}", error) from error
            except RuntimeError as error:
                raise _explained(prepared, given, count) or error from error
            state = results[len(results) - len(initial) :] if initial else ()
            count += 1
    if count == 0:
        raise LoweringError(
            "the calibration data are empty. Pass at least one sample of real input; 32 or more "
            "that cover the device's inputs are better."
        )
    logging.info("calibrated on %d samples", count)
    return count


class _FirstBadValue(Interpreter):
    """Interpreter of the float ops. It stops at the first NaN and, if asked, at the first infinity.

    Infinity is common: masks hold it.
    """

    def __init__(self, module: GraphModule, infinite: bool) -> None:
        super().__init__(module)
        self._is_bad = torch.isinf if infinite else torch.isnan

    def run_node(self, n: Node) -> Any:
        if n.op == "call_module":  # an observer: its value is its input
            return self.fetch_args_kwargs_from_env(n)[0][0]
        result = super().run_node(n)
        is_float = isinstance(result, torch.Tensor) and result.is_floating_point()
        if is_float and bool(self._is_bad(result).any()):
            raise _BadValue(n)
        return result


class _BadValue(Exception):
    def __init__(self, node: Node) -> None:
        super().__init__(node.name)
        self.node = node


def _explained(
    prepared: GraphModule, inputs: Sequence[torch.Tensor], index: int
) -> LoweringError | None:
    """Return an error for an op with values that observers cannot handle, else None."""
    for infinite in (False, True):
        try:
            _FirstBadValue(prepared, infinite).run(*inputs)
        except _BadValue as bad:
            return _named(bad.node, index, "infinite values" if infinite else "NaN")
    return None


def _named(node: Node, index: int, values: str) -> LoweringError:
    if not node.all_input_nodes:
        readers = [reader for reader in node.users if reader.op == "call_function"]
        return _at(
            readers[0] if readers else node,
            f"{node.name} is a constant of the model and holds {values}",
            "replace it by a finite number that the device can represent",
        )
    instead = "keep its input inside the function's domain (clamp it), or fix the sample"
    if "softmax" in str(node.target):
        instead = (
            "use a mask that leaves at least one value of each row, or a sample with such a mask"
        )
    return _at(node, f"with calibration sample {index}, {op_name(node)} gives {values}", instead)


def _at(node: Node, problem: str, instead: str) -> LoweringError:
    where = place_of(node)
    lines = [problem, *([f"at {where}"] if where else []), f"instead: {instead}"]
    return LoweringError("\n    ".join(lines))


def outside_of_table(name: str, error: Exception) -> LoweringError:
    """Return the error for a table lookup outside the table."""
    line = raising_line(error)
    at = f"\n    at {line}" if line else ""
    return LoweringError(
        f"{name} has an index outside of its table: {error}{at}\n"
        "    instead: use indices within the rows of the embedding (or other table), as the "
        "device will"
    )


def _instead(actual: torch.Tensor, expected: torch.Tensor) -> str:
    """Return a hint to convert a sample into the expected form; "" without an idea."""
    if actual.is_complex() and not expected.is_complex():
        return " Pass real numbers, such as torch.view_as_real(x) or x.abs(), as in training."
    if actual.dtype != expected.dtype and actual.shape == expected.shape:
        name = str(expected.dtype).removeprefix("torch.")
        return (
            f" Convert it with x.to(torch.{name}), with the scale used in training, as the device "
            "will."
        )
    for order in permutations(range(actual.dim())) if actual.dim() == expected.dim() <= 4 else ():
        if [actual.shape[d] for d in order] == list(expected.shape):
            return f" Try x.permute{order}, if that is the order of its dimensions."
    if [1, *actual.shape] == list(expected.shape):
        return " Use x[None] if the batch dimension is missing."
    if actual.dim() == expected.dim() > 1 and actual.shape[1:] == expected.shape[1:]:
        return (
            f" Pass batches of {len(expected)}, or export the model with an example of one sample."
        )
    return ""


def check_sample(
    name: str, inputs: Sequence[torch.Tensor], example_inputs: Sequence[torch.Tensor]
) -> None:
    """Raise LoweringError if a sample has another form than the example, NaN or infinity."""
    if len(inputs) != len(example_inputs):
        raise LoweringError(
            f"{name} has {len(inputs)} inputs, but the model takes {len(example_inputs)}."
        )
    for position, (actual, expected) in enumerate(zip(inputs, example_inputs, strict=True)):
        where = f"{name}, input {position}"
        if actual.shape != expected.shape or actual.dtype != expected.dtype:
            raise LoweringError(
                f"{where} is {describe(actual)}, but the model was exported with "
                f"{describe(expected)}." + _instead(actual, expected)
            )
        if actual.dtype == torch.int64 and bool((actual != actual.to(torch.int32)).any()):
            raise LoweringError(
                f"{where} holds {actual.abs().max().item()}, which does not fit int32. The device "
                "computes int64 indices in int32: keep them within [-2147483648, 2147483647]."
            )
        if not bool(torch.isfinite(actual).all()):
            raise LoweringError(
                f"{where} holds NaN or infinite values. Fix the sample or leave it out. Pass "
                "masks as booleans, or with a large negative number instead of minus infinity."
            )
