# SPDX-License-Identifier: Apache-2.0
"""Memory touched by calls of kernels on the host, measured in the C code.

The kernels are compiled with calls of a function before each access (touched.c).
"""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from kernels.common import emit
from kernels.common.kernel import (
    AnyArray,
    Array,
    Constant,
    Field,
    KernelCall,
    KernelError,
    Operand,
    Value,
)
from kernels.common.rows import row_call
from kernels.registry import kernel_call
from kernels.testing.case import Case
from kernels.testing.oracle import expected_outputs
from kernels.testing.program import activations, op_call

_GUARD = 64
"""PL_TOUCHED_GUARD of touched.h, on both sides of an operand."""

_MOST_BYTES = 1 << 17
_OPTIONS = ("-std=c11", "-w", "-O1", "-fno-strict-aliasing")
_FOLDER = "kernels/testing/touched"

SCRATCH = "scratch"


@dataclass(frozen=True, eq=False)
class Given:
    """A kernel call, and the elements of its inputs by name."""

    kernel: KernelCall
    inputs: Mapping[str, AnyArray]


@dataclass(frozen=True)
class Touched:
    """Bytes read and written, relative to the start of each operand: from, to.

    Attributes:
      reads, writes: by field of data, `inputs[0]` for one of an array; (0, 0) for none.
      unsafe: by names of source and result: the largest unsafe distance of the result's
        start before the source's, and 1 if both must not start at one place.
    """

    status: int
    reads: Mapping[str, tuple[int, int]]
    writes: Mapping[str, tuple[int, int]]
    unsafe: Mapping[tuple[str, str], tuple[int, int]]


def given_calls(case: Case) -> Iterator[Given]:
    """Yield the calls of a case on the host: fallback calls, and those of a row and of all rows."""
    op = op_call(case, expected_outputs(case))
    inputs = {value.name: array for value, array in activations(case, op)}
    try:
        kernel: KernelCall | None = kernel_call(op, "scalar")
    except KernelError:
        return
    while kernel is not None:
        yield Given(kernel, inputs)
        rows = kernel.rows
        if rows is not None:
            row = rows.folded or row_call(kernel, op.outputs[0], rows.rows // 2)
            yield Given(row, inputs)
        kernel = kernel.fallback


def operands(call: KernelCall) -> dict[str, Operand]:
    """Return the operands of a call by field of data, `inputs[0]` for one of an array."""
    found: dict[str, Operand] = {}

    def add(name: str, field: Field) -> None:
        if isinstance(field, (Value, Constant)):
            found[name] = field
        elif isinstance(field, Array):
            for index, item in enumerate(field.items):
                assert isinstance(item, Mapping)
                add(f"{name}[{index}]", item.get("address"))

    for name, field in call.data.items():
        add(name, field)
    return found


def size_of(operand: Operand) -> int:
    """Return the bytes of an operand."""
    return operand.bytes if isinstance(operand, Value) else operand.array.nbytes


class Tracer:
    """Compiles the kernels, once, and runs calls of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._root = Path.cwd()
        sources = [
            path
            for path in sorted(self._root.glob("kernels/*/*.c"))
            if path.parent.name != "testing"
            and not path.stem.endswith(("_dsp", "_mve", "_test", "_thumb1"))
        ]
        with ThreadPoolExecutor() as pool:
            self._objects = list(pool.map(self._kernel, sources))

    def _gcc(self, output: Path, *arguments: str | Path) -> Path:
        command = [os.environ.get("CC", "gcc"), *_OPTIONS, f"-I{self._root}", *arguments]
        subprocess.run([*command, "-o", output], check=True)
        return output

    def _kernel(self, source: Path) -> Path:
        output = self._folder / f"{source.parent.name}_{source.stem}.o"
        return self._gcc(output, "-fsanitize=thread", "-c", source)

    def run(self, calls: Sequence[Given]) -> list[Touched]:
        """Run calls that fit the arena; the others touch nothing."""
        program = _Program()
        for given in calls:
            program.add(given)
        source = self._folder / "calls.c"
        source.write_text(program.text())
        runner = self._root / _FOLDER / "touched.c"
        path = self._gcc(self._folder / "calls", source, runner, *self._objects, "-lm")
        result = subprocess.run([path], check=True, capture_output=True, text=True)
        return [
            _parsed(names, pairs, [*map(int, line.split())])
            for (names, pairs), line in zip(program.names, result.stdout.splitlines(), strict=True)
        ]


def _parsed(names: Sequence[str], pairs: Sequence[tuple[str, str]], line: list[int]) -> Touched:
    status, *numbers = line
    twos = [*zip(numbers[::2], numbers[1::2], strict=True)]
    count = 2 * len(names)
    return Touched(
        status,
        dict(zip(names, twos[:count:2], strict=True)),
        dict(zip(names, twos[1:count:2], strict=True)),
        dict(zip(pairs, twos[count:], strict=True)),
    )


class _Program:
    """C text of a program that runs calls.

    Attributes:
      names: of each call: operands, and the pairs that may alias.
    """

    def __init__(self) -> None:
        self.names: list[tuple[list[str], list[tuple[str, str]]]] = []
        self._headers: set[str] = set()
        self._definitions: list[str] = []
        self._arrays: dict[tuple[str, bytes], str] = {}
        self._calls: list[str] = []

    def add(self, given: Given) -> None:
        kernel, prefix = given.kernel, f"c{len(self._calls)}"
        offsets: dict[int, int] = {}
        rows: list[str] = []
        names: list[str] = []
        top = _GUARD
        for name, operand in operands(kernel).items():
            if id(operand) in offsets:
                continue
            contents = _contents(operand, given.inputs)
            size = size_of(operand)
            offsets[id(operand)] = top
            pointer = "NULL" if contents is None else self._array(contents)
            rows.append(f"{{{top}, {size}, {pointer}}}")
            names.append(name)
            top = -(-(top + size + 2 * _GUARD) // 16) * 16
        rows.append(f"{{{top}, {kernel.scratch}, NULL}}")
        names.append(SCRATCH)
        assert top + kernel.scratch + _GUARD <= _MOST_BYTES, f"{kernel.function} takes too much"
        by_value = {o.name: n for n, o in operands(kernel).items() if isinstance(o, Value)}
        pairs = [
            (by_value[source], by_value[result])
            for source, result in [
                *kernel.in_place,
                *((over.source, over.result) for over in kernel.overlap),
            ]
            if source in by_value and by_value[source] in names
        ]
        text = emit.call_text(
            kernel, prefix, lambda o: f"(void *)(pl_touched_arena + {offsets[id(o)]})"
        )
        indices = ", ".join(f"{{{names.index(a)}, {names.index(b)}}}" for a, b in pairs)
        self._headers.add(kernel.header)
        self._definitions += [
            text.definitions,
            f"static pl_status {prefix}_run(const pl_context *context) {{\n"
            f"  return {kernel.function}(context, {text.params}, {text.dims}, {text.data});\n}}\n"
            f"static const pl_touched_operand {prefix}_operands[] = {{{', '.join(rows)}}};\n"
            f"static const uint32_t {prefix}_pairs[][2] = {{{indices or '{0, 0}'}}};\n",
        ]
        self._calls.append(
            f"{{{prefix}_run, {prefix}_operands, {len(rows)}, {prefix}_pairs, {len(pairs)}, "
            f"{top}, {kernel.scratch}}}"
        )
        self.names.append((names, pairs))

    def _array(self, array: AnyArray) -> str:
        key = array.dtype.name, array.tobytes()
        if key not in self._arrays:
            self._arrays[key] = f"a{len(self._arrays)}"
            self._definitions.append(emit.array(self._arrays[key], array))
        return self._arrays[key]

    def text(self) -> str:
        calls = ",\n    ".join(self._calls)
        return (
            "".join(f'#include "{header}"\n' for header in sorted(self._headers))
            + f'#include "{_FOLDER}/touched.h"\n\n'
            + "\n".join(self._definitions)
            + f"\nstatic const pl_touched_call kCalls[] = {{\n    {calls}}};\n\n"
            "int main(void) {\n"
            "  for (unsigned i = 0; i < sizeof(kCalls) / sizeof(kCalls[0]); ++i) {\n"
            "    pl_touched_run(&kCalls[i]);\n  }\n  return 0;\n}\n"
        )


def _contents(operand: Operand, inputs: Mapping[str, AnyArray]) -> AnyArray | None:
    """Return the elements of an operand, None for an output. A row gets the first ones."""
    if isinstance(operand, Constant):
        return operand.array
    if operand.constant is not None:
        return operand.constant
    if operand.name not in inputs:
        return None
    return np.ascontiguousarray(inputs[operand.name]).reshape(-1)[: operand.size]
