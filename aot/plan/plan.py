# SPDX-License-Identifier: Apache-2.0
"""Plans a program for a board: an address for each tensor, a place in flash for each constant."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from aot.plan.call_bounds import check_calls
from aot.plan.check import check_delegates, check_plan
from aot.plan.choose import fastest, smallest
from aot.plan.code_sizes import CodeSizes
from aot.plan.delegate_call import delegate_of
from aot.plan.delegates import places
from aot.plan.graph import Graph, build_graph, operands
from aot.plan.layout import ALIGNMENT, ENTRY, scratch_name
from aot.plan.least_code import least_code
from aot.plan.planner import MemoryBlock, Placement, align_up, live_bytes, place_blocks
from aot.plan.pools import PoolsDoNotFitError, PoolUse, place_in_pools
from aot.plan.program import PlanProgram, PlanState
from aot.plan.sharing import Sharing, share_memory
from aot.plan.streaming import in_a_group, with_streamed_input
from aot.plan.virtual_concat import concatenations, with_virtual_concats
from aot.plan.zero_copy_chaining import Chaining, left_to_share
from boards.board import Board, Pool
from kernels.common.kernel import AnyArray, Constant, Value

OPTIMIZE = ("speed", "memory", "size")


@dataclass(frozen=True)
class Address:
    """An address: `offset` bytes into the arena of a pool."""

    pool: str
    offset: int


@dataclass(eq=False)
class FlashConstant:
    """An array in flash. Equal arrays of several calls are stored once."""

    name: str
    array: AnyArray
    alignment: int
    users: list[int] = field(default_factory=list)  # steps


@dataclass(frozen=True, eq=False)
class Plan:
    """A plan, complete for C output.

    Attributes:
      graph, sharing: see there.
      pools: contents of each memory of the board with a share of the arena.
      constants: in order of first use.
    """

    board: Board
    graph: Graph
    sharing: Sharing
    pools: tuple[PoolUse, ...]
    constants: tuple[FlashConstant, ...]
    _by_content: Mapping[tuple[str, bytes], FlashConstant]

    @property
    def arena_bytes(self) -> int:
        """Return the arena's size, summed over all memories."""
        return sum(use.placement.size for use in self.pools)

    def block_address(self, block: str) -> Address:
        """Return the address of a block of memory."""
        for use in self.pools:
            if block in use.placement.offsets:
                return Address(use.pool.name, use.placement.offsets[block])
        raise KeyError(block)

    def address(self, tensor: str) -> Address:
        """Return the address of an activation."""
        location = self.sharing.locations[tensor]
        block = self.block_address(location.block)
        return Address(block.pool, block.offset + location.offset)

    def scratch(self, step: int) -> Address:
        """Return the address of a step's scratch memory."""
        return self.block_address(scratch_name(step))

    def constant(self, operand: Value | Constant) -> FlashConstant:
        """Return the array in flash of a constant operand."""
        return self._by_content[_content(_array(operand))]


class DoesNotFitError(Exception):
    """The plan exceeds a memory of the board.

    Attributes:
      memory: "arena" or "weights".
      pools: names of the memories, too small together.
      need, have: bytes.
      largest: (name, bytes) of the three largest tensors taking part, largest first.
      where: the operator at the peak.
    """

    def __init__(
        self,
        memory: str,
        pools: list[str],
        need: int,
        have: int,
        largest: list[tuple[str, int]],
        where: str,
    ) -> None:
        super().__init__(f"{memory}: needs {need} bytes, has {have}")
        self.memory = memory
        self.pools = pools
        self.need = need
        self.have = have
        self.largest = largest
        self.where = where


def graphs_of(
    program: PlanProgram,
    board: Board,
    optimize: str,
    streamed: bool,
    sizes: CodeSizes | None = None,
) -> Iterator[Graph]:
    """Yield the graphs for make_plan, with its arguments: the program, then variants with more and
    more virtual concats.
    """

    def graph_of(variant: PlanProgram) -> Graph:
        if optimize == "size" and sizes is not None:
            graph = least_code(variant, board.isa, sizes)
        else:
            graph = build_graph(variant, board.isa, small=optimize == "size")
        return with_streamed_input(graph) if streamed else graph

    yield graph_of(program)
    names = concatenations(program)
    count = 1
    while count < 2 * len(names):
        yield graph_of(with_virtual_concats(program, names[:count]))
        count *= 2


def make_plan(
    program: PlanProgram,
    board: Board,
    optimize: str = "speed",
    streamed: bool = False,
    taken: Chaining | None = None,
    most: int | None = None,
    hands_over: bool = False,
    sizes: CodeSizes | None = None,
    rows: bool = True,
) -> Plan:
    """Plan a program for a board.

    Args:
      program, board: see there.
      optimize: one of OPTIMIZE. "speed" uses more memory for fewer instructions, up to
        the board's memory. "memory" gives the smallest arena. "size" is "speed" with the
        functions of the least flash: size-optimized forms, or with known `sizes` the
        smallest set.
      streamed: the input comes row by row (pl_model_run_rows).
      taken: required place of the first input, None for anywhere.
      most: maximum bytes of the arena, None for the board's whole memory.
      hands_over: the first output lies in the models' shared arena.
      sizes: of the kernels, for "size".
      rows: steps may run row by row, which is generated code.

    Raises:
      HandoverError: the input or the output cannot lie there.
      KernelError: a call has no kernel, or a delegate has no engine on the board.
      DoesNotFitError: a memory of the board is too small.
      TypeError, ValueError: an argument has a wrong type or value.
    """
    for value, kind in ((program, PlanProgram), (board, Board)):
        if not isinstance(value, kind):
            given, load = type(value).__name__, f"load_{kind.__name__.lower()}"
            raise TypeError(f"expected {kind.__name__}, as {load} returns it; got {given}")
    if optimize not in OPTIMIZE:
        raise ValueError(f"optimize must be one of {', '.join(OPTIMIZE)}; got {optimize!r}")
    if most is not None and (type(most) is not int or most < 0):
        raise ValueError(
            f"most must be a number of bytes, 0 or more, or None for no limit; got {most!r:.40}"
        )
    graphs = graphs_of(program, board, optimize, streamed, sizes)
    errors: list[DoesNotFitError] = []
    have = sum(pool.bytes for pool in board.arena)
    limit = have if most is None else min(have, most)

    def make(variant: Graph) -> Plan | None:
        try:
            return _plan(in_a_group(variant), board, taken, limit, hands_over)
        except DoesNotFitError as error:
            if error.memory != "arena":
                raise
            errors.append(error)
            return None

    choose = smallest if optimize == "memory" else fastest
    found = choose(graphs, limit, make, rows)
    if found is None and sizes is not None:  # small forms take less memory
        found = choose(graphs_of(program, board, optimize, streamed), limit, make, rows)
    if found is None and optimize != "memory":  # its limits differ: it may fit
        found = smallest(graphs_of(program, board, optimize, streamed), limit, make, rows)
    if found is None:
        raise _least_need(
            min(errors, key=lambda error: error.need),
            graphs_of(program, board, optimize, streamed),
            board,
            taken,
            hands_over,
            rows,
        )
    check_plan(found.graph, found.sharing, found.address, found.scratch)
    check_calls(found.sharing.steps, board.isa)
    check_delegates(
        found.sharing, found.address, found.scratch, lambda call, made: places(call, made, board)
    )
    return found


def _plan(graph: Graph, board: Board, taken: Chaining | None, most: int, hands_over: bool) -> Plan:
    sharing = share_memory(graph)
    constants = _collect_constants(graph, sharing)
    pools = _place(graph, sharing, board, taken, most, hands_over)
    plan = Plan(board, graph, sharing, pools, tuple(constants.values()), constants)
    _check_weights(plan)
    return plan


def _least_need(
    error: DoesNotFitError,
    graphs: Iterable[Graph],
    board: Board,
    taken: Chaining | None,
    hands_over: bool,
    rows: bool,
) -> DoesNotFitError:
    """Return the error of the smallest plan; a search that ends without a plan may miss it."""
    roomy = replace(board, arena=tuple(replace(pool, bytes=error.need) for pool in board.arena))

    def make(variant: Graph) -> Plan | None:
        try:
            return _plan(in_a_group(variant), roomy, taken, error.need, hands_over)
        except DoesNotFitError:
            return None

    plan = smallest(graphs, error.need, make, rows)
    uses = [] if plan is None else [use for use in plan.pools if use.placement.offsets]
    if plan is None or len(uses) != 1 or not error.have < plan.arena_bytes < error.need:
        return error
    blocks = plan.sharing.blocks
    return _arena_error(
        plan.graph, plan.sharing, blocks, uses[0].placement, board.arena, error.have
    )


def tensor_text(value: Value) -> str:
    """Return name, shape and dtype of a tensor for a message."""
    return f"{value.name} {list(value.shape)} {value.dtype}"


def ports(plan: Plan) -> list[str]:
    """Return one line for each input and output: "input 0: x int8 [1, 96, 96, 3] nhwc"."""
    program = plan.graph.program
    return [
        port_text(plan, side, index)
        for side, found in (("input", program.inputs), ("output", program.outputs))
        for index in range(len(found))
    ]


def port_text(plan: Plan, side: str, index: int) -> str:
    """Return a line like "input 0: frame int8 [1, 96, 96, 3] nhwc"."""
    program = plan.graph.program
    port = (program.inputs if side == "input" else program.outputs)[index]
    return (
        f"{side} {index}: {port.name or port.value.name} {port.value.dtype} "
        f"{list(port.shape)} {port.layout}"
        + (", by rows" if port.value is plan.graph.streamed else "")
    )


def step_text(plan_steps: Sharing, step: int) -> str:
    """Return index, operator, result and module of a step for a message."""
    if step < 1 or step > len(plan_steps.steps):
        return "model inputs" if step < 1 else "model outputs"
    call = plan_steps.steps[step - 1].op
    group = plan_steps.steps[step - 1].rows
    if group is not None:
        inner = f"{group.members[0].step.op.op} to {group.members[-1].step.op.op}"
        names = ", ".join(map(tensor_text, call.outputs))
        return f"step {step}: {len(group.members)} calls by rows, {inner} -> {names}"
    place = f" ({call.place})" if call.place else ""
    return f"step {step} {call.op} -> {', '.join(map(tensor_text, call.outputs))}{place}"


def fill_of(state: PlanState) -> int | None:
    """Return the common value of a state's bytes before the first run; None if they differ."""
    values = set(state.initial.tobytes())
    return values.pop() if len(values) == 1 else None


def first_value(state: PlanState) -> Constant:
    """Return the initial value of a state as stored in flash."""
    return Constant(state.initial, state.initial.dtype.itemsize)


def _array(operand: Value | Constant) -> AnyArray:
    array = operand.array if isinstance(operand, Constant) else operand.constant
    assert array is not None
    return array


def _content(array: AnyArray) -> tuple[str, bytes]:
    return array.dtype.name, np.ascontiguousarray(array).tobytes()


def _collect_constants(graph: Graph, sharing: Sharing) -> dict[tuple[str, bytes], FlashConstant]:
    found: dict[tuple[str, bytes], FlashConstant] = {}

    def add(operand: Value | Constant, step: int) -> None:
        array = _array(operand)
        alignment = operand.alignment if isinstance(operand, Constant) else array.dtype.itemsize
        name = f"constant_{len(found)}"
        constant = found.setdefault(_content(array), FlashConstant(name, array, alignment))
        constant.alignment = max(constant.alignment, alignment)
        constant.users.append(step)

    for index, step in enumerate(sharing.steps, 1):
        for operand in operands(step.kernel):
            if isinstance(operand, Constant) or operand.constant is not None:
                add(operand, index)
    for port in graph.program.outputs:
        value = graph.constants.get(port.value.name, port.value)
        if value.constant is not None:
            add(value, len(sharing.steps) + 1)
    for state in graph.program.states:
        if fill_of(state) is None:
            add(first_value(state), ENTRY)
    return found


def _place(
    graph: Graph,
    sharing: Sharing,
    board: Board,
    taken: Chaining | None,
    most: int,
    hands_over: bool,
) -> tuple[PoolUse, ...]:
    touches = {block.name: 0 for block in sharing.blocks}
    for index, step in enumerate(sharing.steps, 1):
        for value in (*step.reads, *step.writes):
            touches[sharing.locations[value.name].block] += value.bytes
        if step.kernel.scratch:
            touches[scratch_name(index)] += 2 * step.kernel.scratch
    blocks = _pinned(sharing, board)
    if taken is not None:
        blocks = taken.pin(blocks, graph.program, sharing)
    if hands_over:
        blocks = left_to_share(blocks, graph.program, sharing, board.shared_arena)
    pools = [replace(pool, bytes=min(pool.bytes, most)) for pool in board.arena]
    try:
        uses = place_in_pools(blocks, touches, pools, ALIGNMENT)
    except PoolsDoNotFitError as error:
        have = min(most, sum(pool.bytes for pool in error.pools))
        raise _arena_error(graph, sharing, blocks, error.placement, error.pools, have) from error
    total = sum(use.placement.size for use in uses)
    if total > most:
        whole = replace(place_blocks(blocks, ALIGNMENT), size=total)
        raise _arena_error(graph, sharing, blocks, whole, pools, most)
    return tuple(replace(u, pool=pool) for u, pool in zip(uses, board.arena, strict=True))


def _pinned(sharing: Sharing, board: Board) -> list[MemoryBlock]:
    """Return the blocks.

    Blocks of delegates are limited to the pools that their engines can access.
    """
    pools: dict[str, frozenset[str]] = {}
    for index, step in enumerate(sharing.steps, 1):
        delegate = delegate_of(step.op)
        if delegate is None:
            continue
        reached = places(step.op, delegate, board)
        tensors = [*step.op.tensors("inputs"), *step.op.outputs]
        used = {
            sharing.locations[v.name].block: reached.tensors for v in tensors if v.constant is None
        }
        for block, names in {**used, scratch_name(index): reached.scratch}.items():
            pools[block] = pools.get(block, names) & names
            step.op.require(
                bool(pools[block]),
                f"no memory of the board {board.name} is reached by it and by the other engines "
                f"that use {block}",
            )
    return [replace(block, pools=pools.get(block.name)) for block in sharing.blocks]


def _arena_error(
    graph: Graph,
    sharing: Sharing,
    every: Sequence[MemoryBlock],
    placement: Placement,
    pools: Sequence[Pool],
    have: int,
) -> DoesNotFitError:
    blocks = [block for block in every if block.name in placement.offsets]
    live = live_bytes(blocks, ALIGNMENT)
    peak = max(live, key=lambda step: (live[step], -step))
    at_peak = [block for block in blocks if block.first <= peak <= block.last]
    largest = sorted(at_peak, key=lambda block: (-block.size, block.name))[:3]

    def text(block: MemoryBlock) -> str:
        value = graph.activations.get(block.name)
        return block.name if value is None else tensor_text(value)

    return DoesNotFitError(
        "arena",
        [pool.name for pool in pools],
        placement.size,
        have,
        [(text(block), block.size) for block in largest],
        step_text(sharing, peak),
    )


def weights_bytes(constants: Iterable[FlashConstant]) -> int:
    """Return the bytes of flash for constants in this order, with alignment."""
    total = 0
    for constant in constants:
        total = align_up(total, constant.alignment) + constant.array.nbytes
    return total


def _check_weights(plan: Plan) -> None:
    need = weights_bytes(plan.constants)
    have = plan.board.memory(plan.board.weights).size
    if need <= have:
        return
    largest = sorted(plan.constants, key=lambda c: (-c.array.nbytes, c.name))[:3]
    raise DoesNotFitError(
        "weights",
        [plan.board.weights],
        need,
        have,
        [(f"{c.name} {list(c.array.shape)} {c.array.dtype.name}", c.array.nbytes) for c in largest],
        step_text(plan.sharing, largest[0].users[0]),
    )
