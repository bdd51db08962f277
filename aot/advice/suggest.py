# SPDX-License-Identifier: Apache-2.0
"""Suggestions for a better or smaller lowered model: the change, its gain, and its verification."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from torch.fx import GraphModule, Node

from aot.advice.suggestion import EQUALIZE, WHOLE, Suggestion, seen_range
from aot.backends.cortex_m import FLOAT_OPS, has_float_kernel
from aot.dialect.graph import calls
from aot.dialect.quantization import INT16, Quantization
from aot.dialect.results import taken_from
from aot.lower import Lowered
from aot.quality.change import Change
from aot.quality.decibels import EQUAL_DB, ROUGH_DB, decibels
from aot.quality.layers import computing, only_moves, settings_of
from aot.quality.value import MeasuredValue
from aot.quality.values import Sequences, Values
from aot.quantizer.int4 import rounded_to_eight_bits, rounded_to_groups
from aot.quantizer.int16 import takes_int16
from aot.quantizer.quantizer import Int8Quantizer
from aot.quantizer.recipe import FLOAT, INT4_GROUPS, Recipe
from aot.quantizer.recipe import INT16 as AS_INT16
from aot.rules import fused_clamp, rule_for
from aot.rules.four_bits import GROUP, has_four_bit_form
from tools.text.progress import counted

SAMPLES = 16
"""Maximum number of samples for trial changes.

SQNR differs by ten decibels between samples. With four samples, not even the sign of a gain is
reliable.
"""

_FINER = 0.8
"""A range is worth a change if the observed part is below this share."""

_WORTH_DB = 0.2
"""A change with a smaller gain is not suggested."""

_AFFORDABLE_DB = 1.0
"""Acceptable loss for half of a layer's flash."""


_OF_THE_WHOLE: Sequence[Mapping[str, Any]] = (
    {"correct_bias": True},
    {"observer": "minmax"},
    {"observer": "mse"},
)
"""Settings of the whole model that cost nothing on the device."""

Again = Callable[[Mapping[str, str]], Lowered]
"""Lowers the model again, with settings of `quantization` by layer."""

Changed = Callable[[Mapping[str, str], Mapping[str, Any]], Lowered]
"""The same, with settings of `Quantize` for the whole model too."""


def suggest(
    lowered: Lowered,
    count: int = 3,
    again: Again | None = None,
    equalized: Callable[[], Lowered] | None = None,
    changed: Changed | None = None,
) -> list[Suggestion]:
    """Return the changes of single layers and values with the largest gain, best first.

    Changes that save flash at little cost follow, the largest first.

    Args:
      lowered: a model. The cost of its values is measured again, on more samples.
      count: the number of values to try, the most costly first.
      again: lowers the model again with each suggested setting.
      equalized: lowers it again with equalize=True; tried where int8 is rough.
      changed: lowers it again with settings for the whole model; each is kept if it helps, and
        then tried with the best setting by layer.
    """
    values = Values(lowered.quantized, lowered.floats, lowered.folded, SAMPLES)
    samples = [(s, [x.contiguous() for x in xs]) for s, xs in lowered.quality.samples.samples]
    before = values.sqnr_db(samples)
    lowered = replace(lowered, quality=replace(lowered.quality, values=values.measure(samples)))
    worst = lowered.quality.worst()[:count]
    tried = counted(worst, "trying changes of value", len(worst))
    better = [s for value in tried for s in _of(value, lowered, values, samples, before)]
    reached = max((s.measured_db or before or 0.0 for s in better), default=before)
    if worst and reached is not None and reached < ROUGH_DB:
        better += _in_front(worst[0], lowered, values, samples, before)
    smaller = list(_smaller(lowered, values, samples, before))
    smaller = sorted(smaller, key=lambda s: -s.saved_bytes)[:count]
    # An input and its only layer may yield the same change.
    known = {tuple(sorted(s.setting.items())) or s.value.name: s for s in reversed(better)}
    better = [s for s in reversed(known.values()) if s.gain_db > _WORTH_DB]
    from_db = lowered.quality.mean_sqnr_db
    if again is not None:
        better, smaller = (
            [_lowered(s, again, from_db) for s in group] for group in (better, smaller)
        )
        smaller = [s for s in smaller if s.gain_db >= -_AFFORDABLE_DB]
    if equalized is not None and worst and from_db is not None and from_db < ROUGH_DB:
        found = Suggestion(EQUALIZE, worst[0], None, None, before, lowered_from_db=from_db)
        better.append(replace(found, lowered_db=equalized().quality.mean_sqnr_db))
    better = [s for s in better if s.gain_db > _WORTH_DB]
    if changed is not None and worst and from_db is not None:
        better += _of_the_whole(lowered, worst[0], changed, better, from_db)
    return [*sorted(better, key=lambda s: -s.gain_db), *smaller]


def _of_the_whole(
    lowered: Lowered,
    worst: MeasuredValue,
    changed: Changed,
    better: Sequence[Suggestion],
    from_db: float,
) -> Iterator[Suggestion]:
    """Yield settings of the whole model that help, one added to the other, and then with the best
    setting by layer.
    """
    bytes_before = len(lowered.pte)

    def tried(setting: Mapping[str, str], changes: Mapping[str, Any]) -> Suggestion:
        after = changed(setting, changes)
        return Suggestion(
            WHOLE,
            worst,
            None,
            None,
            None,
            setting,
            changes,
            saved_bytes=bytes_before - len(after.pte),
            lowered_db=after.quality.mean_sqnr_db,
            lowered_from_db=from_db,
        )

    kept: Suggestion | None = None
    for option in counted(_OF_THE_WHOLE, "lowering again with setting", len(_OF_THE_WHOLE)):
        found = tried({}, {**(kept.changes if kept else {}), **option})
        if found.gain_db > (kept.gain_db if kept else 0.0) + _WORTH_DB:
            kept = found
    if kept is None:
        return
    yield kept
    by_layer = [s for s in better if s.setting and s.kind != INT4_GROUPS]
    if by_layer:
        best = max(by_layer, key=lambda s: s.gain_db)
        both = tried(best.setting, kept.changes)
        if both.gain_db > max(kept.gain_db, best.gain_db) + _WORTH_DB:
            yield both


def _lowered(suggestion: Suggestion, again: Again, from_db: float | None) -> Suggestion:
    if not suggestion.setting:
        return suggestion
    after = again(suggestion.setting).quality.mean_sqnr_db
    return replace(suggestion, lowered_db=after, lowered_from_db=from_db)


def _of(
    value: MeasuredValue, lowered: Lowered, values: Values, samples: Sequences, before: float | None
) -> Iterator[Suggestion]:
    every = lowered.quality.values
    total = sum(v.noise_to_signal or 0.0 for v in every)
    readers = [v for v in every if v.value.name in values.read_by(value.name)]

    def changed(kind: str, changing: Sequence[MeasuredValue]) -> Suggestion:
        return _changed(kind, changing, value, lowered, values, samples, before)

    for kind, has_form in ((FLOAT, _has_float_form), (AS_INT16, _has_int16_form)):
        tried = []
        # An int8 reader rounds the value again: a gain may need both changes.
        for changing in ([value], [value, *readers]) if readers else ([value],):
            if all(v.quantization.type is not INT16 and has_form(v.value) for v in changing):
                tried.append(changed(kind, changing))
        if tried:
            few, many = tried[0], tried[-1]
            yield many if many.gain_db > few.gain_db + _WORTH_DB else few
    # Data movement keeps the quantization of the value and adds no noise of its own.
    alike = [v for v in every if v.quantization == value.quantization]
    (low, high), (least, greatest) = seen_range(*alike), value.limits
    if low < high and (high - low < _FINER * (greatest - least)):
        share = ((high - low) / (greatest - least)) ** 2
        saved = sum(v.noise_to_signal or 0.0 for v in alike) * (1.0 - share)
        other = {value.quantization: _quantization(low, high, value.quantization)}
        yield Suggestion(
            "range",
            replace(value, low=low, high=high),
            _predicted(before, total, total - saved),
            values.sqnr_db(samples, Change(other=other)),
            before,
        )


def _in_front(
    value: MeasuredValue, lowered: Lowered, values: Values, samples: Sequences, before: float | None
) -> Iterator[Suggestion]:
    """Suggest int16 for all ops that a value depends on.

    Before a steep function such as a logarithm, int8 has already lost the necessary precision.
    """
    front = _computed_from(value.value)
    changing = [
        v
        for v in lowered.quality.values
        if v.value in front and v.quantization.type is not INT16
        if _has_int16_form(v.value) and not only_moves(v.value)
    ]
    if value in changing and len(changing) > 1:
        yield _changed(AS_INT16, changing, value, lowered, values, samples, before)


def _changed(
    kind: str,
    changing: Sequence[MeasuredValue],
    value: MeasuredValue,
    lowered: Lowered,
    values: Values,
    samples: Sequences,
    before: float | None,
) -> Suggestion:
    """Return a suggestion to change the ops computing some values, for one value's quality."""
    every = lowered.quality.values
    total = sum(v.noise_to_signal or 0.0 for v in every)
    ops = [v.value for v in changing]
    if kind == FLOAT:  # an int8 layer with a float clamp after it is no longer one op
        ops = [node for value in ops for node in dict.fromkeys((_layer(value), value))]
    setting = dict.fromkeys((name for node in ops for name in settings_of(node)), kind)
    change = _of_setting(lowered, setting)
    if kind == AS_INT16:  # weights then have eight bits
        narrow = [_layer(v.value).name for v in changing if v.name in _four_bits(lowered)]
        change = replace(change, weights=dict.fromkeys(narrow, rounded_to_eight_bits))
    noises = {v.name: v.noise_to_signal or 0.0 for v in every if v.value.name in change.changed}
    left = values.noise_to_signal(samples, noises, change) or 0.0
    predicted = _predicted(before, total, total - sum(noises.values()) + left)
    return Suggestion(kind, value, predicted, values.sqnr_db(samples, change), before, setting)


def _computed_from(value: Node) -> set[Node]:
    """Return a value and all values that it is computed from."""
    found, waiting = {value}, [value]
    while waiting:
        new = set(waiting.pop().all_input_nodes) - found
        found |= new
        waiting.extend(new)
    return found


def _smaller(
    lowered: Lowered, values: Values, samples: Sequences, before: float | None
) -> Iterator[Suggestion]:
    """Suggest four-bit weights for layers."""
    floats = {node.name: node for node in lowered.floats.graph.nodes}
    narrow = _four_bits(lowered)
    for value in lowered.quality.values:
        layer = floats.get(_layer(value.value).name)
        if layer is None or not has_four_bit_form(layer) or before is None:
            continue
        if value.name in narrow:  # already so
            continue
        change = Change(weights={layer.name: rounded_to_groups})
        measured = values.sqnr_db(samples, change)
        if measured is not None and measured >= before - _AFFORDABLE_DB:
            channels, depth, *_ = layer.args[1].meta["val"].shape
            saved = channels * (depth - math.ceil(depth / 2) - math.ceil(depth / GROUP))
            setting = dict.fromkeys(settings_of(layer), INT4_GROUPS)
            yield Suggestion(INT4_GROUPS, value, None, measured, before, setting, saved_bytes=saved)


def _four_bits(lowered: Lowered) -> set[str]:
    """Return the names of values of layers with four-bit weights."""
    layers = (n for n in lowered.folded.graph.nodes if calls(n, "linear_w4"))
    return {layer.meta["origin"].quantized for layer in layers}


def _of_setting(lowered: Lowered, setting: Mapping[str, str]) -> Change:
    """Return the changes of values made by a setting, from the model's quantizer."""
    floats = GraphModule(lowered.floats, copy.deepcopy(lowered.floats.graph))
    quantizer = Int8Quantizer(recipe=Recipe.of(setting))
    quantizer.annotate(quantizer.transform_for_annotation(floats))
    only_float = {
        node.name
        for node in floats.graph.nodes
        if node.op == "placeholder" and quantizer.floats.issuperset(n.name for n in node.users)
    }
    ranges = {v.value.name: (v.low, v.high) for v in lowered.quality.values}
    return Change(quantizer.wide, quantizer.floats | only_float, ranges=ranges)


def _layer(value: Node) -> Node:
    """Return the op computing a value. A clamp after it may be fused."""
    fused = fused_clamp(value) if value.op == "call_function" else None
    return value if fused is None else fused[0]


def _has_int16_form(value: Node) -> bool:
    if value.op == "placeholder":
        return all(map(_has_int16_form, computing(value)))
    node = _layer(value)
    rule = rule_for(node)
    return rule is not None and takes_int16(rule, node)


def _has_float_form(value: Node) -> bool:
    calls = (taken_from(node)[0] for node in computing(value))
    return all(has_float_kernel(_layer(call)) or call.target in FLOAT_OPS for call in calls)


def _predicted(before: float | None, total: float, left: float) -> float | None:
    """Return the predicted SQNR if only part of the single values' noise remains.

    Errors that cancel now may not cancel then.
    """
    gain, alone = decibels(total, left), decibels(1.0, left)
    if before is None or gain is None or alone is None:
        return None
    return min(EQUAL_DB, before + gain, alone)


def _quantization(low: float, high: float, like: Quantization) -> Quantization:
    """Return the quantization of a range, as a min/max observer computes it."""
    kind = like.type
    if kind.symmetric:
        return Quantization(max(-low, high) / kind.quant_max or like.scale, 0, kind)
    scale = (high - low) / (kind.quant_max - kind.quant_min)
    return Quantization(scale, kind.quant_min - round(low / scale), kind)
