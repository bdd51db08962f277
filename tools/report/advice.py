# SPDX-License-Identifier: Apache-2.0
"""Advice for a smaller, faster or better image: the three most useful changes of each.

A gain is arithmetic over the reports and states its basis; nothing is built or run for it.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

Fields = dict[str, Any]

_SHOWN = 3

# Rounding step of a stack's size, in bytes. Smaller arena savings are not reported.
_STACK_STEP = 64

# Less of an arena than this is not worth a change of the model.
_WORTH = 0.05

UNNAMED = "strings, gaps"
"""Name for bytes in flash without a symbol."""

# A value with an SQNR above this is not reported (aot/quality).
_HARMLESS_DB = 60.0

# A setting with a smaller gain is not reported, as in `--suggest`; neither is a small part of the
# instructions.
_WORTH_DB = 0.2
_WORTH_TIME = 0.01

# Weights of four bits (aot/rules/four_bits.py): input channels of a group, bytes of the kernel by
# class of core.
_GROUP = 32
_FOUR_BITS_KERNEL = {"scalar": 400, "thumb1": 500, "dsp": 1500, "mve": 1550}

# Single noises add up to the measured noise if they come this close to it. A smaller gain may be
# none, so it is not predicted.
_SURE_DB = 1.0

# More bits leave at least this share of the noise: noise of other values, and clipped values.
_LEFT = 1e-3

# A conversion of a value's storage does not belong to its layer. A pure move of bytes keeps the
# value.
_CONVERSIONS = ("pl.quantize", "pl.dequantize", "pl.requantize")
_MOVES = ("pl.reshape", "pl.transpose", "pl.slice", "pl.gather")


def _advice(text: str, gain: str, size: float, ops: list[str]) -> Fields:
    return {"text": text, "gain": gain, "size": size, "model": "", "ops": ops}


def _best(found: list[Fields]) -> list[Fields]:
    ranked = sorted((row for row in found if row["size"] > 0), key=lambda row: -row["size"])
    return [{key: row[key] for key in ("text", "gain", "model", "ops")} for row in ranked[:_SHOWN]]


def _of(model: Fields, found: list[Fields], several: bool) -> list[Fields]:
    """Return advice on a model; it names the model if there are several."""
    prefix = f"{model['name']}: " if several else ""
    return [row | {"text": prefix + row["text"], "model": model["name"]} for row in found]


def _place(op: Fields) -> str:
    return str(op["module"] or [op["op"].removeprefix("pl."), *_calls(op)][-1])


def _calls(op: Fields) -> list[str]:
    """Return the torch functions of an op."""
    return [name.removeprefix("aten.") for name in op["from"] if name.startswith("aten.")]


def _names(op: Fields, ops: list[Fields]) -> tuple[str, ...]:
    """Return the names of a layer in settings: its module, or the functions if the module contains
    other modules.
    """
    path = op["module"].split(" (")[0]
    if path and not any(other["module"].startswith(f"{path}.") for other in ops):
        return (path,)
    return tuple(f"{path}:{call}" for call in _calls(op))


def _setting(names: Iterable[str], value: str) -> str:
    """Return the argument of lower() for layers (docs/accuracy.md)."""
    return f"quantization={json.dumps(dict.fromkeys(names, value), ensure_ascii=False)}"


def _smaller_program(fields: Fields) -> list[Fields]:
    """Return advice on the program besides the model: excess stack, and its own data."""
    found = []
    stack = fields["stack"]
    if stack["bound"] is not None:
        enough = -(-stack["bound"] // _STACK_STEP) * _STACK_STEP
        gain = stack["size"] - enough
        text = f"stack = {enough} in firmware_image: the program needs {stack['bound']:,} at most"
        found.append(_advice(text, f"{gain:,} bytes of RAM", gain, []))
    flash = sum(symbol["bytes"] for symbol in fields["symbols"])
    own = [
        symbol
        for symbol in fields["symbols"]
        if symbol["kind"] == "program"
        and symbol["name"] != UNNAMED
        and symbol["bytes"] * 20 > flash
    ]
    if own:
        gain = sum(symbol["bytes"] for symbol in own)
        names = ", ".join(symbol["name"] for symbol in own)
        text = f"{names}: data of the program, not of the model"
        found.append(_advice(text, f"{gain:,} bytes of flash without it", gain, []))
    return found


def _saved_by_four_bits(op: Fields) -> int:
    """Return the weight bytes saved with four bits; 0 for ops without such a form."""
    reads, gives = op["inputs"][0]["shape"], op["outputs"][0]["shape"]
    is_layer = {"aten.linear", "aten.convolution"} & set(op["from"])
    # A layer over the last dimension; a convolution qualifies if it is one for each pixel.
    dense = reads[:-1] == gives[:-1] and op["macs"] == math.prod(gives) * reads[-1]
    if op["op"] not in ("pl.linear", "pl.conv2d") or not is_layer or not dense:
        return 0
    depth, channels = reads[-1], gives[-1]
    return int(channels * (depth - math.ceil(depth / 2) - math.ceil(depth / _GROUP)))


def _smaller(model: Fields, weights: int) -> list[Fields]:
    ops: dict[tuple[str, ...], list[Fields]] = defaultdict(list)
    for op in model["ops"]:
        if _is_int8(op) and op["delegate"] is None and _saved_by_four_bits(op):
            ops[_names(op, model["ops"])].append(op)
    ops.pop((), None)
    has_kernel = any(op["op"] == "pl.linear_w4" for op in model["ops"])
    kernel = 0 if has_kernel else _FOUR_BITS_KERNEL[model["isa"] or "scalar"]
    found = []
    for names, of_layer in ops.items():
        # A layer called twice has its weights once.
        gain = sum({op["source"]: _saved_by_four_bits(op) for op in of_layer}.values())
        if gain > 2 * kernel:
            less = f", less some {kernel} for a kernel" if kernel else ""
            found.append(
                _advice(
                    f"weights of four bits for {_place(of_layer[0])}, which costs quality and "
                    f"time: {_setting(names, 'int8w4g32')}",
                    f"about {gain:,} of {weights:,} bytes of weights{less}",
                    gain - kernel,
                    [op["id"] for op in of_layer],
                )
            )
    return found + _smaller_arena(model)


def _smaller_arena(model: Fields) -> list[Fields]:
    """Return advice on the step with the largest live memory; the next largest step limits the
    gain.
    """
    steps = [step for step in model["steps"] if not step["delegate"]]
    if not model["arena"] or len(steps) < 2:
        return []
    peak, after = sorted((step["live_bytes"] for step in steps), reverse=True)[:2]
    worst = next(step for step in steps if step["live_bytes"] == peak)
    gain = peak - after
    if gain < max(_WORTH * model["arena"]["bytes"], _STACK_STEP):
        return []
    where = worst["module"] or worst["op"]
    return [
        _advice(
            f"less at {where}, such as fewer channels: it alone needs {peak:,} bytes; "
            'plan_library(optimize = "memory") runs it row by row where that can be',
            f"up to {gain:,} bytes of the arena",
            gain,
            worst["ops"],
        )
    ]


def _is_int8(op: Fields) -> bool:
    return bool(op["precision"] == "int8")


def _kind(step: Fields, by_id: dict[str, Fields]) -> tuple[str, str]:
    """Return the kind of a step. Steps of a kind have similar costs per multiply-accumulate."""
    dtypes = sorted({by_id[i]["precision"] for i in step["ops"] if i in by_id})
    return step["op"], ",".join(dtypes)


def _transposes_a_port(op: Fields, model: Fields) -> bool:
    """Return True if the op transposes a graph input or output. Setting io_layout avoids that."""
    names = {port["name"] for port in model["outputs"]}
    reads = all(before.startswith("in ") for before in op["after"])
    gives = any(output["name"] in names for output in op["outputs"])
    return bool(op["op"] == "pl.transpose" and (reads or gives))


def _faster(fields: Fields, model: Fields) -> list[Fields]:
    counted = [step for step in model["steps"] if step["instructions"]]
    by_id = {op["id"]: op for op in model["ops"]}
    total = sum(step["instructions"] for step in counted)
    # A layer with several steps, or one called twice, is one item of advice.
    gains: dict[str, float] = defaultdict(float)
    ids: dict[str, list[str]] = defaultdict(list)
    rates: dict[tuple[str, str], float] = {}
    for step in counted:
        macs = sum(by_id[i]["macs"] for i in step["ops"] if i in by_id)
        # The rate of a layer with few instructions is mostly setup.
        if macs and step["instructions"] * 100 > total:
            rate = step["instructions"] / macs
            kind = _kind(step, by_id)
            rates[kind] = min(rate, rates.get(kind, rate))
    for step in counted:
        if step["delegate"]:
            continue
        ops = [by_id[i] for i in step["ops"] if i in by_id]
        gain = step["instructions"] / total
        macs = sum(op["macs"] for op in ops)
        where = step["module"] or step["op"]
        short = step["op"].removeprefix("pl::")
        if ops and all(_transposes_a_port(op, model) for op in ops):
            text = f'io_layout="nhwc" in pte_model, so that {where} has nothing to transpose'
        elif any(not op["op"].startswith("pl.") for op in ops):
            text = f"{where} in int8: it runs in float32 now"
        elif any(op["precision"] == "int16" and op["macs"] for op in ops):
            text = f"{where} in int8, which costs quality: it runs in int16 now"
        elif (best := rates.get(_kind(step, by_id))) and (
            rate := step["instructions"] / macs
        ) > 2 * best:
            gain *= 1 - best / rate
            text = (
                f"another shape for {where}, with channels in multiples of 16: it takes {rate:.1f} "
                f"instructions a multiply-accumulate, the best {short} {best:.1f}"
            )
        else:
            continue
        gains[text] += gain
        ids[text] += step["ops"]
    found = [
        _advice(text, f"up to {gain:.1%} of the instructions", gain, ids[text])
        for text, gain in gains.items()
        if gain >= _WORTH_TIME
    ]
    npu = fields["board"]["npu"]
    if npu and not any(op["not_on"] or op["delegate"] is not None for op in model["ops"]):
        text = f'the NPU, which has nothing to do: engines = {{"{npu}": …}} in pte_model'
        found.append(_advice(text, "not counted", 1.0, []))
    if npu:
        for op in model["ops"]:
            cannot = {k: v for k, v in op["not_on"].items() if k not in op["could_run_on"]}
            if op["delegate"] is None and cannot:
                reason = "; ".join(cannot.values())
                text = f"{_place(op)} on the NPU, which does not take it: {reason}"
                found.append(_advice(text, "not counted", 1e-6, [op["id"]]))
    return found


def _decibels(noise: float) -> float:
    return -10 * math.log10(noise)


def _rounding(op: Fields, ops: list[Fields]) -> list[Fields]:
    """Return the int8 readers of an op's value; they would round an int16 value."""
    found = []
    for reader in (other for other in ops if op["id"] in other["after"]):
        found += _rounding(reader, ops) if reader["op"] in _MOVES else [reader]
    return [reader for reader in found if _is_int8(reader) and reader["op"] not in _CONVERSIONS]


def _better(model: Fields) -> list[Fields]:
    """Return the gain of more bits. It is predicted if the noises of single values add up to the
    model's measured noise. This excludes models with state: their noise returns in the next run.
    """
    outputs = [o["sqnr_db"] for o in model["quality"]["outputs"] if o["sqnr_db"] is not None]
    ops = [op for op in model["ops"] if _is_int8(op) and op["op"] not in _CONVERSIONS + _MOVES]
    noises = {
        op["id"]: 10 ** (-op["quality"]["alone_db"] / 10)
        for op in ops
        if op["quality"] and op["quality"]["alone_db"] is not None
    }
    layers: dict[tuple[str, ...], list[Fields]] = defaultdict(list)
    for op in ops:
        layers[_names(op, model["ops"])].append(op)
    measured = 10 ** (-min(outputs) / 10) if outputs else 0.0
    every = sum(noises.values())
    total = max(measured, every)
    adds_up = bool(measured and every and not model["states"]) and (
        abs(_decibels(every) - _decibels(measured)) < _SURE_DB
    )
    found = []
    for names, layer in layers.items():
        place, setting = _place(layer[0]), _setting(names, "int8")
        how, more = "with weights of eight bits", [names]
        if layer[0]["op"] != "pl.linear_w4":
            readers = [reader for op in layer for reader in _rounding(op, model["ops"])]
            more = [*dict.fromkeys([names, *(_names(op, model["ops"]) for op in readers)])]
            # Int16 would remove the four-bit weights, a separate item of advice.
            if any(reader["op"] == "pl.linear_w4" for reader in readers):
                continue
            how = "in int16" if len(more) == 1 else "and what reads it in int16"
            setting = _setting((name for names in more for name in names), "int16")
        alone = sum(noises.get(op["id"], 0) for op in layer)
        noise = sum(noises.get(op["id"], 0) for one in more for op in layers[one])
        worth = outputs and alone > 10 ** (-_HARMLESS_DB / 10) and all(more)
        gain = _decibels(max(1 - noise / total, _LEFT)) if worth else 0.0
        if gain >= _WORTH_DB:
            text = f"{place} {how}: {setting}; alone it leaves {_decibels(alone):.1f} dB"
            ids = [op["id"] for op in layer]
            told = (
                f"{noise / every:.0%} of what values cost alone: measure the gain (docs/quality.md)"
            )
            if adds_up and gain >= _SURE_DB:
                told = f"up to {gain:.1f} dB, predicted"
            found.append(_advice(text, told, gain, ids))
    found += [
        _advice(warning["text"], "see docs/quality.md", 1e-3, []) for warning in model["warnings"]
    ]
    return found


def advice(fields: Fields) -> Fields:
    """Return the most useful changes, by `smaller`, `faster` and `better`."""
    smaller, faster, better = _smaller_program(fields), [], []
    several = len(fields["models"]) > 1
    for model in fields["models"]:
        weights = sum(
            symbol["bytes"]
            for symbol in fields["symbols"]
            if symbol["kind"] == "weights" and model["name"] in symbol["ops"]
        )
        smaller += _of(model, _smaller(model, weights or model["constant_bytes"]), several)
        faster += _of(model, _faster(fields, model), several)
        better += _of(model, _better(model), several)
    return {"smaller": _best(smaller), "faster": _best(faster), "better": _best(better)}
