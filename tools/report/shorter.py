# SPDX-License-Identifier: Apache-2.0
"""Shorten the report of a very long model for its page. Details of the cheapest parts go first; the
report lists the omissions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

Fields = dict[str, Any]

_SYMBOLS = 300
_DETAILED = 300
_WITH_NUMBERS = (1_000, 300)
_OPS = (1_000, 300, 100, 0)

# Op fields shown only after a click on the op.
_DETAILS: Fields = {"from": [], "inputs": [], "not_on": {}, "source": "", "why": "", "holds": None}


def shorter(report: Fields) -> Iterator[Fields]:
    """Yield the report, then shorter ones; the size of the last is independent of the model.

    `shortened` of each lists its omissions. `graph` is True if its ops form a graph.
    """

    def said(*omitted: str, graph: bool = True, of: Fields | None = None) -> Fields:
        return (of or report) | {"shortened": list(omitted), "graph": graph}

    yield said()
    report = report | {"symbols": _largest_symbols(report["symbols"])}
    report = _with_models(report, _without_histograms)
    less = f"the {_SYMBOLS} largest symbols alone have names", "there are no histograms of ranges"
    yield said(*less)
    report = _with_models(report, _with_few_details)
    costly = f"the {_DETAILED} ops that cost most alone have source, reason and inputs"
    yield said(*less, costly)
    for count in _WITH_NUMBERS:
        outlined = _with_models(report, partial(_outlined, count=count))
        graph = f"the {count:,} ops that cost most alone are more than a node of the graph"
        yield said(*less, graph, of=outlined)
    for count in _OPS:
        report = _with_models(report, partial(_costliest, count=count))
        ops = f"there are the {count:,} ops that cost most" if count else "there are no ops"
        yield said(*less, f"{ops}, and no graph", graph=False)


def _with_models(report: Fields, change: Callable[[Fields], Fields]) -> Fields:
    return report | {"models": [change(model) for model in report["models"]]}


def _largest_symbols(symbols: list[Fields]) -> list[Fields]:
    """Return the largest, and the sums of the others by memory, origin and kind."""
    sums: defaultdict[tuple[str, str, str], int] = defaultdict(int)
    for symbol in symbols[_SYMBOLS:]:
        sums[symbol["memory"], symbol["origin"], symbol["kind"]] += symbol["bytes"]
    rest = [
        {"name": "others", "memory": memory, "bytes": size, "origin": origin, "kind": kind}
        for (memory, origin, kind), size in sums.items()
    ]
    rows = symbols[:_SYMBOLS] + [row | {"ops": {}} for row in rest]
    return sorted(rows, key=lambda row: (-row["bytes"], row["name"]))


def _without_histograms(model: Fields) -> Fields:
    def plain(op: Fields) -> Fields:
        quality = op["quality"]
        return op | {"quality": quality and quality | {"histogram": []}}

    return model | {"ops": [plain(op) for op in model["ops"]]}


def _ranked(model: Fields) -> list[str]:
    """Return ids of ops, the costliest first: by instructions if they were counted, and by MACs."""
    cost: defaultdict[str, int] = defaultdict(int)
    for step in model["steps"]:
        for op in step["ops"]:
            cost[op] += step["instructions"] or 0
    ops = sorted(model["ops"], key=lambda op: (-cost[op["id"]], -op["macs"]))
    return [op["id"] for op in ops]


def _with_few_details(model: Fields) -> Fields:
    kept = set(_ranked(model)[:_DETAILED])
    ops = [op if op["id"] in kept else op | _DETAILS for op in model["ops"]]
    return model | {"ops": ops}


def _outlined(model: Fields, count: int) -> Fields:
    """Return the costliest ops, and the others as graph nodes only."""
    short = _costliest(model, count)
    kept = {op["id"]: op | {"outline": None} for op in short["ops"]}
    counted = {step["ops"][0]: step["instructions"] for step in model["steps"] if step["ops"]}
    ops = []
    for op in model["ops"]:
        outputs = [{key: o[key] for key in ("name", "shape", "dtype")} for o in op["outputs"]]
        outline = {"outputs": outputs, "outline": {"instructions": counted.get(op["id"])}}
        nothing = _DETAILS | {"function": "", "quality": None}
        ops.append(kept.get(op["id"], op | nothing | outline) | {"after": op["after"]})
    return short | {"ops": ops}


def _costliest(model: Fields, count: int) -> Fields:
    kept = set(_ranked(model)[:count])
    steps = [
        step | {"ops": [op for op in step["ops"] if op in kept]}
        for step in model["steps"]
        if kept.intersection(step["ops"])
    ]
    if len(steps) < len(model["steps"]):
        steps.append(_others(model["steps"], steps))
    made = {step["id"] for step in steps}
    return model | {
        "ops": [op | {"after": []} for op in model["ops"] if op["id"] in kept],
        "steps": steps,
        "blocks": [block for block in model["blocks"] if block["op"] in made],
        "delegates": [
            row | {"ops": [op for op in row["ops"] if op in kept], "report": {}}
            for row in model["delegates"]
        ],
        "warnings": model["warnings"][:_DETAILED],
    }


def _others(every: list[Fields], kept: list[Fields]) -> Fields:
    """Return one row for the dropped steps, at the place of the last."""
    rest = sum(s["instructions"] or 0 for s in every) - sum(s["instructions"] or 0 for s in kept)
    names = {"id": "", "op": f"{len(every) - len(kept):,} others", "module": "", "function": ""}
    numbers = {"scratch": 0, "constants": 0, "live_bytes": 0, "delegate": False}
    return names | numbers | {"step": every[-1]["step"], "instructions": rest or None, "ops": []}
