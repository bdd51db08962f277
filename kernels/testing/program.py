# SPDX-License-Identifier: Apache-2.0
"""C programs that run cases of kernels (kernels/testing/runner.h)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from kernels import registry
from kernels.common import emit
from kernels.common.kernel import AnyArray, Constant, Isa, KernelCall, OpCall, Value
from kernels.testing.case import Case

_GUARD = 32
"""Bytes around every output and scratch area."""

_ARENA_BYTES = 8192
"""PL_TEST_ARENA_BYTES of runner.h."""

_Plan = Callable[[OpCall, Isa], KernelCall]


def op_call(case: Case, expected: Sequence[AnyArray]) -> OpCall:
    """The call as the plan compiler would see it."""

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
    """The activation inputs of a call and what they hold."""
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


class Program:
    """Collects the C text of cases."""

    def __init__(self, isa: Isa, plan: _Plan = registry.kernel_call) -> None:
        self._isa = isa
        self._plan = plan
        self._definitions: list[str] = []
        self._table: list[str] = []
        self._headers: set[str] = set()
        self._functions: dict[str, str] = {}

    def add(self, case: Case, expected: Sequence[AnyArray]) -> None:
        """Adds a case, and once more for each way it may run in place."""
        call = op_call(case, expected)
        kernel = self._plan(call, self._isa)
        self._headers.add(kernel.header)
        self._functions[kernel.function] = kernel.struct_prefix
        self._add_run(case, call, kernel, expected, None)
        for shared in kernel.in_place:
            self._add_run(case, call, kernel, expected, shared)

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
        call: OpCall,
        kernel: KernelCall,
        expected: Sequence[AnyArray],
        shared: tuple[str, str] | None,
    ) -> None:
        index = len(self._table)
        prefix = f"c{index}"
        # Every other case puts its int8 tensors at odd addresses.
        shift = index % 2
        arena = _Arena()
        addresses: dict[int, str] = {}
        outputs: list[str] = []
        contents = {value.name: (value, array) for value, array in activations(case, call)}
        for value, array in contents.values():
            name = f"{prefix}_{value.name}"
            pad = shift if value.dtype == "int8" else 0
            self._definitions.append(emit.array(name, np.pad(array.reshape(-1), (pad, 0))))
            addresses[id(value)] = f"{name} + {pad}" if pad else name
        for value, array in zip(call.outputs, expected, strict=True):
            start = arena.place(value.bytes, 16, shift if value.dtype == "int8" else 0)
            addresses[id(value)] = f"(void *)(pl_test_arena + {start})"
            name = f"{prefix}_{value.name}"
            self._definitions.append(emit.array(name, array))
            initial = "NULL"
            if shared is not None and shared[1] == value.name:
                source = contents[shared[0]][0]
                initial = addresses[id(source)]
                addresses[id(source)] = addresses[id(value)]
            outputs.append(
                f"{{pl_test_arena + {start}, {value.bytes}, {name}, {initial}, "
                f"{int(case.tolerance is not None)}, {emit.number(float(case.tolerance or 0))}, "
                f"{emit.number(case.floor)}}}"
            )
        scratch = arena.place(kernel.scratch, 16)
        if arena.top > _ARENA_BYTES:
            raise ValueError(f"case {case.name!r} takes {arena.top} of {_ARENA_BYTES} bytes")

        def address(operand: Value | Constant) -> str:
            if id(operand) not in addresses:
                name = f"{prefix}_k{len(addresses)}"
                if isinstance(operand, Constant):
                    self._definitions.append(emit.constant(name, operand))
                else:
                    assert operand.constant is not None
                    self._definitions.append(emit.array(name, operand.constant))
                addresses[id(operand)] = name
            return addresses[id(operand)]

        text = emit.call_text(kernel, prefix, address)
        self._definitions.append(text.definitions)
        self._definitions.append(
            f"static const pl_test_output {prefix}_outputs[] = {{{', '.join(outputs)}}};\n"
        )
        name = case.name if shared is None else f"{case.name}, {shared[0]} in place"
        self._table.append(
            f'    {{"{name}", run_{kernel.function}, {text.params}, {text.dims}, {text.data}, '
            f"{prefix}_outputs, {len(outputs)}, pl_test_arena + {scratch}, {kernel.scratch}}}"
        )


def _wrapper(function: tuple[str, str]) -> str:
    name, prefix = function
    return (
        f"static pl_status run_{name}(const pl_context *ctx, const void *params, "
        f"const void *dims, const void *data) {{\n"
        f"  return {name}(ctx, (const {prefix}_params *)params, (const {prefix}_dims *)dims, "
        f"(const {prefix}_data *)data);\n}}\n"
    )
