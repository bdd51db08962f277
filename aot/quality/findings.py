# SPDX-License-Identifier: Apache-2.0
"""Warnings about calibration data, or about ranges derived from it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch.fx import GraphModule, Node

from aot.dialect.graph import border_nodes, initial_state
from aot.dialect.qdq import QUANTIZE, activation_quantization
from aot.dialect.quantization import WHOLE_NUMBERS, Quantization
from aot.dialect.rule import as_clamp
from aot.quality.decibels import ROUGH_DB
from aot.quality.finding import (
    FEW_SAMPLES,
    FEW_STEPS,
    Finding,
    finding_at,
    interval,
    name_of,
    of_many,
)
from aot.quality.nodes import root_of
from aot.quality.noise import noise_maker
from aot.quality.outputs import Output
from aot.quality.watch import Range, Watch
from aot.rules.integers import is_given

_STRETCH = 4.0
"""A few samples stretch a range if it is this many times the range the other samples need."""

_LOST_STEPS = 2
"""A channel within so few steps is lost."""

NUMBERS = (torch.float32, *WHOLE_NUMBERS)
"""Inputs of these dtypes have ranges."""


def of_calibration(seen: Watch, quantized: GraphModule, outputs: Sequence[Output]) -> list[Finding]:
    """Return the warnings on the calibration data.

    Args:
      seen: of the calibration data.
      quantized: torchao's graph after calibration.
      outputs: measured. If these are close to float, few steps of an inner value cost
        nothing.
    """
    values = {_source(n).name: n for n in quantized.graph.nodes if n.target is QUANTIZE}
    observed = [
        _Observed(_source(values[name]), activation_quantization(values[name]), group.ranges)
        for group in seen.observed
        if (name := group.values[0]) in values and not is_given(_source(values[name]))
    ]
    names = {output.name for output in outputs}
    near = all(map(_is_near, outputs))
    inside = {
        o.value for o in observed if o.value.op != "placeholder" and o.value.name not in names
    }
    ranges = [
        hit
        for check in _CHECKS
        for value in observed
        if not (check is _coarse and near and value.value in inside)
        if (hit := check(value)) is not None
    ]
    if not near:
        ranges += _coarse_parts(observed)
    # If a range is too wide for the whole input, its channels give no further information.
    wide = {finding.value for finding in ranges}
    scales = {o.value: o.quantization.scale for o in observed if o.value.name not in wide}
    inputs = border_nodes(quantized)[0]
    found = [
        *_of_samples(seen),
        *([] if initial_state(quantized) else _nearly_same(seen, inputs, scales)),
        *_of_masks(seen, inputs),
        *_of_inputs(seen, inputs, scales),
        *ranges,
    ]
    by_kind: dict[str, list[Finding]] = {}
    for finding in found:
        by_kind.setdefault(finding.kind, []).append(finding)
    return [of_many(findings) for findings in by_kind.values()]


def _is_near(output: Output) -> bool:
    """Return True if int8 hardly changes an output, and hardly its variation."""
    found = [output.sqnr_db] + ([output.varying_db] if output.class_dim is None else [])
    return all(sqnr is not None and sqnr >= ROUGH_DB for sqnr in found)


@dataclass(frozen=True)
class _Observed:
    """A quantized value and its range in each calibration sample."""

    value: Node
    quantization: Quantization
    ranges: Sequence[Range]

    @property
    def range(self) -> Range:
        return min(low for low, _ in self.ranges), max(high for _, high in self.ranges)


def _source(quantizer: Node) -> Node:
    (source, *_) = quantizer.args
    assert isinstance(source, Node)
    return source


def _of_samples(seen: Watch) -> Iterator[Finding]:
    count = len(seen.inputs)
    if count < FEW_SAMPLES:
        what = f"calibration has {count} sample{'s' if count > 1 else ''}"
        advice = "use 32 or more that cover the device's inputs"
        yield Finding("few_samples", "", "", "", f"{what}: {advice}")
    if _repeats(seen):
        which = "all the same" if seen.different == 1 else f"only {seen.different} different ones"
        text = f"the {count} calibration samples are {which}. Give different ones"
        yield Finding("same_samples", "", "", "", text)


def _repeats(seen: Watch) -> bool:
    """Return True if the same few samples repeat."""
    count = len(seen.inputs)
    return count > 1 and seen.different <= min(FEW_SAMPLES, count // 2)


def _nearly_same(
    seen: Watch, inputs: Sequence[Node], scales: Mapping[Node, float]
) -> Iterator[Finding]:
    """Yield a warning if samples are nearly equal in int8, such as one sample plus noise."""
    samples = [given for _, given in seen.samples]
    known = [node.meta["val"].dtype not in NUMBERS or node in scales for node in inputs]
    if len(samples) < FEW_SAMPLES or not all(known) or _repeats(seen):
        return
    steps = [_LOST_STEPS * scales.get(node, 0.0) for node in inputs]

    def are_alike(a: Sequence[torch.Tensor], b: Sequence[torch.Tensor]) -> bool:
        pairs = zip(a, b, steps, strict=True)
        return all(bool(((x.double() - y.double()).abs() <= step).all()) for x, y, step in pairs)

    different: list[Sequence[torch.Tensor]] = []
    for sample in samples:
        if not any(are_alike(sample, other) for other in different):
            different.append(sample)
    if len(different) <= len(samples) // 4:
        which = "are nearly the same" if len(different) == 1 else f"are {len(different)} in effect"
        text = (
            f"{len(samples)} of the calibration samples {which}, within {_LOST_STEPS} steps of "
            "int8. Give different ones that cover the device's inputs"
        )
        yield Finding("same_samples", "", "", "", text)


def _of_masks(seen: Watch, inputs: Sequence[Node]) -> Iterator[Finding]:
    for i, node in enumerate(inputs):
        value = node.meta["val"]
        found = {end for ranges in seen.inputs for end in ranges[i]}
        if value.dtype is torch.bool and value.numel() > 1 and len(found) == 1:
            text = f"{name_of(node)} is all {bool(found.pop())} in every calibration sample"
            advice = "give real samples with both values"
            yield finding_at("constant_input", node, f"{text}: {advice}")


def _of_inputs(
    seen: Watch, inputs: Sequence[Node], scales: Mapping[Node, float]
) -> Iterator[Finding]:
    # Indices have no range to find.
    floats = {i: node for i, node in enumerate(inputs) if node.meta["val"].dtype in NUMBERS}
    numbers = {i: {end for ranges in seen.inputs for end in ranges[i]} for i in floats}
    all_constant = all(len(found) == 1 for found in numbers.values())
    for i, node in floats.items():
        is_one_number = len(numbers[i]) == 1
        if numbers[i] == {0.0} or (is_one_number and all_constant):
            yield finding_at(
                "dead_input",
                node,
                f"{name_of(node)} is {min(numbers[i]):g} in every calibration sample, unlike on "
                "the device. Give real samples. If it is always this value, remove the input",
            )
            continue
        is_constant = all(ranges[i][0] == ranges[i][1] for ranges in seen.inputs)
        if is_one_number or (is_constant and math.prod(node.meta["val"].shape) > 1):
            text = f"{name_of(node)} is constant in every calibration sample. Give real samples"
            yield finding_at("constant_input", node, text)
        if is_constant:
            continue
        yield from _constant_channels(node, [inputs[i] for _, inputs in seen.samples])
        stacked = torch.stack([inputs[i].to(torch.float32) for _, inputs in seen.samples])
        yield from _far_floor(node, stacked.flatten())
        if node in scales:
            yield from _lost_channels(node, stacked, scales[node])
        maker = noise_maker(stacked)
        if maker:
            yield finding_at(
                "noise",
                node,
                f"{name_of(node)} looks like {maker} in the calibration samples. Random numbers "
                "do not show the ranges on the device. Give real samples",
            )


def _constant_channels(node: Node, samples: Sequence[torch.Tensor]) -> Iterator[Finding]:
    """Yield a warning for constant channels, as of an unconnected sensor, if others vary.

    Channels are the shortest dimension: rows and columns of an image may well be an empty margin.
    """
    shape = list(node.meta["val"].shape)
    if len(shape) < 3 or len(samples) < FEW_SAMPLES:
        return
    dim = min(range(1, len(shape)), key=shape.__getitem__)
    channels = torch.stack([*samples]).movedim(dim + 1, 0).flatten(1)
    still = channels.amax(1) == channels.amin(1)
    count = int(still.sum())
    if not 1 <= count < len(channels):
        return
    first = int(still.nonzero()[0])
    yield finding_at(
        "constant_input",
        node,
        f"{count} of {len(channels)} channels of {name_of(node)}, along dimension {dim}, never "
        f"change in {len(samples)} calibration samples: channel {first} is "
        f"{channels[first, 0]:g}. Give real samples, or remove channels that are always constant",
    )


def _far_floor(node: Node, values: torch.Tensor) -> Iterator[Finding]:
    """Yield a warning for one number far from all others, such as the logarithm of almost zero."""
    for sign, end in ((1.0, "least"), (-1.0, "largest")):
        towards = values * sign
        floor = towards.min()
        is_floor = towards == floor
        others = towards[~is_floor]
        if int(is_floor.sum()) < 2 or len(others) < 2:
            continue
        spread = float(others.max() - others.min())
        # Two values, as in a mask or a one-hot row, need no steps between them.
        if spread == 0.0 or float(others.max() - floor) < _STRETCH * spread:
            continue
        low, high = sorted((sign * float(others.min()), sign * float(others.max())))
        yield finding_at(
            "far_floor",
            node,
            f"{float(is_floor.float().mean()):.1%} of {name_of(node)} is "
            f"{sign * float(floor):.6g}, its {end} value, in the calibration samples. All else is "
            f"within {interval(low, high)} and gets few steps of the wide range. Clamp such "
            "values nearer to the others",
        )


def _lost_channels(node: Node, samples: torch.Tensor, scale: float) -> Iterator[Finding]:
    """Yield warnings about channels, or features, whose values stay within one step.

    Args:
      node: an input.
      samples: of it, one after another, [samples, *shape].
      scale: of the input.
    """
    for dim in range(1, samples.dim() - 1):
        count = samples.shape[dim + 1]
        channels = samples.movedim(dim + 1, 0).reshape(count, -1)
        reach = channels.amax(1) - channels.amin(1)
        is_lost = (reach > 0.0) & (reach < _LOST_STEPS * scale)
        if not 1 <= int(is_lost.sum()) < count:
            continue
        first = int(is_lost.nonzero()[0])
        yield finding_at(
            "lost_channels",
            node,
            f"{name_of(node)} has channels of very different scale: along dimension {dim}, "
            f"{int(is_lost.sum())} of {count}, the first of them {first}, stay within "
            f"{_LOST_STEPS} steps of {scale:.2g} in the calibration samples. Normalise each by "
            "its own mean and deviation before the model, or make it a separate input",
        )
        return


def _dead(observed: _Observed) -> Finding | None:
    low, high = observed.range
    if low != high or (low != 0.0 and len(observed.ranges) == 1):
        return None
    return finding_at(
        "dead_range",
        observed.value,
        f"{name_of(observed.value)} is {low:.4g} in every calibration sample and its scale "
        f"{observed.quantization.scale:.2g}. All other values will be lost",
    )


def _coarse(observed: _Observed) -> Finding | None:
    low, high = observed.range
    steps = (high - low) / observed.quantization.scale
    if low == high or steps >= FEW_STEPS:
        return None
    return finding_at(
        "coarse_range",
        observed.value,
        f"{name_of(observed.value)} is in {interval(low, high)}, which is {steps:.1f} steps of "
        f"its scale {observed.quantization.scale:.2g}. Subtract its mean or scale it, in the "
        "model or before it",
    )


def _coarse_parts(observed: Sequence[_Observed]) -> Iterator[Finding]:
    """Yield a warning for a clamp, such as a ReLU, that keeps few steps of a shared value.

    A clamp that is the only reader of a layer is fused with it. The layer then spends all its steps
    on the clamped range.
    """
    known = {o.value: o for o in observed}
    for part in observed:
        if part.value.op != "call_function" or as_clamp(part.value) is None:
            continue
        whole = known.get(root_of(part.value.all_input_nodes[0]))
        low, high = part.range
        if whole is None or whole.value.op == "placeholder" or low == high:
            continue
        steps = (high - low) / whole.quantization.scale
        if steps < FEW_STEPS:
            yield finding_at(
                "coarse_range",
                part.value,
                f"{name_of(part.value)} is in {interval(low, high)}, which is {steps:.1f} steps "
                f"of {name_of(whole.value)} (its input, which other ops also read, in "
                f"{interval(*whole.range)}). Run both and the ops that read them in int16, or "
                "compute the layer a second time for it",
            )


def _stretched(observed: _Observed) -> Finding | None:
    sizes = [max(-low, high) for low, high in observed.ranges]
    order = sorted(range(len(sizes)), key=lambda i: sizes[i])
    rest, last = order[: -max(1, len(sizes) // 20)], order[-1]
    if len(sizes) < FEW_SAMPLES // 2 or sizes[rest[-1]] <= 0.0:
        return None
    needed = sizes[rest[-1]]
    q = observed.quantization
    held = q.scale * max(q.type.quant_max - q.zero_point, q.zero_point - q.type.quant_min)
    if min(held, sizes[last]) < _STRETCH * needed:
        return None
    stretching = [i for i in order if sizes[i] >= _STRETCH * needed]
    what = "sample" if len(stretching) == 1 else "samples"
    shown = ", ".join(map(str, sorted(stretching)[:3])) + (", ..." if len(stretching) > 3 else "")
    verb = "stretches" if len(stretching) == 1 else "stretch"
    return finding_at(
        "stretched_range",
        observed.value,
        f"calibration {what} {shown} {verb} the range of {name_of(observed.value)} to "
        f"{interval(*observed.range)}; all others are within {interval(-needed, needed)}. Leave "
        f"the {what} out if the device will not see such input",
    )


_CHECKS = (_dead, _coarse, _stretched)
