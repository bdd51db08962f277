# SPDX-License-Identifier: Apache-2.0
"""Writes a plan as C: constant tables, and kernels by name."""

import zlib

from aot.plan import delegates, emit_rows, row_group
from aot.plan.emit_header import GENERATED
from aot.plan.layout import ALIGNMENT
from aot.plan.plan import Address, Plan, fill_of, first_value, step_text
from aot.plan.planner import align_up
from aot.plan.pools import PoolUse
from aot.plan.program import PlanState, Port
from kernels.common import emit
from kernels.common.kernel import Constant, Value
from kernels.common.rows import row_count

_WEIGHTS_SECTION = '__attribute__((section(".rodata.pl_weights")))'
_SHARED = "pl_shared_arena"
_SHARED_BUSY = "&pl_shared_busy"
PACKAGE_ARENA = "pl_package_arena"


def source(
    plan: Plan,
    name: str,
    header_path: str,
    *,
    share: bool = False,
    checksum: bool = False,
    packaged: bool = False,
) -> str:
    """Return the C file defining the plan `name`.

    Args:
      header_path: for its #include.
      share: True if the plan, if it may, shares its arena in the board's shared memory
        with other sharing plans of the program.
      checksum: True to include a checksum of its constants.
      packaged: True if it becomes data of a package (firmware/slot). The arena and the
        kernel runners then belong to the firmware, and are known when the package is
        loaded.
    """
    return _Source(plan, share and may_share(plan), checksum, packaged).text(name, header_path)


def may_share(plan: Plan) -> bool:
    """Return True if the plan uses the shared arena, and keeps no data there between runs."""
    sizes = {use.pool.name: use.placement.size for use in plan.pools}
    return sizes.get(plan.board.shared_arena, 0) > 0 and not plan.graph.program.states


class _Source:
    def __init__(self, plan: Plan, share: bool, checksum: bool, packaged: bool) -> None:
        self._plan = plan
        self._checksum = checksum
        self._packaged = packaged
        self._arenas = {use.pool.name: f"arena_{use.pool.name}" for use in plan.pools}
        if share:
            self._arenas[plan.board.shared_arena] = _SHARED
        if packaged:
            self._arenas = dict.fromkeys(self._arenas, PACKAGE_ARENA)
        self._groups = emit_rows.RowGroups(plan.sharing.steps)

    def text(self, name: str, header_path: str) -> str:
        plan = self._plan
        kernels = [step.kernel for step in plan.sharing.steps]
        includes = sorted({kernel.header for kernel in kernels} | self._groups.headers)
        functions = sorted(
            {kernel.function for kernel in kernels} - {delegates.STEP, row_group.STEP}
        )
        arenas = [use for use in plan.pools if use.placement.size > 0]
        parts = [
            GENERATED.format(board=plan.board.name),
            f'#include "{header_path}"\n\n#include <stddef.h>\n#include <stdint.h>\n\n',
            *(f'#include "{include}"\n' for include in includes),
            "\n",
            *map(self._arena, arenas),
            "" if self._busy in (_SHARED_BUSY, "NULL") else "static volatile uint32_t busy;\n",
            self._engines(),
            self._input_rows(),
            "\n",
            *(
                emit.array(c.name, c.array, c.alignment, _WEIGHTS_SECTION) + "\n"
                for c in plan.constants
            ),
            *(_thunk(function, self._packaged) for function in functions),
            self._groups.functions(),
        ]
        steps = []
        for index, step in enumerate(plan.sharing.steps, 1):
            if step.rows is not None:
                parts.append(self._group(index, step.rows))
                steps.append(f"    {{{emit_rows.RUN}, {{NULL, 0}}, NULL, NULL, &step_{index}}},\n")
                continue
            call = emit.call_text(step.kernel, f"step_{index}", self._operand)
            parts.append(f"// {step_text(plan.sharing, index)}\n{call.definitions}\n")
            scratch = (
                f"{{{self._pointer(plan.scratch(index))}, {step.kernel.scratch}}}"
                if step.kernel.scratch
                else "{NULL, 0}"
            )
            steps.append(
                f"    {{{_runner(step.kernel.function)}, {scratch}, "
                f"{call.params}, {call.dims}, {call.data}}},\n"
            )
        by_rows = plan.graph.streamed is not None  # an input without memory for all its rows
        inputs = [self._port(port, nowhere=by_rows) for port in plan.graph.program.inputs]
        outputs = [self._port(port) for port in plan.graph.program.outputs]
        states = [self._state(state) for state in plan.graph.program.states]
        ranges = [
            f"    {{{self._arenas[use.pool.name]}, {use.placement.size}}},\n" for use in arenas
        ]
        parts += [
            _table("pl_step", "steps", steps),
            _table("pl_tensor", "inputs", inputs),
            _table("pl_tensor", "outputs", outputs),
            _table("pl_arena", "arenas", ranges, "" if self._packaged else "PL_ARENA_TABLE "),
            _states(states, "NULL" if self._packaged else "pl_states_reset"),
            self._constants() if self._checksum else "",
            f"const pl_plan {name} = {{\n",
            *(
                f"    .{table} = {table if count else 'NULL'},\n"
                for table, count in (
                    ("steps", len(steps)),
                    ("inputs", len(inputs)),
                    ("outputs", len(outputs)),
                    ("arenas", len(ranges)),
                )
            ),
            "    .states = &states,\n" if states else "",
            "    .constants = &constants,\n" if self._checksum else "",
            "    .input_rows = &input_rows,\n" if plan.graph.streamed else "",
            f"    .busy = {self._busy},\n",
            "    .shares_arena = 1,\n" if self._is_shared else "",
            f"    .step_count = {len(steps)},\n",
            f"    .input_count = {len(inputs)},\n",
            f"    .output_count = {len(outputs)},\n",
            f"    .arena_count = {len(ranges)},\n",
            "};\n",
        ]
        return "".join(parts)

    def _group(self, index: int, group: row_group.RowGroup) -> str:
        def inside(offset: int) -> str:
            scratch = self._plan.scratch(index)
            return self._pointer(Address(scratch.pool, scratch.offset + offset))

        table = self._groups.table(group, f"step_{index}", inside, self._operand)
        return f"// {step_text(self._plan.sharing, index)}\n{table}\n"

    def _operand(self, operand: Value | Constant) -> str:
        if isinstance(operand, Constant) or operand.constant is not None:
            return self._plan.constant(operand).name
        return self._pointer(self._plan.address(operand.name))

    @property
    def _is_shared(self) -> bool:
        return _SHARED in self._arenas.values()

    @property
    def _busy(self) -> str:
        if self._packaged:
            return "NULL"
        return _SHARED_BUSY if self._is_shared else "&busy"

    def _arena(self, use: PoolUse) -> str:
        """Return the declaration of an arena.

        A shared arena is a common symbol: the linker takes the largest.
        """
        name, size = self._arenas[use.pool.name], align_up(use.placement.size, ALIGNMENT)
        if self._packaged:
            return f"extern uint8_t {name}[];\n"
        array = f"_Alignas({use.alignment}) uint8_t {name}[{size}]"
        if name == _SHARED:
            return f"{array} __attribute__((common));\n"
        place = f'section(".bss.pl_arena.{use.pool.name}")'
        return f"static {array}\n    __attribute__(({place}));\n"

    def _pointer(self, address: Address) -> str:
        return f"(void *)({self._arenas[address.pool]} + {address.offset})"

    def _constants(self) -> str:
        """Return the table of all constants, and the CRC-32 of their concatenated bytes."""
        check = 0
        rows = []
        for constant in self._plan.constants:
            check = zlib.crc32(constant.array.tobytes(), check)
            rows.append(f"    {{{constant.name}, {constant.array.nbytes}}},\n")
        table = _table("pl_constant", "constant_table", rows)
        first = "constant_table" if rows else "NULL"
        return (
            f"{table}static const pl_constants constants = "
            f"{{pl_constants_check, {first}, {len(rows)}, {check:#010x}u}};\n\n"
        )

    def _state(self, state: PlanState) -> str:
        place, size = self._pointer(self._plan.address(state.value.name)), state.value.bytes
        fill = fill_of(state)
        initial = "NULL" if fill is not None else self._operand(first_value(state))
        return f"    {{{place}, {initial}, {size}, {fill or 0}}},\n"

    def _input_rows(self) -> str:
        """Return the C code that reads an input outside of the arena by rows; "" if it is in the
        arena.
        """
        streamed = self._plan.graph.streamed
        if streamed is None:
            return ""
        size = streamed.bytes // row_count(streamed.shape)
        return (
            "static pl_row_source row_source;\n"
            "static const pl_input_rows input_rows = "
            f"{{pl_input_rows_copy, &row_source, {size}}};\n"
        )

    def _engines(self) -> str:
        """Return the declaration of the app's engines; "" if no step uses one."""
        has_delegates = any(s.kernel.function == delegates.STEP for s in self._plan.sharing.steps)
        return f"static pl_engines {delegates.ENGINES.name};\n" if has_delegates else ""

    def _port(self, port: Port, nowhere: bool = False) -> str:
        value = self._plan.graph.constants.get(port.value.name, port.value)
        data = "NULL" if nowhere else self._operand(value)
        if value.constant is not None:
            data = f"(void *){data}"
        shape = ", ".join(map(str, port.shape))
        dtype, layout = f"PL_DTYPE_{value.dtype.upper()}", f"PL_LAYOUT_{port.layout.upper()}"
        return (
            f"    {{{{{dtype}, {layout}, {len(port.shape)}, "
            f"{{{shape or 0}}}, {emit.number(float(port.scale))}, {port.zero_point}, "
            f"{value.bytes}}},\n     {data}}},\n"
        )


def _runner(function: str) -> str:
    """Return the function of a step. Delegates use the runtime's function directly."""
    return function if function == delegates.STEP else f"run_{function}"


def _thunk(function: str, packaged: bool) -> str:
    head = f"pl_status run_{function}(const pl_context *context, const pl_step *step)"
    if packaged:
        return f"{head};\n\n"
    return (
        f"static {head} {{\n"
        f"  return {function}(context, step->params, step->dims, step->data);\n}}\n\n"
    )


def _states(rows: list[str], reset: str) -> str:
    if not rows:
        return ""
    table = _table("pl_state", "state_table", rows)
    return f"{table}static const pl_states states = {{{reset}, state_table, {len(rows)}}};\n\n"


def _table(kind: str, name: str, rows: list[str], attribute: str = "") -> str:
    if not rows:
        return ""
    return f"{attribute}static const {kind} {name}[] = {{\n{''.join(rows)}}};\n\n"
