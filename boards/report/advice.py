# SPDX-License-Identifier: Apache-2.0
"""What to do to make an image smaller, faster or better: of each the three that gain most.

A gain is arithmetic over the reports, and says how it was had; nothing is built or run for it.
"""

from __future__ import annotations

import math
from typing import Any

Fields = dict[str, Any]

_SHOWN = 3

# What the size of a stack is rounded to, bytes.
_STACK_STEP = 64

# Less of an arena than this is not worth a change of the model.
_WORTH = 0.05

UNNAMED = "strings, gaps"
"""What stands for bytes in flash that have no symbol."""

# A value that costs more than this alone is not worth a word (aot/quality).
_HARMLESS_DB = 60.0


def _advice(text: str, gain: str, size: float, ops: list[str]) -> Fields:
    return {"text": text, "gain": gain, "size": size, "model": "", "ops": ops}


def _best(found: list[Fields]) -> list[Fields]:
    ranked = sorted((row for row in found if row["size"] > 0), key=lambda row: -row["size"])
    return [{key: row[key] for key in ("text", "gain", "model", "ops")} for row in ranked[:_SHOWN]]


def _of(model: Fields, found: list[Fields], several: bool) -> list[Fields]:
    """Advice on a model, which says of which where there are several."""
    prefix = f"{model['name']}: " if several else ""
    return [row | {"text": prefix + row["text"], "model": model["name"]} for row in found]


def _place(op: Fields) -> str:
    return str(op["module"] or op["op"].removeprefix("pl."))


def _setting(op: Fields, value: str) -> str:
    """What to give to lower() for a layer (docs/accuracy.md)."""
    layer = op["module"].split(" (")[0]
    return f'quantization={{"{layer}": "{value}"}}' if layer else ""


def _smaller_program(fields: Fields) -> list[Fields]:
    """What the program takes besides the model: more stack than it can need, its own data."""
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


def _smaller(model: Fields) -> list[Fields]:
    found = []
    flash = model["constant_bytes"]
    for op in model["ops"]:
        setting = _setting(op, "int8w4g32")
        if op["op"] == "pl.linear" and _is_int8(op) and op["delegate"] is None and setting:
            # Four bits an element, scale and offset for each 32 of them (docs/accuracy.md).
            gain = op["constant_bytes"] // 2 - op["constant_bytes"] // 16
            found.append(
                _advice(
                    f"weights of four bits for {_place(op)}, which costs quality: {setting}",
                    f"about {gain:,} of {flash:,} bytes of weights",
                    gain,
                    [op["id"]],
                )
            )
    found += _smaller_arena(model)
    return found


def _smaller_arena(model: Fields) -> list[Fields]:
    """The step that decides how large the arena is, and what the next one would leave."""
    steps = [step for step in model["steps"] if not step["delegate"]]
    if not model["arena"] or len(steps) < 2:
        return []
    peak, after = sorted((step["live_bytes"] for step in steps), reverse=True)[:2]
    worst = next(step for step in steps if step["live_bytes"] == peak)
    gain = peak - after
    if gain < _WORTH * model["arena"]["bytes"]:
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
    """Steps of one kind take about the same for a multiply-accumulate."""
    dtypes = sorted({by_id[i]["precision"] for i in step["ops"] if i in by_id})
    return step["op"], ",".join(dtypes)


def _transposes_a_port(op: Fields, model: Fields) -> bool:
    """Whether it transposes an input or output of the model, which io_layout can do without."""
    names = {port["name"] for port in model["outputs"]}
    reads = all(before.startswith("in ") for before in op["after"])
    gives = any(output["name"] in names for output in op["outputs"])
    return bool(op["op"] == "pl.transpose" and (reads or gives))


def _faster(fields: Fields, model: Fields) -> list[Fields]:
    counted = [step for step in model["steps"] if step["instructions"]]
    by_id = {op["id"]: op for op in model["ops"]}
    total = sum(step["instructions"] for step in counted)
    found = []
    rates: dict[tuple[str, str], float] = {}
    for step in counted:
        macs = sum(by_id[i]["macs"] for i in step["ops"] if i in by_id)
        # The rate of a layer that hardly counts is that of its setup.
        if macs and step["instructions"] * 100 > total:
            rate = step["instructions"] / macs
            kind = _kind(step, by_id)
            rates[kind] = min(rate, rates.get(kind, rate))
    for step in counted:
        ops = [by_id[i] for i in step["ops"] if i in by_id]
        share = step["instructions"] / total
        macs = sum(op["macs"] for op in ops)
        where = step["module"] or step["op"]
        short = step["op"].removeprefix("pl::")
        if step["delegate"]:
            continue
        if ops and all(_transposes_a_port(op, model) for op in ops):
            text = f'io_layout="nhwc" in pte_model, so that {where} has nothing to transpose'
            found.append(_advice(text, f"{share:.1%} of the instructions", share, step["ops"]))
        elif any(not op["op"].startswith("pl.") for op in ops):
            text = f"{where} in int8: it runs in float32 now"
            found.append(
                _advice(text, f"up to {share:.1%} of the instructions", share, step["ops"])
            )
        elif any(op["precision"] == "int16" and op["macs"] for op in ops):
            text = f"{where} in int8, which costs quality: it runs in int16 now"
            found.append(
                _advice(text, f"up to {share:.1%} of the instructions", share, step["ops"])
            )
        elif (best := rates.get(_kind(step, by_id))) and (
            rate := step["instructions"] / macs
        ) > 2 * best:
            gain = share * (1 - best / rate)
            text = (
                f"another shape for {where}, with channels in multiples of 16: it takes {rate:.1f} "
                f"instructions a multiply-accumulate, the best {short} {best:.1f}"
            )
            found.append(_advice(text, f"up to {gain:.1%} of the instructions", gain, step["ops"]))
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


def _better(model: Fields) -> list[Fields]:
    """What int16 in one layer would give. The noises of single values add up, with that of weights,
    to the model's, which was measured.
    """
    outputs = [o["sqnr_db"] for o in model["quality"]["outputs"] if o["sqnr_db"] is not None]
    alone = [
        (op, op["quality"]["alone_db"])
        for op in model["ops"]
        if op["quality"] and op["quality"]["alone_db"] is not None and _is_int8(op)
    ]
    noises = {op["id"]: 10 ** (-value / 10) for op, value in alone if value < _HARMLESS_DB}
    measured = 10 ** (-min(outputs) / 10) if outputs else 0.0
    total = max(measured, sum(noises.values()))
    found = []
    for op, value in alone:
        rest = total - noises.get(op["id"], 0)
        setting = _setting(op, "int16")
        if not outputs or not setting or op["id"] not in noises or rest <= 0:
            continue
        gain = _decibels(rest) - _decibels(total)
        text = f"{_place(op)} in int16: {setting}; alone it leaves {value:.1f} dB"
        found.append(_advice(text, f"up to {gain:.1f} dB, predicted", gain, [op["id"]]))
    found += [
        _advice(warning["text"], "see docs/quality.md", 1e-3, []) for warning in model["warnings"]
    ]
    return found


def advice(fields: Fields) -> Fields:
    """Returns what helps most, by `smaller`, `faster` and `better`."""
    smaller, faster, better = _smaller_program(fields), [], []
    several = len(fields["models"]) > 1
    for model in fields["models"]:
        smaller += _of(model, _smaller(model), several)
        faster += _of(model, _faster(fields, model), several)
        better += _of(model, _better(model), several)
    return {"smaller": _best(smaller), "faster": _best(faster), "better": _best(better)}
