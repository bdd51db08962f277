# SPDX-License-Identifier: Apache-2.0
"""C programs for cases of kernels (kernels/testing/runner.h)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from kernels import registry
from kernels.common import emit
from kernels.common.kernel import AnyArray, Constant, Isa, KernelCall, OpCall, Value
from kernels.common.rows import ByRows, operand, row_call
from kernels.common.tensor import DTYPES
from kernels.testing.case import Case
from kernels.testing.values import Values

_GUARD = 32
"""Bytes around every output and scratch area."""

_CLOSED = 32
"""Smallest number of bytes closed by a memory protection unit."""

_ARENA_BYTES = 8192
"""PL_TEST_ARENA_BYTES of runner.h."""

_Plan = Callable[[OpCall, Isa], KernelCall]
_Tensors = Sequence[tuple[Value, AnyArray]]


def op_call(case: Case, expected: Sequence[AnyArray]) -> OpCall:
    """Return the call as the plan compiler would see it."""

    def value(name: str, array: AnyArray, constant: bool) -> Value:
        return Value(name, array.dtype.name, array.shape, array if constant else None)

    arguments: dict[str, object] = dict(case.attributes)
    for tensors, constant in ((case.inputs, False), (case.constants, True)):
        for name, given in tensors.items():
            if isinstance(given, np.ndarray):
                arguments[name] = value(name, given, constant)
            else:
                arguments[name] = [value(f"{name}{i}", a, constant) for i, a in enumerate(given)]
    outputs = tuple(value(f"output{i}", array, False) for i, array in enumerate(expected))
    return OpCall(case.op, arguments, outputs)


def activations(case: Case, call: OpCall) -> Iterator[tuple[Value, AnyArray]]:
    """Yield the activation inputs of a call and their contents."""
    for name, given in case.inputs.items():
        if isinstance(given, np.ndarray):
            yield cast(Value, call.args[name]), given
        else:
            yield from zip(cast(list[Value], call.args[name]), given, strict=True)


@dataclass
class _Arena:
    """Lays out outputs and scratch of one case, each between guards."""

    top: int = _GUARD

    def place(self, size: int, alignment: int, offset: int = 0) -> int:
        start = -(-self.top // alignment) * alignment + offset
        self.top = start + size + _GUARD
        return start

    def place_over(self, result: Value, source: Value, distance: int, offset: int) -> int:
        """Return the start of `result`, `distance` bytes before the start of `source`.

        The start of the tensor with the wider elements is aligned. `offset` applies to int8
        results.
        """
        low, high = min(0, distance), max(result.bytes, distance + source.bytes)
        wide = DTYPES[source.dtype].bytes > DTYPES[result.dtype].bytes
        return self.place(high - low, 16, (low - distance if wide else low + offset) % 16) - low


class CaseProgram:
    """Collects the C text of cases; `farther`: see add.

    If `protected`, each run has one operand next to bytes closed by the memory protection unit.
    """

    def __init__(
        self,
        isa: Isa,
        plan: _Plan = registry.kernel_call,
        farther: bool = True,
        protected: bool = False,
    ) -> None:
        self._isa = isa
        self._farther = farther
        self._protected = protected
        self._plan = plan
        self._definitions: list[str] = []
        self._names: dict[tuple[str, bytes, int], str] = {}
        self._table: list[str] = []
        self._headers: set[str] = set()
        self._functions: dict[str, str] = {}

    def add(self, case: Case, expected: Sequence[AnyArray]) -> None:
        """Add a case, with a run for each call that computes it.

        Each input that an output may alias adds a run at the smallest alias distance (and one
        `farther` off). A call with row streaming adds a run for one row.
        """
        call = op_call(case, expected)
        kernel: KernelCall | None = self._plan(call, self._isa)
        while kernel is not None:
            self._add_runs(case, call, kernel, expected)
            kernel = kernel.fallback

    def _add_runs(
        self, case: Case, call: OpCall, kernel: KernelCall, expected: Sequence[AnyArray]
    ) -> None:
        self._headers.add(kernel.header)
        self._functions[kernel.function] = kernel.struct_prefix
        inputs = [*activations(case, call)]
        outputs = [*zip(call.outputs, expected, strict=True)]
        self._add_run(case, case.name, kernel, inputs, outputs)
        # Farther off other bytes meet, of other channels: the nearest may do by chance.
        farther = max(v.item_bytes for v, _ in (*inputs, *outputs)) * (1 + len(self._table) % 16)
        over = [
            (over.source, over.result, over.distance + more)
            for over in kernel.overlap
            for more in ((0, farther) if self._farther else (0,))
        ]
        given = {value.name for value, _ in inputs}
        in_place = ((a, b, 0) for a, b in kernel.in_place if a in given)
        for shared in (*in_place, *over):
            name = f"{case.name}, over {shared[0]}"
            self._add_run(case, name, kernel, inputs, outputs, shared)
        if kernel.rows is not None and kernel.rows.folded is not None:
            self._add_folded(case, kernel.rows.folded, inputs, outputs)
        elif kernel.rows is not None:
            self._add_row(case, kernel, kernel.rows, inputs, outputs)

    def _add_folded(
        self, case: Case, call: KernelCall, inputs: _Tensors, outputs: _Tensors
    ) -> None:
        """Add a call with all rows at once."""
        self._headers.add(call.header)
        self._functions[call.function] = call.struct_prefix
        self._add_run(case, f"{case.name}, folded", call, inputs, outputs)

    def _add_row(
        self, case: Case, kernel: KernelCall, rows: ByRows, inputs: _Tensors, outputs: _Tensors
    ) -> None:
        """Add a run for the first, the last or a middle row, from only the input rows it needs."""
        row = (0, rows.rows - 1, rows.rows // 2)[len(self._table) % 3]
        ((value, array),) = outputs
        call = row_call(kernel, value, row)
        (made,) = (v for name, v in call.data.items() if kernel.data[name] is value)
        read = {
            operand(kernel.data, field): (operand(call.data, field), taps)
            for field, taps in rows.inputs.items()
        }
        given: list[tuple[Value, AnyArray]] = []
        for source, elements in inputs:
            if source not in read:
                given.append((source, elements))
                continue
            some, taps = read[source]
            assert isinstance(some, Value)
            given.append((some, _rows(elements, taps.rows, taps.first(row), taps.end(row))))
        assert isinstance(made, Value)
        expected = [(made, _rows(array, rows.rows, row, row + 1))]
        self._add_run(case, f"{case.name}, row {row}", call, given, expected)

    def text(self) -> str:
        includes = "".join(f'#include "{h}"\n' for h in sorted(self._headers))
        table = ",\n".join(self._table)
        return (
            "// SPDX-License-Identifier: Apache-2.0\n// Made by kernels/testing/generate.py.\n"
            f'{includes}#include "kernels/testing/runner.h"\n\n'
            + "\n".join([*map(_wrapper, self._functions.items()), *self._definitions])
            + f"\nstatic const pl_test_case kCases[] = {{\n{table}\n}};\n\n"
            "int main(void) {\n"
            "  return pl_test_main(kCases, sizeof(kCases) / sizeof(kCases[0]));\n}\n"
        )

    def _add_run(
        self,
        case: Case,
        title: str,
        kernel: KernelCall,
        given: _Tensors,
        expected: _Tensors,
        shared: tuple[str, str, int] | None = None,
    ) -> None:
        index = len(self._table)
        prefix = f"c{index}"
        # Every other case puts its int8 tensors at odd addresses.
        shift = index % 2
        arena = _Arena()
        addresses: dict[int, str] = {}
        outputs: list[str] = []
        shared_input = "NULL"
        inputs = {value.name: value for value, _ in given}
        closed = "NULL"
        if self._protected:
            apart = [g for g in given if shared is None or g[0].name != shared[0]]
            closed = self._protect(title, kernel, apart, addresses)
        for value, array in given:
            if id(value) in addresses:
                continue
            pad = shift if value.dtype == "int8" else 0
            name = self._array(np.pad(array.reshape(-1), (pad, 0)))
            addresses[id(value)] = f"{name} + {pad}" if pad else name
        for value, array in expected:
            odd = shift if value.dtype == "int8" else 0
            if shared is not None and shared[1] == value.name:
                source = inputs[shared[0]]
                start = arena.place_over(value, source, shared[2], odd)
                at = f"pl_test_arena + {start + shared[2]}"
                held = addresses[id(source)]
                shared_input = f"&(const pl_test_input){{{at}, {source.bytes}, {held}}}"
                addresses[id(source)] = f"(void *)({at})"
            else:
                start = arena.place(array.nbytes, 16, odd)
            addresses[id(value)] = f"(void *)(pl_test_arena + {start})"
            name = self._array(array)
            outputs.append(
                f"{{pl_test_arena + {start}, {array.nbytes}, {name}, "
                f"{int(case.tolerance is not None)}, {emit.number(float(case.tolerance or 0))}, "
                f"{emit.number(case.floor)}}}"
            )
        scratch = arena.place(kernel.scratch, 16)
        if arena.top > _ARENA_BYTES:
            raise ValueError(f"case {case.name!r} takes {arena.top} of {_ARENA_BYTES} bytes")

        def address(operand: Value | Constant) -> str:
            if id(operand) not in addresses:
                if isinstance(operand, Constant):
                    addresses[id(operand)] = self._array(operand.array, operand.alignment)
                else:
                    assert operand.constant is not None
                    addresses[id(operand)] = self._array(operand.constant)
            return addresses[id(operand)]

        text = emit.call_text(kernel, prefix, address)
        self._definitions.append(text.definitions)
        self._definitions.append(
            f"static const pl_test_output {prefix}_outputs[] = {{{', '.join(outputs)}}};\n"
        )
        self._table.append(
            f'    {{"{title}", run_{kernel.function}, {text.params}, {text.dims}, {text.data}, '
            f"{prefix}_outputs, {len(outputs)}, {shared_input}, "
            f"pl_test_arena + {scratch}, {kernel.scratch}, {closed}}}"
        )

    def _protect(
        self, title: str, kernel: KernelCall, given: _Tensors, addresses: dict[int, str]
    ) -> str:
        """Place one operand right after, or right before, bytes to close; return the address of
        these bytes, NULL without an operand.
        """
        arrays: dict[int, tuple[AnyArray, int]] = {
            id(value): (array, value.item_bytes) for value, array in given
        }
        for given_to in kernel.data.values():
            if isinstance(given_to, Constant):
                arrays[id(given_to)] = given_to.array, given_to.alignment
            elif isinstance(given_to, Value) and given_to.constant is not None:
                arrays.setdefault(id(given_to), (given_to.constant, 4))
        if not arrays:
            return "NULL"
        values = Values("protected", title)
        chosen = values.choice([*arrays])
        array, alignment = arrays[chosen]
        behind = -array.nbytes % _CLOSED
        start = behind - behind % alignment if values.integer(0, 1) else _CLOSED
        closed = 0 if start == _CLOSED else -(-(start + array.nbytes) // _CLOSED) * _CLOSED
        size = start + array.nbytes if closed == 0 else closed + _CLOSED
        bytes_ = np.zeros(size, np.int8)
        bytes_[start : start + array.nbytes] = np.frombuffer(array.tobytes(), np.int8)
        name = self._array(bytes_, _CLOSED)
        addresses[chosen] = f"(const void *)({name} + {start})"
        return f"{name} + {closed}"

    def _array(self, array: AnyArray, alignment: int = 4) -> str:
        """Return the name of an array with these elements. Many runs of a case share arrays."""
        key = array.dtype.name, array.tobytes(), alignment
        if key not in self._names:
            self._names[key] = f"a{len(self._names)}"
            self._definitions.append(emit.array(self._names[key], array, alignment))
        return self._names[key]


def _rows(array: AnyArray, count: int, first: int, end: int) -> AnyArray:
    """Return some of a tensor's rows."""
    return array.reshape(count, -1)[first:end]


def _wrapper(function: tuple[str, str]) -> str:
    name, prefix = function
    return (
        f"static pl_status run_{name}(const pl_context *ctx, const void *params, "
        f"const void *dims, const void *data) {{\n"
        f"  return {name}(ctx, (const {prefix}_params *)params, (const {prefix}_dims *)dims, "
        f"(const {prefix}_data *)data);\n}}\n"
    )
