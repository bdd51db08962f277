# SPDX-License-Identifier: Apache-2.0
"""The report of an image as Markdown, for a pull request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

Fields = dict[str, Any]

_LARGEST = 10


def _text(value: object) -> str:
    """Return a user's name or line without any tags."""
    return " ".join(str(value).split()).replace("<", "\\<")


def _cell(value: object) -> str:
    text = str(value) if str(value).startswith("`") else _text(value)
    return text.replace("|", "\\|").replace("\n", " ")


def _code(name: str) -> str:
    """Return a name in one line, in backticks. Their number exceeds all runs of backticks in the
    name.
    """
    text = " ".join(str(name).split())
    marks = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    return f"{marks} {text} {marks}" if "`" in text else f"`{text}`"


def md_table(head: Sequence[str], rows: Sequence[Sequence[object]], align: str) -> str:
    """Return rows as a table of Markdown; `align` has l or r for each column."""
    lines = [head, ["---:" if letter == "r" else "---" for letter in align], *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.1%}" if whole else ""


def decibels(value: float | None) -> str:
    """Return an SQNR as text."""
    if value is None:
        return "-"
    return "exact" if value >= 150 else f"{round(value, 1) + 0.0:.1f} dB"


def _memory(report: Fields) -> str:
    rows = [
        (m["name"], m["kind"], f"{m['used']:,}", f"{m['size']:,}", _share(m["used"], m["size"]))
        for m in report["memories"]
    ]
    stack = report["stack"]
    path = [" → ".join(map(_code, stack["path"]))] if stack["path"] else []
    unbounded = (
        f"\n\nWhat the program takes of the stack's {stack['size']:,} bytes has no bound: "
        f"{', '.join([stack['problem'], *path])}."
    )
    table = md_table(["memory", "kind", "used", "bytes", ""], rows, "llrrr")
    return table + (unbounded if stack["bound"] is None else "")


def _flash(report: Fields) -> str:
    sums: dict[str, int] = {}
    for symbol in report["symbols"]:
        sums[symbol["kind"]] = sums.get(symbol["kind"], 0) + symbol["bytes"]
    parts = [f"{kind} {size:,}" for kind, size in sorted(sums.items(), key=lambda i: -i[1])]
    rows = [
        (_code(s["name"]), f"{s['bytes']:,}", s["kind"], s["origin"])
        for s in report["symbols"][:_LARGEST]
    ]
    head = ["largest symbols in flash", "bytes", "what", "from"]
    return f"Flash: {', '.join(parts)} bytes.\n\n" + md_table(head, rows, "lrll")


def _steps(model: Fields) -> str:
    steps = [step for step in model["steps"] if step["instructions"]]
    total = sum(step["instructions"] for step in steps)
    ranked = sorted(steps, key=lambda step: -step["instructions"])[:_LARGEST]
    rows = [
        (s["id"], s["op"], s["module"], f"{s['instructions']:,}", _share(s["instructions"], total))
        for s in ranked
    ]
    return md_table(["id", "op", "module", "instructions", ""], rows, "lllrr")


def _instructions(report: Fields, model: Fields | None) -> list[str]:
    """Return the counted figures of an image or a model, and the uncounted parts."""
    parts = []
    steps = [step for step in model["steps"] if step["instructions"]] if model else []
    if len(report["models"]) > 1 and steps:
        parts.append(f"{sum(step['instructions'] for step in steps):,} in its steps.")
    elif report["instructions"] and len(report["models"]) < 2:
        parts.append(f"{report['instructions']:,} an inference.")
    if model and report["engine_is_simulated"] and model["delegates"]:
        parts.append(
            "The NPU is a functional model here, which the core runs: instructions of its "
            "steps are the model's, and say nothing of an NPU."
        )
    if model and steps:
        parts.append(_steps(model))
    else:
        why = "the image names no plan of it" if model else "the image names no model"
        if model and model["arena"]:
            why = "no steps are marked"
        by_op = " by op" if parts else ""
        parts.append(f"Not counted{by_op}: {report['not_counted'] or why}.")
    return parts


def _dead_channels(model: Fields) -> str:
    """Return the layers that lost channels which no output depends on."""
    rows = [
        (
            layer["id"] or "gone",
            layer["module"] or layer["name"],
            *(
                f"{layer['before'][key]:,} → {layer['after'][key]:,}"
                for key in ("inputs", "outputs", "macs", "constant_bytes")
            ),
        )
        for layer in model["dead_channels"]
    ]
    if not rows:
        return ""
    saved = {
        key: sum(layer["before"][key] - layer["after"][key] for layer in model["dead_channels"])
        for key in ("macs", "constant_bytes")
    }
    head = ["id", "layer", "inputs", "outputs", "MACs", "bytes of constants"]
    return (
        f"Dead channels: {saved['macs']:,} multiply-accumulates and {saved['constant_bytes']:,} "
        "bytes of constants less. They are constant for every input, or nobody reads them.\n\n"
        + md_table(head, rows, "llrrrr")
    )


def _not_listed(report: Fields) -> list[str]:
    """Return a line on steps of plans outside of the image's models."""
    count = report["unnamed_plans"]
    plans = "a plan" if count == 1 else f"{count} plans"
    text = f"Not listed: steps of {plans} that the image's `plan` does not name."
    return [text] if count else []


def _npu(model: Fields) -> str:
    """Return each delegate, with its compiler's figures for its layers."""
    by_id = {op["id"]: op for op in model["ops"]}
    parts = []
    for one in model["delegates"]:
        report = one["report"]
        layers = report.get("layers", [])
        total = sum(layer["cycles"] for layer in layers)
        said = [
            f"{report['cycles']:,} cycles by the NPU's model" if "cycles" in report else "",
            f"{total:,} cycles by its compiler" if total else "",
            f"{one['macs']:,} MACs",
            f"payload {one['payload_bytes']:,} bytes",
            f"scratch {one['scratch_bytes']:,} bytes",
        ]
        name = f"{one['backend']} {one['configuration']}".strip()
        parts.append(f"{one['id']}: {name}, {'; '.join(filter(None, said))}.")
        parts += [f"Cut {cut}." for cut in report.get("cuts", [])]
        memories = list(dict.fromkeys(m for layer in layers for m in layer["traffic"]))
        rows = [
            (
                layer["op"],
                layer["kind"],
                by_id[layer["op"]]["module"] if layer["op"] in by_id else "",
                f"{layer['cycles']:,}",
                _share(layer["cycles"], total),
                f"{layer['macs']:,}",
                f"{layer['utilization']:.1%}",
                *(f"{layer['traffic'].get(memory, 0):,}" for memory in memories),
            )
            for layer in sorted(layers, key=lambda layer: -layer["cycles"])[:_LARGEST]
        ]
        head = ["op", "layer", "module", "cycles", "", "MACs", "of all MACs"]
        if rows:
            bytes_of = [f"{memory} bytes" for memory in memories]
            parts.append(md_table([*head, *bytes_of], rows, "lllrrrr" + "r" * len(memories)))
    return "\n\n".join(parts)


def _left(model: Fields) -> str:
    """Return the ops left to the core although an engine was requested, by the engine's reason."""
    left: dict[tuple[str, str], list[Fields]] = {}
    for op in model["ops"]:
        for engine, why in op["not_on"].items() if op["delegate"] is None else ():
            left.setdefault((engine, why), []).append(op)
    if not left:
        return ""
    rows = [(", ".join(op["id"] for op in ops), _place(ops), *key) for key, ops in left.items()]
    beside = {op["id"] for ops in left.values() for op in ops}
    head = ["ops", "which", "engine", "why not there"]
    return f"The core runs {len(beside)} of {len(model['ops'])} ops.\n\n" + md_table(
        head, rows, "llll"
    )


def _place(ops: Sequence[Fields]) -> str:
    """Return the modules of the ops, each once."""
    return ", ".join(dict.fromkeys(op["module"] or op["op"] for op in ops))


def _on_device(device: Fields) -> str:
    """Return the accuracy reported by the program, if it knows the correct results."""
    images, right = device.get("test images"), device.get("correct on device")
    return f", {right / images:.2%} on the board" if images and right is not None else ""


def _quality(model: Fields, device: Fields) -> str:
    quality = model["quality"]
    samples = (
        f"{quality['samples']:,} {'held-out' if quality['held_out'] else 'calibration'} samples"
    )
    lines = []
    if quality["accuracy"]:
        both = quality["accuracy"]
        how = "quantized" if model["quantization"] == "mixed" else f"in {model['quantization']}"
        right = f"{both['float32']:.2%} right in float32, {both['int8']:.2%} {how}"
        lines.append(f"- {right}{_on_device(device)}.")
    if metric := quality["metric"]:
        both = f"{metric['float32']:.4g} in float32, {metric['int8']:.4g} on the device"
        lines.append(f"- {_code(metric['name'])}: {both}.")
    # A .tflite file has no float model to compare its outputs with.
    for output, path in zip(quality["outputs"], model["paths"], strict=False):
        agreement = "" if output["agreement"] is None else f", agreement {output['agreement']:.2%}"
        lines.append(
            f"- {_code(path or output['name'])}: SQNR {decibels(output['sqnr_db'])}{agreement}, "
            f"{samples}.{_unevenness(output)}"
        )
    measured = [op for op in model["ops"] if op["quality"]]
    cost = {op["id"]: _cost(op["quality"]) for op in measured}
    worst = sorted(measured, key=lambda op: cost[op["id"]])[:_LARGEST]
    rows = [
        (
            op["id"],
            op["op"],
            op["module"],
            decibels(op["quality"]["alone_db"]),
            decibels(op["quality"]["sqnr_db"]),
        )
        for op in worst
    ]
    return (
        "\n".join(lines) + "\n\n" + md_table(["id", "op", "module", "alone", "SQNR"], rows, "lllrr")
    )


def _unevenness(output: Fields) -> str:
    """Return the worst sample and the worst part of an output."""
    found = ""
    if one := output["by_sample"]:
        found += f" Sample {one['worst']} has {decibels(one['worst_db'])}."
    parts = [part for part in output["parts"] if part["varying_db"] is not None]
    if parts:
        worst = min(parts, key=lambda part: part["varying_db"])
        found += f" {worst['name'].capitalize()} varies with {decibels(worst['varying_db'])}."
    return found


def _cost(quality: Fields) -> float:
    for key in ("alone_db", "sqnr_db"):
        if quality[key] is not None:
            return float(quality[key])
    return 150.0


def _advice(report: Fields) -> str:
    lines = []
    for kind, rows in report["advice"].items():
        lines += [f"- {kind}: {_text(row['text'])} ({row['gain']})" for row in rows]
    return "\n".join(lines) or "Nothing that stands out."


def markdown(report: Fields) -> str:
    """Return the report as text."""
    board = report["board"]
    parts = [
        f"# {report['name']} on {board['name']} ({board['core']})",
        "## What to do",
        _advice(report),
        "## Memory",
        _memory(report),
        _flash(report),
    ]
    for model in report["models"]:
        of = f" of {model['name']}" if len(report["models"]) > 1 else ""
        if model["arena"]:
            arena = model["arena"]
            parts.append(
                f"Arena{of}: {arena['bytes']:,} bytes, no plan could take less than "
                f"{arena['lower_bound']:,}; largest at {arena['peak']['what']}."
            )
        parts += [f"## Instructions{of}", *_instructions(report, model)]
        if dead := _dead_channels(model):
            parts.append(dead)
        if model is report["models"][-1]:
            parts += _not_listed(report)
        if engines := [part for part in (_npu(model), _left(model)) if part]:
            parts += [f"## NPU{of}", *engines]
        parts += [f"## Quality{of}", _quality(model, report["device"])]
    if not report["models"]:
        parts += ["## Instructions", *_instructions(report, None), *_not_listed(report)]
    return "\n\n".join(parts) + "\n"
