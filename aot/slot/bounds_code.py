# SPDX-License-Identifier: Apache-2.0
"""Kernel bounds as code for firmware (pl_call_is_inside of bounds.h): one byte for each operation
or operand, in reverse Polish notation.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from firmware.slot.expressions import array_size
from firmware.slot.extents import ANY, Bounds

STACK = 8
"""PL_CODE_STACK of bounds.h."""

_BINARY = {
    ast.Add: "ADD",
    ast.Sub: "SUB",
    ast.Mult: "MUL",
    ast.FloorDiv: "DIV",
    ast.Mod: "MOD",
    ast.Lt: "LT",
    ast.LtE: "LE",
    ast.Eq: "EQ",
}
_SWAPPED = {ast.Gt: "LT", ast.GtE: "LE"}
_DEPTH = {"UP": -1, "AND": -1, "OR": -1, "SELECT": -2} | dict.fromkeys(_BINARY.values(), -1)


@dataclass(frozen=True)
class StructField:
    """The element `index` of a field of dims or params, `a.b` of a struct in it."""

    struct: str
    name: str
    index: int = 0


@dataclass(frozen=True)
class BoundsArray:
    """The product of an array's elements, or the span of loops of these sizes and strides."""

    arrays: tuple[str, ...]
    elements: int


Item = int | str | StructField | BoundsArray
"""Item of an expression: a number, "block", an operation in capitals, or a read from structs."""


def items(bounds: Bounds, text: str) -> list[Item]:
    """Return an expression of bounds.py as items, in evaluation order."""

    def convert(node: ast.expr) -> list[Item]:
        match node:
            case ast.Constant(value=int(value)):
                return [value]
            case ast.Name(id="block"):
                return ["block"]
            case ast.Name(id=name):
                return [StructField("dims" if name in bounds.dims else "params", name)]
            case ast.Attribute(value=ast.Name(id=struct), attr=name):
                return [StructField("params", f"{struct}.{name}")]
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=int(index))):
                return [StructField("dims", name, index)]
            case ast.Call(func=ast.Name(id="up"), args=arguments):
                return [item for part in arguments for item in convert(part)] + ["UP"]
            case ast.Call(args=arguments):
                names = tuple(part.id for part in arguments if isinstance(part, ast.Name))
                return [BoundsArray(names, array_size(bounds, names[0]))]
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
                return [*convert(left), *convert(right), _BINARY[type(op)]]
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _BINARY:
                return [*convert(left), *convert(right), _BINARY[type(op)]]
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                return [*convert(right), *convert(left), _SWAPPED[type(op)]]
            case ast.IfExp(test=test, body=body, orelse=other):
                return [*convert(test), *convert(body), *convert(other), "SELECT"]
            case ast.BoolOp(op=op, values=[first, *others]):
                name = "AND" if isinstance(op, ast.And) else "OR"
                return convert(first) + [i for part in others for i in (*convert(part), name)]
        raise AssertionError(f"{ast.unparse(node)} is not among what bounds are written in")

    found = convert(ast.parse(text, mode="eval").body)
    depth = most = 0
    for item in found:
        depth += _DEPTH[item] if isinstance(item, str) and item != "block" else 1
        most = max(most, depth)
    assert depth == 1
    assert most <= STACK, f"{text} takes more than {STACK} values at a time"
    return found


def code_text(name: str, bounds: Bounds) -> str:
    """Return the code of a kernel's bounds as a C array, and its assumptions."""
    prefix = "pl_" + Path(bounds.header).stem
    params = f"PL_WORDS({prefix}_params)" if bounds.has_params else "0"
    lines = [f"{params}, PL_WORDS({prefix}_dims), PL_POINTERS({prefix}_data)"]
    asserts = []
    for struct, ranges in (("dims", bounds.dims), ("params", bounds.params)):
        for fields, count, (low, high) in _runs(bounds, ranges):
            if (low, high) == ANY:
                continue
            assert low in (0, 1)
            assert high & (high + 1) == 0
            first = _word(prefix, StructField(struct, fields[0]))
            lines.append(f"PL_CODE_RANGE, {first}, {count}, {low}, {high.bit_length()}")
            asserts += [
                f"_Static_assert(offsetof({prefix}_{struct}, {field}) == "
                f'offsetof({prefix}_{struct}, {fields[0]}) + {4 * i}, "in this order");\n'
                for i, field in enumerate(fields[1:], 1)
            ]

    def add(text: str, check: str) -> None:
        lines.append(", ".join([*(_bytes(prefix, i) for i in items(bounds, text)), check]))

    for text in (*bounds.needs, *bounds.arithmetic):
        add(text, "PL_CODE_NEED")
    for check, operands in (("READ", bounds.reads), ("WRITE", bounds.writes)):
        for field, extent in operands.items():
            pointer = f"PL_POINTER({prefix}_data, {field})"
            add(extent.elements, f"PL_CODE_{check}, {pointer}, {extent.size}")
    for text, operands_of in bounds.pairs_of_factors():
        pointers = (f"PL_POINTER({prefix}_data, {field})" for field in operands_of)
        add(text, f"PL_CODE_FACTORS, {', '.join(pointers)}")
    if bounds.pieces:
        table = f"PL_POINTER({prefix}_data, {bounds.pieces})"
        pieces, _, together = bounds.dims
        first = _word(prefix, StructField("dims", pieces))
        add(together, f"PL_CODE_PIECES, {table}, {first}")
        asserts.append(
            f"_Static_assert(sizeof *(({prefix}_data *)0)->{bounds.pieces} == sizeof(pl_piece), "
            '"what pieces are");\n'
        )
    if bounds.scratch != "0":
        add(bounds.scratch, "PL_CODE_SCRATCH")
    lines.append("PL_CODE_END")
    body = "".join(f"    {line},\n" for line in lines)
    return f"{''.join(asserts)}static const uint8_t {name}[] = {{\n{body}}};\n\n"


def _runs(
    bounds: Bounds, ranges: Mapping[str, tuple[int, int]]
) -> Iterator[tuple[list[str], int, tuple[int, int]]]:
    """Fields one after another of the same range, how many words they are, and the range."""
    for limits, names in groupby(ranges, lambda name: (ranges[name], array_size(bounds, name))):
        fields = list(names)
        if limits[1] == 1:
            yield fields, len(fields), limits[0]
        else:
            yield from (([field], limits[1], limits[0]) for field in fields)


def _word(prefix: str, field: StructField) -> str:
    name = field.name + (f"[{field.index}]" if field.index else "")
    return f"PL_{field.struct.upper()}_WORD({prefix}_{field.struct}, {name})"


def _bytes(prefix: str, item: Item) -> str:
    match item:
        case StructField():
            return _word(prefix, item)
        case BoundsArray(arrays=arrays, elements=elements):
            kind = {1: "PL_CODE_PRODUCT", 2: "PL_CODE_SPAN"}[len(arrays)]
            words = (_word(prefix, StructField("dims", name)) for name in arrays)
            return ", ".join([kind, *words, str(elements)])
        case "block":
            return "PL_NUMBER(PL_BLOCK)"
        case str():
            return f"PL_CODE_{item}"
        case int():
            assert item < 1 << 24, "write a larger number as a product"
            return f"PL_NUMBER({item})" if item < 48 else f"PL_LONG({item})"
