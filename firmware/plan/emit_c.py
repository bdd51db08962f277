# SPDX-License-Identifier: Apache-2.0
"""Writes a plan as C: tables of constants that call the kernels by name."""

import re

from firmware.plan import delegates
from firmware.plan.layout import ALIGNMENT
from firmware.plan.plan import Address, Plan, fill_of, first_value, step_text
from firmware.plan.planner import align_up
from firmware.plan.pools import PoolUse
from firmware.plan.program import Port, State
from kernels.common import emit
from kernels.common.kernel import Constant, Value

_WEIGHTS_SECTION = '__attribute__((section(".rodata.pl_weights")))'
_GENERATED = "// Written by Pilotlight's plan compiler for the board {board}; do not edit.\n"


def header(plan: Plan, name: str) -> str:
    """The header that declares the plan `name`."""
    guard = re.sub(r"\W", "_", f"{name}_H_").upper()
    return (
        _GENERATED.format(board=plan.board.name)
        + f"#ifndef {guard}\n#define {guard}\n\n"
        + '#include "firmware/runtime/plan.h"\n\n'
        + f"extern const pl_plan {name};\n\n"
        + f"#endif  // {guard}\n"
    )


def source(plan: Plan, name: str, header_path: str) -> str:
    """The C file that defines the plan `name`; `header_path` is for its #include."""
    return _Source(plan).text(name, header_path)


class _Source:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def text(self, name: str, header_path: str) -> str:
        plan = self._plan
        kernels = [step.kernel for step in plan.sharing.steps]
        includes = sorted({kernel.header for kernel in kernels})
        functions = sorted({kernel.function for kernel in kernels} - {delegates.STEP})
        arenas = [use for use in plan.pools if use.placement.size > 0]
        parts = [
            _GENERATED.format(board=plan.board.name),
            f'#include "{header_path}"\n\n#include <stddef.h>\n#include <stdint.h>\n\n',
            *(f'#include "{include}"\n' for include in includes),
            "\n",
            *map(_arena, arenas),
            "\n",
            *(
                emit.array(c.name, c.array, c.alignment, _WEIGHTS_SECTION) + "\n"
                for c in plan.constants
            ),
            *(_thunk(function) for function in functions),
        ]
        rows = []
        for index, step in enumerate(plan.sharing.steps, 1):
            call = emit.call_text(step.kernel, f"step_{index}", self._operand)
            parts.append(f"// {step_text(plan.sharing, index)}\n{call.definitions}\n")
            scratch = (
                f"{{{_pointer(plan.scratch(index))}, {step.kernel.scratch}}}"
                if step.kernel.scratch
                else "{NULL, 0}"
            )
            rows.append(
                f"    {{{_runner(step.kernel.function)}, {scratch}, "
                f"{call.params}, {call.dims}, {call.data}}},\n"
            )
        inputs = [self._port(port) for port in plan.graph.program.inputs]
        outputs = [self._port(port) for port in plan.graph.program.outputs]
        states = [self._state(state) for state in plan.graph.program.states]
        ranges = [f"    {{arena_{use.pool.name}, {use.placement.size}}},\n" for use in arenas]
        parts += [
            _table("pl_step", "steps", rows),
            _table("pl_tensor", "inputs", inputs),
            _table("pl_tensor", "outputs", outputs),
            _table("pl_arena", "arenas", ranges, "PL_ARENA_TABLE "),
            _states(states),
            f"const pl_plan {name} = {{\n",
            *(
                f"    .{table} = {table if count else 'NULL'},\n"
                for table, count in (
                    ("steps", len(rows)),
                    ("inputs", len(inputs)),
                    ("outputs", len(outputs)),
                    ("arenas", len(ranges)),
                )
            ),
            "    .states = &states,\n" if states else "",
            f"    .step_count = {len(rows)},\n",
            f"    .input_count = {len(inputs)},\n",
            f"    .output_count = {len(outputs)},\n",
            f"    .arena_count = {len(ranges)},\n",
            "};\n",
        ]
        return "".join(parts)

    def _operand(self, operand: Value | Constant) -> str:
        if isinstance(operand, Constant) or operand.constant is not None:
            return self._plan.constant(operand).name
        return _pointer(self._plan.address(operand.name))

    def _state(self, state: State) -> str:
        place, size = _pointer(self._plan.address(state.value.name)), state.value.bytes
        fill = fill_of(state)
        initial = "NULL" if fill is not None else self._operand(first_value(state))
        return f"    {{{place}, {initial}, {size}, {fill or 0}}},\n"

    def _port(self, port: Port) -> str:
        value = self._plan.graph.constants.get(port.value.name, port.value)
        data = self._operand(value)
        if value.constant is not None:
            data = f"(void *){data}"
        shape = ", ".join(map(str, port.shape))
        dtype, layout = f"PL_DTYPE_{value.dtype.upper()}", f"PL_LAYOUT_{port.layout.upper()}"
        return (
            f"    {{{{{dtype}, {layout}, {len(port.shape)}, "
            f"{{{shape or 0}}}, {emit.number(float(port.scale))}, {port.zero_point}, "
            f"{value.bytes}}},\n     {data}}},\n"
        )


def _arena(use: PoolUse) -> str:
    pool, size = use.pool.name, align_up(use.placement.size, ALIGNMENT)
    return (
        f"static _Alignas({use.alignment}) uint8_t arena_{pool}[{size}]\n"
        f'    __attribute__((section(".bss.pl_arena.{pool}")));\n'
    )


def _pointer(address: Address) -> str:
    return f"(void *)(arena_{address.pool} + {address.offset})"


def _runner(function: str) -> str:
    """What a step calls: delegates have no thunk, the runtime knows them by their function."""
    return function if function == delegates.STEP else f"run_{function}"


def _thunk(function: str) -> str:
    return (
        f"static pl_status run_{function}(const pl_context *context, const pl_step *step) {{\n"
        f"  return {function}(context, step->params, step->dims, step->data);\n}}\n\n"
    )


def _states(rows: list[str]) -> str:
    if not rows:
        return ""
    table = _table("pl_state", "state_table", rows)
    return (
        f"{table}static const pl_states states = {{pl_states_reset, state_table, {len(rows)}}};\n\n"
    )


def _table(kind: str, name: str, rows: list[str], attribute: str = "") -> str:
    if not rows:
        return ""
    return f"{attribute}static const {kind} {name}[] = {{\n{''.join(rows)}}};\n\n"
