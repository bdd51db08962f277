# SPDX-License-Identifier: Apache-2.0
"""Table of ATen ops and their lowering, made from rules, float kernels and the NPU's emitters.

    bazel run //aot/support:supported_ops                 every op as a table
    bazel run //aot/support:supported_ops -- --op=conv    those with that in their names
    bazel run //aot/support:supported_ops -- --update     writes the table of docs/operators.md

The table lists torch's core ops, and all ops with a rule.

- `int8`: a rule lowers the op to the dialect.
- `int16`: one of the dialect ops has an int16 form.
- `float32`: there is a kernel for layers that stay float.
- `ethos_u`: the NPU takes one of the dialect ops.

Refusals are quoted from the rules. An op without a form may be decomposed by torch or by a pass. It
is then accepted if its parts are. An op reading no tensor is a constant.
"""

from __future__ import annotations

from tools.imports import imports_that_stay
from tools.text.signal_handling import run_main

import ast
import functools
import inspect
import os
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

with imports_that_stay():
    import torch
    from absl import flags
    from torch.fx import Graph, Node

    from aot.backends.cortex_m import FLOAT_OPS
    from aot.backends.ethos_u.emitters import EMITTERS
    from aot.dialect.library import Op
    from aot.dialect.rule import Rule
    from aot.passes import aten as passes
    from aot.passes.aten.decompositions.rare_ops import COMPOSED
    from aot.rules import _RESULTS, _TABLE
    from aot.rules.floats import FORMS
    from aot.rules.function import is_elementwise
    from aot.rules.movement import on_floats
    from kernels.lut.op import lut
    from tools.text.table import table

_ONLY = flags.DEFINE_string("op", "", "Only ops with this in their name.")
_UPDATE = flags.DEFINE_bool("update", False, "Write the table of docs/operators.md.")

START, END = "<!-- supported_ops -->\n", "<!-- /supported_ops -->\n"
"""Between these lines of docs/operators.md is the table."""


@dataclass(frozen=True)
class Support:
    """Lowering of an ATen op.

    Attributes:
      names: of the ops, with their overloads.
      becomes: names of the dialect's ops; empty without a rule.
      int16, float32, ethos_u: there is such a form.
      way: lowering without a rule: "others" (a decomposition or a pass replaces the op,
        or it is a constant), "float32" (the kernel alone), "none".
      refused: forms the rule refuses, in its words.
    """

    names: tuple[str, ...]
    becomes: tuple[str, ...]
    int16: bool
    float32: bool
    ethos_u: bool
    way: str
    refused: tuple[str, ...]


def _core() -> Iterator[Any]:
    for name in dir(torch.ops.aten):
        packet = getattr(torch.ops.aten, name)
        for overload in packet.overloads() if hasattr(packet, "overloads") else ():
            op = getattr(packet, overload)
            if torch.Tag.core in op.tags and "backward" not in name and overload != "out":
                yield op


def _call(target: Any) -> Node:
    return Graph().call_function(target, ())


def _ops_of(rule: Rule, target: Any) -> list[Op]:
    """Return the dialect ops that a rule makes from an op.

    If the op depends on the arguments, return all dialect ops in the rule's code.
    """
    try:
        return [rule.op(_call(target))]
    except (AttributeError, IndexError, KeyError, AssertionError):
        code = type(rule).op
        named = [code.__globals__.get(name) for name in code.__code__.co_names]
        return [value for value in named if isinstance(value, Op)]


def _text(node: ast.expr) -> str:
    """Return a string of the source, with `...` for computed parts."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "..." for part in node.values
        )
    return "..."


def refusals(rule: Rule) -> tuple[str, ...]:
    """Return why a rule refuses forms of its op: the first text of each pair returned
    by `reject`.
    """
    source = textwrap.dedent(inspect.getsource(type(rule).reject))
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Return) and isinstance(node.value, ast.Tuple):
            found.append(_text(node.value.elts[0]))
    return tuple(dict.fromkeys(text for text in found if text != "..."))


def _has_int16(op: Op) -> bool:
    return any({torch.int8, torch.int16} <= set(dtypes) for dtypes in op.dtypes.values())


def _moves_floats(rule: Rule, target: Any) -> bool:
    try:
        return on_floats(rule, _call(target)) is not None
    except (AttributeError, IndexError, KeyError, AssertionError, TypeError):
        # It asks for the values of a call, and there is none here.
        dtypes = [d for op in _ops_of(rule, target) for d in next(iter(op.dtypes.values()))]
        return torch.float32 in dtypes


_NAMED = re.compile(r"\b_?aten\.(\w+)\.(\w+)")


@functools.cache
def _of_passes() -> set[Any]:
    """Return ops that passes over ATen graphs replace. Ops that they insert have rules."""
    found = set()
    for folder in passes.__path__:
        for path in Path(folder).rglob("[!_]*.py"):
            for name, overload in _NAMED.findall(path.read_text()):
                found.add(getattr(getattr(torch.ops.aten, name, None), overload, None))
    return found


def _is_constant(target: Any) -> bool:
    """Return True if an op reads no tensor, so lowering can compute its result."""
    reads = any(isinstance(a.type, torch.TensorType) for a in target._schema.arguments)
    gives = any(isinstance(r.type, torch.TensorType) for r in target._schema.returns)
    return gives and not reads and torch.Tag.nondeterministic_seeded not in target.tags


def _support(target: Any, decomposed: set[Any]) -> Support:
    rules = [_TABLE[target]] if target in _TABLE else list(_RESULTS.get(target, ()))
    ops = [op for rule in rules for op in _ops_of(rule, target)]
    if not ops and is_elementwise(target):
        ops = [lut]
    kernel = target in FLOAT_OPS or target in FORMS
    way = ""
    if not ops:
        others = target in decomposed | _of_passes() or target in COMPOSED or _is_constant(target)
        way = "others" if others else "float32" if kernel else "none"
    return Support(
        names=(str(target).removeprefix("aten."),),
        becomes=tuple(dict.fromkeys(op.name for op in ops)),
        int16=any(map(_has_int16, ops)),
        float32=kernel or any(_moves_floats(rule, target) for rule in rules),
        ethos_u=any(op.name in EMITTERS for op in ops),
        way=way,
        refused=tuple(dict.fromkeys(text for rule in rules for text in refusals(rule))),
    )


def supported_ops() -> list[Support]:
    """Return the lowering of every op, by name."""
    decomposed = set(torch.export.default_decompositions())
    targets = {*_core(), *_TABLE, *_RESULTS, *COMPOSED, *FLOAT_OPS, *FORMS}
    found = [_support(t, decomposed) for t in targets if str(t).startswith("aten.")]
    return sorted(found, key=lambda row: row.names)


def _grouped(rows: list[Support]) -> list[Support]:
    """Merge ops with equal lowering into one row; drop overload names that make no difference."""
    groups: dict[Support, list[str]] = {}
    kinds: dict[str, set[Support]] = {}
    for row in rows:
        key = replace(row, names=())
        groups.setdefault(key, []).append(row.names[0])
        kinds.setdefault(row.names[0].split(".")[0], set()).add(key)

    def short(name: str) -> str:
        op = name.split(".")[0]
        return op if len(kinds[op]) == 1 else name.removesuffix(".default")

    merged = [
        replace(key, names=tuple(dict.fromkeys(map(short, names)))) for key, names in groups.items()
    ]
    return sorted(merged, key=lambda row: (row.way, row.becomes, row.names))


def _ways(row: Support) -> list[str]:
    if row.way == "others":
        return ["by others"] * 4
    kinds = (bool(row.becomes), row.int16, row.float32, row.ethos_u)
    return ["yes" if kind else "-" for kind in kinds]


def markdown(rows: list[Support]) -> str:
    """Return the table of docs/operators.md."""
    lines = [
        "| ATen ops | becomes | int8 | int16 | float32 | Ethos-U | refused where |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in _grouped(rows):
        names = ", ".join(f"`{name}`" for name in row.names)
        becomes = ", ".join(f"`{name}`" for name in row.becomes)
        lines.append(
            f"| {names} | {becomes} | {' | '.join(_ways(row))} | {'; '.join(row.refused)} |"
        )
    return "\n".join(lines) + "\n"


def with_table(page: str) -> str:
    """Return docs/operators.md with an updated table."""
    pattern = re.compile(f"(?<={re.escape(START)}).*(?={re.escape(END)})", re.DOTALL)
    return pattern.sub(lambda _: markdown(supported_ops()), page)


def as_text(rows: list[Support]) -> str:
    """Return one row for each overload."""
    head = ("aten.", "becomes pl.", "int8", "int16", "float32", "ethos_u", "refused where")
    body = [(r.names[0], ", ".join(r.becomes), *_ways(r), "; ".join(r.refused)) for r in rows]
    return table([head, *body])


def main(argv: Sequence[str]) -> None:
    del argv
    rows = [row for row in supported_ops() if _ONLY.value in row.names[0]]
    if not rows:
        sys.exit(f"--op={_ONLY.value}: no op of ATen that is known here has that in its name")
    print(as_text(rows))
    if _UPDATE.value:
        path = Path(os.environ["BUILD_WORKSPACE_DIRECTORY"]) / "docs/operators.md"
        path.write_text(with_table(path.read_text()))


if __name__ == "__main__":
    run_main(main)
