# SPDX-License-Identifier: Apache-2.0
"""Access maps as byte code for firmware (pl_call_is_inside of bounds.h): one byte for each
operation or operand, in reverse Polish notation.
"""

import ast
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise
from pathlib import Path

from kernels.common.access import ANY, Access
from kernels.common.access_forms import within

STACK = 8
"""PL_CODE_STACK of bounds.h."""

_BINARY = {
    ast.Add: "ADD",
    ast.Sub: "SUB",
    ast.Mult: "MUL",
    ast.FloorDiv: "DIV",
    ast.Mod: "MOD",
    ast.RShift: "SHIFT",
    ast.Lt: "LT",
    ast.LtE: "LE",
    ast.Eq: "EQ",
}
_SWAPPED = {ast.Gt: "LT", ast.GtE: "LE"}
_OF_TABLES = {"total": (0, "ADD"), "most": (0, "MAX"), "every": (1, "AND")}
"""Functions of tables: the first value, and the operation on it and that of an entry."""

_TAKEN = {"block": 0, "SELECT": 3, "READ_ENTRY": 1}
"""Values taken by an item that is text, other than two."""


@dataclass(frozen=True)
class StructField:
    """Element `index` of a field `a.b` of a struct; `struct` is dims, params or entry."""

    struct: str
    name: str
    index: int = 0


@dataclass(frozen=True)
class BoundsArray:
    """PRODUCT of an array's elements, or SPAN or BELOW of loops with these sizes and strides."""

    kind: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Entries:
    """The items of an expression for each entry of a table, joined by an operation."""

    table: str
    start: int
    items: tuple["Item", ...]
    operation: str


Item = int | str | StructField | BoundsArray | Entries
"""Item of an expression: a number, "block", an operation in capitals, or a read from structs."""


def items(access: Access, text: str) -> list[Item]:
    """Return an expression of an access map as items, in evaluation order."""
    found = _converted(access, ast.parse(text, mode="eval").body, ())
    assert _most_values(found) <= STACK, f"{text} takes more than {STACK} values at a time"
    return found


def _converted(access: Access, tree: ast.expr, entry: Collection[str]) -> list[Item]:
    """Return the items of an expression; `entry` has the fields of a table."""

    def convert(node: ast.expr) -> list[Item]:
        match node:
            case ast.Constant(value=int(value)):
                return [value]
            case ast.Name(id="block"):
                return ["block"]
            case ast.Name() | ast.Attribute():
                return [field(ast.unparse(node))]
            case ast.Subscript(value=array, slice=ast.Constant(value=int(index))):
                return [StructField("dims", ast.unparse(array), index)]
            case ast.Call(func=ast.Name(id="up"), args=[value, of]):
                return [*convert(value), *convert(of), "UP"]
            case ast.Call(func=ast.Name(id=name), args=[ast.Name(id=table), x]) if (
                name in _OF_TABLES
            ):
                start, operation = _OF_TABLES[name]
                each = _converted(access, x, access.tables[table].fields)
                return [Entries(table, start, tuple(each), operation)]
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return [BoundsArray(name.upper(), tuple(map(ast.unparse, arguments)))]
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
        raise AssertionError(f"{ast.unparse(node)} is not among what access maps are written in")

    def field(name: str) -> StructField:
        if name in entry:
            return StructField("entry", name)
        return StructField("dims" if name in access.dims else "params", name)

    return convert(tree)


def _most_values(found: Sequence[Item]) -> int:
    """Return the stack depth needed to evaluate an expression."""
    depth = most = 0
    for item in found:
        if isinstance(item, Entries):
            most = max(most, depth + 1 + _most_values(item.items))
        depth += 1 - _TAKEN.get(item, 2) if isinstance(item, str) else 1
        most = max(most, depth)
    assert depth == 1
    return most


def table_items(access: Access, name: str) -> Entries:
    """Return the check of a table's entries: the ranges of their fields, and their operands."""
    table = access.tables[name]
    ranges = [text for f, limits in table.fields.items() for text in within(f, *limits)]
    (found,) = items(access, f"every({name}, {' and '.join(ranges)})")
    assert isinstance(found, Entries)
    if not table.pointed:
        return found
    pointed = _converted(access, ast.parse(table.pointed, mode="eval").body, table.fields)
    return replace(found, items=(*found.items, *pointed, "READ_ENTRY", "AND"))


def code_text(name: str, access: Access) -> str:
    """Return the byte code of a kernel's access map as a C array."""
    prefix = "pl_" + Path(access.header).stem
    params = f"PL_WORDS({prefix}_params)" if access.has_params else "0"
    lines = [f"{params}, PL_WORDS({prefix}_dims), PL_POINTERS({prefix}_data)"]
    asserts = []
    for struct, ranges in (("dims", access.dims), ("params", access.params)):
        for (low, high), names in groupby(ranges, ranges.__getitem__):
            if (low, high) == ANY:
                continue
            assert low in (0, 1)
            assert high & (high + 1) == 0
            fields = list(names)
            first = _bytes(access, prefix, StructField(struct, fields[0]))
            words = f"PL_FIELDS({prefix}_{struct}, {fields[0]}, {fields[-1]})"
            lines.append(f"PL_CODE_RANGE, {first}, {words}, {low}, {high.bit_length()}")
            asserts += [
                f'_Static_assert(PL_NEXT({prefix}_{struct}, {a}, {b}), "in this order");\n'
                for a, b in pairwise(fields)
            ]

    def add(found: Iterable[Item], check: str) -> None:
        lines.append(", ".join([*(_bytes(access, prefix, i) for i in found), f"PL_CODE_{check}"]))

    for table in access.tables:
        add([table_items(access, table)], "NEED")
    for text in (*access.needs, *access.arithmetic):
        add(items(access, text), "NEED")
    for check, operands in (("READ", access.reads), ("WRITE", access.writes)):
        for field, extent in operands.items():
            kind = "READ_IF_ANY" if extent.optional else check
            pointer = f"PL_POINTER({prefix}_data, {field})"
            add(items(access, extent.elements), f"{kind}, {pointer}, {extent.size}")
    for text, operands_of in access.pairs_of_factors():
        pointers = (f"PL_POINTER({prefix}_data, {field})" for field in operands_of)
        add(items(access, text), f"FACTORS, {', '.join(pointers)}")
    if access.scratch != "0":
        add(items(access, access.scratch), "SCRATCH")
    lines.append("PL_CODE_END")
    body = "".join(f"    {line},\n" for line in lines)
    return f"{''.join(asserts)}static const uint8_t {name}[] = {{\n{body}}};\n\n"


def _bytes(access: Access, prefix: str, item: Item, table: str = "") -> str:
    """Return the byte code of an item, which may belong to a table's entry."""
    match item:
        case StructField(struct="entry", name=name):
            fields, struct = access.tables[table].fields, access.tables[table].struct
            word = f"offsetof({struct}, {name}) / 4" if struct else str([*fields].index(name))
            return f"PL_CODE_ENTRY, {word}"
        case StructField(struct=struct, name=name, index=index):
            place = f"{name}[{index}]" if index else name
            return f"PL_{struct.upper()}_WORD({prefix}_{struct}, {place})"
        case BoundsArray(kind=kind, names=names):
            places = [_bytes(access, prefix, StructField("dims", name)) for name in names]
            count = f"PL_FIELDS({prefix}_dims, {names[0]}, {names[0]})"
            return ", ".join([f"PL_CODE_{kind}", *places, count])
        case Entries(table=name, start=start, items=each, operation=operation):
            of = access.tables[name]
            words = f"PL_WORDS({of.struct})" if of.struct else str(len(of.fields))
            count = _bytes(access, prefix, StructField("dims", of.count))
            body = ", ".join(_bytes(access, prefix, i, name) for i in each)
            return (
                f"PL_CODE_EACH, PL_POINTER({prefix}_data, {name}), {count}, {words}, {start}, "
                f"{body}, PL_CODE_NEXT, PL_CODE_{operation}"
            )
        case "block":
            return "PL_NUMBER(PL_BLOCK)"
        case str():
            return f"PL_CODE_{item}"
        case int():
            assert item < 1 << 24, "write a larger number as a product"
            return f"PL_NUMBER({item})" if item < 48 else f"PL_LONG({item})"
