# SPDX-License-Identifier: Apache-2.0
"""Which ATen ops become what, read off the rules, the float kernels and the NPU's emitters.

    bazel run //aot/support:supported_ops                 every op as a table
    bazel run //aot/support:supported_ops -- --op=conv    those with that in their names
    bazel run //aot/support:supported_ops -- --update     writes the table of docs/operators.md

The ops are those that torch calls core, and all that a rule names. `int8`: a rule makes ops of the
dialect of it; `int16`: one of these has an int16 form; `float32`: there is a kernel for layers that
stay float; `ethos_u`: the NPU takes one of these. What a rule refuses is in its own words. An op
without a form may be made of others, by torch or by a pass, and is taken then if they are; one that
reads no tensor is a constant.
"""

from __future__ import annotations

from tools.imports import imports_that_stay
from tools.text.stoppable import run_main

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
    from aot.passes.aten.decompositions.compositions import COMPOSED
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
    """What becomes of ATen ops.

    Attributes:
      names: of the ops, with their overloads.
      becomes: names of the dialect's ops; empty without a rule.
      int16, float32, ethos_u: whether there is such a form.
      way: how it is had where no rule is: "others" (a decomposition or a pass makes others of it,
        or it is a constant), "float32" (the kernel alone), "none".
      refused: forms that the rule refuses, in its words.
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
    """The dialect's ops that a rule makes of an op: the one that it says, or where that depends on
    the arguments, all that its code names.
    """
    try:
        return [rule.op(_call(target))]
    except (AttributeError, IndexError, KeyError, AssertionError):
        code = type(rule).op
        named = [code.__globals__.get(name) for name in code.__code__.co_names]
        return [value for value in named if isinstance(value, Op)]


def _text(node: ast.expr) -> str:
    """A string of the source, `...` for what is computed."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "..." for part in node.values
        )
    return "..."


def refusals(rule: Rule) -> tuple[str, ...]:
    """Why a rule refuses forms of its op: the first of each pair of texts that `reject` returns."""
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
    """What the passes over ATen graphs name: what they make has rules, all else they replace."""
    found = set()
    for folder in passes.__path__:
        for path in Path(folder).rglob("[!_]*.py"):
            for name, overload in _NAMED.findall(path.read_text()):
                found.add(getattr(getattr(torch.ops.aten, name, None), overload, None))
    return found


def _is_constant(target: Any) -> bool:
    """Whether it reads no tensor, so that lowering knows what it gives."""
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
    """What becomes of every op, by name."""
    decomposed = set(torch.export.default_decompositions())
    targets = {*_core(), *_TABLE, *_RESULTS, *COMPOSED, *FLOAT_OPS, *FORMS}
    found = [_support(t, decomposed) for t in targets if str(t).startswith("aten.")]
    return sorted(found, key=lambda row: row.names)


def _grouped(rows: list[Support]) -> list[Support]:
    """Ops of which the same becomes in one row, overloads left out where they do not tell."""
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
    """The table of docs/operators.md."""
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
    """docs/operators.md with the table as it is now."""
    pattern = re.compile(f"(?<={re.escape(START)}).*(?={re.escape(END)})", re.DOTALL)
    return pattern.sub(lambda _: markdown(supported_ops()), page)


def as_text(rows: list[Support]) -> str:
    """A row an overload."""
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
